r"""Why this and not that: what it costs to begin with each feature, and to go on in the best way.

At evidence e, a first step S costs

    Q(S) = C(S | e) + Σ_s P(s | e) v(e, s)

in all, where v is the least expected cost from some evidence on. The optimum takes the step of
least Q, or decides if that costs no more. Where steps acquire sets (rounds), the first step that is
told for a feature is the best set with this feature in it.

The exact optimum knows v for all evidence. Where there is no exact optimum (`continuations`), v is
searched for after each outcome, and the first step is the one that advice gives. Let L <= V <= U be
what is known about the optimum from e on, which begins with A. Then Q(S) >= V >= L for each S, and
Q(A) <= U. So if V is proved, Q(A) is known, however far the searches after A have come.

`step_reasons` says which outcomes make the difference.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voilattice import time_plan
from voilattice.budgets import Deadline, TimeLimit
from voilattice.consultation.advice import plan_step
from voilattice.consultation.continuations import (
    Continuation,
    ExactContinuation,
    SearchedContinuation,
)
from voilattice.consultation.standing import start_from
from voilattice.consultation.step_reasons import reason_of_step
from voilattice.consultation.steps import FirstStep, FirstSteps, Outcome
from voilattice.errors import InputError, located
from voilattice.feature_sets import bits, mask_of
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import price_set
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.problem import Evidence, Problem
from voilattice.optimal.solver import OptimalSolver, exact_step
from voilattice.policy.interface import TIME_LIMIT, Limits, Step
from voilattice.policy.policy import Certificate, Leaf
from voilattice.policy.situation import Situation, situation_at
from voilattice.policy.solvers import solver_of
from voilattice.ties import Offer, winner
from voilattice.wording import join_names, quote

__all__ = ["BarredError", "find_first_steps"]

MAX_OUTCOMES = 4096  # of a first step
MAX_SEARCHED = 8  # first steps that are searched for if none are named


class BarredError(InputError):
    """A first step that the constraints or the limits do not allow now."""


def find_first_steps(
    problem: Problem,
    evidence: Evidence | None = None,
    *,
    features: Sequence[str | Collection[str]] | None = None,
    unavailable: Collection[str] = (),
    given: Evidence | None = None,
    together: Collection[Collection[str]] = (),
    advised: Step | None = None,
    time_limit: TimeLimit = TIME_LIMIT,
) -> FirstSteps:
    """Return what it costs to begin with each feature, and to go on in the best way.

    Parameters
    ----------
    features
        The first steps to tell of: features, or sets of features. By default each feature that can
        be acquired now and can matter. What the optimum begins with is always told too.
    advised
        What the optimum is already known to begin with: then no time is spent to find that.
    unavailable, given, together
        As in `advise`.
    time_limit
        Seconds. At the limit the answer has bounds, and says so.

    >>> import voilattice
    >>> found = find_first_steps(voilattice.load_problem("figure1"))
    >>> round(found.decide, 2), sorted(found.chosen), found.exact
    (17.6, [], True)
    >>> [(sorted(step.features), round(step.cost_to_go, 2)) for step in found.steps]
    [(['X1'], 21.4), (['X2'], 24.1)]
    >>> print(found.steps[0].text.split(". ")[0])
    Beginning with X1 costs 3.80 more than deciding now
    """
    deadline = Deadline.of(time_limit)
    start = start_from(problem, evidence, unavailable=unavailable, given=given, together=together)
    situation = situation_at(start.problem, start.acquired, deadline=deadline)
    registered = solver_of("optimal")  # somebody may have put another one in its place
    optimal = registered if isinstance(registered, OptimalSolver) else OptimalSolver()
    solved, known, solution = optimal.solution_at(
        start.problem, start.acquired, Limits(time_limit=deadline), share=time_plan.FIRST_STEPS
    )
    offers, also = None, set[int]()
    if advised is not None:
        also.add(start.problem.feature_mask(advised.features))
    if solution is not None:
        offers = solution.offers(known, solved.limits)
        advised = exact_step(solution, known, solved.limits)
    elif advised is None:
        part = deadline.share(time_plan.FIRST_STEP_FOUND)
        _, advised, _ = plan_step(optimal, start.problem, start.acquired, part)
    also.add(start.problem.feature_mask(advised.features))
    asked = _wanted(situation, features, offers)
    if solution is None and features is None:
        by_benefit = sorted(asked, key=lambda mask: -situation.value(mask).benefit)
        asked = {mask: asked[mask] for mask in by_benefit[:MAX_SEARCHED]}
    wanted = [mask for mask in dict.fromkeys([*also, *asked]) if mask]
    relevant = 0 if solution is None else mask_of(situation.axes)
    n_outcomes = sum(_count_outcomes(problem, mask) for mask in wanted if mask & ~relevant)
    ways: Continuation = SearchedContinuation(start.problem, n_outcomes, deadline)
    if solution is not None:
        ways = ExactContinuation(solved, solution, relevant, ways)
    found = _tell(situation, wanted, advised, ways)
    if features is None or offers is None:
        return found
    steps = (replace(s, text=_said_of(problem, s, asked, found.chosen)) for s in found.steps)
    return replace(found, steps=tuple(steps))


def _wanted(
    situation: Situation,
    features: Sequence[str | Collection[str]] | None,
    offers: Mapping[int, Offer] | None,
) -> dict[int, list[int]]:
    """Return the sets of the first steps to tell of, as masks, and what was asked for each."""
    problem = situation.builder.problem
    if features is None:
        alone = situation.alone if offers is None else mask_of(situation.axes)
        found = [1 << k for k in bits(alone)]
    else:
        with located("features"):
            if isinstance(features, str) or not isinstance(features, Collection):
                raise InputError(f"must be a list of features or sets, got {quote(features)}")
            sets = ([entry] if isinstance(entry, str) else entry for entry in features)
            found = [
                problem.feature_mask(problem.check_acquirable(names, situation.known))
                for names in sets
            ]
            if 0 in found:
                raise InputError("a first step has at least one feature, got an empty one")
    wanted: dict[int, list[int]] = {}
    for asked in dict.fromkeys(found):
        mask = asked if offers is None else _best_with(asked, offers, situation.tol)
        if features is None and offers is not None and mask not in offers:
            continue
        if features is not None:
            _check_allowed(situation, mask)
        wanted.setdefault(mask, []).append(asked)
    return wanted


def _said_of(
    problem: Problem, step: FirstStep, asked: Mapping[int, Sequence[int]], chosen: frozenset[str]
) -> str:
    """Return the text of a step, and in front of it what the step has to do with what was asked."""

    def labels(mask: int) -> str:
        return join_names([problem.label(name) for name in problem.feature_names(mask)], "and")

    mask, said = problem.feature_mask(step.features), []
    for question in asked.get(mask, ()):
        if question != mask:
            said.append(f"{labels(question)}, best together with {labels(mask & ~question)}")
        elif len(step.features) > 1 and step.features != chosen:
            said.insert(0, f"{labels(mask)} alone, as asked")
    return f"{'; '.join(said)}: {step.text}" if said else step.text


def _best_with(mask: int, offers: Mapping[int, Offer], tol: float) -> int:
    """Return the best set with a feature in it; a set of several features stays as it is."""
    with_it = [other for other in offers if other & mask]
    if mask.bit_count() > 1 or not with_it:
        return mask
    return winner(with_it, offers.__getitem__, tol)


def _check_allowed(situation: Situation, mask: int) -> None:
    problem, known = situation.builder.problem, situation.known
    price, n = situation.builder.cost(mask, known), mask.bit_count()
    names = sorted(problem.feature_names(mask))
    if not (problem.feasibility.is_feasible(mask, known) and situation.left.allows(price, n)):
        why = problem.feasibility.obstacles(mask, known)
        why += situation.left.obstacles(price, n, problem.currency)
        raise BarredError(f"{', '.join(names)} cannot be acquired now. {' '.join(why)}", "features")
    if _count_outcomes(problem, mask) > MAX_OUTCOMES:
        raise InputError(
            f"{', '.join(names)} have more than {MAX_OUTCOMES:,} outcomes; name fewer features",
            "features",
        )


def _count_outcomes(problem: Problem, mask: int) -> int:
    return math.prod(len(problem.states(problem.features[k])) for k in bits(mask))


@dataclass(frozen=True, slots=True)
class _Told:
    """A first step, and what is known of its outcomes."""

    step: FirstStep
    shortfall: Certificate | None  # of an outcome that is not exact; None: all are exact

    def is_exact(self, tol: float) -> bool:
        """Return whether the bounds on the cost meet."""
        return self.step.lower_bound >= self.step.cost_to_go - tol


def _tell(
    situation: Situation, masks: Sequence[int], advised: Step, ways: Continuation
) -> FirstSteps:
    """Return the first steps: what is advised, then the cheapest one first."""
    decide, tol, chosen = situation.emc, situation.tol, advised.features
    told = [_bounded(_step(situation, mask, ways), advised) for mask in masks]
    told.sort(key=lambda t: (t.step.cost_to_go, len(t.step.features), sorted(t.step.features)))
    told.sort(key=lambda t: t.step.features != chosen)
    best = min([decide, *(t.step.cost_to_go for t in told)])
    rival = next((t for t in told if t.step.features == chosen), None)

    def to_go(known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> float | None:
        step = ways.at(known, left, leaf)
        return step.cost_to_go if step.certificate.exact else None

    steps = []
    for one in told:
        step = replace(one.step, over=max(one.step.cost_to_go - best, 0.0))
        compares = rival is not None and rival.shortfall is None and one.shortfall is None
        text = reason_of_step(
            situation, step, None if rival is None else rival.step,
            to_go if compares else None, _doubt(one, advised, tol),
        )  # fmt: skip
        steps.append(replace(step, text=text))
    exact = _is_proved(advised) and all(t.is_exact(tol) for t in told)
    return FirstSteps(decide, chosen, exact, tuple(steps))


def _bounded(told: _Told, advised: Step) -> _Told:
    """Return a first step with the bounds on the optimum, where they are tighter."""
    step, most = told.step, advised.cost_to_go
    least = most if _is_proved(advised) else advised.certificate.lower_bound
    total = step.cost_to_go
    if step.features == advised.features and most is not None:
        total = min(total, most)
    lower = min(max(step.lower_bound, least or 0.0), total)
    return replace(told, step=replace(step, cost_to_go=total, lower_bound=lower))


def _is_proved(advised: Step) -> bool:
    """Return whether no policy costs less than one that begins with this step."""
    return advised.certificate.exact and advised.certificate.lower_bound is not None


def _doubt(told: _Told, advised: Step, tol: float) -> str:
    """Return why the cost of a step, or what is advised, is not proved; empty: both are."""
    if told.is_exact(tol) or told.shortfall is None:
        return "" if _is_proved(advised) else "It is not proved which first step costs least."
    if told.shortfall.status == "ok":
        return told.shortfall.note
    return f"There was not enough {told.shortfall.status} to find the exact cost."


def _step(situation: Situation, mask: int, ways: Continuation) -> _Told:
    """Return what a first step costs in all, and its outcomes."""
    problem = situation.builder.problem
    names = problem.feature_names(mask)
    price = price_set(problem.costs, names, situation.known)
    if _count_outcomes(problem, mask) > MAX_OUTCOMES:
        note = f"It has more than {MAX_OUTCOMES:,} outcomes, which are not told."
        alone = FirstStep(names, price, price + situation.emc, price, 0.0, (), "")
        return _Told(alone, Certificate(exact=False, note=note))
    left = situation.left.after(price, len(names))
    outcomes, lower, shortfall = [], price, None
    for result, probability, leaf in outcomes_of(situation, mask):
        step = ways.at({**situation.known, **result}, left, leaf)
        assert step.cost_to_go is not None
        if not step.certificate.exact:
            shortfall = shortfall or step.certificate
        lower += probability * (step.certificate.lower_bound or 0.0)
        outcomes.append(
            Outcome(
                result,
                probability,
                leaf.emc,
                step.cost_to_go,
                step.features,
                None if step.features else leaf.decision,
            )
        )
    total = price + math.fsum(o.probability * o.cost_to_go for o in outcomes)
    made = FirstStep(names, price, total, min(lower, total), 0.0, tuple(outcomes), "")
    return _Told(made, shortfall)


def outcomes_of(situation: Situation, mask: int) -> Iterator[tuple[dict[str, str], float, Leaf]]:
    """Yield the possible results of a set, with their probability and what to decide then."""
    problem = situation.builder.problem
    names = [problem.features[k] for k in bits(mask)]
    joint = situation.joint(mask)
    for codes in np.ndindex(joint.shape[1:]):
        here = joint[:, *codes]
        if (p := float(here.sum())) > LEAST_MASS:
            result = {f: problem.states(f)[v] for f, v in zip(names, codes, strict=True)}
            yield result, p, Leaf.at(problem, here / p)
