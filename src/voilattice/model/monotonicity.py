"""Do larger sets cost more? What Proposition 1 requires of prices, checked as far as possible.

Costs are monotone at evidence e if C(S' | e) <= C(S | e) whenever S' is a subset of S. It is enough
to compare each set with the set that has one feature more. The prices of a problem file are
monotone except for openers: features that cost less than they take off another feature of their
discount (`costs`). User-defined costs can do anything, so sets of them are priced and compared.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voilattice.errors import InputError
from voilattice.model.costs import CostModel, Pricing, format_set, price_set, pricing_of
from voilattice.ties import TOLERANCE, tolerance

__all__ = ["CostCheck", "check_monotone", "check_monotone_at"]

# The check of user-defined costs prices all sets, up to this many. If there are more sets, it
# compares this many pairs, to find a set that costs more than a superset.
MAX_CHECKED_SETS = 1 << 10
MAX_CHECKED_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class CostCheck:
    """Whether C(S' | e) <= C(S | e) for all S' in S, and what was checked."""

    monotone: bool  # no checked pair of sets violates it
    proved: bool  # every pair of sets was checked, or a violation was found
    checked: str

    def __str__(self) -> str:
        return self.checked


def check_monotone(
    costs: CostModel,
    states: Mapping[str, Sequence[str]],
    evidence: Mapping[str, str],
    *,
    seed: int = 0,
) -> CostCheck:
    """Look for a set of features that costs more than a superset of it, now or later.

    First the sets at the given evidence are compared (`check_monotone_at`), then as many pairs at
    random further evidence. A price that is negative or not finite is an error.

    Parameters
    ----------
    states
        The features and their states.
    evidence
        What is known from the start.
    """
    now = check_monotone_at(costs, tuple(states), evidence, seed=seed)
    if not now.monotone:
        return now
    if (pricing := pricing_of(costs)).is_sum:
        # A later price of a feature begins where its condition, and nothing else, becomes known.
        for _, when in pricing.conditions if pricing.counts_order else ():
            if all(evidence.get(feature, state) == state for feature, state in when):
                later = _check_openers(pricing, {**evidence, **dict(when)})
                if not later.monotone:
                    return later
        return now
    random_source = random.Random(seed)
    free = [feature for feature in states if feature not in evidence]
    n_further = min(_n_pairs(len(free)), MAX_CHECKED_PAIRS) if len(free) > 1 else 0
    for _ in range(n_further):
        observed = random_source.sample(free, random_source.randint(1, len(free) - 1))
        known = dict(evidence) | {f: random_source.choice(states[f]) for f in observed}
        unknown = [feature for feature in free if feature not in known]
        if found := _violation(costs, *_random_pair(unknown, random_source), known):
            return CostCheck(False, True, found)
    return CostCheck(True, now.proved, f"{now.checked} and {n_further} at random evidence")


def check_monotone_at(
    costs: CostModel,
    features: Collection[str],
    evidence: Mapping[str, str],
    *,
    seed: int = 0,
    max_pairs: int = MAX_CHECKED_PAIRS,
) -> CostCheck:
    """Look for a set of features that costs more than a superset of it, at this evidence alone.

    If there are few sets, all are priced. Otherwise random pairs are compared, which can refute
    monotonicity but not prove it.
    """
    if (pricing := pricing_of(costs)).is_sum:
        return _check_openers(pricing, evidence)
    free = [feature for feature in features if feature not in evidence]
    if price_set(costs, frozenset(), evidence) > tolerance(0.0):
        raise InputError("the cost of the empty set must be 0")
    n_pairs = _n_pairs(len(free))
    if 1 << len(free) > MAX_CHECKED_SETS:
        random_source = random.Random(seed)
        for _ in range(max_pairs):
            if found := _violation(costs, *_random_pair(free, random_source), evidence):
                return CostCheck(False, True, found)
        some = f"{max_pairs} of {n_pairs} pairs of sets at the initial evidence"
        return CostCheck(True, False, f"monotone on {some}")
    sets = [frozenset(f for k, f in enumerate(free) if s >> k & 1) for s in range(1 << len(free))]
    price = np.array([price_set(costs, s, evidence) for s in sets])
    for k, added in enumerate(free):
        without = np.flatnonzero(~np.arange(len(sets)) >> k & 1)
        # A sum in another order may differ in its last bits.
        more = price[without | 1 << k]
        dearer = without[price[without] > more + TOLERANCE * np.maximum(more, 1.0)]
        for s in dearer[:1].tolist():
            found = _violation(costs, added, sets[s], evidence)
            return CostCheck(False, True, found or "")
    return CostCheck(True, True, f"monotone on all {n_pairs} pairs of sets at the initial evidence")


def _check_openers(pricing: Pricing, evidence: Mapping[str, str]) -> CostCheck:
    """Look for a feature that costs less than it saves by opening a discount."""
    for sharing in pricing.unopened(evidence):
        if sharing.counts_order:
            opener = min(sharing.features, key=lambda feature: pricing.price(feature, evidence))
            mate = max(sharing.features, key=sharing.surcharges.__getitem__)
            if found := _violation(pricing, opener, frozenset({mate}), evidence):
                return CostCheck(False, True, found)
    return CostCheck(True, True, "monotone by construction")


def _n_pairs(n: int) -> int:
    """Return how many pairs (S without one feature, S) there are."""
    return n << max(n - 1, 0)


def _random_pair(free: Sequence[str], source: random.Random) -> tuple[str, frozenset[str]]:
    added = source.choice(free)
    others = [feature for feature in free if feature != added]
    return added, frozenset(source.sample(others, source.randint(0, len(others))))


def _violation(
    costs: CostModel, added: str, subset: frozenset[str], known: Mapping[str, str]
) -> str | None:
    """Return an error text if a set costs more than the set with one more feature, else None."""
    less, more = price_set(costs, subset, known), price_set(costs, subset | {added}, known)
    if less <= more + tolerance(more):
        return None
    smaller, larger = format_set(subset), format_set(subset | {added})
    where = f" at {dict(known)}" if known else ""
    return f"not monotone: {smaller} costs {less:.6g} and {larger} only {more:.6g}{where}"
