"""Advice: what to do now, at any evidence, and why.

Advice is the rule of a policy (`policy.policies`) asked at one state: what to acquire next, or
the decision; with the posterior, the candidates and their EVI, cost and benefit, and reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from voilattice.lattice.explanations import listed
from voilattice.model.costs import FeatureCosts, priced
from voilattice.model.problem import Problem
from voilattice.policy.policies import RULES, TIME_LIMIT, Action, best_action, check_policy
from voilattice.policy.situations import State, state_at
from voilattice.valuation.valuation import Value

__all__ = ["Advice", "advise"]

LOOK_AHEAD = ("greedy-la", "batch")


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do now."""

    features: frozenset[str]  # to acquire; empty: decide
    target_set: frozenset[str] | None  # the set looked ahead to, when a policy looks ahead
    decision: str | None  # None: acquire
    posterior: dict[str, float]
    emc: float
    spent: float
    benefit: float  # of the set looked ahead to, or of the features (of the optimum: of acquiring
    # them and going on in the best way); 0 when deciding
    candidates: tuple[Value, ...]  # highest benefit first
    reasons: tuple[str, ...]

    @property
    def action(self) -> str:
        """``"acquire"`` or ``"decide"``."""
        return "acquire" if self.features else "decide"


def advise(
    problem: Problem,
    policy: str,
    evidence: Mapping[str, str] | None = None,
    *,
    time_limit: float | None = TIME_LIMIT,
) -> Advice:
    """Return what the policy does at this evidence, and why.

    What was spent is the price of the evidence given, acquired one by one in its order. The time
    limit, in seconds, is for an optimum that can only be searched for.

    >>> import voilattice
    >>> asia = voilattice.load_problem("asia")
    >>> now = advise(asia, "greedy-la")
    >>> now.action, sorted(now.features), sorted(now.target_set)
    ('acquire', ['tub'], ['dysp', 'smoke', 'tub', 'xray'])
    >>> now.reasons[0].split("; ")[1]
    'dysp, smoke, tub and xray together do: worth 56.37, for 27.00.'
    """
    check_policy(policy)
    state = state_at(problem, evidence)
    best = None
    if policy == "optimal":
        best = best_action(problem, evidence, time_limit=time_limit)
        chosen = best.chosen
    else:
        chosen = RULES[policy](state)
    ahead = state.best() if policy in LOOK_AHEAD else 0
    singles = [state.value(1 << k) for k in state.axes]
    offers = {offer.features: offer for offer in singles}
    for mask in filter(None, (ahead, chosen)):
        offers.setdefault(problem.feature_names(mask), state.value(mask))
    ordered = sorted(
        offers.values(), key=lambda v: (-v.benefit, len(v.features), sorted(v.features))
    )
    goal = offers[problem.feature_names(ahead or chosen)] if chosen else None
    return Advice(
        problem.feature_names(chosen),
        problem.feature_names(ahead) if ahead else None,
        None if chosen else state.decision,
        dict(zip(problem.classes, state.posterior.tolist(), strict=True)),
        state.emc,
        _spent(problem, evidence or {}),
        0.0 if goal is None else goal.benefit if best is None else state.emc - best.cost_to_go,
        tuple(ordered),
        tuple(
            _reasons(policy, state, problem.feature_names(chosen), goal, singles)
            if best is None
            else _reasons_of_optimum(state, goal, best)
        ),
    )


def _spent(problem: Problem, evidence: Mapping[str, str]) -> float:
    known, total = dict(problem.evidence), 0.0
    for feature, state in evidence.items():
        total += priced(problem.costs, frozenset({feature}), known)
        known[feature] = state
    return total


def _shared_overhead(state: State, features: frozenset[str]) -> str:
    """Return the overheads that several of these features would pay once, in words."""
    costs = state.builder.problem.costs
    if not isinstance(costs, FeatureCosts):
        return ""
    shared = [
        f"{group.name} ({group.overhead:,.2f})"
        for group in costs.groups
        if len(features.intersection(group.features)) > 1
        and not any(mate in state.known for mate in group.features)
    ]
    return f" for {' and '.join(shared)} by itself" if shared else ""


def _reasons_of_optimum(state: State, goal: Value | None, best: Action) -> list[str]:
    now = f"Deciding now for {state.decision} costs {state.emc:,.2f} on average"
    doubt = [] if best.exact else ["This is the best found in time, not proved to be optimal."]
    if goal is None:
        return ["No way of going on is worth its price.", f"{now}.", *doubt]
    names = listed(goal.features, "and")
    many = len(goal.features) > 1
    alone = (
        f"{names} {'pay' if many else 'pays'} already by {'themselves' if many else 'itself'}: "
        f"worth {goal.evi:,.2f}."
        if goal.benefit > state.tol
        else f"By {'themselves' if many else 'itself'} {names} would not pay (worth "
        f"{goal.evi:,.2f}): what the result leads to does."
    )
    return [
        f"{now}; acquiring {names} for {goal.cost:,.2f} and going on in the best way costs "
        f"{best.cost_to_go:,.2f} in all.",
        alone,
        *doubt,
    ]


def _reasons(
    policy: str,
    state: State,
    chosen: frozenset[str],
    goal: Value | None,
    singles: list[Value],
) -> list[str]:
    if goal is None:
        why = {
            "none": "This policy acquires nothing.",
            "markov-blanket": "Nothing that could be acquired says more about the target.",
            "greedy": "No feature alone is worth its price.",
        }
        return [
            why.get(policy, "No feature, alone or together, is worth its price."),
            f"Deciding now for {state.decision} costs {state.emc:,.2f} on average.",
        ]
    price = f"worth {goal.evi:,.2f}, for {goal.cost:,.2f}"
    names = listed(goal.features, "and")
    if policy == "markov-blanket":
        return [f"All that can be known about the target is in {names}: {price}."]
    if len(goal.features) == 1:
        return [f"{names} pays for itself: {price}."]
    alone = max(single.benefit for single in singles)
    if alone <= state.tol:
        shared = _shared_overhead(state, goal.features)
        reasons = [f"Alone, no feature pays{shared}; {names} together do: {price}."]
    else:
        reasons = [f"{names} together pay most: {price}."]
    if chosen != goal.features:
        (first,) = (single for single in singles if single.features == chosen)
        reasons.append(
            f"Of these, {listed(chosen, 'and')} has the highest benefit by itself "
            f"({first.benefit:,.2f}): its result decides how to go on."
        )
    return reasons
