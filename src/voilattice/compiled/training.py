"""The compiled twin of `learning.training.score_answers`: one question after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.kernels import inner, kernel

__all__ = ["score_answers"]

Floats = NDArray[np.float64]


def score_answers(
    forest: Any, questions: Any, tables: Floats, prior: Floats
) -> tuple[float, Floats]:
    """Return -Σ w log P(y | x_S), and its gradient by the logits of the tables."""
    slope = np.zeros_like(tables)
    return _score(*forest, *questions, tables, prior, slope), slope


@kernel()
def _score(
    parents: NDArray[np.int64],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_above: NDArray[np.int64],
    sizes: NDArray[np.int64],
    known: NDArray[np.int64],
    classes: NDArray[np.int64],
    weights: Floats,
    tables: Floats,
    prior: Floats,
    slope: Floats,
) -> float:
    n, n_classes, widest = parents.shape[0], prior.shape[0], sizes.max()
    upward, likely = np.empty((n, widest)), np.empty((n, widest))
    downward = np.empty((n, widest))
    # The values that a feature may have: one if it is known, else all. Only these are looked at.
    first, last = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    first[n], last[n] = 0, 1  # "no parent" has one value: parents[i] = -1 is the last place
    belief, joint = np.empty_like(tables), np.empty(n_classes)
    loss = 0.0
    for row in range(known.shape[0]):
        for i in range(n):
            is_known = known[row, i] >= 0
            first[i] = known[row, i] if is_known else 0
            last[i] = known[row, i] + 1 if is_known else sizes[i]
        for y in range(n_classes):
            joint[y] = prior[y] * _pass(
                y, first, last, parents, order, starts, n_above, sizes, tables,
                upward, likely, downward, belief,
            )  # fmt: skip
        total, weight = joint.sum(), weights[row]
        answered = joint[classes[row]] / total if total > 0 else 0.0
        loss -= weight * np.log(max(answered, 1e-300))
        for y in range(n_classes):
            error = weight * (joint[y] / total if total > 0 else 0.0)
            if y == classes[row]:
                error -= weight
            for i in range(n):
                for u in range(first[parents[i]], last[parents[i]]):
                    start = starts[i] + (y * n_above[i] + u) * sizes[i]
                    above = 0.0
                    for x in range(first[i], last[i]):
                        above += belief[start + x]
                        slope[start + x] += error * belief[start + x]
                    for x in range(sizes[i]):
                        slope[start + x] -= error * tables[start + x] * above
    return loss


@inner()
def _pass(
    y: int,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    parents: NDArray[np.int64],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_above: NDArray[np.int64],
    sizes: NDArray[np.int64],
    tables: Floats,
    upward: Floats,
    likely: Floats,
    downward: Floats,
    belief: Floats,
) -> float:
    """Return P(x_S | y), and write P(u, x_i | y, x_S) of each feature into `belief`."""
    n = parents.shape[0]
    for i in range(n):
        for x in range(first[i], last[i]):
            likely[i, x] = 1.0
    found = 1.0
    for k in range(n - 1, -1, -1):
        i = order[k]
        p = parents[i]
        for u in range(first[p], last[p]):
            start = starts[i] + (y * n_above[i] + u) * sizes[i]
            total = 0.0
            for x in range(first[i], last[i]):
                total += tables[start + x] * likely[i, x]
            upward[i, u] = total
            if p >= 0:
                likely[p, u] *= total
        if p < 0:
            found *= upward[i, 0]
    for k in range(n):
        i = order[k]
        p = parents[i]
        if p < 0:
            downward[i, 0] = 1.0
        else:
            above = starts[p] + y * n_above[p] * sizes[p]
            for u in range(first[p], last[p]):
                total = 0.0
                for w in range(first[parents[p]], last[parents[p]]):
                    total += belief[above + w * sizes[p] + u]
                downward[i, u] = total / upward[i, u] if upward[i, u] > 0 else 0.0
        total = 0.0
        for u in range(first[p], last[p]):
            start = starts[i] + (y * n_above[i] + u) * sizes[i]
            for x in range(first[i], last[i]):
                belief[start + x] = downward[i, u] * tables[start + x] * likely[i, x]
                total += belief[start + x]
        for u in range(first[p], last[p]):
            start = starts[i] + (y * n_above[i] + u) * sizes[i]
            for x in range(first[i], last[i]):
                belief[start + x] = belief[start + x] / total if total > 0 else 0.0
    return found
