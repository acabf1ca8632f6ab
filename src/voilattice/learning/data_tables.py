"""Tables of cases: a column of cells for each variable, read from CSV or Parquet.

A cell is its text, or None where it is missing: empty, or one of the marks in `MISSING`. Whether a
column holds numbers or names is decided by whoever uses it (`learning.py`).
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voilattice.errors import InputError, TooLargeError, UnknownNameError, nearest, quote, within

__all__ = ["MISSING", "Column", "DataTable", "number", "read_table"]

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null"})
MAX_BYTES = 500_000_000

Column = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """Columns of equal length, and the checksum of the file that they were read from."""

    columns: Mapping[str, Column]
    checksum: str = ""

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def column(self, name: str) -> Column:
        """Return a column; raise `UnknownNameError` where there is none of that name."""
        if name not in self.columns:
            raise UnknownNameError(f"no column {quote(name)}{nearest(name, self.columns)}")
        return self.columns[name]

    def select(self, names: Collection[str]) -> DataTable:
        """Return the table with these columns only, in this order."""
        return DataTable({name: self.column(name) for name in names}, self.checksum)


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
                    else "this is no ordinary file"
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
        header, rows = _parquet(content) if parquet else _csv(content)
        _check_header(header)
        if not rows:
            raise InputError("there is a header but no row below it")
        cells = zip(*rows, strict=True)
        columns = {
            name: tuple(None if cell in missing else cell for cell in column)
            for name, column in zip(header, cells, strict=True)
        }
    return DataTable(columns, hashlib.sha256(content).hexdigest())


def number(cell: str) -> float | None:
    """Return the finite number that a cell holds, or None."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in cell else None


def _csv(content: bytes) -> tuple[list[str], list[list[str]]]:
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
            cells = [_tidy(cell) for cell in row]
            if not cells:
                continue  # an empty line
            if header is None:
                header = cells
            elif len(cells) != len(header):
                raise InputError(
                    f"line {reader.line_num}: {len(cells)} cells; the header has {len(header)}"
                )
            else:
                rows.append(cells)
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: not valid CSV: {error}") from None
    if header is None:
        raise InputError("the file is empty; a header and rows are wanted")
    if len(header) == 1:
        raise InputError(f"one column only, {quote(header[0])}; are the cells separated by commas?")
    return header, rows


def _parquet(content: bytes) -> tuple[list[str], list[list[str]]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "reading Parquet needs pyarrow; install voilattice[parquet], or write CSV"
        ) from None
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content))
        header = [_tidy(name) for name in file.schema_arrow.names]
        _check_header(header)
        table = file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"not a Parquet file: {str(error).splitlines()[0]}") from None
    columns = [[_text(cell) for cell in column.to_pylist()] for column in table.columns]
    return header, [list(row) for row in zip(*columns, strict=True)]


def _check_header(header: list[str]) -> None:
    if repeated := [name for name, n in Counter(header).items() if n > 1]:
        raise InputError(f"column {quote(repeated[0])} stands in the header more than once")
    if "" in header:
        raise InputError(f"column {header.index('') + 1} has no name in the header")


def _text(cell: Any) -> str:
    return "" if cell is None else _tidy(str(cell))


def _tidy(cell: str) -> str:
    """Return a cell without blanks around it; spreadsheets like blanks that do not break."""
    return cell.replace("\u00a0", " ").strip()
