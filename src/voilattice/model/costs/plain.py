"""Plain prices: what each feature costs on its own, at least 0. In a problem file: ``[costs]``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from voilattice.errors import InputError, located
from voilattice.model.costs.amounts import check_amount, check_entries
from voilattice.model.costs.interface import Item, Kind, ListedPrice
from voilattice.model.sections import expect_numbers

if TYPE_CHECKING:
    from voilattice.model.costs.feature_costs import FeatureCosts
    from voilattice.model.problem import Problem

__all__ = ["PlainPrices"]


class PlainPrices(Kind):
    """A price for each feature."""

    key, item = "costs", "feature"
    entries: Mapping[str, float]

    @classmethod
    def check(cls, given: object) -> Mapping[str, float]:
        """Return the prices as read-only numbers."""
        prices = {}
        for feature, price in check_entries(given, "prices", cls.key):
            with located(f"{cls.key}.{feature}"):
                prices[feature] = check_amount(price)
        return MappingProxyType(prices)

    @classmethod
    def read(cls, table: Any) -> dict[str, Any]:
        """Return the prices in a table of a problem file."""
        return expect_numbers(table, cls.key)

    def table(self) -> dict[str, float]:
        """Return the table of a problem file."""
        return dict(self.entries)

    def fingerprint(self) -> object:
        """Return what tells these prices from others."""
        return sorted(self.entries.items())

    def check_names(self, problem: Problem) -> None:
        """Raise an error unless every feature of a problem has a price, and nothing else has."""
        for feature in self.entries:
            with located(f"{self.key}.{feature}"):
                problem.check_feature(feature)
        without = [feature for feature in problem.features if feature not in self.entries]
        if without:
            message = "every feature needs a price >= 0, found none"
            if others := without[1:]:
                message += f", and none for {', '.join(others)}"
            raise InputError(message, f"{self.key}.{without[0]}")

    def without(self, features: Collection[str]) -> dict[str, float]:
        """Return the prices of the other features."""
        return {f: price for f, price in self.entries.items() if f not in features}

    def price(self, feature: str, evidence: Mapping[str, str], price: float) -> float:
        """Return the price of a feature."""
        return self.entries[feature]

    def least_price(self, feature: str, evidence: Mapping[str, str], price: float) -> float:
        """Return the price of a feature."""
        return self.entries[feature]

    def most_price(self, feature: str, price: float) -> float:
        """Return the price of a feature."""
        return self.entries[feature]

    def items(
        self, costs: FeatureCosts, features: Collection[str], known: Mapping[str, str]
    ) -> Iterator[Item]:
        """Yield the price of each feature."""
        for feature in features:
            yield Item(self.item, feature, self.entries[feature])

    def listed(self) -> Iterator[ListedPrice]:
        """Yield the price of each feature."""
        for feature, price in self.entries.items():
            yield ListedPrice(self.item, feature, price)

    def row_name(self, problem: Problem, name: str) -> str:
        """Return what people call the feature."""
        return problem.label(name)
