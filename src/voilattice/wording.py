"""How names, counts, amounts and values are written in sentences.

Errors, tables, reasons and drawings all use these, so that one thing is written in one way.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from difflib import get_close_matches

__all__ = [
    "count_noun",
    "find_close",
    "format_amount",
    "format_bytes",
    "format_mean",
    "in_currency",
    "join_names",
    "nearest",
    "quote",
    "round_count",
]

MAX_LISTED = 8  # names, if none is close to the given one
SHORTEST_PART = 3  # letters: fewer of them are a part of too many names
MAX_SHOWN = 60

SMALLEST_AMOUNT = 1e-9  # amounts below count as 0


def nearest(name: object, names: Collection[object], *, or_list: bool = True) -> str:
    """Return ``" (nearest: 'x')"`` when one of `names` is close to `name`, else list a few.

    A name that begins with what was typed is closest, then one that contains it, then one that is
    spelled like it. Names that are not text, such as numbers in place of columns, are only listed.

    >>> nearest("housing", ["single", "housing_to_income"])
    " (nearest: 'housing_to_income')"
    """
    close = find_close(name, names) if isinstance(name, str) else None
    if close is not None:
        return f" (nearest: {close!r})"
    if not (names and or_list):
        return ""
    listed = sorted(names, key=str) if isinstance(names, set | frozenset) else list(names)
    more = len(listed) - MAX_LISTED
    rest = f" and {more:,} more" if more > 0 else ""
    return f" (there are: {', '.join(map(str, listed[:MAX_LISTED]))}{rest})"


def find_close(name: str, names: Collection[object]) -> str | None:
    """Return the one of `names` that is closest to `name`, as `nearest` says; None: none is."""
    typed, texts = name.casefold(), [other for other in names if isinstance(other, str)]
    if len(typed) >= SHORTEST_PART:
        begins = [other for other in texts if other.casefold().startswith(typed)]
        contains = [other for other in texts if typed in other.casefold()]
        if longer := begins or contains:
            return min(longer, key=lambda other: (len(other), other))
    return next(iter(get_close_matches(name, texts, n=1, cutoff=0.6)), None)


def quote(value: object) -> str:
    """Return a value for an error text, in one line, shortened if it is long."""
    try:
        text = repr(value)
    except ValueError:  # of a whole number with thousands of digits
        return "a number with thousands of digits"
    if "\n" in text:  # an array, a data frame
        text = " ".join(text.split())
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def count_noun(n: int, noun: str) -> str:
    """Return ``1 node``, ``2 nodes``, ``2 policies``."""
    if n == 1:
        return f"{n:,} {noun}"
    return f"{n:,} {noun[:-1]}ies" if noun.endswith("cy") else f"{n:,} {noun}s"


def round_count(number: int) -> str:
    """Return a count as text, as a power of ten if it is very large."""
    return f"{number:,}" if number < 10**12 else f"10^{math.log10(number):.0f}"


def format_bytes(number: int) -> str:
    """Return an amount of memory: ``512 bytes``, ``1.5 KiB``, ``2.0 MiB``, ``4,096 MiB``."""
    if number < 1 << 10:
        return count_noun(number, "byte")
    if number < 1 << 20:
        return f"{number / 2**10:.1f} KiB"
    return f"{number / 2**20:.1f} MiB" if number < 1 << 30 else f"{round_count(number >> 20)} MiB"


def format_amount(amount: float, currency: str = "") -> str:
    """Return an amount of money with two decimals, or with four digits where it needs them.

    In a sentence the currency follows it: ``12.50 CAD``. In a table the heading names the currency
    (`in_currency`).
    """
    size = abs(amount)
    if size < SMALLEST_AMOUNT:
        text = "0.00"
    else:
        text = f"{amount:,.2f}" if 0.01 <= size < 1e12 else f"{amount:.4g}"
    return f"{text} {currency}" if currency else text


def format_mean(mean: float, error: float | None) -> str:
    """Return a mean amount with its standard error, if that is known: ``12.50 ± 0.40``."""
    text = format_amount(mean)
    return text if error is None else f"{text} ± {format_amount(error)}"


def in_currency(heading: str, currency: str) -> str:
    """Return the heading of a column of amounts: ``cost (CAD)``, or ``CAD`` if it has no other."""
    if not (heading and currency):
        return heading or currency
    return f"{heading} ({currency})"


def join_names(names: Collection[str], word: str) -> str:
    """Return names in order: ``A``, ``A and B``, ``A, B and C``."""
    ordered = sorted(names)
    if len(ordered) < 2:
        return "".join(ordered)
    return f"{', '.join(ordered[:-1])} {word} {ordered[-1]}"
