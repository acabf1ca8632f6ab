"""Prices through one door: what engines, bills, reasons and files ask of any costs.

`Pricing` is that door. `FeatureCosts` implements it as a sum of kinds, and `_OwnPricing` for costs
of a user's own (`CostModel`), of which nothing is known but what a set costs at some evidence. Its
answers are the most cautious ones: any set may be a bundle, and any evidence may change any price.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, located
from voilattice.feature_sets import membership
from voilattice.model.costs.amounts import MAX_AMOUNT, check_amount, format_set
from voilattice.model.costs.interface import Item, ListedPrice, Sharing

if TYPE_CHECKING:
    from voilattice.model.problem import Problem

__all__ = ["CostModel", "Pricing", "price_set", "pricing_of"]


@runtime_checkable
class CostModel(Protocol):
    """Anything that can price a set of features: C(S | e)."""

    def cost(self, features: frozenset[str], evidence: Mapping[str, str]) -> float:
        """Return what acquiring `features` together costs once `evidence` is known."""
        ...


class Pricing(ABC):
    """What features cost, alone and together, and how that is put into words."""

    __slots__ = ()

    prices: Mapping[str, float]  # the plain price of each feature; empty: there is none
    round_cost: float  # paid for each acquisition, whatever it brings
    # Which features come before a feature, where constraints say so and prices depend on it.
    order: Mapping[str, frozenset[str]]

    # -- what a set costs

    @abstractmethod
    def cost(self, features: frozenset[str], evidence: Mapping[str, str]) -> float:
        """Return C(S | e)."""

    def set_costs(
        self, features: Sequence[str], rows: NDArray[np.uint64], evidence: Mapping[str, str]
    ) -> NDArray[np.float64]:
        """Return C(S | e) for many sets: rows of words, bit k for the k-th of `features`."""
        names = np.array(features, dtype=object)
        sets = (frozenset(names[row]) for row in membership(rows, len(features)))
        return np.array([price_set(self, chosen, evidence) for chosen in sets])

    @property
    def is_sum(self) -> bool:
        """Whether C is a sum of own prices, surcharges and the cost of a round.

        Then buying one by one in the right order costs no more than buying together, but where
        prices depend on each other in a cycle, or rounds count.
        """
        return False

    # -- its parts, if it is such a sum

    def price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return what a feature costs at this evidence as the first, without an overhead."""
        return price_set(self, frozenset({feature}), evidence)

    def own_price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return what a feature costs at this evidence if it is not the first of its sharing."""
        return self.price(feature, evidence)

    def off(self, feature: str) -> float:
        """Return what a discount takes off the price of a feature; 0: nothing."""
        return 0.0

    def least_own_price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return the least own price of a feature at this evidence and at all further evidence."""
        return 0.0

    def most_spent(self, features: Collection[str]) -> float:
        """Return a price that acquiring these features does not exceed, in any order."""
        return math.inf

    @property
    def conditions(self) -> Sequence[tuple[str, tuple[tuple[str, str], ...]]]:
        """Features with states that, once known, change the price of the feature."""
        return ()

    @property
    def sharings(self) -> tuple[Sharing, ...]:
        """The groups, then the discounts: both are ways to share costs."""
        return ()

    def unopened(self, known: Collection[str]) -> list[Sharing]:
        """Return the sharings without a known feature: the first is still to pay."""
        return []

    def shared_cost(self, features: frozenset[str], known: Collection[str]) -> float:
        """Return C(S | e) without the own prices. It does not depend on values."""
        return 0.0

    def firsts(self, features: frozenset[str], known: Collection[str]) -> frozenset[str] | None:
        """Return the features of a set that can come first in a cheapest order; None: any."""
        return None

    def surcharges(self, known: Collection[str]) -> dict[str, float]:
        """Return what each feature would pay in addition if it came first of its sharing now."""
        return {f: s for sharing in self.unopened(known) for f, s in sharing.surcharges.items()}

    @property
    def counts_order(self) -> bool:
        """Whether what a set costs can depend on which of its features comes first."""
        return any(sharing.counts_order for sharing in self.sharings)

    def superset_costs(self, evidence: Mapping[str, str]) -> Pricing | None:
        """Return costs by which a set costs what its cheapest superset costs at this evidence.

        They are monotone, and never more than the costs themselves. None: they are not known.
        """
        return None

    # -- other costs

    @property
    def given(self) -> CostModel:
        """The costs as they were given."""
        return self

    def in_order(self, order: Mapping[str, frozenset[str]]) -> Pricing:
        """Return the same costs, with features that come before others in a batch."""
        return self

    @abstractmethod
    def without(self, features: Collection[str]) -> CostModel:
        """Return the costs of the other features, if `features` can never be known."""

    def with_prices(self, prices: Mapping[str, float]) -> CostModel:
        """Return the same costs with other plain prices of some features."""
        raise InputError(f"must be prices that can be changed, got {self.name}", "costs")

    def without_rounds(self) -> CostModel:
        """Return the same costs where rounds are free."""
        raise InputError(f"must be prices that can be changed, got {self.name}", "costs")

    # -- names, files and words

    @property
    def name(self) -> str:
        """What the type of the costs is called."""
        return type(self).__name__

    def check_names(self, problem: Problem) -> None:
        """Raise an error unless every feature has a price and all that prices name exists."""
        return  # a user's own costs name nothing

    @abstractmethod
    def tables(self) -> dict[str, Any]:
        """Return the tables of a problem file, those that are not empty."""

    def documents(self) -> dict[str, Any]:
        """Return the tables as JSON shows them, empty ones too."""
        return {}

    @abstractmethod
    def fingerprints(self) -> dict[str, object]:
        """Return, for each table that is not empty, what tells it from others."""

    def sentences(self, problem: Problem) -> list[str]:
        """Return what shared and conditional prices say, in sentences."""
        return []

    def describe_sharing(self, feature: str) -> str:
        """Return the group of a feature, or its discount and what that takes off; empty: none."""
        return ""

    def items(self, features: Collection[str], known: Mapping[str, str]) -> list[Item]:
        """Return the parts of what a set costs; what they do not explain is the rest."""
        return []

    def listed(self) -> Iterable[ListedPrice]:
        """Return the prices that may be paid, as rows of a bill."""
        return ()

    @abstractmethod
    def row_name(self, problem: Problem, kind: str, name: str) -> str:
        """Return what a row of a bill is about."""

    def rest_name(self, problem: Problem, features: Collection[str]) -> str:
        """Return what the rest of a set's cost is for, in words."""
        return ", ".join(map(problem.label, features))


class _OwnPricing(Pricing):
    """Costs of a user's own."""

    def __init__(self, model: CostModel) -> None:
        self._model = model
        self.prices, self.round_cost, self.order = {}, 0.0, {}

    @property
    def name(self) -> str:
        """What the type of the costs is called."""
        return type(self._model).__name__

    @property
    def given(self) -> CostModel:
        """The costs as they were given."""
        return self._model

    def cost(self, features: frozenset[str], evidence: Mapping[str, str]) -> float:
        """Return C(S | e)."""
        return self._model.cost(features, evidence)

    def without(self, features: Collection[str]) -> CostModel:
        """Return the same costs."""
        return self._model

    def tables(self) -> dict[str, Any]:
        """Raise `InputError`: no file can hold them."""
        raise InputError(f"costs of type {self.name} cannot be written; only FeatureCosts can")

    def fingerprints(self) -> dict[str, object]:
        """Raise `InputError`: nothing tells them from others."""
        raise InputError(
            f"policies for costs of type {self.name} cannot be saved or loaded; "
            f"only FeatureCosts are supported"
        )

    def row_name(self, problem: Problem, kind: str, name: str) -> str:
        """Return the feature, or that the row is for all features together."""
        return problem.label(name) if name else "all of them"


def pricing_of(costs: CostModel) -> Pricing:
    """Return the door to any costs."""
    return costs if isinstance(costs, Pricing) else _OwnPricing(costs)


def price_set(costs: CostModel, features: frozenset[str], evidence: Mapping[str, str]) -> float:
    """Return C(S | e) from any cost model, and check the amount."""
    amount = costs.cost(features, evidence)
    if type(amount) is float and 0.0 <= amount <= MAX_AMOUNT:
        return amount  # a shortcut for the usual case, because thousands of sets are priced
    with located(f"the cost of {format_set(features)}"):
        return check_amount(amount)
