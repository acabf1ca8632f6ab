r"""The exact optimal policy: what it costs, and what it does at any evidence.

Theorem. At evidence e over E let R be the features that can still matter, and K ⊆ E the evidence
that still matters (`policy.relevance`). Then the least expected cost from e on depends only on e_K,
R and the groups already paid for that have members in R:

    v(e) = min( EMC(e),  min_{i in R}  C(X_i | e) + Σ_x P(X_i = x | e_K) v(e_K, X_i = x) ).

So all partial assignments that differ only in forgotten evidence are one state. The states form
blocks, about one for each irreducible set (`blocks`): the lattice, which the paper uses to look
ahead, is the state space of the optimal policy. ``docs/optimal.md`` proves the theorem.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from threading import RLock

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Ints
from voilattice.feature_sets import bits, mask_of
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.problem import Problem
from voilattice.optimal.exact.bellman import cost_to_go, twin_of
from voilattice.optimal.exact.space import Deeper, StateSpace, check_same_states
from voilattice.policy.relevance import Relevance

__all__ = ["Solution", "solve"]


def solve(space: StateSpace, problem: Problem | None = None, *, choices: bool = True) -> Solution:
    """Return the optimum of a problem over its states.

    Parameters
    ----------
    problem
        May differ from the problem of the space only in prices and in the scale of the stakes.
    choices
        Whether to store what to do in each state. Without choices, only costs are available.
    """
    return Solution(space, space.problem if problem is None else problem, choices=choices)


class Solution:
    """The optimum of a problem: its value, and what to do at any evidence."""

    def __init__(
        self,
        space: StateSpace,
        problem: Problem,
        *,
        choices: bool = True,
        deadline: Deadline | None = None,
    ) -> None:
        check_same_states(space.problem, problem)
        self.space, self.problem = space, problem
        self._prices = space.prices(problem)
        self._values = space.buffers.lend(self)
        self._choice = np.empty(space.n_states, np.int8) if choices else None
        self._is_solved = np.zeros(len(space.blocks), np.uint8)
        kind = type(self)
        self._deeper = Deeper(problem, lambda p: kind(StateSpace(p), p, choices=choices))
        self._lock = RLock()  # blocks are solved when they are asked for, by any thread
        self._solve_from(0, deadline)

    @cached_property
    def _relevance(self) -> Relevance:
        return Relevance(self.problem)

    @property
    def expected_total_cost(self) -> float:
        """The least expected cost of all policies."""
        return float(self._values[0]) / self.space.probability

    def choose(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> int:
        """Return the feature to acquire, as a mask, or 0: decide. There are no limits here.

        Deciding wins a tie, then the cheaper feature, then the first feature.
        """
        if (found := self._locate(known)) is None:
            return self._deeper.at(known).choose(known)
        block, cell = found
        assert self._choice is not None
        step = int(self._choice[self.space.layout.start[block] + cell])
        blocks = self.space.blocks
        return 0 if step < 0 else 1 << blocks.features[blocks.axis[blocks.first[block] + step]]

    def offers(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> None:
        """Return None: a step acquires a single feature."""

    def error(self, known: Mapping[str, str]) -> float:
        """Return by how much `cost_to_go` may be wrong at most: values have 64 bits here."""
        return 0.0

    def cost_to_go(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> float:
        """Return v(e), the least expected cost from some evidence on."""
        if (found := self._locate(known)) is None:
            return self._deeper.at(known).cost_to_go(known)
        block, cell = found
        value = self._values[self.space.layout.start[block] + cell]
        return float(value / self.space.tables.mass[self.space.tables.at[block] + cell])

    def _solve_from(self, block: int, deadline: Deadline | None = None) -> None:
        """Solve a block and all blocks that can be reached from it, unless it is solved."""
        with self._lock:
            if self._is_solved[block]:
                return
            wanted = np.zeros(len(self.space.blocks), np.uint8)
            wanted[block] = 1
            twin_of(self.space.engine).mark(wanted, self.space.layout, self._prices)
            self._solve_blocks(np.flatnonzero(wanted & ~self._is_solved & 1), deadline)
            self._is_solved |= wanted

    def _solve_blocks(self, blocks: Ints, deadline: Deadline | None) -> None:
        """Write the optimum of some blocks; their other children are solved."""
        space = self.space
        cost_to_go(
            space.blocks, blocks, space.layout, space.tables, self._prices, self._values,
            engine=space.engine, choice=self._choice, deadline=deadline,
        )  # fmt: skip

    def _locate(self, known: Mapping[str, str]) -> tuple[int, int] | None:
        """Solve and return the block of some evidence, and the place of its state in the block.

        None: the space has no such state. Either no policy would buy that evidence, because it only
        matters for overheads or locks a feature, or it is so rare that it underflowed in a table.
        """
        problem, blocks = self.problem, self.space.blocks
        values: dict[int, int] = {}
        axes = {k: a for a, k in enumerate(blocks.features)}
        block, ignored = 0, 0
        for name, state in known.items():
            k = problem.features.index(name)
            if k in axes and int(blocks.relevant[block]) >> axes[k] & 1:
                steps = range(blocks.first[block], blocks.first[block + 1])
                block = int(blocks.child[next(t for t in steps if blocks.axis[t] == axes[k])])
                values[axes[k]] = problem.states(name).index(state)
            elif name not in problem.evidence:
                ignored |= 1 << k
        relevant = mask_of(blocks.features[a] for a in bits(int(blocks.relevant[block])))
        bought = problem.feature_mask({**problem.evidence, **known})
        if self._relevance.groups_paid(bought, relevant) != int(blocks.paid[block]):
            return None
        if self._relevance.locking(relevant) & ignored:
            return None
        cell = _cell(values, int(blocks.kept[block]), blocks.sizes)
        mass = float(self.space.tables.mass[self.space.tables.at[block] + cell])
        if mass < LEAST_MASS * self.space.probability:
            return None
        self._solve_from(block)
        return block, cell


def _cell(values: Mapping[int, int], mask: int, sizes: Ints) -> int:
    """Return the place of some values in a table over `mask`."""
    place = 0
    for a in bits(mask):
        place = place * int(sizes[a]) + values[a]
    return place
