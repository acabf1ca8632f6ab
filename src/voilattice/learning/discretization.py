"""Bins for a numeric feature, cut where they tell most about the target (Fayyad and Irani, 1993).

Sort n cases by value. A cut splits them into two parts of n_1 and n_2 cases. It reduces the entropy
H of the target by

    Gain = H - n_1/n H_1 - n_2/n H_2.

The cut of highest gain is made if it pays for its own description (MDL, the principle of minimum
description length):

    n Gain > log2(n - 1) + log2(3^k - 2) - (k H - k_1 H_1 - k_2 H_2),

where k, k_1, k_2 are the numbers of classes present. Then each part is cut in the same way. If the
number of bins is limited, the cuts that tell most (the highest n Gain) are made first.

A case of weight w counts as w cases.

If no cut pays, the median makes two bins. Such a column says little about the target by itself, but
it may matter together with others, and a single bin would hide it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["bin_labels", "bins_of", "frequency_cuts", "mdl_cuts", "median_cut", "middle"]

Values = NDArray[np.float64]
Classes = NDArray[np.intp]

# Gains that differ by less count as equal, and the lowest cut wins: every machine finds the same
# bins.
SAME_GAIN = 1e-12


def mdl_cuts(
    values: Values, classes: Classes, weights: Values | None = None, max_bins: int | None = None
) -> list[float]:
    """Return the cuts that pay for their description, in order; there may be none.

    Parameters
    ----------
    values
        The column, without missing cells.
    classes
        The number of the target's state in each case.
    weights
        How many cases each case counts for; by default 1.
    max_bins
        How many bins there may be; by default any number.

    >>> ages = np.array([20.0, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    >>> mdl_cuts(ages, np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]))
    [42.5]
    """
    order = np.argsort(values, kind="stable")
    values, classes = values[order], classes[order]
    # counts[i, j]: cases of class j among the first i
    n_classes = int(classes.max(initial=0)) + 1
    counts = np.zeros((len(values) + 1, n_classes))
    shares = (classes[:, None] == np.arange(n_classes)).astype(np.float64)
    if weights is not None:
        shares *= weights[order, None]
    np.cumsum(shares, axis=0, out=counts[1:])
    found: list[int] = []
    parts: list[tuple[float, int, int, int]] = []  # the next cut of each part, the best one first

    def add_part(start: int, end: int) -> None:
        if (cut := _paying_cut(values, counts, start, end)) is not None:
            place, gain = cut
            heapq.heappush(parts, (-gain, place, start, end))

    add_part(0, len(values))
    while parts and (max_bins is None or len(found) + 1 < max_bins):
        _, place, start, end = heapq.heappop(parts)
        found.append(place)
        add_part(start, place)
        add_part(place, end)
    return [middle(values[place - 1], values[place]) for place in sorted(found)]


def median_cut(values: Values, weights: Values | None = None) -> list[float]:
    """Return the cut that halves the cases best, or no cut if all values are equal.

    >>> median_cut(np.array([1.0, 1, 1, 2, 3]))
    [1.5]
    """
    return frequency_cuts(values, 2, weights)


def frequency_cuts(values: Values, n_bins: int, weights: Values | None = None) -> list[float]:
    """Return cuts into at most `n_bins` bins with about the same number of cases.

    >>> frequency_cuts(np.arange(9.0), 3)
    [2.5, 5.5]
    """
    order = np.argsort(values, kind="stable")
    values = values[order]
    places = np.flatnonzero(values[1:] > values[:-1]) + 1
    if not len(places):
        return []
    below = np.arange(1, len(values) + 1) if weights is None else np.cumsum(weights[order])
    wanted = [below[-1] * k / n_bins for k in range(1, n_bins)]
    nearest = sorted({int(places[np.argmin(abs(below[places - 1] - w))]) for w in wanted})
    return [middle(values[place - 1], values[place]) for place in nearest]


def bin_labels(cuts: Sequence[float]) -> list[str]:
    """Return the names of the bins.

    >>> bin_labels([99.5, 127.5])
    ['<99.5', '99.5..127.5', '>=127.5']
    """
    names = [_format_cut(cut) for cut in cuts]
    middle = [f"{low}..{high}" for low, high in pairwise(names)]
    return [f"<{names[0]}", *middle, f">={names[-1]}"]


def bins_of(values: Values, cuts: Sequence[float]) -> NDArray[np.intp]:
    """Return the number of the bin of each value: a bin holds its lower cut, not its upper one."""
    return np.searchsorted(np.asarray(cuts), values, side="right")


def _paying_cut(
    values: Values, counts: NDArray[np.float64], start: int, end: int
) -> tuple[int, float] | None:
    """Return the place of the best cut between two places and its n Gain; None: it does not pay."""
    places = start + 1 + np.flatnonzero(values[start + 1 : end] > values[start : end - 1])
    inside = counts[end] - counts[start]
    n = float(inside.sum())
    if not len(places) or n <= 1:
        return None
    below, above = counts[places] - counts[start], counts[end] - counts[places]
    h1, h2 = _entropy(below), _entropy(above)
    h = float(_entropy(inside[None])[0])
    gain = h - (below.sum(axis=1) * h1 + above.sum(axis=1) * h2) / n
    best = int(np.flatnonzero(gain >= gain.max() - SAME_GAIN)[0])
    k, k1, k2 = (int((part > 0).sum()) for part in (inside, below[best], above[best]))
    price = math.log2(n - 1) + math.log2(3**k - 2) - (k * h - k1 * h1[best] - k2 * h2[best])
    paid = n * float(gain[best])
    return (int(places[best]), paid) if paid > price else None


def _entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy in bits of each row of counts."""
    p = counts / counts.sum(axis=1, keepdims=True)
    summed: NDArray[np.float64] = -(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=1)
    return summed


def middle(low: float, high: float) -> float:
    """Return the middle of two values, as its label will show it."""
    middle = float(f"{low + (high - low) / 2:.10g}")
    # Values that differ beyond ten digits have no such number between them.
    return middle if low < middle <= high else float(high)


def _format_cut(cut: float) -> str:
    return f"{cut:.10g}" if float(f"{cut:.10g}") == cut else repr(float(cut))
