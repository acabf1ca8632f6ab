"""Learn a network from a table of cases.

A `Recipe` chooses each step; the steps are the same for every table:

1. Each column becomes states: bins for many numbers, else its values (`columns.py`).
2. A structure is found (`structure.py`, `augmented.py`, `decision_trees.py`).
3. Its parameters are smoothed counts (`parameters.py`), a model with few parameters that counts
   correct (`smooth.py`), or trained for the questions of a policy (`training.py`).
4. Probabilities are rounded to six decimals, so every machine writes the same file.

Rows whose target is missing are left out: they say nothing about the target.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import TooLargeError, located, warn_user
from voilattice.extras import need_extra
from voilattice.learning.data_tables import Data, as_table
from voilattice.learning.decision_trees import grow_tree_network
from voilattice.learning.parameters import fit_tables
from voilattice.learning.preparation import Columns, Prepared, prepare_cases
from voilattice.learning.recipes import Recipe, find_recipe
from voilattice.learning.smooth import Feature, fit_smooth
from voilattice.learning.structure import learn_structure
from voilattice.learning.training import train
from voilattice.model.network import Network
from voilattice.wording import quote

__all__ = [
    "DECIMALS",
    "Learned",
    "describe_left_out",
    "fit_network",
    "learn_network",
    "warn_about_columns",
]

DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Learned:
    """A network, and how the table's cells became its states.

    `cuts` are the bins of the problem that is made of the network (`Problem.bins`).
    """

    network: Network
    target: str
    recipe: Recipe
    cuts: Mapping[str, tuple[float, ...]]  # of the columns that were cut into bins
    n_rows: int
    n_left_out: int  # rows without a target
    missing: Mapping[str, int]  # missing cells of each column that has some
    left_out: tuple[str, ...] = ()  # columns of one value or none
    leaks: tuple[str, ...] = ()  # columns that determine the target by themselves


def learn_network(
    data: Data,
    target: str,
    recipe: Recipe | str | None = None,
    *,
    ignore: Collection[str] = (),
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    states: Mapping[str, Sequence[str]] | None = None,
    missing: Collection[str] | None = None,
    weights: Any = None,
) -> Learned:
    """Return the network that a recipe learns from a table.

    Columns of one value, or of none, are left out with a `DataWarning` that lists them all. Another
    one lists the columns that determine the target by themselves: these may be leaks.

    Parameters
    ----------
    data
        Anything that `as_table` takes.
    ignore
        Columns to leave out.
    numeric, categorical
        Columns that are always cut into bins, and columns that never are.
    states
        The states of a column in the order wanted; by default they are sorted.
    missing
        The texts that mark a missing cell, as in `as_table`.
    weights
        How many cases each row counts for: in the bins, the structure and the parameters. A row of
        weight 0 is left out.

    Raises
    ------
    VoilatticeError
        The place of the error is a parameter of this function or of `Recipe`; for a column of the
        table it is ``data.NAME``. If several columns cannot be used, one error lists them all.
    """
    recipe = find_recipe(recipe)
    cases = prepare_cases(
        as_table(data, missing=missing), target, recipe,
        Columns(ignore, numeric, categorical, states or {}), weights,
    )  # fmt: skip
    learned = fit_network(cases, recipe)
    warn_about_columns(learned)
    return learned


def fit_network(
    cases: Prepared, recipe: Recipe, class_costs: Sequence[float] | None = None
) -> Learned:
    """Return the network that a recipe learns from cases; errors as in `learn_network`.

    Parameters
    ----------
    class_costs
        What is at stake in each class: the cost of the worst decision there. Trained tables answer
        best where most is at stake.
    """
    need_extra("learn", "learning a network")
    try:
        cases, parents, tables = _fit(cases, recipe, class_costs)
    except TooLargeError as error:
        raise TooLargeError(error.message, "data") from None
    names = list(cases.states)
    with located("data"):
        network = Network.from_tables(
            cases.states,
            {name: [names[p] for p in parents[k]] for k, name in enumerate(names)},
            {name: _round_rows(tables[k]) for k, name in enumerate(names)},
        )
    return Learned(
        network,
        cases.target,
        recipe,
        cases.cuts,
        cases.n_rows,
        cases.n_left_out,
        {name: int((c < 0).sum()) for name, c in cases.codes.items() if (c < 0).any()},
        cases.left_out,
        cases.leaks,
    )


Fitted = tuple[Prepared, Sequence[Sequence[int]], list[NDArray[np.float64]]]


def _fit(cases: Prepared, recipe: Recipe, class_costs: Sequence[float] | None) -> Fitted:
    """Return the cases with their final bins, the parents of each node, and its table."""
    if recipe.parameters != "counts":
        return _fit_augmented(cases, recipe, class_costs)
    sizes = [len(states) for states in cases.states.values()]
    if recipe.structure == "decision-tree":
        grown = grow_tree_network(cases, recipe.smoothing)
        cases, at = grown.cases, list(cases.states).index(cases.target)
        sizes = [len(states) for states in cases.states.values()]
        above = [() if k == at else parents for k, parents in enumerate(grown.parents)]
        tables = _count(cases, sizes, above, recipe)
        tables[at] = grown.target_table
        return cases, grown.parents, tables
    parents = learn_structure(sizes, cases.codes, cases.target, recipe, cases.weights)
    return cases, parents, _count(cases, sizes, parents, recipe)


def _count(
    cases: Prepared, sizes: Sequence[int], parents: Sequence[Sequence[int]], recipe: Recipe
) -> list[NDArray[np.float64]]:
    return fit_tables(sizes, parents, list(cases.codes.values()), recipe.smoothing, cases.weights)


def _fit_augmented(cases: Prepared, recipe: Recipe, class_costs: Sequence[float] | None) -> Fitted:
    """Fit smooth tables, and train them if the recipe says so."""
    names, features = list(cases.states), cases.features
    classes, n_classes = cases.codes[cases.target], len(cases.states[cases.target])
    columns = [
        Feature(
            cases.codes[name], len(cases.states[name]), cases.values.get(name),
            cases.cuts.get(name, ()),
        )
        for name in features
    ]  # fmt: skip
    found = fit_smooth(
        columns, classes, n_classes, cases.row_weights, recipe.strength,
        forest=recipe.structure == "tree",
    )  # fmt: skip
    if recipe.parameters == "trained":
        codes = [column.codes for column in columns]
        weights = cases.row_weights
        if class_costs is not None and max(class_costs) > 0:
            at_stake = np.asarray(class_costs, dtype=np.float64)[classes] * weights
            weights = at_stake * (weights.sum() / at_stake.sum()) if at_stake.any() else weights
        found = train(found, codes, classes, weights, recipe.pull)
    at = names.index(cases.target)
    places = [names.index(name) for name in features]
    parents: list[list[int]] = [[] for _ in names]
    tables = [found.prior for _ in names]
    for k, above, table in zip(places, found.parents, found.tables, strict=True):
        parents[k] = [at] if above < 0 else [at, places[above]]
        tables[k] = table[:, 0, :] if above < 0 else table
    return cases, parents, tables


def warn_about_columns(learned: Learned | Prepared) -> None:
    """Warn about the columns that were left out, and about those that may be leaks."""
    if learned.left_out:
        warn_user(describe_left_out(learned.left_out))
    if learned.leaks:
        names = ", ".join(map(quote, learned.leaks))
        warn_user(
            f"columns that alone determine {quote(learned.target)}: {names}; leave them out if "
            f"they are not known before the decision"
        )


def describe_left_out(columns: Sequence[str]) -> str:
    """Return the warning about the columns that are left out."""
    return f"columns with one value or none are left out: {', '.join(map(quote, columns))}"


def _round_rows(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to six decimals; the likeliest state of a row takes what is missing to a sum of 1."""
    unit = 10**DECIMALS
    counts = np.rint(table * unit).astype(np.int64)
    rows = counts.reshape(-1, counts.shape[-1])
    rows[np.arange(len(rows)), rows.argmax(axis=1)] += unit - rows.sum(axis=1)
    rounded: NDArray[np.float64] = rows.reshape(table.shape) / unit
    return rounded
