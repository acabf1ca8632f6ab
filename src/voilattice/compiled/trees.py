"""The compiled twin of `baselines.tree_growth`: growing, pruning and paying, on sorted rows.

The rows of a node stand together in every feature's list of rows, sorted by their codes, so all
thresholds of a feature are tried in one pass. A split sorts each list by branches, and keeps the
order inside a branch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voilattice.compiled.arrays import (
    LEAST_BRANCH,
    LEAST_GAIN,
    PRUNING_SLACK,
    SAME_SCORE,
    CodedCases,
    Floats,
    GrownTree,
    Ints,
    Places,
    TreeBias,
    TreeStakes,
)
from voilattice.compiled.kernels import copy, inner, kernel

__all__ = ["grow", "pay", "try_biases"]


@kernel()
def try_biases(
    cases: CodedCases,
    orders: Places,
    outside: Places,
    bias: TreeBias,
    prices: Floats,
    strengths: Floats,
    confidences: Floats,
    deviations: Floats,
    stakes: TreeStakes,
) -> Any:
    """Return the mean cost of variants of a bias on the rows that their trees have not seen."""
    found = np.zeros(strengths.shape[0])
    for k in range(found.shape[0]):
        variant = TreeBias(
            bias.kind, strengths[k], prices[k], bias.after, bias.least,
            confidences[k], deviations[k], bias.is_corrected,
        )  # fmt: skip
        for s in range(orders.shape[0]):
            tree = grow(cases, orders[s], variant)
            found[k] += pay(tree, cases, outside[s], stakes)
        found[k] /= orders.shape[0]
    return found


@kernel()
def grow(cases: CodedCases, order: Places, bias: TreeBias) -> GrownTree:
    """Return the pruned tree of some rows; `order` has them once for each feature, sorted."""
    codes, classes, n_classes = cases.codes, cases.classes, cases.n_classes
    n_features, n_rows = order.shape
    width = 2
    for f in range(n_features):
        if not cases.is_number[f]:
            width = max(width, cases.n_values[f])
    rows = order.copy()
    room = max(2 * n_rows, 1)
    feature, rank = np.full(room, -1, np.int32), np.full(room, -1, np.int32)
    first, usual = np.full(room, -1, np.int32), np.full(room, -1, np.int32)
    counts = np.zeros((room, n_classes), np.int64)
    branches = np.full(max(n_rows, 1) * 2, -1, np.int32)
    n_branches, n_nodes = 0, 0
    prices = np.empty((room, n_features))
    # What is still to do: where the rows of a node are, the node above, its place in `branches`.
    starts, ends = np.empty(n_rows + width, np.int64), np.empty(n_rows + width, np.int64)
    aboves, places = np.empty(n_rows + width, np.int64), np.empty(n_rows + width, np.int64)
    starts[0], ends[0], aboves[0], places[0] = 0, n_rows, -1, -1
    n_open = 1
    branch, room_of = np.zeros(cases.classes.shape[0], np.int32), np.empty(n_rows, np.int32)
    sizes, at = np.zeros(width + 1, np.int64), np.zeros(width + 1, np.int64)
    below, total = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    while n_open > 0:
        n_open -= 1
        start, end, above, place = (
            starts[n_open], ends[n_open], aboves[n_open], places[n_open],
        )  # fmt: skip
        node, n_nodes = n_nodes, n_nodes + 1
        if place >= 0:
            branches[place] = node
        for f in range(n_features):
            if above < 0:
                prices[node, f] = bias.prices[f]
            else:
                prices[node, f] = min(prices[above, f], bias.after[f, feature[above]])
        if n_features > 0:
            for i in range(start, end):
                counts[node, classes[rows[0, i]]] += 1
        n_here = end - start
        if counts[node].max() == n_here:
            continue
        best, best_feature, best_rank = 0.0, -1, -1
        for f in range(n_features):
            if cases.is_number[f]:
                gain, r, n_tried = _threshold(cases, codes[f], rows[f], start, end, below, total)
                if bias.is_corrected:
                    gain -= np.log2(n_tried) / n_here
            else:
                gain, r = _categories(cases, codes[f], rows[f], start, end, below, total), -1
            if gain > LEAST_GAIN:
                score = _score(bias, gain, prices[node, f])
                if score > best * SAME_SCORE:
                    best, best_feature, best_rank = score, f, r
        if best_feature < 0:
            continue
        f = best_feature
        n_ways = 2 if cases.is_number[f] else cases.n_values[f]
        sizes[:n_ways] = 0
        n_missing = 0
        for i in range(start, end):
            row = rows[f, i]
            code = codes[f, row]
            way = code if best_rank < 0 else (0 if code <= best_rank else 1)
            if code < 0:
                way = -1
                n_missing += 1
            else:
                sizes[way] += 1
            branch[row] = way
        most = np.argmax(sizes[:n_ways])
        sizes[most] += n_missing
        if n_missing > 0:
            for i in range(start, end):
                if branch[rows[f, i]] < 0:
                    branch[rows[f, i]] = most
        for g in range(n_features):
            at[0] = 0
            for way in range(1, n_ways):
                at[way] = at[way - 1] + sizes[way - 1]
            for i in range(start, end):
                way = branch[rows[g, i]]
                room_of[at[way]] = rows[g, i]
                at[way] += 1
            for i in range(start, end):
                rows[g, i] = room_of[i - start]
        while n_branches + n_ways > branches.shape[0]:
            longer = np.full(2 * branches.shape[0], -1, np.int32)
            copy(branches, longer[: branches.shape[0]])
            branches = longer
        feature[node], rank[node], first[node] = f, best_rank, n_branches
        usual[node] = n_branches + most
        last = end
        for way in range(n_ways - 1, -1, -1):
            if sizes[way] > 0:
                starts[n_open], ends[n_open] = last - sizes[way], last
                aboves[n_open], places[n_open] = node, n_branches + way
                n_open += 1
                last -= sizes[way]
        n_branches += n_ways
    for node in range(n_nodes):
        if feature[node] >= 0:
            usual[node] = branches[usual[node]]
    tree = GrownTree(
        feature[:n_nodes], rank[:n_nodes], first[:n_nodes], usual[:n_nodes],
        branches[:n_branches], counts[:n_nodes],
    )  # fmt: skip
    _prune(tree, cases, bias)
    return tree


@inner()
def _threshold(
    cases: CodedCases,
    codes: Places,
    rows: Places,
    start: int,
    end: int,
    below: Ints,
    total: Ints,
) -> Any:
    """Return the highest gain of a threshold, the last rank below it, and how many there are."""
    n_log_n, classes, n_classes = cases.n_log_n, cases.classes, cases.n_classes
    n_all = end - start
    while start < end and codes[rows[start]] < 0:  # missing cells come first
        start += 1
    n = end - start
    if n < 2 * LEAST_BRANCH:
        return 0.0, -1, 1
    total[:] = 0
    for i in range(start, end):
        total[classes[rows[i]]] += 1
    below[:] = 0
    inside = n_log_n[n]
    for c in range(n_classes):
        inside -= n_log_n[total[c]]
    best, best_rank, n_tried = 0.0, -1, 0
    for i in range(start, end - LEAST_BRANCH):
        below[classes[rows[i]]] += 1
        n_below = i + 1 - start
        if n_below < LEAST_BRANCH or codes[rows[i]] == codes[rows[i + 1]]:
            continue
        n_tried += 1
        low, high = n_log_n[n_below], n_log_n[n - n_below]
        for c in range(n_classes):
            low -= n_log_n[below[c]]
            high -= n_log_n[total[c] - below[c]]
        gain = (inside - (low + high)) / n_all
        if gain > best * SAME_SCORE:
            best, best_rank = gain, codes[rows[i]]
    return best, best_rank, max(n_tried, 1)


@inner()
def _categories(
    cases: CodedCases,
    codes: Places,
    rows: Places,
    start: int,
    end: int,
    here: Ints,
    total: Ints,
) -> Any:
    """Return the gain of a branch for each category."""
    n_log_n, classes, n_classes = cases.n_log_n, cases.classes, cases.n_classes
    n_all = end - start
    while start < end and codes[rows[start]] < 0:
        start += 1
    n = end - start
    total[:] = 0
    n_large, outside = 0, 0.0
    i = start
    while i < end:
        here[:] = 0
        j = i
        while j < end and codes[rows[j]] == codes[rows[i]]:
            here[classes[rows[j]]] += 1
            j += 1
        n_large += j - i >= LEAST_BRANCH
        apart = n_log_n[j - i]
        for c in range(n_classes):
            total[c] += here[c]
            apart -= n_log_n[here[c]]
        outside += apart
        i = j
    if n_large < 2:
        return 0.0
    inside = n_log_n[n]
    for c in range(n_classes):
        inside -= n_log_n[total[c]]
    return (inside - outside) / n_all


@inner()
def _score(bias: TreeBias, gain: float, price: float) -> Any:
    """Return by how much a feature is wanted."""
    if bias.kind == 0:
        return (2.0**gain - 1.0) / (price + 1.0) ** bias.strength
    price = max(price, bias.least)
    if bias.kind == 1:
        return gain * gain / price
    return gain / price


@inner()
def _prune(tree: GrownTree, cases: CodedCases, bias: TreeBias) -> None:
    """Make leaves where fewer errors are to be expected of a leaf than of what is below."""
    expected = np.empty(tree.feature.shape[0])
    for node in range(tree.feature.shape[0] - 1, -1, -1):
        n = 0
        for c in range(cases.n_classes):
            n += tree.counts[node, c]
        expected[node] = _expect_errors(n - tree.counts[node].max(), n, bias)
        f = tree.feature[node]
        if f >= 0:
            apart = 0.0
            n_ways = 2 if tree.rank[node] >= 0 else cases.n_values[f]
            for way in range(n_ways):
                child = tree.branches[tree.first[node] + way]
                if child >= 0:
                    apart += expected[child]
            if expected[node] <= apart + PRUNING_SLACK:
                tree.feature[node] = -1
            else:
                expected[node] = apart


@inner()
def _expect_errors(n_errors: int, n: int, bias: TreeBias) -> Any:
    """Return n U_CF(errors, n)."""
    if n == 0:
        return 0.0
    if n_errors == 0:
        return n * (1.0 - bias.confidence ** (1.0 / n))
    e = n_errors + 0.5
    if e >= n:
        return n_errors + 0.67 * (n - n_errors)
    z = bias.deviation * bias.deviation
    share = (e + z / 2.0 + np.sqrt(z * (e * (1.0 - e / n) + z / 4.0))) / (n + z)
    return n * share


@kernel()
def pay(tree: GrownTree, cases: CodedCases, rows: Places, stakes: TreeStakes) -> Any:
    """Return the mean total cost of some rows."""
    cost, shares = stakes.cost, stakes.shares
    n_classes = cases.n_classes
    decision = np.empty(tree.feature.shape[0], np.int64)
    for node in range(decision.shape[0]):
        best = np.inf
        for d in range(cost.shape[0]):
            risk = 0.0
            for c in range(n_classes):
                risk += cost[d, c] * (tree.counts[node, c] + n_classes * shares[c])
            if risk < best:
                best, decision[node] = risk, d
    paid = 0.0
    known = np.empty(cases.codes.shape[0], np.int64)
    for row in rows:
        node, n_known = 0, 0
        while tree.feature[node] >= 0:
            f = tree.feature[node]
            code = cases.codes[f, row]
            if code < 0:
                node = tree.usual[node]
                continue
            price, is_new = stakes.prices[f], True
            for k in range(n_known):
                is_new = is_new and known[k] != f
                price = min(price, stakes.after[f, known[k]])
            if is_new:
                paid += price
                known[n_known] = f
                n_known += 1
            way = code if tree.rank[node] < 0 else (0 if code <= tree.rank[node] else 1)
            child = tree.branches[tree.first[node] + way]
            if child < 0:
                break
            node = child
        paid += cost[decision[node], cases.classes[row]]
    return paid / max(rows.shape[0], 1)
