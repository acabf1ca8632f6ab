"""From a table to a problem, and to a folder that holds it with a README of how it was made.

A problem needs a network, which is learned, and costs, which no table can teach: prices of features
and costs of wrong decisions are given, or stand at placeholders until somebody sets them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voilattice.errors import InputError, Remedy, VoilatticeError, within
from voilattice.files.problems import FILE_NAME, write_problem
from voilattice.learning.cells import MISSING
from voilattice.learning.columns import MAX_CATEGORIES
from voilattice.learning.data_tables import Data, DataTable, as_table
from voilattice.learning.networks import DECIMALS, Learned, fit_network, warn_about_columns
from voilattice.learning.preparation import prepare_cases
from voilattice.learning.recipes import Recipe
from voilattice.learning.table_files import table_name
from voilattice.model.costs import CostModel, FeatureCosts
from voilattice.model.problem import Misclassification, Problem
from voilattice.wording import count_noun, quote

__all__ = [
    "PLACEHOLDER_PRICE",
    "PLACEHOLDER_STAKES",
    "LearnedProblem",
    "check_output",
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
    """

    problem: Problem
    learned: Learned
    table: DataTable
    source: str
    notes: tuple[str, ...] = ()
    stakes: tuple[str, float] | None = None

    def __repr__(self) -> str:
        rows = count_noun(self.learned.n_rows, "row")
        return (
            f"<LearnedProblem {self.problem.title!r}: learned from {rows}, {self.learned.recipe}>"
        )

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
            readme = _readme(self, source or self.source)
            (scratch / README).write_text(readme, encoding="utf-8")
            for file in FILES:
                os.replace(scratch / file, folder / file)
        return folder / FILE_NAME


def check_output(folder: Path, *, force: bool) -> None:
    """Raise `InputError` if a learned problem cannot be written to a folder."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder; choose another name", str(folder))
    there = [file for file in FILES if (folder / file).exists()]
    if there and not force:
        raise InputError(
            f"{', '.join(there)} {'is' if len(there) == 1 else 'are'} there already",
            str(folder),
            (Remedy("choose another folder"), Remedy("overwrite what is there", "force")),
        )


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
    recipe: Recipe | None = None,
    title: str = "",
    ignore: Collection[str] = (),
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    states: Mapping[str, Sequence[str]] | None = None,
    missing: Collection[str] = MISSING,
    weights: Any = None,
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
        none: such columns are left out with a `DataWarning`, and their prices are not used.
    costs
        The price of each feature, or any object with the method of `CostModel`. By default every
        feature costs 1.
    misclassification
        As in `Problem.create`. By default symmetric costs, scaled to an expected cost of 100.
    recipe
        How the network is learned; by default ``Recipe()``.
    title
        The name of the problem; by default that of the file.
    ignore
        Columns to leave out.
    numeric, categorical
        Columns that are always cut into bins, and columns that never are.
    states
        The states of a column in the order wanted; by default they are sorted.
    missing
        The texts that mark a missing cell.
    weights
        As in `learn_network`.

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
    >>> found = vl.learn_problem(table, "ill", costs=prices, numeric=["fever"])
    >>> found.problem.states("fever")
    ('<38.05', '>=38.05')
    >>> sorted(vl.best_set(found.problem).features)
    ['fever']
    """
    if recipe is not None and not isinstance(recipe, Recipe):
        raise InputError(f"must be a voilattice.learning.Recipe, got {quote(recipe)}", "recipe")
    table = as_table(data, missing=missing)
    recipe = recipe or Recipe()
    cases = prepare_cases(
        table, target, recipe, ignore=ignore, numeric=numeric, categorical=categorical,
        states=states, weights=weights,
    )  # fmt: skip
    learned = fit_network(cases, recipe)
    features = [name for name in learned.network.names if name != target]
    stakes = PLACEHOLDER_STAKES if misclassification is None else misclassification
    path = Path(data) if isinstance(data, str | Path) else None
    problem = Problem.create(
        learned.network,
        target,
        dict.fromkeys(features, PLACEHOLDER_PRICE)
        if costs is None
        else _drop_prices(costs, learned.left_out),
        stakes,
        title=title or (table_name(path) if path else ""),
        bins=learned.cuts,
    )
    warn_about_columns(learned)
    return LearnedProblem(
        problem,
        learned,
        table,
        f"Learned by `voilattice.learn_problem` from {f'`{path.name}`' if path else 'a table'}.",
        (
            *_notes(ignore, numeric, categorical, missing, learned),
            *(() if weights is None else ("Rows count as often as their weights say.",)),
        ),
        stakes if isinstance(stakes, tuple) and isinstance(stakes[0], str) else None,
    )


def _drop_prices(
    costs: CostModel | Mapping[str, float], left_out: Collection[str]
) -> CostModel | Mapping[str, float]:
    """Return costs without those of the columns that were left out."""
    if isinstance(costs, FeatureCosts):
        return costs.without(left_out) if left_out else costs
    if isinstance(costs, Mapping):
        return {name: price for name, price in costs.items() if name not in left_out}
    return costs


def _notes(
    ignore: Collection[str],
    numeric: Collection[str],
    categorical: Collection[str],
    missing: Collection[str],
    learned: Learned,
) -> list[str]:
    chosen = (
        ("Left out", ignore),
        ("Left out, with one value or none", learned.left_out),
        ("May be leaks, since each determines the target by itself", learned.leaks),
        ("Cut into bins", numeric),
        ("Never cut into bins", categorical),
        ("Marks of missing cells, too", sorted(set(missing) - MISSING)),
        ("No marks of missing cells here", [repr(mark) for mark in sorted(MISSING - set(missing))]),
    )
    return [f"{what}: {', '.join(names)}." for what, names in chosen if names]


def _readme(found: LearnedProblem, source: str) -> str:
    import pyagrum

    learned = found.learned
    recipe, network = learned.recipe, learned.network
    is_capped = any(len(cuts) + 1 == recipe.max_bins for cuts in learned.cuts.values())
    left_out = f", {learned.n_left_out} more left out for want of a target"
    lines = [
        f"# {found.problem.title or 'A learned problem'}",
        "",
        source,
        "",
        f"- Table: {learned.n_rows} rows{left_out if learned.n_left_out else ''}; "
        f"SHA-256 of its content `{found.table.checksum}`.",
        f"- Bins: a column of numbers with more than {MAX_CATEGORIES} different values is cut "
        + (
            "where a cut pays for its description (Fayyad and Irani, 1993), at the median where "
            "none does" + (f"; at most {recipe.max_bins} bins." if is_capped else ".")
            if recipe.discretization == "mdl"
            else f"into {recipe.bins} bins of about as many cases."
        ),
        f"- Structure: {recipe.search} on {recipe.score}, at most {recipe.max_parents} parents"
        + (", none for the target" if recipe.target_first else "")
        + "; a missing cell stands at its column's most frequent state.",
        f"- Parameters: counts, plus {recipe.smoothing:g} in each cell"
        + ("; by expectation maximisation, since cells are missing" if learned.missing else "")
        + f"; rounded to {DECIMALS} decimals.",
        f"- Learned by pyAgrum {pyagrum.__version__}.",
        *(f"- {note}" for note in found.notes),
        *(f"- Arc forbidden: {a} -> {b}." for a, b in recipe.forbidden),
        *(f"- Arc required: {a} -> {b}." for a, b in recipe.required),
        "",
        "| column | states | missing | parents |",
        "| --- | --- | --- | --- |",
    ]
    for node, name in enumerate(network.names):
        cells = (
            f"{name} (target)" if name == learned.target else name,
            ", ".join(network.states[node]),
            str(learned.missing.get(name, 0)),
            ", ".join(network.names[p] for p in network.parents[node]) or "-",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])
