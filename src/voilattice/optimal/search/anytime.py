"""The best policy that can be found in time, with a bound, for problems that cannot be solved.

Quick policies come first: greedy's (`quick_start`), whose most probable states are worked out
whatever time is left, and the first states of greedy-la's. The cheaper one is kept, and the result
never costs more. Then a search (`search`) gets a part of the time for its lower bounds, a part for
larger policies to start from, and the rest for its trials. Problems that it does not support
(prices of your own, cyclic prices, extreme probabilities, limits, rounds) are left to a search that
supports all of them, and is far slower (`ao_star`).

Limits and rounds can be left out for a lower bound. Every policy that keeps to the limits is a
policy without them. If it acquires anything, it pays for a round. So with c the cost of a round and
v* the optimum without limits and rounds,

    v(e) >= min( EMC(e),  c + v*(e) ).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Protocol, TypeAlias

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.engines import is_loaded, use_engine
from voilattice.errors import TooLargeError
from voilattice.kernel_cache import are_ready
from voilattice.model.acquisition import NO_LIMITS
from voilattice.model.problem import Problem
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.optimal.search import ao_star
from voilattice.optimal.search.trials import Search
from voilattice.policy.builder import PolicyBuilder
from voilattice.policy.policy import Acquisition, Certificate, Leaf, Policy
from voilattice.policy.rules import greedy, greedy_la, markov_blanket
from voilattice.policy.situation import Situation
from voilattice.ties import tolerance
from voilattice.valuation.valuation import emc

__all__ = ["Found", "quick_start", "search_optimum"]


MAX_QUICK_STATES = 20_000  # of a policy to start from
# Greedy's policy gets all the time for its first states, and the very first even if time is up.
# Greedy-la's has no more than these first states.
FIRST_STATES = 256
SURE_STATES = 64
# To load the compiled search, or to compile it first; with less time the slower one begins at once.
SECONDS_TO_LOAD = 3.0
SECONDS_TO_COMPILE = 30.0

Progress: TypeAlias = Callable[[int, tuple[float, float]], bool | None]


class Found(Protocol):
    """What a search has found."""

    @property
    def upper(self) -> float:
        """What the best policy found costs."""
        ...

    @property
    def action(self) -> int:
        """What this policy acquires first, as a mask; 0: it decides."""
        ...

    @property
    def certificate(self) -> Certificate:
        """What is known about this policy."""
        ...

    def policy(self, name: str) -> Policy:
        """Return this policy."""
        ...


def quick_start(problem: Problem, *, deadline: Deadline, max_states: int) -> Policy:
    """Return greedy's policy, or its most probable states if there are many.

    Greedy needs no compiled code and little time. `SURE_STATES` of its states are worked out even
    if the time is up, and at most `max_states`.
    """
    builder = PolicyBuilder(
        problem, max_states=min(FIRST_STATES, max_states), sure_states=SURE_STATES,
        deadline=deadline.share(1 - time_plan.WRITING),
    )  # fmt: skip
    # To load compiled code takes longer than these states.
    with nullcontext() if is_loaded() else use_engine("python"):
        policy = builder.build("start", greedy)
    if policy.status != "memory" or max_states <= FIRST_STATES or deadline.is_over:
        return policy
    larger = _quick_policy(problem, greedy, deadline.share(time_plan.QUICK_POLICY), max_states)
    return min(larger, policy, key=lambda either: either.expected_total_cost)


def search_optimum(
    problem: Problem,
    rules: Sequence[Callable[[Situation], int]],
    *,
    first: Policy | None,
    deadline: Deadline,
    max_states: int,
    writes: bool = True,
    progress: Progress | None = None,
) -> Found:
    """Search for the optimum until it is proved or the time is up.

    Parameters
    ----------
    rules
        The rules of the policies to start from, besides greedy, the best set and the blanket.
    first
        The policy of `quick_start`: what is found costs no more. None: only a bound is wanted.
    max_states
        The most states of a policy that is written down.
    writes
        Whether the policy will be written down. This takes a part of the time.
    """
    until = deadline.share(1 - time_plan.WRITING) if writes else deadline
    if first is not None:
        if until.is_over:
            return _QuickResult(first, "time")
        first = _look_ahead(problem, first, until.share(time_plan.QUICK_POLICY), max_states)
    if (search := _new_search(problem, until)) is None:
        try:
            at_least = _bound_without_limits(problem, until.share(time_plan.BOUND))
            return ao_star.Search(
                problem, (greedy, *rules), first=first, deadline=deadline, until=until,
                max_states=max_states, progress=progress, at_least=at_least,
            )  # fmt: skip
        except TooLargeError:
            if first is None:
                raise
            return _QuickResult(first, "memory")
    search.reveal(until.share(time_plan.BOUND))
    if not search.is_settled:
        search.repeat(until.share(time_plan.BOUND))
    if first is not None:
        search.start_from(first, until.share(time_plan.START))
    for rule in (*rules, _best_set, markov_blanket):
        if not search.is_settled:
            part = until.share(time_plan.START)
            search.start_from(_quick_policy(problem, rule, part.share(time_plan.START_RULE)), part)
    search.run(until, progress=progress)
    return _SearchResult(search, deadline, max_states)


def _new_search(problem: Problem, until: Deadline) -> Search | None:
    """Return a search over a join tree; None: not for this problem, or no time to load it."""
    left = until.seconds_left
    if left is not None and left < _seconds_to_start():
        return None
    try:
        return Search(problem)
    except TooLargeError:
        return None


def _seconds_to_start() -> float:
    """Return the time that the compiled search needs before its first trial."""
    if not are_ready("search"):
        return SECONDS_TO_COMPILE
    return 0.0 if is_loaded() else SECONDS_TO_LOAD


def _look_ahead(problem: Problem, first: Policy, deadline: Deadline, max_states: int) -> Policy:
    """Return the first states of greedy-la's policy if they cost less than a first policy."""
    with nullcontext() if is_loaded() else use_engine("python"):
        try:
            policy = _quick_policy(problem, greedy_la, deadline, min(max_states, FIRST_STATES))
        except TooLargeError:
            return first
    return min(first, policy, key=lambda either: either.expected_total_cost)


def _bound_without_limits(problem: Problem, deadline: Deadline) -> float:
    """Return what every policy costs at least, from the problem without limits and rounds."""
    pricing = problem.pricing
    if not pricing.is_sum or not (problem.limits or pricing.round_cost):
        return 0.0
    free = replace(problem, limits=NO_LIMITS, costs=pricing.without_rounds())
    try:
        space = find_states(free, deadline=deadline.share(time_plan.BOUND_BY_EXACT))
        solution = solve_exactly(space, free, choices=False, deadline=deadline)
        least = max(solution.expected_total_cost - solution.error({}), 0.0)
    except TooLargeError:
        result = search_optimum(free, (), first=None, deadline=deadline, max_states=1, writes=False)
        least = result.certificate.lower_bound or 0.0
    return min(emc(problem), pricing.round_cost + least)


def _best_set(situation: Situation) -> int:
    """Acquire the set of highest benefit at once, then decide."""
    at_root = len(situation.known) == len(situation.builder.problem.evidence)
    return situation.best() if at_root else 0


def _quick_policy(
    problem: Problem,
    rule: Callable[[Situation], int],
    deadline: Deadline,
    max_states: int = MAX_QUICK_STATES,
) -> Policy:
    most = min(max_states, MAX_QUICK_STATES)
    return PolicyBuilder(problem, max_states=most, deadline=deadline).build("start", rule)


class _QuickResult:
    """A quick policy alone: there was no time or no memory for a search."""

    def __init__(self, policy: Policy, short_of: str) -> None:
        self._policy, self._short_of = policy, short_of

    @property
    def upper(self) -> float:
        return self._policy.expected_total_cost

    @property
    def action(self) -> int:
        root = self._policy.root
        names = root.features if isinstance(root, Acquisition) else ()
        return self._policy.problem.feature_mask(names)

    @property
    def certificate(self) -> Certificate:
        policy = self._policy
        told = policy.problem.misclassification.min(axis=0)
        least = math.fsum(
            p * float(told @ node.posterior)
            for p, node in zip(policy.reach_probabilities, policy.nodes, strict=True)
            if isinstance(node, Leaf)
        )
        note = (
            f"The bound is of deciding with the class known: there was no {self._short_of} for a "
            f"search."
        )
        return Certificate(min(least, self.upper), False, self._short_of, note)

    def policy(self, name: str) -> Policy:
        return replace(self._policy, name=name).certify(self.certificate)


class _SearchResult:
    """What a search has found, with a policy that can be written down."""

    def __init__(self, search: Search, deadline: Deadline, max_states: int) -> None:
        self._search, self._deadline, self._max_states = search, deadline, max_states

    @property
    def upper(self) -> float:
        return self._search.upper

    @property
    def action(self) -> int:
        return self._search.action

    @property
    def certificate(self) -> Certificate:
        return self._search.certificate

    def policy(self, name: str) -> Policy:
        search = self._search
        policy = search.policy(name, self._deadline, self._max_states)
        start, tol = search.best_start, tolerance(search.now)
        if (
            start is not None
            and len(start.nodes) <= self._max_states
            and start.expected_total_cost < policy.expected_total_cost - tol
        ):
            policy = start.certify(policy.certificate)
        # Rounding can put the bound above the cost.
        bound = min(search.lower, policy.expected_total_cost)
        certificate = search.certificate
        if policy.expected_total_cost > bound + tol:
            # A policy that was not written to its end costs more than the one that was found.
            status = certificate.status if policy.status == "ok" else policy.status
            certificate = replace(certificate, exact=False, status=status)
        policy = replace(policy, name=name)
        return policy.certify(replace(certificate, lower_bound=bound))
