r"""Choose a recipe by what counts: the total cost of its policy on cases it has not seen.

The rows are dealt into folds, several times. For each fold, each recipe learns from the other
folds, and its policy is followed for the rows of the fold: it pays for what it buys and for wrong
decisions. So every recipe has a held-out cost for every row, the mean over the repeats. Let d be
the difference between a recipe and the one of lowest mean cost, row by row. The first recipe is
taken with

    mean(d) <= SE(d),

within one standard error of this paired difference: what does not show in the rows is not worth a
less simple model. A recipe whose costs vary much has a large SE. So one that is dearer than an
earlier one is not taken, even if the earlier one was left out. `CANDIDATES` have fewer parameters
the earlier they stand. To decide at once, without any feature, is always the last of them.

The rows that recipes learn from overlap between the folds, so the costs of two folds are not
independent, and std(d) / √n is too small. With r repeats of k folds, the standard error is
corrected after Nadeau and Bengio (2003): SE² = (1 / (r k) + 1 / (k - 1)) k std(d)² / n.

While recipes are compared, the optimum is that over as many features as a table of `MAX_STATES`
states holds, those that matter most (`cases.focus`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline, TimeLimit
from voilattice.cases.application import apply_policy
from voilattice.cases.focus import find_planner
from voilattice.errors import InputError, UnknownNameError, located, warn_user
from voilattice.learning.columns import check_typed, encode_column
from voilattice.learning.data_tables import DataTable
from voilattice.learning.networks import Learned, fit_network
from voilattice.learning.preparation import AS_THEY_ARE, Columns, Prepared, prepare_cases
from voilattice.learning.recipes import Recipe, find_recipe
from voilattice.model.costs import CostModel, pricing_of
from voilattice.model.problem import Problem
from voilattice.model.stakes import CostMatrix
from voilattice.parallel import Workers, run_in_order
from voilattice.wording import nearest, quote

__all__ = [
    "CANDIDATES",
    "NONE",
    "Choice",
    "Fold",
    "Trial",
    "choose_recipe",
    "condition_states",
    "deal_folds",
    "make_problem",
    "try_recipe",
]

NONE = "none"  # decide at once
CANDIDATES = ("smooth", "trained", "decision-tree", NONE)
N_FOLDS = 4
N_REPEATS = 2
MANY_ROWS = 2_000  # from here on, one repeat
MOST_ROWS = 10_000  # drawn at random if there are more
MAX_STATES = 200_000  # of the table for the optimum

Rows = NDArray[np.intp]
Costs = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trial:
    """A recipe, its mean cost on rows that it did not see, and the standard error of the mean."""

    name: str
    mean_total_cost: float
    standard_error: float
    difference: float  # to the lowest mean
    error_of_difference: float  # its standard error, corrected


@dataclass(frozen=True, slots=True)
class Choice:
    """The recipe that was chosen, and all that were tried, the lowest cost first."""

    name: str
    recipe: Recipe | None  # None: decide at once
    trials: tuple[Trial, ...]
    n_rows: int = 0  # that were held out at least once


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows to learn from, and rows to try on."""

    inside: Rows
    outside: Rows


def choose_recipe(
    table: DataTable,
    target: str,
    costs: CostModel,
    cost: CostMatrix,
    *,
    classes: Sequence[str],
    decisions: Sequence[str] | None = None,
    policy: str = "optimal",
    candidates: Sequence[str] = CANDIDATES,
    columns: Columns = AS_THEY_ARE,
    weights: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
    time_limit: TimeLimit = None,
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """Return the recipe whose policy is cheapest on new cases.

    Parameters
    ----------
    costs
        What features cost; of every column that may become a feature.
    cost
        c_ij, in the order of `decisions` and `classes`.
    classes
        All states of the target: a fold may lack some.
    decisions
        The names of the rows of `cost`; by default the classes.
    policy
        The policy that will be used.
    candidates
        Names of recipes, the simplest first, and ``none``.
    columns
        How the columns of the table are read.
    weights
        How many cases each row counts for.
    n_jobs
        Processes, as joblib has them.
    time_limit
        Seconds. At the limit no more folds begin after the first, and those that are done decide.
    progress
        Called with the number of trials done and of all trials.
    """
    if pricing_of(costs).conditions:
        cases = prepare_cases(table, target, find_recipe("naive"), columns, weights)
        columns = columns.with_states(condition_states(costs, cases))
    is_used = ~_missing(table, target)
    if weights is not None:
        is_used &= np.asarray(weights) > 0
    labelled = np.flatnonzero(is_used)
    random = np.random.default_rng(seed)
    if len(labelled) > MOST_ROWS:
        labelled = np.sort(random.choice(labelled, MOST_ROWS, replace=False))
    n_repeats = 1 if len(labelled) >= MANY_ROWS else N_REPEATS
    folds = [fold for _ in range(n_repeats) for fold in deal_folds(labelled, N_FOLDS, random)]
    tasks = [(name, fold) for fold in folds for name in candidates]
    found = np.zeros((len(candidates), table.n_rows))
    n_tries = np.zeros(table.n_rows)
    results = _run(
        tasks, Workers.of(n_jobs), progress, Deadline.of(time_limit), len(candidates),
        lambda name, fold: try_recipe(
            table, target, name, fold, costs, cost, classes=classes, decisions=decisions,
            policy=policy, columns=columns, weights=weights,
        ),
    )  # fmt: skip
    for (name, fold), paid in zip(tasks, results, strict=False):  # there may have been no time
        found[candidates.index(name), fold.outside] += paid
        n_tries[fold.outside] += name == candidates[0]
    tried = np.flatnonzero(n_tries)
    if len(tried) < len(labelled):
        warn_user(
            f"there was time to try recipes on {len(tried):,} of {len(labelled):,} rows only; a "
            f"larger time limit makes the choice surer"
        )
    counted = np.ones(len(tried)) if weights is None else np.asarray(weights)[tried]
    return _choose(list(candidates), found[:, tried] / n_tries[tried], counted, n_repeats)


def deal_folds(rows: Rows, n_folds: int, random: np.random.Generator) -> list[Fold]:
    """Deal rows into folds at random; each fold has its turn as the rows to try on."""
    n_folds = min(n_folds, len(rows))
    number = random.permutation(len(rows)) % max(n_folds, 1)
    return [Fold(rows[number != k], rows[number == k]) for k in range(n_folds)]


def try_recipe(
    table: DataTable,
    target: str,
    name: str | Recipe,
    fold: Fold,
    costs: CostModel,
    cost: CostMatrix,
    *,
    classes: Sequence[str],
    decisions: Sequence[str] | None = None,
    policy: str,
    columns: Columns = AS_THEY_ARE,
    weights: Any = None,
) -> Costs:
    """Return the total cost of each row outside, with what the recipe learns from those inside."""
    inside, outside = table.take(fold.inside), table.take(fold.outside)
    truth = _codes(outside, target, classes)
    counted = None if weights is None else np.asarray(weights, dtype=np.float64)[fold.inside]
    n = np.bincount(_codes(inside, target, classes), counted, len(classes)).astype(np.float64)
    at_once: Costs = np.asarray(cost[int((cost @ (n + 1.0)).argmin()), truth])
    if name == NONE:
        return at_once
    recipe = find_recipe(name)
    columns = columns.with_states({target: tuple(classes)})
    try:
        cases = prepare_cases(inside, target, recipe, columns, counted)
    except InputError:  # few rows may have one class, or no column of two values
        return at_once
    learned = fit_network(cases, recipe, cost.max(axis=0).tolist())
    problem = make_problem(learned, costs, cost, decisions)
    raw = outside.raw(list(cases.states))
    planner = find_planner(problem, policy, MAX_STATES)
    applied = apply_policy(
        policy, raw, problem=problem, strict=False, planner=planner, time_limit=None
    )
    total = applied.total_cost
    assert total is not None  # the target is among the columns
    return total


def condition_states(costs: CostModel, cases: Prepared) -> dict[str, Sequence[str]]:
    """Return the states of the features on which prices depend.

    A state that a price depends on may be in no row of a fold, and is a state all the same.

    Raises
    ------
    VoilatticeError
        A condition names no feature or no state, or a feature whose bins differ from fold to fold.
    """
    found: dict[str, Sequence[str]] = {}
    for place, (feature, when) in enumerate(pricing_of(costs).conditions):
        with located(f"conditional_costs[{place}].feature"):
            _check_feature(feature, cases)
        for name, state in when:
            with located(f"conditional_costs[{place}].when.{name}"):
                _check_feature(name, cases)
                if name in cases.cuts:
                    raise InputError("has other bins in every fold, so no price can depend on it")
                if state not in cases.states[name]:
                    near = nearest(state, cases.states[name])
                    raise UnknownNameError(f"no state {quote(state)}{near}")
            found[name] = cases.states[name]
    return found


def _check_feature(name: str, cases: Prepared) -> None:
    if name not in cases.features:
        raise UnknownNameError(f"no feature {quote(name)}{nearest(name, cases.features)}")


def make_problem(
    learned: Learned, costs: CostModel, cost: CostMatrix, decisions: Sequence[str] | None = None
) -> Problem:
    """Return the problem of a learned network; columns that were left out have no price."""
    features = [name for name in learned.network.names if name != learned.target]
    pricing = pricing_of(costs)
    costs = pricing.without(sorted(set(pricing.prices) - set(features)))
    return Problem.create(
        learned.network, learned.target, costs, cost, bins=learned.cuts, decisions=decisions
    )


def _choose(names: list[str], costs: Costs, weights: Costs, n_repeats: int) -> Choice:
    means = np.average(costs, axis=1, weights=weights)
    overlap = math.sqrt((1 / (n_repeats * N_FOLDS) + 1 / (N_FOLDS - 1)) * N_FOLDS)
    best = int(means.argmin())
    trials = []
    for k, name in enumerate(names):
        trials.append(
            Trial(
                name,
                float(means[k]),
                _error(costs[k], weights),
                float(means[k] - means[best]),
                overlap * _error(costs[k] - costs[best], weights),
            )
        )
    chosen, least = trials[best], math.inf
    for trial in trials:
        if trial.difference <= trial.error_of_difference and trial.mean_total_cost <= least:
            chosen = trial
            break
        least = min(least, trial.mean_total_cost)
    recipe = None if chosen.name == NONE else find_recipe(chosen.name)
    ranked = tuple(sorted(trials, key=lambda trial: trial.mean_total_cost))
    return Choice(chosen.name, recipe, ranked, costs.shape[1])


def _error(costs: Costs, weights: Costs) -> float:
    """Return the standard error of a weighted mean."""
    mean = np.average(costs, weights=weights)
    variance = np.average((costs - mean) ** 2, weights=weights)
    n = weights.sum() ** 2 / (weights**2).sum()  # rows of equal weight that would say as much
    return math.sqrt(float(variance) / max(float(n), 1.0))


def _run(
    tasks: Sequence[tuple[Any, Fold]],
    where: Workers,
    progress: Callable[[int, int], None] | None,
    deadline: Deadline,
    n_together: int,
    work: Callable[[Any, Fold], Costs],
) -> list[Costs]:
    """Return the costs of the tasks; at the deadline no more tasks begin, `n_together` each."""

    def begin() -> Iterator[tuple[Any, Fold]]:
        for number, task in enumerate(tasks):
            if number and number % n_together == 0 and deadline.is_over:
                return
            yield task

    found: list[Costs] = []
    with closing(run_in_order(_do, begin(), where=where, shared=work)) as results:
        for costs in results:
            found.append(costs)
            if progress is not None:
                progress(len(found), len(tasks))
    return found


def _do(work: Callable[[Any, Fold], Costs], task: tuple[Any, Fold]) -> Costs:
    return work(*task)


def _missing(table: DataTable, target: str) -> NDArray[np.bool_]:
    return check_typed(table.column(target)).is_missing


def _codes(table: DataTable, target: str, classes: Sequence[str]) -> Rows:
    codes, _ = encode_column(check_typed(table.column(target)), classes, None)
    return codes
