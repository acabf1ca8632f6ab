r"""The optimal adaptive policy, by dynamic programming over the lattice's own states.

Theorem. At evidence e over E let R be the features that can still matter, and K ⊆ E the evidence
that still matters (`states.py`). Then the least expected cost from e on is a function of e_K, R and
the groups already paid for that have members in R:

    v(e) = min( EMC(e),  min_{i in R}  C(X_i | e) + Σ_x P(X_i = x | e_K) v(e_K, X_i = x) ).

Proof. (1) *Only R is worth buying.* R is what a walk reaches from Y (Theorem 2 of
``docs/lattice.md``), or from a feature that the price of a member of R depends on; E stops it, and
at colliders everything else. A path that is open given E and any other features is such a walk, and
walks can be joined at a feature outside E: it lets them pass where the arrows meet and where they
do not. So no feature outside R has an open path to Y or to a member of R, given E and any other
features. In a policy that buys features outside R, replace what they show by values
drawn from their distribution given those drawn before, and e: the joint distribution of Y, R and
what the policy sees is the same, so are its decisions and their costs, and it pays no more: prices
are >= 0, the overhead of a group is due at most once either way, and what the price of a member of
R depends on is in R by definition. (2) *Only e_K matters.* E \ K is d-separated from {Y} ∪ R given
K, so P(Y, R | e) = P(Y, R | e_K), and with it EMC(e) and all that can be seen later. Own prices
depend on what is in K by definition, overheads on the groups paid. (3) So v(e) is the optimum of
the problem whose evidence is e_K and whose features are R. Its first step, if any, acquires some
X_i in R and leads to the problem of e_K, x_i and R \ {i}, to which (1) and (2) apply in turn. ∎

Conditional prices are honoured as long as no two features can each make the other dearer. Then a
bundle, bought at once, may be cheaper than in any order, and steps would have to acquire sets: such
problems go to `branch_and_bound.py`. Otherwise those of a set whose price depends on others can be
bought before them: one by one costs no more than together, and tells more on the way.

So all partial assignments that differ in forgotten evidence are one state, and the states come in
blocks, about one for each irreducible set (`blocks.py`): the lattice, which the paper uses to look
ahead, is the state space of the optimal policy.

Never normalise. With V(e_K) = P(e_K) v(e_K), D the evidence that the step forgets and B its screen,

    V(e_K) = min( min_a Σ_j c_aj P(y_j, e_K),
                  min_{i in R}  C_i P(e_K) + Σ_x P(e_D | e_B) V'(e_K') ),

a sum over one axis of the child's table where nothing is forgotten. Impossible states have V = 0.

Sweeps. The blocks, P(e_K) and the risk at unit stakes are found once (`StateSpace`); each point of
a sweep only solves. Let G be the most that free and complete information takes off the risk in any
state of a block: V with all prices 0 gives it. A feature that costs G or more pays in no state of
the block, and the blocks that are reached only through such features need not be solved.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import memory_budget
from voilattice.engines import check_engine, choose_engine
from voilattice.errors import InputError, TooLargeError
from voilattice.feature_sets import bits
from voilattice.model.costs import CostMatrix, FeatureCosts, stakes_scale
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.problem import Problem
from voilattice.policy.optimal.blocks import (
    Ints,
    Masks,
    bundles_of,
    cells_of,
    conditions_of,
    find_blocks,
    unique_rows,
)
from voilattice.ties import Offer, tolerance, winner
from voilattice.valuation.tables import risk_tables, root_table

__all__ = ["Solution", "StateSpace"]

Floats = NDArray[np.float64]

BYTES_PER_STATE = 3 * 8  # V, P and the risk
STATES_PER_THREAD = 1 << 18
MAX_THREADS = 2


class StateSpace:
    """The states of a problem and their risks, for stakes of one shape and any prices.

    Parameters
    ----------
    unit
        The misclassification costs at scale 1; those of the problem by default.
    max_states
        Raise `TooLargeError` beyond so many states, whatever the memory budget.
    until
        Raise it when the states are not found then, on the clock of `time.monotonic`.

    Raises
    ------
    TooLargeError
        The states do not fit the memory budget.
    """

    def __init__(
        self,
        problem: Problem,
        unit: CostMatrix | None = None,
        *,
        engine: str = "auto",
        max_states: int | None = None,
        until: float = math.inf,
    ) -> None:
        check_engine(engine)
        if not isinstance(problem.costs, FeatureCosts) or bundles_of(problem):
            raise TooLargeError("with such prices states cannot be told apart by what matters")
        self.problem = problem
        self.unit = problem.misclassification if unit is None else unit
        room = memory_budget() // BYTES_PER_STATE
        room = room if max_states is None else min(room, max_states)
        blocks = find_blocks(problem, room, engine=engine, until=until)
        self.blocks, self.engine = blocks, choose_engine(engine, "bellman", blocks.n_states)
        self.cells = blocks.cells
        self.start = np.concatenate([[0], np.cumsum(self.cells)])[:-1]
        sets, self.set_of = np.unique(blocks.kept, return_inverse=True)
        self.tables = self._tables(sets)
        self.prices_of, self.price_sets = self._price_sets()
        self.gain = self._gains()

    def _tables(self, sets: Masks) -> _Tables:
        """Return P(e_K) and the risk of every state, and P(e_D | e_B) for every step."""
        blocks, sizes = self.blocks, self.blocks.sizes
        root = root_table(self.problem, self.problem.evidence, blocks.features)
        forgets = np.flatnonzero(blocks.dropped)
        pairs, factor = unique_rows(
            np.stack([blocks.dropped[forgets], blocks.screen[forgets]], axis=1)
        )
        factor_of = np.full(len(blocks.axis), -1)
        factor_of[forgets] = factor
        joint = pairs[:, 0] | pairs[:, 1]
        every, place = np.unique(np.concatenate([sets, joint]), return_inverse=True)
        cells = cells_of(every, sizes)
        starts = np.concatenate([[0], np.cumsum(cells)])[:-1]
        member = (every[:, None] >> np.arange(len(sizes), dtype=np.uint64) & np.uint64(1)).astype(
            bool
        )
        mass, risk = risk_tables(root, self.unit, member, starts, self.engine)
        factors = [
            _conditional(mass[starts[k] : starts[k] + cells[k]], int(d), int(b), sizes).reshape(-1)
            for (d, b), k in zip(pairs.tolist(), place[len(sets) :].tolist(), strict=True)
        ]
        lengths = [len(table) for table in factors]
        return _Tables(
            root.probability,
            mass,
            risk,
            starts[place[: len(sets)]][self.set_of],
            factor_of,
            joint,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([*factors, np.ones(1)]),
        )

    def _price_sets(self) -> tuple[Ints, list[tuple[int, int]]]:
        """Return which own price each step pays: an axis, and the evidence that it depends on."""
        blocks, problem = self.blocks, self.problem
        named = conditions_of(problem)
        masks = np.array(
            [
                sum(1 << a for a, f in enumerate(blocks.features) if named.get(k, 0) >> f & 1)
                for k in blocks.features
            ],
            dtype=np.uint64,
        )
        if not len(blocks.axis):
            return np.empty(0, np.int64), []
        known = masks[blocks.axis] & blocks.kept[blocks.parent]
        sets, of = unique_rows(np.stack([blocks.axis.astype(np.uint64), known], axis=1))
        return of, [(int(a), int(mask)) for a, mask in sets]

    def _gains(self) -> Floats:
        """Return the most that free information can take off the risk, at unit stakes."""
        blocks = self.blocks
        free = _Prices(
            np.full(len(blocks.axis), -1.0),
            np.zeros(len(blocks.axis)),
            np.zeros(len(self.price_sets), np.uint64),
            np.arange(len(self.price_sets)),
            np.zeros(max(len(self.price_sets), 1)),
        )
        value = self.values
        self.run(np.arange(len(blocks)), free, np.zeros(len(blocks)), 1.0, value)
        gain = np.zeros(len(blocks))
        if self.engine == "compiled":
            from voilattice.compiled import bellman as compiled

            tables = self.tables
            compiled.gains(
                self.start, self.cells, tables.table, tables.risk, tables.mass, value, gain
            )
            return gain
        for b in range(len(blocks)):
            mass, risk = self.tables.at(b, self.cells)
            there = mass > 0
            after = value[self.start[b] : self.start[b] + self.cells[b]]
            gain[b] = ((risk - after)[there] / mass[there]).max(initial=0.0)
        return gain

    def solve(self, problem: Problem | None = None) -> Solution:
        """Return the optimum for the prices, and the scale of the stakes, of a problem.

        It may differ from the problem of this space in these alone. Solutions of one space share
        their table of values: a new one ends the use of the one before.
        """
        problem = self.problem if problem is None else problem
        self._check(problem)
        return Solution(self, problem)

    def _check(self, problem: Problem) -> None:
        mine, costs = self.problem, problem.costs
        assert isinstance(mine.costs, FeatureCosts)
        same = (
            isinstance(costs, FeatureCosts)
            and (problem.network, problem.target, problem.features, problem.evidence)
            == (mine.network, mine.target, mine.features, mine.evidence)
            and [set(g.features) for g in costs.groups]
            == [set(g.features) for g in mine.costs.groups]
            and conditions_of(problem) == conditions_of(mine)
        )
        if not same:
            raise InputError("the states are those of another problem")

    @cached_property
    def values(self) -> Floats:
        """Room for V of every state."""
        return np.empty(int(self.cells.sum()))

    def run(self, blocks: Ints, prices: _Prices, gain: Floats, scale: float, value: Floats) -> None:
        """Write V for these blocks, whose children outside of them are solved."""
        solve = _solve_compiled if self.engine == "compiled" else _solve_python
        sizes = np.bitwise_count(self.blocks.relevant[blocks])
        for size in np.unique(sizes).tolist():  # smaller R first: children before parents
            solve(self, blocks[sizes == size], prices, gain, scale, value)


@dataclass(frozen=True, slots=True)
class _Tables:
    probability: float  # of the problem's own evidence, on the scale of the tables
    mass: Floats
    risk: Floats
    table: Ints  # where each block's mass and risk begin
    factor_of: Ints  # the P(e_D | e_B) of each step; -1: it forgets nothing
    factor_masks: Masks
    factor_starts: Ints
    factors: Floats

    def at(self, block: int, cells: Ints) -> tuple[Floats, Floats]:
        here = slice(self.table[block], self.table[block] + cells[block])
        return self.mass[here], self.risk[here]


@dataclass(frozen=True, slots=True)
class _Prices:
    """What each step costs: an own price, by the evidence it depends on, and a surcharge."""

    least: Floats  # of each step
    surcharge: Floats  # the overhead of a group not yet paid for
    masks: Masks  # of each own price
    starts: Ints
    own: Floats


def _conditional(joint: Floats, dropped: int, screen: int, sizes: Ints) -> Floats:
    """Return P(e_D | e_B) from P(e_D, e_B); 0 where e_B is impossible."""
    axes = list(bits(dropped | screen))
    table = joint.reshape([int(sizes[a]) for a in axes])
    gone = tuple(place for place, a in enumerate(axes) if dropped >> a & 1)
    below = table.sum(axis=gone, keepdims=True)
    result: Floats = np.divide(table, below, out=np.zeros_like(table), where=below > 0)
    return result


def _solve_compiled(
    space: StateSpace, blocks: Ints, prices: _Prices, gain: Floats, scale: float, value: Floats
) -> None:
    """Do the same, compiled, the blocks of a level shared among threads."""
    from voilattice.compiled import bellman as compiled

    found, tables = space.blocks, space.tables

    def solve(part: Ints) -> None:
        compiled.solve(
            part, found.first, found.axis, found.child, found.kept, space.start, space.cells,
            tables.table, found.sizes, tables.risk, tables.mass, scale, prices.least, gain,
            prices.surcharge, space.prices_of, prices.masks, prices.starts, prices.own,
            tables.factor_of, tables.factor_masks, tables.factor_starts, tables.factors, value,
        )  # fmt: skip

    done = np.cumsum(space.cells[blocks])
    n_threads = min(MAX_THREADS, os.cpu_count() or 1, 1 + int(done[-1]) // STATES_PER_THREAD)
    if n_threads == 1:
        solve(blocks)
        return
    cuts = np.searchsorted(done, np.linspace(0, done[-1], 4 * n_threads + 1)[1:-1])
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(solve, [part for part in np.split(blocks, cuts) if len(part)]))


def _solve_python(
    space: StateSpace, blocks: Ints, prices: _Prices, gain: Floats, scale: float, value: Floats
) -> None:
    """Write V for blocks whose children are solved: the recursion, array by array."""
    found, tables = space.blocks, space.tables
    for b in blocks.tolist():
        here = value[space.start[b] : space.start[b] + space.cells[b]]
        _, risk = tables.at(b, space.cells)
        np.multiply(risk, scale, out=here)
        for step in range(found.first[b], found.first[b + 1]):
            if prices.least[step] < scale * gain[b]:
                np.minimum(here, _acquired(space, b, step, prices, value), out=here)


def _acquired(space: StateSpace, b: int, step: int, prices: _Prices, value: Floats) -> Floats:
    """Return C_i P(e_K) + Σ_x P(e_D | e_B) V'(e_K') for every e_K of a block."""
    found, tables, sizes = space.blocks, space.tables, space.blocks.sizes
    axis, child, kept = int(found.axis[step]), int(found.child[step]), int(found.kept[b])
    both = kept | 1 << axis
    after = _aligned(
        value[space.start[child] : space.start[child] + space.cells[child]],
        int(found.kept[child]), both, sizes,
    )  # fmt: skip
    if (factor := int(tables.factor_of[step])) >= 0:
        begin, end = tables.factor_starts[factor : factor + 2]
        mask = int(tables.factor_masks[factor])
        after = after * _aligned(tables.factors[begin:end], mask, both, sizes)
    place = (both & ((1 << axis) - 1)).bit_count()
    own = int(space.prices_of[step])
    mask = int(prices.masks[own])
    length = int(cells_of(prices.masks[own : own + 1], sizes)[0])
    price = prices.own[prices.starts[own] : prices.starts[own] + length] + prices.surcharge[step]
    mass, _ = tables.at(b, space.cells)
    shape = [int(sizes[a]) for a in bits(kept)]
    total = _aligned(price, mask, kept, sizes) * mass.reshape(shape) + after.sum(axis=place)
    result: Floats = np.broadcast_to(total, shape).reshape(-1)
    return result


def _aligned(table: Floats, mask: int, axes: int, sizes: Ints) -> Floats:
    """Return a table over `mask` with an axis for each of `axes`, of length 1 where it has none."""
    return table.reshape([int(sizes[a]) if mask >> a & 1 else 1 for a in bits(axes)])


class Solution:
    """The optimum of a problem: its value, and what to do at any evidence."""

    def __init__(self, space: StateSpace, problem: Problem) -> None:
        self.space, self.problem = space, problem
        self.scale = stakes_scale(problem.misclassification, space.unit)
        self._prices = self._priced()
        self._solved = np.zeros(len(space.blocks), np.uint8)
        self._deeper: list[tuple[Mapping[str, str], Solution]] = []  # from some evidence on
        self._ensure(0)

    @property
    def expected_total_cost(self) -> float:
        """The least expected cost of all policies."""
        return float(self.space.values[0]) / self.space.tables.probability

    def choose(self, known: Mapping[str, str]) -> int:
        """Return the feature to acquire, as a mask, or 0: decide.

        Ties go to deciding, then to the cheaper feature, then to the first.
        """
        return self._chosen(known)[0]

    def cost_to_go(self, known: Mapping[str, str]) -> float:
        """Return v(e), the least expected cost from some evidence on."""
        return self._chosen(known)[1]

    def _chosen(self, known: Mapping[str, str]) -> tuple[int, float]:
        if (found := self._locate(known)) is None:
            # Evidence that no policy would have bought: it matters to nothing but the overheads.
            return self._solved_from(known)._chosen(known)
        block, cell = found
        mass, risk = (float(part[cell]) for part in self.space.tables.at(block, self.space.cells))
        if mass < LEAST_MASS * self.space.tables.probability:
            return self._solved_from(known)._chosen(known)
        self._ensure(block)
        now = self.scale * risk / mass
        offers = {0: Offer(-now, 0.0, 0)}
        for feature, price, total in self._offers(block, cell):
            offers[1 << feature] = Offer(-total / mass, price, 1 << feature)
        chosen = winner(offers, lambda mask: offers[mask], tolerance(now))
        return chosen, -max(offer.benefit for offer in offers.values())

    def _solved_from(self, known: Mapping[str, str]) -> Solution:
        """Return the solution of the problem in which this evidence is known from the start."""
        for evidence, solution in self._deeper:
            if evidence.items() <= known.items():
                return solution
        more = {f: v for f, v in known.items() if f not in self.problem.evidence}
        solution = StateSpace(self.problem.with_evidence(more)).solve()
        self._deeper.append((known, solution))
        return solution

    def _offers(self, block: int, cell: int) -> Iterator[tuple[int, float, float]]:
        """Return each feature that may pay, its price, and the cost of acquiring it, times P."""
        space, prices, found = self.space, self._prices, self.space.blocks
        for step in range(found.first[block], found.first[block + 1]):
            if prices.least[step] < self.scale * space.gain[block]:
                total = float(_acquired(space, block, step, prices, space.values)[cell])
                feature = found.features[found.axis[step]]
                values = _values(cell, int(found.kept[block]), found.sizes)
                own = int(space.prices_of[step])
                place = _cell(values, int(prices.masks[own]), found.sizes)
                price = float(prices.own[prices.starts[own] + place] + prices.surcharge[step])
                yield feature, price, total

    def _ensure(self, block: int) -> None:
        """Solve a block, and what can be reached from it, unless it is solved."""
        if self._solved[block]:
            return
        space = self.space
        wanted = np.zeros(len(space.blocks), np.uint8)
        wanted[block] = 1
        _mark(space, wanted, self._prices.least, self.scale)
        todo = np.flatnonzero(wanted & ~self._solved & 1)
        space.run(todo, self._prices, space.gain, self.scale, space.values)
        self._solved |= wanted

    def _locate(self, known: Mapping[str, str]) -> tuple[int, int] | None:
        """Return the block of some evidence and the place of its values, or None."""
        problem, found = self.problem, self.space.blocks
        assert isinstance(problem.costs, FeatureCosts)
        values: dict[int, int] = {}
        axes = {k: a for a, k in enumerate(found.features)}
        block = 0
        for name, state in known.items():
            k = problem.features.index(name)
            if k in axes and int(found.relevant[block]) >> axes[k] & 1:
                steps = range(found.first[block], found.first[block + 1])
                block = int(found.child[next(t for t in steps if found.axis[t] == axes[k])])
                values[axes[k]] = problem.states(name).index(state)
        left = problem.feature_names(
            sum(1 << found.features[a] for a in bits(int(found.relevant[block])))
        )
        paid = sum(
            1 << g
            for g, group in enumerate(problem.costs.groups)
            if left.intersection(group.features)
            and any(mate in known or mate in problem.evidence for mate in group.features)
        )
        if paid != int(found.paid[block]):
            return None
        return block, _cell(values, int(found.kept[block]), found.sizes)

    def _priced(self) -> _Prices:
        space, problem, found = self.space, self.problem, self.space.blocks
        costs = problem.costs
        assert isinstance(costs, FeatureCosts)
        tables = []
        for axis, mask in space.price_sets:
            name = problem.features[found.features[axis]]
            named = [problem.features[found.features[a]] for a in bits(mask)]
            tables.append(
                [
                    costs.price(name, {**problem.evidence, **dict(zip(named, when, strict=True))})
                    for when in product(*(problem.states(other) for other in named))
                ]
            )
        group_of = np.full(len(found.sizes), -1)
        for g, group in enumerate(costs.groups):
            for a, k in enumerate(found.features):
                if problem.features[k] in group.features:
                    group_of[a] = g
        overhead = np.array([group.overhead for group in costs.groups] + [0.0])
        own = group_of[found.axis] if len(found.axis) else np.empty(0, np.int64)
        paid = found.paid[found.parent] >> np.maximum(own, 0).astype(np.uint64) & np.uint64(1)
        surcharge = np.where((own >= 0) & (paid == 0), overhead[own], 0.0)
        least = np.array([min(table) for table in tables] or [0.0])
        return _Prices(
            least[space.prices_of] + surcharge,
            surcharge,
            np.array([mask for _, mask in space.price_sets], dtype=np.uint64),
            np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(np.int64),
            np.array([price for table in tables for price in table] or [0.0], dtype=np.float64),
        )


def _mark(space: StateSpace, wanted: NDArray[np.uint8], least: Floats, scale: float) -> None:
    """Mark the blocks that a policy can get to from those marked."""
    found = space.blocks
    if space.engine == "compiled":
        from voilattice.compiled import bellman as compiled

        compiled.mark(wanted, found.first, found.child, least, space.gain, scale)
        return
    for b in range(len(found)):
        if wanted[b]:
            steps = np.arange(found.first[b], found.first[b + 1])
            wanted[found.child[steps[least[steps] < scale * space.gain[b]]]] = 1


def _cell(values: Mapping[int, int], mask: int, sizes: Ints) -> int:
    """Return the place of some values in a table over `mask`."""
    place = 0
    for a in bits(mask):
        place = place * int(sizes[a]) + values[a]
    return place


def _values(cell: int, mask: int, sizes: Ints) -> dict[int, int]:
    """Return the value of each axis at a place; the opposite of `_cell`."""
    values = {}
    for a in reversed(list(bits(mask))):
        cell, values[a] = divmod(cell, int(sizes[a]))
    return values
