"""What every exact solution answers, whatever its states are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.problem import Problem
from voilattice.ties import Offer

__all__ = ["ExactSolution", "States"]


class States(Protocol):
    """The states of an optimum."""

    @property
    def n_states(self) -> int:
        """How many there are."""
        ...


class ExactSolution(Protocol):
    """The optimum of a problem. `known` is all evidence, `left` what the limits leave there."""

    problem: Problem

    @property
    def space(self) -> States:
        """The states that were solved."""
        ...

    @property
    def expected_total_cost(self) -> float:
        """What the optimum costs from the start."""
        ...

    def choose(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> int:
        """Return what to acquire, as a mask of features; 0: decide."""
        ...

    def cost_to_go(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> float:
        """Return what is still to be paid."""
        ...

    def error(self, known: Mapping[str, str]) -> float:
        """Return by how much the cost to go may be wrong; 0: it is exact."""
        ...

    def offers(
        self, known: Mapping[str, str], left: PathLimits = NO_LIMITS
    ) -> Mapping[int, Offer] | None:
        """Return the sets that can be acquired in one step; None: steps are single features."""
        ...
