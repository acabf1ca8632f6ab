"""The exact optima that are kept for other evidence: a server answers about problems in turn.

Threads share them. A lock guards the order of use. Nothing is solved while it is held, so two
threads that ask for the same optimum at once may both solve it.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from voilattice.budgets import memory_budget
from voilattice.engines import preferred_engine
from voilattice.model.problem import Problem
from voilattice.optimal.exact.interface import ExactSolution

__all__ = ["KeptOptima"]

MAX_KEPT = 8
MAX_KEPT_STATES = 2_000_000


class KeptOptima:
    """The optima of the problems that were asked about last."""

    def __init__(self) -> None:
        self._lock = Lock()
        # By problem: its optimum, or None if the seconds there were for it did not suffice.
        self._optima: OrderedDict[object, tuple[ExactSolution | None, float]] = OrderedDict()

    def __reduce__(self) -> tuple[type[KeptOptima], tuple[()]]:
        return KeptOptima, ()  # another process begins with none

    def find(self, problem: Problem) -> tuple[ExactSolution | None, float]:
        """Return the optimum of a problem; None with the seconds that did not suffice for it."""
        key = _key(problem)
        with self._lock:
            if key in self._optima:
                self._optima.move_to_end(key)
            return self._optima.get(key, (None, 0.0))

    def keep(self, problem: Problem, solution: ExactSolution | None, seconds: float) -> None:
        """Keep an optimum; None: these seconds did not suffice to solve the problem."""
        key = _key(problem)
        with self._lock:
            other, tried = self._optima.pop(key, (None, 0.0))
            if solution is None:  # meanwhile another thread may have solved it, or had more time
                solution, seconds = other, max(tried, seconds)
            self._drop_oldest()
            self._optima[key] = solution, seconds

    def make_room(self) -> None:
        """Drop the optima that were asked for longest ago, if they have many states."""
        with self._lock:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Make room for one more optimum; the others have `MAX_KEPT_STATES` states at most."""
        n_states = sum(s.space.n_states for s, _ in self._optima.values() if s is not None)
        while len(self._optima) >= MAX_KEPT or n_states > MAX_KEPT_STATES:
            _, (dropped, _) = self._optima.popitem(last=False)
            n_states -= 0 if dropped is None else dropped.space.n_states


def _key(problem: Problem) -> object:
    """Return what an optimum depends on: what one budget cannot hold, another one may."""
    return problem, memory_budget(), preferred_engine()
