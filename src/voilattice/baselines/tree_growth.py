r"""Trees that are grown by information for money, and pruned as C4.5 prunes them.

At a node with n cases, a test has the information gain

    ΔI = H - Σ_b n_b/n H_b,       H = -Σ_j p_j log2 p_j,

in bits. A number is compared with the threshold of highest gain, a category has a branch for each
value. Of cases with a missing cell nothing is gained, so ΔI is multiplied by the share of the
others (C4.5). Two branches must have two cases. Which feature is tested depends on its price C now:

    EG2 (Núñez, 1991)      (2^ΔI - 1) / (C + 1)^ω
    CS-ID3 (Tan, 1993)     ΔI² / C
    IDX (Norton, 1989)     ΔI / C

The price now is lower for a feature that shares its costs with one that was tested above. A number
that is tested once more costs nothing, but it keeps its price here: at no price, a cheap number
would be cut again and again before anything else is looked at. Where C divides, the least price of
all features stands for 0.

The best of many thresholds looks good by chance. So Quinlan (1996, release 8 of C4.5) subtracts
log2(number of thresholds) / n from the gain of a number, where n is the number of cases.

Pruning (Quinlan, 1993). A node where N cases came, E of them not in its most frequent class, makes
N U_CF(E, N) errors on new cases, where U_CF is the upper limit of the binomial distribution for the
confidence CF: if the true error rate were U_25%, one table in four would show so few errors. A
subtree becomes a leaf if the leaf is expected to make no more errors than the leaves below it, up
to 0.1.

Departures from C4.5. The criteria above stand where C4.5 has the gain ratio. A missing cell goes to
the branch with most cases, not in parts to all of them, so that a case has one path and one bill.
A subtree is not replaced by one of its branches.

The functions here are the readable twin of `compiled.trees`. Both work on codes (`coding`), and on
prices as a table: that of a feature while nothing is known, and once one other is known. The lowest
of those holds. That is exact for groups and discounts. A price that depends on the value of another
feature is taken at the most frequent value of that one, and only if it is lower there than while
nothing is known. Bills are exact in any case.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import (
    LEAST_BRANCH,
    LEAST_GAIN,
    PRUNING_SLACK,
    SAME_SCORE,
    CodedCases,
    GrownTree,
    TreeBias,
    TreeStakes,
)
from voilattice.engines import choose_engine
from voilattice.learning.data_tables import DataTable
from voilattice.learning.encoders import CellReader
from voilattice.learning.rivals import Question
from voilattice.model.costs import price_set

__all__ = [
    "CS_ID3",
    "EG2",
    "IDX",
    "expect_errors",
    "find_deviations",
    "find_gain",
    "find_twin",
    "grow",
    "make_bias",
    "pay",
    "price_features",
    "score",
    "smooth",
    "sort_rows",
    "try_biases",
]

EG2, CS_ID3, IDX = 0, 1, 2  # the kinds of a bias
CONFIDENCE = 0.25  # C4.5's own

# C4.5 knows the deviations of the normal distribution at these confidences, with straight lines
# between them.
CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)

Table = NDArray[np.float64]
Rows = NDArray[np.int32]


def price_features(question: Question, table: DataTable, reader: CellReader) -> tuple[Table, Table]:
    """Return the price of each feature, and [i, k]: that of i once k is known."""
    names, states = reader.features, reader.states(table)
    first = np.array([price_set(question.costs, frozenset({name}), {}) for name in names])
    after = np.tile(first[:, None], (1, len(names)))
    for k, known in enumerate(names):
        there = [state for state in states[known] if state is not None]
        usual, n = np.unique(there, return_counts=True)
        evidence = {known: str(usual[n.argmax()])}
        for i, name in enumerate(names):
            if i != k:
                after[i, k] = price_set(question.costs, frozenset({name}), evidence)
    return first, after


def make_bias(
    kind: int,
    prices: Table,
    after: Table,
    strength: float = 1.0,
    confidence: float = CONFIDENCE,
    *,
    is_corrected: bool = True,
) -> TreeBias:
    """Return by what a tree is grown and pruned; the least price above 0 stands for 0."""
    least = float(prices[prices > 0].min(initial=np.inf))
    return TreeBias(
        kind, strength, prices, after, least if np.isfinite(least) else 1.0,
        confidence, float(np.interp(confidence, CONFIDENCES, DEVIATIONS)), is_corrected,
    )  # fmt: skip


def find_deviations(confidences: Table) -> Table:
    """Return the deviations of the normal distribution that confidences stand for in C4.5."""
    return np.interp(confidences, CONFIDENCES, DEVIATIONS)


def find_twin(engine: str, work: float) -> Any:
    """Return the module whose `grow`, `pay` and `try_biases` do this much work."""
    if choose_engine(engine, "trees", work) == "python":
        return sys.modules[__name__]
    from voilattice.compiled import trees

    return trees


def sort_rows(cases: CodedCases, rows: Rows) -> Rows:
    """Return some rows once for each feature, sorted by its codes."""
    places = np.argsort(cases.codes[:, rows], axis=1, kind="stable")
    return np.ascontiguousarray(rows[places])


def try_biases(
    cases: CodedCases,
    orders: Rows,
    outside: Rows,
    bias: TreeBias,
    prices: Table,
    strengths: Table,
    confidences: Table,
    deviations: Table,
    stakes: TreeStakes,
) -> Table:
    """Return the mean cost of variants of a bias on the rows that their trees have not seen.

    Parameters
    ----------
    orders
        [split, feature, case]: the rows to learn from, as `sort_rows` returns them.
    outside
        [split, case]: the rows to pay for.
    prices, strengths, confidences, deviations
        Of each variant.
    """
    found = np.zeros(len(strengths))
    for k in range(len(found)):
        variant = bias._replace(
            prices=prices[k], strength=float(strengths[k]),
            confidence=float(confidences[k]), deviation=float(deviations[k]),
        )  # fmt: skip
        for order, rows in zip(orders, outside, strict=True):
            found[k] += pay(grow(cases, order, variant), cases, rows, stakes)
    return found / len(orders)


def grow(cases: CodedCases, order: Rows, bias: TreeBias) -> GrownTree:
    """Return the pruned tree of some rows, which `sort_rows` has sorted."""
    nodes: list[list[Any]] = []  # feature, rank, first branch, usual node, counts
    branches: list[int] = []

    def add_node(rows: Rows, prices: Table) -> int:
        node = len(nodes)
        counts = np.bincount(cases.classes[rows], minlength=cases.n_classes)
        nodes.append([-1, -1, -1, -1, counts])
        if counts.max() == len(rows):
            return node
        found = _choose_test(cases, rows, prices, bias)
        if found is None:
            return node
        f, rank = found
        ways = _ways(cases.codes[f, rows], rank)
        sizes = np.bincount(ways[ways >= 0], minlength=_count_ways(cases, f))
        most = int(sizes.argmax())
        first = len(branches)
        branches.extend([-1] * len(sizes))
        below = np.minimum(prices, bias.after[:, f])
        for way in range(len(sizes)):
            inside = rows[(ways == way) | ((ways < 0) & (way == most))]
            if len(inside):
                branches[first + way] = add_node(inside, below)
        nodes[node][:4] = f, rank, first, branches[first + most]
        return node

    add_node(order[0] if len(order) else np.zeros(0, dtype=np.int32), bias.prices)
    feature, rank, first, usual = np.array([entry[:4] for entry in nodes], dtype=np.int32).T.copy()
    tree = GrownTree(
        feature, rank, first, usual, np.array(branches, dtype=np.int32),
        np.array([entry[4] for entry in nodes], dtype=np.int64),
    )  # fmt: skip
    _prune(tree, cases, bias)
    return tree


def _choose_test(
    cases: CodedCases, rows: Rows, prices: Table, bias: TreeBias
) -> tuple[int, int] | None:
    """Return the feature of highest score, and the rank below its threshold, or -1."""
    best, chosen = 0.0, None
    for f in range(len(prices)):
        gain, rank, n_tried = find_gain(cases, rows, f)
        if bias.is_corrected:
            gain -= math.log2(n_tried) / len(rows)
        if gain > LEAST_GAIN:
            wanted = score(bias, gain, float(prices[f]))
            if wanted > best * SAME_SCORE:
                best, chosen = wanted, (f, rank)
    return chosen


def find_gain(cases: CodedCases, rows: Rows, f: int) -> tuple[float, int, int]:
    """Return the gain ΔI of a test of one feature.

    Also return the last rank below its threshold, or -1, and how many thresholds were tried.
    """
    codes = cases.codes[f, rows]
    there = codes >= 0
    table = np.zeros((cases.n_values[f], cases.n_classes), dtype=np.int64)
    np.add.at(table, (codes[there], cases.classes[rows[there]]), 1)
    total = table.sum(axis=0)

    def bits(counts: NDArray[np.int64]) -> float:
        """Return n H of some cases."""
        apart = float(cases.n_log_n[counts.sum()])
        for count in counts:
            apart -= float(cases.n_log_n[count])
        return apart

    if not cases.is_number[f]:
        if (table.sum(axis=1) >= LEAST_BRANCH).sum() < 2:
            return 0.0, -1, 1
        return (bits(total) - sum(bits(counts) for counts in table)) / len(rows), -1, 1
    best, rank, n_tried = 0.0, -1, 0
    below = np.zeros_like(total)
    for code in np.flatnonzero(table.sum(axis=1)):
        below = below + table[code]
        above = total - below
        if min(below.sum(), above.sum()) >= LEAST_BRANCH:
            n_tried += 1
            gain = (bits(total) - (bits(below) + bits(above))) / len(rows)
            if gain > best * SAME_SCORE:
                best, rank = gain, int(code)
    return best, rank, max(n_tried, 1)


def score(bias: TreeBias, gain: float, price: float) -> float:
    """Return by how much a feature is wanted.

    >>> prices, after = np.array([3.0]), np.zeros((1, 1))
    >>> [score(make_bias(kind, prices, after), 0.5, 3.0) for kind in (CS_ID3, IDX)]
    [0.08333333333333333, 0.16666666666666666]
    """
    if bias.kind == EG2:
        return float((2.0**gain - 1.0) / (price + 1.0) ** bias.strength)
    price = max(price, bias.least)
    return gain * gain / price if bias.kind == CS_ID3 else gain / price


def _ways(codes: Rows, rank: int) -> NDArray[np.int64]:
    """Return the branch of each code; -1: it is missing."""
    return np.where((codes < 0) | (rank < 0), codes, codes > rank).astype(np.int64)


def _count_ways(cases: CodedCases, f: int) -> int:
    return 2 if cases.is_number[f] else int(cases.n_values[f])


def _prune(tree: GrownTree, cases: CodedCases, bias: TreeBias) -> None:
    """Make leaves where fewer errors are expected of a leaf than of what is below."""
    expected = np.zeros(len(tree.feature))
    for node in reversed(range(len(expected))):
        counts = tree.counts[node]
        n = int(counts.sum())
        expected[node] = expect_errors(n - int(counts.max()), n, bias)
        if (f := tree.feature[node]) >= 0:
            first = tree.first[node]
            below = tree.branches[first : first + _count_ways(cases, f)]
            apart = expected[below[below >= 0]].sum()
            if expected[node] <= apart + PRUNING_SLACK:
                tree.feature[node] = -1
            else:
                expected[node] = apart


def expect_errors(n_errors: int, n: int, bias: TreeBias) -> float:
    """Return N U_CF(E, N), with the normal distribution in place of the binomial one as in C4.5."""
    if n == 0:
        return 0.0
    if n_errors == 0:
        return n * (1.0 - math.pow(bias.confidence, 1.0 / n))
    e = n_errors + 0.5
    if e >= n:
        return n_errors + 0.67 * (n - n_errors)
    z = bias.deviation**2
    return float(n * (e + z / 2 + np.sqrt(z * (e * (1 - e / n) + z / 4))) / (n + z))


def smooth(counts: Any, shares: Table) -> Table:
    """Return P(y | node): counts, and as many cases more as there are classes.

    The cases more have the shares of the classes in the whole table.
    """
    more = len(shares)
    found: Table = (counts + more * shares) / (counts.sum(axis=-1, keepdims=True) + more)
    return found


def pay(tree: GrownTree, cases: CodedCases, rows: Rows, stakes: TreeStakes) -> float:
    """Return the mean total cost of some rows."""
    decision = (smooth(tree.counts, stakes.shares) @ stakes.cost.T).argmin(axis=1)
    paid = 0.0
    for row in rows:
        node, path = walk(tree, cases.codes[:, row])
        for k, f in enumerate(path):
            paid += min(stakes.prices[f], *stakes.after[f, path[:k]], np.inf)
        paid += stakes.cost[decision[node], cases.classes[row]]
    return float(paid / max(len(rows), 1))


def walk(tree: GrownTree, codes: Rows) -> tuple[int, list[int]]:
    """Return where one case is decided, and the features that it buys on the way."""
    node, path = 0, list[int]()
    while (f := int(tree.feature[node])) >= 0:
        code, rank = int(codes[f]), int(tree.rank[node])
        if code < 0:  # it cannot be had
            below = int(tree.usual[node])
        else:
            if f not in path:
                path.append(f)
            way = code if rank < 0 else int(code > rank)
            below = int(tree.branches[tree.first[node] + way])
        if below < 0:
            break
        node = below
    return node, path
