"""What every exact solution answers, whatever its states are.

The *axes* of a solution are the features that can matter at the problem's own evidence, in an order
of its own. A state has a digit on each axis: the number of a value, or the size of the axis while
the feature is unknown. A solution answers for one state by its evidence (`choose`), and for all
states in which the same features are known at once (`choose_at`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from voilattice.compiled.arrays import Floats, Ints, Masks
from voilattice.feature_sets import bits
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.problem import Problem
from voilattice.ties import Offer
from voilattice.valuation.tables import Root

__all__ = ["ExactSolution", "KnownStates", "States", "cell_steps"]


class States(Protocol):
    """The states of an optimum."""

    @property
    def n_states(self) -> int:
        """How many there are."""
        ...

    @property
    def features(self) -> tuple[int, ...]:
        """The feature of each axis."""
        ...

    @property
    def sizes(self) -> Sequence[int]:
        """The number of values of each axis."""
        ...

    @property
    def root(self) -> Root:
        """The table P(Y, axes) at the problem's own evidence."""
        ...


@dataclass(frozen=True, slots=True)
class KnownStates:
    """States in which the same features are known, and the same is left of the limits."""

    known: int  # the axes that are known, as a mask
    block: int  # of the solution, if it has blocks (`block_after`)
    left: PathLimits
    digits: Ints  # [state, axis]
    joint: Floats  # [state, class]: P(Y, e), on the scale of the root

    def alike(self, axes: Sequence[int]) -> list[Ints]:
        """Return the states that agree on some axes, together."""
        if not axes or len(self.digits) == 1:
            return [np.arange(len(self.digits))]
        _, of = np.unique(self.digits[:, axes], axis=0, return_inverse=True)
        order = np.argsort(of.reshape(-1), kind="stable")
        return np.split(order, np.flatnonzero(np.diff(of.reshape(-1)[order])) + 1)

    def evidence_at(self, problem: Problem, features: Sequence[int], state: int) -> dict[str, str]:
        """Return all that is known in a state; `features` are those of the axes."""
        names = {a: problem.features[features[a]] for a in bits(self.known)}
        digits = self.digits[state].tolist()
        return {**problem.evidence, **{f: problem.states(f)[digits[a]] for a, f in names.items()}}


def cell_steps(axes: int, sizes: Sequence[int]) -> Ints:
    """Return by how much each digit counts in a table over some axes; 0 outside it."""
    steps, step = np.zeros(len(sizes), dtype=np.int64), 1
    for a in reversed(list(bits(axes))):
        steps[a], step = step, step * int(sizes[a])
    return steps


class ExactSolution(Protocol):
    """The optimum of a problem. `known` is all evidence, `left` what the limits leave there."""

    problem: Problem

    @property
    def space(self) -> States:
        """The states that were solved."""
        ...

    @property
    def least_mass(self) -> float:
        """The least P(e), on the scale of the root, that a state of the tables may have."""
        ...

    @property
    def expected_total_cost(self) -> float:
        """What the optimum costs from the start."""
        ...

    def choose(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> int:
        """Return what to acquire, as a mask of features; 0: decide."""
        ...

    def choose_at(self, states: KnownStates) -> Masks:
        """Return what to acquire in each state, as a mask of axes; 0: decide."""
        ...

    def block_after(self, block: int, axes: int) -> int:
        """Return the block that follows a block when some axes become known; 0: no blocks."""
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
