r"""The exact optimal policy where rounds or limits count, and where sets are cheaper together.

The states are all partial assignments of R, the features that can matter at the problem's own
evidence, and the number of rounds that are left, where that counts (`batches`). The table holds V
alone. What to do at e follows from V of the outcomes of all sets that can be acquired at e.

A limit on spending needs what a path has cost. It is a function of the features that are known, and
of the number of rounds, if no price depends on the order of acquisitions. That is so if no price of
R depends on unknown features, and all members of a discount take the same amount off. Other
problems are left to the search (`ao_star`), which keeps what is left of the limits in its states.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from voilattice.budgets import Deadline, memory_budget
from voilattice.compiled.arrays import TOO_MUCH, DigitPrices, Floats, Ints
from voilattice.engines import check_engine, choose_engine
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.problem import Problem
from voilattice.model.stakes import CostMatrix, stakes_scale
from voilattice.optimal.exact.batches import BatchTable, solve_batches
from voilattice.optimal.exact.bundles import bundles_of
from voilattice.optimal.exact.plain import count_states
from voilattice.optimal.exact.plain_solution import feature_prices
from voilattice.optimal.exact.space import Deeper, check_own_prices, check_same_states
from voilattice.policy.relevance import Relevance, price_conditions
from voilattice.ties import Offer, tolerance, winner
from voilattice.valuation.tables import TABLES_AT_ONCE, risk_tables, root_table
from voilattice.wording import format_bytes

__all__ = ["BatchSolution", "BatchSpace", "SharedCosts", "depends_on_order", "needs_batches"]

MAX_DIGITS = 24  # there is a table for each set of them
NANOSECONDS = 60.0  # an entry, in the compiled engine: a cautious estimate


def needs_batches(problem: Problem) -> bool:
    """Return whether a limit on spending, rounds or bundles need more than single steps."""
    is_limited = problem.limits.spend is not None
    return is_limited or problem.counts_rounds or bool(bundles_of(problem))


def depends_on_order(problem: Problem, relevant: int) -> bool:
    """Return whether what features of R cost together can depend on the order of acquisitions."""
    e, names = problem.feature_mask(problem.evidence), problem.feature_names(relevant)
    return any(
        named & ~e for k, named in price_conditions(problem).items() if relevant >> k & 1
    ) or any(
        len({amount for feature, amount in sharing.surcharges.items() if feature in names}) > 1
        for sharing in problem.pricing.unopened(problem.evidence)
    )


def _check_order(problem: Problem, relevant: int) -> None:
    """Raise `TooLargeError` unless what a path has cost is a function of what is known."""
    if problem.limits.spend is not None and depends_on_order(problem, relevant):
        raise TooLargeError(
            "the exact solver does not support a limit on spending with prices that depend on "
            "the order of acquisitions"
        )


class BatchSpace:
    """All partial assignments of a problem, with steps that acquire sets.

    Parameters
    ----------
    unit
        The misclassification costs at scale 1; those of the problem by default.
    deadline
        When the table should be solved.

    Raises
    ------
    TooLargeError
        The table does not fit the memory budget or the time, or the prices are not supported.
    """

    def __init__(
        self,
        problem: Problem,
        unit: CostMatrix | None = None,
        *,
        engine: str = "auto",
        deadline: Deadline | None = None,
    ) -> None:
        check_engine(engine)
        check_own_prices(problem)
        self.problem, self.engine = problem, engine
        self.unit = problem.misclassification if unit is None else unit
        self.relevance = Relevance(problem)
        relevant, _ = self.relevance.what_matters(problem.feature_mask(problem.evidence))
        _check_order(problem, relevant)
        self.features = tuple(bits(relevant))
        self.sizes = tuple(len(problem.states(problem.features[k])) for k in self.features)
        self.asks = problem.counts_rounds or bool(bundles_of(problem))
        self._check_size(deadline or Deadline())
        self.table, self.probability = self._risks()

    @property
    def n_states(self) -> int:
        """The number of states, not counting the rounds."""
        return count_states(self.sizes)

    def n_rounds(self, problem: Problem) -> int | None:
        """Return how many rounds a path may have; None: their number does not count."""
        limits, round_cost, n = problem.limits, problem.round_cost, len(self.sizes)
        if limits.spend is not None and round_cost > 0:
            n = int(min(n, (limits.spend + tolerance(limits.spend)) / round_cost))
        elif limits.rounds is None or limits.rounds >= n:
            return None
        return n if limits.rounds is None else min(n, limits.rounds)

    def _check_size(self, deadline: Deadline) -> None:
        n_rounds = self.n_rounds(self.problem)
        entries = math.prod(size + 1 + self.asks for size in self.sizes)
        joint = len(self.problem.classes) * math.prod(self.sizes)
        n_rows = 2 + (1 if n_rounds is None else n_rounds + 1)
        needed = 8 * (entries + n_rows * self.n_states + TABLES_AT_ONCE * joint)
        if needed > memory_budget() or len(self.sizes) > MAX_DIGITS:
            raise TooLargeError(
                f"{entries:,} states need {format_bytes(needed)}, "
                f"and the memory budget is {format_bytes(memory_budget())}"
            )
        seconds = 1e-9 * NANOSECONDS * entries * (1 if n_rounds is None else n_rounds)
        left = deadline.seconds_left
        if left is not None and seconds > left:
            raise TooLargeError(f"{entries:,} states cannot be solved in {left:.1f} s")

    def _risks(self) -> tuple[BatchTable, float]:
        """Return P(e) and the risk of deciding at every e."""
        problem, n = self.problem, len(self.sizes)
        root = root_table(problem, problem.evidence, self.features)
        member = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)
        cells = np.prod(np.where(member, self.sizes, 1), axis=1, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(cells)])[:-1]
        engine = choose_engine(self.engine, "bellman", self.n_states)
        mass, risk = risk_tables(root, self.unit, member, starts, engine)
        return BatchTable(self.sizes, starts, mass, risk), root.probability

    def prices(self, problem: Problem) -> DigitPrices:
        """Return the own price of each digit with the prices of a problem."""
        return feature_prices(problem, self.relevance, self.features, in_batches=True)

    def narrow(self, features: int) -> int:
        """Return the digits of some features."""
        return mask_of(d for d, k in enumerate(self.features) if features >> k & 1)

    def wide(self, digits: int) -> int:
        """Return the features of some digits."""
        return mask_of(self.features[d] for d in bits(digits))


class SharedCosts:
    """What sets of digits cost besides their own prices; infinite: they cannot be acquired.

    That is the cost of a round, the surcharges of groups and discounts that open, and whether
    `after` and the limits allow the set. None of it depends on values.
    """

    def __init__(self, space: BatchSpace, problem: Problem) -> None:
        self._space, self._problem, self._pricing = space, problem, problem.pricing
        self.n_rounds = space.n_rounds(problem)
        after = problem.feasibility.after
        self._after = {
            d: space.narrow(after[k]) for d, k in enumerate(space.features) if k in after
        }
        names = [problem.features[k] for k in space.features]
        self._sharings = [
            {d: s.surcharges[name] for d, name in enumerate(names) if name in s.features}
            for s in self._pricing.unopened(problem.evidence)
        ]
        self._spent = self._spending() if problem.limits.spend is not None else np.empty(0)

    def __call__(self, known: int, sets: Sequence[int], r: int) -> Floats:
        """Return the shared costs of sets, once `known` is known with r rounds left."""
        masks = np.array(sets, dtype=np.int64)
        total = self._prices(known, masks)
        limits = self._problem.limits
        n_features = known.bit_count() + np.bitwise_count(masks)
        is_open = np.ones(len(masks), dtype=bool)
        for d, needed in self._after.items():
            missing = needed & ~known
            is_open &= (masks >> d & 1 == 0) | (masks & missing == missing)
        if limits.features is not None:
            is_open &= n_features <= limits.features
        if limits.spend is not None:
            rounds = 0 if self.n_rounds is None else self.n_rounds - r + 1
            spent = self._spent[known | masks] + rounds * self._pricing.round_cost
            is_open &= spent <= limits.spend + tolerance(limits.spend)
        return np.where(is_open, total, np.inf)

    def _prices(self, known: int, masks: Ints) -> Floats:
        """Return the cost of a round and the surcharges of sets."""
        if self._pricing.order:
            return np.array([self._price_in_order(known, mask) for mask in masks.tolist()])
        total = np.where(masks != 0, self._pricing.round_cost, 0.0)
        for surcharges in self._sharings:
            if any(known >> d & 1 for d in surcharges):
                continue
            first = np.full(len(masks), np.inf)
            for d, surcharge in surcharges.items():
                inside = masks >> d & 1 == 1
                first[inside] = np.minimum(first[inside], surcharge)
            total += np.where(np.isinf(first), 0.0, first)
        return total

    def _price_in_order(self, known: int, mask: int) -> float:
        names, wide = self._problem.feature_names, self._space.wide
        before = {*self._problem.evidence, *names(wide(known))}
        return self._pricing.shared_cost(names(wide(mask)), before)

    def rounds_used(self, known: int, left: PathLimits) -> int:
        """Return how many rounds were paid for, from what is left to spend."""
        spend = self._problem.limits.spend
        assert spend is not None
        assert left.spend is not None
        paid = spend - left.spend - float(self._spent[known])
        # A round that costs next to nothing beside the limit is lost in rounding.
        return round(min(max(paid / self._pricing.round_cost, 0.0), known.bit_count()))

    def _spending(self) -> Floats:
        """Return what each set of digits has cost, without the rounds, whatever the order."""
        n, evidence = len(self._space.features), self._problem.evidence
        masks = np.arange(1 << n, dtype=np.int64)
        total = self._prices(0, masks) - np.where(masks != 0, self._pricing.round_cost, 0.0)
        for d, k in enumerate(self._space.features):
            own = self._pricing.own_price(self._problem.features[k], evidence)
            total += np.where(masks >> d & 1 == 1, own, 0.0)
        return total


class BatchSolution:
    """The optimum of a problem, as in `solution.Solution`, over steps that acquire sets.

    Parameters
    ----------
    problem
        May differ from the problem of the space only in prices and in the scale of the stakes.
    deadline
        Raise `TooLargeError` if the table is not solved before this.

    Raises
    ------
    TooLargeError
        The prices are not supported.
    """

    def __init__(
        self, space: BatchSpace, problem: Problem, *, deadline: Deadline | None = None
    ) -> None:
        check_same_states(space.problem, problem)
        _check_order(problem, mask_of(space.features))
        self.space, self.problem = space, problem
        self._scale = stakes_scale(problem.misclassification, space.unit)
        self._shared, self._prices = SharedCosts(space, problem), space.prices(problem)
        self._values = solve_batches(
            space.table, self._prices, self._shared, scale=self._scale,
            n_rounds=self._shared.n_rounds, asks=space.asks, engine=space.engine, deadline=deadline,
        )  # fmt: skip
        engine = space.engine
        self._deeper = Deeper(problem, lambda p: BatchSolution(BatchSpace(p, engine=engine), p))

    @property
    def expected_total_cost(self) -> float:
        """The least expected cost of all policies."""
        start = int(self.space.table.starts[0])
        return float(self._values[-1, start]) / self.space.probability

    def choose(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> int:
        """Return the features to acquire, as a mask, or 0: decide.

        Deciding wins a tie, then fewer features, then the cheaper set, then the first features.
        `left` is what is left of the limits.
        """
        offers = self.offers(known, left)
        return winner(offers, offers.__getitem__, tolerance(-offers[0].benefit))

    def offers(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> dict[int, Offer]:
        """Return what each set that can be acquired at some evidence offers, as masks.

        The benefit of an offer is minus the cost to go if it comes first; 0 is the offer to decide.
        """
        space, table = self.space, self.space.table
        if (found := self._locate(known)) is None:
            return self._deeper.at(known, left).offers(known, left)
        digits, at = found
        r = self._rounds_left(digits, left)
        mass = float(table.part(table.mass, digits)[at])
        now = self._scale * float(table.part(table.risk, digits)[at]) / mass
        relevant, _ = space.relevance.what_matters(
            self.problem.feature_mask({**self.problem.evidence, **known})
        )
        offers = {0: Offer(-now, 0.0, 0)}
        for mask, price in self._steps(digits, at, space.narrow(relevant), r).items():
            after = self._after(digits, at, mask, r)
            wide = space.wide(mask)
            offers[wide] = Offer(-(price + after / mass), price, wide)
        return offers

    def error(self, known: Mapping[str, str]) -> float:
        """Return by how much `cost_to_go` may be wrong at most: values have 64 bits here."""
        return 0.0

    def cost_to_go(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> float:
        """Return v(e), the least expected cost from some evidence on."""
        table = self.space.table
        if (found := self._locate(known)) is None:
            return self._deeper.at(known, left).cost_to_go(known, left)
        digits, at = found
        row = self._values[self._row(self._rounds_left(digits, left))]
        return float(table.part(row, digits)[at] / table.part(table.mass, digits)[at])

    def _steps(self, digits: int, at: int, relevant: int, r: int) -> dict[int, float]:
        """Return the sets of digits that can be acquired at some evidence, and their prices."""
        space, n = self.space, len(self.space.sizes)
        free = [d for d in range(n) if not digits >> d & 1 and relevant >> d & 1]
        sets = [1 << d for d in free]
        if space.asks:
            sets = [0]
            for d in free:
                sets += [mask | 1 << d for mask in sets]
            sets = sets[1:]
        if self._shared.n_rounds is not None and r == 0:
            return {}
        values = self._values_at(digits, at)
        places = self._prices.steps @ np.array(values)
        own = {d: float(self._prices.own[self._prices.starts[d] + places[d]]) for d in free}
        shared = self._shared(digits, sets, r).tolist()
        prices = (
            (mask, math.fsum([*(own[d] for d in bits(mask)), paid]))
            for mask, paid in zip(sets, shared, strict=True)
        )
        return {mask: price for mask, price in prices if price < TOO_MUCH}

    def _after(self, digits: int, at: int, mask: int, r: int) -> float:
        """Return F(e, S): V summed over all outcomes of a set."""
        space, table = self.space, self.space.table
        both = digits | mask
        row = self._values[self._row(r - 1)]
        values = self._values_at(digits, at)
        where = tuple(slice(None) if mask >> d & 1 else values[d] for d in bits(both))
        shape = [space.sizes[d] for d in bits(both)]
        return float(table.part(row, both).reshape(shape)[where].sum())

    def _row(self, r: int) -> int:
        return 0 if self._shared.n_rounds is None else r

    def _values_at(self, digits: int, at: int) -> list[int]:
        """Return the value of each digit; its size: unknown."""
        values = list(self.space.sizes)
        for d in reversed(list(bits(digits))):
            at, values[d] = divmod(at, self.space.sizes[d])
        return values

    def _rounds_left(self, digits: int, left: PathLimits) -> int:
        """Return how many rounds are left, where their number counts."""
        n_rounds, limits = self._shared.n_rounds, self.problem.limits
        if n_rounds is None:
            return 0
        if limits.rounds is not None and left.rounds is not None:
            used = limits.rounds - left.rounds
        else:
            used = self._shared.rounds_used(digits, left)
        return max(n_rounds - used, 0)

    def _locate(self, known: Mapping[str, str]) -> tuple[int, int] | None:
        """Return the known digits and the place of their values.

        None: the table has no such state. The evidence is too rare for it, or has features that no
        policy would buy.
        """
        space, problem = self.space, self.problem
        inside = {problem.features[k] for k in space.features}
        if any(name not in inside and name not in problem.evidence for name in known):
            return None
        digits, at = 0, 0
        for d, (k, size) in enumerate(zip(space.features, space.sizes, strict=True)):
            name = problem.features[k]
            if name in known:
                digits |= 1 << d
                at = at * size + problem.states(name).index(known[name])
        mass = float(space.table.part(space.table.mass, digits)[at])
        return None if mass < LEAST_MASS * space.probability else (digits, at)
