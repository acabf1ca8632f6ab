r"""Why this and not that: what it costs to begin with each feature, and to go on in the best way.

At evidence e, a first step S costs

    Q(S) = C(S | e) + Σ_s P(s | e) v(e, s)

in all, where v is the least expected cost from some evidence on. The optimum takes the step of
least Q, or decides if that costs no more. Where steps acquire sets (rounds), the first step that is
told for a feature is the best set with this feature in it.

Where v is not known, the problem being too large, it is enclosed: greedy costs no less than v, and
deciding with the class known costs no more. Then the answer says that it is not exact. A first step
that cannot tell anything may use up a limit on spending, so that what is left is a problem that the
exact solver does not support. A search for its optimum is exact only if its bounds meet.

`step_reasons` says which outcomes make the difference.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from voilattice import time_plan
from voilattice.budgets import Deadline, TimeLimit
from voilattice.consultation.standing import start_from
from voilattice.consultation.step_reasons import reason_of_step
from voilattice.consultation.steps import FirstStep, FirstSteps, Outcome
from voilattice.errors import InputError, located
from voilattice.feature_sets import bits, mask_of
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import price_set
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.problem import Evidence, Problem
from voilattice.optimal.exact.interface import ExactSolution
from voilattice.optimal.solver import OptimalSolver
from voilattice.policy.interface import TIME_LIMIT, Limits, Step
from voilattice.policy.policy import Leaf
from voilattice.policy.situation import Situation, situation_at
from voilattice.policy.solvers import solver_of
from voilattice.ties import Offer, winner
from voilattice.wording import join_names, quote

__all__ = ["BarredError", "find_first_steps"]

MAX_OUTCOMES = 4096  # of a first step
MAX_QUICK = 8  # first steps of a problem that is too large for the exact solver, if none are named
QUICK = "greedy"  # the policy that goes on there
QUICK_STATES = 2_000  # of this policy, at each outcome


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
    time_limit: TimeLimit = TIME_LIMIT,
) -> FirstSteps:
    """Return what it costs to begin with each feature, and to go on in the best way.

    Parameters
    ----------
    features
        The first steps to tell of: features, or sets of features. By default each feature that can
        be acquired now and can matter. What the optimum begins with is always told too.
    unavailable, given, together
        As in `advise`.
    time_limit
        Seconds, to solve the problem.

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
    limits = Limits(time_limit=deadline)
    solved, known, solution = optimal.solution_at(
        start.problem, start.acquired, limits, share=time_plan.FIRST_STEPS
    )
    if solution is None:
        return _enclosed_steps(situation, start.problem, features, deadline)
    ways = _Optimum(start.problem, solved, solution, mask_of(situation.axes), deadline)
    offers = solution.offers(known, solved.limits)
    chosen = solution.choose(known, solved.limits)
    asked = _wanted(situation, features, offers)
    wanted = list(dict.fromkeys([*asked, *filter(None, [chosen])]))
    found = _tell(situation, wanted, chosen, ways, exact=not solution.error(known))
    if features is None or offers is None:
        return found
    steps = (replace(s, text=_said_of(problem, s, asked, found.chosen)) for s in found.steps)
    return replace(found, steps=tuple(steps))


def _enclosed_steps(
    situation: Situation,
    problem: Problem,
    features: Sequence[str | Collection[str]] | None,
    deadline: Deadline,
) -> FirstSteps:
    """Return first steps whose costs are enclosed by bounds."""
    wanted = list(_wanted(situation, features, None))
    if features is None:
        wanted.sort(key=lambda mask: -situation.value(mask).benefit)
        wanted = wanted[:MAX_QUICK]
    n_outcomes = sum(_count_outcomes(problem, mask) for mask in wanted)
    return _tell(situation, wanted, None, _Enclosure(problem, n_outcomes, deadline), exact=False)


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


class Continuation(Protocol):
    """What it costs to go on from some evidence."""

    def at(self, known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> tuple[Step, float]:
        """Return the next step with its cost to go, and a bound that no policy is below."""
        ...


class _Optimum:
    """The exact optimum goes on.

    Parameters
    ----------
    problem
        With all its limits.
    solved
        Without those that cannot bind while only features of R are acquired.
    relevant
        R, as a mask.
    """

    def __init__(
        self,
        problem: Problem,
        solved: Problem,
        solution: ExactSolution,
        relevant: int,
        deadline: Deadline,
    ) -> None:
        self._problem, self._solved, self._solution = problem, solved, solution
        self._relevant, self._deadline = relevant, deadline
        self._further = OptimalSolver()

    def at(self, known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> tuple[Step, float]:
        """Return the next step with its cost to go, and the same again unless it is a bound."""
        problem, solution = self._solved, self._solution
        new = problem.feature_mask(known) & ~problem.feature_mask(problem.evidence)
        if self._problem.limits and new & ~self._relevant:
            # A feature outside R counts too: other limits may bind then.
            here = replace(self._problem, evidence=dict(known), limits=left)
            part = Limits(time_limit=self._deadline.share(time_plan.STEP_THAT_TELLS_NOTHING))
            step = self._further.next_step(here, None, part)
            assert step.cost_to_go is not None  # the optimal policy always has a cost
            if step.certificate.exact:
                return step, step.cost_to_go
            return step, step.certificate.lower_bound or 0.0
        left = _matching(left, problem.limits)
        to_go = solution.cost_to_go(known, left)
        return Step(problem.feature_names(solution.choose(known, left)), to_go), to_go


def _matching(left: PathLimits, limits: PathLimits) -> PathLimits:
    """Return what is left, of those limits alone that a problem has."""
    return PathLimits(
        None if limits.spend is None else left.spend,
        None if limits.features is None else left.features,
        None if limits.rounds is None else left.rounds,
    )


class _Enclosure:
    """Greedy goes on, and knowing the class is a bound."""

    def __init__(self, problem: Problem, n_outcomes: int, deadline: Deadline) -> None:
        self._problem, self._left, self._deadline = problem, n_outcomes, deadline
        self._solver = solver_of(QUICK)

    def at(self, known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> tuple[Step, float]:
        """Return what greedy does and costs, and what no policy is below."""
        part = self._deadline.share(1 / max(self._left, 1))
        self._left -= 1
        here = replace(self._problem, evidence=dict(known), limits=left)
        policy = self._solver.build(here, Limits(QUICK_STATES, part))
        least = float(np.array(leaf.posterior) @ here.misclassification.min(axis=0))
        if policy.expected_total_cost >= leaf.emc or isinstance(policy.root, Leaf):
            return Step(frozenset(), leaf.emc), least
        return Step(frozenset(policy.root.features), policy.expected_total_cost), least


def _tell(
    situation: Situation,
    masks: Iterable[int],
    chosen: int | None,
    ways: Continuation,
    *,
    exact: bool,
) -> FirstSteps:
    """Return the first steps, the cheapest one first."""
    problem, decide = situation.builder.problem, situation.emc
    found = [_step(situation, mask, ways) for mask in masks]
    best = min((step.cost_to_go for step in found), default=decide)
    if chosen is None:
        chosen = 0
        if best < decide - situation.tol:
            (first, *_) = (step for step in found if step.cost_to_go == best)
            chosen = problem.feature_mask(first.features)
    exact = exact and all(s.lower_bound >= s.cost_to_go - situation.tol for s in found)
    names = problem.feature_names(chosen)
    best = min(best, decide)
    found.sort(key=lambda step: (step.cost_to_go, len(step.features), sorted(step.features)))
    found.sort(key=lambda step: step.features != names)
    rival = next((step for step in found if step.features == names), None)

    def to_go(known: Mapping[str, str], left: PathLimits, leaf: Leaf) -> float | None:
        return ways.at(known, left, leaf)[0].cost_to_go

    steps = []
    for made in found:
        step = replace(made, over=max(made.cost_to_go - best, 0.0))
        text = reason_of_step(situation, step, rival, to_go if exact else None)
        steps.append(replace(step, text=text))
    return FirstSteps(decide, names, exact, tuple(steps))


def _step(situation: Situation, mask: int, ways: Continuation) -> FirstStep:
    """Return what a first step costs in all, and its outcomes."""
    problem = situation.builder.problem
    names = problem.feature_names(mask)
    price = price_set(problem.costs, names, situation.known)
    left = situation.left.after(price, len(names))
    outcomes, lower = [], price
    for result, probability, leaf in outcomes_of(situation, mask):
        step, least = ways.at({**situation.known, **result}, left, leaf)
        assert step.cost_to_go is not None
        lower += probability * least
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
    return FirstStep(names, price, total, min(lower, total), 0.0, tuple(outcomes), "")


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
