r"""The exact optimum with a limit on the number of features of any path, over merged states.

A block merges all evidence that differs only in what is forgotten, so a state does not tell how
many features were acquired on the way to it. With k features left to acquire, the recursion of
`bellman` becomes

    V_0(e) = risk(e),
    V_k(e) = min( risk(e),  min_{i in R}  C(X_i | e) P(e) + Σ_x P(e_D | e_B) V'_{k-1}(e_K') ),

one pass over the blocks for each k. Constraints, groups, discounts and conditional prices are as
without the limit. ``docs/optimal.md`` proves that nothing else is part of the state.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Ints
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.optimal.exact.bellman import cost_to_go
from voilattice.optimal.exact.solution import Solution

__all__ = ["CountedSolution", "bytes_per_state"]


def bytes_per_state(n_features: int) -> int:
    """Return the memory for a state: P, the risk, and V and what to do for each k."""
    return 2 * 8 + (n_features + 1) * (8 + 1)


class CountedSolution(Solution):
    """The optimum of a problem with a limit on features, and on nothing else."""

    @property
    def expected_total_cost(self) -> float:
        """The least expected cost of all policies."""
        return float(self._layers[-1][0]) / self.space.probability

    def choose(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> int:
        """Return the feature to acquire, as a mask, or 0: decide.

        Ties are broken as in `Solution.choose`. `left` is what is left of the limit.
        """
        if (found := self._locate(known)) is None:
            return self._further(known, left).choose(known, left)
        block, cell = found
        step = int(self._steps[self._n_left(left)][self.space.layout.start[block] + cell])
        blocks = self.space.blocks
        return 0 if step < 0 else 1 << blocks.features[blocks.axis[blocks.first[block] + step]]

    def cost_to_go(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> float:
        """Return the least expected cost from some evidence on."""
        if (found := self._locate(known)) is None:
            return self._further(known, left).cost_to_go(known, left)
        block, cell = found
        value = self._layers[self._n_left(left)][self.space.layout.start[block] + cell]
        return float(value / self.space.tables.mass[self.space.tables.at[block] + cell])

    def _further(self, known: Mapping[str, str], left: PathLimits) -> Solution:
        """Return the solution that begins at some evidence; other limits cannot bind there."""
        return self._deeper.at(known, PathLimits(features=self._n_left(left)))

    def _n_left(self, left: PathLimits) -> int:
        most = len(self._layers) - 1
        return most if left.features is None else min(left.features, most)

    def _solve_blocks(self, blocks: Ints, deadline: Deadline | None) -> None:
        """Write the optimum of some blocks for each k; their other children are solved."""
        space, limit = self.space, self.problem.limits.features
        assert limit is not None
        if not self._is_solved.any():
            self._layers = [np.empty(space.n_states) for _ in range(limit + 1)]
            self._steps = [np.full(space.n_states, -1, np.int8) for _ in range(limit + 1)]
        for k, (values, steps) in enumerate(zip(self._layers, self._steps, strict=True)):
            # With no feature left no step pays: whatever it would gain, it is not allowed.
            prices = self._prices if k else self._prices._replace(gain=np.zeros_like(space.gain))
            cost_to_go(
                space.blocks, blocks, space.layout, space.tables, prices, values,
                engine=space.engine, choice=steps, below=self._layers[max(k - 1, 0)],
                deadline=deadline,
            )  # fmt: skip
