"""Rules: what a policy acquires in a situation (paper, Sections 3.4 and 4.2).

    none             nothing
    markov-blanket   the acquirable core: all that can be known about Y now
    greedy           the feature of highest Benefit(X | e), while this is positive       (Eq. 4)
    greedy-la        while the highest Benefit(S | e) (Eq. 7) is positive: from that set S,
                     the feature of highest Benefit(X | e), even if this is negative, of those
                     that can come first in a cheapest order (with discounts, not all can)
    batch            the whole set of highest Benefit(S | e), while this is positive

All sets are feasible and keep to the limits (`model.acquisition`).

A rule takes a `Situation` and returns the features to acquire together, as a mask; 0 decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from voilattice.feature_sets import bits
from voilattice.policy.situation import Situation

__all__ = ["Rule", "batch", "greedy", "greedy_la", "markov_blanket", "none"]

Rule: TypeAlias = Callable[[Situation], int]


def none(situation: Situation) -> int:
    """Acquire nothing."""
    return 0


def markov_blanket(situation: Situation) -> int:
    """Acquire the core of all features that can be acquired now, with what must come before them.

    Once it is known, the core of the rest is empty. With constraints, more may become possible
    then. With limits, features are taken in the problem's order as long as the limits allow.
    """
    problem, graph = situation.builder.problem, situation.builder.relevance.graph
    e, feasibility = problem.feature_mask(situation.known), problem.feasibility
    core = graph.core(feasibility.largest(situation.known), e)
    chosen = 0
    for k in bits(core):
        more = chosen | feasibility.closure(1 << k, e)
        price = situation.builder.cost(more, situation.known)
        if not situation.left or situation.left.allows(price, more.bit_count()):
            chosen = more
    return chosen


def greedy(situation: Situation) -> int:
    """Acquire the feature of highest benefit, while that is positive."""
    chosen = situation.best_single(situation.alone)
    if chosen is None or situation.value(1 << chosen).benefit <= situation.tol:
        return 0
    return 1 << chosen


def greedy_la(situation: Situation) -> int:
    """Acquire, of the set of highest benefit, the feature of highest benefit that can be first."""
    # The best set is empty unless its benefit is positive; then there is no feature to choose.
    chosen = situation.best_single(situation.firsts(situation.best()) & situation.alone)
    return 0 if chosen is None else 1 << chosen


def batch(situation: Situation) -> int:
    """Acquire the whole set of highest benefit."""
    return situation.best()  # empty unless its benefit is positive
