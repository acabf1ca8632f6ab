"""What is wrong with a text that is not TOML, for people who do not know TOML.

The parser says where it stopped. `explain_toml_error` adds the line and, where the mistake is
plain, what to write: text needs quotes, and a number has a decimal point. A decimal comma can also
give valid TOML, with more numbers than were meant: `has_decimal_commas` recognizes such a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from voilattice.wording import MAX_SHOWN

__all__ = ["DECIMAL_POINT", "explain_toml_error", "has_decimal_commas"]

DECIMAL_POINT = "write a decimal point, not a comma"
BEFORE = 30  # characters that are shown before the place where the parser stopped

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")
# X = 0,5 and {X = 0,5 }: the parser stops at the comma, or takes it and stops behind the number.
_VALUE_WITH_COMMA = re.compile(r"=\s*([+-]?\d+),(\d+)(?:\s+(?=[,}]))?")
_COMMA_AND_ZERO = re.compile(r"\d,0$")  # [0,05: the parser stops at the second digit
_WORD = re.compile(r"[^\W\d][^,\]}#\"'=]*")
_UNIT = re.compile(r"=\s*([+-]?[\d.]+\s*[^\W\d_][^,\]}#\"'=]*)")  # X = 5 EUR


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

    Decimals stand behind a 0. Other rows of whole numbers may be percentages, or several rows in
    one.

    >>> has_decimal_commas([0, 60, 0, 40], 2), has_decimal_commas([60, 30, 10], 2)
    (True, False)
    """
    large = [(before, x) for before, x in zip([None, *row], row, strict=False) if x > 1]
    is_plain = all(before == 0 and isinstance(x, int) for before, x in large)
    return len(row) > n and bool(large) and is_plain


def _hint(line: str, column: int, *, is_value: bool) -> str:
    """Return what would be right; empty: that is not plain."""
    for found in _VALUE_WITH_COMMA.finditer(line):
        if found.end(1) <= column <= found.end():
            whole, decimals = found.groups()
            # 1,000 may be meant as a thousand.
            if len(decimals) == 3 and whole.strip("+-0"):
                return "a number has no comma"
            return f"{DECIMAL_POINT}: {whole}.{decimals}"
    if _COMMA_AND_ZERO.search(line[:column]) and line[column : column + 1].isdecimal():
        return DECIMAL_POINT
    if is_value and (word := _WORD.match(line, column)):
        text = _quoted(line, *word.span())
        return f"text needs quotes: {text}" if text else ""
    if (unit := _UNIT.search(line)) and unit.start(1) < column <= unit.end(1):
        text = _quoted(line, *unit.span(1))
        return f"a number stands alone, and text needs quotes: {text}" if text else ""
    return ""


def _quoted(line: str, start: int, end: int) -> str:
    """Return a part of a line as text in TOML; empty: it is long, or more belongs to it."""
    text = line[start:end].strip()
    if len(text) > MAX_SHOWN or line[end : end + 1] in ("'", '"', "="):
        return ""
    return f"'{text}'" if "\\" in text else f'"{text}"'  # in double quotes a \ begins an escape


def _shown(line: str, column: int) -> str:
    """Return the line, or the part of it around a column."""
    start = max(0, min(column - BEFORE, len(line) - MAX_SHOWN))
    part = line[start : start + MAX_SHOWN].strip()
    return f"{'...' * (start > 0)}{part}{'...' * (start + MAX_SHOWN < len(line))}"
