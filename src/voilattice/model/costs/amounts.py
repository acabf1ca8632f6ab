"""Amounts of money: finite numbers, at least 0."""

from __future__ import annotations

import math
import numbers
from collections.abc import ItemsView, Mapping
from typing import Any

from voilattice.errors import InputError
from voilattice.wording import quote

__all__ = ["MAX_AMOUNT", "check_amount", "check_entries", "format_set"]

# The largest amount of money, so that no sum or product of amounts overflows.
MAX_AMOUNT = 1e100


def check_amount(amount: object) -> float:
    """Return an amount of money as a float, or raise `InputError`."""
    if isinstance(amount, bool) or not isinstance(amount, numbers.Real):
        raise InputError(f"must be a number >= 0, got {quote(amount)}")
    try:
        value = float(amount)
    except OverflowError:  # an integer with hundreds of digits
        value = -1.0 if str(amount).startswith("-") else 2 * MAX_AMOUNT
    if not math.isfinite(value):
        raise InputError(f"must be finite, got {quote(amount)}")
    if value < 0:
        raise InputError(f"must be >= 0, got {quote(amount)}")
    if value > MAX_AMOUNT:
        raise InputError(f"must be at most {MAX_AMOUNT:g}, got {quote(amount)}")
    return value


def check_entries(given: object, what: str, place: str) -> ItemsView[str, Any]:
    """Return the entries of a mapping of features, or raise `InputError`."""
    if not isinstance(given, Mapping):
        raise InputError(f"must be a mapping of features and {what}, got {quote(given)}", place)
    return given.items()


def format_set(features: frozenset[str]) -> str:
    """Return a set of features as text."""
    return "{" + ", ".join(sorted(features)) + "}"
