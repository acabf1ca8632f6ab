"""How cells are typed: from texts, Python objects, NumPy arrays, or a series of a data frame.

`make_column` decides what a column holds, once for all, from its type and its different values:

- numbers, or texts that are all numbers, make `Numbers`;
- other texts, truth values, and mixtures make `Categories`; so do whole numbers beyond 2**53 that a
  float cannot hold exactly, because two of them could become one;
- a categorical series makes `Categories`, and an ordered one keeps its order.

A cell is missing if it is None, NaN, pandas' NA, or one of the marks in `MISSING`. Dates, nested
values, complex numbers, bytes and infinite numbers make no column: the error says what is wrong,
and what would help. In cases to be decided (`make_case_column`) such a cell is only a value that
stands for no state, as long as the type of the column does not say that all cells are so.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, Remedy
from voilattice.learning.cells import (
    LARGEST_WHOLE,
    LEAVE_OUT,
    MISSING,
    Categories,
    Codes,
    Column,
    Numbers,
    Unreadable,
    is_inexact,
    parse_number,
    spell_value,
    strip_cell,
    write_number,
)
from voilattice.wording import quote

__all__ = ["make_case_column", "make_column", "mark_missing"]

FEW = 50  # different values; up to here, the digits of a short float are worth the work
TRUTH = ("False", "True")
DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
NESTED = (list, tuple, dict, set, frozenset, np.ndarray)
DATE_NAMES = frozenset({"Period", "NaTType"})  # of pandas, which is not imported
MISSING_NAMES = frozenset({"NoneType", "NAType", "NaTType"})


def make_column(
    cells: Any, missing: Collection[str] = MISSING, *, decimal: str = "."
) -> Numbers | Categories:
    """Return what a column of cells holds.

    Parameters
    ----------
    cells
        A one-dimensional array, a series of a data frame, or anything else to iterate over.
    missing
        The texts that mark a missing cell. One that is a number also marks this number.
    decimal
        The decimal sign of texts: ``.`` or ``,``.

    Raises
    ------
    InputError
        Some cell is neither a finite number nor a text nor a truth value.

    >>> make_column(["1.50", 2, None, "?"]).values.tolist()
    [1.5, 2.0, nan, nan]
    >>> make_column(["high", "low", 3.0]).levels
    ('high', 'low', '3')
    """
    if isinstance(cells, np.ndarray):
        return _column_of_array(cells, missing, decimal)
    if not isinstance(cells, list | tuple):
        import narwhals as nw

        series = nw.from_native(cells, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            return _column_of_series(series, missing, decimal)
    return _column_of_objects(list(cells), missing, decimal)


def make_case_column(
    cells: Any, missing: Collection[str] = MISSING, *, decimal: str = "."
) -> Numbers | Categories:
    """Return a column of cases to be decided; a cell that makes no column is a text here.

    One odd cell must not stop the work on all other rows: its text stands for no state, so it is
    reported and taken as missing. The parameters are those of `make_column`.

    Raises
    ------
    InputError
        The type of the column says that all its cells are dates, times, nested values or bytes.

    >>> make_case_column([36.5, float("inf"), None]).raw().tolist()
    ['36.5', 'inf', None]
    """
    try:
        return make_column(cells, missing, decimal=decimal)
    except InputError:
        if (listed := _list_cells(cells)) is None:
            raise
    codes, levels = _factorize([_case_text(cell, decimal) for cell in listed])
    return _column_of_declared(codes, levels, None, missing)


def mark_missing(column: Column, missing: Collection[str]) -> Column:
    """Return a column without the cells that some marks call missing."""
    if isinstance(column, Unreadable):
        return column
    if isinstance(column, Numbers):
        marks = _marked_numbers(missing)
        return column.blank(np.isin(column.values, marks)) if marks else column
    if column.is_declared:
        marked = [level in missing for level in (*column.levels, "")]
        return column.blank(np.array(marked)[column.codes])
    return _column_of_levels(column.codes, column.levels, missing, ".")


def _column_of_array(
    cells: NDArray[Any], missing: Collection[str], decimal: str
) -> Numbers | Categories:
    if cells.ndim != 1:
        _refuse(cells)
    if isinstance(cells, np.ma.MaskedArray):
        return _column_of_objects(cells.tolist(), missing, decimal)  # masked cells are None
    kind = cells.dtype.kind
    if kind == "f":
        return _checked(Numbers(_to_float64(cells)), missing)
    if kind in "iu":
        values = cells.astype(np.float64)
        large = np.abs(values) >= LARGEST_WHOLE
        if large.any() and not _are_exact(cells[large].tolist()):
            return _column_of_texts([str(cell) for cell in cells.tolist()], missing, decimal)
        return _checked(Numbers(values), missing)
    if kind == "b":
        return _column_of_truth(cells.astype(np.intp), missing)
    if kind in "mMcSV" and len(cells):
        _refuse(cells[0])
    return _column_of_objects(cells.tolist(), missing, decimal)


def _column_of_series(series: Any, missing: Collection[str], decimal: str) -> Numbers | Categories:
    """Return what a series of narwhals holds."""
    import narwhals as nw

    kind = series.dtype
    if isinstance(kind, nw.Categorical | nw.Enum):
        codes, levels = _factorize(series.to_list())
        order = list(kind.categories) if isinstance(kind, nw.Enum) else None
        return _column_of_declared(codes, levels, order, missing)
    if kind.is_temporal():
        raise _dates_error()
    if kind.is_nested():
        raise InputError("nested values", remedies=(LEAVE_OUT,))
    if kind.is_float() or kind == nw.Unknown:
        return make_column(np.asarray(series.to_numpy()), missing)
    if kind.is_integer() and not series.is_null().any():
        return make_column(np.asarray(series.to_numpy()), missing)
    return _column_of_objects(series.to_list(), missing, decimal)


def _column_of_objects(
    cells: list[Any], missing: Collection[str], decimal: str
) -> Numbers | Categories:
    kinds = set(map(type, cells))
    there = {kind for kind in kinds if kind.__name__ not in MISSING_NAMES}
    if all(issubclass(kind, str) for kind in there):
        return _column_of_texts(cells, missing, decimal)
    if all(_is_truth(kind) for kind in there):
        codes = [TRUTH.index(str(cell)) if _is_truth(type(cell)) else -1 for cell in cells]
        return _column_of_truth(np.array(codes, dtype=np.intp), missing)
    usable = {k for k in there if _is_truth(k) or _is_numeric(k) or issubclass(k, str)}
    if odd := there - usable:
        row = next(row for row, cell in enumerate(cells) if type(cell) in odd)
        _refuse(cells[row], row)
    if all(_is_numeric(kind) for kind in there) and _are_exact(cells):
        values = [_to_float(cell) if type(cell) in there else np.nan for cell in cells]
        return _checked(Numbers(np.array(values)), missing)
    return _column_of_texts([_to_text(cell) for cell in cells], missing, decimal)


def _list_cells(cells: Any) -> list[Any] | None:
    """Return the cells of a column as objects; None: its type has no place for usable cells."""
    if isinstance(cells, np.ndarray):
        return None if cells.dtype.kind in "mMcSV" or cells.ndim != 1 else cells.tolist()
    if not isinstance(cells, list | tuple):
        import narwhals as nw

        series = nw.from_native(cells, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            is_odd = series.dtype.is_temporal() or series.dtype.is_nested()
            return None if is_odd else series.to_list()
    return list(cells)


def _case_text(cell: Any, decimal: str) -> str | None:
    """Return any cell as a text, or None if it is missing."""
    kind = type(cell)
    if isinstance(cell, str):
        text = strip_cell(cell)
        return spell_value(text, parse_number(text, decimal))
    if kind.__name__ in MISSING_NAMES:
        return None
    if _is_numeric(kind) and not isinstance(cell, int | np.integer):
        value = _to_float(cell)
        return None if math.isnan(value) else write_number(value)
    try:
        return " ".join(str(cell).split())
    except ValueError:  # Python writes no more than some thousand digits
        return quote(cell)


def _column_of_texts(
    cells: Sequence[Any], missing: Collection[str], decimal: str
) -> Numbers | Categories:
    """Return what texts hold; what is no text is missing."""
    codes, levels = _factorize(cells)
    return _column_of_levels(
        codes, [strip_cell(x) if isinstance(x, str) else None for x in levels], missing, decimal
    )


def _column_of_levels(
    codes: Codes, levels: Sequence[str | None], missing: Collection[str], decimal: str
) -> Numbers | Categories:
    """Return what texts hold, from the different ones; None is missing."""
    marks = _marked_numbers(missing)
    values = [np.nan if x is None or x in missing else parse_number(x, decimal) for x in levels]
    if marks:
        values = [np.nan if value in marks else value for value in values]
    if None not in values and not any(map(is_inexact, levels, values)):
        return _checked(Numbers(np.array([*values, np.nan], dtype=float)[codes]), ())
    places: dict[str, int] = {}
    lookup = [
        -1 if value != value or text is None  # noqa: PLR0124 - NaN differs from itself
        else places.setdefault(spell_value(text, value), len(places))
        for text, value in zip(levels, values, strict=True)
    ]  # fmt: skip
    return Categories(np.array([*lookup, -1], dtype=np.intp)[codes], tuple(places))


def _column_of_declared(
    codes: Codes, found: Sequence[Any], order: Sequence[Any] | None, missing: Collection[str]
) -> Categories:
    """Return a categorical column; `order` lists its levels if their order is known."""
    places: dict[str, int] = {}
    for level in order or ():
        places.setdefault(_level_text(level) or "", len(places))
    lookup = []
    for level in found:
        text = _level_text(level)
        lookup.append(-1 if text is None else places.setdefault(text, len(places)))
    column = Categories(
        np.array([*lookup, -1], dtype=np.intp)[codes],
        tuple(places),
        is_declared=True,
        is_ordered=order is not None,
    )
    marked = mark_missing(column, missing)
    assert isinstance(marked, Categories)
    return marked


def _column_of_truth(codes: Codes, missing: Collection[str]) -> Categories:
    return _column_of_declared(codes, TRUTH, TRUTH, missing)


def _factorize(cells: Sequence[Any]) -> tuple[Codes, list[Any]]:
    """Return the number of each cell among the different ones, and these."""
    levels = dict.fromkeys(cells)
    places = {level: k for k, level in enumerate(levels)}
    codes = np.fromiter(map(places.__getitem__, cells), dtype=np.intp, count=len(cells))
    return codes, list(levels)


def _checked(column: Numbers, missing: Collection[str]) -> Numbers:
    """Return a column of numbers without marks; raise `InputError` if one is infinite."""
    marked = mark_missing(column, missing)
    assert isinstance(marked, Numbers)
    infinite = np.isinf(marked.values)
    if infinite.any():
        row = int(infinite.argmax())
        raise InputError(
            f"row {row + 1}: {marked.values[row]} is not a finite number",
            remedies=(Remedy("name it as a mark of missing cells", "missing"), LEAVE_OUT),
        )
    return marked


def _to_float64(cells: NDArray[Any]) -> NDArray[np.float64]:
    """Return floats of any size as float64; a few short ones by their digits, so 0.1 stays 0.1."""
    values: NDArray[np.float64] = cells.astype(np.float64)
    if cells.dtype.itemsize < values.dtype.itemsize:
        different, places = np.unique(cells, return_inverse=True)
        if len(different) <= FEW:
            return np.array([float(str(value)) for value in different])[places]
    return values


def _marked_numbers(missing: Collection[str]) -> list[float]:
    values = (parse_number(mark, ".") for mark in missing)
    return [value for value in values if value is not None]


def _are_exact(cells: Iterable[Any]) -> bool:
    """Return whether floats hold the whole numbers among these cells."""
    try:
        return all(float(c) == c for c in cells if isinstance(c, int | np.integer))
    except OverflowError:
        return False


def _to_float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:  # a fraction
        return math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def _to_text(cell: Any) -> str | None:
    """Return a cell of a mixed column as text, or None if it is missing."""
    if type(cell).__name__ in MISSING_NAMES:
        return None
    if not _is_numeric(type(cell)):
        return str(cell)
    if isinstance(cell, int | np.integer):
        try:
            return str(cell)
        except ValueError:  # Python writes no more than some thousand digits
            raise InputError("a number of too many digits", remedies=(LEAVE_OUT,)) from None
    value = _to_float(cell)
    return None if math.isnan(value) else write_number(value)


def _level_text(level: Any) -> str | None:
    """Return a level of a categorical column as text, or None if it is missing."""
    kind = type(level)
    if any(issubclass(kind, bad) for bad in (*DATES, *NESTED, bytes, complex)):
        _refuse(level)
    text = _to_text(level)
    return None if text is None else strip_cell(text)


def _is_truth(kind: type) -> bool:
    return issubclass(kind, bool | np.bool_)


def _is_numeric(kind: type) -> bool:
    return issubclass(kind, numbers.Real | Decimal) and not _is_truth(kind)


def _dates_error(row: int | None = None) -> InputError:
    return InputError(
        "dates or times" if row is None else f"row {row + 1}: a date or a time",
        remedies=(Remedy("turn them into numbers, such as days"), LEAVE_OUT),
    )


def _refuse(cell: Any, row: int = 0) -> NoReturn:
    """Raise the error about a cell that is neither a number nor a text nor a truth value."""
    kind = type(cell)
    if issubclass(kind, DATES) or kind.__name__ in DATE_NAMES:
        raise _dates_error(row)
    what = (
        f"a complex number, {cell}" if issubclass(kind, complex | np.complexfloating)
        else "bytes" if issubclass(kind, bytes | bytearray)
        else f"nested values ({kind.__name__})" if issubclass(kind, NESTED)
        else f"an object of type {kind.__name__}, {quote(cell)}"
    )  # fmt: skip
    raise InputError(f"row {row + 1}: {what}; a cell is a number or a text", remedies=(LEAVE_OUT,))
