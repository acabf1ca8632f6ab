"""The states of the optimum along a sweep: found once, and each point only solves the recursion."""

from __future__ import annotations

from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.model.problem import Problem
from voilattice.optimal.exact.choose import ExactSpace, find_states, solve_exactly
from voilattice.optimal.exact.interface import ExactSolution
from voilattice.optimal.exact.space import has_same_states
from voilattice.policy.sweep import Sweep

__all__ = ["SweptStates"]


class SweptStates:
    """The states that the points of a sweep share: ``sweep.shared(SweptStates)``."""

    def __init__(self, sweep: Sweep) -> None:
        self._unit = sweep.unit
        self._space: ExactSpace | None = None
        self._refused: TooLargeError | None = None

    @property
    def are_found(self) -> bool:
        """Whether the states are found already."""
        return self._space is not None

    def solve(
        self,
        problem: Problem,
        *,
        deadline: Deadline | None = None,
        choices: bool = True,
    ) -> ExactSolution:
        """Return the optimum at one point; the first call finds the states."""
        if self._refused is not None:  # once too large, always too large
            raise self._refused
        space = self._space  # another thread may exchange it
        if space is None or not has_same_states(space.problem, problem):
            try:
                self._space = space = find_states(problem, self._unit, deadline=deadline)
            except TooLargeError as error:
                self._refused = error
                raise
        return solve_exactly(space, problem, choices=choices, deadline=deadline)
