"""Labels of sets in a drawing: short enough for a box, and unique."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable

__all__ = ["EMPTY", "NO_BREAK", "set_labels", "set_name", "short_names"]

EMPTY = "∅"
MAX_NAME = 24
LINE = 30
MAX_LINES = 4
NO_BREAK = "\u00a0"  # a space at which a line must not end


def set_name(s: Iterable[str]) -> str:
    """Return the full name of a set: its features, sorted."""
    return ", ".join(sorted(s)) or EMPTY


def set_labels(
    sets: Collection[frozenset[str]], label: Callable[[str], str] = str
) -> dict[frozenset[str], tuple[str, ...]]:
    """Return the lines of each set's label; no two sets have the same label.

    `label` gives what people read for a feature. Long names are shortened, and a long list ends
    with the number of missing names. If this makes two labels equal, the number of the set in the
    lattice is added.

    >>> sets = [frozenset({f"a very, very, very long name {k}"}) for k in range(2)]
    >>> list(set_labels(sets).values())
    [('a very, ver…long name 0',), ('a very, ver…long name 1',)]
    """
    short = short_names(sorted(map(label, set().union(*sets))))
    labels = {s: _lines([short[name] for name in sorted(map(label, s))]) for s in sets}
    n_alike = Counter(labels.values())
    return {
        s: lines if n_alike[lines] == 1 else (*lines, f"(set {number})")
        for number, (s, lines) in enumerate(labels.items())
    }


def short_names(features: Iterable[str]) -> dict[str, str]:
    """Shorten names in the middle; equal short names get a number."""
    short: dict[str, str] = {}
    taken: set[str] = set()
    for feature in features:
        name = feature
        if len(name) > MAX_NAME:
            half = (MAX_NAME - 2) // 2
            name = f"{name[:half]}…{name[-half:]}"
        number = 2
        unique = name
        while unique in taken:
            unique, number = f"{name} ({number})", number + 1
        taken.add(unique)
        short[feature] = unique
    return short


def _lines(names: list[str]) -> tuple[str, ...]:
    """Break a list of names into lines between names; names that do not fit are counted."""
    if not names:
        return (EMPTY,)
    whole = [name.replace(" ", NO_BREAK) for name in names]
    lines = _wrapped(whole)
    fitting = len(whole)
    while len(lines) > MAX_LINES:
        fitting -= 1
        lines = _wrapped([*whole[:fitting], f"+{NO_BREAK}{len(whole) - fitting}{NO_BREAK}more"])
    return tuple(line.replace(NO_BREAK, " ") for line in lines)


def _wrapped(names: list[str]) -> list[str]:
    return textwrap.wrap(", ".join(names), LINE, break_long_words=False, break_on_hyphens=False)
