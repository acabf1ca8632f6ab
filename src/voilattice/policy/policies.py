"""Builders of policies: none, Markov blanket, greedy, greedy with look-ahead, batch, optimal.

Each but the last is a rule that says, at evidence e, which features to acquire now (3.4, 4.2):

    none             nothing
    markov-blanket   the acquirable core, at the start; then nothing
    greedy           the feature of highest Benefit(X | e), while that is positive       (Eq. 4)
    greedy-la        of the set of highest Benefit(S | e) (Eq. 7), while that is positive,
                     the feature of highest Benefit(X | e), even when that is negative
    batch            the whole set of highest Benefit(S | e), while that is positive
    optimal          what the policy of least expected total cost acquires: solved exactly where the
                     states fit the memory budget (`optimal.py`), else searched for, with a bound
                     (`branch_and_bound.py`)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from voilattice.budgets import memory_budget
from voilattice.errors import InputError, TooLargeError, UnknownNameError, nearest
from voilattice.lattice.independence import acquirable_core, graph_of
from voilattice.model.problem import Problem
from voilattice.policy.optimal.ao_star import Search
from voilattice.policy.optimal.solution import Solution, StateSpace
from voilattice.policy.policy import Policy
from voilattice.policy.situations import MAX_STATES, Builder, State, Sweep
from voilattice.valuation.valuation import value

__all__ = [
    "POLICIES",
    "RULES",
    "TIME_LIMIT",
    "Action",
    "Optimum",
    "PolicyCost",
    "best_action",
    "build_optimal",
    "build_policy",
    "check_policy",
    "policy_cost",
    "policy_from_rule",
]

TIME_LIMIT = 60.0  # seconds, for a search
STATES_PER_SECOND = 2_000_000  # that are solved exactly, on a slow day


def build_policy(
    problem: Problem,
    name: str,
    evidence: Mapping[str, str] | None = None,
    *,
    max_states: int = MAX_STATES,
    sweep: Sweep | None = None,
) -> Policy:
    """Return the policy of that name, from the evidence on.

    Parameters
    ----------
    name
        One of `POLICIES`.
    max_states
        Raise `TooLargeError` when the policy has more different states than this.
    sweep
        What other points of a sweep of stakes have found out (see `Sweep`).

    >>> import voilattice
    >>> p = build_policy(voilattice.load_problem("asia"), "greedy-la")
    >>> p.n_acquisitions, p.n_paths, round(p.expected_total_cost, 2)
    (6, 7, 67.87)
    """
    check_policy(name)
    if name == "optimal":
        return build_optimal(problem, evidence, max_states=max_states, sweep=sweep).policy
    # What is known from the start belongs to the problem that the policy is for.
    problem = problem.with_evidence(evidence)
    builder = Builder(problem, max_states, sweep=sweep)
    if sweep is not None:
        builder.check_sweep(sweep)
    return builder.build(name, RULES[name])


def check_policy(name: str) -> None:
    """Raise `UnknownNameError` unless there is a policy of that name."""
    if name not in POLICIES:
        raise UnknownNameError(f"no policy {name!r}{nearest(name, POLICIES)}")


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best policy found, and how far from the best of all it can be."""

    policy: Policy
    lower_bound: float  # no policy costs less
    exact: bool  # the policy costs no more than that


def build_optimal(
    problem: Problem,
    evidence: Mapping[str, str] | None = None,
    *,
    max_states: int = MAX_STATES,
    time_limit: float | None = TIME_LIMIT,
    sweep: Sweep | None = None,
    progress: Callable[[int, tuple[float, float]], None] | None = None,
) -> Optimum:
    """Return the policy of least expected total cost, with its certificate.

    Parameters
    ----------
    time_limit
        Seconds for the search, where the states do not fit the memory budget. None: until the
        optimum is proved.
    progress
        Called during a search with the number of states looked into, and the interval so far.

    >>> import voilattice
    >>> found = build_optimal(voilattice.load_problem("asia"))
    >>> round(found.policy.expected_total_cost, 2), round(found.lower_bound, 2), found.exact
    (62.46, 62.46, True)
    """
    _check_time_limit(time_limit)
    problem = problem.with_evidence(evidence)
    if (solution := _solved(problem, sweep, time_limit)) is None:
        search = Search(problem, _STARTS, time_limit=time_limit, progress=progress)
        policy = search.policy("optimal")
        return Optimum(policy, min(search.lower, policy.expected_total_cost), search.is_exact)
    policy = Builder(problem, max_states).build("optimal", lambda s: solution.choose(s.known))
    # They differ by rounding at most, and a bound is not above what it bounds.
    bound = min(solution.expected_total_cost, policy.expected_total_cost)
    return Optimum(policy, bound, True)


def _check_time_limit(time_limit: float | None) -> None:
    is_number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
    if time_limit is not None and not (is_number and time_limit >= 0):
        raise InputError(f"must be a number of seconds >= 0, got {time_limit!r}", "time_limit")


@dataclass(frozen=True, slots=True)
class Action:
    """What to acquire at some evidence, as a mask, and what it costs from there on."""

    chosen: int  # 0: decide
    cost_to_go: float
    exact: bool  # False: the best found, not proved to be the best of all


def best_action(
    problem: Problem,
    evidence: Mapping[str, str] | None = None,
    *,
    time_limit: float | None = TIME_LIMIT,
) -> Action:
    """Return what the optimal policy acquires at any evidence.

    The problem is solved once, and asked again for other evidence. Where it can only be searched,
    the search begins at the evidence.
    """
    _check_time_limit(time_limit)
    if (solution := _solution(problem, time_limit, memory_budget())) is not None:
        known = problem.known(evidence)
        return Action(solution.choose(known), solution.cost_to_go(known), True)
    search = Search(problem.with_evidence(evidence), _STARTS, time_limit=time_limit)
    return Action(search.action, search.upper, search.is_exact)


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """What a policy costs; not `exact`: an optimum that is not proved to be one."""

    expected_total_cost: float
    exact: bool


def policy_cost(
    problem: Problem,
    name: str,
    evidence: Mapping[str, str] | None = None,
    *,
    sweep: Sweep | None = None,
    time_limit: float | None = TIME_LIMIT,
) -> PolicyCost:
    """Return what the policy of that name costs, without building it where that is not needed."""
    if name in {"none", "markov-blanket"}:
        known = problem.known(evidence)
        at_once = acquirable_core(problem, known) if name == "markov-blanket" else frozenset()
        found = value(problem, at_once, evidence)
        return PolicyCost(found.cost + found.expected_emc, True)
    if name == "optimal":
        here = problem.with_evidence(evidence)
        if (solution := _solved(here, sweep, time_limit)) is not None:
            return PolicyCost(solution.expected_total_cost, True)
        search = Search(here, _STARTS, time_limit=time_limit)
        return PolicyCost(search.policy(name).expected_total_cost, search.is_exact)
    return PolicyCost(build_policy(problem, name, evidence, sweep=sweep).expected_total_cost, True)


def _solved(problem: Problem, sweep: Sweep | None, time_limit: float | None) -> Solution | None:
    """Return the exact optimum, or None: the states are too many for the memory, or the time."""
    max_states = None if time_limit is None else int(min(time_limit, 1e9) * STATES_PER_SECOND)
    try:
        if sweep is not None:
            return sweep.solve(problem, max_states)
        until = math.inf if time_limit is None else time.monotonic() + time_limit / 2
        return StateSpace(problem, max_states=max_states, until=until).solve()
    except TooLargeError:
        return None


@lru_cache(maxsize=1)
def _solution(problem: Problem, time_limit: float | None, memory_bytes: int) -> Solution | None:
    # What a smaller budget could not hold, a larger one may.
    return _solved(problem, None, time_limit)


def policy_from_rule(
    problem: Problem,
    rule: Callable[[Mapping[str, str]], set[str] | frozenset[str]],
    *,
    name: str = "rule",
    max_states: int = MAX_STATES,
) -> Policy:
    """Return the policy that acquires what `rule` says at each evidence; the empty set decides.

    >>> import voilattice
    >>> p = voilattice.load_problem("figure1")  # Figure 2: X1, and X2 only if X1 is T
    >>> policy = policy_from_rule(
    ...     p, lambda e: {"X1"} if not e else {"X2"} if e == {"X1": "T"} else set()
    ... )
    >>> round(policy.expected_total_cost, 9), policy.n_paths
    (23.2, 3)
    """

    def choose(state: State) -> int:
        given = {f: v for f, v in state.known.items() if f not in problem.evidence}
        return problem.feature_mask(problem.acquirable(rule(given), state.known))

    if name in POLICIES:
        raise InputError(f"{name!r} is the name of a built-in policy; choose another one", "name")
    return Builder(problem, max_states, merge=False).build(name, choose)


def _greedy(state: State) -> int:
    chosen = state.single(sum(1 << k for k in state.axes))
    return 1 << chosen if chosen is not None and state.value(1 << chosen).benefit > state.tol else 0


def _greedy_la(state: State) -> int:
    chosen = state.single(state.best())
    return 0 if chosen is None else 1 << chosen


def _markov_blanket(state: State) -> int:
    # Once the core is known, nothing else can matter: the core of the rest is empty.
    graph = graph_of(state.builder.problem)
    e = state.builder.problem.feature_mask(state.known)
    return graph.core(graph.all & ~e, e)


RULES: dict[str, Callable[[State], int]] = {
    "none": lambda state: 0,
    "markov-blanket": _markov_blanket,
    "greedy": _greedy,
    "greedy-la": _greedy_la,
    "batch": State.best,
}
_STARTS = (RULES["greedy-la"], RULES["batch"], RULES["greedy"])
POLICIES = (*RULES, "optimal")
