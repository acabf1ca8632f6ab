"""Sections of a problem file, as TOML holds them: a value of the wanted type, or a clear error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from voilattice.errors import InputError, UnknownNameError
from voilattice.wording import nearest, quote

__all__ = ["check_keys", "expect", "expect_all", "expect_entries", "expect_numbers"]

_WANTED = {str: "text", dict: "a table", list: "a list", float: "a number"}
_T = TypeVar("_T")


def check_keys(
    section: Mapping[str, Any], known: tuple[str, ...], *, required: tuple[str, ...]
) -> None:
    """Raise an error if a table has an unknown key, or lacks a required one."""
    for key in section:
        if key not in known:
            raise UnknownNameError(f"unknown key{nearest(key, known)}", key)
    for key in required:
        if key not in section:
            raise InputError("is missing", key)


def expect(value: Any, kind: type[_T], place: str) -> _T:
    """Return `value` if it has that type (an integer is a number too), else raise `InputError`."""
    if not isinstance(value, int | float if kind is float else kind) or isinstance(value, bool):
        # Show the value as it is in the file, not as Python writes it.
        is_plain = isinstance(value, str | int | float | list | dict) and not isinstance(
            value, bool
        )
        found = quote(value) if is_plain else str(value).lower()
        raise InputError(f"must be {_WANTED[kind]}, got {found}", place)
    return cast(_T, value)


def expect_all(value: Any, kind: type[_T], place: str) -> list[_T]:
    """Return a list whose items all have that type, else raise `InputError`."""
    items = expect(value, list, place)
    return [expect(item, kind, f"{place}[{k}]") for k, item in enumerate(items)]


def expect_entries(value: Any, place: str, heading: str = "") -> list[dict[str, Any]]:
    """Return a list of tables; one table is a list that has a single bracket in its heading."""
    if isinstance(value, dict):
        heading = heading or place
        raise InputError(
            f"must be a list of tables: write [[{heading}]] above each, not [{heading}]", place
        )
    return expect_all(value, dict, place)


def expect_numbers(value: Any, place: str) -> dict[str, Any]:
    """Return a table of numbers: none is true or false. The amounts are checked later."""
    table = expect(value, dict, place)
    for key, amount in table.items():
        if isinstance(amount, bool):
            expect(amount, float, f"{place}.{key}")
    return table
