"""Bundles: sets of features that can be cheaper together than one by one.

With the prices of a problem file, buying one by one in the right order costs no more than buying
together, and each result can guide the next step. The right order has these rules:

- a feature comes before the features that its price depends on, or that its `not_if` names,
- it comes after the features that its `after` names,
- the cheapest to be the first of a discount comes before the others that need not precede it.

The one exception is rules that go round in a cycle: if knowing A makes B more expensive and knowing
B makes A more expensive, then buying both at once may be cheaper than either order. If A comes
after B, and is not acquired if B is high, then both at once are possible, but B first may close A.
Such sets are *bundles*, and a step of the optimal policy may have to acquire a bundle. Blocks and
plain tables have steps of single features only. Problems with bundles are solved over steps that
acquire sets (`batches`), or by a search that also tries bundles (`ao_star`).

With user-defined prices, any set can be a bundle. Where rounds count, because each has a price or
there is a limit on them, any set can be cheaper together too.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.problem import Problem
from voilattice.policy.relevance import price_conditions

__all__ = ["MAX_OWN_PRICES", "bundles_of"]

MAX_CIRCLE = 12
MAX_OWN_PRICES = 8  # with user-defined prices, all sets of up to this many features are tried


def bundles_of(problem: Problem) -> list[int]:
    """Return the sets of features that can be cheaper together than in any order, as masks.

    In such a set, every feature must come before every other, directly or indirectly. With
    user-defined prices, any set can be such a set.
    """
    if not problem.pricing.is_sum:
        n = len(problem.features)
        return [s for s in range(1 << n) if s.bit_count() > 1] if n <= MAX_OWN_PRICES else []
    named, dearer = _successors(problem), _dearer_mates(problem)
    after = {k: named.get(k, 0) | dearer.get(k, 0) for k in named.keys() | dearer.keys()}
    every = mask_of(after)
    reached = {k: _reached(k, after, every) for k in after}
    circles = {
        frozenset(j for j in after if reached[k] >> j & 1 and reached[j] >> k & 1) for k in after
    }
    found = []
    for circle in circles:
        if len(circle) > MAX_CIRCLE:
            names = ", ".join(problem.features[k] for k in sorted(circle))
            raise TooLargeError(
                f"the prices of {names} depend on each other in a cycle; "
                f"at most {MAX_CIRCLE} such features are supported"
            )
        for size in range(2, len(circle) + 1):
            for members in combinations(sorted(circle), size):
                inside = mask_of(members)
                # Only the cheapest to be the first of a discount must come before its mates.
                later = mask_of(j for k in members for j in bits(dearer.get(k, 0)))
                after_in = {k: named.get(k, 0) if later >> k & 1 else after[k] for k in members}
                if all(_reached(k, after_in, inside) == inside for k in members):
                    found.append(inside)
    return sorted(found)


def _successors(problem: Problem) -> dict[int, int]:
    """Return, for each feature, those that come after it: constraints and prices say so."""
    found = dict(price_conditions(problem))
    e = problem.feature_mask(problem.evidence)
    for k, mask in problem.feasibility.not_if.items():
        found[k] = found.get(k, 0) | mask
    for k, mask in problem.feasibility.after.items():
        for j in bits(mask):
            found[j] = found.get(j, 0) | 1 << k
    return {k: mask & ~e for k, mask in found.items()}


def _dearer_mates(problem: Problem) -> dict[int, int]:
    """Return, for each feature, the mates that cost more to be the first of their discount."""
    found: dict[int, int] = {}
    e = problem.feature_mask(problem.evidence)
    for sharing in problem.pricing.unopened(problem.evidence):
        surcharges = sharing.surcharges
        for feature, surcharge in surcharges.items():
            must = problem.feature_names(
                problem.feasibility.closure(problem.feature_mask({feature}), e)
            )
            mates = [
                mate for mate, more in surcharges.items() if more > surcharge and mate not in must
            ]
            if mates:
                found[problem.features.index(feature)] = problem.feature_mask(mates)
    return found


def _reached(k: int, after: Mapping[int, int], inside: int) -> int:
    """Return the features of a set that must come after a feature, directly or indirectly."""
    found, stack = 0, [k]
    while stack:
        more = after[stack.pop()] & inside & ~found
        found |= more
        stack += bits(more)
    return found
