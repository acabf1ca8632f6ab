"""The compiled twin of `learning.training.score_answers`: one question after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["score_answers"]

Floats = NDArray[np.float64]


def score_answers(
    forest: Any, questions: Any, tables: Floats, prior: Floats
) -> tuple[float, Floats, Floats]:
    """Return -Σ w log P(y | x_S), and its gradient by the logits of the tables and of the prior."""
    slope, slope_of_prior = np.zeros_like(tables), np.zeros_like(prior)
    loss = _score(*forest, *questions, tables, prior, slope, slope_of_prior)
    return loss, slope, slope_of_prior


@njit(cache=True)
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
    slope_of_prior: Floats,
) -> float:
    n, n_classes, widest = parents.shape[0], prior.shape[0], sizes.max()
    upward, likely = np.empty((n, widest)), np.empty((n, widest))
    downward = np.empty((n, widest))
    belief, joint = np.empty_like(tables), np.empty(n_classes)
    loss = 0.0
    for row in range(known.shape[0]):
        for y in range(n_classes):
            joint[y] = prior[y] * _pass(
                y, known[row], parents, order, starts, n_above, sizes, tables,
                upward, likely, downward, belief,
            )  # fmt: skip
        total, weight = joint.sum(), weights[row]
        answered = joint[classes[row]] / total if total > 0 else 0.0
        loss -= weight * np.log(max(answered, 1e-300))
        for y in range(n_classes):
            error = weight * (joint[y] / total if total > 0 else 0.0)
            if y == classes[row]:
                error -= weight
            slope_of_prior[y] += error
            for i in range(n):
                for u in range(n_above[i]):
                    first = starts[i] + (y * n_above[i] + u) * sizes[i]
                    above = 0.0
                    for x in range(sizes[i]):
                        above += belief[first + x]
                    for x in range(sizes[i]):
                        slope[first + x] += error * (belief[first + x] - tables[first + x] * above)
    return loss


@njit(cache=True)
def _pass(
    y: int,
    known: NDArray[np.int64],
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
        for x in range(sizes[i]):
            likely[i, x] = 1.0 if known[i] < 0 or known[i] == x else 0.0
    found = 1.0
    for k in range(n - 1, -1, -1):
        i = order[k]
        for u in range(n_above[i]):
            first = starts[i] + (y * n_above[i] + u) * sizes[i]
            total = 0.0
            for x in range(sizes[i]):
                total += tables[first + x] * likely[i, x]
            upward[i, u] = total
            if parents[i] >= 0:
                likely[parents[i], u] *= total
        if parents[i] < 0:
            found *= upward[i, 0]
    for k in range(n):
        i, p = order[k], parents[order[k]]
        start = starts[i] + y * n_above[i] * sizes[i]
        if p < 0:
            downward[i, 0] = 1.0
        else:
            start_above = starts[p] + y * n_above[p] * sizes[p]
            for u in range(n_above[i]):
                total = 0.0
                for w in range(n_above[p]):
                    total += belief[start_above + w * sizes[p] + u]
                downward[i, u] = total / upward[i, u] if upward[i, u] > 0 else 0.0
        total = 0.0
        for u in range(n_above[i]):
            for x in range(sizes[i]):
                place = start + u * sizes[i] + x
                belief[place] = downward[i, u] * tables[place] * likely[i, x]
                total += belief[place]
        for place in range(start, start + n_above[i] * sizes[i]):
            belief[place] = belief[place] / total if total > 0 else 0.0
    return found
