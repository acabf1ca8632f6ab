"""Variants of a problem file: the same file with other numbers in it.

A number is named by its place in the file, as error messages name it: ``costs.chol``,
``misclassification.T.F``, ``groups[0].overhead``. An entry of a list of tables is also found by its
name: ``groups.blood.overhead``. A number that the file does not have is added, so that
``rounds.cost`` can be set in a file without such a table. The changed file is then checked like any
other, so a place that no file may have is an error.

Only the tables of the file are changed here. The network is read once.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voilattice.errors import InputError, UnknownNameError
from voilattice.files.problem_tables import parse_problem
from voilattice.files.problems import find_problem
from voilattice.policy.comparison import Variant
from voilattice.wording import nearest, quote

__all__ = ["MAX_VARIANTS", "change_number", "load_variants"]

MAX_VARIANTS = 10_000

# The lists of tables of a problem file, and what one of their entries is called.
_ENTRIES = {
    "groups": "group",
    "discounts": "discount",
    "conditional_costs": "conditional price",
    "constraints": "constraint",
}


def load_variants(
    path_or_name: str | Path, settings: Mapping[str, float | Sequence[float]]
) -> list[Variant]:
    """Return a problem with other numbers: one variant for each combination of values.

    Parameters
    ----------
    path_or_name
        As for `load_problem`.
    settings
        The value, or the values, of each place of the file. The last place varies fastest.

    >>> variants = load_variants("figure1", {"costs.X1": [1, 2], "costs.X2": 3})
    >>> [(dict(v.settings), v.problem.costs.prices["X1"]) for v in variants]
    [({'costs.X1': 1, 'costs.X2': 3}, 1.0), ({'costs.X1': 2, 'costs.X2': 3}, 2.0)]
    """
    values = [[v] if isinstance(v, int | float) else list(v) for v in settings.values()]
    if (n := math.prod(map(len, values))) > MAX_VARIANTS:
        raise InputError(f"{n:,} combinations of values; there may be at most {MAX_VARIANTS:,}")
    with find_problem(path_or_name).opened() as (problem, document, folder):
        places = [change_number(copy.deepcopy(document), key, 0) for key in settings]
        for k, place in enumerate(places):
            if place in places[:k]:
                raise InputError("is set twice", place)
        found = []
        for chosen in itertools.product(*values):
            changed = copy.deepcopy(document)
            for key, value in zip(settings, chosen, strict=True):
                change_number(changed, key, value)
            is_same = changed["network"] == document["network"]
            parsed = parse_problem(changed, folder, network=problem.network if is_same else None)
            found.append(Variant(parsed, tuple(zip(settings, chosen, strict=True))))
    return found


def change_number(document: dict[str, Any], key: str, value: float) -> str:
    """Set the number at a place of a problem file, and return the place as errors name it.

    >>> document = {"groups": [{"name": "blood", "overhead": 2.1}]}
    >>> change_number(document, "groups.blood.overhead", 3)
    'groups[0].overhead'
    >>> document
    {'groups': [{'name': 'blood', 'overhead': 3}]}
    """
    if not key or "" in key.split("."):
        raise InputError(f"must be a place in the problem file, got {quote(key)}")
    first = re.split(r"[.\[]", key, maxsplit=1)[0]
    if first in _ENTRIES and first not in document:
        raise InputError(f"the file has no [[{first}]]", key)
    at: Any = document
    step: Any
    place, rest = "", key
    while rest:
        if isinstance(at, dict):
            step, rest = _split(at, rest)
            if step not in at:
                _check_new(at, step, place)
            place = f"{place}.{step}" if place else step
            at.setdefault(step, {} if rest else 0)
        elif isinstance(at, list):
            step, rest = _entry(at, rest, place, key)
            place = f"{place}[{step}]"
        else:
            raise InputError(f"is {quote(at)}, so there is no {quote(rest)} in it", place)
        holder, at = at, at[step]
    if not isinstance(at, int | float) or isinstance(at, bool):
        raise InputError(f"only a number can be set, and this is {quote(at)}", place)
    holder[step] = value
    return place


def _check_new(table: Mapping[str, Any], key: str, place: str) -> None:
    """Raise `InputError` if a key that the file does not have cannot be meant."""
    if key[0] in "\"'":
        raise InputError(f"names are written without quotation marks, got {key}", place)
    if place == "misclassification" and key in ("kind", "expected"):
        raise InputError(
            f"the file has a matrix of costs, and no {key} (--expected and --kind replace it)",
            place,
        )


def _split(table: Mapping[str, Any], path: str) -> tuple[str, str]:
    """Return the first key of a path, and what follows: names may have dots and brackets too."""
    known = [name for name in table if path == name or path.startswith((f"{name}.", f"{name}["))]
    key = max(known, key=len) if known else path.partition(".")[0]
    return key, path[len(key) :].removeprefix(".")


def _entry(entries: Sequence[Any], path: str, place: str, key: str) -> tuple[int, str]:
    """Return the number of the entry that a path, the end of a key, begins with, and the rest."""
    number, bracket, rest = path.removeprefix("[").partition("]")
    if path.startswith("[") and bracket and number.isdecimal():
        if int(number) < len(entries):
            return int(number), rest.removeprefix(".")
        raise InputError(f"has {len(entries)} entries, so there is no [{number}]", place)
    named = {entry["name"]: k for k, entry in enumerate(entries) if _is_named(entry)}
    name, rest = _split(named, path)
    if name in named:
        return named[name], rest
    if named:
        what = _ENTRIES.get(place, "entry")
        raise UnknownNameError(f"no {what} {quote(name)}{nearest(name, named)}", key)
    raise InputError(f"needs the number of an entry, such as {place}[0]", place)


def _is_named(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)
