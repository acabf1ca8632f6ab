"""How a column of cells becomes the states of a node.

A column of numbers with more than `MAX_CATEGORIES` different values is cut into bins, and its
states are the bins (`discretization.py`). Any other column keeps its values as states. A number is
one state however it is written: 1.0 is 1, and 0.50 is 0.5.

Cells are encoded with states and cuts that may come from elsewhere. So the name of a bin stands for
the bin, and a value that is no state is *unseen*: it counts as missing, and is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, Remedy, UnknownNameError
from voilattice.learning.cells import (
    LEAVE_OUT,
    Categories,
    Codes,
    Column,
    Numbers,
    Unreadable,
    is_inexact,
    number,
    spell,
    write_number,
)
from voilattice.learning.discretization import bins_of, frequency_cuts, mdl_cuts, median_cut
from voilattice.learning.recipes import MAX_STATES, Recipe
from voilattice.wording import quote

__all__ = [
    "MAX_CATEGORIES",
    "Codes",
    "Typed",
    "check_typed",
    "encode_column",
    "find_categories",
    "find_classes",
    "find_cuts",
    "is_numeric",
    "to_numbers",
]

MAX_CATEGORIES = 5

Typed = Numbers | Categories


def check_typed(column: Column) -> Typed:
    """Return a column that can be used; raise `InputError` for one that cannot."""
    if isinstance(column, Unreadable):
        raise InputError(column.reason, remedies=column.remedies)
    return column


def is_numeric(column: Typed) -> bool:
    """Return whether a column holds numbers only, with more different values than states."""
    return isinstance(column, Numbers) and column.n_different() > MAX_CATEGORIES


def find_cuts(
    column: Typed, classes: Codes, recipe: Recipe, weights: NDArray[np.float64] | None = None
) -> list[float]:
    """Return where a recipe cuts a column of numbers; `classes` are the codes of the target."""
    values = to_numbers(column).values
    there = ~np.isnan(values)
    values, classes = values[there], classes[there]
    weights = None if weights is None else weights[there]
    if recipe.discretization != "mdl":
        cuts = frequency_cuts(values, recipe.bins, weights)
    else:
        cuts = mdl_cuts(values, classes, weights, recipe.max_bins) or median_cut(values, weights)
    if not cuts:  # whole numbers beyond 2**53 may become one float
        raise InputError("the numbers are too large to tell them apart", remedies=(LEAVE_OUT,))
    return cuts


def find_classes(column: Typed, wanted: Sequence[str] | None) -> list[str]:
    """Return the states of the target; `wanted` as in `find_categories`."""
    n = column.n_different()
    if n < 2:
        raise InputError(
            f"one value only, {quote(column.different()[0])}: there is nothing to decide"
        )
    if n > MAX_STATES:
        raise InputError(
            f"{n:,} different values; a target of at most {MAX_STATES} classes is wanted"
        )
    return find_categories(column, wanted, is_declared=True)


def find_categories(column: Typed, wanted: Sequence[str] | None, *, is_declared: bool) -> list[str]:
    """Return the states of a column that is not cut into bins.

    Parameters
    ----------
    wanted
        The states in the order wanted, or None: then an ordered column keeps its order, and others
        are sorted, numbers by size.
    is_declared
        The user said that the column holds names, so numbers among them are no mistake.
    """
    values = column.different()
    if wanted is not None:
        return _check_wanted(values, wanted)
    numbers = {value: number(value) for value in values}
    odd = [value for value in values if numbers[value] is None]
    if isinstance(column, Categories) and not (is_declared or column.is_declared):
        _check_mixture(column, odd, len(values) - len(odd))
    if len(values) > MAX_STATES:
        remedies = [LEAVE_OUT]
        if not odd:
            remedies.append(Remedy("cut it into bins", "numeric"))
        elif all("," in value and number(value.replace(",", ".")) is not None for value in odd):
            remedies.append(Remedy("read decimal commas", "decimal"))
        raise InputError(
            f"{len(values):,} different values; a feature may have at most {MAX_STATES} states",
            remedies=remedies,
        )
    if isinstance(column, Categories) and column.is_ordered:
        return values
    if odd:
        return sorted(values)
    # Whole numbers that are one float are still told apart by their digits.
    return sorted(values, key=lambda value: (numbers[value], len(value), value))


def encode_column(
    column: Typed, states: Sequence[str], cuts: Sequence[float] | None
) -> tuple[Codes, list[tuple[str, int]]]:
    """Return the number of each cell's state, and the unseen values with their counts.

    >>> from voilattice.learning.cell_typing import make_column
    >>> encode_column(make_column(["1", "1.0", None, "7"]), ["1", "2"], None)
    (array([ 0,  0, -1, -1]), [('7', 1)])
    """
    if isinstance(column, Numbers):
        if cuts is not None:
            return np.where(column.is_missing, -1, bins_of(column.values, cuts)), []
        return _encode_numbers(column.values, states)
    places = {spell(state): k for k, state in enumerate(states)}
    places |= {state: k for k, state in enumerate(states)}
    lookup = [_place(level, places, cuts) for level in column.levels]
    codes = np.array([*lookup, -1], dtype=np.intp)[column.codes]
    n = np.bincount(column.codes[column.codes >= 0], minlength=len(lookup)).tolist()
    unseen = [
        (level, count)
        for level, place, count in zip(column.levels, lookup, n, strict=True)
        if place < 0 and count
    ]
    return codes, unseen


def _place(level: str, places: Mapping[str, int], cuts: Sequence[float] | None) -> int:
    """Return the state of a level: by its name, or by the bin of its number; -1: it has none."""
    value = None if cuts is None or level in places else number(level)
    if value is None or cuts is None:
        return places.get(level, places.get(spell(level), -1))
    return int(bins_of(np.array([value]), cuts)[0])


def _encode_numbers(
    values: NDArray[np.float64], states: Sequence[str]
) -> tuple[Codes, list[tuple[str, int]]]:
    parsed = ((number(state), k) for k, state in enumerate(states))
    known = sorted((v, k) for v, k in parsed if v is not None and not is_inexact(states[k], v))
    # The last of the known is never equal to anything: a larger value is searched for there.
    sizes = np.array([*(value for value, _ in known), np.nan])
    codes = np.array([*(k for _, k in known), -1], dtype=np.intp)
    nearest = np.searchsorted(sizes[:-1], values)
    found = np.where(sizes[nearest] == values, codes[nearest], -1)
    odd, n = np.unique(values[(found < 0) & ~np.isnan(values)], return_counts=True)
    return found, list(zip(map(write_number, odd.tolist()), n.tolist(), strict=True))


def to_numbers(column: Typed) -> Numbers:
    """Return a column of categories that are all numbers as numbers."""
    if isinstance(column, Numbers):
        return column
    values = [number(level) for level in column.levels]
    for level in column.different():
        if number(level) is None:
            raise InputError(f"row {column.first_row(level)}: {quote(level)} is not a number")
    return Numbers(np.array([*values, np.nan], dtype=np.float64)[column.codes])


def _check_wanted(values: Iterable[str], wanted: Sequence[str]) -> list[str]:
    spelled = [spell(state) for state in wanted]
    if unknown := sorted(v for v in values if v not in wanted and spell(v) not in spelled):
        raise UnknownNameError(
            f"{quote(unknown[0])} is in the column but not among the states given"
        )
    return list(wanted)


def _check_mixture(column: Categories, odd: Sequence[str], n_numbers: int) -> None:
    """Raise `InputError` if a column of numbers has some other texts in it."""
    if odd and n_numbers > max(MAX_CATEGORIES, len(odd)):
        first = min(odd, key=column.first_row)
        raise InputError(
            f"most cells are numbers, but {quote(first)} is not (row {column.first_row(first)})",
            remedies=(
                Remedy("name it as a mark of missing cells", "missing"),
                Remedy("name the column as one of categories", "categorical"),
            ),
        )
