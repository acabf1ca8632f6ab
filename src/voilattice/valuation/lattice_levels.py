"""The best sets of each level of a lattice: a lattice of thousands of sets on one page.

A level holds the sets of one size. Of each level the few sets of highest benefit are shown, and
always those on the *way*: from the set of highest benefit, feature by feature, through the best
direct subset, down to the empty set.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from voilattice.errors import located
from voilattice.feature_sets import to_mask, to_words
from voilattice.ties import Offer, tolerance, winner
from voilattice.valuation.lattice_values import LatticeValues
from voilattice.valuation.valuation import Value

__all__ = ["Level", "top_by_level", "way_to_the_best"]


@dataclass(frozen=True, slots=True)
class Level:
    """The best sets of one size."""

    size: int
    count: int  # of all sets of this size that were looked for
    sets: tuple[Value, ...]  # the best ones, highest benefit first


def top_by_level(
    values: LatticeValues, n: int, containing: Collection[str] = (), *, with_way: bool = False
) -> list[Level]:
    """Return the n best sets of each size, from the empty set up.

    Parameters
    ----------
    containing
        Only sets with all of these features; levels without such a set are left out.
    with_way
        Whether the sets on the way to the best are always among them.

    >>> import voilattice
    >>> from voilattice.valuation.lattice_values import value_lattice
    >>> values = value_lattice(voilattice.load_problem("figure3"))
    >>> [(row.size, row.count, [sorted(v.features) for v in row.sets])
    ...  for row in top_by_level(values, 1, ["X4"])]
    [(2, 1, [['X3', 'X4']]), (3, 2, [['X2', 'X3', 'X4']])]
    """
    lattice, problem = values.lattice, values.lattice.problem
    with located("containing"):
        wanted = problem.feature_mask(containing)
    words = to_words([wanted], lattice.rows.shape[1])[0]
    way = {problem.feature_mask(s) for s in way_to_the_best(values)} if with_way else set()
    found, start = [], 0
    for size, level in enumerate(lattice.levels):
        places = start + np.flatnonzero(((level & words) == words).all(axis=1))
        start += len(level)
        if not len(places):
            continue
        best = values.best_of(places, n)
        masks = [problem.feature_mask(value.features) for value in best]
        best += [
            values.value_at(int(place))
            for place in places
            if (mask := to_mask(lattice.rows[place])) in way and mask not in masks
        ]
        found.append(Level(size, len(places), tuple(best)))
    return found


def way_to_the_best(values: LatticeValues) -> list[frozenset[str]]:
    """Return the set of highest benefit, and its best direct subsets down to the empty set."""
    lattice, problem, tol = values.lattice, values.lattice.problem, tolerance(values.emc)
    benefit = values.benefit
    rows = {to_mask(row): place for place, row in enumerate(lattice.rows)}

    def offer(s: frozenset[str]) -> Offer:
        mask = problem.feature_mask(s)
        return Offer(float(benefit[rows[mask]]), float(values.cost[rows[mask]]), mask)

    way = [values.top(1)[0].features]
    while below := lattice.direct_subsets(way[-1]):
        way.append(winner(below, offer, tol))
    return way
