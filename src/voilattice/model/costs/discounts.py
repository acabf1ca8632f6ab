"""Discounts: features of which each later one costs less than the first.

    own(i | e) = price(i | e) - off(i)     surcharge(i) = off(i)

So the first feature of a discount pays its price and each later one `off` less, and a set bought at
once is priced in the cheapest order. Constraints may rule some orders out (`acquisition`): then the
least surcharges are those of the cheapest order left (`cheapest_orders`). In a problem file:
``[[discounts]]``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from voilattice.errors import InputError, located
from voilattice.feature_sets import find_circle
from voilattice.model.costs.amounts import check_amount, check_entries
from voilattice.model.costs.interface import Item, Kind, ListedPrice
from voilattice.model.network import check_list, check_text
from voilattice.model.references import check_features
from voilattice.model.sections import check_keys, expect, expect_entries
from voilattice.wording import format_amount, join_names

if TYPE_CHECKING:
    from voilattice.model.costs.feature_costs import FeatureCosts
    from voilattice.model.problem import Problem

__all__ = ["Discount", "Discounts", "cheapest_orders"]


@dataclass(frozen=True, slots=True)
class Discount:
    """Features of which the first one acquired pays its price, and each later one `off` less.

    Turney's way to share costs: the price of each test includes the blood sample, which is taken
    once. A set that is acquired at once is priced in the cheapest order that its constraints
    allow. In a problem file: ``[[discounts]]``.

    Parameters
    ----------
    name
        What people call the discount. Each discount has a name of its own.
    off
        What is taken off the price of each member, from 0 to its price. A feature belongs to one
        group or one discount at most.

    >>> from voilattice import FeatureCosts
    >>> discount = Discount("blood", {"chol": 2, "fbs": 2})
    >>> discount.features
    ('chol', 'fbs')
    >>> costs = FeatureCosts({"chol": 7, "fbs": 5}, discounts=(discount,))
    >>> costs.cost({"chol"}, {}), costs.cost({"chol", "fbs"}, {})
    (7.0, 10.0)
    >>> costs.cost({"fbs"}, {"chol": "high"})
    3.0
    """

    counts_order: ClassVar[bool] = True

    name: str
    off: Mapping[str, float]

    def __post_init__(self) -> None:
        check_text(self.name, "name")
        amounts = {}
        for feature, amount in check_entries(self.off, "amounts", "off"):
            with located(f"off.{feature}"):
                amounts[feature] = check_amount(amount)
        if not amounts:
            raise InputError("at least one feature is needed, found none", "off")
        object.__setattr__(self, "off", MappingProxyType(amounts))

    def __reduce__(self) -> tuple[Any, ...]:
        return Discount, (self.name, dict(self.off))

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.off.items())))

    @property
    def features(self) -> tuple[str, ...]:
        """The features that share the discount."""
        return tuple(self.off)

    @property
    def surcharges(self) -> dict[str, float]:
        """What each feature costs in addition if it is the first."""
        return dict(self.off)


class Discounts(Kind):
    """Amounts that later features save."""

    key, item = "discounts", "discount"
    entries: tuple[Discount, ...]

    @classmethod
    def check(cls, given: object) -> tuple[Discount, ...]:
        """Return the entries of a list of discounts."""
        return check_list(given, "a list of discounts", cls.key, Discount)

    @classmethod
    def read(cls, table: Any) -> tuple[Discount, ...]:
        """Return the discounts in a list of tables."""
        discounts = []
        for place, entry in enumerate(expect_entries(table, cls.key)):
            with located(f"{cls.key}[{place}]"):
                check_keys(entry, names := ("name", "off"), required=names)
                off = expect(entry["off"], dict, "off")
                discounts.append(Discount(expect(entry["name"], str, "name"), off))
        return tuple(discounts)

    def table(self) -> list[dict[str, Any]]:
        """Return the tables of a problem file."""
        return [{"name": discount.name, "off": dict(discount.off)} for discount in self.entries]

    def fingerprint(self) -> object:
        """Return what tells these discounts from others."""
        return [(discount.name, sorted(discount.off.items())) for discount in self.entries]

    def check_with(self, costs: FeatureCosts) -> None:
        """Raise `InputError` if a discount takes more off than a feature costs."""
        for place, discount in enumerate(self.entries):
            for feature, amount in discount.off.items():
                if amount > costs.prices.get(feature, math.inf):
                    raise InputError(
                        f"must be at most the price {costs.prices[feature]:g}, got {amount:g}",
                        f"{self.key}[{place}].off.{feature}",
                    )
        off = {feature: amount for d in self.entries for feature, amount in d.off.items()}
        for place, entry in enumerate(costs.conditional):
            if entry.cost < off.get(entry.feature, 0.0):
                raise InputError(
                    f"must be at least {off[entry.feature]:g}, what its discount takes off "
                    f"{entry.feature!r}; got {entry.cost:g}",
                    f"conditional_costs[{place}].cost",
                )

    def check_names(self, problem: Problem) -> None:
        """Raise an error unless the members exist in a problem."""
        for place, discount in enumerate(self.entries):
            check_features(problem, discount.features, f"{self.key}[{place}].off")

    def without(self, features: Collection[str]) -> tuple[Discount, ...]:
        """Return the discounts of other features."""
        left = [
            (d.name, {f: amount for f, amount in d.off.items() if f not in features})
            for d in self.entries
        ]
        return tuple(Discount(name, off) for name, off in left if off)

    @property
    def sharings(self) -> tuple[Discount, ...]:
        """The discounts."""
        return self.entries

    def sentences(self, problem: Problem) -> Iterator[str]:
        """Yield what each discount takes off, in sentences."""

        def amount(x: float) -> str:
            return format_amount(x, problem.currency)

        for discount in self.entries:
            less = {f"{problem.label(f)} costs {amount(x)} less" for f, x in discount.off.items()}
            if len(amounts := set(discount.off.values())) == 1:
                less = {f"each other one costs {amount(*amounts)} less"}
            members = join_names([problem.label(f) for f in discount.off], "and")
            yield (
                f"Discount {discount.name}: the first of {members} has its full price. "
                f"After it, {join_names(less, 'and')}."
            )

    def items(
        self, costs: FeatureCosts, features: Collection[str], known: Mapping[str, str]
    ) -> Iterator[Item]:
        """Yield what is taken off, if any order is allowed."""
        for discount in self.entries:
            off = [discount.off[f] for f in features if f in discount.off]
            is_open = any(feature in known for feature in discount.off)
            saved = math.fsum(off) - (min(off) if off and not is_open else 0.0)
            if saved:
                yield Item(self.item, discount.name, -saved)

    def listed(self) -> Iterator[ListedPrice]:
        """Yield a row for each discount."""
        for discount in self.entries:
            yield ListedPrice(self.item, discount.name, None)

    def row_name(self, problem: Problem, name: str) -> str:
        """Return the discount, with what it takes off."""
        [off] = (discount.off for discount in self.entries if discount.name == name)
        less = (f"{problem.label(f)} −{format_amount(amount)}" for f, amount in off.items())
        return f"discount {name}, from the second on: {', '.join(less)}"


def cheapest_orders(
    discounts: Sequence[Discount],
    order: Mapping[str, frozenset[str]],
    features: frozenset[str],
    known: Collection[str],
) -> tuple[float, list[dict[str, set[str]]]]:
    """Return what the discounts' first features pay in addition, in a cheapest order.

    Also return the cheapest orders: for each feature, what must come before it. In each discount
    one feature comes before the others. The constraints (`order`) must allow that.
    """
    touched = [
        (discount.off, features.intersection(discount.off))
        for discount in discounts
        if features.intersection(discount.off)
        and not any(feature in known for feature in discount.off)
    ]
    before = {feature: set(order.get(feature, ())) & features for feature in features}
    if not any(before.values()):
        for off, inside in touched:
            least = min(off[feature] for feature in inside)
            cheapest = {feature for feature in inside if off[feature] == least}
            before |= dict.fromkeys(inside - cheapest, cheapest)
        return math.fsum(min(off[f] for f in inside) for off, inside in touched), [before]
    total, orders = math.inf, list[dict[str, set[str]]]()
    for chosen in product(*(sorted(inside) for _, inside in touched)):
        needs = {feature: set(first) for feature, first in before.items()}
        for first, (_, inside) in zip(chosen, touched, strict=True):
            for mate in inside - {first}:
                needs[mate].add(first)
        paid = math.fsum(off[f] for f, (off, _) in zip(chosen, touched, strict=True))
        if paid <= total and find_circle(needs) is None:
            orders = [*orders, needs] if paid == total else [needs]
            total = paid
    return total, orders
