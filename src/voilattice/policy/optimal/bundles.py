"""Bundles: sets of features that can be cheaper together than one by one.

With the prices of a problem file, one by one costs no more than together, and tells more on the
way, unless prices depend on each other in a circle: when knowing A makes B dearer and knowing B
makes A dearer, both at once may be cheaper than either order. Such sets are *bundles*, and a step
of the optimal policy may have to acquire one. The exact solver acquires single features; problems
with bundles go to the search (`ao_star`), which tries them.

With prices of a user's own any set can be a bundle.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.costs import FeatureCosts
from voilattice.model.problem import Problem
from voilattice.policy.relevance import price_conditions

__all__ = ["MAX_OWN_PRICES", "bundles_of"]

MAX_CIRCLE = 12
MAX_OWN_PRICES = 8  # features with prices of a user's own, all of whose sets are tried


def bundles_of(problem: Problem) -> list[int]:
    """Return the sets of features that can be cheaper together than in any order, as masks.

    These are the sets in which the price of each depends on another, in a circle. With prices of
    a user's own any set can be one.
    """
    if not isinstance(problem.costs, FeatureCosts):
        n = len(problem.features)
        return [s for s in range(1 << n) if s.bit_count() > 1] if n <= MAX_OWN_PRICES else []
    named = price_conditions(problem)
    every = mask_of(named)
    reached = {k: _reached(k, named, every) for k in named}
    circles = {
        frozenset(j for j in named if reached[k] >> j & 1 and reached[j] >> k & 1) for k in named
    }
    found = []
    for circle in circles:
        if len(circle) > MAX_CIRCLE:
            names = ", ".join(problem.features[k] for k in sorted(circle))
            raise TooLargeError(f"the prices of {names} depend on each other; too many for a proof")
        for size in range(2, len(circle) + 1):
            for members in combinations(sorted(circle), size):
                inside = mask_of(members)
                if all(_reached(k, named, inside) == inside for k in members):
                    found.append(inside)
    return sorted(found)


def _reached(k: int, named: Mapping[int, int], inside: int) -> int:
    """Return what the price of a feature depends on, directly or not, within a set."""
    found, stack = 0, [k]
    while stack:
        more = named[stack.pop()] & inside & ~found
        found |= more
        stack += bits(more)
    return found
