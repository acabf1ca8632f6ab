"""The methods of the arena: our own policies, and the baselines of the literature.

An *entry* learns once and answers for one method or several. Our policies are one entry: they share
the network, which ``auto`` chooses, and each follows it in its own way. The first of them is the
default of `voilattice.sklearn.AcquiringClassifier`. The others are quick, but to look ahead over 19
features takes them a minute a case: so they choose among the features of the focus
(`cases.focus`). Nothing here depends on the clock, so a method has the same results on every
machine.

*In-model regret.* How much a quick policy gives away in its own model is estimated with cases drawn
from the network: the mean of

    (feature cost + risk) of the policy  -  (feature cost + risk) of the optimum,

case by case, where the risk is what the decision costs by the posterior. Bad models do not matter
here, only policies do.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.arena.suites import Cell
from voilattice.baselines import BASELINES, STreeD
from voilattice.cases.application import apply_policy
from voilattice.cases.focus import FocusedSolver, find_planner
from voilattice.cases.tables import draw_cases
from voilattice.errors import UnknownNameError
from voilattice.extras import has_extra
from voilattice.learning.evaluation import follow_policy, learn_by_recipe
from voilattice.learning.rivals import AtOnce, Decided
from voilattice.model.problem import Problem
from voilattice.policy.interface import Solver
from voilattice.wording import nearest, quote

__all__ = [
    "OURS",
    "OUR_METHODS",
    "Answer",
    "available_methods",
    "entries_of",
    "method_names",
    "play",
]

POLICIES = ("optimal", "greedy", "greedy-la", "batch")
ENTRY = "voilattice"  # the entry of our policies
OUR_METHODS = tuple(f"{ENTRY} {policy}" for policy in POLICIES)
OURS = OUR_METHODS[0]  # our default
N_DRAWN = 100  # cases, for a regret


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method decided and paid for the new cases of a cell."""

    decided: Decided
    seconds: float  # to learn and to decide
    recipe: str = ""  # that our method used; empty: not ours
    model_cost: float | None = None  # of our policy, on cases drawn from its model


def method_names() -> tuple[str, ...]:
    """Return all methods, ours first."""
    return (*OUR_METHODS, *BASELINES)


def entries_of(methods: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the entries of some methods, and the methods that each of them answers for."""
    found: dict[str, tuple[str, ...]] = {}
    known = method_names()
    for method in dict.fromkeys(methods):
        if method not in known:
            near = nearest(method, known, or_list=False)  # all of them are listed
            raise UnknownNameError(
                f"no method {quote(method)}{near}; there are {', '.join(known)}", "methods"
            )
        entry = method if method in BASELINES else ENTRY
        found[entry] = (*found.get(entry, ()), method)
    return found


def available_methods() -> tuple[str, ...]:
    """Return the methods whose packages are installed."""
    is_there = has_extra("streed")
    return tuple(name for name in method_names() if is_there or name != STreeD.name)


def play(entry: str, methods: Sequence[str], cell: Cell, seed: int) -> dict[str, Answer]:
    """Return the answer of each method of an entry for a cell."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # sums in another order would be other numbers
        if entry == ENTRY:
            policies = [method.removeprefix(f"{ENTRY} ") for method in methods]
            return _play_policies(policies, cell, seed)
        start = time.perf_counter()
        decider = BASELINES[entry]().learn(cell.inside, cell.question, seed)
        decided = decider.decide(cell.outside)
        return {entry: Answer(decided, time.perf_counter() - start)}


def _play_policies(policies: Sequence[str], cell: Cell, seed: int) -> dict[str, Answer]:
    start = time.perf_counter()
    question = cell.question
    recipe, problem = learn_by_recipe(cell.inside, question, seed=seed)
    learning = time.perf_counter() - start
    answers: dict[str, Answer] = {}
    for policy in policies:
        start = time.perf_counter()
        model_cost = None
        if problem is None:
            decided = AtOnce().learn(cell.inside, question, seed).decide(cell.outside)
        else:
            planner = find_planner(problem, policy)
            seen = problem if policy == POLICIES[0] else FocusedSolver(problem).focus(problem)
            decided, _ = follow_policy(seen, policy, cell.outside, question, planner=planner)
        seconds = learning + time.perf_counter() - start
        if problem is not None:
            model_cost = float(_model_costs(seen, planner, seed).mean())
        answers[f"{ENTRY} {policy}"] = Answer(decided, seconds, recipe, model_cost)
    return answers


def _model_costs(problem: Problem, planner: Solver, seed: int) -> NDArray[np.float64]:
    """Return the feature cost and the risk of each drawn case; the same cases for every policy."""
    cases = draw_cases(problem.network, N_DRAWN, np.random.default_rng(seed))
    found = apply_policy(
        planner.name, cases, problem=problem, strict=False, planner=planner, time_limit=None
    )
    places = {decision: k for k, decision in enumerate(problem.decisions)}
    decision = [places[name] for name in found.decision]
    risk: NDArray[np.float64] = (problem.misclassification[decision] * found.posterior).sum(axis=1)
    return found.feature_cost + risk
