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

The first step is exact. A *family* is a node with its parents. Given the cells that are there, the
missing nodes of a case fall into parts that share no family, and each part is summed by itself. It
depends on the cells in its families only: all cases with the same part and the same such cells
are treated as one. A case of weight w counts as w cases.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, TooLargeError
from voilattice.learning.columns import Codes
from voilattice.model.network import MAX_AXES

__all__ = ["fit_tables"]

Table = NDArray[np.float64]

LAST_CHANGE = 1e-10
MAX_ROUNDS = 20_000
MAX_CELLS = 50_000_000  # of a product
FACTORS_AT_ONCE = 10  # are multiplied before the product is scaled


def fit_tables(
    sizes: Sequence[int],
    parents: Sequence[Sequence[int]],
    codes: Sequence[Codes],
    smoothing: float,
    weights: Table | None = None,
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
    weights
        How many cases each case counts for; by default 1.

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
    weights = np.ones(len(cases)) if weights is None else weights
    certain = [
        _count_cases([column[rows] for column in cases.T[list(family)]], shape, weights[rows])
        for rows, family, shape in zip(there, families, shapes, strict=True)
    ]
    tables = [_normalize(n, smoothing or float(not all(rows.all() for rows in there)))
              for n, rows in zip(certain, there, strict=True)]  # fmt: skip
    parts = _find_parts(cases, families, sizes, weights)
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


def _count_cases(cells: Sequence[Codes], shape: tuple[int, ...], weights: Table) -> Table:
    places = np.ravel_multi_index(tuple(cells), shape)
    counts = np.bincount(places, weights, math.prod(shape))
    return counts.reshape(shape).astype(np.float64)


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
class _Factor:
    """A table of cases in a bucket, with an axis for each of its missing nodes."""

    number: int
    shape: tuple[int, ...]  # with an axis for each node of the bucket, of length 1 if it lacks it
    others: tuple[int, ...]  # axes of the nodes that it lacks


@dataclass(frozen=True, slots=True)
class _Bucket:
    """A missing node that is summed out of the product of all factors that have it."""

    factors: tuple[_Factor, ...]
    axis: int  # of the node
    message: _Factor


@dataclass(frozen=True, slots=True)
class _Part:
    """Some missing nodes, linked by families, and the cases that lack these together.

    The factors are the families with a missing member, and then the message that each bucket
    leaves behind. Every factor but the last message is in one bucket.
    """

    weights: Table  # how many cases are like each of these
    families: tuple[tuple[int, Codes], ...]  # a node, and where the cells stand in its flat table
    buckets: tuple[_Bucket, ...]

    def add_expected(self, tables: Sequence[Table], counts: Sequence[Table]) -> None:
        """Add what the cases are expected to count in each family.

        Inward, one bucket after another is multiplied and its node summed out. Outward, the
        product of a bucket becomes a distribution by what the later buckets say of its message:

            P(nodes of the bucket) = product * P(nodes of its message) / message.

        The last message has no nodes. There the weight of a case stands in place of P() = 1, so
        the distributions are counts.
        """
        factors = [tables[node].ravel()[places] for node, places in self.families]
        products = []
        for bucket in self.buckets:
            product = np.ones(1)
            for n, factor in enumerate(bucket.factors):
                product = product * factors[factor.number].reshape(factor.shape)
                # By case, the largest entry is 1: a product of many small numbers stays in range.
                if (n + 1) % FACTORS_AT_ONCE == 0 or n == len(bucket.factors) - 1:
                    product = product / product.max(
                        axis=tuple(range(1, product.ndim)), keepdims=True
                    )
            products.append(product)
            factors.append(product.sum(axis=bucket.axis))
        expected = {len(factors) - 1: self.weights}
        for bucket, product in zip(reversed(self.buckets), reversed(products), strict=True):
            message = bucket.message
            ratio = expected[message.number] / factors[message.number]
            joint = product * ratio.reshape(message.shape)
            for factor in bucket.factors:
                expected[factor.number] = joint.sum(axis=factor.others) if factor.others else joint
        for k, (node, places) in enumerate(self.families):
            table = counts[node].reshape(-1)
            table += np.bincount(places.ravel(), expected[k].ravel(), table.size)


def _find_parts(
    cases: Codes, families: Sequence[tuple[int, ...]], sizes: Sequence[int], weights: Table
) -> list[_Part]:
    """Return the parts of all cases with missing cells."""
    found = []
    for nodes, rows in _rows_by_part(cases < 0, families).items():
        touched = [family for family in families if not nodes.isdisjoint(family)]
        lacking = [tuple(sorted(nodes.intersection(family))) for family in touched]
        known = sorted(set().union(*touched) - nodes)
        alike, n = _merge_alike(cases[rows][:, known], [sizes[node] for node in known],
                                weights[rows])  # fmt: skip
        cells = dict(zip(known, alike.T, strict=True))
        buckets = _plan_buckets(nodes, lacking, sizes, len(n))
        places = (
            (family[-1], _index_cells(cells, len(n), family, missing, sizes))
            for family, missing in zip(touched, lacking, strict=True)
        )
        found.append(_Part(n, tuple(places), buckets))
    return found


def _rows_by_part(
    lacking: NDArray[np.bool_], families: Sequence[tuple[int, ...]]
) -> dict[frozenset[int], NDArray[np.intp]]:
    """Return the parts of the missing nodes that occur, and the rows of each."""
    rows = np.flatnonzero(lacking.any(axis=1))
    if not len(rows):
        return {}
    patterns, which = np.unique(lacking[rows], axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
    found: dict[frozenset[int], list[NDArray[np.intp]]] = {}
    mates = _find_mates(families)
    for pattern, alike in zip(patterns, np.split(rows[order], ends[:-1]), strict=True):
        for nodes in _group_linked(np.flatnonzero(pattern).tolist(), mates):
            found.setdefault(nodes, []).append(alike)
    return {nodes: np.concatenate(found[nodes]) for nodes in sorted(found, key=sorted)}


def _merge_alike(cells: Codes, sizes: Sequence[int], weights: Table) -> tuple[Codes, Table]:
    """Return the different rows of cells, and the sum of the weights of each."""
    if not sizes:
        return cells[:1], weights.sum(keepdims=True)
    if math.prod(sizes) <= MAX_CELLS:
        places, which = np.unique(np.ravel_multi_index(tuple(cells.T), sizes), return_inverse=True)
        alike = np.stack(np.unravel_index(places, sizes), axis=1)
    else:
        alike, which = np.unique(cells, axis=0, return_inverse=True)
    return alike, np.bincount(which.ravel(), weights).astype(np.float64)


def _plan_buckets(
    nodes: frozenset[int], factors: Sequence[tuple[int, ...]], sizes: Sequence[int], n_cases: int
) -> tuple[_Bucket, ...]:
    """Return in which order to sum the nodes out, the smallest product first.

    Parameters
    ----------
    factors
        The missing nodes of each family, ascending.
    """
    scopes, found = list(factors), []
    left, alive = set(nodes), set(range(len(scopes)))

    def union(node: int) -> set[int]:
        return set().union(*(scopes[k] for k in alive if node in scopes[k]))

    while left:
        node = min(left, key=lambda n: (math.prod(sizes[m] for m in union(n)), n))
        product = tuple(sorted(union(node)))
        if math.prod(sizes[n] for n in product) * n_cases > MAX_CELLS or len(product) >= MAX_AXES:
            raise TooLargeError(
                f"{len(nodes)} cells that depend on each other are missing in one row, too many "
                f"to be filled in together; leave such rows or columns out"
            )
        inner = sorted(k for k in alive if node in scopes[k])
        scopes.append(tuple(n for n in product if n != node))
        *inside, message = (
            _place_factor(k, scopes[k], product, sizes, n_cases) for k in (*inner, len(scopes) - 1)
        )
        found.append(_Bucket(tuple(inside), 1 + product.index(node), message))
        alive = alive - set(inner) | {len(scopes) - 1}
        left.remove(node)
    return tuple(found)


def _place_factor(
    number: int, scope: Sequence[int], product: Sequence[int], sizes: Sequence[int], n_cases: int
) -> _Factor:
    """Return how a factor with a scope stands in a product of some nodes."""
    shape = (n_cases, *(sizes[node] if node in scope else 1 for node in product))
    return _Factor(
        number, shape, tuple(1 + axis for axis, node in enumerate(product) if node not in scope)
    )


def _find_mates(families: Sequence[tuple[int, ...]]) -> list[set[int]]:
    """Return, for each node, all nodes with which it shares a family."""
    mates: list[set[int]] = [set() for _ in families]
    for family in families:
        for node in family:
            mates[node].update(family)
    return mates


def _group_linked(missing: Sequence[int], mates: Sequence[set[int]]) -> list[frozenset[int]]:
    """Return the missing nodes in parts; no family has members in two parts."""
    parts = []
    left = set(missing)
    while left:
        part: set[int] = set()
        reached = {left.pop()}
        while reached:
            part |= reached
            reached = left & set().union(*(mates[node] for node in reached))
            left -= reached
        parts.append(frozenset(part))
    return parts


def _index_cells(
    cells: Mapping[int, Codes],
    n_cases: int,
    family: Sequence[int],
    missing: tuple[int, ...],
    sizes: Sequence[int],
) -> Codes:
    """Return where in a family's flat table the cases are: an axis for each missing node too."""
    shape = (n_cases, *(sizes[node] for node in missing))
    axes = np.indices(shape, sparse=True)
    column = (-1, *[1] * len(missing))
    index = [
        axes[1 + missing.index(node)] if node in missing else cells[node].reshape(column)
        for node in family
    ]
    places = np.ravel_multi_index(
        tuple(np.broadcast_arrays(*index)), [sizes[node] for node in family]
    )
    return np.broadcast_to(places, shape)
