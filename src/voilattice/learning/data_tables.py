"""Tables of cases: a column for each variable, typed once (`cells.py`).

`read_table` reads files, `as_table` also takes what is in memory: mappings of columns, arrays, and
the data frames of pandas, polars, pyarrow and others (through narwhals).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, UnknownNameError, located, within
from voilattice.learning.cell_typing import make_case_column, make_column, mark_missing
from voilattice.learning.cells import (
    MISSING,
    Categories,
    Column,
    Numbers,
    Unreadable,
    strip_cell,
)
from voilattice.learning.table_files import (
    check_header,
    check_options,
    is_parquet,
    read_content,
    read_parquet,
    read_texts,
)
from voilattice.wording import count_noun, nearest, quote

__all__ = ["Data", "DataTable", "as_table", "read_table"]

WANTED = "must be a path, a DataTable, a mapping of columns, a data frame or a 2-D array"
DECIMALS = (".", ",")


@dataclass(frozen=True, slots=True)
class DataTable:
    """Columns of equal length, and the SHA-256 of the file or of the cells that they hold.

    `as_table` and `read_table` make one.
    """

    columns: Mapping[str, Column]
    checksum: str = ""

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if not isinstance(column, Numbers | Categories | Unreadable):
                raise InputError(f"column {quote(name)} has no type; as_table makes a table")
            if len(column) != self.n_rows:
                raise InputError(
                    f"column {quote(name)} has {count_noun(len(column), 'cell')}, but "
                    f"column {quote(next(iter(self.columns)))} has {self.n_rows}"
                )

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def column(self, name: str) -> Column:
        """Return a column; raise `UnknownNameError` if there is none of that name."""
        if name not in self.columns:
            raise UnknownNameError(f"no column {quote(name)}{nearest(name, self.columns)}")
        return self.columns[name]

    def raw(self, names: Collection[str]) -> dict[str, NDArray[Any]]:
        """Return some columns as `apply_policy` takes them; an unusable one is an error."""
        found = {}
        for name in names:
            column = self.column(name)
            if isinstance(column, Unreadable):
                raise InputError(column.reason, f"data.{name}", column.remedies)
            found[name] = column.raw()
        return found

    def take(self, rows: NDArray[np.intp]) -> DataTable:
        """Return the table with these rows only."""
        return DataTable({name: column.take(rows) for name, column in self.columns.items()})

    def select(self, names: Collection[str]) -> DataTable:
        """Return the table with these columns only, in this order."""
        return DataTable({name: self.column(name) for name in names}, self.checksum)


# A path, a table, a mapping of columns, an array, or a data frame of any library.
Data = str | Path | DataTable | Mapping[str, Iterable[Any]] | NDArray[Any] | Any


def as_table(
    data: Data, *, missing: Collection[str] | None = None, names: Sequence[str] | None = None
) -> DataTable:
    """Return the table that a path, columns, a data frame or an array holds.

    Parameters
    ----------
    data
        The path of a file as in `read_table`; a `DataTable`; a mapping from names to columns; a
        data frame of pandas, polars, pyarrow or another library that narwhals knows; or a 2-D
        array. Cells are numbers, texts or truth values; None, NaN and pandas' NA are missing.
    missing
        The texts that mark a missing cell; by default `MISSING`, and none for a `DataTable`. One
        that is a number also marks this number.
    names
        The names of an array's columns; by default x0, x1, and so on.

    Raises
    ------
    InputError
        The data is none of these, is empty, has two columns of one name, or columns of different
        lengths. A column that cannot be used is `Unreadable`: the error comes when it is needed.

    >>> table = as_table({"fever": [38.5, float("nan"), 36], "ward": ["north", " ?", "south"]})
    >>> table.columns["fever"].values.tolist()
    [38.5, nan, 36.0]
    >>> table.columns["ward"].codes.tolist(), table.columns["ward"].levels
    ([0, -1, 1], ('north', 'south'))
    """
    if isinstance(data, DataTable) and missing is None:
        return data
    missing = MISSING if missing is None else missing
    _check_marks(missing)
    if isinstance(data, str | Path):
        return read_table(data, missing=missing)
    if isinstance(data, DataTable):
        columns = {name: mark_missing(column, missing) for name, column in data.columns.items()}
        return DataTable(columns, data.checksum)
    with located("data"):
        columns = {
            name: _try_column(name, cells, lambda cells: make_column(cells, missing))
            for name, cells in _named_columns(data, names)
        }
        table = DataTable(columns, _checksum(columns))
        if not table.n_rows:
            raise InputError("the columns have no cells")
        return table


def read_table(
    path: str | Path,
    *,
    missing: Collection[str] = MISSING,
    separator: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    has_odd_cells: bool = False,
) -> DataTable:
    """Return the table in a text file with a header (CSV, TSV, also ``.gz``) or a Parquet file.

    Parameters
    ----------
    missing
        The texts that mark a missing cell. One that is a number also marks this number.
    separator
        The character between two cells; by default the one of comma, semicolon, tab and bar that
        the header has most often.
    decimal
        The decimal sign of numbers: a point, or a comma.
    encoding
        The encoding of the text; by default UTF-8, or what the mark at its beginning says.
    has_odd_cells
        Cells that make no column, such as infinite numbers, are texts (`make_case_column`). By
        default they make the column `Unreadable`.

    Raises
    ------
    InputError
        The file cannot be read, has no header, no rows, a column twice, or a row of another length.
    """
    _check_marks(missing)
    if decimal not in DECIMALS:
        raise InputError(f"must be '.' or ',', got {quote(decimal)}", "decimal")
    check_options(separator, encoding)
    path = Path(path)
    make = make_case_column if has_odd_cells else make_column
    with within(str(path)):
        content = read_content(path)
        named = (
            _named_columns(read_parquet(content), None)
            if is_parquet(path)
            else read_texts(content, path, separator=separator, encoding=encoding).items()
        )
        columns = {
            name: _try_column(name, cells, lambda cells: make(cells, missing, decimal=decimal))
            for name, cells in named
        }
        if not len(next(iter(columns.values()))):
            raise InputError("there is a header but no row below it")
    return DataTable(columns, hashlib.sha256(content).hexdigest())


def _try_column(name: str, cells: Any, make: Callable[[Any], Column]) -> Column:
    """Return a column; one that cannot be used says why."""
    is_one = isinstance(cells, str | bytes | Mapping | Set) or not isinstance(cells, Iterable)
    if is_one or (isinstance(cells, np.ndarray) and not cells.ndim):
        raise InputError(f"must be a list of cells, got {quote(cells)}", name)
    if not hasattr(cells, "__len__"):
        cells = list(cells)
    try:
        return make(cells)
    except InputError as error:
        return Unreadable(len(cells), error.message, error.remedies)


def _named_columns(data: Any, names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Return the columns of data in memory, each with its name as text."""
    if isinstance(data, np.ndarray):
        return _named_array_columns(data, names)
    if names is not None:
        raise InputError("are for an array; these columns have names", "names")
    if isinstance(data, Mapping):
        header = _texts(list(data))
        return list(zip(header, data.values(), strict=True))
    is_lazy = hasattr(data, "collect")  # a lazy frame has no cells
    if not isinstance(data, type) and not is_lazy and hasattr(data, "columns"):
        import narwhals as nw

        header = _texts(_header_of(data))
        frame = nw.from_native(data, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return list(zip(header, frame.iter_columns(), strict=True))
        if hasattr(data, "__getitem__"):
            return [(name, data[key]) for name, key in zip(header, data.columns, strict=True)]
    raise InputError(f"{WANTED}, got {quote(data)}")


def _header_of(frame: Any) -> list[Any]:
    """Return the names of a data frame's columns; pyarrow calls these otherwise."""
    return list(getattr(frame, "column_names", frame.columns))


def _named_array_columns(
    data: NDArray[Any], names: Sequence[str] | None
) -> list[tuple[str, NDArray[Any]]]:
    if data.ndim != 2 or data.dtype.names is not None:
        raise InputError(f"{WANTED}, got an array of {count_noun(data.ndim, 'dimension')}")
    if names is not None and len(names) != data.shape[1]:
        raise InputError(
            f"{count_noun(len(names), 'name')} for {count_noun(data.shape[1], 'column')}", "names"
        )
    header = _texts([f"x{k}" for k in range(data.shape[1])] if names is None else list(names))
    return list(zip(header, data.T, strict=True))


def _texts(names: list[Any]) -> list[str]:
    """Return the names of columns as texts, all different."""
    if not names:
        raise InputError("there are no columns")
    for name in names:
        if not isinstance(name, str | int | float | np.integer | np.floating):
            raise InputError(f"the name of a column must be a text, got {quote(name)}")
    header = [strip_cell(str(name)) for name in names]
    check_header(header)
    return header


def _check_marks(missing: Collection[str]) -> None:
    if isinstance(missing, str) or not all(isinstance(mark, str) for mark in missing):
        raise InputError(f"must be a list of marks, got {quote(missing)}", "missing")


def _checksum(columns: Mapping[str, Column]) -> str:
    """Return the SHA-256 of a table's names and cells, on every machine the same."""
    found = hashlib.sha256()
    for name, column in columns.items():
        found.update(f"{name}\n".encode(errors="surrogatepass"))
        if isinstance(column, Numbers):
            found.update(column.values.astype("<f8").tobytes())
        elif isinstance(column, Categories):
            found.update("\n".join(column.levels).encode(errors="surrogatepass"))
            found.update(column.codes.astype("<i8").tobytes())
    return found.hexdigest()
