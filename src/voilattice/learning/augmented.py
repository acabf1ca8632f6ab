"""Augmented naive Bayes: the target is the only root, and a feature has at most one other parent.

    P(y, x) = P(y) Π_i P(x_i | y, x_pa(i))

The second parents make a *forest* over the features. With no arcs in the forest, this is naive
Bayes; with a spanning tree, it is the tree-augmented network of Friedman, Geiger and Goldszmidt
(1997). In such a network, P(y, x_S) for any set S of known features takes one pass over the forest,
and the tables stay small. Therefore the recipes for few cases use it (`smooth`, `training`).

An arc i - j of the forest is worth what it tells, less what it costs to describe:

    n I(X_i; X_j | Y) - ½ log(n) k_ij

in nats, where k_ij is the number of parameters that the arc adds. The forest with the highest sum
of these is a maximum spanning forest over the arcs that are worth more than 0 (Chow and Liu, 1968).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.learning.cells import Codes

__all__ = [
    "LEAST_PROBABILITY",
    "Augmented",
    "Table",
    "count_pairs",
    "gain_of_arc",
    "information_gain",
    "plain_forest",
    "span_forest",
]

Table = NDArray[np.float64]

LEAST_PROBABILITY = 1e-5  # of a state: a new case may have it


@dataclass(frozen=True, slots=True)
class Augmented:
    """The forest and the tables of an augmented naive Bayes network.

    Parameters
    ----------
    prior
        P(y).
    parents
        The second parent of each feature; -1: it has none.
    tables
        P(x_i | y, u) of each feature, with the axes y, u, x_i; u has one value if there is no
        second parent.
    """

    prior: Table
    parents: tuple[int, ...]
    tables: tuple[Table, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The features, each after its second parent."""
        found: list[int] = []
        children: dict[int, list[int]] = {}
        for i, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(i)
        stack = list(reversed(children.get(-1, [])))
        while stack:
            found.append(i := stack.pop())
            stack += reversed(children.get(i, []))
        return tuple(found)


def count_pairs(
    classes: Codes, one: Codes, other: Codes, shape: tuple[int, int, int], weights: Table
) -> Table:
    """Return how many cases there are of each class, state of one and state of another feature.

    Cases that lack one of the two are not counted.
    """
    there = (one >= 0) & (other >= 0)
    places = np.ravel_multi_index((classes[there], one[there], other[there]), shape)
    counts = np.bincount(places, weights[there], int(np.prod(shape)))
    return counts.reshape(shape).astype(np.float64)


def information_gain(counts: Table) -> float:
    """Return n I(X_i; X_j | Y) in nats, from counts with the axes y, x_i, x_j.

    >>> round(information_gain(np.array([[[5.0, 0.0], [0.0, 5.0]]])), 4)  # 10 log 2
    6.9315
    """
    total = counts.sum(axis=(1, 2), keepdims=True)
    expected = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True)
    there = counts > 0
    ratio = (counts * total)[there] / np.broadcast_to(expected, counts.shape)[there]
    return float((counts[there] * np.log(ratio)).sum())


def span_forest(n: int, gains: Iterable[tuple[float, int, int]]) -> tuple[int, ...]:
    """Return the parents in the forest of highest gain; only arcs of a gain above 0 are in it.

    Parameters
    ----------
    gains
        For pairs of features: what an arc between them is worth.

    >>> span_forest(3, [(2.0, 1, 0), (1.0, 2, 1), (1.5, 2, 0)])
    (-1, 0, 0)
    """
    tree_of = list(range(n))
    neighbours: list[list[int]] = [[] for _ in range(n)]
    # Equal gains: the first pair in the order of the features.
    for gain, i, j in sorted(gains, key=lambda arc: (-arc[0], arc[1], arc[2])):
        if gain > 0 and tree_of[i] != tree_of[j]:
            old, new = tree_of[i], tree_of[j]
            tree_of = [new if tree == old else tree for tree in tree_of]
            neighbours[i].append(j)
            neighbours[j].append(i)
    parents = [-1] * n
    seen: set[int] = set()
    for root in range(n):
        stack = [] if root in seen else [root]
        seen.add(root)
        while stack:
            node = stack.pop()
            for other in neighbours[node]:
                if other not in seen:
                    seen.add(other)
                    parents[other] = node
                    stack.append(other)
    return tuple(parents)


def plain_forest(
    sizes: Sequence[int], codes: Sequence[Codes], classes: Codes, n_classes: int, weights: Table
) -> tuple[int, ...]:
    """Return the forest for tables that are counted."""
    gains = [
        (gain_of_arc(classes, one, codes[j], (n_classes, sizes[i], sizes[j]), weights), i, j)
        for i, one in enumerate(codes)
        for j in range(i)
    ]
    return span_forest(len(codes), gains)


def gain_of_arc(
    classes: Codes, one: Codes, other: Codes, shape: tuple[int, int, int], weights: Table
) -> float:
    """Return what an arc is worth in tables that are counted: each class has its own parameters."""
    counts = count_pairs(classes, one, other, shape, weights)
    n_added = shape[0] * (shape[1] - 1) * (shape[2] - 1)
    return information_gain(counts) - 0.5 * n_added * math.log(max(float(counts.sum()), 1.0))
