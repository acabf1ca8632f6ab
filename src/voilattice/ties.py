"""One rule for ties, used wherever sets of features compete.

A higher benefit wins. If benefits are equal, the set with fewer features wins, then the cheaper
set. If these are equal too, take the first feature, in the problem's order, that only one of the
two sets contains: the set that contains it wins.

Amounts count as equal if they differ by less than a tolerance relative to what is at stake
(`tolerance`). So the choice is the same on every machine, and in every unit of money that makes
the stake 1 or more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

__all__ = ["TOLERANCE", "Offer", "tolerance", "winner"]

TOLERANCE = 1e-9

_T = TypeVar("_T")


def tolerance(stake: float) -> float:
    """Return the difference below which amounts are equal; `stake` is the largest amount."""
    return TOLERANCE * max(1.0, stake)


class Offer(NamedTuple):
    """A set of features to compare with others, as a bitmask in the problem's order."""

    benefit: float
    cost: float
    mask: int

    def beats(self, other: Offer, tol: float) -> bool:
        """Return whether this set is preferred to another one."""
        if abs(self.benefit - other.benefit) > tol:
            return self.benefit > other.benefit
        if self.mask.bit_count() != other.mask.bit_count():
            return self.mask.bit_count() < other.mask.bit_count()
        if abs(self.cost - other.cost) > tol:
            return self.cost < other.cost
        differ = self.mask ^ other.mask
        return bool(self.mask & differ & -differ)


def winner(items: Iterable[_T], offer: Callable[[_T], Offer], tol: float) -> _T:
    """Return the item whose offer wins.

    The highest benefit is found first. Then the rule decides among the items that have it, so the
    order of the items does not matter.
    """
    every = [(offer(item), item) for item in items]
    highest = max(made.benefit for made, _ in every)
    best, chosen = next((made, item) for made, item in every if made.benefit >= highest - tol)
    for made, item in every:
        if made.benefit >= highest - tol and made._replace(benefit=0).beats(
            best._replace(benefit=0), tol
        ):
            best, chosen = made, item
    return chosen
