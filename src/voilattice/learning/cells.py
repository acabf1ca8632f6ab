"""Cells, typed once: a column of a table is numbers or categories.

A column is `Numbers`, `Categories`, or `Unreadable` with the reason. One number has one spelling:
1.0 is 1, and 0.50 is 0.5. `cell_typing` makes columns from what users give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import Remedy

__all__ = [
    "LEAVE_OUT",
    "MISSING",
    "Categories",
    "Codes",
    "Column",
    "Flags",
    "Numbers",
    "Unreadable",
    "is_inexact",
    "number",
    "parse_number",
    "spell",
    "spell_value",
    "strip_cell",
    "write_number",
]

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null"})
LARGEST_WHOLE = 2**53  # every whole number up to here is a float
MAX_DIGITS = 1e22  # from here on, a whole number is written with an exponent

Codes = NDArray[np.intp]  # the number of a level or a state in each case, -1 where it is missing
Flags = NDArray[np.bool_]

LEAVE_OUT = Remedy("leave the column out", "ignore")


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of numbers, NaN where a cell is missing."""

    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbers) and np.array_equal(
            self.values, other.values, equal_nan=True
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_missing(self) -> Flags:
        return np.isnan(self.values)

    def take(self, rows: Codes) -> Numbers:
        """Return the cells of some rows."""
        return Numbers(self.values[rows])

    def blank(self, rows: Flags) -> Numbers:
        """Return the column with the cells of some rows missing."""
        return Numbers(np.where(rows, np.nan, self.values))

    def raw(self) -> NDArray[np.float64]:
        """Return the cells as they may be given to `apply_policy`."""
        return self.values

    def n_different(self) -> int:
        """Return how many different values there are."""
        return len(self._different())

    def different(self) -> list[str]:
        """Return the different values as texts, in order."""
        return [write_number(value) for value in self._different().tolist()]

    def _different(self) -> NDArray[np.float64]:
        return np.unique(self.values[~self.is_missing])


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """A column of categories: the number of a level in each row, and the levels.

    Parameters
    ----------
    is_declared
        The data said that these are categories, so numbers among them are no mistake.
    is_ordered
        The data gave the order of the levels.
    """

    codes: Codes
    levels: tuple[str, ...]
    is_declared: bool = False
    is_ordered: bool = False

    def __post_init__(self) -> None:
        self.codes.setflags(write=False)

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Categories)
            and self.levels == other.levels
            and np.array_equal(self.codes, other.codes)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_missing(self) -> Flags:
        return self.codes < 0

    def take(self, rows: Codes) -> Categories:
        """Return the cells of some rows; the levels stay."""
        return Categories(self.codes[rows], self.levels, self.is_declared, self.is_ordered)

    def blank(self, rows: Flags) -> Categories:
        """Return the column with the cells of some rows missing."""
        codes = np.where(rows, -1, self.codes)
        return Categories(codes, self.levels, self.is_declared, self.is_ordered)

    def raw(self) -> NDArray[np.object_]:
        """Return the cells as they may be given to `apply_policy`."""
        return np.array([*self.levels, None], dtype=object)[self.codes]

    def n_different(self) -> int:
        """Return how many different levels occur."""
        return len(self.different())

    def different(self) -> list[str]:
        """Return the levels that occur, in order."""
        n = np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))
        return [level for level, count in zip(self.levels, n.tolist(), strict=True) if count]

    def first_row(self, level: str) -> int:
        """Return the row in which a level occurs first, counted from 1."""
        return int((self.codes == self.levels.index(level)).argmax()) + 1


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A column that cannot be used, and why; it does no harm until somebody needs it."""

    n_rows: int
    reason: str
    remedies: tuple[Remedy, ...] = (LEAVE_OUT,)

    def __len__(self) -> int:
        return self.n_rows

    def take(self, rows: Codes) -> Unreadable:
        """Return the cells of some rows."""
        return Unreadable(len(rows), self.reason, self.remedies)


Column = Numbers | Categories | Unreadable


def number(cell: str) -> float | None:
    """Return the finite number that a cell holds, or None."""
    value = parse_number(cell, ".")
    return value if value is not None and math.isfinite(value) else None


def write_number(value: float) -> str:
    """Return the one spelling of a number.

    >>> [write_number(v) for v in (1.0, 0.50, 1e300)]
    ['1', '0.5', '1e+300']
    """
    is_whole = abs(value) < MAX_DIGITS and float(value).is_integer()
    return str(int(value)) if is_whole else repr(float(value))


def spell(text: str) -> str:
    """Return the name of a level: its text, or the one spelling of its number.

    >>> [spell(text) for text in ("1.0", "high", "9007199254740993")]
    ['1', 'high', '9007199254740993']
    """
    return spell_value(text, number(text))


def is_inexact(text: str | None, value: float | None) -> bool:
    """Return whether a text is a whole number that its float does not equal."""
    if text is None or value is None or not abs(value) >= LARGEST_WHOLE:
        return False
    return text.lstrip("+-").isdecimal() and (math.isinf(value) or int(text) != value)


def strip_cell(cell: str) -> str:
    """Remove blanks around a cell, also the non-breaking blanks that spreadsheets write."""
    return cell.replace("\u00a0", " ").strip()


def parse_number(text: str, decimal: str) -> float | None:
    """Return the number, also an infinite one, that a text holds; None: it holds none."""
    if decimal == ",":
        text = "." if "." in text else text.replace(",", ".")  # a point would be no decimal sign
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) or "_" in text else value


def spell_value(text: str, value: float | None) -> str:
    if value is None or math.isinf(value):
        return text
    return str(int(text)) if is_inexact(text, value) else write_number(value)
