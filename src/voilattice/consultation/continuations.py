"""How it goes on after an outcome of a first step: the exact optimum, or a search for it.

The exact optimum of the problem answers for every outcome. Where there is none, because the problem
is too large or the exact solver does not support its prices, each outcome leaves a problem of its
own, and the optimal solver is asked about that one as advice asks it. What is left may be exact, or
proved by a search. If it is neither, it is enclosed: no policy costs less than deciding with the
class known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.consultation.reasons import why_not_all
from voilattice.errors import TooLargeError
from voilattice.model.acquisition import PathLimits
from voilattice.model.problem import Problem
from voilattice.optimal.exact.interface import ExactSolution
from voilattice.optimal.solver import OptimalSolver, exact_step
from voilattice.policy.interface import Limits, Step
from voilattice.policy.policy import Certificate, Leaf

__all__ = ["Continuation", "ExactContinuation", "SearchedContinuation"]


class Continuation(Protocol):
    """What is done after an outcome, and what it costs."""

    def at(self, known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> Step:
        """Return the next step, with its cost to go and a lower bound.

        `leaf` is what to decide there, `left` what is left of the limits.
        """
        ...


class SearchedContinuation:
    """The problem that an outcome leaves is solved by itself.

    Parameters
    ----------
    n_outcomes
        How many outcomes will be asked about: they share the time.
    """

    def __init__(self, problem: Problem, n_outcomes: int, deadline: Deadline) -> None:
        self._problem, self._n_ahead, self._deadline = problem, n_outcomes, deadline
        # A solver of its own: another one would lose the optima that it keeps.
        self._solver = OptimalSolver()
        self._steps: dict[object, Step] = {}

    def at(self, known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> Step:
        """Return what the optimal solver does there, as far as it comes in its part of the time."""
        key = frozenset(known.items()), left
        if key not in self._steps:
            self._steps[key] = self._solve(known, left, leaf)
        return self._steps[key]

    def _solve(self, known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> Step:
        here = replace(self._problem, evidence=dict(known), limits=left)
        least = float(np.array(leaf.posterior) @ here.misclassification.min(axis=0))
        share = min(time_plan.OUTCOME_OF_STEP, 1 / max(self._n_ahead, 1))
        self._n_ahead -= 1
        if self._deadline.is_over:
            return Step(frozenset(), leaf.emc, Certificate(least, exact=False, status="time"))
        try:
            limits = Limits(time_limit=self._deadline.share(share))
            step = self._solver.next_step(here, None, limits)
        except TooLargeError:
            return Step(frozenset(), leaf.emc, Certificate(least, exact=False, status="memory"))
        assert step.cost_to_go is not None  # the optimal policy always has a cost
        proved = step.certificate
        if proved.exact:
            return replace(step, certificate=replace(proved, lower_bound=step.cost_to_go))
        bound, note = max(proved.lower_bound or 0.0, least), proved.note
        if proved.status == "ok":
            note = f"{why_not_all(here)} not every set is tried."
        return replace(step, certificate=replace(proved, lower_bound=bound, note=note))


class ExactContinuation:
    """The exact optimum goes on.

    Parameters
    ----------
    solved
        The problem without those limits that cannot bind while only features of R are acquired.
    relevant
        R, as a mask.
    beyond
        Who goes on after a feature outside R. It counts too, so other limits may bind then.
    """

    def __init__(
        self, solved: Problem, solution: ExactSolution, relevant: int, beyond: Continuation
    ) -> None:
        self._solved, self._solution = solved, solution
        self._relevant, self._beyond = relevant, beyond

    def at(self, known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> Step:
        """Return what the exact optimum does there."""
        problem = self._solved
        new = problem.feature_mask(known) & ~problem.feature_mask(problem.evidence)
        if left and new & ~self._relevant:
            return self._beyond.at(known, left, leaf)
        return exact_step(self._solution, known, _matching(left, problem.limits))


def _matching(left: PathLimits, limits: PathLimits) -> PathLimits:
    """Return what is left, of those limits alone that a problem has."""
    return PathLimits(
        None if limits.spend is None else left.spend,
        None if limits.features is None else left.features,
        None if limits.rounds is None else left.rounds,
    )
