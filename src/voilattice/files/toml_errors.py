"""What is wrong with a text that is not TOML, for people who do not know TOML.

The parser says where it stopped. `explain_toml_error` adds the line and, where the mistake is
plain, what to write: text needs quotes, and a number has a decimal point. A decimal comma can also
give valid TOML, with more numbers than were meant: `has_decimal_commas` recognizes such a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["DECIMAL_POINT", "explain_toml_error", "has_decimal_commas"]

DECIMAL_POINT = "write a decimal point, not a comma"
MAX_SHOWN = 60  # characters of the line
BEFORE = 30  # of these, before the place where the parser stopped

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")
_VALUE_WITH_COMMA = re.compile(r"=\s*[+-]?(\d+),(\d+)")  # X = 0,5
_COMMA_AND_ZERO = re.compile(r"\d,0$")  # [0,05: the parser stops at the second digit
_WORD = re.compile(r"[^\W\d][^,\]}#\"'=]*")
_UNIT = re.compile(r"=\s*([+-]?[\d.]+\s*[^\W\d][^,\]}#\"'=]*)")  # X = 5 EUR


def explain_toml_error(text: str, error: ValueError) -> str:
    """Return what the parser says, the line where it stopped, and what would be right if plain.

    >>> import tomllib
    >>> try:
    ...     tomllib.loads("target = cause")
    ... except tomllib.TOMLDecodeError as error:
    ...     print(explain_toml_error("target = cause", error))
    Invalid value (at line 1, column 10): target = cause; text needs quotes: "cause"
    """
    said = str(error)
    if not (found := _PLACE.search(said)):
        return said
    number, column = map(int, found.groups())
    lines = text.replace("\r\n", "\n").split("\n")
    line = lines[number - 1] if number <= len(lines) else ""
    line = "".join(c if c.isprintable() else " " for c in line)  # tabs, and what nobody should see
    if not line.strip():  # the parser may stop at the start of the next line
        return said
    hint = _hint(line, column - 1, is_value="Invalid value" in said)
    return f"{said}: {_shown(line, column - 1)}" + (f"; {hint}" if hint else "")


def has_decimal_commas(row: Sequence[float], n: int) -> bool:
    """Return whether a row that should have `n` probabilities was plainly written with commas.

    >>> has_decimal_commas([0, 60, 0, 40], 2), has_decimal_commas([0.5, 0.3, 0.2], 2)
    (True, False)
    """
    is_whole = all(isinstance(x, int) for x in row)
    return len(row) > n and is_whole and (len(row) == 2 * n or max(row) > 1)


def _hint(line: str, column: int, *, is_value: bool) -> str:
    """Return what would be right; empty: that is not plain."""
    if found := _VALUE_WITH_COMMA.search(line):
        whole, decimals = found.groups()
        # 1,000 may be meant as a thousand.
        is_thousands = len(decimals) == 3 and whole.lstrip("0")
        return "a number has no comma" if is_thousands else f"{DECIMAL_POINT}: {whole}.{decimals}"
    if _COMMA_AND_ZERO.search(line[:column]) and line[column : column + 1].isdecimal():
        return DECIMAL_POINT
    word = _WORD.match(line, column) if is_value else None
    if word is None and (unit := _UNIT.search(line)) and unit.start(1) < column <= unit.end(1):
        return f'a number stands alone, and text needs quotes: "{unit.group(1).strip()}"'
    return f'text needs quotes: "{word.group().strip()}"' if word else ""


def _shown(line: str, column: int) -> str:
    """Return the line, or the part of it around a column."""
    start = max(0, min(column - BEFORE, len(line) - MAX_SHOWN))
    part = line[start : start + MAX_SHOWN].strip()
    return f"{'...' * (start > 0)}{part}{'...' * (start + MAX_SHOWN < len(line))}"
