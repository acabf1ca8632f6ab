"""Advice: what to do now, at any evidence, and why.

Advice is what a policy (`policy.solvers`) does in one situation: what to acquire next, or the
decision. It comes with the posterior, the candidates with their EVI, cost and benefit, and reasons.
Only the situation at hand is worked out, so there is advice on networks whose policies are far too
large to build. A policy that cannot answer within its limits is replaced by greedy, and the advice
says so. A policy that is built already, such as a saved one, answers from its tree.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from voilattice.budgets import Deadline, TimeLimit
from voilattice.errors import InputError, TooLargeError, located
from voilattice.feature_sets import bits
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import Discount, FeatureCosts, Group, price_set
from voilattice.model.problem import Evidence, Problem, check_problem
from voilattice.policy.policy import Acquisition, Certificate, Leaf, Policy, within_gap
from voilattice.policy.situations import Situation, situation_at
from voilattice.policy.solvers import TIME_LIMIT, Limits, Solver, Step, policy_names, solver_of
from voilattice.valuation.streaming import bracket_expected_emc
from voilattice.valuation.valuation import Value
from voilattice.wording import format_amount, join_names

__all__ = ["FALLBACK", "Advice", "advise"]

FALLBACK = "greedy"  # it needs only what each feature alone is worth

# The part of the time left for the step of the policy; the rest is for the candidates.
SHARE_OF_STEP = 0.9

SECONDS_TO_VALUE = 2.0  # of a set that the advice speaks of

# Why a step of the optimum is not proved to be one, by what ended the work.
_DOUBTS = {
    "time": "This is the best found in time. It is not proved to be optimal.",
    "memory": "This is the best found in the memory budget. It is not proved to be optimal.",
    "ok": "With prices of your own not every set is tried: this is not proved to be optimal.",
}

MAX_DECISIONS = 5  # that the reasons speak of, beside the one that is made

_UNVALUED = "It takes long to value a set that large: it is worth at least what is said here."

_OFF_TREE = "The policy's own tree does not tell what to do here: {name} is planned again."

# Why the set that a policy looks ahead to is not proved to be the best one.
_SET_DOUBTS = {
    "time": "This set is the best found in time. A better one is possible.",
    "memory": "This set is the best found in the memory budget. A better one is possible.",
    "ok": "With prices of your own not every set is tried: a better one is possible.",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do now."""

    features: frozenset[str]  # to acquire; empty: decide
    target_set: frozenset[str] | None  # the set that the policy looks ahead to, if it looks ahead
    decision: str | None  # None: acquire
    posterior: dict[str, float]  # P(y | e) of each class
    emc: float
    spent: float
    benefit: float  # of `target_set`, or of the features; for the optimum: of acquiring the
    # features and continuing in the best way; 0 when deciding
    candidates: tuple[Value, ...]  # what can be acquired, highest benefit first
    reasons: tuple[str, ...]
    certificate: Certificate = field(default_factory=Certificate)
    fallback: str | None = None  # the policy that answered in place of the one asked for
    decision_costs: dict[str, float] = field(default_factory=dict)  # expected, if decided now

    @property
    def action(self) -> str:
        """``"acquire"`` or ``"decide"``."""
        return "acquire" if self.features else "decide"


def advise(
    problem: Problem,
    policy: str | Policy,
    evidence: Evidence | None = None,
    *,
    unavailable: Collection[str] = (),
    given: Evidence | None = None,
    together: Collection[Collection[str]] = (),
    time_limit: TimeLimit = TIME_LIMIT,
) -> Advice:
    """Return what the policy does at this evidence, and why.

    Parameters
    ----------
    policy
        The name of a policy, or a policy. A policy answers from its tree while the evidence stays
        on the tree. Elsewhere the policy of its name is planned again, and the reasons say so.
    evidence
        What was acquired so far, in this order: `Advice.spent` is its price, one by one. It counts
        against the limits of the problem.
    unavailable
        Features that cannot be acquired.
    given
        What is known for free, beyond the problem's own evidence.
    together
        Sets of features of the evidence that were acquired in one round.
    time_limit
        Seconds. At the limit the advice is the best found so far, and says so.

    >>> import voilattice
    >>> asia = voilattice.load_problem("asia")
    >>> now = advise(asia, "greedy-la")
    >>> now.action, sorted(now.features), sorted(now.target_set)
    ('acquire', ['tub'], ['dysp', 'smoke', 'tub', 'xray'])
    >>> now.reasons[0].split("; ")[1]
    'dysp, smoke, tub and xray together do: worth 56.37, for 27.00.'
    >>> sorted(advise(asia, "greedy-la", unavailable=["tub"], given={"smoke": "yes"}).features)
    ['xray']
    """
    check_problem(problem)
    deadline = Deadline.of(time_limit)
    here = _narrow(problem, evidence, unavailable, given)
    acquired = here.further(here.merge_evidence(evidence))
    spent, left = _account(here, acquired, together)
    if here.limits:  # some steps later, this is a problem with what is left of the limits
        here, acquired = replace(here.with_evidence(acquired), limits=left), {}
    situation = situation_at(here, acquired, deadline=deadline)
    decision, fallback = situation.decision, None
    tree = policy if isinstance(policy, Policy) else None
    place = tree if tree is None else _place_in_tree(tree, problem, situation.known, unavailable)
    if tree is not None and place is not None:
        solver, step, notes = None, _step_of_tree(tree, place), list[str]()
        if isinstance(leaf := tree.nodes[place], Leaf):
            decision = leaf.decision
    else:
        asked, notes = _planner(policy)
        solver, step, excuse = _next_step(asked, here, acquired, deadline)
        notes += excuse
        fallback = solver.name if excuse else None
    chosen = here.feature_mask(step.features)
    ahead = here.feature_mask(step.target_set or ())
    if solver is not None and solver.looks_ahead and chosen and not ahead:
        ahead = situation.best()
    singles = [situation.value(1 << k) for k in bits(situation.alone)]
    offers, unvalued = {offer.features: offer for offer in singles}, False
    for mask in filter(None, (ahead, chosen)):
        if (names := here.feature_names(mask)) not in offers:
            offers[names], is_exact = _value(situation, mask, deadline)
            unvalued = unvalued or not is_exact
    ordered = sorted(
        offers.values(), key=lambda v: (-v.benefit, len(v.features), sorted(v.features))
    )
    goal = offers[here.feature_names(ahead or chosen)] if chosen else None
    benefit = 0.0
    if goal is not None:
        benefit = goal.benefit if step.cost_to_go is None else situation.emc - step.cost_to_go
    reasons = (
        _reasons_of_tree(situation, step, goal, decision)
        if solver is None
        else _reasons(solver, situation, step, goal, singles)
    )
    return Advice(
        step.features,
        here.feature_names(ahead) if ahead else None,
        None if chosen else decision,
        dict(zip(here.classes, situation.posterior.tolist(), strict=True)),
        situation.emc,
        spent,
        benefit,
        tuple(ordered),
        (*notes, *reasons, *([_UNVALUED] if unvalued else [])),
        step.certificate,
        fallback,
        _decision_costs(situation),
    )


def _narrow(
    problem: Problem,
    evidence: Evidence | None,
    unavailable: Collection[str],
    given: Evidence | None,
) -> Problem:
    """Return the problem with what is given for free, and without what cannot be acquired."""
    with located("given"):
        here = problem.with_evidence(given)
    known = {**here.evidence, **(evidence or {})}
    with located("unavailable"):
        problem.feature_mask(unavailable)  # checks that they are features
        if both := sorted(known.keys() & set(unavailable)):
            raise InputError(f"{both[0]!r} is known, so it cannot be unavailable")
    return here.without(unavailable, known)


def _place_in_tree(
    policy: Policy, problem: Problem, known: Mapping[str, str], unavailable: Collection[str]
) -> int | None:
    """Return the number of the node of a policy that tells what to do, or None: none of them does.

    None of them does if the evidence is not on the tree, if the tree was not worked out there, or
    if the policy would acquire there, or later, what cannot be acquired.
    """
    own = policy.problem
    if replace(own, evidence={}) != replace(problem, evidence={}):
        raise InputError("belongs to another problem", "policy")
    for feature, state in own.evidence.items():
        if known.get(feature) != state:
            raise InputError(
                f"was built with the evidence {feature}={state}, which is not given here", "policy"
            )
    place = policy.locate(own.further(known))
    if place is None or policy.acquired_from(place) & set(unavailable):
        return None
    node = policy.nodes[place]
    return None if isinstance(node, Leaf) and node.is_open else place


def _step_of_tree(policy: Policy, place: int) -> Step:
    """Return what a policy does at one of its nodes."""
    node, to_go, certificate = policy.nodes[place], policy.costs_to_go[place], policy.certificate
    if certificate.lower_bound is not None:
        # A bound for the whole policy holds at its root. A proved optimum is one at every node.
        is_root = place == len(policy.nodes) - 1
        bound = to_go if certificate.exact else certificate.lower_bound if is_root else None
        certificate = replace(certificate, lower_bound=bound)
    features = frozenset(node.features) if isinstance(node, Acquisition) else frozenset[str]()
    return Step(features, to_go, certificate)


def _planner(policy: str | Policy) -> tuple[Solver, list[str]]:
    """Return who plans where no tree tells what to do, and a note if there is a tree."""
    if isinstance(policy, str):
        return solver_of(policy), []
    if policy.name not in policy_names():
        raise InputError(
            f"its tree does not tell what to do here, and {policy.name!r} is not the name of a "
            f"policy that can be planned again",
            "policy",
        )
    return solver_of(policy.name), [_OFF_TREE.format(name=policy.name)]


def _next_step(
    solver: Solver, problem: Problem, evidence: Mapping[str, str], deadline: Deadline
) -> tuple[Solver, Step, list[str]]:
    """Return what a policy does, or what greedy does with the reason, and who says it."""
    try:
        limits = Limits(time_limit=deadline.share(SHARE_OF_STEP))
        return solver, solver.next_step(problem, evidence, limits), []
    except TooLargeError as error:
        instead = solver_of(FALLBACK)
        if solver.name == FALLBACK:
            raise
        step = instead.next_step(problem, evidence, Limits(time_limit=deadline))
        certificate = Certificate(None, False, "memory")
        why = f"{solver.name} cannot answer here ({error.complaint}). This is what greedy does."
        return instead, replace(step, certificate=certificate), [why]


def _value(situation: Situation, mask: int, deadline: Deadline) -> tuple[Value, bool]:
    """Return what a set is worth, and True; if that takes too long, what it is worth at least."""
    problem = situation.builder.problem
    names = problem.feature_names(mask)
    found = bracket_expected_emc(problem, names, deadline=Deadline(SECONDS_TO_VALUE, deadline))
    worth = max(situation.emc - found.upper, 0.0)
    return situation.valued(mask, found.upper, worth), found.exact


def _account(
    problem: Problem, evidence: Mapping[str, str], together: Collection[Collection[str]]
) -> tuple[float, PathLimits]:
    """Return what the evidence cost, and what is left of the limits."""
    rounds: dict[str, frozenset[str]] = {}
    with located("together"):
        for features in together:
            for feature in problem.check_acquirable(features, problem.evidence):
                if feature not in evidence:
                    raise InputError(f"{feature!r} was not acquired: it is not evidence")
                if feature in rounds:
                    raise InputError(f"{feature!r} is named twice")
                rounds[feature] = frozenset(features)
    known, total, left = dict(problem.evidence), 0.0, problem.limits
    for feature in evidence:
        if feature not in known:
            features = rounds.get(feature, frozenset({feature}))
            price = price_set(problem.costs, features, known)
            total, left = total + price, left.after(price, len(features))
            known |= {f: evidence[f] for f in features}
    return total, left


def _reasons(
    solver: Solver, situation: Situation, step: Step, goal: Value | None, singles: Sequence[Value]
) -> list[str]:
    """Return why the policy does this, in sentences."""
    now = _deciding_now(situation, situation.decision)
    certificate, currency = step.certificate, situation.builder.problem.currency
    doubts = _SET_DOUBTS if solver.looks_ahead else _DOUBTS
    said = [doubts[certificate.status], certificate.note]
    if step.cost_to_go is not None and certificate.lower_bound is not None:
        said.insert(1, within_gap(step.cost_to_go, certificate.lower_bound, currency))
    doubt = [] if certificate.exact else [sentence for sentence in said if sentence]
    if step.cost_to_go is None and not solver.looks_ahead:
        doubt = []  # the rule is what it is
    if goal is None:
        is_proved = certificate.exact or step.cost_to_go is None
        why = solver.why_decide if is_proved else "The best policy found decides now."
        return [why, f"{now}.", *_other_decisions(situation, situation.decision), *doubt]
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


def _reasons_of_tree(
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


def _decision_costs(situation: Situation) -> dict[str, float]:
    """Return what each decision costs on average at this evidence."""
    problem = situation.builder.problem
    risk = problem.misclassification @ situation.posterior
    return dict(zip(problem.decisions, risk.tolist(), strict=True))


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
        pay = "pay" if many else "pays"
        return f"{names} {pay} already by {themselves}: worth {_amount(situation, goal.evi)}."
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
    if max((single.benefit for single in singles), default=0.0) > situation.tol:
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
    costs = situation.builder.problem.costs
    if not isinstance(costs, FeatureCosts):
        return ""
    shared = [
        f"{group.name} ({_amount(situation, group.overhead)})"
        for group in costs.unopened(situation.known)
        if isinstance(group, Group) and len(features.intersection(group.features)) > 1
    ]
    return f" for {' and '.join(shared)} by itself" if shared else ""


def _discounts(situation: Situation, features: frozenset[str]) -> list[str]:
    """Return what discounts take off these features, and which features only open a discount."""
    problem, said = situation.builder.problem, []
    costs, graph = problem.costs, situation.builder.relevance.graph
    telling = problem.feature_names(graph.relevant(problem.feature_mask(situation.known)))
    for discount in costs.unopened(situation.known) if isinstance(costs, FeatureCosts) else ():
        inside = features.intersection(discount.features)
        if not isinstance(discount, Discount) or not inside:
            continue
        off = [discount.off[name] for name in inside]
        if (saved := sum(off) - min(off)) > 0:
            said.append(f"Discount {discount.name} takes {_amount(situation, saved)} off.")
        said += [
            f"{problem.label(name)} says nothing about {problem.label(problem.target)}, but opens "
            f"discount {discount.name} at the lowest price."
            for name in sorted(inside - telling)
        ]
    return said
