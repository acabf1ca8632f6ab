"""How fast the parts are that need no table over all features.

    make bench

Everything is measured side by side in this run; the ratios are what counts, not the seconds. The
public networks lie beside the project (`shared/data/networks`); without them, the built-in ones are
measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import arguments
import numpy as np
import pyagrum
from timing import best_of

from voilattice import Network, load_problem, read_network
from voilattice.model.join_tree import JoinTree

NETWORKS = Path(__file__).parents[2] / "shared" / "data" / "networks"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    networks: tuple[tuple[str, str, int], ...]  # a name, the target, how many features at most
    n_paths: int
    n_findings: int  # of each path


FULL = Sizes((("alarm", "LVFAILURE", 36), ("hepar2", "Cirrhosis", 40)), 20, 10)
SMALL = Sizes((("asia", "lung", 7),), 2, 3)


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


PARTS: list[Callable[[Sizes], None]] = [join_tree_passes]


def main(small: bool = False) -> None:
    """Measure every part."""
    for part in PARTS:
        part(SMALL if small else FULL)


if __name__ == "__main__":
    arguments.run(main, __doc__)
