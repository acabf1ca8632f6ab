"""Why advice is what it is, in sentences.

The reasons of a solver compare what it does with deciding now. The reasons of a tree say what the
tree does. The reasons of the rules say what the constraints, the limits and the cost of a round
have to do with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from voilattice.consultation.standing import decision_costs
from voilattice.feature_sets import bits
from voilattice.model.problem import Problem
from voilattice.policy.policy import describe_excess
from voilattice.policy.situation import Situation
from voilattice.policy.solvers import Solver, Step
from voilattice.valuation.valuation import Value
from voilattice.wording import format_amount, join_names

__all__ = ["reasons_of_rules", "reasons_of_solver", "reasons_of_tree", "why_not_all"]

# Why a step of the optimum is not proved to be one, by what ended the work.
_DOUBTS = {
    "time": "This is the best found in time. It is not proved to be optimal.",
    "memory": "This is the best found in the memory budget. It is not proved to be optimal.",
    "ok": "{cause} not every set is tried: this is not proved to be optimal.",
}

# Why the set that a policy looks ahead to is not proved to be the best one.
_SET_DOUBTS = {
    "time": "This set is the best found in time. A better one is possible.",
    "memory": "This set is the best found in the memory budget. A better one is possible.",
    "ok": "{cause} not every set is tried: a better one is possible.",
}

MAX_DECISIONS = 5  # that the reasons speak of, beside the one that is made
MAX_BARRED = 3  # features that would pay but cannot be acquired, that the reasons speak of


def reasons_of_solver(
    solver: Solver, situation: Situation, step: Step, goal: Value | None, singles: Sequence[Value]
) -> list[str]:
    """Return why the policy does this, in sentences."""
    now = _deciding_now(situation, situation.decision)
    certificate, currency = step.certificate, situation.builder.problem.currency
    doubts = _SET_DOUBTS if solver.looks_ahead else _DOUBTS
    said = [
        doubts[certificate.status].format(cause=why_not_all(situation.builder.problem)),
        certificate.note,
    ]
    if step.cost_to_go is not None and certificate.lower_bound is not None:
        said.insert(1, describe_excess(step.cost_to_go, certificate.lower_bound, currency))
    doubt = [] if certificate.exact else [sentence for sentence in said if sentence]
    if step.cost_to_go is None and not solver.looks_ahead:
        doubt = []  # the rule is what it is
    if goal is None:
        is_proved = certificate.exact or step.cost_to_go is None
        why = solver.why_decide if is_proved else "The best policy found decides now."
        whys = [] if _is_stuck(situation) else [why]  # the rules are the reason then
        return [*whys, f"{now}.", *_other_decisions(situation, situation.decision), *doubt]
    if step.cost_to_go is not None:
        names = _names(situation, goal.features)
        return [
            f"{now}; acquiring {names} for {_amount(situation, goal.cost)} and going on in the "
            f"best way costs {_amount(situation, step.cost_to_go)} in all.",
            _worth_alone(situation, goal),
            *_discounts(situation, goal.features),
            *doubt,
        ]
    if solver.why_acquire:
        why = solver.why_acquire.format(names=_names(situation, goal.features))
        return [f"{why}: {_worth_and_price(situation, goal)}."]
    return [
        *_worth_together(situation, goal, singles),
        *_discounts(situation, goal.features),
        *_first_of(situation, step, goal, singles),
        *doubt,
    ]


def why_not_all(problem: Problem) -> str:
    """Return why a step may acquire more sets than can be tried, as the start of a sentence."""
    if problem.pricing.is_sum:
        return "With rounds or limits and so many features,"
    return "With prices of your own"


def reasons_of_tree(
    situation: Situation, step: Step, goal: Value | None, decision: str
) -> list[str]:
    """Return what a built policy does and what that costs, in sentences."""
    now = _deciding_now(situation, decision)
    if goal is None or step.cost_to_go is None:
        return ["The policy decides here.", f"{now}.", *_other_decisions(situation, decision)]
    return [
        f"{now}; acquiring {_names(situation, goal.features)} for "
        f"{_amount(situation, goal.cost)} and going on as the policy does costs "
        f"{_amount(situation, step.cost_to_go)} in all.",
        _worth_alone(situation, goal),
    ]


def reasons_of_rules(
    situation: Situation, features: frozenset[str], candidates: Iterable[Value]
) -> list[str]:
    """Return what constraints, limits and rounds have to do with a step; empty: nothing.

    `features` are acquired; none: the step decides.
    """
    problem, offers = situation.builder.problem, list(candidates)
    said = [*_unlocked(situation, features, offers), *_price_of_round(situation, features)]
    is_stuck = not features and _is_stuck(situation)
    barred = [
        v
        for v in offers
        if v.obstacles and v.benefit > situation.tol and not v.features <= features
    ]
    if is_stuck:  # one sentence on the limits says it for all
        barred = [v for v in barred if not v.feasible]
    for offer in barred[:MAX_BARRED]:
        name, why = _names(situation, offer.features), " ".join(offer.obstacles)
        said.append(f"Not now: {name} (worth {_amount(situation, offer.evi)}). {why}")
    if is_stuck:
        is_feasible = any(offer.feasible for offer in offers)
        what = "the limits" if is_feasible else "the constraints"
        said.append(f"Nothing more can be acquired: {what} do not allow it.")
    if situation.left:
        said.append(f"Left of the limits: {situation.left.describe(problem.currency)}.")
    return said


def _is_stuck(situation: Situation) -> bool:
    """Return whether features could matter, but the rules do not allow acquiring any."""
    return bool(situation.axes) and not situation.alone


def _unlocked(situation: Situation, features: frozenset[str], offers: Iterable[Value]) -> list[str]:
    """Return what the features open that do not pay by themselves."""
    problem, graph = situation.builder.problem, situation.builder.relevance.graph
    rules, e = problem.feasibility, problem.feature_mask(situation.known)
    telling, chosen = graph.relevant(e), problem.feature_mask(features)
    paying = {v.features for v in offers if v.benefit > situation.tol}
    said = []
    for k in bits(chosen):
        needs = {j: rules.after.get(j, 0) | rules.only_if.get(j, 0) for j in situation.axes}
        opened = [problem.features[j] for j, mask in needs.items() if mask >> k & 1]
        if not opened or frozenset({problem.features[k]}) in paying:
            continue
        name, others = problem.label(problem.features[k]), _names(situation, opened)
        if telling >> k & 1:
            said.append(f"{others} can be acquired only after {name}.")
        else:
            said.append(
                f"{name} says nothing about {problem.label(problem.target)} by itself, but "
                f"{others} can be acquired only after it."
            )
    return said


def _price_of_round(situation: Situation, features: frozenset[str]) -> list[str]:
    """Return what of the price of a step is for the round."""
    cost, n = situation.builder.problem.round_cost, len(features)
    if not (features and cost):
        return []
    one = _amount(situation, cost)
    if n == 1:
        return [f"The price includes {one} for the round."]
    each = _amount(situation, n * cost)
    return [f"One round for all of them costs {one}; a round for each would cost {each}."]


def _decision_costs(situation: Situation) -> dict[str, float]:
    return decision_costs(situation.builder.problem, situation.posterior)


def _deciding_now(situation: Situation, decision: str) -> str:
    """Return what a decision costs now, in words."""
    cost, is_constant = _decision_costs(situation)[decision], _is_constant(situation, decision)
    when = "whatever it is" if is_constant else "on average"
    said = _decision(situation, decision)
    return f"Deciding now for {said} costs {_amount(situation, cost)} {when}"


def _other_decisions(situation: Situation, decision: str) -> list[str]:
    """Return what the other decisions would cost, the cheapest first."""
    costs = _decision_costs(situation)
    others = sorted((name for name in costs if name != decision), key=costs.__getitem__)
    said = [
        f"{_decision(situation, name)}: {_amount(situation, costs[name])}"
        + (" whatever it is" if _is_constant(situation, name) else "")
        for name in others[:MAX_DECISIONS]
    ]
    more = len(others) - len(said)
    left = [f"{more} more that cost no less"] if more else []
    return [f"Other decisions: {'; '.join([*said, *left])}."] if said else []


def _is_constant(situation: Situation, decision: str) -> bool:
    """Return whether a decision costs the same for every class, and there are several."""
    problem = situation.builder.problem
    row = problem.misclassification[problem.decisions.index(decision)]
    return len(row) > 1 and bool((row == row[0]).all())


def _decision(situation: Situation, decision: str) -> str:
    problem = situation.builder.problem
    return problem.state_label(problem.target, decision)


def _names(situation: Situation, features: Collection[str]) -> str:
    return join_names([situation.builder.problem.label(name) for name in features], "and")


def _amount(situation: Situation, amount: float) -> str:
    return format_amount(amount, situation.builder.problem.currency)


def _worth_and_price(situation: Situation, goal: Value) -> str:
    return f"worth {_amount(situation, goal.evi)}, for {_amount(situation, goal.cost)}"


def _worth_alone(situation: Situation, goal: Value) -> str:
    """Return a sentence on whether the features that an optimal policy acquires pay alone."""
    names, many = _names(situation, goal.features), len(goal.features) > 1
    themselves = "themselves" if many else "itself"
    if goal.benefit > situation.tol:
        pay = "together pay already" if many else "pays already by itself"
        return f"{names} {pay}: worth {_amount(situation, goal.evi)}."
    return (
        f"By {themselves}, {names} would not pay (worth {_amount(situation, goal.evi)}); "
        f"together with later steps, {'they do' if many else 'it does'}."
    )


def _worth_together(situation: Situation, goal: Value, singles: Sequence[Value]) -> list[str]:
    """Return what the set that a rule acquires, or looks ahead to, is worth."""
    names, price = _names(situation, goal.features), _worth_and_price(situation, goal)
    if goal.benefit <= situation.tol:
        return [f"The policy acquires {names} whatever it costs: {price}."]
    if len(goal.features) == 1:
        return [f"{names} pays for itself: {price}."]
    can_be_had = [single.benefit for single in singles if not single.obstacles]
    if max(can_be_had, default=0.0) > situation.tol:
        return [f"{names} together pay most: {price}."]
    shared = _shared_overhead(situation, goal.features)
    return [f"Alone, no feature pays{shared}; {names} together do: {price}."]


def _first_of(situation: Situation, step: Step, goal: Value, singles: Sequence[Value]) -> list[str]:
    """Return why these features come first, if the rule looks ahead to a larger set."""
    if step.features == goal.features:
        return []
    (first,) = (single for single in singles if single.features == step.features)
    mask = situation.builder.problem.feature_mask(goal.features)
    of_these = "Of these"
    if situation.firsts(mask) != mask:
        of_these = "Of those that can come first at no extra cost"
    then = ": its result decides how to go on" if first.evi > situation.tol else ""
    return [
        f"{of_these}, {_names(situation, step.features)} has the highest benefit by itself "
        f"({_amount(situation, first.benefit)}){then}."
    ]


def _shared_overhead(situation: Situation, features: frozenset[str]) -> str:
    """Return, in words, the overheads that several of these features would share."""
    shared = [
        f"{group.name} ({_amount(situation, group.surcharges[group.features[0]])})"
        for group in situation.builder.problem.pricing.unopened(situation.known)
        if not group.counts_order and len(features.intersection(group.features)) > 1
    ]
    return f" for {' and '.join(shared)} by itself" if shared else ""


def _discounts(situation: Situation, features: frozenset[str]) -> list[str]:
    """Return what discounts take off these features, and which features only open a discount."""
    problem, said = situation.builder.problem, []
    pricing, graph = problem.pricing, situation.builder.relevance.graph
    opening = [
        (sharing, inside)
        for sharing in pricing.unopened(situation.known)
        if (inside := features.intersection(sharing.features))
    ]
    discounts = [(sharing, inside) for sharing, inside in opening if sharing.counts_order]
    off = [discount.surcharges[name] for discount, inside in discounts for name in inside]
    # What the first features pay, in the cheapest order that the constraints allow.
    others = [min(s.surcharges.values()) for s, _ in opening if not s.counts_order]
    shared = pricing.shared_cost(features, situation.known) - pricing.round_cost - sum(others)
    saved = sum(off) - shared
    if discounts and saved > situation.tol:
        names = [discount.name for discount, inside in discounts if len(inside) > 1]
        word, takes = ("Discount", "takes") if len(names) == 1 else ("Discounts", "take")
        said.append(f"{word} {join_names(names, 'and')} {takes} {_amount(situation, saved)} off.")
    telling = problem.feature_names(graph.relevant(problem.feature_mask(situation.known)))
    said += [
        f"{problem.label(name)} says nothing about {problem.label(problem.target)}, but opens "
        f"discount {discount.name} at the lowest price."
        for discount, inside in discounts
        for name in sorted(inside - telling)
    ]
    return said
