r"""The state space of a problem: its blocks, and the tables that the recursion runs over.

The state space is the same for all prices and for all stakes that differ only in scale. So a sweep
finds it once, and each point only solves the recursion (`solution`). One table P(Y, R) gives P(e_K)
and the risk at unit stakes of all states, in the same way as for the sets of a lattice
(`valuation.tables`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Generic, TypeVar

import numpy as np

from voilattice.budgets import Deadline, memory_budget
from voilattice.compiled.arrays import BlockLayout, Floats, Ints, Masks, Prices, StateTables
from voilattice.engines import check_engine, choose_engine
from voilattice.errors import InputError, TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.acquisition import INFEASIBLE, NO_LIMITS, PathLimits
from voilattice.model.problem import Problem
from voilattice.model.stakes import CostMatrix, stakes_scale
from voilattice.optimal.exact.bellman import cost_to_go, twin_of
from voilattice.optimal.exact.blocks import Blocks, cells_of, find_blocks, unique_rows
from voilattice.optimal.exact.bundles import bundles_of
from voilattice.policy.relevance import price_conditions, price_openers, step_conditions
from voilattice.valuation.tables import risk_tables, root_table

__all__ = [
    "BYTES_PER_STATE",
    "BufferPool",
    "Deeper",
    "StateSpace",
    "check_own_prices",
    "check_same_states",
    "check_supported",
    "has_same_states",
]

BYTES_PER_STATE = 3 * 8 + 1  # V, P and the risk; what to do

S = TypeVar("S")  # a solution


def check_own_prices(problem: Problem) -> None:
    """Raise `TooLargeError` for user-defined prices: no exact solver supports them."""
    if not problem.pricing.is_sum:
        raise TooLargeError("the exact solver does not support prices of your own")


def check_supported(problem: Problem, *, counts_features: bool = False) -> None:
    """Raise `TooLargeError` unless steps of single features are enough.

    `counts_features` says whether the solver supports a limit on the number of features.
    """
    check_own_prices(problem)
    limits = replace(problem.limits, features=None) if counts_features else problem.limits
    if limits or problem.counts_rounds:
        raise TooLargeError("a solver of single steps does not support limits and rounds")
    if bundles_of(problem):
        raise TooLargeError("a solver of single steps does not support cyclic conditional prices")


def check_same_states(mine: Problem, problem: Problem) -> None:
    """Raise `InputError` unless the states of one problem are those of the other."""
    if not has_same_states(mine, problem):
        raise InputError("the states belong to another problem")


def has_same_states(mine: Problem, problem: Problem) -> bool:
    """Return whether two problems differ only in prices and in the stakes.

    The prices must agree in the openers, in the bundles, and in whether a round costs something.
    """
    return (
        mine.pricing.is_sum
        and problem.pricing.is_sum
        and (problem.network, problem.target, problem.features, problem.evidence)
        == (mine.network, mine.target, mine.features, mine.evidence)
        and [set(g.features) for g in problem.pricing.sharings]
        == [set(g.features) for g in mine.pricing.sharings]
        and (problem.constraints, problem.limits) == (mine.constraints, mine.limits)
        and price_conditions(problem) == price_conditions(mine)
        and price_openers(problem) == price_openers(mine)
        and problem.counts_rounds == mine.counts_rounds
        and bundles_of(problem) == bundles_of(mine)
    )


class BufferPool:
    """Arrays for V of every state, lent to one solution after another.

    A sweep makes one solution after another. Allocating new memory for each would take a fifth of
    the time to solve it.
    """

    def __init__(self, n_states: int) -> None:
        self._n_states = n_states
        self._spare: list[Floats] = []

    def lend(self, borrower: object) -> Floats:
        """Return an array for V of every state, which the borrower may use while it exists."""
        try:
            values = self._spare.pop()
        except IndexError:
            values = np.empty(self._n_states)
        weakref.finalize(borrower, self.take_back, values)
        return values

    def take_back(self, values: Floats) -> None:
        """Keep an array to lend it again."""
        self._spare[:] = [values]


class Deeper(Generic[S]):
    """Solutions at evidence that a space has no state for, each solved once.

    Parameters
    ----------
    solve
        Solves a problem that has the evidence from the start. It must not hold the solution that
        owns this object: its array is taken back as soon as nobody holds it.
    """

    def __init__(self, problem: Problem, solve: Callable[[Problem], S]) -> None:
        self._problem, self._solve = problem, solve
        self.solved: list[tuple[Mapping[str, str], PathLimits, S]] = []

    def at(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> S:
        """Return the solution of the problem with this evidence known from the start.

        `left` is what is left of its limits there.
        """
        for evidence, limits, solution in self.solved:
            is_covered = evidence == known if left else evidence.items() <= known.items()
            if is_covered and limits == left:
                return solution
        problem = self._problem.with_evidence(self._problem.further(known))
        solution = self._solve(replace(problem, limits=left))
        self.solved.append((known, left, solution))
        return solution


class StateSpace:
    """The states of a problem and their risks, for any prices and any scale of the stakes.

    Parameters
    ----------
    unit
        The misclassification costs at scale 1; those of the problem by default.
    max_states
        Raise `TooLargeError` beyond this many states, even if they fit the memory budget.
    deadline
        Raise `TooLargeError` if the states are not found before this.

    Raises
    ------
    TooLargeError
        The states do not fit the memory budget, or the prices need bundles (`bundles`).
    """

    def __init__(
        self,
        problem: Problem,
        unit: CostMatrix | None = None,
        *,
        engine: str = "auto",
        max_states: int | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        check_engine(engine)
        check_supported(problem, counts_features=True)
        self.problem = problem
        self.unit = problem.misclassification if unit is None else unit
        room = memory_budget() // BYTES_PER_STATE
        room = room if max_states is None else min(room, max_states)
        blocks = find_blocks(problem, room, engine=engine, deadline=deadline)
        self.blocks, self.engine = blocks, choose_engine(engine, "bellman", blocks.n_states)
        cells = blocks.cells
        self.layout = BlockLayout(
            blocks.first,
            blocks.axis,
            blocks.child,
            blocks.kept,
            np.concatenate([[0], np.cumsum(cells)])[:-1],
            cells,
            blocks.sizes,
        )
        self.tables, self.probability = _state_tables(problem, blocks, self.unit, self.engine)
        self._price_of, self._price_sets = _price_sets(problem, blocks)
        self._locked = _locked_steps(problem, blocks)
        self.buffers = BufferPool(self.n_states)
        self.gain = self._measure_gains(deadline)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return int(self.layout.cells.sum())

    def prices(self, problem: Problem) -> Prices:
        """Return what each step costs with the prices and stakes of a problem."""
        blocks = self.blocks
        tables = []
        for axis, mask in self._price_sets:
            name = problem.features[blocks.features[axis]]
            named = [problem.features[blocks.features[a]] for a in bits(mask)]
            tables.append(
                [
                    _own_price(problem, name, dict(zip(named, when, strict=True)))
                    for when in product(*(problem.states(other) for other in named))
                ]
            )
        surcharge = np.zeros(len(blocks.axis))
        for g, sharing in enumerate(problem.pricing.sharings):
            due = {problem.features.index(name): s for name, s in sharing.surcharges.items()}
            first = np.array([due.get(k, 0.0) for k in blocks.features])
            is_paid = blocks.paid[blocks.parent] >> np.uint64(g) & np.uint64(1)
            surcharge += np.where(is_paid == 0, first[blocks.axis], 0.0)
        surcharge += self._locked
        least = np.array([min(table) for table in tables])
        return Prices(
            least[self._price_of] + surcharge,
            surcharge,
            self._price_of,
            np.array([mask for _, mask in self._price_sets], dtype=np.uint64),
            np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(np.int64),
            np.array([price for table in tables for price in table] or [0.0], dtype=np.float64),
            self.gain,
            stakes_scale(problem.misclassification, self.unit),
        )

    def _measure_gains(self, deadline: Deadline | None) -> Floats:
        """Return how much free information can reduce the risk at most, at unit stakes."""
        n_blocks, n_steps, n_sets = len(self.blocks), len(self.blocks.axis), len(self._price_sets)
        free = Prices(
            np.full(n_steps, -1.0),  # below every gain, so that no step is left out
            np.zeros(n_steps),
            self._price_of,
            np.zeros(n_sets, np.uint64),
            np.arange(n_sets),
            np.zeros(max(n_sets, 1)),
            np.zeros(n_blocks),
            1.0,
        )
        value, gain = np.empty(self.n_states), np.zeros(n_blocks)
        self.buffers.take_back(value)
        every = np.arange(n_blocks)
        cost_to_go(
            self.blocks, every, self.layout, self.tables, free, value,
            engine=self.engine, deadline=deadline,
        )  # fmt: skip
        twin_of(self.engine).measure_gains(self.layout, self.tables, value, gain)
        return gain


def _state_tables(
    problem: Problem, blocks: Blocks, unit: CostMatrix, engine: str
) -> tuple[StateTables, float]:
    """Return P(e_K) and the risk of every state, P(e_D | e_B) for every step, and P(e)."""
    sizes = blocks.sizes
    sets, set_of = np.unique(blocks.kept, return_inverse=True)
    root = root_table(problem, problem.evidence, blocks.features)
    forgets = np.flatnonzero(blocks.dropped)
    pairs, factor = unique_rows(np.stack([blocks.dropped[forgets], blocks.screen[forgets]], axis=1))
    factor_of = np.full(len(blocks.axis), -1)
    factor_of[forgets] = factor
    joint = pairs[:, 0] | pairs[:, 1]
    every, place = np.unique(np.concatenate([sets, joint]), return_inverse=True)
    cells = cells_of(every, sizes)
    starts = np.concatenate([[0], np.cumsum(cells)])[:-1]
    member = (every[:, None] >> np.arange(len(sizes), dtype=np.uint64) & np.uint64(1)).astype(bool)
    mass, risk = risk_tables(root, unit, member, starts, engine)
    factors = [
        _condition(mass[starts[k] : starts[k] + cells[k]], int(d), int(b), sizes).reshape(-1)
        for (d, b), k in zip(pairs.tolist(), place[len(sets) :].tolist(), strict=True)
    ]
    tables = StateTables(
        mass,
        risk,
        starts[place[: len(sets)]][set_of],
        factor_of,
        joint,
        np.concatenate([[0], np.cumsum([len(table) for table in factors])]).astype(np.int64),
        np.concatenate([*factors, np.ones(1)]),
    )
    return tables, root.probability


def _condition(joint: Floats, dropped: int, screen: int, sizes: Ints) -> Floats:
    """Return P(e_D | e_B) from P(e_D, e_B); 0 where e_B is impossible."""
    axes = list(bits(dropped | screen))
    table = joint.reshape([int(sizes[a]) for a in axes])
    gone = tuple(place for place, a in enumerate(axes) if dropped >> a & 1)
    below = table.sum(axis=gone, keepdims=True)
    result: Floats = np.divide(table, below, out=np.zeros_like(table), where=below > 0)
    return result


def _price_sets(problem: Problem, blocks: Blocks) -> tuple[Ints, list[tuple[int, int]]]:
    """Return the own price of each step: its axis, and the evidence that it depends on."""
    if not len(blocks.axis):
        return np.empty(0, np.int64), []
    named = step_conditions(problem)
    for k, mask in problem.feasibility.not_if.items():
        named[k] = named.get(k, 0) | mask
    masks: Masks = np.array(
        [
            mask_of(a for a, f in enumerate(blocks.features) if named.get(k, 0) >> f & 1)
            for k in blocks.features
        ],
        dtype=np.uint64,
    )
    known = masks[blocks.axis] & blocks.kept[blocks.parent]
    sets, of = unique_rows(np.stack([blocks.axis.astype(np.uint64), known], axis=1))
    return of, [(int(a), int(mask)) for a, mask in sets]


def _own_price(problem: Problem, name: str, known: Mapping[str, str]) -> float:
    """Return the own price of a feature at values that it depends on, or `INFEASIBLE`."""
    known = {**problem.evidence, **known}
    if not problem.feasibility.open_features(known) & problem.feature_mask({name}):
        return INFEASIBLE
    return problem.pricing.own_price(name, known)


def _locked_steps(problem: Problem, blocks: Blocks) -> Floats:
    """Return `INFEASIBLE` for each step to a feature that must come after an unknown one.

    While a feature is in R, what must come before it is in R too, unless it is known.
    """
    after = problem.feasibility.after
    masks: Masks = np.array(
        [
            mask_of(a for a, f in enumerate(blocks.features) if after.get(k, 0) >> f & 1)
            for k in blocks.features
        ],
        dtype=np.uint64,
    )
    if not after or not len(blocks.axis):
        return np.zeros(len(blocks.axis))
    is_locked = (masks[blocks.axis] & blocks.relevant[blocks.parent]) != 0
    return np.where(is_locked, INFEASIBLE, 0.0)
