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

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, TooLargeError, located
from voilattice.learning.columns import (
    Codes,
    encode_cells,
    find_categories,
    find_classes,
    find_cuts,
    is_numeric,
)
from voilattice.learning.data_tables import Column, DataTable
from voilattice.learning.discretization import bin_labels
from voilattice.learning.parameters import fit_tables
from voilattice.learning.recipes import Recipe
from voilattice.learning.structure import learn_structure
from voilattice.model.network import Network
from voilattice.wording import quote

__all__ = ["DECIMALS", "Learned", "learn_network"]

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


def learn_network(
    data: DataTable,
    target: str,
    recipe: Recipe | None = None,
    *,
    ignore: Collection[str] = (),
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    states: Mapping[str, Sequence[str]] | None = None,
) -> Learned:
    """Return the network that a recipe learns from a table.

    Parameters
    ----------
    ignore
        Columns to leave out.
    numeric, categorical
        Columns that are always cut into bins, and columns that never are.
    states
        The states of a column in the order wanted; by default they are sorted.

    Raises
    ------
    VoilatticeError
        The place of the error is a parameter of this function or of `Recipe`; for a column of the
        table it is ``data.NAME``.
    """
    recipe, states = recipe or Recipe(), states or {}
    _check_names(data, target, ignore, numeric, categorical, states)
    columns = _blank_unlabelled(data, target, ignore)
    named = {target, *categorical, *states}
    found_states: dict[str, list[str]] = {}
    cuts: dict[str, tuple[float, ...]] = {}
    codes: dict[str, Codes] = {}
    with located(f"data.{target}"):
        classes = find_classes(columns[target], states.get(target))
        target_codes = encode_cells(columns[target], classes, None)
    for name, column in columns.items():
        with located(f"data.{name}"):
            if name == target:
                found_states[name] = classes
            elif name not in named and (name in numeric or is_numeric(column)):
                cuts[name] = tuple(find_cuts(column, target_codes, recipe))
                found_states[name] = bin_labels(cuts[name])
            else:
                found_states[name] = find_categories(
                    column, states.get(name), is_declared=name in named
                )
            codes[name] = encode_cells(column, found_states[name], cuts.get(name))
    labelled = target_codes >= 0
    codes = {name: column[labelled] for name, column in codes.items()}
    return Learned(
        _fit_network(found_states, codes, target, recipe),
        target,
        recipe,
        cuts,
        int(labelled.sum()),
        int((~labelled).sum()),
        {name: int((c < 0).sum()) for name, c in codes.items() if (c < 0).any()},
    )


def _check_names(
    data: DataTable,
    target: str,
    ignore: Collection[str],
    numeric: Collection[str],
    categorical: Collection[str],
    states: Mapping[str, Sequence[str]],
) -> None:
    """Raise `VoilatticeError` where a parameter names no column, or contradicts another."""
    for parameter, names in (
        ("ignore", ignore), ("numeric", numeric), ("categorical", categorical), ("states", states),
    ):  # fmt: skip
        if isinstance(names, str):
            raise InputError(f"must be a list of columns, got {quote(names)}", parameter)
        for name in names:
            with located(parameter):
                data.column(name)
    for name, wanted in states.items():
        if isinstance(wanted, str):
            raise InputError(f"must be a list of states, got {quote(wanted)}", f"states.{name}")
    if target in ignore:
        raise InputError(f"{quote(target)} is the target", "ignore")
    if target in numeric:
        raise InputError(f"{quote(target)} is the target, which is never cut into bins", "numeric")
    if both := set(numeric) & {*categorical, *states}:
        raise InputError(f"{quote(min(both))} cannot be a column of names as well", "numeric")
    with located("target"):
        data.column(target)


def _blank_unlabelled(data: DataTable, target: str, ignore: Collection[str]) -> dict[str, Column]:
    """Return the columns to learn from, without the cells of rows that lack a target.

    The rows stay until the cells are encoded, so that errors name the rows of the table.
    """
    labelled = [cell is not None for cell in data.column(target)]
    if not any(labelled):
        raise InputError("every cell is missing", f"data.{target}")
    columns = {
        name: tuple(cell if keep else None for cell, keep in zip(column, labelled, strict=True))
        for name, column in data.columns.items()
        if name not in ignore
    }
    if len(columns) < 2:
        raise InputError("there is no column beside the target", "data")
    return columns


def _fit_network(
    states: Mapping[str, Sequence[str]], codes: Mapping[str, Codes], target: str, recipe: Recipe
) -> Network:
    names = list(states)
    sizes = [len(states[name]) for name in names]
    parents = learn_structure(sizes, codes, target, recipe)
    try:
        tables = fit_tables(sizes, parents, list(codes.values()), recipe.smoothing)
    except TooLargeError as error:
        raise TooLargeError(error.message, "data") from None
    with located("data"):
        return Network.from_tables(
            states,
            {name: [names[p] for p in parents[k]] for k, name in enumerate(names)},
            {name: _round_rows(tables[k]) for k, name in enumerate(names)},
        )


def _round_rows(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to six decimals; the likeliest state of a row takes what is missing to a sum of 1."""
    unit = 10**DECIMALS
    counts = np.rint(table * unit).astype(np.int64)
    rows = counts.reshape(-1, counts.shape[-1])
    rows[np.arange(len(rows)), rows.argmax(axis=1)] += unit - rows.sum(axis=1)
    rounded: NDArray[np.float64] = rows.reshape(table.shape) / unit
    return rounded
