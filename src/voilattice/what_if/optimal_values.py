"""The optimal cost V of a problem along one price, or along the stakes: each value once.

V(p), with p the price of a feature, and V(λ), with the misclassification costs times λ, are minima
of lines, one for each policy (`threshold`): their corners can be found (`concave_lines`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.model.problem import Problem
from voilattice.optimal.solver import OptimalSolver
from voilattice.policy.interface import Cost, Limits
from voilattice.policy.sweep import Sweep

__all__ = ["NotProved", "OptimalValues", "exact_cost", "is_concave_in_price"]


class NotProved(Exception):
    """A value is not known exactly."""


class OptimalValues:
    """The optimal cost at any price of a feature, and at any stakes, each once.

    Parameters
    ----------
    feature
        The feature whose price may change; None: only the stakes change.
    progress
        Called with the number of values so far, and what they are along: "prices" or "stakes".
    """

    def __init__(
        self,
        problem: Problem,
        feature: str | None,
        progress: Callable[[int, str], None] | None = None,
    ) -> None:
        self.problem, self.feature, self._progress = problem, feature, progress
        self.stake = float((problem.misclassification @ problem.prior).min())
        self.least_price = 0.0
        self.price_now: float | None = None
        if feature is not None:
            problem.pricing.with_prices({})  # raises an error if prices cannot be changed
            # A price cannot be below what a discount takes off.
            self.least_price = problem.pricing.off(feature)
            self.price_now = problem.pricing.prices[feature]
        self._sweep, self._solver = Sweep(problem), OptimalSolver()
        self._share = time_plan.FIRST_VALUE
        self._found: dict[tuple[float, float | None], Cost] = {}

    def at(self, factor: float, deadline: Deadline, price: float | None = None) -> Cost:
        """Return V, the optimal cost, with the stakes times a factor and at a price."""
        price = self.price_now if price is None else price
        return self._cost(self._priced(price), factor, price, self._sweep, deadline)

    def first(
        self, factor: float, deadline: Deadline, price: float | None = None
    ) -> frozenset[str]:
        """Return what the optimum acquires first there; empty: it decides.

        Raises
        ------
        NotProved
            It is not known in time.
        """
        problem = _staked(self._priced(self.price_now if price is None else price), factor)
        cost = self._solver.cost(
            problem, Limits(time_limit=deadline), sweep=self._sweep, with_first=True
        )
        exact_cost(cost, deadline)
        assert cost.first is not None
        return cost.first

    def _priced(self, price: float | None) -> Problem:
        """Return the problem with another price of the feature."""
        if self.feature is None or price is None:
            return self.problem
        costs = self.problem.pricing.with_prices({self.feature: price})
        return replace(self.problem, costs=costs)

    def _cost(
        self,
        problem: Problem,
        factor: float,
        price: float | None,
        sweep: Sweep,
        deadline: Deadline,
    ) -> Cost:
        key = factor, price
        if key not in self._found:
            limits = Limits(time_limit=deadline.share(self._share))
            found = self._solver.cost(_staked(problem, factor), limits, sweep=sweep)
            self._found[key] = found
            # Where one value is proved, the others take as long, and no share is too short.
            self._share = 1.0 if found.certificate.exact else time_plan.VALUE
            if self._progress is not None:
                self._progress(len(self._found), "stakes" if factor != 1 else "prices")
        return self._found[key]


def exact_cost(cost: Cost, deadline: Deadline) -> float:
    """Return a cost that is proved optimal, in time, or raise `NotProved`."""
    if deadline.is_over or not cost.certificate.exact or cost.expected_total_cost is None:
        raise NotProved
    return cost.expected_total_cost


def is_concave_in_price(problem: Problem) -> bool:
    """Return whether V(p) is a minimum of lines: no price rules out a policy."""
    return problem.limits.spend is None


def _staked(problem: Problem, factor: float) -> Problem:
    return replace(problem, misclassification=factor * problem.misclassification)
