"""Definitions 1 to 4 and Equation 7 of the paper read word by word, by enumeration."""

from __future__ import annotations

import itertools

import networkx

from voilattice.ties import tolerance
from voilattice.valuation.valuation import value


def directed_graph(problem):
    network = problem.network
    graph = networkx.DiGraph()
    graph.add_nodes_from(network.names)
    for child, parents in enumerate(network.parents):
        graph.add_edges_from((network.names[parent], network.names[child]) for parent in parents)
    return graph


class BruteForce:
    """Every question about a problem's graph, answered by enumeration."""

    def __init__(self, problem):
        self.problem = problem
        self.graph = directed_graph(problem)
        self.known = set(problem.evidence)
        self.free = [f for f in problem.features if f not in self.known]
        self._depends = {}

    def depends(self, feature, given):
        """Whether X depends on Y given `given` and E."""
        key = (feature, frozenset(given))
        if key not in self._depends:
            self._depends[key] = not networkx.is_d_separator(
                self.graph, {feature}, {self.problem.target}, set(given) | self.known
            )
        return self._depends[key]

    def is_irreducible(self, s):
        """Definition 1."""
        return all(self.depends(x, set(s) - {x}) for x in s)

    def subsets(self, of=None):
        of = self.free if of is None else sorted(of)
        return [
            frozenset(s) for size in range(len(of) + 1) for s in itertools.combinations(of, size)
        ]

    def irreducible_sets(self):
        return {s for s in self.subsets() if self.is_irreducible(s)}

    def edges(self):
        """Definition 2: from each irreducible set to its maximal irreducible proper subsets."""
        nodes = self.irreducible_sets()
        below = {s: {t for t in nodes if t < s} for s in nodes}
        return {(s, t) for s in nodes for t in below[s] if not any(t < u for u in below[s])}

    def is_separated(self, first, second):
        """Whether `first` and E separate Y from the rest of `second`."""
        return not any(self.depends(x, first) for x in set(second) - set(first))

    def cores(self, s):
        """The irreducible subsets C of S that separate Y from the rest of S."""
        return [c for c in self.subsets(s) if self.is_irreducible(c) and self.is_separated(c, s)]

    def positivity(self, feature):
        """The features that can turn a feature from independent to dependent."""
        others = [f for f in self.free if f != feature]
        return {
            y
            for y in others
            for z in self.subsets([f for f in others if f != y])
            if self.depends(feature, z | {y}) and not self.depends(feature, z)
        }


def best_of_all_subsets(problem, evidence):
    """Equation 7 over all subsets, ties broken as documented."""
    known = {**problem.evidence, **evidence}
    free = [f for f in problem.features if f not in known]
    everything = [
        value(problem, s, evidence)
        for size in range(len(free) + 1)
        for s in itertools.combinations(free, size)
    ]
    tol = tolerance(everything[0].emc)
    highest = max(entry.benefit for entry in everything)
    tied = [entry for entry in everything if entry.benefit >= highest - tol]
    fewest = min(len(entry.features) for entry in tied)
    tied = [entry for entry in tied if len(entry.features) == fewest]
    cheapest = min(entry.cost for entry in tied)
    tied = [entry for entry in tied if entry.cost <= cheapest + tol]
    return min(tied, key=lambda entry: sorted(map(problem.features.index, entry.features)))
