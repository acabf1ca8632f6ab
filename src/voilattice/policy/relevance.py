r"""What still matters at some evidence: the state of a policy.

At evidence e over E let R be the features that can still matter, and K the part of E that still
matters. By the theorem of ``docs/optimal.md``, all that follows depends only on the *state key*

    (R, e_K, the groups and discounts already opened that have members in R, the limits left).

The exact solver, the policies of rules and the search all identify states by this key.

R. A feature can matter if it can tell something about Y: a walk from Y reaches the feature, with E
known and any other features possibly known (`Graph.reachable`). A feature can also matter because
the price of a member of R depends on it. Then every feature that can tell something about this
feature matters too: R is closed under walks from the features that prices depend on. Last, a
feature that says nothing can matter because it opens a discount: it costs less than it takes off a
member of R (an *opener*; `price_openers`), or because it must come before a member of R (its
constraint `after` names it: an *unlocker*). What the value of such a feature is does not matter,
unless `not_if` of a member of R names it: then the value may close that member. The value of a
feature that `only_if` names matters, as that of a feature that a price depends on.

K. Flood from Y and R together, keep the members of E that touch the flood, and repeat with the kept
members until nothing changes. Then E \ K is d-separated from Y and R given K. (The flood starts
from openers and unlockers too, although their values do not matter: so all evidence of a state
gives their outcomes the same probabilities.) A known feature stays in K if the price of a member of
R depends on it, or `only_if` or `not_if` of a member of R names it. A feature that only `not_if`
names need not be in R: nobody buys it, and while it is unknown it closes nothing.

Limits. What is left of the limits is a part of the key. Limits that can no longer bind are left
out: R has no more features than they allow, and all of R costs no more.

User-defined prices may depend on anything. Then R is all that is unknown, and K all that is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from voilattice.feature_sets import bits, mask_of
from voilattice.lattice.independence import Graph, graph_of
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.problem import Problem

__all__ = [
    "Relevance",
    "StateKey",
    "price_conditions",
    "price_openers",
    "screen",
    "step_conditions",
    "without_idle_limits",
]


class StateKey(NamedTuple):
    """The key of a state: situations with equal keys are one state."""

    relevant: int  # R
    values: tuple[tuple[int, str], ...]  # e_K: features by number, and their states
    paid: int  # the groups and discounts opened that have members in R, as a mask
    left: PathLimits = NO_LIMITS  # the limits that can still bind


class Relevance:
    """What still matters in a problem, at any evidence. Sets of features are masks.

    A group here is a group or a discount of the problem file. It is paid for, or open, once a
    member is known.

    Parameters
    ----------
    forgets
        Whether evidence that no longer matters is left out of the key. A user-defined rule may
        depend on all evidence.
    """

    def __init__(self, problem: Problem, *, forgets: bool = True) -> None:
        self.problem, self.graph = problem, graph_of(problem)
        pricing = problem.pricing
        self._forgets = forgets and pricing.is_sum
        self.conditions = step_conditions(problem)
        self.unlockers = problem.feasibility.after
        self._locks = problem.feasibility.not_if
        self.openers = price_openers(problem)
        self.groups = tuple(problem.feature_mask(group.features) for group in pricing.sharings)
        self._found: dict[int, tuple[int, int]] = {}

    def what_matters(
        self, e: int, free: int | None = None, paid: int | None = None
    ) -> tuple[int, int]:
        """Return R and K when E is known.

        `free` are the features that can be acquired, by default all outside E. `paid` are the
        groups that are open, by default those with a member in E.
        """
        if free is not None:
            return self._what_matters(e, free, self.groups_touched(e) if paid is None else paid)
        if e not in self._found:
            found = self.graph.all & ~e, e
            if self._forgets:
                found = self._what_matters(e, found[0], self.groups_touched(e))
            self._found[e] = found
        return self._found[e]

    def _what_matters(self, e: int, free: int, paid: int) -> tuple[int, int]:
        graph = self.graph
        openers = {
            k: mates for k, mates in self.openers.items() if not self.groups_touched(1 << k) & paid
        }
        sources, before = 1 << graph.target, 0
        while sources != before:
            before = sources
            telling = graph.reachable(e, free, sources) & free
            relevant = self._with_helpers(telling, free, openers)
            named = 0  # the features that the steps of R depend on
            for k in bits(relevant):
                named |= self.conditions.get(k, 0)
            locking = self.locking(relevant)
            sources |= graph.nodes((named | locking & relevant) & free)
        needed = (named | locking) & e
        kept = _touching(graph, 1 << graph.target | graph.nodes(relevant), e, needed)
        return relevant, kept

    def _with_helpers(self, telling: int, free: int, openers: Mapping[int, int]) -> int:
        """Return the features that tell something, with their openers and unlockers."""
        relevant, before = telling, 0
        while relevant != before:
            before = relevant
            relevant |= free & mask_of(k for k, mates in openers.items() if mates & relevant)
            for k in bits(relevant):
                relevant |= self.unlockers.get(k, 0) & free
        return relevant

    def locking(self, relevant: int) -> int:
        """Return the features that `not_if` of a member of R names."""
        found = 0
        for k, mask in self._locks.items():
            found |= mask if relevant >> k & 1 else 0
        return found

    def groups_touched(self, features: int) -> int:
        """Return the groups with a member among the features, as a mask of groups."""
        return mask_of(g for g, members in enumerate(self.groups) if members & features)

    def groups_paid(self, bought: int, relevant: int) -> int:
        """Return the groups that were paid for with `bought` and have members in R."""
        return self.groups_touched(bought) & self.groups_touched(relevant)

    def limits_that_bind(self, left: PathLimits, relevant: int) -> PathLimits:
        """Return what is left of the limits, without those that R cannot exceed."""
        if not left:
            return NO_LIMITS
        most_spent = self.problem.pricing.most_spent(self.problem.feature_names(relevant))
        return left.that_bind(relevant.bit_count(), most_spent)

    def key(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> StateKey:
        """Return the state key of the evidence `known`, which includes the problem's own."""
        e = self.problem.feature_mask(known)
        relevant, kept = self.what_matters(e)
        values = tuple((k, known[self.problem.features[k]]) for k in bits(kept))
        paid = self.groups_paid(e, relevant)
        return StateKey(relevant, values, paid, self.limits_that_bind(left, relevant))


def without_idle_limits(problem: Problem) -> Problem:
    """Return a problem without the limits that no policy can exceed: their optimum is the same."""
    if not problem.limits:
        return problem
    relevance = Relevance(problem)
    relevant, _ = relevance.what_matters(problem.feature_mask(problem.evidence))
    return replace(problem, limits=relevance.limits_that_bind(problem.limits, relevant))


def step_conditions(problem: Problem) -> dict[int, int]:
    """Return, for each feature number, the mask of the features whose values a step depends on.

    They are what its price depends on, and what `only_if` names.
    """
    found = dict(price_conditions(problem))
    for k, mask in problem.feasibility.only_if.items():
        found[k] = found.get(k, 0) | mask
    return found


def price_conditions(problem: Problem) -> dict[int, int]:
    """Return, for each feature number, the mask of the features that its price depends on."""
    found: dict[int, int] = {}
    for feature, when in problem.pricing.conditions:
        k = problem.features.index(feature)
        found[k] = found.get(k, 0) | problem.feature_mask(f for f, _ in when)
    return found


def price_openers(problem: Problem) -> dict[int, int]:
    """Return, for each opener, the mask of the features that it can make cheaper than it costs.

    It costs at least its least price over all evidence. A group has no openers: whoever opens it
    pays its overhead, and saves no more.
    """
    found: dict[int, int] = {}
    pricing = problem.pricing
    for discount in pricing.sharings:
        surcharges = discount.surcharges if discount.counts_order else {}
        for feature, off in surcharges.items():
            price = pricing.least_own_price(feature, problem.evidence) + off
            if mates := [mate for mate, saved in surcharges.items() if saved > price]:
                found[problem.features.index(feature)] = problem.feature_mask(mates)
    return found


def screen(graph: Graph, features: int, e: int) -> int:
    """Return the part of E that separates the rest of E from some features outside E."""
    return _touching(graph, graph.nodes(features), e, 0)


def _touching(graph: Graph, sources: int, e: int, needed: int) -> int:
    """Return a part of E, with `needed`, that separates the rest of E from the sources."""
    kept, before = e, -1
    while kept != before:
        touched = graph.moral.flood(sources, graph.nodes(kept))
        before = kept
        kept = needed | mask_of(k for k in bits(kept) if touched >> graph.features[k] & 1)
    return kept
