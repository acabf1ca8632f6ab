"""The costs of a problem file: a sum of kinds of prices.

A set S acquired together at evidence e costs

    C(S | e) = sum_{i in S} own(i | e)  +  sum_g min_{i in S and g} surcharge(i)

where own(i | e) = price(i | e) - off(i), price is built up kind by kind (`interface`), and g runs
over the groups and discounts that S touches and e does not. A round cost, if there is one, is added
for each set that is not empty.

Prices depend on e and not on the rest of S, and nothing is negative. Without discounts,
C(S' | e) <= C(S | e) whenever S' is a subset of S, as Proposition 1 requires (`monotonicity`). With
discounts this fails if a feature j costs less than it saves: price(j | e) < off(i) for a feature i
of the same discount. Then {i, j} is cheaper than {i}, and j is an *opener*. The cheapest superset
of S costs

    min over T ⊇ S of C(T | e) = C(S | e) with surcharge(i) replaced by min(surcharge(i), p),

where p is the least price(j | e) of all unknown features j of the discount (`superset_costs`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, located
from voilattice.feature_sets import membership
from voilattice.model.costs.amounts import check_entries
from voilattice.model.costs.conditional import ConditionalCost, ConditionalPrices
from voilattice.model.costs.discounts import Discount, Discounts, cheapest_orders
from voilattice.model.costs.groups import Group, Groups
from voilattice.model.costs.interface import Item, Kind, ListedPrice, Sharing
from voilattice.model.costs.plain import PlainPrices
from voilattice.model.costs.pricing import Pricing
from voilattice.model.costs.rounds import Rounds
from voilattice.model.network import check_list
from voilattice.wording import count_noun, format_amount, join_names

if TYPE_CHECKING:
    from voilattice.model.problem import Problem

__all__ = ["KINDS", "FeatureCosts"]

# The fields of `FeatureCosts` and their kinds, in the order in which they build up a price.
KINDS: dict[str, type[Kind]] = {
    "prices": PlainPrices,
    "groups": Groups,
    "discounts": Discounts,
    "conditional": ConditionalPrices,
    "round_cost": Rounds,
}


@dataclass(frozen=True, slots=True, repr=False)
class FeatureCosts(Pricing):
    """Prices, group overheads, conditional prices and discounts: the costs of a problem file.

    Parameters
    ----------
    prices
        The price of each feature on its own, at least 0.
    groups
        Features that share an overhead (`Group`).
    conditional
        Prices that depend on what is known (`ConditionalCost`).
    discounts
        Features that cost less after another one (`Discount`).
    round_cost
        What each acquisition costs in addition, whatever it brings: a visit, a day.
    order
        Which features come before others in one round. A `Problem` sets it from its constraints.

    >>> costs = FeatureCosts({"chol": 7.27, "fbs": 5.2}, (Group("blood", 2.1, ("chol", "fbs")),))
    >>> round(costs.cost(frozenset({"chol", "fbs"}), {}), 2)
    14.57
    >>> costs.cost(frozenset({"chol"}), {"fbs": "high"})
    7.27
    >>> discount = Discount("blood", {"chol": 2.1, "fbs": 2.1})
    >>> costs = FeatureCosts({"chol": 7.27, "fbs": 5.2}, discounts=(discount,))
    >>> round(costs.cost(frozenset({"chol", "fbs"}), {}), 2)
    10.37
    """

    prices: Mapping[str, float]
    groups: tuple[Group, ...] = ()
    conditional: tuple[ConditionalCost, ...] = ()
    discounts: tuple[Discount, ...] = ()
    round_cost: float = 0.0  # paid for each acquisition, whatever it brings
    # Which features come before a feature, where constraints say so. A problem sets it.
    order: Mapping[str, frozenset[str]] = field(default_factory=dict, compare=False)
    kinds: tuple[Kind, ...] = field(init=False, compare=False)
    _price_kinds: tuple[Kind, ...] = field(init=False, compare=False)  # those that change prices
    _off: Mapping[str, float] = field(init=False, compare=False)  # what discounts take off
    _surcharges: tuple[Mapping[str, float], ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        kinds = []
        for name, kind_of in KINDS.items():
            entries = kind_of.check(getattr(self, name))
            object.__setattr__(self, name, entries)
            kinds.append(kind_of(entries))
        object.__setattr__(self, "kinds", tuple(kinds))
        order = {
            feature: frozenset(check_list(first, "a list of features", f"order.{feature}", str))
            for feature, first in check_entries(self.order, "lists", "order")
        }
        object.__setattr__(self, "order", MappingProxyType(order))
        self._check_members()
        for kind in kinds:
            kind.check_with(self)
        changing = tuple(kind for kind in kinds if type(kind).price is not Kind.price)
        object.__setattr__(self, "_price_kinds", changing)
        off = {f: x for s in self.sharings if s.counts_order for f, x in s.surcharges.items()}
        object.__setattr__(self, "_off", off)
        surcharges = tuple(sharing.surcharges for sharing in self.sharings)
        object.__setattr__(self, "_surcharges", surcharges)

    def _check_members(self) -> None:
        """Raise `InputError` if a name is used twice, or a feature shares costs in two ways."""
        members: dict[str, str] = {}
        for kind in self.kinds:
            names: set[str] = set()
            for place, sharing in enumerate(kind.sharings):
                with located(f"{kind.key}[{place}]"):
                    if sharing.name in names:
                        raise InputError(f"two {kind.key} are called {sharing.name!r}", "name")
                    names.add(sharing.name)
                    for feature in sharing.features:
                        if feature in members:
                            raise InputError(
                                f"{feature!r} is in {members[feature]} already; "
                                f"a feature belongs to one group or discount at most, once",
                                "off" if sharing.counts_order else "features",
                            )
                        members[feature] = f"{kind.item} {sharing.name!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        given = (getattr(self, each.name) for each in fields(self) if each.init)
        return FeatureCosts, tuple(dict(x) if isinstance(x, Mapping) else x for x in given)

    def __hash__(self) -> int:
        entries = (getattr(self, name) for name in KINDS)
        return hash(tuple(frozenset(e.items()) if isinstance(e, Mapping) else e for e in entries))

    def __repr__(self) -> str:
        discounts = f"{count_noun(len(self.discounts), 'discount')}, " if self.discounts else ""
        rounds = f", {format_amount(self.round_cost)} a round" if self.round_cost else ""
        return (
            f"<FeatureCosts: {count_noun(len(self.prices), 'price')}, "
            f"{count_noun(len(self.groups), 'group')}, {discounts}"
            f"{count_noun(len(self.conditional), 'conditional price')}{rounds}>"
        )

    # -- what a set costs

    def cost(self, features: frozenset[str], evidence: Mapping[str, str]) -> float:
        """Return C(S | e)."""
        amounts = [self.price(feature, evidence) for feature in features]
        if self._off:
            amounts += [-self._off[feature] for feature in features if feature in self._off]
        # An exact sum, so that it does not depend on the order of a set's elements.
        return math.fsum(amounts + self._shared(features, evidence))

    def set_costs(
        self, features: Sequence[str], rows: NDArray[np.uint64], evidence: Mapping[str, str]
    ) -> NDArray[np.float64]:
        """Return C(S | e) for many sets: rows of words, bit k for the k-th of `features`."""
        if self.order:
            return Pricing.set_costs(self, features, rows, evidence)
        member = membership(rows, len(features))
        total = np.where(member.any(axis=1), self.round_cost, 0.0)
        for k, name in enumerate(features):
            if name not in evidence:
                total[member[:, k]] += self.own_price(name, evidence)
        for sharing in self.unopened(evidence):
            first = np.full(len(rows), np.inf)
            for name, surcharge in sharing.surcharges.items():
                inside = member[:, features.index(name)]
                first[inside] = np.minimum(first[inside], surcharge)
            total += np.where(np.isinf(first), 0.0, first)
        return total

    @property
    def is_sum(self) -> bool:
        """Whether C is a sum of own prices, surcharges and the cost of a round."""
        return True

    # -- its parts

    def price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return what a feature costs at this evidence as the first, without an overhead."""
        price = 0.0
        for kind in self._price_kinds:
            price = kind.price(feature, evidence, price)
        return price

    def own_price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return what a feature costs at this evidence if it is not the first of its sharing."""
        return self.price(feature, evidence) - self._off.get(feature, 0.0)

    def off(self, feature: str) -> float:
        """Return what a discount takes off the price of a feature; 0: nothing."""
        return self._off.get(feature, 0.0)

    def least_own_price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return the least own price of a feature at this evidence and at all further evidence."""
        price = 0.0
        for kind in self._price_kinds:
            price = kind.least_price(feature, evidence, price)
        return price - self._off.get(feature, 0.0)

    def most_own_price(self, feature: str) -> float:
        """Return the highest own price of a feature at any evidence."""
        price = 0.0
        for kind in self._price_kinds:
            price = kind.most_price(feature, price)
        return price - self._off.get(feature, 0.0)

    def most_spent(self, features: Collection[str]) -> float:
        """Return a price that acquiring these features does not exceed, in any order."""
        shared = [max(s.values()) for s in self._surcharges if not s.keys().isdisjoint(features)]
        most = [self.most_own_price(name) + self.round_cost for name in features]
        return math.fsum(most + shared)

    @property
    def conditions(self) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
        """Features with states that, once known, change the price of the feature."""
        return [condition for kind in self.kinds for condition in kind.conditions()]

    @property
    def sharings(self) -> tuple[Sharing, ...]:
        """The groups, then the discounts: both are ways to share costs."""
        return tuple(sharing for kind in self.kinds for sharing in kind.sharings)

    def unopened(self, known: Collection[str]) -> list[Sharing]:
        """Return the groups and discounts without a known feature: the first is still to pay."""
        return [
            sharing
            for sharing, surcharges in zip(self.sharings, self._surcharges, strict=True)
            if not any(feature in known for feature in surcharges)
        ]

    def firsts(self, features: frozenset[str], known: Collection[str]) -> frozenset[str] | None:
        """Return the features of a set that can come first in a cheapest order; None: any."""
        if not self.counts_order:
            return None
        _, orders = cheapest_orders(self.discounts, self.order, features, known)
        return frozenset(f for f in features if any(not needs[f] for needs in orders))

    def shared_cost(self, features: frozenset[str], known: Collection[str]) -> float:
        """Return C(S | e) without the own prices. It does not depend on values."""
        return math.fsum(self._shared(features, known))

    def _shared(self, features: frozenset[str], known: Collection[str]) -> list[float]:
        amounts = [self.round_cost] if self.round_cost and features else []
        is_ordered = bool(self.order) and any(feature in self.order for feature in features)
        for surcharges in self._surcharges[: len(self.groups) if is_ordered else None]:
            first = [surcharges[feature] for feature in features if feature in surcharges]
            if first and not any(feature in known for feature in surcharges):
                amounts.append(min(first))
        if is_ordered:
            amounts.append(cheapest_orders(self.discounts, self.order, features, known)[0])
        return amounts

    def superset_costs(self, evidence: Mapping[str, str]) -> FeatureCosts:
        """Return costs by which a set costs what its cheapest superset costs at this evidence.

        They are monotone, and never more than the costs themselves.
        """
        if not self.discounts:
            return self
        off: dict[str, float] = {}
        discounts = []
        for discount in self.discounts:
            cap = min(self.price(feature, evidence) for feature in discount.features)
            capped = {feature: min(amount, cap) for feature, amount in discount.off.items()}
            discounts.append(Discount(discount.name, capped))
            off |= capped
        prices = {f: self.own_price(f, evidence) + off.get(f, 0.0) for f in self.prices}
        return replace(self, prices=prices, conditional=(), discounts=tuple(discounts), order={})

    # -- other costs

    def without(self, features: Collection[str]) -> FeatureCosts:
        """Return the costs of the other features, if `features` can never be known."""
        left = {name: k.without(features) for name, k in zip(KINDS, self.kinds, strict=True)}
        return FeatureCosts(**left)

    def with_prices(self, prices: Mapping[str, float]) -> FeatureCosts:
        """Return the same costs with other plain prices of some features."""
        return replace(self, prices={**self.prices, **prices})

    def without_rounds(self) -> FeatureCosts:
        """Return the same costs where rounds are free."""
        return replace(self, round_cost=0.0)

    def in_order(self, order: Mapping[str, frozenset[str]]) -> FeatureCosts:
        """Return the same costs, with features that come before others in a batch."""
        return self if order == self.order else replace(self, order=dict(order))

    # -- names, files and words

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> FeatureCosts:
        """Return the costs in the tables of a problem file."""
        tables = {name: kind for name, kind in KINDS.items() if kind.key in document}
        return cls(**{name: kind.read(document[kind.key]) for name, kind in tables.items()})

    def check_names(self, problem: Problem) -> None:
        """Raise an error unless every feature has a price and all that prices name exists."""
        for kind in self.kinds:
            kind.check_names(problem)

    def tables(self) -> dict[str, Any]:
        """Return the tables of a problem file, those that are not empty."""
        return {kind.key: kind.table() for kind in self.kinds if kind}

    def documents(self) -> dict[str, Any]:
        """Return the tables as JSON shows them, empty ones too."""
        return {kind.key: kind.document() for kind in self.kinds}

    def fingerprints(self) -> dict[str, object]:
        """Return, for each table that is not empty, what tells it from others."""
        return {kind.key: kind.fingerprint() for kind in self.kinds if kind}

    def sentences(self, problem: Problem) -> list[str]:
        """Return what shared and conditional prices say, in sentences."""
        return [sentence for kind in self.kinds for sentence in kind.sentences(problem)]

    def describe_sharing(self, feature: str) -> str:
        """Return the group of a feature, or its discount and what that takes off; empty: none."""
        for sharing in self.sharings:
            if feature in sharing.features:
                off = f": {format_amount(self._off[feature])} off" if feature in self._off else ""
                return sharing.name + off
        return ""

    def items(self, features: Collection[str], known: Mapping[str, str]) -> list[Item]:
        """Return the parts of what a set costs; what they do not explain is the rest."""
        return [item for kind in self.kinds for item in kind.items(self, features, known)]

    def listed(self) -> list[ListedPrice]:
        """Return the prices that may be paid, as rows of a bill."""
        return [row for kind in self.kinds for row in kind.listed()]

    def row_name(self, problem: Problem, kind: str, name: str) -> str:
        """Return what a row of a bill is about."""
        for one in self.kinds:
            if one.item == kind:
                return one.row_name(problem, name)
        return "discounts in the order that the constraints allow"

    def rest_name(self, problem: Problem, features: Collection[str]) -> str:
        """Return what the rest of a set's cost is for, in words."""
        names = [d.name for d in self.discounts if not set(features).isdisjoint(d.features)]
        return f"discount {join_names(names, 'and')}"
