"""How a column of cells becomes the states of a node.

A column of numbers with more than `MAX_CATEGORIES` different values is cut into bins, and its
states are the bins (`discretization.py`). Any other column keeps its values as states. A number is
one state however it is written: 1.0 is 1, and 0.50 is 0.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, Remedy, UnknownNameError
from voilattice.learning.data_tables import Column, number
from voilattice.learning.discretization import bins_of, frequency_cuts, mdl_cuts, median_cut
from voilattice.learning.recipes import MAX_STATES, Recipe
from voilattice.wording import nearest, quote

__all__ = [
    "MAX_CATEGORIES",
    "Codes",
    "encode_cells",
    "find_categories",
    "find_classes",
    "find_cuts",
    "is_numeric",
]

MAX_CATEGORIES = 5
LARGEST_WHOLE = 1e15  # above it, a whole number is written as a float

Codes = NDArray[np.intp]  # the number of a state in each case, -1 where the cell is missing


def is_numeric(column: Column) -> bool:
    """Return whether a column holds numbers only, with more different values than states."""
    cells = {cell for cell in column if cell is not None}
    values = {number(cell) for cell in cells}
    return None not in values and len(values) > MAX_CATEGORIES


def find_cuts(column: Column, classes: Codes, recipe: Recipe) -> list[float]:
    """Return where a recipe cuts a column of numbers; `classes` are the codes of the target."""
    values = _to_numbers(column)
    there = ~np.isnan(values)
    if len(set(values[there].tolist())) < 2:
        _refuse_constant(column)
    if recipe.discretization == "frequency":
        return frequency_cuts(values[there], recipe.bins)
    return mdl_cuts(values[there], classes[there]) or median_cut(values[there])


def find_classes(column: Column, wanted: Sequence[str] | None) -> list[str]:
    """Return the states of the target; `wanted` as in `find_categories`."""
    values = {_to_state(cell) for cell in column if cell is not None}
    if len(values) < 2:
        raise InputError(f"one value only, {quote(min(values))}: there is nothing to decide")
    if len(values) > MAX_STATES:
        raise InputError(
            f"{len(values):,} different values; a target of at most {MAX_STATES} classes is wanted"
        )
    return find_categories(column, wanted, is_declared=True)


def find_categories(
    column: Column, wanted: Sequence[str] | None, *, is_declared: bool
) -> list[str]:
    """Return the states of a column that is not cut into bins.

    Parameters
    ----------
    wanted
        The states in the order wanted, or None: then they are sorted, numbers by size.
    is_declared
        The user said that the column holds names, so numbers among them are no mistake.
    """
    cells = Counter(_to_state(cell) for cell in column if cell is not None)
    if len(cells) < 2:
        _refuse_constant(column)
    if wanted is not None:
        texts = {cell for cell in column if cell is not None}
        if unknown := sorted(t for t in texts if t not in wanted and _to_state(t) not in wanted):
            raise UnknownNameError(
                f"{quote(unknown[0])} is in the column but not among the states given"
            )
        return list(wanted)
    odd = [cell for cell in cells if number(cell) is None]
    n_numbers = len(cells) - len(odd)
    if not is_declared and odd and n_numbers > max(MAX_CATEGORIES, len(odd)):
        row = next(row for row, cell in enumerate(column) if cell is not None and cell in odd)
        raise InputError(
            f"most cells are numbers, but {quote(odd[0])} is not (row {row + 1})",
            remedies=(
                Remedy("name it as a mark of missing cells", "missing"),
                Remedy("name the column as one of categories", "categorical"),
            ),
        )
    if len(cells) > MAX_STATES:
        raise InputError(
            f"{len(cells):,} different values; a feature may have at most {MAX_STATES} states",
            remedies=(Remedy("leave the column out", "ignore"),),
        )
    numbers = {cell: number(cell) for cell in cells}
    if None in numbers.values():
        return sorted(cells)
    return sorted(cells, key=lambda cell: numbers[cell] or 0.0)


def encode_cells(column: Column, states: Sequence[str], cuts: Sequence[float] | None) -> Codes:
    """Return the number of each cell's state, -1 where the cell is missing.

    >>> encode_cells(("1", "1.0", None, "2"), ["1", "2"], None).tolist()
    [0, 0, -1, 1]
    """
    if cuts is not None:
        values = _to_numbers(column)
        return np.where(np.isnan(values), -1, bins_of(values, cuts))
    places: dict[str | None, int] = {state: k for k, state in enumerate(states)}
    found = np.full(len(column), -1)
    for row, cell in enumerate(column):
        if cell is not None:
            state = cell if cell in places else _to_state(cell)
            if state not in places:
                raise UnknownNameError(
                    f"row {row + 1}: no state {quote(cell)}{nearest(cell, states)}"
                )
            found[row] = places[state]
    return found


def _to_numbers(column: Column) -> NDArray[np.float64]:
    values = np.full(len(column), np.nan)
    for row, cell in enumerate(column):
        if cell is not None:
            value = number(cell)
            if value is None:
                raise InputError(f"row {row + 1}: {quote(cell)} is not a number")
            values[row] = value
    return values


def _to_state(cell: str) -> str:
    """Return the name of a cell's state: numbers are all written in the same way."""
    value = number(cell)
    if value is None:
        return cell
    return str(int(value)) if value.is_integer() and abs(value) < LARGEST_WHOLE else repr(value)


def _refuse_constant(column: Column) -> NoReturn:
    values = {cell for cell in column if cell is not None}
    what = f"one value only, {quote(min(values))}" if values else "no value at all"
    raise InputError(
        f"{what}: the column tells nothing", remedies=(Remedy("leave the column out", "ignore"),)
    )
