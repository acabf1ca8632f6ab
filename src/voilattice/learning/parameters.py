"""The parameters of a network: smoothed counts, also for tables with missing cells.

Let n(x, u) be the number of cases in which a node has the state x and its parents the states u. Let
a be the smoothing. The table of the node is

    P(x | u) = (n(x, u) + a) / sum over x' of (n(x', u) + a).

If cells are missing, n(x, u) is not known. *Expectation maximization* starts from the cases in
which all cells of a node and its parents are there, and repeats two steps:

    n(x, u) <- sum over cases of P(x, u | the cells of the case that are there)
    P(x | u) <- the formula above

Every round raises  log P(the cells that are there) + a * sum of log P(x | u),  so the rounds
approach a point that the two steps do not change. They stop when no probability moves by more than
`LAST_CHANGE`.

The first step is exact. Cases that lack the same cells are treated together. A *family* is a node
with its parents. Given the cells that are there, the missing nodes fall into parts that share no
family, and each part is summed by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, TooLargeError
from voilattice.learning.columns import Codes

__all__ = ["fit_tables"]

Table = NDArray[np.float64]

LAST_CHANGE = 1e-10
MAX_ROUNDS = 20_000
MAX_PART = 50  # nodes that numpy.einsum can tell apart, less the axis of the cases


def fit_tables(
    sizes: Sequence[int], parents: Sequence[Sequence[int]], codes: Sequence[Codes], smoothing: float
) -> list[Table]:
    """Return P(node | parents) for each node: an axis for each parent in order, the node last.

    Parameters
    ----------
    sizes
        The number of states of each node.
    codes
        A column of cases for each node.
    smoothing
        What is added to each count.

    Raises
    ------
    InputError
        There is no smoothing, and some combination of parents' states never occurs.

    >>> [y] = fit_tables([2], [[]], [np.array([0, 0, 0, 1, -1])], smoothing=1.0)
    >>> y.round(6).tolist()  # the missing cell changes nothing: (3 + 1) / (4 + 2)
    [0.666667, 0.333333]
    """
    families = [(*above, node) for node, above in enumerate(parents)]
    cases = np.stack(codes, axis=1)
    shapes = [tuple(sizes[node] for node in family) for family in families]
    there = [(cases[:, family] >= 0).all(axis=1) for family in families]
    certain = [
        _count_cases(cases[rows][:, family], shape)
        for rows, family, shape in zip(there, families, shapes, strict=True)
    ]
    tables = [_normalize(n, smoothing or float(not all(rows.all() for rows in there)))
              for n, rows in zip(certain, there, strict=True)]  # fmt: skip
    parts = _find_parts(cases, families, sizes)
    if not parts:
        return tables
    for _ in range(MAX_ROUNDS):
        counts = [n.copy() for n in certain]
        for part in parts:
            part.add_expected(tables, counts)
        before, tables = tables, [_normalize(n, smoothing) for n in counts]
        change = max(float(np.abs(a - b).max()) for a, b in zip(before, tables, strict=True))
        if change <= LAST_CHANGE:
            return tables
    warnings.warn(
        f"the parameters still move by {change:.1g} after {MAX_ROUNDS:,} rounds of expectation "
        f"maximization; more smoothing makes it end sooner",
        UserWarning,
        stacklevel=2,
    )
    return tables


def _count_cases(cells: Codes, shape: tuple[int, ...]) -> Table:
    places = np.ravel_multi_index(tuple(cells.T), shape)
    return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def _normalize(counts: Table, smoothing: float) -> Table:
    smoothed = counts + smoothing
    total = smoothed.sum(axis=-1, keepdims=True)
    if (total == 0).any():
        raise InputError(
            "with none, some row of a table has no case at all; use more than 0", "smoothing"
        )
    table: Table = smoothed / total
    return table


@dataclass(frozen=True, slots=True)
class _Part:
    """Cases that lack the same cells, and some of their missing nodes, linked by families."""

    weights: Table  # how many cases are like each of these
    # Of each family with a missing member: its node, where its cells stand in the node's table
    # (an axis for the cases, and one for each missing member), and the labels of those axes.
    families: tuple[tuple[int, tuple[Codes, ...], list[int]], ...]

    def add_expected(self, tables: Sequence[Table], counts: Sequence[Table]) -> None:
        """Add the expected counts of the cases to the counts of each family."""
        factors: list[Any] = []
        for node, cells, axes in self.families:
            factors += [tables[node][cells], axes]
        for node, cells, axes in self.families:
            joint = np.einsum(*factors, axes, optimize="greedy")
            total = joint.reshape(len(joint), -1).sum(axis=1)
            joint = joint * (self.weights / total).reshape(-1, *[1] * (joint.ndim - 1))
            np.add.at(counts[node], cells, joint)


def _find_parts(
    cases: Codes, families: Sequence[tuple[int, ...]], sizes: Sequence[int]
) -> list[_Part]:
    """Return the parts of all cases with missing cells."""
    found = []
    lacking = cases < 0
    for pattern in np.unique(lacking[lacking.any(axis=1)], axis=0):
        alike, weights = np.unique(
            cases[(lacking == pattern).all(axis=1)], axis=0, return_counts=True
        )
        for nodes in _group_linked(set(np.flatnonzero(pattern).tolist()), families):
            if len(nodes) > MAX_PART:
                raise TooLargeError(
                    f"{len(nodes)} cells that depend on each other are missing in one row; "
                    f"at most {MAX_PART} may be: leave such rows or columns out"
                )
            label = {node: place for place, node in enumerate(sorted(nodes), start=1)}
            touched = []
            for family in families:
                missing = [node for node in family if node in nodes]
                if missing:
                    cells = _index_cells(alike, family, missing, sizes)
                    touched.append((family[-1], cells, [0, *(label[node] for node in missing)]))
            found.append(_Part(weights.astype(np.float64), tuple(touched)))
    return found


def _group_linked(missing: set[int], families: Sequence[tuple[int, ...]]) -> list[set[int]]:
    """Return the missing nodes in parts; no family has members in two parts."""
    parts: list[set[int]] = []
    for family in families:
        if together := missing.intersection(family):
            apart = [part for part in parts if part.isdisjoint(together)]
            joined = together.union(*(part for part in parts if not part.isdisjoint(together)))
            parts = [*apart, joined]
    return parts


def _index_cells(
    cases: Codes, family: Sequence[int], missing: Sequence[int], sizes: Sequence[int]
) -> tuple[Codes, ...]:
    """Return an index into a family's table: an axis for the cases, one for each missing node."""
    shape = (len(cases), *(sizes[node] for node in missing))
    places = np.indices(shape, sparse=True)
    column = (-1, *[1] * len(missing))
    return tuple(
        np.broadcast_to(
            places[1 + missing.index(node)] if node in missing else cases[:, node].reshape(column),
            shape,
        )
        for node in family
    )
