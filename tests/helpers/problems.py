"""Problems of a known structure."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from voilattice import (
    ConditionalCost,
    Discount,
    FeatureCosts,
    Group,
    Network,
    Problem,
    load_problem,
    write_problem,
)

# A problem file: A and B say for sure what Y is, so that they cannot differ.
SURE = """
[network]
target = "Y"
[network.joint]
variables = ["A", "B", "Y"]
states = { A = ["T", "F"], B = ["T", "F"], Y = ["T", "F"] }
probabilities = [0.5, 0, 0, 0, 0, 0, 0, 0.5]
[costs]
A = 1
B = 1
[misclassification]
kind = "symmetric"
expected = 10
"""

# The text of a problem file that needs no other file.
SMALL = """
[network]
target = "Y"
[network.joint]
variables = ["X", "Y"]
states = { X = ["T", "F"], Y = ["T", "F"] }
probabilities = [0.4, 0.1, 0.1, 0.4]
[costs]
X = 1
[misclassification]
kind = "symmetric"
expected = 10
"""


def structured(parents, target="Y", features=None):
    """A problem with this graph; the probabilities do not matter here."""
    names = sorted({*parents, *itertools.chain(*parents.values())})
    tables = {name: np.full((2,) * (len(parents.get(name, ())) + 1), 0.5) for name in names}
    network = Network.from_tables({name: ["T", "F"] for name in names}, parents, tables)
    features = features or [name for name in names if name != target]
    return Problem.create(
        network, target, dict.fromkeys(features, 1.0), [[0, 1], [1, 0]], features=features
    )


def naive_bayes(n):
    return structured({f"X{k:02d}": ["Y"] for k in range(n)})


def chain(n):
    names = ["Y", *(f"X{k:02d}" for k in range(n))]
    return structured({b: [a] for a, b in itertools.pairwise(names)})


def noisy_bayes(n, seed=0):
    """Naive Bayes with random tables: every set has a value of its own."""
    rng = np.random.default_rng(seed)
    problem = naive_bayes(n)
    tables = {
        name: rng.dirichlet([1, 1], table.shape[:-1])
        for name, table in zip(problem.network.names, problem.network.tables, strict=True)
    }
    states = dict(zip(problem.network.names, problem.network.states, strict=True))
    parents = {name: ["Y"] for name in problem.features}
    network = Network.from_tables(states, parents, tables)
    return Problem.create(network, "Y", dict.fromkeys(problem.features, 1.0), [[0, 9], [5, 0]])


def weak_bayes(n):
    """Naive Bayes whose features each tell little: greedy's policy has thousands of nodes."""
    rng, names = np.random.default_rng(0), [f"X{k}" for k in range(n)]
    states = {"Y": ["a", "b", "c"], **{name: ["low", "middle", "high"] for name in names}}
    tables = {"Y": np.full(3, 1 / 3)}
    for name in names:
        tables[name] = rng.dirichlet(20 * rng.dirichlet([3, 3, 3]), 3)
    network = Network.from_tables(states, {name: ["Y"] for name in names}, tables)
    prices = dict(zip(names, rng.integers(5, 30, n).astype(float).tolist(), strict=True))
    return Problem.create(network, "Y", prices, ("symmetric", 500.0))


def rare_findings(q, *, chain):
    """Four findings of probability about q each, and a sign that is not rare."""
    names = [f"X{k}" for k in range(4)]
    tables = {"Y": [0.4, 0.6], "Z": [[0.8, 0.2], [0.3, 0.7]]}
    parents = {"Z": ["Y"]}
    for k, name in enumerate(names):
        rows = [[q * (1 + k), 1 - q * (1 + k)], [q * (2 + k), 1 - q * (2 + k)]]
        parents[name] = ["Y", names[k - 1]] if chain and k else ["Y"]
        tables[name] = [[row, row] for row in rows] if chain and k else rows
    network = Network.from_tables({n: ["a", "b"] for n in ("Y", *names, "Z")}, parents, tables)
    return Problem.create(network, "Y", dict.fromkeys([*names, "Z"], 1.0), [[0, 100], [90, 0]])


def write_markup_problem(folder):
    """Write a problem whose names are markup: asia, renamed."""
    asia = load_problem("asia")
    names = {"smoke": "<script>alert(1)</script>", "xray": "<img src=x onerror=alert(2)>"}
    network = asia.network
    renamed = Network.from_tables(
        {names.get(n, n): list(network.states[k]) for k, n in enumerate(network.names)},
        {
            names.get(n, n): [names.get(network.names[p], network.names[p])
                              for p in network.parents[k]]
            for k, n in enumerate(network.names)
        },
        {names.get(n, n): network.tables[k] for k, n in enumerate(network.names)},
    )  # fmt: skip
    prices = {names.get(f, f): asia.costs.prices[f] for f in asia.features}
    problem = Problem.create(
        renamed, asia.target, FeatureCosts(prices), asia.misclassification,
        features=[names.get(f, f) for f in asia.features], title="<b>Mine</b> & $x^$",
    )  # fmt: skip
    write_problem(problem, folder)


def random_problem(parents, sizes, costs, seed=0, stakes=40.0):
    """A problem with this graph and random tables; Y is the target."""
    rng = np.random.default_rng(seed)
    tables = {
        name: rng.dirichlet(np.ones(size), [sizes[p] for p in parents.get(name, ())])
        for name, size in sizes.items()
    }
    states = {name: [f"{name}{v}" for v in range(size)] for name, size in sizes.items()}
    network = Network.from_tables(states, parents, tables)
    features = [name for name in sizes if name != "Y"]
    return Problem.create(network, "Y", costs, [[0, stakes], [0.7 * stakes, 0]], features=features)


def varied():
    """A chain, a fork and a collider of several sizes, with a group and conditional prices."""
    prices = {"A": 1.0, "B": 2.0, "C": 0.5, "D": 1.5}
    costs = FeatureCosts(
        prices,
        (Group("g", 1.25, ("B", "D")),),
        (ConditionalCost("D", {"A": "A1"}, 0.25), ConditionalCost("D", {"A": "A0"}, 3.0)),
    )
    parents = {"A": ["Y"], "B": ["A"], "C": ["Y", "D"]}
    return random_problem(parents, {"Y": 2, "D": 2, "A": 3, "B": 2, "C": 2}, costs)


def twins(*prices):
    """Features that each tell Y outright, at these prices."""
    names = "ABCD"[: len(prices)]
    network = Network.from_tables(
        {name: ["T", "F"] for name in ("Y", *names)},
        {name: ["Y"] for name in names},
        {"Y": [0.5, 0.5], **{name: [[1.0, 0.0], [0.0, 1.0]] for name in names}},
    )
    return Problem.create(network, "Y", dict(zip(names, prices, strict=True)), [[0, 40], [40, 0]])


def bystander():
    """X tells Y for sure; A tells nothing, but has its overhead in common with X."""
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YXA"},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[1, 0], [0, 1]], "A": [0.5, 0.5]},
    )
    costs = FeatureCosts({"X": 5, "A": 1}, (Group("draw", 18, ("X", "A")),))
    return Problem.create(network, "Y", costs, [[0, 40], [40, 0]])


def opener():
    """X tells Y for sure; A tells nothing, but costs 3 and takes 28 off the 30 of X."""
    costs = FeatureCosts({"X": 30, "A": 3}, discounts=(Discount("visit", {"X": 28, "A": 1}),))
    return replace(bystander(), costs=costs)


def impossible_state():
    """Y → A → B, where A never takes its last value."""
    network = Network.from_tables(
        {"Y": ["T", "F"], "A": ["a", "b", "c"], "B": ["T", "F"]},
        {"A": ["Y"], "B": ["A"]},
        {
            "Y": [0.4, 0.6],
            "A": [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]],
            "B": [[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]],
        },
    )
    return Problem.create(network, "Y", {"A": 1.0, "B": 0.5}, [[0, 40], [30, 0]])
