"""Random networks and problems for property tests, and where the shared data lies."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from voilattice import FeatureCosts, Network, Problem, VoilatticeError
from voilattice.model.costs import ConditionalCost, Discount, Group

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the public networks are not at {DATA.name}/ beside the project"
)


@st.composite
def networks(
    draw: st.DrawFn, *, min_nodes: int = 1, max_nodes: int = 7, max_states: int = 4
) -> Network:
    """Networks with zero probabilities, equal rows, single states and disconnected parts."""
    n = draw(st.integers(min_nodes, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.0, 0.2, 0.5, 0.9]))
    order = rng.permutation(n)
    names = [f"N{k}" for k in range(n)]
    counts = rng.choice(
        np.arange(1, max_states + 1), n, p=[0.05] + [0.95 / (max_states - 1)] * (max_states - 1)
    )
    states = {
        name: [f"s{k}" for k in range(count)] for name, count in zip(names, counts, strict=True)
    }
    parents, tables = {}, {}
    for place, node in enumerate(order):
        above = [int(p) for p in order[:place] if rng.random() < density][:3]
        shape = (*(counts[p] for p in above), counts[node])
        parents[names[node]] = [names[p] for p in above]
        tables[names[node]] = _random_rows(rng, shape)
    return Network.from_tables(states, parents, tables)


def _random_rows(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    rows = rng.dirichlet(np.ones(shape[-1]), shape[:-1])
    if rng.random() < 0.3:  # impossible states
        rows = np.where(rng.random(shape) < 0.4, 0.0, rows)
        empty = rows.sum(axis=-1, keepdims=True) == 0
        rows = np.where(empty, np.eye(shape[-1])[0], rows)
        rows = rows / rows.sum(axis=-1, keepdims=True)
    if rng.random() < 0.15:  # states that are all but impossible
        tiny = np.where(rng.random(shape) < 0.4, 10.0 ** -rng.uniform(3, 300, shape), 1.0)
        rows = rows * tiny
        rows = rows / rows.sum(axis=-1, keepdims=True)
    return rows


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    min_features: int = 1,
    max_features: int = 5,
    max_hidden: int = 2,
    max_states: int = 3,
) -> Problem:
    """Problems with hidden nodes, evidence, groups, discounts, conditional prices, 1 to 3 classes.

    Some have costs of right decisions too, some decisions of their own.
    """
    n_features = draw(st.integers(min_features, max_features))
    n_hidden = draw(st.integers(0, max_hidden))
    n = n_features + n_hidden + 1
    network = draw(networks(min_nodes=n, max_nodes=n, max_states=max_states))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [str(name) for name in rng.permutation(network.names)]
    target, features = names[0], names[1 : 1 + n_features]
    states = dict(zip(network.names, network.states, strict=True))
    m = len(states[target])
    cost = rng.integers(0, 100, (m, m)).astype(float)
    if rng.random() < 0.7:
        np.fill_diagonal(cost, 0)

    if rng.random() < 0.35:
        decisions, cost = own_decisions(states[target], rng)
    else:
        decisions = list(states[target])

    prices = {f: float(rng.integers(0, 8)) for f in features}
    shuffled = [str(f) for f in rng.permutation(features)]
    groups, discounts, off = [], [], dict.fromkeys(features, 0.0)
    while len(shuffled) >= 2 and rng.random() < 0.7:
        size = int(rng.integers(1, len(shuffled) + 1))
        members, shuffled = shuffled[:size], shuffled[size:]
        if rng.random() < 0.5:
            groups.append(Group(f"g{len(groups)}", float(rng.integers(0, 9)), tuple(members)))
            continue
        amounts = {f: float(rng.integers(0, int(prices[f]) + 1)) for f in members}
        discounts.append(Discount(f"d{len(discounts)}", amounts))
        off |= amounts
    conditional = []
    for _ in range(int(rng.integers(0, 4))):
        feature = str(rng.choice(features))
        others = [f for f in features if f != feature]
        if others:
            known = rng.choice(others, int(rng.integers(1, min(2, len(others)) + 1)), replace=False)
            when = tuple((str(f), str(rng.choice(states[f]))) for f in known)
            cost_then = float(rng.integers(int(off[feature]), 8))
            conditional.append(ConditionalCost(feature, when, cost_then))
    evidence = draw_evidence(network, features, rng) if rng.random() < 0.4 else {}
    return Problem.create(
        network,
        target,
        FeatureCosts(prices, tuple(groups), tuple(conditional), tuple(discounts)),
        cost,
        features=features,
        evidence=evidence,
        decisions=decisions,
    )


def own_decisions(classes: Sequence[str], rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Decisions that are not the classes, and their costs: more of them, fewer, or only one.

    Some have the names of classes, and some cost the same whatever the class is.
    """
    n = int(rng.choice([1, 2, 3, 4, 5]))
    names = [str(name) for name in rng.permutation([*classes, "refer", "wait", "act", "ask", "go"])]
    cost = rng.integers(0, 100, (n, len(classes))).astype(float)
    for row in cost:
        if rng.random() < 0.3:
            row[:] = row[0]
    return names[:n], cost


def with_decisions(problem: Problem, seed: int) -> Problem:
    """The problem with decisions of its own."""
    decisions, cost = own_decisions(problem.classes, np.random.default_rng(seed))
    return replace(problem, decisions=tuple(decisions), misclassification=cost)


def with_discounts(problem: Problem, seed: int) -> Problem:
    """The problem with one or two discounts, prices far apart, and up to two conditional prices.

    So many features cost less than they save by opening a discount.
    """
    rng = np.random.default_rng(seed)
    prices = {f: float(rng.choice([0, 1, 2, rng.integers(1, 30)])) for f in problem.features}
    off = {f: float(rng.choice([0, p, p, np.floor(p * rng.random())])) for f, p in prices.items()}
    cut = int(rng.integers(0, len(prices)))
    shuffled = [str(f) for f in rng.permutation(problem.features)]
    discounts = [
        Discount(f"d{place}", {f: off[f] for f in members})
        for place, members in enumerate((shuffled[:cut], shuffled[cut:]))
        if members
    ]
    conditional = []
    for _ in range(int(rng.choice([0, 0, 1, 2])) if len(prices) > 1 else 0):
        feature, other = (str(f) for f in rng.permutation(problem.features)[:2])
        when = {other: str(rng.choice(problem.states(other)))}
        price = off[feature] + float(rng.integers(0, 12))
        conditional.append(ConditionalCost(feature, when, price))
    costs = FeatureCosts(prices, (), tuple(conditional), tuple(discounts))
    return replace(problem, costs=costs)


def subsets(features: Sequence[str]) -> list[frozenset[str]]:
    """All sets of these features."""
    return [
        frozenset(s)
        for size in range(len(features) + 1)
        for s in itertools.combinations(features, size)
    ]


def possible_knowledge(problem: Problem) -> Iterator[dict[str, str]]:
    """The problem's own evidence with any values of any other features, possible or not."""
    others = [f for f in problem.features if f not in problem.evidence]
    for values in itertools.product(*((None, *problem.states(f)) for f in others)):
        known = {f: v for f, v in zip(others, values, strict=True) if v is not None}
        yield {**problem.evidence, **known}


class OwnCosts:
    """Costs of a user's own: any price for any set at any evidence, the empty set excepted.

    `only_at`: what must be known for prices to be odd; otherwise all features cost the same.
    """

    def __init__(
        self, seed: int, most: float = 40.0, only_at: Mapping[str, str] | None = None
    ) -> None:
        self.seed, self.most, self.only_at = seed, most, dict(only_at or {})

    def cost(self, features: frozenset[str], evidence: Mapping[str, str]) -> float:
        if not features:
            return 0.0
        if not self.only_at.items() <= evidence.items():
            return self.most / 8 * len(features)
        source = random.Random(f"{self.seed}{sorted(features)}{sorted(evidence.items())}")
        return source.random() * self.most


def with_own_costs(problem: Problem, seed: int, **options: Any) -> Problem:
    """The problem with `OwnCosts`."""
    return replace(problem, costs=OwnCosts(seed, **options))


def possible_evidence(problem: Problem, seed: int, share: float = 0.5) -> dict[str, str]:
    """Some of a problem's features with any values that are possible together, however rare."""
    rng = np.random.default_rng(seed)
    found: dict[str, str] = {}
    for feature in problem.features:
        if feature in problem.evidence or rng.random() > share:
            continue
        for state in rng.permutation(problem.states(feature)):
            with suppress(VoilatticeError):
                problem.check_possible(problem.merge_evidence({**found, feature: str(state)}))
                found[feature] = str(state)
                break
    return found


def draw_evidence(
    network: Network, features: list[str], rng: np.random.Generator
) -> dict[str, str]:
    """Possible evidence: some of the features of one case sampled from the network."""
    case: dict[int, int] = {}
    while len(case) < len(network):
        for node in range(len(network)):
            if node not in case and all(p in case for p in network.parents[node]):
                row = network.tables[node][tuple(case[p] for p in network.parents[node])]
                case[node] = int(rng.choice(len(row), p=row))
    chosen = [f for f in features if rng.random() < 0.4]
    return {f: network.states[network.index(f)][case[network.index(f)]] for f in chosen}


def full_joint(network: Network) -> np.ndarray:
    """P(all nodes) by multiplying the tables cell by cell: the plainest oracle there is."""
    joint = np.ones(network.n_states)
    for assignment in np.ndindex(*network.n_states):
        for node, table in enumerate(network.tables):
            parents = tuple(assignment[p] for p in network.parents[node])
            joint[assignment] *= table[(*parents, assignment[node])]
    return joint


def damaged(draw: st.DrawFn, text: str, snippets: list[str], *, times: int = 3) -> str:
    """The text cut off, with parts left out, repeated, or junk put in."""
    for _ in range(draw(st.integers(1, times))):
        place = draw(st.integers(0, len(text)))
        match draw(st.integers(0, 3)):
            case 0:
                text = text[:place]
            case 1:
                text = text[:place] + text[place + draw(st.integers(1, 20)) :]
            case 2:
                text = text[:place] + draw(st.sampled_from(snippets)) + text[place:]
            case 3:
                text = text[:place] + text[place : place + 30] + text[place:]
    return text
