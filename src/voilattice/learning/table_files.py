"""Files of tables: text with separators, also compressed, and Parquet.

The separator is found from the header unless it is given, and the encoding from the marks that a
file may begin with; a file without such a mark is UTF-8. Nothing is guessed from the cells.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voilattice.errors import InputError, Remedy, TooLargeError, UnknownNameError
from voilattice.extras import need_extra
from voilattice.learning.cells import strip_cell
from voilattice.wording import count_noun, quote

__all__ = [
    "check_header",
    "check_options",
    "is_parquet",
    "read_content",
    "read_parquet",
    "read_texts",
    "table_name",
]

MAX_BYTES = 500_000_000
SEPARATORS = (",", ";", "\t", "|")  # of equals, the first wins
TAB_SUFFIXES = frozenset({".tsv", ".tab"})
PARQUET_SUFFIXES = frozenset({".parquet", ".pq"})
# What a text of each encoding may begin with; of two that fit, the longer one stands first.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAME_SEPARATOR = Remedy("name the character that separates the cells", "separator")
NAME_ENCODING = Remedy("name its encoding, such as cp1252 or latin-1", "encoding")


def is_parquet(path: Path) -> bool:
    """Return whether a file is called Parquet."""
    return path.suffix.lower() in PARQUET_SUFFIXES


def table_name(path: Path) -> str:
    """Return the name of a table's file, without what says its format."""
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def read_content(path: Path) -> bytes:
    """Return the bytes of a file, those of a compressed one (``.gz``) unpacked."""
    if "\0" in str(path):
        raise InputError("the name of a file has no NUL character")
    try:
        if not path.is_file():
            raise InputError(
                "this is a folder"
                if path.is_dir()
                else "this is not an ordinary file"
                if path.exists()
                else "there is no such file"
            )
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError("not a gzip file, or not a whole one") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None
    if len(content) > MAX_BYTES:
        raise TooLargeError(f"the table has more than {MAX_BYTES:,} bytes, the most that is read")
    return content


def check_options(separator: str | None, encoding: str | None) -> None:
    """Raise `VoilatticeError` if there is no such separator or encoding; None is found out."""
    if separator is not None and (len(separator) != 1 or separator in '"\r\n\0'):
        raise InputError(
            f"must be one character that is no quote and no end of a line, got {quote(separator)}",
            "separator",
        )
    try:
        b"x".decode(encoding or "utf-8")
    except UnicodeError:
        pass  # it is an encoding, in which this is no text
    except (LookupError, ValueError):  # a NUL in a name makes the latter
        raise UnknownNameError(
            f"no encoding {quote(encoding)}; cp1252, latin-1 and utf-16 are some", "encoding"
        ) from None


def read_texts(
    content: bytes, path: Path, *, separator: str | None = None, encoding: str | None = None
) -> dict[str, list[str]]:
    """Return the columns of a text with a header, each cell as it stands there.

    Parameters
    ----------
    path
        Where the text is from: its suffix may say how cells are separated.
    separator, encoding
        As in `data_tables.read_table`.
    """
    text = _decode(content, encoding)
    if "\0" in text:
        raise InputError("not a table of text: it holds NUL characters", remedies=(NAME_ENCODING,))
    separator = separator or _find_separator(text, path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    try:
        header = [strip_cell(cell) for cell in next((row for row in reader if row), [])]
        if not header:
            raise InputError("the file is empty; it must have a header and rows")
        check_header(header)
        for row in reader:
            if len(row) == len(header):
                rows.append(row)
            elif row:  # else an empty line
                raise InputError(
                    f"line {reader.line_num}: {count_noun(len(row), 'cell')}; "
                    f"the header has {len(header)}"
                )
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: not valid CSV: {error}") from None
    if len(header) == 1:
        raise InputError(f"one column only, {quote(header[0])}", remedies=(NAME_SEPARATOR,))
    if not rows:
        raise InputError("there is a header but no row below it")
    return {name: list(cells) for name, cells in zip(header, zip(*rows, strict=True), strict=True)}


def read_parquet(content: bytes) -> Any:
    """Return the table of a Parquet file, as pyarrow has it."""
    need_extra("parquet", "reading Parquet")
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content))
        check_header([strip_cell(name) for name in file.schema_arrow.names])
        return file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"not a Parquet file: {str(error).splitlines()[0]}") from None


def check_header(header: Sequence[str]) -> None:
    """Raise `InputError` if a column has no name, or two have the same."""
    if repeated := [name for name, n in Counter(header).items() if n > 1]:
        raise InputError(f"column {quote(repeated[0])} is in the header more than once")
    if "" in header:
        raise InputError(f"column {header.index('') + 1} has no name in the header")


def _decode(content: bytes, encoding: str | None) -> str:
    found = next((name for mark, name in MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding or found)
    except UnicodeError as error:
        name = (encoding or found.removesuffix("-sig")).upper()
        raise InputError(
            f"not {name} text: byte {getattr(error, 'start', 0)} cannot be decoded",
            remedies=() if encoding else (NAME_ENCODING,),
        ) from None


def _find_separator(text: str, path: Path) -> str:
    """Return the separator that makes most cells of the header."""
    suffixes = {suffix.lower() for suffix in path.suffixes[-2:]}
    if suffixes & TAB_SUFFIXES:
        return "\t"
    header = next((line for line in text.splitlines() if line.strip()), "")

    def n_cells(separator: str) -> int:
        try:
            return len(next(csv.reader([header], delimiter=separator)))
        except csv.Error:
            return 0

    return max(SEPARATORS, key=n_cells)
