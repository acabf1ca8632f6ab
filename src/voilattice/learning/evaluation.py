r"""What methods cost on cases that they have not seen, by cross-validation.

The rows are dealt into folds at random, the rows of each class evenly. Each method learns from all
folds but one and decides the rows of that one. So every row has a cost under every method, and the
rows are the same for all (`held_out_results`).

Everything that is learned is learned inside a fold: bins, arcs, tables, the recipe that ``auto``
chooses, the pruning of a tree, scales and medians. Two things are known before: which columns hold
numbers, and the costs. Costs of a scaled kind are turned into a matrix once, by the shares of the
classes in the whole table, so that all folds have the same stakes.

The expected total cost of a policy is exact in its network. The costs here are measured, on cases
that the network was not learned from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from voilattice.budgets import TimeLimit
from voilattice.cases.application import apply_policy
from voilattice.cases.focus import find_planner
from voilattice.errors import InputError, UnknownNameError, located
from voilattice.extras import need_extra
from voilattice.learning.columns import check_typed, find_classes
from voilattice.learning.data_tables import Data, DataTable, as_table
from voilattice.learning.held_out_results import Evaluation, FoldResults, Result, summarize
from voilattice.learning.networks import fit_network, warn_about_columns
from voilattice.learning.preparation import AS_THEY_ARE, Columns, check_priced, prepare_cases
from voilattice.learning.recipes import AUTO, NAMED, Recipe, find_recipe, name_recipe
from voilattice.learning.rivals import AtOnce, Codes, Decided, Question, Rival, Table, make_rivals
from voilattice.learning.selection import Fold, choose_recipe, condition_states, make_problem
from voilattice.model.costs import CostModel, FeatureCosts, Pricing, check_amount, pricing_of
from voilattice.model.problem import Misclassification, Problem
from voilattice.model.stakes import (
    CostMatrix,
    cost_matrix,
    has_class_decision,
    named_classes,
    scaled_costs,
)
from voilattice.parallel import Workers, run_in_order
from voilattice.policy.solvers import Solver, policy_names
from voilattice.wording import nearest, quote

__all__ = [
    "POLICIES",
    "TIME_LIMIT",
    "ask_question",
    "choosing_policy",
    "deal_evenly",
    "decide_by_policies",
    "evaluate",
    "evaluate_folds",
]

POLICIES = ("none", "markov-blanket", "greedy", "greedy-la", "batch", "optimal")
TIME_LIMIT = 20.0  # seconds for a policy in a fold

Progress = Callable[[int, int], None]


def evaluate(data: Data, target: str, **settings: Any) -> Evaluation:
    """Return what policies and rivals cost on rows that they have not seen.

    Parameters
    ----------
    data, target, settings
        As in `evaluate_folds`.

    >>> table = {"ill": ["no", "yes"] * 30, "test": ["-", "+"] * 29 + ["+", "-"]}
    >>> found = evaluate(
    ...     table, "ill", costs={"test": 1}, misclassification=("symmetric", 20),
    ...     policies=["none", "optimal"], recipes=["naive"], rivals=(), n_folds=3,
    ... )
    >>> [(r.method, round(r.mean_total_cost, 2)) for r in found.results]
    [('voilattice optimal (naive)', 2.33), ('voilattice none (naive)', 20.0)]
    """
    return summarize(list(evaluate_folds(data, target, **settings)))


def evaluate_folds(
    data: Data,
    target: str,
    *,
    costs: CostModel | Mapping[str, float],
    misclassification: Misclassification,
    policies: Sequence[str] = POLICIES,
    recipes: Sequence[str | Recipe] = (AUTO,),
    rivals: Sequence[Rival] | None = None,
    budgets: Sequence[float] | None = None,
    n_folds: int = 10,
    seed: int = 0,
    time_limit: float = TIME_LIMIT,
    n_jobs: int | None = None,
    dask: str | None = None,
    ignore: Collection[str] = (),
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    states: Mapping[str, Sequence[str]] | None = None,
    missing: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Iterator[FoldResults]:
    """Yield the results of all methods fold by fold; `summarize` puts them together.

    Parameters
    ----------
    data
        Anything that `as_table` takes.
    target
        The column to decide on. Rows without a class are left out.
    costs
        The price of each feature, or any object with the method of `CostModel`.
    misclassification
        As in `Problem.create`.
    policies, recipes
        Every policy is followed with every recipe. A recipe is a `Recipe`, the name of one, or
        ``auto``: chosen inside each fold, by the cost of one of the policies (`choosing_policy`).
    rivals
        What else is compared; by default all that `make_rivals` returns.
    budgets
        As in `make_rivals`.
    n_folds
        How often the rows are learned from; each row is decided once.
    seed
        Of the folds and of everything that is drawn.
    time_limit
        Seconds to follow a policy in a fold; its states are planned as cases come to them.
    n_jobs
        Processes, as joblib has them.
    dask
        The address of a Dask scheduler, whose workers take the place of these processes, or
        ``local:N`` (`voilattice.parallel`).
    ignore, numeric, categorical, states, missing
        As in `learn_network`.
    progress
        Called with the number of pieces of work done and of all pieces.

    Raises
    ------
    VoilatticeError
        The place of the error is a parameter of this function; for a column of the table it is
        ``data.NAME``.
    """
    need_extra("learn", "an evaluation")
    table = as_table(data, missing=missing)
    question, rows = ask_question(
        table, target, costs, misclassification, Columns(ignore, numeric, categorical, states or {})
    )
    policies = tuple(dict.fromkeys(policies))
    _check_policies(policies)
    if not isinstance(seed, int) or seed < 0:
        raise InputError(f"must be a whole number >= 0, got {quote(seed)}", "seed")
    for budget in budgets or ():
        with located("budgets"):
            check_amount(budget)
    with located("recipes"):
        named = {name_recipe(recipe): recipe for recipe in recipes}
    codes = question.classes_of(table)
    folds = deal_evenly(rows, codes, n_folds, np.random.default_rng(seed))
    against = make_rivals(question, budgets) if rivals is None else tuple(rivals)
    _check_methods(named if policies else (), against)
    works: list[Callable[[Fold], list[Result]]] = []
    if policies:
        works += [
            _recipe_work(table, question, name, recipe, policies, seed, time_limit)
            for name, recipe in named.items()
        ]
    works += [_rival_work(table, question, rival, seed) for rival in against]
    return _run(folds, works, target, Workers.of(n_jobs, dask), progress)


def ask_question(
    table: DataTable,
    target: str,
    costs: CostModel | Mapping[str, float],
    misclassification: Misclassification,
    columns: Columns = AS_THEY_ARE,
) -> tuple[Question, Codes]:
    """Return what has to be decided, and the rows that have a class.

    The table is checked as a whole, so that an error comes before the work and not in some fold.
    """
    with located(f"data.{target}"):
        column = check_typed(table.column(target)) if target in table.columns else None
        has_states = target in columns.states
        if column is not None and isinstance(misclassification, Mapping) and not has_states:
            # A class may be in the matrix and in no row of the table.
            found = find_classes(column, None)
            more = [name for name in named_classes(misclassification) if name not in found]
            columns = columns.with_states({target: [*found, *more]})
    cases = prepare_cases(table, target, NAMED["naive"], columns)
    classes = tuple(cases.states[target])
    counts = np.bincount(cases.codes[target], minlength=len(classes))
    if (counts > 1).sum() < 2:
        raise InputError("two classes with two rows or more are needed", f"data.{target}")
    features = tuple(cases.features)
    if isinstance(costs, Mapping):
        costs = FeatureCosts(costs)
    if (pricing := pricing_of(costs)).is_sum:
        # The price of a column that is left out is not used.
        _check_prices(pricing, features, [name for name in table.columns if name != target])
        costs = pricing.without(sorted(set(pricing.prices) - set(features)))
        columns = columns.with_states(condition_states(costs, cases))
    codes = cases.codes[target]
    shares = np.bincount(codes, minlength=len(classes)) / len(codes)
    decisions, cost = _matrix(misclassification, classes, shares)
    known = {name: names for name, names in columns.states.items() if name in features}
    question = Question(
        target, classes, decisions, features, frozenset(cases.cuts), costs, cost, known
    )
    warn_about_columns(cases)
    rows = np.flatnonzero(~check_typed(table.column(target)).is_missing)
    return question, rows


def deal_evenly(rows: Codes, codes: Codes, n_folds: int, random: np.random.Generator) -> list[Fold]:
    """Deal rows into folds at random, those of each class evenly.

    A class of two rows or more is among the rows to learn from in every fold.

    Parameters
    ----------
    codes
        The class of each row of the table.
    """
    if not isinstance(n_folds, int) or not 2 <= n_folds <= len(rows):
        raise InputError(
            f"must be 2 to {len(rows):,}, the number of rows, got {n_folds}", "n_folds"
        )
    order = random.permutation(len(rows))
    order = order[np.argsort(codes[rows[order]], kind="stable")]
    number = np.empty(len(rows), dtype=np.intp)
    number[order] = np.arange(len(rows)) % n_folds
    return [Fold(rows[number != k], rows[number == k]) for k in range(n_folds)]


def decide_by_policies(
    inside: DataTable,
    outside: DataTable,
    question: Question,
    recipe: str | Recipe,
    policies: Sequence[str],
    seed: int = 0,
    time_limit: float = TIME_LIMIT,
) -> tuple[str, list[tuple[Decided, float, int]]]:
    """Learn from a table with a recipe, and follow policies for the rows of another one.

    Returns
    -------
    str
        The name of the recipe, which ``auto`` chooses.
    list
        For each policy: what was decided and paid, the seconds that it took with everything that
        was learned for it, and the number of rows in which the time was over.
    """
    start = time.perf_counter()
    name, problem = learn_by_recipe(inside, question, recipe, choosing_policy(policies), seed)
    learning = time.perf_counter() - start
    results = []
    for policy in policies:
        start = time.perf_counter()
        if problem is None:
            decided, n_unfinished = AtOnce().learn(inside, question, seed).decide(outside), 0
        else:
            decided, n_unfinished = follow_policy(problem, policy, outside, question, time_limit)
        results.append((decided, learning + time.perf_counter() - start, n_unfinished))
    return name, results


def learn_by_recipe(
    table: DataTable,
    question: Question,
    recipe: str | Recipe = AUTO,
    policy: str = POLICIES[-1],
    seed: int = 0,
    *,
    n_jobs: int | None = None,
) -> tuple[str, Problem | None]:
    """Return the name of the recipe that was used, and the problem that was learned with it.

    Parameters
    ----------
    policy
        The policy by whose cost ``auto`` chooses.

    Returns
    -------
    Problem
        None: to decide at once is cheaper, or there is nothing to learn from.
    """
    features, columns = question.usable(table), question.columns(table)
    name, found = name_recipe(recipe), None
    if features and recipe == AUTO:
        choice = choose_recipe(
            table, question.target, question.costs, question.cost, classes=question.classes,
            decisions=question.decisions, policy=policy, seed=seed, n_jobs=n_jobs,
            columns=columns,
        )  # fmt: skip
        name, found = choice.name, choice.recipe
    elif features:
        found = find_recipe(recipe)
    if found is None:
        return name, None
    cases = prepare_cases(table, question.target, found, columns)
    learned = fit_network(cases, found, question.cost.max(axis=0).tolist())
    return name, make_problem(learned, question.costs, question.cost, question.decisions)


def follow_policy(
    problem: Problem,
    policy: str,
    table: DataTable,
    question: Question,
    time_limit: TimeLimit = None,
    planner: Solver | None = None,
) -> tuple[Decided, int]:
    """Follow a policy of a learned problem for the rows of a table.

    Only the states that the rows come to are planned.

    Returns
    -------
    Decided
        What was decided and paid.
    int
        The number of rows in which the greedy policy went on, because the time was over.
    """
    applied = apply_policy(
        policy, table.raw(problem.features), problem=problem, strict=False,
        planner=find_planner(problem, policy) if planner is None else planner,
        time_limit=time_limit,
    )  # fmt: skip
    places = {decision: k for k, decision in enumerate(question.decisions)}
    decision = np.array([places[name] for name in applied.decision], dtype=np.intp)
    decided = Decided(decision, applied.posterior, applied.feature_cost, applied.bought)
    return decided, int(applied.unfinished.sum())


def _recipe_work(
    table: DataTable,
    question: Question,
    name: str,
    recipe: str | Recipe,
    policies: tuple[str, ...],
    seed: int,
    time_limit: float,
) -> Callable[[Fold], list[Result]]:
    def work(fold: Fold) -> list[Result]:
        inside, outside = table.take(fold.inside), table.take(fold.outside)
        used, found = decide_by_policies(
            inside, outside, question, recipe, policies, seed, time_limit
        )
        chosen = (used,) if recipe == AUTO else ()
        return [
            _result(
                f"voilattice {policy} ({name})", question, outside, decided, seconds,
                recipe=name, policy=policy, chosen=chosen, n_unfinished=n_unfinished,
            )
            for policy, (decided, seconds, n_unfinished) in zip(policies, found, strict=True)
        ]  # fmt: skip

    return work


def _rival_work(
    table: DataTable, question: Question, rival: Rival, seed: int
) -> Callable[[Fold], list[Result]]:
    def work(fold: Fold) -> list[Result]:
        inside, outside = table.take(fold.inside), table.take(fold.outside)
        start = time.perf_counter()
        decided = rival.learn(inside, question, seed).decide(outside)
        seconds = time.perf_counter() - start
        return [_result(rival.name, question, outside, decided, seconds)]

    return work


def _result(
    method: str,
    question: Question,
    outside: DataTable,
    decided: Decided,
    seconds: float,
    **others: Any,
) -> Result:
    truth, decision, cost = question.classes_of(outside), decided.decision, question.cost
    return Result(
        method,
        truth=np.array(question.classes, dtype=object)[truth],
        decision=np.array(question.decisions, dtype=object)[decision],
        feature_cost=decided.feature_cost,
        misclassification_cost=cost[decision, truth],
        probability=_probability(question, decided),
        risk=(cost[decision] * decided.posterior).sum(axis=1),
        seconds=seconds,
        decides_on_classes=has_class_decision(question.decisions, question.classes),
        **others,
    )


def _probability(question: Question, decided: Decided) -> Table:
    """Return P(y | x) of the decided class in each row; NaN: the decision is no class."""
    found = np.full(len(decided.decision), np.nan)
    for i, name in enumerate(question.decisions):
        if name in question.classes:
            here = decided.decision == i
            found[here] = decided.posterior[here, question.classes.index(name)]
    return found


def _run(
    folds: Sequence[Fold],
    works: Sequence[Callable[[Fold], list[Result]]],
    target: str,
    where: Workers,
    progress: Progress | None,
) -> Iterator[FoldResults]:
    """Do all work of one fold after that of another, and yield the folds that are done."""
    tasks = [(k, j) for k in range(len(folds)) for j in range(len(works))]
    with closing(run_in_order(_do, tasks, where=where, shared=(folds, works))) as found:
        n_done = 0
        for fold in folds:
            results: list[Result] = []
            for _ in works:
                results += next(found)
                n_done += 1
                if progress is not None:
                    progress(n_done, len(tasks))
            yield FoldResults(target, fold.outside, tuple(results))


def _do(
    shared: tuple[Sequence[Fold], Sequence[Callable[[Fold], list[Result]]]], task: tuple[int, int]
) -> list[Result]:
    (folds, works), (k, j) = shared, task
    return works[j](folds[k])


def choosing_policy(policies: Sequence[str]) -> str:
    """Return the policy by whose cost ``auto`` chooses a recipe for all: the last of `POLICIES`.

    >>> choosing_policy(["greedy", "none"])
    'greedy'
    """

    def rank(policy: str) -> int:
        return POLICIES.index(policy) if policy in POLICIES else len(POLICIES)

    return max(policies, key=rank)


def _check_policies(policies: Sequence[str]) -> None:
    for policy in policies:
        if policy not in policy_names():
            raise UnknownNameError(
                f"no policy {quote(policy)}; there are {', '.join(policy_names())}", "policies"
            )


def _check_methods(named: Collection[str], against: Sequence[Rival]) -> None:
    if not named and not against:
        raise InputError("nothing is asked for: name a policy or a rival", "policies")
    names = [rival.name for rival in against]
    if len(set(names)) < len(names):
        raise InputError("two rivals have the same name", "rivals")


def _check_prices(pricing: Pricing, features: Sequence[str], columns: Collection[str]) -> None:
    """Raise `VoilatticeError` if a feature has no price, or a price has no column."""
    for name in pricing.prices:  # first: a misspelled name is both
        if name not in columns:
            raise UnknownNameError(f"no such feature{nearest(name, columns)}", f"costs.{name}")
    check_priced(features, pricing.prices)


def _matrix(
    given: Misclassification, classes: tuple[str, ...], shares: Table
) -> tuple[tuple[str, ...], CostMatrix]:
    """Return the decisions and what they cost."""
    with located("misclassification"):
        if isinstance(given, Mapping):
            return cost_matrix(given, classes)
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
            return classes, scaled_costs(given[0], given[1], shares.tolist())
        try:
            rows = {
                i: dict(zip(classes, row, strict=True))
                for i, row in zip(classes, given, strict=True)
            }
        except (TypeError, ValueError):
            raise InputError(
                f"must be a matrix [decision][class] for the classes {', '.join(classes)}"
            ) from None
        return cost_matrix(rows, classes)
