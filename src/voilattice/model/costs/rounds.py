"""Rounds: what each acquisition costs, whatever it brings: a visit, a day.

In a problem file: ``[rounds]`` with ``cost``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from voilattice.errors import located
from voilattice.model.costs.amounts import check_amount
from voilattice.model.costs.interface import Item, Kind, ListedPrice
from voilattice.model.sections import check_keys, expect_numbers

if TYPE_CHECKING:
    from voilattice.model.costs.feature_costs import FeatureCosts
    from voilattice.model.problem import Problem

__all__ = ["Rounds"]


class Rounds(Kind):
    """An amount for each set that is not empty."""

    key, item = "rounds", "round"
    entries: float

    @classmethod
    def check(cls, given: object) -> float:
        """Return the cost of a round as a number."""
        with located(f"{cls.key}.cost"):
            return check_amount(given)

    @classmethod
    def read(cls, table: Any) -> Any:
        """Return the cost of a round in a table of a problem file."""
        section = expect_numbers(table, cls.key)
        with located(cls.key):
            check_keys(section, ("cost",), required=("cost",) if section else ())
        return section.get("cost", 0.0)

    def table(self) -> dict[str, float]:
        """Return the table of a problem file."""
        return {"cost": self.entries}

    def fingerprint(self) -> object:
        """Return what tells this cost from others."""
        return {"round_cost": self.entries}

    def items(
        self, costs: FeatureCosts, features: Collection[str], known: Mapping[str, str]
    ) -> Iterator[Item]:
        """Yield the cost of the round."""
        if features and self:
            yield Item(self.item, "", self.entries)

    def listed(self) -> Iterator[ListedPrice]:
        """Yield the cost of a round."""
        if self:
            yield ListedPrice(self.item, "", self.entries)

    def row_name(self, problem: Problem, name: str) -> str:
        """Return what the row is about."""
        return "each round"
