"""What columns cost, as users give it to a classifier, by the names that the problem has for them.

A column is named by its label in a data frame, and by its place (or x0, x1, and so on) in an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from voilattice.errors import InputError, located
from voilattice.model.costs import Discount, FeatureCosts, Group, check_amount
from voilattice.sklearn.inputs import Rows
from voilattice.wording import count_noun, quote

__all__ = ["make_costs"]


def make_costs(prices: Any, groups: Any, discounts: Any, rows: Rows) -> FeatureCosts:
    """Return the costs of the columns, by their names."""
    names = rows.features
    found: dict[str, float] = {}
    if (pairs := _pairs(prices, rows)) is not None:
        for key, price in pairs:
            with located("prices"):
                name = names[rows.place_of(key)]
            if name in found:
                raise InputError(f"{quote(name)} has two prices", "prices")
            with located(f"prices.{name}"):
                found[name] = check_amount(price)
        for name in names:
            if name not in found:
                raise InputError("every column needs a price >= 0, found none", f"prices.{name}")
    elif (amounts := _amounts(prices)) is not None:
        if len(amounts) != len(names):
            raise InputError(
                f"must have a price for each of the {count_noun(len(names), 'column')}, in their "
                f"order; got {len(amounts)}",
                "prices",
            )
        for name, price in zip(names, amounts, strict=True):
            with located(f"prices.{name}"):
                found[name] = check_amount(price)
    elif isinstance(prices, Real) and not isinstance(prices, bool):
        with located("prices"):
            found = dict.fromkeys(names, check_amount(prices))
    else:
        raise InputError(
            f"must be a number, a list of them in the order of the columns, or a mapping (or a "
            f"Series) of columns to numbers, got {quote(prices)}",
            "prices",
        )
    return FeatureCosts(
        found,
        tuple(_make_groups(groups, rows, names)),
        discounts=tuple(_make_discounts(discounts, rows, names)),
    )


def _pairs(given: Any, rows: Rows) -> list[tuple[Any, Any]] | None:
    """Return what a mapping, or a Series by column, says of each column; None: it is neither."""
    if isinstance(given, Mapping):
        return list(given.items())
    if not _is_series(given):
        return None
    pairs = list(given.items())
    has_names = any(isinstance(key, str) for key, _ in pairs)
    has_labels = bool(rows.labels) and all(rows.has(key) for key, _ in pairs)
    return pairs if has_names or has_labels else None


def _amounts(given: Any) -> list[Any] | None:
    """Return the amounts of a list, an array or a Series in order; None: it is none."""
    has_order = hasattr(given, "__len__") and hasattr(given, "__getitem__")
    if isinstance(given, str | bytes | Mapping) or not has_order or np.ndim(given) != 1:
        return None
    if _is_series(given) and list(given.index) != list(range(len(given))):
        raise InputError(
            f"the index of a Series must be the names of the columns, or 0, 1, 2 and so on, got "
            f"{quote(list(given.index))}; .to_list() makes a list in the order of the columns",
            "prices",
        )
    return [amount.item() if isinstance(amount, np.generic) else amount for amount in given]


def _is_series(given: Any) -> bool:
    return hasattr(given, "items") and hasattr(given, "index")


def _make_groups(groups: Any, rows: Rows, names: Sequence[str]) -> Iterator[Group]:
    wanted = "must be a list of (name, overhead, [columns])"
    for place, entry in enumerate(_entries(groups, "groups", wanted)):
        given = (entry.name, entry.overhead, entry.features) if isinstance(entry, Group) else entry
        with located(f"groups[{place}]"):
            name, overhead, features = _parts(given, 3, wanted)
            if isinstance(features, str) or not isinstance(features, Iterable):
                raise InputError(f"must be a list of columns, got {quote(features)}", "features")
            with located("features"):
                members = tuple(names[rows.place_of(key)] for key in features)
            yield Group(name, overhead, members)


def _make_discounts(discounts: Any, rows: Rows, names: Sequence[str]) -> Iterator[Discount]:
    wanted = "must be a list of (name, {column: amount off})"
    for place, entry in enumerate(_entries(discounts, "discounts", wanted)):
        given = (entry.name, entry.off) if isinstance(entry, Discount) else entry
        with located(f"discounts[{place}]"):
            name, off = _parts(given, 2, wanted)
            if (pairs := _pairs(off, rows)) is None:
                raise InputError(f"must be a mapping of columns to numbers, got {quote(off)}")
            with located("off"):
                members = {names[rows.place_of(key)]: amount for key, amount in pairs}
            yield Discount(name, members)


def _entries(given: Any, parameter: str, wanted: str) -> Iterable[Any]:
    if given is None:
        return ()
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{wanted}, got {quote(given)}", parameter)
    return given


def _parts(entry: Any, n: int, wanted: str) -> Sequence[Any]:
    is_list = isinstance(entry, Sequence) and not isinstance(entry, str)
    if not is_list or len(entry) != n or not isinstance(entry[0], str):
        raise InputError(f"{wanted}, got {quote(entry)}")
    return entry  # type: ignore[no-any-return]
