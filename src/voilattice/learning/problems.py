"""From a table to a problem, and to a folder that holds it with a README of how it was made.

A problem needs a network, which is learned, and costs, which no table can teach: prices of features
and costs of wrong decisions are given, or stand at placeholders until somebody sets them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voilattice.budgets import TimeLimit
from voilattice.errors import InputError, Remedy, UnknownNameError, VoilatticeError, located, within
from voilattice.extras import need_extra
from voilattice.files.problems import FILE_NAME, write_problem
from voilattice.learning.cells import MISSING, Numbers
from voilattice.learning.data_tables import Data, DataTable, as_table
from voilattice.learning.networks import Learned, fit_network, warn_about_columns
from voilattice.learning.preparation import Columns, Prepared, check_priced, prepare_cases
from voilattice.learning.readmes import write_readme
from voilattice.learning.recipes import AUTO, NAMED, Recipe, find_recipe
from voilattice.learning.selection import NONE, Choice, choose_recipe
from voilattice.learning.table_files import table_name
from voilattice.model.costs import CostModel, FeatureCosts, pricing_of
from voilattice.model.network import Network
from voilattice.model.problem import Misclassification, Problem
from voilattice.policy.solvers import solver_of
from voilattice.wording import count_noun, quote

__all__ = [
    "FILES",
    "PLACEHOLDER_PRICE",
    "PLACEHOLDER_STAKES",
    "README",
    "LearnedProblem",
    "check_output",
    "check_recipe",
    "learn_problem",
]

PLACEHOLDER_PRICE = 1.0
PLACEHOLDER_STAKES = ("symmetric", 100.0)
README = "README.md"
FILES = ("network.bif", README, FILE_NAME)  # the last one names the first


@dataclass(frozen=True, slots=True, repr=False)
class LearnedProblem:
    """A problem, the network learned for it, and what its README says.

    Parameters
    ----------
    learned
        The network, its recipe, and how cells become states.
    table
        What it was learned from.
    source
        What the table is and where it came from, in a sentence.
    notes
        What else was decided about the columns, a sentence each.
    stakes
        The scaled kind and the expected cost, if the misclassification costs were given so.
    choice
        How the recipe was chosen; None: it was given.
    """

    problem: Problem
    learned: Learned
    table: DataTable
    source: str
    notes: tuple[str, ...] = ()
    stakes: tuple[str, float] | None = None
    choice: Choice | None = None

    def __repr__(self) -> str:
        rows = count_noun(self.learned.n_rows, "row")
        return (
            f"<LearnedProblem {self.problem.title!r}: learned from {rows}, {self.learned.recipe}>"
        )

    @property
    def uncut_numbers(self) -> list[str]:
        """The features whose column holds numbers that were not cut into bins."""
        return [
            name
            for name in self.problem.features
            if isinstance(self.table.columns.get(name), Numbers) and name not in self.problem.bins
        ]

    def write(self, folder: str | Path, *, source: str = "", force: bool = False) -> Path:
        """Write the problem and its README to a folder; return the path of the problem file.

        Everything is written beside the old files first and then takes their places, so nothing is
        lost if the work is interrupted.

        Parameters
        ----------
        folder
            Created if it does not exist.
        source
            Another sentence in place of `source`.
        force
            Overwrite the files of these names that the folder holds already, and no others.
        """
        folder = Path(folder)
        check_output(folder, force=force)
        with within(str(folder)), _scratch_folder(folder) as scratch:
            try:
                write_problem(self.problem, scratch, stakes=self.stakes)
            except VoilatticeError as error:
                message = error.message.replace(f"{scratch}{os.sep}", "")
                raise type(error)(message, error.place, error.remedies) from None
            readme = write_readme(
                self.problem.title, source or self.source, self.learned, self.table, self.notes,
                self.choice,
            )  # fmt: skip
            (scratch / README).write_text(readme, encoding="utf-8")
            for file in FILES:
                os.replace(scratch / file, folder / file)
        return folder / FILE_NAME


def check_output(folder: Path, *, force: bool, files: Sequence[str] = FILES) -> None:
    """Raise `InputError` if these files cannot be written to a folder."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder; choose another name", str(folder))
    there = [file for file in files if (folder / file).exists()]
    if there and not force:
        raise InputError(
            f"{', '.join(there)} {'is' if len(there) == 1 else 'are'} there already",
            str(folder),
            (Remedy("choose another folder"), Remedy("overwrite what is there", "force")),
        )
    nearest_folder = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryDirectory(prefix=".voilattice-", dir=nearest_folder):
            pass
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"cannot be written: {why}", str(folder)) from None


@contextmanager
def _scratch_folder(folder: Path) -> Iterator[Path]:
    """Make a folder inside another one, which is created too; if the work fails, both go again."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".voilattice-", dir=folder) as scratch:
            yield Path(scratch)
    except BaseException as error:
        if is_new:
            with suppress(OSError):  # it was never made, or has files by now
                folder.rmdir()
        if isinstance(error, OSError):
            raise InputError(f"cannot be written: {error.strerror or error}") from None
        raise


def learn_problem(
    data: Data,
    target: str,
    *,
    costs: CostModel | Mapping[str, float] | None = None,
    misclassification: Misclassification | None = None,
    recipe: Recipe | str | None = AUTO,
    policy: str = "optimal",
    title: str = "",
    labels: Mapping[str, str] | None = None,
    state_labels: Mapping[str, Mapping[str, str]] | None = None,
    currency: str = "",
    ignore: Collection[str] = (),
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    states: Mapping[str, Sequence[str]] | None = None,
    missing: Collection[str] | None = None,
    weights: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
    time_limit: TimeLimit = None,
    progress: Callable[[int, int], None] | None = None,
) -> LearnedProblem:
    """Learn a problem from a table of cases.

    Parameters
    ----------
    data
        The path of a CSV or Parquet file, a mapping of columns, a data frame (pandas, polars and
        others), a 2-D array, or a `DataTable`. Cells are numbers, texts or truth values; None and
        NaN are missing.
    target
        The column to decide on. Every other column becomes a feature, unless it has one value or
        none: such columns are left out with a `DataWarning`. Prices and labels of columns that
        are left out are not used.
    costs
        The price of each feature, or any object with the method of `CostModel`. By default every
        feature costs 1.
    misclassification
        As in `Problem.create`. By default symmetric costs, scaled to an expected cost of 100.
    recipe
        How the network is learned: a `Recipe`, the name of one, or ``"auto"``. This tries several
        recipes and chooses by what their policies cost on rows that they have not seen
        (`selection`; `LearnedProblem.choice`). ``"search"``, or None, is quick.
    policy
        The policy that will be used; ``"auto"`` chooses the recipe for it.
    title
        The name of the problem; by default that of the file.
    labels, state_labels, currency
        What people read in place of names, and with amounts, as in `Problem.create`.
    ignore
        Columns to leave out; their prices are not used.
    numeric, categorical
        Columns that are always cut into bins, and columns that never are.
    states
        The states of a column in the order wanted; by default they are sorted.
    missing
        The texts that mark a missing cell, as in `as_table`.
    weights
        As in `learn_network`.
    seed, n_jobs, time_limit, progress
        For ``"auto"``: the seed of the folds, the processes (as joblib has them), the seconds after
        which no more folds begin, and a function that is called with the number of trials done and
        of all trials.

    Raises
    ------
    VoilatticeError
        The place of the error is a parameter of this function or of `Recipe`; for a column it is
        ``data.NAME``, for a price ``costs.NAME``.

    >>> import voilattice as vl
    >>> table = {
    ...     "ill": ["no", "yes", "no", "yes", "no", "yes"] * 10,
    ...     "fever": [36.5, 39.1, 36.8, 36.8, 37.0, None] * 10,  # None is missing
    ...     "cough": [0, 1, 1, 1, 0, 0] * 10,
    ... }
    >>> prices = {"fever": 2, "cough": 1}
    >>> found = vl.learn_problem(table, "ill", costs=prices, numeric=["fever"], recipe="search")
    >>> found.problem.states("fever")
    ('<38.05', '>=38.05')
    >>> sorted(vl.best_set(found.problem).features)
    ['fever']
    """
    need_extra("learn", "learning a network")
    if recipe != AUTO:
        recipe = check_recipe(recipe)
    with located("policy"):
        solver_of(policy)
    table = as_table(data, missing=missing)
    columns = Columns(ignore, numeric, categorical, states or {})
    first = Recipe() if isinstance(recipe, str) else recipe
    cases = prepare_cases(table, target, first, columns, weights)
    unused = {*cases.left_out, *ignore}
    prices = _prices(costs, cases.features, unused)
    # A misspelled name is without a column too; the problem says so, and what is nearest.
    if (pricing := pricing_of(prices)).is_sum and set(pricing.prices) <= set(cases.features):
        check_priced(cases.features, pricing.prices)
    labels = {x: text for x, text in (labels or {}).items() if x not in unused}
    state_labels = {x: texts for x, texts in (state_labels or {}).items() if x not in unused}
    stakes = PLACEHOLDER_STAKES if misclassification is None else misclassification
    bare = _bare_problem(cases, prices, stakes, labels, state_labels)
    cost = bare.misclassification
    choice = None
    if isinstance(recipe, str):
        choice = choose_recipe(
            table, target, prices, cost, classes=bare.classes, decisions=bare.decisions,
            policy=policy, columns=columns, weights=weights, seed=seed, n_jobs=n_jobs,
            time_limit=time_limit, progress=progress,
        )  # fmt: skip
        # Where deciding at once is best, the trials name the best of those that learn.
        best = next(trial.name for trial in choice.trials if trial.name != NONE)
        recipe = choice.recipe or find_recipe(best)
        cases = prepare_cases(table, target, recipe, columns, weights)
    learned = fit_network(cases, recipe, cost.max(axis=0).tolist())
    path = Path(data) if isinstance(data, str | Path) else None
    problem = Problem.create(
        learned.network,
        target,
        prices,
        stakes,
        title=title or (table_name(path) if path else ""),
        bins=learned.cuts,
        labels=labels,
        state_labels=state_labels,
        currency=currency,
    )
    warn_about_columns(learned)
    return LearnedProblem(
        problem,
        learned,
        table,
        f"Learned by `voilattice.learn_problem` from {f'`{path.name}`' if path else 'a table'}.",
        (
            *_notes(columns, missing, learned),
            *(() if weights is None else ("Rows count as often as their weights say.",)),
        ),
        stakes if isinstance(stakes, tuple) and isinstance(stakes[0], str) else None,
        choice,
    )


def check_recipe(recipe: Recipe | str | None) -> Recipe:
    """Return a recipe by its name, or as it is; raise `UnknownNameError` if there is none."""
    if isinstance(recipe, Recipe | None) or (isinstance(recipe, str) and recipe in NAMED):
        return find_recipe(recipe)
    raise UnknownNameError(
        f"must be a Recipe, {AUTO!r}, or one of {', '.join(NAMED)}; got {quote(recipe)}", "recipe"
    )


def _bare_problem(
    cases: Prepared,
    costs: CostModel,
    stakes: Misclassification,
    labels: Mapping[str, str],
    state_labels: Mapping[str, Mapping[str, str]],
) -> Problem:
    """Return the problem of a network without arcs, before anything is learned.

    It checks the costs and the labels, but not the labels of bins: another recipe has other bins.
    Misclassification costs of a scaled kind become a matrix by the shares of the classes in the
    table.
    """
    tables = {name: np.full(len(states), 1 / len(states)) for name, states in cases.states.items()}
    n_classes = len(cases.states[cases.target])
    n = np.bincount(cases.codes[cases.target], cases.weights, n_classes) + 1.0
    tables[cases.target] = n / n.sum()
    with located("data"):
        network = Network.from_tables(cases.states, {}, tables)
    names = {name: of for name, of in state_labels.items() if name not in cases.cuts}
    return Problem.create(network, cases.target, costs, stakes, labels=labels, state_labels=names)


def _prices(
    costs: CostModel | Mapping[str, float] | None, features: Collection[str], unused: set[str]
) -> CostModel:
    """Return the costs of the columns that are used."""
    if costs is None:
        return FeatureCosts(dict.fromkeys(features, PLACEHOLDER_PRICE))
    if isinstance(costs, Mapping):
        return FeatureCosts({f: price for f, price in costs.items() if f not in unused})
    return pricing_of(costs).without(unused)


def _notes(columns: Columns, missing: Collection[str] | None, learned: Learned) -> list[str]:
    missing = MISSING if missing is None else missing
    chosen = (
        ("Left out", columns.ignore),
        ("Left out, with one value or none", learned.left_out),
        ("May be leaks, since each determines the target by itself", learned.leaks),
        ("Cut into bins", columns.numeric),
        ("Never cut into bins", columns.categorical),
        ("Marks of missing cells, too", sorted(set(missing) - MISSING)),
        ("No marks of missing cells here", [repr(mark) for mark in sorted(MISSING - set(missing))]),
    )
    return [f"{what}: {', '.join(names)}." for what, names in chosen if names]
