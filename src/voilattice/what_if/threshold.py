"""From which price, and from which stakes, the optimal policy uses a feature.

Let V be the cost of the optimal policy, and W that of the optimal policy of the problem in which
the feature X cannot be acquired. X is *used* if V < W; a tie counts as not used (`ties`).

**Price.** A policy π that pays the price p of X with probability b_π costs a_π + b_π p. So

    V(p) = min over π of  a_π + b_π p

is concave, piecewise linear and does not fall, and W does not depend on p. So X is used below one
price p*, and p* is a corner of V: from there on V(p) = W. Beyond a chord of V, the line of the
chord is on or above V. So X is used at all prices at which this line is below W, and if X is not
used where the line meets W, that price is p*: few values of V suffice to find it. If X has
conditional prices, X can be used without paying p; then V stays below W, and X is used at every
price. The price of a feature cannot be below what its discount takes off, so p starts there.

**Stakes.** With the misclassification costs times λ, a policy costs f_π + λ m_π: what it spends on
features, and λ times what wrong decisions cost. So V(λ) and W(λ) both are concave and piecewise
linear, and V <= W. Between two neighbours of the corners of both, V - W is linear. So it is 0
between them exactly if it is 0 at both, and X is used in a union of intervals whose ends are
corners. There may be several: where much is at stake, a dearer and better feature can replace X.

With a limit on spending, a higher price of X rules policies out. Then V(p) is no minimum of lines,
but it still does not fall, so X is used up to one price, and bisection finds it to a cent. X may be
used at this price too: where the limit allows just that price.

Corners, and intervals in which W - V is proved to be above 0, are found from values of V and W
alone (`concave_lines`). ``docs/what-if.md`` has the proofs. Where a value is not proved optimal in
time, there are only bounds on V and W. As V(p) does not fall, a price at which X is proved to be
used is below p*, and one at which X is proved not to be used is not. Then the answer is a bracket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voilattice import time_plan
from voilattice.budgets import Deadline, TimeLimit
from voilattice.model.costs import MAX_AMOUNT
from voilattice.model.problem import Evidence, Problem, check_problem
from voilattice.policy.interface import TIME_LIMIT, Cost
from voilattice.policy.sweep import Sweep
from voilattice.ties import TOLERANCE, tolerance
from voilattice.what_if.concave_lines import corners, least_gap
from voilattice.what_if.feature_use import CENT, Curve, PriceUse, StakeUse, Threshold, Verdict
from voilattice.what_if.optimal_values import (
    NotProved,
    OptimalValues,
    exact_cost,
    is_concave_in_price,
)

__all__ = ["find_threshold"]

GROWTH = 4.0  # how fast prices grow until the feature is not used
CLEAR = 10.0  # a difference of this many tolerances is no tie, even if it is interpolated

# Of the stakes: each interval is examined after the one before it.
FACTORS = (0.0, *(4.0**k for k in range(-1, 6)))
FINEST = 1 / 8  # of such an interval: all corners are found in what is still undecided then


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
    deadline = Deadline.of(time_limit)
    values = _Values(here, feature, progress)
    is_used = values.at(1.0, deadline).beats(values.without(1.0, deadline))
    prices = _along_prices(values, deadline.share(time_plan.PRICES))
    stakes = _along_stakes(values, deadline.share(time_plan.STAKES))
    prices = replace(prices, curve=_price_curve(values, prices, deadline))
    if not stakes.exact and not deadline.is_over:
        stakes = _along_stakes(values, deadline)  # goes on: all values are kept
    has_other_prices = any(name == feature for name, _ in here.pricing.conditions)
    return Threshold(
        feature, values.price, values.stake, is_used, prices, stakes, here.label(feature),
        here.currency, has_other_prices,
    )  # fmt: skip


class _Values(OptimalValues):
    """The optimal cost with a feature, and without it."""

    def __init__(
        self,
        problem: Problem,
        feature: str,
        progress: Callable[[int, str], None] | None,
    ) -> None:
        super().__init__(problem, feature, progress)
        assert self.price_now is not None
        self.price = self.price_now
        self._lacking = problem.without({feature})
        self._lacking_sweep = Sweep(self._lacking)

    def prices(self) -> list[float]:
        """Return the prices at which V is worked out, with the stakes as they are."""
        return [price for factor, price in self._found if factor == 1.0 and price is not None]

    def along_stakes(self, price: float | None) -> list[tuple[float, float]]:
        """Return the factors at which V, or W without a price, is proved, and its values there."""
        return sorted(
            (factor, cost.expected_total_cost)
            for (factor, at), cost in self._found.items()
            if at == price and cost.certificate.exact and cost.expected_total_cost is not None
        )

    def without(self, factor: float, deadline: Deadline) -> Cost:
        """Return W, the optimal cost without the feature, with the stakes times a factor."""
        return self._cost(self._lacking, factor, None, self._lacking_sweep, deadline)


def _along_prices(values: _Values, deadline: Deadline) -> PriceUse:
    """Return at which prices the feature is used, without the curve."""
    lacking, least = values.without(1.0, deadline), values.least_price
    without = lacking.expected_total_cost
    is_concave = is_concave_in_price(values.problem)

    def is_used(price: float) -> bool | None:
        return values.at(1.0, deadline, price).beats(lacking)

    try:
        if is_used(least) is False:
            return PriceUse("never", (None, None), least, True, (), without)
        high = _unused_price(is_used, least, max(1.0, without or 0.0), deadline)
        if high is None:
            return PriceUse("always", (None, None), least, True, (), without)
        if is_concave:
            at = _last_corner(values, least, high, deadline)
            return PriceUse("below", (at, at), least, True, (), without)
    except NotProved:
        high = least + max(1.0, without or 0.0)
    _narrow(is_used, least, high, deadline)
    # V does not fall: what is proved at any price holds on its side of the threshold.
    low = max((price for price in values.prices() if is_used(price)), default=None)
    high = min((price for price in values.prices() if is_used(price) is False), default=None)
    verdict: Verdict = "unknown" if low is None or high is None else "below"
    return PriceUse(verdict, (low, high), least, False, (), without, not is_concave)


def _price_curve(values: _Values, prices: PriceUse, deadline: Deadline) -> Curve:
    """Return V along prices, up to some price beyond the threshold; empty: not proved in time."""
    if not (prices.exact and is_concave_in_price(values.problem)):
        return ()

    def cost(price: float) -> float:
        return exact_cost(values.at(1.0, deadline, price), deadline)

    top = max(2 * values.price, prices.least + 1.0)
    at = prices.threshold
    try:
        points = corners(cost, prices.least, top if at is None else at)
        line = tuple((price, cost(price)) for price in points)
        if at is not None:
            line += ((max(top, 1.5 * at), exact_cost(values.without(1.0, deadline), deadline)),)
    except NotProved:
        return ()
    return line


def _last_corner(values: _Values, low: float, high: float, deadline: Deadline) -> float:
    """Return the price from which on a feature is not used. It is used at `low`, not at `high`.

    V is a minimum of lines. The line of a chord of V through two prices at which X is used meets W
    at a price up to which X is used. If X is not used there, this is the price. Otherwise
    bisection shortens the interval, and with it the chord.
    """
    lacking = values.without(1.0, deadline)
    without = exact_cost(lacking, deadline)

    def cost(price: float) -> float:
        return exact_cost(values.at(1.0, deadline, price), deadline)

    before, tries_chord = low, False
    while high - low > TOLERANCE * max(1.0, high):
        rise = cost(low) - cost(before)
        # A chord that hardly rises is not precise.
        by_chord = tries_chord and rise > CLEAR * tolerance(without)
        price = (low + high) / 2
        if by_chord:
            price = min(high, low + (without - cost(low)) * (low - before) / rise)
        if values.at(1.0, deadline, price).beats(lacking):
            before, low = low, price
        elif by_chord:
            return price
        else:
            high = price
        tries_chord = not tries_chord
    return high


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
            raise NotProved
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
        return exact_cost(values.at(factor, deadline), deadline)

    def cost_without(factor: float) -> float:
        return exact_cost(values.without(factor, deadline), deadline)

    ranges: list[tuple[float, float]] = []
    limit = 0.0
    try:
        for low, high in pairwise(FACTORS):
            finest = FINEST * (high - low)
            for start, end, is_used in _examine(cost, cost_without, low, high, finest):
                if is_used:
                    goes_on = bool(ranges) and ranges[-1][1] == start
                    ranges.append((ranges.pop()[0] if goes_on else start, end))
                limit = end
    except NotProved:
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
        tuple((stake * x, y) for x, y in values.along_stakes(values.price) if x <= limit),
        tuple((stake * x, y) for x, y in values.along_stakes(None) if x <= limit),
    )


def _examine(
    cost: Callable[[float], float],
    cost_without: Callable[[float], float],
    low: float,
    high: float,
    finest: float,
) -> Iterator[tuple[float, float, bool]]:
    """Yield intervals of factors from one to another, and whether the feature is used in each."""
    ties = CLEAR * tolerance(cost_without(high))

    def is_clear(factor: float) -> bool:
        return cost_without(factor) - cost(factor) > ties

    ends = is_clear(low), is_clear(high)
    if all(ends) and least_gap(cost, cost_without, low, high) > ties:
        yield low, high, True
        return
    if high - low <= finest or not any(ends):
        yield from _examine_corners(cost, cost_without, low, high)
        return
    middle = (low + high) / 2
    if not all(ends):
        # Beyond the edge of the use, fewer values may prove it: the edge is in a short part.
        middle, unused = (low, high) if ends[0] else (high, low)
        while abs(middle - unused) > finest:
            factor = (middle + unused) / 2
            middle, unused = (factor, unused) if is_clear(factor) else (middle, factor)
    if not low < middle < high:
        yield from _examine_corners(cost, cost_without, low, high)
        return
    for start, end, is_used in ((low, middle, ends[0]), (middle, high, ends[1])):
        if is_used:
            yield from _examine(cost, cost_without, start, end, finest)
        else:
            yield from _examine_corners(cost, cost_without, start, end)


def _examine_corners(
    cost: Callable[[float], float], cost_without: Callable[[float], float], low: float, high: float
) -> Iterator[tuple[float, float, bool]]:
    """Yield the same, from all corners of both costs."""
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
        yield start, end, bool(is_used[k] or is_used[k + 1])


def _at(points: Sequence[float], curve: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    """Return the costs of a curve at some points."""
    return np.interp(points, [x for x, _ in curve], [y for _, y in curve])
