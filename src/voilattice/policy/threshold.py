"""From which price, and from which stakes, the optimal policy uses a feature.

Let V be the cost of the optimal policy, and W that of the optimal policy of the problem in which
the feature X cannot be acquired. X is *used* if V < W; a tie counts as not used (`ties`).

**Price.** A policy π that pays the price p of X with probability b_π costs a_π + b_π p. So

    V(p) = min over π of  a_π + b_π p

is concave, piecewise linear and does not fall, and W does not depend on p. So X is used below one
price p*, and p* is a corner of V: from there on V(p) = W. If X has conditional prices, X can be
used without paying p; then V stays below W, and X is used at every price. The price of a feature
cannot be below what its discount takes off, so p starts there.

**Stakes.** With the misclassification costs times λ, a policy costs f_π + λ m_π: what it spends on
features, and λ times what wrong decisions cost. So V(λ) and W(λ) both are concave and piecewise
linear, and V <= W. Between two neighbours of the corners of both, V - W is linear. So it is 0
between them exactly if it is 0 at both, and X is used in a union of intervals whose ends are
corners. There may be several: where much is at stake, a dearer and better feature can replace X.

With a limit on spending, a higher price of X rules policies out. Then V(p) is no minimum of lines,
but it still does not fall, so X is used below one price, and bisection finds it to a cent.

All corners are found from values of V and W alone (`concave_lines`). ``docs/what-if.md`` has the
proofs. Where a value is not proved optimal in time, there are only bounds on V and W. As V(p) does
not fall, a price at which X is proved to be used is below p*, and one at which X is proved not to
be used is not. Then the answer is a bracket.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline, TimeLimit
from voilattice.errors import InputError
from voilattice.model.costs import MAX_AMOUNT, FeatureCosts
from voilattice.model.problem import Evidence, Problem, check_problem
from voilattice.policy.concave_lines import corners
from voilattice.policy.interface import TIME_LIMIT, Cost, Limits
from voilattice.policy.optimal.solver import OptimalSolver
from voilattice.policy.sweep import Sweep
from voilattice.ties import TOLERANCE, tolerance
from voilattice.wording import format_amount

__all__ = ["Curve", "PriceUse", "StakeUse", "Threshold", "find_threshold"]

CENT = 0.01  # a bracket that is no wider counts as found
GROWTH = 4.0  # how fast prices grow until the feature is not used
SHARE_OF_FIRST = 0.4  # of the time that is left, for the first value
SHARE = 0.2  # the same for a value once one was not proved in time
SHARE_OF_PRICES = 0.6  # of the time
CLEAR = 10.0  # a difference of this many tolerances is no tie, even if it is interpolated

# Of the stakes: each interval is examined after the one before it.
FACTORS = (0.0, *(4.0**k for k in range(-3, 6)))

Verdict: TypeAlias = Literal["below", "never", "always", "unknown"]

# Points (x, cost) with straight lines between them.
Curve: TypeAlias = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class PriceUse:
    """At which prices the optimal policy uses a feature.

    Parameters
    ----------
    verdict
        ``"below"``: below the threshold, and not from there on. ``"never"``, ``"always"``: whatever
        the price. ``"unknown"``: not proved in time.
    bracket
        The threshold is between these two; None: no bound.
    least
        What a discount takes off the price: no price may be lower.
    curve
        The cost of the optimal policy along prices; empty: not all of it is proved.
    without
        Its cost without the feature.
    """

    verdict: Verdict
    bracket: tuple[float | None, float | None]
    least: float
    exact: bool
    curve: Curve
    without: float | None

    @property
    def threshold(self) -> float | None:
        """The threshold, exact or to a cent; None: there is none, or it is not known."""
        low, high = self.bracket
        return None if low is None or high is None or high - low > CENT else low


@dataclass(frozen=True, slots=True)
class StakeUse:
    """At which stakes the optimal policy uses a feature.

    Stakes are told as the a-priori EMC, the expected misclassification cost with nothing known.

    Parameters
    ----------
    ranges
        The stakes at which the feature is used, in order, up to the limit.
    limit
        The highest stakes up to which all is proved.
    at_most
        The feature is proved to be used at these stakes; None: at none.
    exact
        Whether all stakes that should be examined are.
    curve
        The cost of the optimal policy along stakes, up to the limit.
    without
        The same without the feature.
    """

    ranges: tuple[tuple[float, float], ...]
    limit: float
    at_most: float | None
    exact: bool
    curve: Curve
    without: Curve

    @property
    def threshold(self) -> float | None:
        """The stakes from which on the feature is used; None: there are none, or not known."""
        return self.ranges[0][0] if self.ranges else None

    @property
    def end(self) -> float | None:
        """The stakes above which the feature is no longer used; None: there are none."""
        if not self.ranges or self.ranges[-1][1] >= self.limit:
            return None
        return self.ranges[-1][1]


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which price, and from which stakes, the optimal policy uses a feature."""

    feature: str
    price: float  # as it is
    stake: float  # as it is: the a-priori EMC
    is_used: bool | None  # as things are; None: not proved
    prices: PriceUse
    stakes: StakeUse
    label: str  # what people read for the feature
    currency: str

    @property
    def exact(self) -> bool:
        """Whether all is exact."""
        return self.prices.exact and self.stakes.exact

    def __str__(self) -> str:
        return f"{self.describe_prices()} {self.describe_stakes()}"

    def describe_prices(self) -> str:
        """Return what holds of prices, in words."""
        name, found = f"{self.label} (now {self._amount(self.price)})", self.prices
        if found.verdict == "always":
            return f"{name} is worth buying at any price: its conditional prices replace it."
        if found.verdict == "never":
            return f"{name} is not worth buying, even for {self._amount(found.least)}."
        if found.threshold is not None:
            about = "" if found.exact else "about "
            return f"{name} is worth buying below {about}{self._amount(found.threshold)}."
        low, high = found.bracket
        known = [] if low is None else [f"is worth buying at {self._amount(low)} or less"]
        known += [] if high is None else [f"is not worth buying at {self._amount(high)} or more"]
        return f"{name} {' and '.join(known) or 'may be worth buying'}: the rest is not proved."

    def describe_stakes(self) -> str:
        """Return what holds of stakes, in words."""
        now, found = f"(now {self._amount(self.stake)})", self.stakes
        more = "" if found.exact else f" More than {self._amount(found.limit)} was not examined."
        if not found.ranges:
            if not found.exact and found.at_most is not None:
                return f"It is used at stakes of {self._amount(found.at_most)} {now}.{more}"
            return f"It is not used at any stakes up to {self._amount(found.limit)} {now}.{more}"
        said = [
            f"from {self._amount(start)} "
            + ("on" if found.exact and end >= found.limit else f"to {self._amount(end)}")
            for start, end in found.ranges
        ]
        return f"It is used at stakes {' and '.join(said)} {now}.{more}"

    def _amount(self, amount: float) -> str:
        return format_amount(amount, self.currency)


def find_threshold(
    problem: Problem,
    feature: str,
    evidence: Evidence | None = None,
    *,
    time_limit: TimeLimit = TIME_LIMIT,
    progress: Callable[[int, str], None] | None = None,
) -> Threshold:
    """Return from which price, and from which stakes, the optimal policy uses a feature.

    Parameters
    ----------
    time_limit
        Seconds. What is not proved then is a bracket, or not known.
    progress
        Called with the number of values so far, and what they are along: "prices" or "stakes".

    >>> import voilattice
    >>> found = find_threshold(voilattice.load_problem("figure1"), "X1")
    >>> round(found.prices.threshold, 2), round(found.stakes.threshold, 2), found.exact
    (1.2, 35.85, True)
    >>> print(found.describe_prices())
    X1 (now 5.00) is worth buying below 1.20.
    """
    check_problem(problem)
    here = problem.with_evidence(evidence)
    here.check_acquirable([feature], here.evidence)
    if not isinstance(here.costs, FeatureCosts):
        raise InputError(
            f"must be prices that can be changed, got {type(here.costs).__name__}", "costs"
        )
    deadline = Deadline.of(time_limit)
    values = _Values(here, here.costs, feature, progress)
    prices = _along_prices(values, deadline.share(SHARE_OF_PRICES))
    stakes = _along_stakes(values, deadline)
    is_used = values.at(1.0, deadline).beats(values.without(1.0, deadline))
    return Threshold(
        feature, values.price, values.stake, is_used, prices, stakes, here.label(feature),
        here.currency,
    )  # fmt: skip


class _NotProved(Exception):
    """A value is not known exactly."""


class _Values:
    """The optimal cost with a feature and without it, at any price and any stakes, each once."""

    def __init__(
        self,
        problem: Problem,
        costs: FeatureCosts,
        feature: str,
        progress: Callable[[int, str], None] | None,
    ) -> None:
        self.problem, self.costs, self.feature, self._progress = problem, costs, feature, progress
        self.price = costs.prices[feature]
        off = (discount.off[feature] for discount in costs.discounts if feature in discount.off)
        self.least_price = next(off, 0.0)
        self.stake = float((problem.misclassification @ problem.prior).min())
        self._lacking = problem.without({feature})
        self._sweep, self._lacking_sweep = Sweep(problem), Sweep(self._lacking)
        self._solver = OptimalSolver()
        self._share = SHARE_OF_FIRST
        self._found: dict[tuple[float, float | None], Cost] = {}

    def at(self, factor: float, deadline: Deadline, price: float | None = None) -> Cost:
        """Return V, the optimal cost, with the stakes times a factor and at a price."""
        price = self.price if price is None else price
        costs = replace(self.costs, prices={**self.costs.prices, self.feature: price})
        problem = replace(self.problem, costs=costs)
        return self._cost(problem, factor, price, self._sweep, deadline)

    def prices(self) -> list[float]:
        """Return the prices at which V is worked out, with the stakes as they are."""
        return [price for factor, price in self._found if factor == 1.0 and price is not None]

    def without(self, factor: float, deadline: Deadline) -> Cost:
        """Return W, the optimal cost without the feature, with the stakes times a factor."""
        return self._cost(self._lacking, factor, None, self._lacking_sweep, deadline)

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
            staked = replace(problem, misclassification=factor * problem.misclassification)
            limits = Limits(time_limit=deadline.share(self._share))
            found = self._found[key] = self._solver.cost(staked, limits, sweep=sweep)
            # Where one value is proved, the others take as long, and no share is too short.
            self._share = 1.0 if found.certificate.exact else SHARE
            if self._progress is not None:
                self._progress(len(self._found), "stakes" if factor != 1 else "prices")
        return self._found[key]


def _exact(cost: Cost, deadline: Deadline) -> float:
    """Return a cost that is proved optimal, in time."""
    if deadline.is_over or not cost.certificate.exact or cost.expected_total_cost is None:
        raise _NotProved
    return cost.expected_total_cost


def _is_concave_in_price(problem: Problem) -> bool:
    """Return whether V(p) is a minimum of lines: no price rules out a policy."""
    return problem.limits.spend is None


def _along_prices(values: _Values, deadline: Deadline) -> PriceUse:
    """Return at which prices the feature is used."""
    lacking, least = values.without(1.0, deadline), values.least_price
    without = lacking.expected_total_cost
    drawn_to = max(2 * values.price, least + 1.0)

    def cost(price: float) -> Cost:
        return values.at(1.0, deadline, price)

    def is_used(price: float) -> bool | None:
        return cost(price).beats(lacking)

    def curve(top: float) -> Curve:
        if not _is_concave_in_price(values.problem):
            return ()
        points = corners(lambda price: _exact(cost(price), deadline), least, top)
        return tuple((price, _exact(cost(price), deadline)) for price in points)

    try:
        if is_used(least) is False:
            return PriceUse("never", (None, None), least, True, curve(drawn_to), without)
        high = _unused_price(is_used, least, max(1.0, without or 0.0), deadline)
        if high is None:
            return PriceUse("always", (None, None), least, True, curve(drawn_to), without)
        if line := curve(high):
            at = next(price for price, _ in line if is_used(price) is False)
            line = tuple(point for point in line if point[0] <= at)
            line += ((max(drawn_to, 1.5 * at), _exact(lacking, deadline)),)
            return PriceUse("below", (at, at), least, True, line, without)
    except _NotProved:
        high = least + max(1.0, without or 0.0)
    _narrow(is_used, least, high, deadline)
    # V does not fall: what is proved at any price holds on its side of the threshold.
    low = max((price for price in values.prices() if is_used(price)), default=None)
    high = min((price for price in values.prices() if is_used(price) is False), default=None)
    verdict: Verdict = "unknown" if low is None or high is None else "below"
    return PriceUse(verdict, (low, high), least, False, (), without)


def _unused_price(
    is_used: Callable[[float], bool | None], least: float, step: float, deadline: Deadline
) -> float | None:
    """Return a price at which the feature is not used, or None: it is used at any price.

    Whoever pays the highest price that is tried with a probability above the tolerance pays more
    than the optimal policy costs without the feature.
    """
    top = step / TOLERANCE
    while (used := is_used(least + step)) is not False:
        if used is None or deadline.is_over:
            raise _NotProved
        if step >= top:
            return None
        step *= GROWTH
    return least + step


def _narrow(
    is_used: Callable[[float], bool | None], least: float, high: float, deadline: Deadline
) -> None:
    """Work out costs on both sides of the threshold, at most a cent apart if time suffices."""
    while is_used(high) is not False and not deadline.is_over and high < MAX_AMOUNT / GROWTH:
        high = least + GROWTH * (high - least)
    beyond = least
    if is_used(least):
        _, beyond = _edge(lambda price: is_used(price) is True, least, high, deadline)
    if is_used(high) is False and is_used(beyond) is not False:
        _edge(lambda price: is_used(price) is False, high, beyond, deadline)


def _edge(
    holds: Callable[[float], bool], inside: float, outside: float, deadline: Deadline
) -> tuple[float, float]:
    """Return two prices, at most a cent apart if time suffices: one where it holds, one not."""
    while abs(outside - inside) > CENT and not deadline.is_over:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside


def _along_stakes(values: _Values, deadline: Deadline) -> StakeUse:
    """Return at which stakes the feature is used, as far as that is proved in time."""

    def cost(factor: float) -> float:
        return _exact(values.at(factor, deadline), deadline)

    def cost_without(factor: float) -> float:
        return _exact(values.without(factor, deadline), deadline)

    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    ranges: list[tuple[float, float]] = []
    limit = 0.0
    try:
        for low, high in pairwise(FACTORS):
            mine = [(x, cost(x)) for x in corners(cost, low, high)]
            other = [(x, cost_without(x)) for x in corners(cost_without, low, high)]
            points = sorted({x for x, _ in (*mine, *other)})
            gaps = _at(points, other) - _at(points, mine)
            ties = np.array([tolerance(y) for y in _at(points, other)])
            is_used = gaps > ties
            for k in np.flatnonzero(is_used & (gaps < CLEAR * ties)).tolist():
                # An interpolated cost is only as precise as the tolerance.
                gaps[k] = cost_without(points[k]) - cost(points[k])
                is_used[k] = gaps[k] > ties[k]
            for k, (start, end) in enumerate(pairwise(points)):
                if is_used[k] or is_used[k + 1]:
                    goes_on = bool(ranges) and ranges[-1][1] == start
                    ranges.append((ranges.pop()[0] if goes_on else start, end))
            ours, theirs, limit = [*ours, *mine], [*theirs, *other], high
    except _NotProved:
        pass
    stake = values.stake
    at_most = ranges[0][0] * stake if ranges else None
    if at_most is None and values.at(1.0, deadline).beats(values.without(1.0, deadline)):
        at_most = stake
    return StakeUse(
        tuple((stake * low, stake * high) for low, high in ranges),
        stake * limit,
        at_most,
        limit == FACTORS[-1],
        tuple((stake * x, y) for x, y in ours),
        tuple((stake * x, y) for x, y in theirs),
    )


def _at(points: Sequence[float], curve: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    """Return the costs of a curve at some points."""
    return np.interp(points, [x for x, _ in curve], [y for _, y in curve])
