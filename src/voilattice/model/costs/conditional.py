"""Conditional prices: another price of a feature, once something is known.

The price of feature i at evidence e is that of the first entry of i whose condition e satisfies, or
else the plain price. In a problem file: ``[[conditional_costs]]``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voilattice.errors import InputError, located
from voilattice.model.costs.amounts import check_amount
from voilattice.model.costs.interface import Item, Kind, ListedPrice
from voilattice.model.network import check_list, check_pairs
from voilattice.model.references import check_features, check_states
from voilattice.model.sections import check_keys, expect, expect_entries
from voilattice.wording import format_amount

if TYPE_CHECKING:
    from voilattice.model.costs.feature_costs import FeatureCosts
    from voilattice.model.problem import Problem

__all__ = ["ConditionalCost", "ConditionalPrices"]


@dataclass(frozen=True, slots=True)
class ConditionalCost:
    """A price that replaces a feature's own price once all of `when` is known.

    If several entries of a feature apply, the first one wins. Overheads and discounts come on top
    as before. In a problem file: ``[[conditional_costs]]``.

    Parameters
    ----------
    feature
        The feature whose price it is.
    when
        Features and their states, as a mapping or as pairs: all of them must be known with these
        states before `feature` is acquired. What comes in the same round does not count.
    cost
        The price then, at least 0.

    >>> from voilattice import FeatureCosts
    >>> cheaper = ConditionalCost("treadmill", {"chol": "high"}, 80)
    >>> cheaper.when
    (('chol', 'high'),)
    >>> costs = FeatureCosts({"treadmill": 100, "chol": 7}, conditional=(cheaper,))
    >>> costs.cost({"treadmill"}, {}), costs.cost({"treadmill"}, {"chol": "high"})
    (100.0, 80.0)
    """

    feature: str
    when: tuple[tuple[str, str], ...]
    cost: float

    def __post_init__(self) -> None:
        pairs = self.when.items() if isinstance(self.when, Mapping) else self.when
        pairs = check_pairs(pairs, "a table of features and states", "when")
        object.__setattr__(self, "when", pairs)
        with located("cost"):
            object.__setattr__(self, "cost", check_amount(self.cost))
        if not self.when:
            raise InputError(
                f"at least one known feature is needed; give {self.feature!r} that price under "
                f"costs if it always holds",
                "when",
            )
        if self.feature in dict(self.when):
            raise InputError(f"{self.feature!r} cannot be known before it is acquired", "when")

    def applies(self, evidence: Mapping[str, str]) -> bool:
        """Return whether the evidence satisfies the condition."""
        return all(evidence.get(feature) == state for feature, state in self.when)

    def is_possible(self, evidence: Mapping[str, str]) -> bool:
        """Return whether this evidence, or more of it, can satisfy the condition."""
        return all(evidence.get(feature, state) == state for feature, state in self.when)


class ConditionalPrices(Kind):
    """Prices that depend on what is known."""

    key, item = "conditional_costs", "condition"
    entries: tuple[ConditionalCost, ...]

    @classmethod
    def check(cls, given: object) -> tuple[ConditionalCost, ...]:
        """Return the entries of a list of conditional prices."""
        return check_list(given, "a list of conditional prices", cls.key, ConditionalCost)

    @classmethod
    def read(cls, table: Any) -> tuple[ConditionalCost, ...]:
        """Return the conditional prices in a list of tables."""
        entries = []
        for place, entry in enumerate(expect_entries(table, cls.key)):
            with located(f"{cls.key}[{place}]"):
                check_keys(entry, names := ("feature", "when", "cost"), required=names)
                when = expect(entry["when"], dict, "when")
                for feature, state in when.items():
                    expect(state, str, f"when.{feature}")
                feature = expect(entry["feature"], str, "feature")
                entries.append(ConditionalCost(feature, tuple(when.items()), entry["cost"]))
        return tuple(entries)

    def table(self) -> list[dict[str, Any]]:
        """Return the tables of a problem file."""
        return [
            {"feature": entry.feature, "when": dict(entry.when), "cost": entry.cost}
            for entry in self.entries
        ]

    def fingerprint(self) -> object:
        """Return what tells these prices from others."""
        return [(entry.feature, entry.when, entry.cost) for entry in self.entries]

    def check_names(self, problem: Problem) -> None:
        """Raise an error unless the features and the states exist in a problem."""
        for place, entry in enumerate(self.entries):
            with located(f"{self.key}[{place}]"):
                check_features(problem, [entry.feature], "feature")
                check_states(problem, entry.when, "when")

    def without(self, features: Collection[str]) -> tuple[ConditionalCost, ...]:
        """Return the prices of other features whose condition can still be met."""
        return tuple(
            entry
            for entry in self.entries
            if entry.feature not in features and not any(f in features for f, _ in entry.when)
        )

    def price(self, feature: str, evidence: Mapping[str, str], price: float) -> float:
        """Return the price of the first entry that applies."""
        for entry in self.entries:
            if entry.feature == feature and entry.applies(evidence):
                return entry.cost
        return price

    def least_price(self, feature: str, evidence: Mapping[str, str], price: float) -> float:
        """Return the least price at this evidence and at all further evidence."""
        # Where a later entry applies, all that is needed for it may be known and nothing else.
        amounts = [self.price(feature, evidence, price)]
        for entry in self.entries:
            if entry.feature == feature and entry.is_possible(evidence):
                amounts.append(self.price(feature, {**evidence, **dict(entry.when)}, price))
        return min(amounts)

    def most_price(self, feature: str, price: float) -> float:
        """Return the highest price of a feature."""
        return max(price, *(e.cost for e in self.entries if e.feature == feature), 0.0)

    def conditions(self) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
        """Yield each feature with the states that must be known for another price of it."""
        for entry in self.entries:
            yield entry.feature, entry.when

    def sentences(self, problem: Problem) -> Iterator[str]:
        """Yield what the entries say, in sentences."""
        for entry in self.entries:
            when = " and ".join(_finding(problem, *finding) for finding in entry.when)
            cost = format_amount(entry.cost, problem.currency)
            yield f"{problem.label(entry.feature)} costs {cost} once {when} is known."

    def items(
        self, costs: FeatureCosts, features: Collection[str], known: Mapping[str, str]
    ) -> Iterator[Item]:
        """Yield what an entry that applies adds to the plain price of a feature."""
        for feature in features:
            price = costs.prices[feature]
            if (now := self.price(feature, known, price)) != price:
                yield Item(self.item, feature, now - price)

    def listed(self) -> Iterator[ListedPrice]:
        """Yield a row for each feature that has a conditional price."""
        for feature in dict.fromkeys(entry.feature for entry in self.entries):
            yield ListedPrice(self.item, feature, None)

    def row_name(self, problem: Problem, name: str) -> str:
        """Return the feature, with its prices and when they hold."""
        prices = (
            f"{format_amount(entry.cost)} if "
            + ", ".join(_finding(problem, *finding) for finding in entry.when)
            for entry in self.entries
            if entry.feature == name
        )
        return f"{problem.label(name)}: {'; '.join(prices)}"


def _finding(problem: Problem, feature: str, state: str) -> str:
    return f"{problem.label(feature)} = {problem.state_label(feature, state)}"
