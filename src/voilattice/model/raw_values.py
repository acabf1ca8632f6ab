"""Raw values: the numbers and texts that stand for states, in evidence and in tables of cases.

A state's own name stands for that state, and so does a number that is equal to it: 1.0 is the state
``1``. A truth value is no number: True stands for ``True`` or ``true``, and for ``1`` only if ``0``
and ``1`` are all states that there are. A feature may also have *bins*, strictly increasing cuts
c_1 < ... < c_k between its k + 1 states. Then any other finite number x stands for the state number
j (from 0) with

    c_j <= x < c_(j+1),     c_0 = -inf,     c_(k+1) = inf:

a bin holds its lower cut, not its upper one.

This is the one place where a raw value becomes a state: `Problem.state_of` uses it for evidence,
`apply_policy` for tables.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, UnknownNameError
from voilattice.wording import count_noun, quote

__all__ = ["MISSING", "UNSEEN", "Codes", "StateReader", "as_cells", "check_cuts", "to_number"]

# What stands in a column of codes for a cell that is no state.
MISSING = -1  # nothing is there: None, NaN, or an empty text
UNSEEN = -2  # something is there that stands for no state, such as an infinite number

Codes = NDArray[np.intp]  # the number of a state in each case, or one of the two above


class StateReader:
    """Reads raw values of one node as its states.

    Parameters
    ----------
    name, states
        The node and its states.
    cuts
        Its bins; empty: it has none.
    """

    def __init__(self, name: str, states: Sequence[str], cuts: Sequence[float] = ()) -> None:
        self._name, self._states, self._cuts = name, states, tuple(cuts)
        self._codes = {state: code for code, state in enumerate(states)}
        numbers = ((to_number(state), code) for code, state in enumerate(states))
        self._numbers = {x: k for x, k in numbers if x is not None and math.isfinite(x)}
        self._has_truths = len(states) == 2 and set(self._numbers) == {0.0, 1.0}

    def code(self, value: object) -> int:
        """Return the number of the state that a value stands for, or raise `VoilatticeError`."""
        if (found := self._find(value)) is not None:
            return found
        if self._cuts and to_number(value) is not None:  # infinite, or not a number at all
            raise InputError(
                f"{self._name!r} must be a finite number or one of its states, got {quote(value)}"
            )
        raise UnknownNameError(
            f"{self._name!r} has no state {quote(value)}; its states are "
            f"{', '.join(map(repr, self._states))}"
            + ("; a number stands for its bin" if self._cuts else "")
        )

    def codes(self, cells: NDArray[Any]) -> Codes:
        """Return the number of each cell's state, `MISSING` or `UNSEEN`.

        >>> age = StateReader("age", ["young", "old"], [54.5])
        >>> age.codes(as_cells([46, "54.5", "old", None, "?"])).tolist()
        [0, 1, 1, -1, -2]
        """
        if cells.dtype.kind in "fiu" and self._cuts and not self._numbers:
            found = np.searchsorted(self._cuts, cells, side="right")
            return np.where(np.isnan(cells), MISSING, np.where(np.isinf(cells), UNSEEN, found))
        if cells.dtype.kind in "fiub":
            values, places = np.unique(cells, return_inverse=True)
            return np.array([self._read(value) for value in values], dtype=np.intp)[places]
        if cells.dtype.kind not in "OUT":  # NumPy would make numbers of dates
            raise InputError(f"the cells must be numbers or texts, got {cells.dtype}")
        listed = cells.tolist()
        typed = list(zip(map(type, listed), listed, strict=True))  # True and 1 are equal
        try:
            read = {key: self._read(key[1]) for key in set(typed)}
        except TypeError:
            raise InputError("the cells must be numbers or texts, got lists or tables") from None
        return np.fromiter(map(read.__getitem__, typed), np.intp, len(typed))

    def _find(self, value: object) -> int | None:
        if isinstance(value, bool | np.bool_):
            return self._find_truth(bool(value))
        number = to_number(value)
        is_finite = number is not None and math.isfinite(number)
        if (isinstance(value, str) or is_finite) and str(value) in self._codes:
            return self._codes[str(value)]
        if number is None:
            return None
        if number in self._numbers:
            return self._numbers[number]
        return bisect_right(self._cuts, number) if self._cuts and math.isfinite(number) else None

    def _find_truth(self, value: bool) -> int | None:
        for name in (str(value), str(value).lower()):
            if name in self._codes:
                return self._codes[name]
        return self._numbers[float(value)] if self._has_truths else None

    def _read(self, cell: object) -> int:
        if _is_missing(cell):
            return MISSING
        if (found := self._find(cell)) is not None:
            return found
        number = to_number(cell)
        return MISSING if number is not None and math.isnan(number) else UNSEEN


def as_cells(column: Iterable[Any]) -> NDArray[Any]:
    """Return a column as an array: numbers as numbers, all else as objects, unchanged."""
    if isinstance(column, list | tuple):  # NumPy would make texts of numbers that stand beside them
        cells: NDArray[Any] = np.empty(len(column), dtype=object)
        cells[:] = column
        return cells
    cells = np.asarray(column)
    if cells.ndim != 1:
        raise InputError(f"must be a list of cells, got {quote(column)}")
    return cells


def check_cuts(cuts: object, n_states: int) -> tuple[float, ...]:
    """Return the bins of a feature, or raise `InputError` unless they are cuts for its states."""
    if isinstance(cuts, str) or not isinstance(cuts, Iterable):
        raise InputError(f"must be a list of numbers, got {quote(cuts)}")
    found: list[float] = []
    for cut in cuts:
        number = None if isinstance(cut, str | bool | np.bool_) else to_number(cut)
        if number is None or not math.isfinite(number):
            raise InputError(f"a cut must be a finite number, got {quote(cut)}")
        found.append(number)
    if len(found) != n_states - 1:
        raise InputError(
            f"{count_noun(n_states, 'state')} need {count_noun(n_states - 1, 'cut')} between them, "
            f"got {len(found)}"
        )
    if any(low >= high for low, high in pairwise(found)):
        raise InputError(f"the cuts must increase, got {quote(found)}")
    return tuple(found)


def to_number(value: object) -> float | None:
    """Return the number that a value is, or that a text writes; None: it is no number."""
    if isinstance(value, str):
        try:
            return None if "_" in value else float(value)
        except ValueError:
            return None
    if isinstance(value, Real | np.bool_ | Decimal):
        try:
            return float(value)
        except OverflowError:  # a whole number, or a fraction of them: no double is that large
            return math.inf
    return None


def _is_missing(cell: object) -> bool:
    if cell is None or isinstance(cell, str):
        return not (cell and cell.strip())
    try:
        return bool(cell != cell)  # noqa: PLR0124 (NaN differs from itself)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True
