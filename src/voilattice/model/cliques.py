"""The cliques of a network whose target is known: the structure of a join tree.

For each class y, the tables of the network with Y = y and the evidence e known are functions of the
other nodes. Summing these nodes out greedily (`triangulation`) gives cliques. Each clique is joined
to the clique in which its neighbours are summed out next. The result is a tree (one for each
component of the graph) in which the cliques that hold a node are connected:

    P(x, y, e) = g(y) prod_C f_C(x_C, y)

Every table P(x_i | parents) is a factor of one f_C. Tables without free nodes are factors of g. Y
is an axis of every f_C but belongs to no clique. So the cliques are smaller: under naive Bayes,
each clique is a single feature.

Only the ancestors of Y, of the features and of E take part; every other node sums to 1. A node with
one state counts as known.

Each clique C but the root of its tree has a parent, and shares its *separator* S with it. The nodes
of C that are not in S, the *residual*, occur only in C and below. So each node is in the residual
of exactly one clique, where its value is entered when it becomes known. The axes of f_C are

    [residual features] [other residual nodes] [S, in the order of the parent's axes] [Y]

so a known feature selects long runs of memory, and a sum over the residual adds long runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voilattice.model.elimination import Factor, ancestors, restrict_table
from voilattice.model.network import Network, Table
from voilattice.model.triangulation import check_size, sum_out_order

__all__ = ["Clique", "Cliques", "Place", "build_cliques"]

# All tables f_C and their products t_C with messages are in memory at the same time, and for one
# clique what is computed from them.
TABLES_AT_ONCE = 2

# From so many cells on, a second way to make cliques is tried.
MANY_CELLS = 20_000

# No product of entries underflows if the product of the least entries is above this.
LEAST_PRODUCT = 1e-280


@dataclass(frozen=True, slots=True)
class Clique:
    """A clique C with its table f_C."""

    nodes: tuple[int, ...]  # one axis of the table each; Y is the last axis
    n_features: int  # how many of the nodes are residual features; these come first
    n_residual: int  # how many of the nodes are not in the separator; these come first
    parent: int  # -1: the clique is a root
    children: tuple[int, ...]
    table: Table
    # Whether the sum over the residual, of all products in C and below, is 1 for every x_S if no
    # feature is known there. Then nothing has to be summed.
    is_unit: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where a feature is known: in the residual of a clique, or from the start."""

    clique: int  # -1: the feature has a fixed state
    axis: int
    state: int  # its fixed state; -1: none


@dataclass(frozen=True, slots=True)
class Cliques:
    """All cliques, children before parents."""

    cliques: tuple[Clique, ...]
    places: tuple[Place, ...]  # of each feature
    flat: Table  # all tables, one after the other
    mantissa: Table  # g(y) = mantissa * 2**exponent
    exponent: NDArray[np.int64]
    least: Table  # the least positive entry of each table

    @property
    def roots(self) -> list[int]:
        """The root of each clique's tree."""
        roots = list(range(len(self.cliques)))
        for k in reversed(roots):
            if (parent := self.cliques[k].parent) >= 0:
                roots[k] = roots[parent]
        return roots

    @property
    def is_safe(self) -> bool:
        """Whether no product of entries, one of each table, can underflow."""
        return float(np.log(self.least).sum()) > math.log(LEAST_PRODUCT)


def build_cliques(
    network: Network, target: int, features: Sequence[int], evidence: Mapping[int, int]
) -> Cliques:
    """Return the cliques of the network given the evidence.

    Raises
    ------
    TooLargeError
        The tables would not fit the budget (`memory_limit`).
    """
    n_states, m = network.n_states, network.n_states[target]
    relevant = sorted(ancestors(network, {target, *features, *evidence}))
    fixed = {node: 0 for node in relevant if n_states[node] == 1 and node != target}
    fixed.update(evidence)
    factors = [restrict_table(network, node, fixed) for node in relevant]
    scopes = [[node for node in factor.nodes if node != target] for factor in factors]
    skeleton = _best_skeleton(n_states, scopes, set(relevant) - fixed.keys() - {target})
    check_size(
        max(map(len, skeleton.nodes), default=0) + 2,
        TABLES_AT_ONCE * (skeleton.n_cells + skeleton.largest) * m * np.dtype(np.float64).itemsize,
    )
    order = skeleton.rooted()
    layouts = skeleton.layouts(order, set(features))

    mantissa, exponent = np.ones(m), np.zeros(m, dtype=np.int64)
    factors_of: dict[int, list[Factor]] = {clique: [] for clique in order}
    for factor, scope in zip(factors, scopes, strict=True):
        exponent += factor.scaled.exponent
        if scope:
            factors_of[skeleton.home(scope)].append(factor)
        else:
            mantissa, shift = np.frexp(mantissa * factor.scaled.table)
            exponent += shift
    is_unit = skeleton.units(layouts, relevant, scopes)

    number = {clique: k for k, clique in enumerate(order)}  # in the result
    flat = np.ones(skeleton.n_cells * m)
    cliques: list[Clique] = []
    place_of = {node: Place(-1, -1, state) for node, state in fixed.items()}
    start = 0
    for k, old in enumerate(order):
        nodes, n_features, n_residual = layouts[old]
        shape = (*(n_states[node] for node in nodes), m)
        table = flat[start : (start := start + math.prod(shape))].reshape(shape)
        axis_of = {node: axis for axis, node in enumerate((*nodes, target))}
        for factor in factors_of[old]:
            table *= _spread(factor, axis_of, shape)
        table.setflags(write=False)
        for axis in range(n_features):
            place_of[nodes[axis]] = Place(k, axis, -1)
        parent = number.get(skeleton.parent[old], -1)
        children = tuple(number[child] for child in skeleton.children[old])
        cliques.append(Clique(nodes, n_features, n_residual, parent, children, table, is_unit[old]))
    flat.setflags(write=False)
    places = tuple(place_of[node] for node in features)
    return Cliques(tuple(cliques), places, flat, mantissa, exponent, _least(cliques, flat))


def _least(cliques: Sequence[Clique], flat: Table) -> Table:
    """Return the least positive entry of each table."""
    if not cliques:
        return np.ones(0)
    starts = np.cumsum([0, *(clique.table.size for clique in cliques[:-1])])
    least: Table = np.minimum.reduceat(np.where(flat > 0, flat, 1.0), starts)
    return least


def _best_skeleton(
    n_states: Sequence[int], scopes: Sequence[Sequence[int]], free: set[int]
) -> _Skeleton:
    """Return the better of two ways to make cliques; the second only if there are many cells."""
    first = _Skeleton(n_states, sum_out_order(n_states, scopes, free))
    if first.n_cells < MANY_CELLS:
        return first
    second = _Skeleton(n_states, sum_out_order(n_states, scopes, free, by_fill=True))
    return min(first, second, key=lambda skeleton: skeleton.n_cells)


def _spread(factor: Factor, place: Mapping[int, int], shape: Sequence[int]) -> Table:
    """Return the factor's table with its axes at the given places, of length 1 elsewhere."""
    order = sorted(range(len(factor.nodes)), key=lambda axis: place[factor.nodes[axis]])
    lengths = [1] * len(shape)
    for node in factor.nodes:
        lengths[place[node]] = shape[place[node]]
    return factor.scaled.table.transpose(order).reshape(lengths)


class _Layout(NamedTuple):
    nodes: tuple[int, ...]
    n_features: int
    n_residual: int


class _Skeleton:
    """Cliques without tables, as sets of nodes, and the tree that joins them."""

    def __init__(self, n_states: Sequence[int], found: Sequence[tuple[int, set[int]]]) -> None:
        self._turn = {node: i for i, (node, _) in enumerate(found)}
        # The clique of a node is kept only if no other holds it: `_kept` is its number in `nodes`.
        self._kept = list(range(len(found)))
        after = [min((self._turn[n] for n in near), default=-1) for _, near in found]
        sizes = [len(near) + 1 for _, near in found]
        absorbed = [False] * len(found)
        for i, (_, near) in enumerate(found):
            if (above := after[i]) >= 0 and len(near) == sizes[above] and not absorbed[above]:
                absorbed[above] = True
                self._kept[above] = self._kept[i]
        self.nodes: list[set[int]] = []
        numbers: dict[int, int] = {}
        for i, (node, near) in enumerate(found):
            if not absorbed[i]:
                numbers[i] = len(self.nodes)
                self.nodes.append({node, *near})
        self._kept = [numbers[i] for i in self._kept]
        self._joined: list[list[tuple[int, set[int]]]] = [[] for _ in self.nodes]
        for i, (_, near) in enumerate(found):
            if after[i] >= 0:
                a, b = self._kept[i], self._kept[after[i]]
                if a != b:
                    self._joined[a].append((b, near))
                    self._joined[b].append((a, near))
        self.parent = [-1] * len(self.nodes)
        self.children: list[list[int]] = [[] for _ in self.nodes]
        self._separator: list[set[int]] = [set() for _ in self.nodes]
        self._sizes = [math.prod([n_states[node] for node in nodes]) for nodes in self.nodes]
        self.n_cells, self.largest = sum(self._sizes), max(self._sizes, default=1)

    def home(self, scope: Sequence[int]) -> int:
        """Return a clique that holds all nodes of a table: where the first is summed out."""
        return self._kept[min(self._turn[node] for node in scope)]

    def rooted(self) -> list[int]:
        """Direct the trees towards their smallest clique; return children before parents."""
        order: list[int] = []
        seen = [False] * len(self.nodes)
        for root in sorted(range(len(self.nodes)), key=lambda c: (self._sizes[c], c)):
            if seen[root]:
                continue
            seen[root] = True
            stack = [root]
            while stack:
                clique = stack.pop()
                order.append(clique)
                for other, separator in self._joined[clique]:
                    if not seen[other]:
                        seen[other] = True
                        self.parent[other] = clique
                        self.children[clique].append(other)
                        self._separator[other] = separator
                        stack.append(other)
        return order[::-1]

    def layouts(self, order: Sequence[int], features: set[int]) -> dict[int, _Layout]:
        """Return the axes of each clique."""
        found: dict[int, _Layout] = {}
        for clique in reversed(order):
            separator = self._separator[clique]
            residual = self.nodes[clique] - separator
            # Nodes that many children share come last: then their messages lie in long runs.
            shared = dict.fromkeys(residual, 0)
            for child in self.children[clique]:
                for node in self._separator[child] & residual:
                    shared[node] += 1
            first = sorted((node not in features, count, node) for node, count in shared.items())
            above = found[self.parent[clique]].nodes if separator else ()
            nodes = (*(node for _, _, node in first), *(n for n in above if n in separator))
            found[clique] = _Layout(nodes, len(residual & features), len(residual))
        return found

    def units(
        self, layouts: Mapping[int, _Layout], owners: Sequence[int], scopes: Sequence[Sequence[int]]
    ) -> list[bool]:
        """Return the cliques whose message is 1 if nothing is known in them and below.

        P(owner | parents) sums to 1 in the clique where the owner is summed out, and not before; if
        the owner is Y or known, it never does.
        """
        found = [True] * len(self.nodes)
        last = {n: c for c, layout in layouts.items() for n in layout.nodes[: layout.n_residual]}
        for owner, scope in zip(owners, scopes, strict=True):
            clique = self.home(scope) if scope else -1
            while clique not in {last.get(owner, -1), -1}:
                found[clique] = False
                clique = self.parent[clique]
        return found
