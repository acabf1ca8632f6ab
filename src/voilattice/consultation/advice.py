"""Advice: what to do now, at any evidence, and why.

Advice is what a policy (`policy.solvers`) does in one situation: what to acquire next, or the
decision. It comes with the posterior, the candidates with their EVI, cost and benefit, and reasons.
Only the situation at hand is worked out, so there is advice on networks whose policies are far too
large to build. A policy that cannot answer within its limits is replaced by greedy, and the advice
says so. A policy that is built already, such as a saved one, answers from its tree.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from voilattice import time_plan
from voilattice.budgets import Deadline, TimeLimit
from voilattice.consultation.ignored import Ignored, ignored_features, too_dear
from voilattice.consultation.reasons import reasons_of_rules, reasons_of_solver, reasons_of_tree
from voilattice.consultation.standing import Purchase, decision_costs, start_from
from voilattice.errors import InputError, TooLargeError
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.problem import Evidence, Problem, check_problem
from voilattice.policy.policy import Acquisition, Certificate, Leaf, Policy
from voilattice.policy.relevance import Relevance
from voilattice.policy.situation import Situation, situation_at
from voilattice.policy.solvers import TIME_LIMIT, Limits, Solver, Step, policy_names, solver_of
from voilattice.valuation.streaming import bracket_expected_emc
from voilattice.valuation.valuation import Value
from voilattice.wording import quote

__all__ = ["FALLBACK", "Advice", "advise", "plan_step", "step_of_tree"]

FALLBACK = "greedy"  # it needs only what each feature alone is worth


SECONDS_TO_VALUE = 2.0  # of a set that the advice speaks of

_UNVALUED = "It takes long to value a set that large: it is worth at least what is said here."

_OFF_TREE = "The policy's own tree does not tell what to do here: {name} is planned again."


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
    candidates: tuple[Value, ...]  # what is worth considering, highest benefit first
    reasons: tuple[str, ...]
    certificate: Certificate = field(default_factory=Certificate)
    fallback: str | None = None  # the policy that answered in place of the one asked for
    decision_costs: dict[str, float] = field(default_factory=dict)  # expected, if decided now
    left: PathLimits = NO_LIMITS  # what is left of the limits
    barred: tuple[Value, ...] = ()  # what matters, but cannot be acquired now: see its obstacles
    bill: tuple[Purchase, ...] = ()  # what was acquired so far, round by round
    ignored: tuple[Ignored, ...] = ()  # every other unknown feature, with the reason

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
    if not isinstance(policy, str | Policy):
        raise InputError(
            f"must be the name of a policy, or a policy, got {quote(policy)}", "policy"
        )
    deadline = Deadline.of(time_limit)
    start = start_from(problem, evidence, unavailable=unavailable, given=given, together=together)
    here, acquired, bill = start.problem, start.acquired, start.bill
    situation = situation_at(here, acquired, deadline=deadline)
    decision, fallback = situation.decision, None
    tree = policy if isinstance(policy, Policy) else None
    place = (
        tree
        if tree is None
        else _place_in_tree(tree, problem, situation.known, start.left, unavailable)
    )
    if tree is not None and place is not None:
        solver, step, notes = None, step_of_tree(tree, place), list[str]()
        if isinstance(leaf := tree.nodes[place], Leaf):
            decision = leaf.decision
    else:
        asked, notes = _planner(policy)
        solver, step, excuse = plan_step(asked, here, acquired, deadline)
        notes += excuse
        fallback = solver.name if excuse else None
    chosen = here.feature_mask(step.features)
    ahead = here.feature_mask(step.target_set or ())
    if solver is not None and solver.looks_ahead and chosen and not ahead:
        ahead = situation.best()
    singles = [situation.value(1 << k) for k in situation.axes]
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
        reasons_of_tree(situation, step, goal, decision)
        if solver is None
        else reasons_of_solver(solver, situation, step, goal, singles)
    )
    reasons += reasons_of_rules(situation, step.features, ordered)
    dear = too_dear(situation)
    wanted = here.feature_names(chosen | ahead)
    candidates = tuple(
        v
        for v in ordered
        if not v.obstacles and (v.features & wanted or not v.features & set(dear))
    )
    barred = tuple(v for v in ordered if v.obstacles)
    considered = wanted.union(*(v.features for v in candidates))
    ignored = ignored_features(
        problem, situation, considered, dear=dear, barred=barred, missing=start.missing
    )
    return Advice(
        step.features,
        here.feature_names(ahead) if ahead else None,
        None if chosen else decision,
        dict(zip(here.classes, situation.posterior.tolist(), strict=True)),
        situation.emc,
        math.fsum(purchase.cost for purchase in bill),
        benefit,
        candidates,
        (*notes, *reasons, *start.locked, *([_UNVALUED] if unvalued else [])),
        step.certificate,
        fallback,
        decision_costs(here, situation.posterior),
        situation.left,
        barred,
        bill,
        ignored,
    )


def _place_in_tree(
    policy: Policy,
    problem: Problem,
    known: Mapping[str, str],
    left: PathLimits,
    unavailable: Collection[str],
) -> int | None:
    """Return the number of the node of a policy that tells what to do, or None: none of them does.

    None of them does if the evidence is not on the tree, if the tree was not worked out there, if
    the policy would acquire there, or later, what cannot be acquired, or if less of the limits is
    `left` than on the tree.
    """
    own = policy.problem
    if replace(own, evidence={}) != replace(problem, evidence={}):
        raise InputError("belongs to another problem", "policy")
    for feature, state in own.evidence.items():
        if known.get(feature) != state:
            raise InputError(
                f"was built with the evidence {feature}={state}, which is not given here", "policy"
            )
    found = policy.walk(own.further(known))
    if found is None or policy.acquired_from(found[0]) & set(unavailable):
        return None
    place, way = found
    if own.limits and not _is_as_much_left(own, way, known, left):
        return None
    node = policy.nodes[place]
    return None if isinstance(node, Leaf) and node.is_open else place


def _is_as_much_left(
    problem: Problem, way: Iterable[Acquisition], known: Mapping[str, str], left: PathLimits
) -> bool:
    """Return whether the same limits can still bind as after the acquisitions of a tree."""
    there = problem.limits
    for node in way:
        there = there.after(node.price, len(node.features))
    relevance = Relevance(problem)
    relevant, _ = relevance.what_matters(problem.feature_mask(known))
    mine, theirs = (relevance.limits_that_bind(limits, relevant) for limits in (left, there))
    return mine == theirs


def step_of_tree(policy: Policy, place: int | None = None) -> Step:
    """Return what a policy does at one of its nodes, by default the first."""
    place = len(policy.nodes) - 1 if place is None else place
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


def plan_step(
    solver: Solver, problem: Problem, evidence: Mapping[str, str], deadline: Deadline
) -> tuple[Solver, Step, list[str]]:
    """Return what a policy does, or what greedy does with the reason, and who says it."""
    try:
        limits = Limits(time_limit=deadline.share(time_plan.ADVISED_STEP))
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
