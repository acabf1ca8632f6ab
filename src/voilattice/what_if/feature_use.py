"""At which prices, and at which stakes, the optimal policy uses a feature: results, in words too.

`threshold` finds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from voilattice.wording import format_amount

__all__ = ["CENT", "Curve", "PriceUse", "StakeUse", "Threshold", "Verdict"]

CENT = 0.01  # a bracket that is no wider counts as found

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
    may_end_inside
        Whether the feature may be used at the threshold too: there is a limit on spending.
    """

    verdict: Verdict
    bracket: tuple[float | None, float | None]
    least: float
    exact: bool
    curve: Curve
    without: float | None
    may_end_inside: bool = False

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
        The cost of the optimal policy along stakes, up to the limit: at the stakes worked out.
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
    has_other_prices: bool = False  # conditional ones, so that the price is not always paid

    @property
    def saving(self) -> float | None:
        """What it saves to be able to acquire the feature, as things are; None: not proved."""
        without, points = self.prices.without, self.prices.curve
        if without is None or not points:
            return None
        prices, costs = zip(*points, strict=True)
        return without - float(np.interp(self.price, prices, costs))

    @property
    def share(self) -> float | None:
        """In which share of cases the optimal policy acquires the feature; None: not known.

        The cost of the optimal policy rises along the price by the probability that it is paid.
        Where two policies cost the same, the share is that of the one that acquires it less often.
        """
        if self.has_other_prices or not self.is_used:
            return None
        for (low, cost), (high, later) in pairwise(self.prices.curve):
            if low <= self.price < high:
                return min(max((later - cost) / (high - low), 0.0), 1.0)
        return None

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
            return f"{name} is worth buying {self._describe_end(found.threshold)}."
        low, high = found.bracket
        known = [] if low is None else [f"is worth buying at {self._amount(low)} or less"]
        known += [] if high is None else [f"is not worth buying at {self._amount(high)} or more"]
        return f"{name} {' and '.join(known) or 'may be worth buying'}: the rest is not proved."

    def _describe_end(self, threshold: float) -> str:
        """Return up to which price a feature is worth buying, in words."""
        if self.prices.exact:
            return f"below {self._amount(threshold)}"
        if self.prices.bracket[1] == self.price:  # proved not to be used at the present price
            return f"below {self._amount(self.price)}"
        until = "up to" if self.prices.may_end_inside else "below"
        return f"{until} about {self._amount(threshold)}"

    def describe_use(self) -> str:
        """Return how often the feature is used and what that saves, in words; empty: not known."""
        saving, share = self.saving, self.share
        if not self.is_used or saving is None:
            return ""
        saves = f"saves {self._amount(saving)} against not being able to have it"
        if share is None:
            return f"At its price now it {saves}."
        percent = 100 * share
        cases = f"{percent:.0f} % of cases" if percent >= 1 else "less than 1 % of cases"
        return f"At {self._amount(self.price)} it is acquired in {cases} and {saves}."

    def describe_stakes(self) -> str:
        """Return what holds of stakes, in words."""
        now, found = f"(now {self._amount(self.stake)})", self.stakes
        limit = self._amount(found.limit)
        more = "" if found.exact else f" More than {limit} was not examined."
        if not found.exact and not found.ranges and (found.at_most is not None or not found.limit):
            is_used = {True: "is", False: "is not", None: "may be"}[self.is_used]
            below = f" It is not used at any stakes up to {limit}." if found.limit else ""
            return (
                f"It {is_used} used at the present stakes, {self._amount(self.stake)}.{below} "
                f"There was no time to examine other stakes."
            )
        if not found.ranges:
            return f"It is not used at any stakes up to {limit} {now}.{more}"
        said = [
            f"from {self._amount(start)} "
            + ("on" if found.exact and end >= found.limit else f"to {self._amount(end)}")
            for start, end in found.ranges
        ]
        is_beyond = self.is_used and found.limit < self.stake
        return f"It is used at stakes {' and '.join(said)} {now}.{more}" + (
            " It is used at the present stakes." if is_beyond else ""
        )

    def _amount(self, amount: float) -> str:
        return format_amount(amount, self.currency)
