"""How fast the parts are that need no table over all features.

    make bench
    python benchmarks/large.py --large     the gaps after 60 seconds too, of five problems of a kind

Everything is measured side by side in this run; the ratios are what counts, not the seconds. The
public networks lie beside the project (`shared/data/networks`); without them, the built-in ones are
measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import arguments
import numpy as np
import pyagrum
from large_problems import FAMILIES, naive_bayes, priced, tree_augmented
from timing import best_of

from voilattice import (
    FeatureCosts,
    Network,
    Problem,
    build_policy,
    emc,
    load_problem,
    read_network,
    value,
)
from voilattice.budgets import Deadline
from voilattice.model.join_tree import JoinTree
from voilattice.optimal.search import ao_star
from voilattice.optimal.search.bounds.repeats import repeat_bound
from voilattice.optimal.search.trials import Search
from voilattice.policy.solvers import Limits, solver_of

NETWORKS = Path(__file__).parents[2] / "shared" / "data" / "networks"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    networks: tuple[tuple[str, str, int], ...]  # a name, the target, how many features at most
    n_paths: int
    n_findings: int  # of each path
    n_searched: int  # features of the problems that are searched
    seconds: float  # for each of the two searches
    n_bounded: int  # features of the problems whose bounds are compared with the optimum
    gaps: tuple[tuple[str, int], ...]  # a kind of problem, or a network, and how many features
    limits: tuple[float, ...]  # seconds for each gap
    seeds: tuple[int, ...]


GAPS = (
    ("naive Bayes", 20),
    ("naive Bayes", 30),
    ("naive Bayes", 40),
    ("tree-augmented", 20),
    ("two-level noisy-or", 20),
    ("hepar2", 20),
    ("hepar2", 40),
    ("child", 19),
)
FULL = Sizes(
    (("alarm", "LVFAILURE", 36), ("hepar2", "Cirrhosis", 40)),
    20, 10, 20, 10.0, 12, GAPS, (10.0,), (0,),
)  # fmt: skip
LARGE = replace(FULL, limits=(10.0, 60.0), seeds=(0, 1, 2, 3, 4))
SMALL = Sizes((("asia", "lung", 7),), 2, 3, 6, 0.5, 5, (("naive Bayes", 6),), (1.0,), (0,))

TARGETS = {"hepar2": "Cirrhosis", "child": "Disease"}


@dataclass(frozen=True, slots=True)
class Question:
    """A network, a target, features, and paths along which the features become known."""

    network: Network
    bn: Any
    target: int
    features: list[int]
    paths: list[list[dict[int, int]]]  # the evidence after 0, 1, 2, ... findings

    @property
    def states(self) -> list[dict[int, int]]:
        """The evidence of all steps of all paths."""
        return [evidence for path in self.paths for evidence in path]

    def join_tree(self, engine: str) -> JoinTree:
        """Return a new join tree."""
        return JoinTree(self.network, self.target, self.features, engine=engine)

    def known(self, evidence: dict[int, int]) -> list[int]:
        """Return the evidence as a join tree takes it."""
        return [evidence.get(feature, -1) for feature in self.features]


def ask(name: str, target_name: str, n_features: int, sizes: Sizes) -> Question | None:
    """Ask what some sampled cases say of the target and of every feature."""
    path = NETWORKS / f"{name}.bif"
    if path.is_file():
        network = read_network(path)
    elif name == "asia":
        network = load_problem(name).network
    else:
        print(f"  {name}: {path.name} is not beside the project")
        return None
    # pyAgrum cannot take some public labels.
    labels = tuple(tuple(f"s{k}" for k in range(n)) for n in network.n_states)
    network = Network(network.names, labels, network.parents, network.tables)
    target = network.index(target_name)
    inner = {parent for parents in network.parents for parent in parents}
    others = [node for node in range(len(network)) if node != target]
    features = sorted(others, key=lambda node: (node in inner, node))[:n_features]
    rng = np.random.default_rng(1)
    paths = []
    for _ in range(sizes.n_paths):
        case = sample(network, rng)
        order = rng.permutation(features)[: sizes.n_findings].tolist()
        paths.append([{node: case[node] for node in order[:k]} for k in range(len(order) + 1)])
    return Question(network, network.to_pyagrum(), target, features, paths)


def sample(network: Network, rng: np.random.Generator) -> dict[int, int]:
    """Return a state of every node."""
    case: dict[int, int] = {}
    while len(case) < len(network):
        for node, parents in enumerate(network.parents):
            if node not in case and all(parent in case for parent in parents):
                row = network.tables[node][tuple(case[parent] for parent in parents)]
                case[node] = int(rng.choice(len(row), p=row))
    return case


def lazy_propagation(question: Question) -> Any:
    """Return pyAgrum's engine with all its joint targets."""
    engine = pyagrum.LazyPropagation(question.bn)
    for feature in question.features:
        engine.addJointTarget({question.target, feature})
    return engine


def read_pairs(engine: Any, question: Question, evidence: dict[int, int]) -> None:
    """Let pyAgrum compute P(Y, X_i | e) of every unknown feature."""
    engine.makeInference()
    for feature in question.features:
        if feature not in evidence:
            engine.jointPosterior({question.target, feature})


def ask_states_of_pyagrum(question: Question, engine: Any) -> None:
    """Ask for every state, with one engine."""
    for evidence in question.states:
        engine.setEvidence(evidence)
        read_pairs(engine, question, evidence)


def follow_paths_with_pyagrum(question: Question) -> None:
    """Follow every path with an engine of its own, one finding after the other."""
    for path in question.paths:
        engine = lazy_propagation(question)
        for before, evidence in itertools.pairwise([{}, *path]):
            for node in evidence.keys() - before.keys():
                engine.addEvidence(node, evidence[node])
            read_pairs(engine, question, evidence)


def follow_paths(question: Question, engine: str) -> None:
    """Follow every path with a join tree of its own."""
    for path in question.paths:
        tree = question.join_tree(engine)
        for evidence in path:
            tree.posteriors(question.known(evidence))


def join_tree_passes(sizes: Sizes) -> None:
    """Set passes over a join tree beside pyAgrum's LazyPropagation for the same posteriors."""
    print("P(Y, X_i | e) of all features: pyAgrum's LazyPropagation / our join tree")
    for name, target, n_features in sizes.networks:
        question = ask(name, target, n_features, sizes)
        if question is not None:
            passes_beside_pyagrum(name, question)


def passes_beside_pyagrum(name: str, question: Question) -> None:
    """Measure one network: state by state after compilation, and paths from nothing."""
    engine = lazy_propagation(question)
    n_states, n_paths = len(question.states), len(question.paths)
    rows = np.array([question.known(evidence) for evidence in question.states])
    tree = question.join_tree("compiled")
    tree.posteriors_of(rows)  # load it
    theirs = best_of(lambda: ask_states_of_pyagrum(question, engine), 3) / n_states
    print(f"  {name}: {len(question.features)} features, {tree!r}, {n_states} states")
    print(f"    after compilation, a state: pyAgrum  {1e6 * theirs:9.0f} us")
    readable = question.join_tree("python")
    for label, work in {
        "compiled": lambda: [tree.posteriors(row) for row in rows],
        "compiled, in rows": lambda: tree.posteriors_of(rows),
        "NumPy": lambda: [readable.posteriors(row) for row in rows],
        "NumPy, in rows": lambda: readable.posteriors_of(rows),
    }.items():
        ours = best_of(work) / n_states
        print(f"      {label:20} {1e6 * ours:9.1f} us   ratio {theirs / ours:8.1f}")
    theirs = best_of(lambda: follow_paths_with_pyagrum(question), 3) / n_paths
    findings = len(question.paths[0]) - 1
    print(f"    from nothing, a path of {findings} findings: pyAgrum {1e3 * theirs:9.1f} ms")
    for engine_name, label in {"compiled": "compiled", "python": "NumPy"}.items():
        ours = best_of(lambda chosen=engine_name: follow_paths(question, chosen), 3) / n_paths
        print(f"      {label:20} {1e3 * ours:9.1f} ms   ratio {theirs / ours:8.1f}")


def search_speed(sizes: Sizes) -> None:
    """Set the compiled search beside the one in Python, on the same problem."""
    print("search: states expanded in a second, the compiled search / AO* in Python")
    problem = tree_augmented(sizes.n_searched, 0)
    warm_up()
    old = ao_star.Search(problem, (), deadline=Deadline(sizes.seconds))
    theirs = old.n_expanded / sizes.seconds
    search = Search(problem)
    search.reveal(Deadline(sizes.seconds))
    search.run(Deadline(sizes.seconds))
    ours = search.n_expanded / sizes.seconds
    print(f"  {sizes.n_searched} tree-augmented features, {sizes.seconds:g} s each")
    print(f"    AO* {theirs:12,.0f}   interval [{old.lower:.2f}, {old.upper:.2f}]")
    ratio = ours / max(theirs, 1e-9)
    interval = f"[{search.lower:.2f}, {search.upper:.2f}]"
    print(f"    compiled {ours:7,.0f}   interval {interval}   ratio {ratio:8.1f}")


def warm_up() -> None:
    """Load the kernels, so that loading them is not measured."""
    search = Search(naive_bayes(4, 0))
    search.reveal(Deadline(), max_states=20)
    search.run(Deadline())


def bounds(sizes: Sizes) -> None:
    """Set the lower bounds beside the optimum, before any search."""
    print("lower bounds at the root, as a share of the optimum")
    for kind, make in FAMILIES.items():
        problem = make(sizes.n_bounded, 0)
        best = build_policy(problem, "optimal").expected_total_cost
        everything = value(problem, problem.features).expected_emc
        prices = problem.costs.prices
        stop = min(emc(problem), min(prices.values()) + everything)
        search = Search(problem)
        n_states = 3**sizes.n_bounded
        search.reveal(Deadline(), max_states=n_states // 10)
        repeats = repeat_bound(problem)
        shares = {
            "stop rule": stop / best,
            f"{len(search.revealed)} features given away": search.lower / best,
            "once or repeatedly": (repeats.lower() if repeats is not None else 0.0) / best,
            "superadditivity": superadditive(problem) / best,
        }
        text = "   ".join(f"{name} {share:.1%}" for name, share in shares.items())
        print(f"  {kind}, {sizes.n_bounded} features: {text}")


def superadditive(problem: Problem) -> float:
    """Return the sum of the optima of two halves: half of the prices and half of the stakes."""
    total, prices = 0.0, problem.costs.prices
    for part in (problem.features[::2], problem.features[1::2]):
        costs = FeatureCosts({f: price if f in part else 0.0 for f, price in prices.items()})
        half = replace(problem, costs=costs, misclassification=problem.misclassification / 2)
        total += build_policy(half, "optimal").expected_total_cost
    return total


def gaps(sizes: Sizes) -> None:
    """Measure how far from the optimum the policy may be when the time is up."""
    print("gap of the optimum, (upper - lower) / upper, when the time is up")
    for kind, n_features in sizes.gaps:
        for seconds in sizes.limits:
            found = []
            for seed in sizes.seeds:
                problem = problem_of(kind, n_features, seed)
                if problem is None:
                    break
                limits = Limits(time_limit=seconds)
                cost = solver_of("optimal").cost(problem, limits)
                found.append(1 - cost.certificate.lower_bound / cost.expected_total_cost)
            if found:
                shown = " ".join(f"{gap:7.2%}" for gap in found)
                print(f"  {kind}, {n_features} features, {seconds:3g} s: {shown}")


def problem_of(kind: str, n_features: int, seed: int) -> Problem | None:
    """Return a random problem, or a public network with random features and prices."""
    if kind in FAMILIES:
        return FAMILIES[kind](n_features, seed)
    path = NETWORKS / f"{kind}.bif"
    if not path.is_file():
        print(f"  {kind}: {path.name} is not beside the project")
        return None
    network, rng = read_network(path), np.random.default_rng(seed)
    inner = {parent for parents in network.parents for parent in parents}
    others = [name for name in network.names if name != TARGETS[kind]]
    leaves = [name for name in others if network.index(name) not in inner]
    features = leaves if len(leaves) >= n_features else others
    chosen = sorted(rng.choice(features, size=n_features, replace=False).tolist())
    return priced(network, TARGETS[kind], chosen, rng)


PARTS: list[Callable[[Sizes], None]] = [join_tree_passes, search_speed, bounds, gaps]


def main(small: bool = False, large: bool = False) -> None:
    """Measure every part."""
    for part in PARTS:
        part(SMALL if small else LARGE if large else FULL)


if __name__ == "__main__":
    arguments.run(main, __doc__, large="five problems of each kind, 10 and 60 seconds each")
