"""What the policies of one problem share along a sweep of stakes that differ only in scale.

If the misclassification costs are scaled, EVI scales with them. So the sets of a situation's
lattice are valued once, at stakes of 1, and each point of the sweep only chooses again.

A solver may keep something of its own along a sweep (`Sweep.shared`): the exact solver keeps the
states of the optimal policy, so that each point only solves the recursion (`optimal.exact.swept`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from voilattice.compiled.arrays import Floats
from voilattice.errors import InputError, TooLargeError, VoilatticeError
from voilattice.feature_sets import Words
from voilattice.lattice.lattice import Lattice
from voilattice.model.monotonicity import check_monotone_at
from voilattice.model.problem import Problem
from voilattice.model.stakes import stakes_scale
from voilattice.policy.relevance import StateKey
from voilattice.valuation.set_search import MAX_CHECKED_PAIRS
from voilattice.valuation.tables import Root, expected_emcs_in
from voilattice.valuation.valuation import expected_emc

__all__ = ["Sweep"]

_Kept = TypeVar("_Kept")

# With more irreducible sets than this, branch and bound finds the best set at each point.
MAX_SWEPT_SETS = 20_000


class Sweep:
    """Values at unit stakes, for a problem and a scaled kind of misclassification costs.

    Parameters
    ----------
    kind
        The scaled kind; None: the unit stakes are the problem's own misclassification costs.
    """

    def __init__(self, problem: Problem, kind: str | None = None) -> None:
        self.problem = problem
        staked = problem if kind is None else problem.with_expected(kind, 1.0)
        self.unit = staked.misclassification
        self._values: dict[StateKey, tuple[Words, Floats] | None] = {}
        self._shared: dict[object, object] = {}

    def shared(self, make: Callable[[Sweep], _Kept]) -> _Kept:
        """Return what a solver keeps along the sweep; the first call makes it, by this function."""
        if make not in self._shared:
            self._shared.setdefault(make, make(self))  # of two threads, the first one's is kept
        return cast("_Kept", self._shared[make])

    def covers(self, problem: Problem) -> bool:
        """Return whether a problem differs only in prices and in the scale of the stakes."""
        mine = self.problem
        if mine.misclassification.shape != problem.misclassification.shape:
            return False
        try:
            stakes_scale(problem.misclassification, self.unit)
            same = replace(problem, costs=mine.costs, misclassification=mine.misclassification)
        except VoilatticeError:  # the stakes are no multiple, or the prices are not for it
            return False
        return same == mine

    def scale(self, problem: Problem) -> float:
        """Return the factor between the unit stakes and the stakes of a problem.

        Raises
        ------
        InputError
            The problem differs in more than prices and the scale of the stakes.
        """
        mine = self.problem
        if (mine.network, mine.target, mine.features) != (
            problem.network,
            problem.target,
            problem.features,
        ):
            raise InputError("the sweep belongs to another problem")
        return stakes_scale(problem.misclassification, self.unit)

    def values(
        self,
        key: StateKey,
        problem: Problem,
        known: Mapping[str, str],
        axes: Sequence[int],
        root: Root,
    ) -> tuple[Words, Floats] | None:
        """Return the sets of a situation's lattice and their EVI at unit stakes.

        None: there are too many sets, or the prices are not monotone and need other sets too.
        """
        # Prices may differ from point to point, so they are not part of what is kept.
        check = check_monotone_at(
            problem.costs, problem.features, known, max_pairs=MAX_CHECKED_PAIRS
        )
        if not check.monotone:
            return None
        if key not in self._values:
            self._values[key] = self._value(problem, known, axes, root)
        return self._values[key]

    def _value(
        self, problem: Problem, known: Mapping[str, str], axes: Sequence[int], root: Root
    ) -> tuple[Words, Floats] | None:
        try:
            rows = Lattice(problem, problem.further(known), max_nodes=MAX_SWEPT_SETS).rows
        except TooLargeError:
            return None
        after = expected_emcs_in(root, axes, self.unit, rows)
        belief = root.shaped.reshape(self.unit.shape[1], -1).sum(axis=1) / root.probability
        return rows, np.maximum(expected_emc(belief, self.unit) - after, 0.0)
