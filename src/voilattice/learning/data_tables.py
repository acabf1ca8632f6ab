"""Tables of cases: a column of cells for each variable.

`read_table` reads CSV and Parquet files, `as_table` also takes columns and data frames in memory.
A cell is its text, or None where it is missing: empty, or one of the marks in `MISSING`. Whether a
column holds numbers or names is decided later (`columns.py`).
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voilattice.errors import InputError, TooLargeError, UnknownNameError, located, within
from voilattice.wording import count_noun, nearest, quote

__all__ = [
    "MISSING",
    "Column",
    "Data",
    "DataTable",
    "as_table",
    "checksum_cells",
    "number",
    "read_table",
]

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null"})
MAX_BYTES = 500_000_000

Column = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """Columns of equal length, and the SHA-256 of the file or of the cells that they hold."""

    columns: Mapping[str, Column]
    checksum: str = ""

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def column(self, name: str) -> Column:
        """Return a column; raise `UnknownNameError` if there is none of that name."""
        if name not in self.columns:
            raise UnknownNameError(f"no column {quote(name)}{nearest(name, self.columns)}")
        return self.columns[name]

    def select(self, names: Collection[str]) -> DataTable:
        """Return the table with these columns only, in this order."""
        return DataTable({name: self.column(name) for name in names}, self.checksum)


# A path, a table, a mapping of columns, or a data frame: pandas and polars are not imported here.
Data = str | Path | DataTable | Mapping[str, Iterable[Any]] | Any


def as_table(data: Data, *, missing: Collection[str] = MISSING) -> DataTable:
    """Return the table that a path, a mapping of columns or a data frame holds.

    Parameters
    ----------
    data
        The path of a CSV or Parquet file, a `DataTable`, a mapping from names to columns, or a data
        frame: an object with ``columns`` (names) and ``frame[name]`` (cells), as in pandas and
        polars. Cells are text or numbers; None, NaN and pandas' NA are missing.
    missing
        The texts that mark a missing cell.

    Raises
    ------
    InputError
        The data is none of these, is empty, or has columns of different lengths.

    >>> table = as_table({"fever": [38.5, float("nan"), 36], "ward": ["north", " ?", "south"]})
    >>> table.columns
    {'fever': ('38.5', None, '36'), 'ward': ('north', None, 'south')}
    """
    if isinstance(missing, str):
        raise InputError(f"must be a list of marks, got {quote(missing)}", "missing")
    if isinstance(data, str | Path):
        return read_table(data, missing=missing)
    source, checksum = (data.columns, data.checksum) if isinstance(data, DataTable) else (data, "")
    columns = {
        name: _mark_missing([_to_text(cell) for cell in cells], missing)
        for name, cells in _named_columns(source)
    }
    with located("data"):
        (first, cells), *others = columns.items()
        for name, column in others:
            if len(column) != len(cells):
                raise InputError(
                    f"column {quote(name)} has {count_noun(len(column), 'cell')}, but "
                    f"column {quote(first)} has {len(cells)}"
                )
        if not cells:
            raise InputError("the columns have no cells")
    return DataTable(columns, checksum or checksum_cells(columns))


def checksum_cells(columns: Mapping[str, Column]) -> str:
    """Return the SHA-256 of a table's names and cells, wherever they came from."""
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    lines = (",".join(cell or "" for cell in row) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_table(path: str | Path, *, missing: Collection[str] = MISSING) -> DataTable:
    """Return the table in a CSV file (with a header) or a Parquet file.

    Raises
    ------
    InputError
        The file cannot be read, has no header, no rows, a column twice, or a row of another length.
    """
    path = Path(path)
    with within(str(path)):
        try:
            if not path.is_file():
                raise InputError(
                    "this is a folder"
                    if path.is_dir()
                    else "this is not an ordinary file"
                    if path.exists()
                    else "there is no such file"
                )
            if path.stat().st_size > MAX_BYTES:
                raise TooLargeError(
                    f"the file has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read"
                )
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}") from None
        parquet = path.suffix.lower() in {".parquet", ".pq"}
        header, rows = _read_parquet(content) if parquet else _read_csv(content)
        _check_header(header)
        if not rows:
            raise InputError("there is a header but no row below it")
        cells = zip(*rows, strict=True)
        columns = {
            name: _mark_missing(column, missing) for name, column in zip(header, cells, strict=True)
        }
    return DataTable(columns, hashlib.sha256(content).hexdigest())


def number(cell: str) -> float | None:
    """Return the finite number that a cell holds, or None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in cell else None


def _named_columns(data: Any) -> list[tuple[str, list[Any]]]:
    """Return the columns of a mapping or a data frame, each with its name as text."""
    names = list(data) if isinstance(data, Mapping) else list(getattr(data, "columns", ()))
    is_frame = isinstance(data, Mapping) or hasattr(data, "columns")
    if not is_frame or not all(isinstance(name, str | int) for name in names):
        raise InputError(
            f"must be a path, a DataTable, a mapping of columns or a data frame, got {quote(data)}",
            "data",
        )
    header = [_strip_cell(str(name)) for name in names]
    with located("data"):
        if not header:
            raise InputError("there are no columns")
        _check_header(header)
    found = []
    for name, key in zip(header, names, strict=True):
        cells = data[key]
        if isinstance(cells, str) or not isinstance(cells, Iterable):
            raise InputError(f"must be a list of cells, got {quote(cells)}", f"data.{name}")
        found.append((name, list(cells)))
    return found


def _mark_missing(cells: Iterable[str | None], missing: Collection[str]) -> Column:
    return tuple(None if cell is None or cell in missing else cell for cell in cells)


def _read_csv(content: bytes) -> tuple[list[str], list[list[str]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: byte {error.start} cannot be decoded") from None
    if "\0" in text:
        raise InputError("not a CSV file: it holds NUL characters")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    header: list[str] | None = None
    try:
        for row in reader:
            cells = [_strip_cell(cell) for cell in row]
            if not cells:
                continue  # an empty line
            if header is None:
                header = cells
            elif len(cells) != len(header):
                raise InputError(
                    f"line {reader.line_num}: {count_noun(len(cells), 'cell')}; "
                    f"the header has {len(header)}"
                )
            else:
                rows.append(cells)
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: not valid CSV: {error}") from None
    if header is None:
        raise InputError("the file is empty; it must have a header and rows")
    if len(header) == 1:
        raise InputError(f"one column only, {quote(header[0])}; are the cells separated by commas?")
    return header, rows


def _read_parquet(content: bytes) -> tuple[list[str], list[list[str]]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "reading Parquet needs pyarrow; install voilattice[parquet], or write CSV"
        ) from None
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content))
        header = [_strip_cell(name) for name in file.schema_arrow.names]
        _check_header(header)
        table = file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"not a Parquet file: {str(error).splitlines()[0]}") from None
    columns = [[_to_text(cell) or "" for cell in column.to_pylist()] for column in table.columns]
    return header, [list(row) for row in zip(*columns, strict=True)]


def _check_header(header: list[str]) -> None:
    if repeated := [name for name, n in Counter(header).items() if n > 1]:
        raise InputError(f"column {quote(repeated[0])} is in the header more than once")
    if "" in header:
        raise InputError(f"column {header.index('') + 1} has no name in the header")


def _to_text(cell: Any) -> str | None:
    """Return a cell as text, or None for None, NaN, NaT and pandas' NA."""
    try:
        is_missing = cell is None or bool(cell != cell)  # noqa: PLR0124 - NaN differs from itself
    except TypeError:  # NA has no truth value
        is_missing = True
    return None if is_missing else _strip_cell(str(cell))


def _strip_cell(cell: str) -> str:
    """Remove blanks around a cell, also the non-breaking blanks that spreadsheets write."""
    return cell.replace("\u00a0", " ").strip()
