"""Learn a network from a table of cases.

A `Recipe` chooses each step; the steps are the same for every table:

1. Each column becomes states: bins for many numbers, else its values (`columns.py`).
2. A local search finds the structure (`structure.py`).
3. The parameters are smoothed counts. If cells are missing, expectation maximization finds the
   counts from all cells that are there (`parameters.py`).
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
from voilattice.learning.data_tables import Data, as_table
from voilattice.learning.parameters import fit_tables
from voilattice.learning.preparation import Prepared, prepare_cases
from voilattice.learning.recipes import Recipe
from voilattice.learning.structure import learn_structure
from voilattice.model.network import Network
from voilattice.wording import quote

__all__ = ["DECIMALS", "Learned", "fit_network", "learn_network", "warn_about_columns"]

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
    recipe: Recipe | None = None,
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
    recipe = recipe or Recipe()
    cases = prepare_cases(
        as_table(data, missing=missing), target, recipe, ignore=ignore, numeric=numeric,
        categorical=categorical, states=states, weights=weights,
    )  # fmt: skip
    learned = fit_network(cases, recipe)
    warn_about_columns(learned)
    return learned


def fit_network(cases: Prepared, recipe: Recipe) -> Learned:
    """Return the network that a recipe learns from cases; errors as in `learn_network`."""
    names = list(cases.states)
    sizes = [len(states) for states in cases.states.values()]
    parents = learn_structure(sizes, cases.codes, cases.target, recipe, cases.weights)
    try:
        tables = fit_tables(
            sizes, parents, list(cases.codes.values()), recipe.smoothing, cases.weights
        )
    except TooLargeError as error:
        raise TooLargeError(error.message, "data") from None
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


def warn_about_columns(learned: Learned) -> None:
    """Warn about the columns that were left out, and about those that may be leaks."""
    if learned.left_out:
        names = ", ".join(map(quote, learned.left_out))
        warn_user(f"columns with one value or none are left out: {names}")
    if learned.leaks:
        names = ", ".join(map(quote, learned.leaks))
        warn_user(
            f"columns that alone determine {quote(learned.target)}: {names}; leave them out if "
            f"they are not known before the decision"
        )


def _round_rows(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to six decimals; the likeliest state of a row takes what is missing to a sum of 1."""
    unit = 10**DECIMALS
    counts = np.rint(table * unit).astype(np.int64)
    rows = counts.reshape(-1, counts.shape[-1])
    rows[np.arange(len(rows)), rows.argmax(axis=1)] += unit - rows.sum(axis=1)
    rounded: NDArray[np.float64] = rows.reshape(table.shape) / unit
    return rounded
