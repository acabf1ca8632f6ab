r"""Where the first step of the optimum changes: along the price of a feature, or along the stakes.

V(p) and V(λ) are minima of lines, one for each policy (`threshold`). Between two neighbouring
corners of V they are one line. A policy that is optimal at some point between them has a line that
touches V there, so it is this line, and the policy is optimal all the way. So the first step at the
middle of each such interval is a first step of an optimum in the whole interval, and the advice can
change only at corners. From the present value the intervals are examined outwards, up and down,
until the first step is another one.

With a limit on spending, V(p) is no minimum of lines. Then the price is bracketed to a cent from
first steps at some prices, and a change between two of these that lasts for a short interval only
may be missed: the answer says "about".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from voilattice.budgets import Deadline, TimeLimit
from voilattice.consultation.standing import start_from
from voilattice.errors import InputError
from voilattice.model.problem import Evidence, Problem
from voilattice.policy.interface import TIME_LIMIT
from voilattice.valuation.valuation import emc
from voilattice.what_if.concave_lines import corners
from voilattice.what_if.feature_use import CENT
from voilattice.what_if.optimal_values import (
    NotProved,
    OptimalValues,
    exact_cost,
    is_concave_in_price,
)
from voilattice.wording import format_amount, join_names

__all__ = ["AdviceThreshold", "Change", "find_advice_threshold"]

FACTORS = tuple(4.0**k for k in range(6))  # of the stakes, up and down from the present ones
GROWTH = 2.0  # of the prices that are examined upwards
N_POINTS = 8  # prices in each interval, where V is no minimum of lines


@dataclass(frozen=True, slots=True)
class Change:
    """Where the first step changes, and to what."""

    at: float  # a price, or a factor of the stakes
    first: frozenset[str]  # empty: the optimum decides


@dataclass(frozen=True, slots=True)
class AdviceThreshold:
    """From where to where the first step of the optimum stays what it is."""

    along: Literal["price", "stakes"]
    feature: str | None  # whose price; None: along the stakes
    now: float  # the price now, or the factor 1
    first: frozenset[str]  # the first step now; empty: the optimum decides
    below: Change | None  # the next change below; None: there is none down to `low`
    above: Change | None
    low: float  # what was examined
    high: float
    exact: bool  # False: `low` and `high` are as far as the time sufficed, or changes are brackets
    stake: float  # a-priori EMC now: the stakes are told as multiples of it
    text: str


def find_advice_threshold(
    problem: Problem,
    evidence: Evidence | None = None,
    *,
    feature: str | None = None,
    unavailable: Collection[str] = (),
    given: Evidence | None = None,
    together: Collection[Collection[str]] = (),
    time_limit: TimeLimit = TIME_LIMIT,
    progress: Callable[[int, str], None] | None = None,
) -> AdviceThreshold:
    """Return where the first step of the optimum changes.

    Parameters
    ----------
    feature
        The feature whose price changes; None: all misclassification costs times a factor.
    unavailable, given, together
        As in `advise`.
    time_limit
        Seconds.
    progress
        Called with the number of values so far, and what they are along: "prices" or "stakes".

    >>> import voilattice
    >>> found = find_advice_threshold(voilattice.load_problem("asia"), feature="xray")
    >>> sorted(found.first), found.below, round(found.above.at, 2), sorted(found.above.first)
    (['xray'], None, 15.9, ['smoke'])
    >>> print(found.text.split(". ")[1])
    From 15.90 on it begins with smoke.
    """
    deadline = Deadline.of(time_limit)
    start = start_from(problem, evidence, unavailable=unavailable, given=given, together=together)
    here = start.problem.with_evidence(start.acquired)
    if feature is not None:
        here.check_acquirable([feature], here.evidence)
    search = _Search(here, feature, deadline, progress)
    try:
        first = search.first(search.now)
    except NotProved:
        raise InputError(
            "the problem is too large for the exact optimum in this time, so nobody knows where "
            "its first step changes",
        ) from None
    below, low = search.look(first, search.down())
    above, high = search.look(first, search.up())
    text = _describe(here, search, first, below, above, low, high)
    return AdviceThreshold(
        "stakes" if feature is None else "price", feature, search.now, first, below, above,
        low, high, search.is_exact, search.values.stake, text,
    )  # fmt: skip


class _Search:
    """Looks for a change, interval by interval."""

    def __init__(
        self,
        problem: Problem,
        feature: str | None,
        deadline: Deadline,
        progress: Callable[[int, str], None] | None,
    ) -> None:
        self.problem, self.feature, self._deadline = problem, feature, deadline
        self.values = OptimalValues(problem, feature, progress)
        self.now = 1.0 if self.values.price_now is None else self.values.price_now
        self._is_concave = feature is None or is_concave_in_price(problem)
        self.is_exact = self._is_concave

    def first(self, x: float) -> frozenset[str]:
        """Return the first step at a price, or at a factor."""
        if self.feature is None:
            return self.values.first(x, self._deadline)
        return self.values.first(1.0, self._deadline, x)

    def _cost(self, x: float) -> float:
        at = (x, self._deadline) if self.feature is None else (1.0, self._deadline, x)
        return exact_cost(self.values.at(*at), self._deadline)

    def down(self) -> Iterator[tuple[float, float]]:
        """Yield intervals from the present value down: the end that is nearer, and the other."""
        if self.feature is None:
            yield from pairwise([*(1 / x for x in FACTORS), 0.0])
        elif self.now > self.values.least_price:
            yield self.now, self.values.least_price

    def up(self) -> Iterator[tuple[float, float]]:
        """Yield intervals from the present value up."""
        if self.feature is None:
            yield from pairwise(FACTORS)
            return
        # A first step that costs more than deciding now is none; other features may follow on
        # that of the price for longer, so a few times this price is examined.
        top = GROWTH * max(self.now, emc(self.problem))
        x = self.now
        while x < top:
            further = min(top, max(GROWTH * x, x + 1.0))
            yield x, further
            x = further

    def look(
        self, first: frozenset[str], intervals: Iterator[tuple[float, float]]
    ) -> tuple[Change | None, float]:
        """Return the next change, and up to where there is no other."""
        reached = self.now
        try:
            for near, far in intervals:
                change = self._change_in(first, near, far)
                if change is not None:
                    return change, change.at
                reached = far
        except NotProved:
            self.is_exact = False
        return None, reached

    def _change_in(self, first: frozenset[str], near: float, far: float) -> Change | None:
        """Return the change in an interval that is nearest to its near end."""
        if self._is_concave:
            points = corners(self._cost, min(near, far), max(near, far))
        else:
            points = [near + k * (far - near) / N_POINTS for k in range(N_POINTS + 1)]
        points.sort(key=lambda x: abs(x - near))
        for start, end in pairwise(points):
            middle = (start + end) / 2 if self._is_concave else end
            then = self.first(middle)
            if then != first:
                return Change(start, then) if self._is_concave else self._narrow(first, start, end)
        return None

    def _narrow(self, first: frozenset[str], inside: float, outside: float) -> Change:
        """Return a change between two prices, to a cent."""
        then = self.first(outside)
        while abs(outside - inside) > CENT:
            middle = (inside + outside) / 2
            found = self.first(middle)
            if found == first:
                inside = middle
            else:
                outside, then = middle, found
        return Change(outside, then)


def _describe(
    problem: Problem,
    search: _Search,
    first: frozenset[str],
    below: Change | None,
    above: Change | None,
    low: float,
    high: float,
) -> str:
    """Return where the first step changes, in words."""
    feature, about = search.feature, "" if search.is_exact else "about "

    def amount(x: float) -> str:
        return format_amount(x if feature else x * search.values.stake, problem.currency)

    def does(step: frozenset[str]) -> str:
        names = join_names([problem.label(f) for f in step], "and")
        return f"begins with {names}" if step else "decides at once"

    what = f"the price of {problem.label(feature)}" if feature else "the stakes"
    said = [f"At {what} now, {amount(search.now)}, the optimum {does(first)}."]
    if below is not None:
        said.append(f"Below {about}{amount(below.at)} it {does(below.first)}.")
    if above is not None:
        said.append(f"From {about}{amount(above.at)} on it {does(above.first)}.")
    if below is None and above is None:
        said.append(f"That does not change between {amount(low)} and {amount(high)}.")
    elif above is None:
        said.append(f"Up to {amount(high)} nothing else changes.")
    elif below is None and low > search.values.least_price * bool(feature):
        said.append(f"Less than {amount(low)} was not examined.")
    return " ".join(said)
