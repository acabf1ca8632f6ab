"""Ranks of methods over cells, and which differences are more than chance (Demšar 2006).

In cell i (a data set at a level) the method of lowest mean total cost has rank 1, and methods that
tie share the mean of their ranks. With N cells, k methods and ranks r_ij, the mean rank of method j
is R_j = sum_i r_ij / N. If all methods were equally good, every R_j would be near (k + 1) / 2.
Friedman's statistic measures how far they are from it,

    χ² = (k - 1) N² sum_j (R_j - (k + 1)/2)² / sum_ij (r_ij - (k + 1)/2)²,

which is Demšar's 12 N / (k (k + 1)) (sum_j R_j² - k (k + 1)² / 4) if there are no ties. Iman and
Davenport's

    F = (N - 1) χ² / (N (k - 1) - χ²)

is F-distributed with k - 1 and (k - 1)(N - 1) degrees of freedom. Two methods differ, by Nemenyi's
test, if their mean ranks differ by at least the *critical difference*

    CD = q_α sqrt(k (k + 1) / (6 N)),

where q_α is the upper α quantile of the studentized range of k normal variables, over sqrt(2).

These tests take cells for independent, but cells of one data set are related. The bootstrap does
not: it draws data sets with replacement, and for each drawn one as many of its cells as it has,
again with replacement. The differences between two methods are paired, cell by cell.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.ties import TOLERANCE

__all__ = [
    "ALPHA",
    "Friedman",
    "bootstrap_means",
    "critical_difference",
    "friedman_test",
    "joined_groups",
    "rank_costs",
]

ALPHA = 0.05
N_DRAWS = 10_000  # of the bootstrap

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test that all methods are equally good."""

    chi_square: float
    f: float  # Iman and Davenport's
    p_value: float  # of F


def rank_costs(costs: Array) -> Array:
    """Return the ranks of methods in each cell, from their costs [cell, method]; 1 is the lowest.

    Costs that differ only by rounding are equal.

    >>> rank_costs(np.array([[5.0, 3.0, 5.0, 9.0]])).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    from scipy.stats import rankdata

    order = np.argsort(costs, axis=1)
    rising = np.take_along_axis(costs, order, axis=1)
    is_more = np.diff(rising, axis=1, prepend=rising[:, :1]) > TOLERANCE * rising[:, -1:]
    steps = np.empty_like(order)
    np.put_along_axis(steps, order, np.cumsum(is_more, axis=1), axis=1)
    return np.asarray(rankdata(steps, axis=1), dtype=float)


def friedman_test(ranks: Array) -> Friedman:
    """Test whether methods differ, by their ranks [cell, method]."""
    from scipy.stats import f as f_distribution

    n, k = ranks.shape
    middle = (k + 1) / 2
    spread = float(((ranks - middle) ** 2).sum())
    if spread == 0:  # all methods tie everywhere
        return Friedman(0.0, 0.0, 1.0)
    chi_square = float((k - 1) * n**2 * ((ranks.mean(axis=0) - middle) ** 2).sum() / spread)
    left = n * (k - 1) - chi_square
    # All cells agree, up to rounding; with one cell nothing can be said.
    f = (n - 1) * chi_square / left if left > TOLERANCE * n * k else math.inf
    if n == 1:
        return Friedman(chi_square, math.nan, 1.0)
    return Friedman(chi_square, f, float(f_distribution.sf(f, k - 1, (k - 1) * (n - 1))))


def critical_difference(n_methods: int, n_cells: int, alpha: float = ALPHA) -> float:
    """Return the difference of mean ranks from which on two methods differ (Nemenyi)."""
    from scipy.stats import studentized_range

    q = float(studentized_range.isf(alpha, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_cells))


def joined_groups(mean_ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Return the largest groups of methods whose mean ranks are closer than the difference.

    Parameters
    ----------
    mean_ranks
        In increasing order.

    Returns
    -------
    list
        The first and the last place of each group of two methods or more.

    >>> joined_groups([1.0, 1.5, 2.8, 4.0], 1.6)
    [(0, 1), (1, 2), (2, 3)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(mean_ranks):
        last = max(k for k, other in enumerate(mean_ranks) if other - rank < difference)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def bootstrap_means(
    differences: Array, data_sets: Sequence[Hashable], *, seed: int = 0, alpha: float = ALPHA
) -> tuple[Array, Array]:
    """Return the 1 - α interval of the mean over cells: the lower and the upper end of each column.

    Parameters
    ----------
    differences
        [cell, column]
    data_sets
        The data set of each cell.
    """
    random = np.random.default_rng(seed)
    names = list(dict.fromkeys(data_sets))
    drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)), size=N_DRAWS)
    weights = np.empty((N_DRAWS, len(data_sets)))
    for name, times in zip(names, drawn.T, strict=True):
        cells = [k for k, other in enumerate(data_sets) if other == name]
        n = len(cells)
        # A data set that was drawn t times draws n of its n cells t times.
        weights[:, cells] = random.multinomial(times * n, np.full(n, 1 / n))
    means = weights @ differences / weights.sum(axis=1, keepdims=True)
    lower, upper = np.quantile(means, [alpha / 2, 1 - alpha / 2], axis=0)
    return lower, upper
