"""Builders of policies: none, Markov blanket, greedy, greedy with look-ahead, batch (3.4, 4.2).

Each builder is a rule that says, at evidence e, which features to acquire now:

    none             nothing
    markov-blanket   the acquirable core, at the start; then nothing
    greedy           the feature of highest Benefit(X | e), while that is positive       (Eq. 4)
    greedy-la        of the set of highest Benefit(S | e) (Eq. 7), while that is positive,
                     the feature of highest Benefit(X | e), even when that is negative
    batch            the whole set of highest Benefit(S | e), while that is positive
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from voilattice.errors import InputError, UnknownNameError, nearest
from voilattice.independence import graph_of
from voilattice.policy import Policy
from voilattice.problem import Problem
from voilattice.states import MAX_STATES, Builder, State, Sweep

__all__ = ["POLICIES", "RULES", "build_policy", "policy_from_rule"]


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
    if name not in RULES:
        raise UnknownNameError(f"no policy {name!r}{nearest(name, POLICIES)}")
    # What is known from the start belongs to the problem that the policy is for.
    problem = problem.with_evidence(evidence)
    builder = Builder(problem, max_states, sweep=sweep)
    if sweep is not None:
        builder.check_sweep(sweep)
    return builder.build(name, RULES[name])


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
POLICIES = tuple(RULES)
