"""What features cost (paper, Section 2).

A set S acquired together at evidence e costs

    C(S | e) = sum_{i in S} own(i | e)  +  sum_g min_{i in S and g} surcharge(i)

where g runs over the groups and discounts that S touches and e does not. A round cost, if there
is one, is added for each set that is not empty.

With price(i | e) the first conditional price of feature i whose condition e satisfies, or else its
price, the two forms of sharing costs are

    in a group      own(i | e) = price(i | e)              surcharge(i) = the group's overhead
    in a discount   own(i | e) = price(i | e) - off(i)     surcharge(i) = off(i)

and own(i | e) = price(i | e) elsewhere. So the first feature of a discount pays its price and each
later one `off` less, and a set bought at once is priced in the cheapest order. Constraints may rule
some orders out (`acquisition`): then the least surcharges are those of the cheapest order left.

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
import numbers
from collections.abc import Collection, ItemsView, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, located
from voilattice.feature_sets import find_circle, membership
from voilattice.model.network import check_list, check_pairs, check_text
from voilattice.wording import count_noun, format_amount, quote

__all__ = [
    "ConditionalCost",
    "CostModel",
    "Discount",
    "FeatureCosts",
    "Group",
    "check_amount",
    "format_set",
    "price_set",
    "set_costs",
    "superset_costs",
]

# The largest amount of money, so that no sum or product of amounts overflows.
MAX_AMOUNT = 1e100


@runtime_checkable
class CostModel(Protocol):
    """Anything that can price a set of features: C(S | e)."""

    def cost(self, features: frozenset[str], evidence: Mapping[str, str]) -> float:
        """Return what acquiring `features` together costs once `evidence` is known."""
        ...


@dataclass(frozen=True, slots=True)
class Group:
    """Features that share an overhead, paid once with the first of them that is acquired.

    One blood sample serves many tests. The overhead is paid once, whether the other features of the
    group come in the same round or later. In a problem file: ``[[groups]]``.

    Parameters
    ----------
    name
        What people call the group, such as ``"blood"``. Each group has a name of its own.
    overhead
        What the first feature costs in addition to its price, at least 0.
    features
        The members. A feature belongs to one group or one discount at most.

    >>> costs = FeatureCosts({"chol": 7, "fbs": 5}, (Group("blood", 2, ("chol", "fbs")),))
    >>> costs.cost({"chol"}, {}), costs.cost({"chol", "fbs"}, {})
    (9.0, 14.0)
    >>> costs.cost({"fbs"}, {"chol": "high"})
    5.0
    """

    name: str
    overhead: float
    features: tuple[str, ...]

    def __post_init__(self) -> None:
        check_text(self.name, "name")
        with located("overhead"):
            object.__setattr__(self, "overhead", check_amount(self.overhead))
        features = check_list(self.features, "a list of features", "features", str)
        object.__setattr__(self, "features", features)
        if not self.features:
            raise InputError("at least one is needed, found none", "features")

    @property
    def surcharges(self) -> dict[str, float]:
        """What each feature costs in addition if it is the first."""
        return dict.fromkeys(self.features, self.overhead)


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

    >>> discount = Discount("blood", {"chol": 2, "fbs": 2})
    >>> discount.features
    ('chol', 'fbs')
    >>> costs = FeatureCosts({"chol": 7, "fbs": 5}, discounts=(discount,))
    >>> costs.cost({"chol"}, {}), costs.cost({"chol", "fbs"}, {})
    (7.0, 10.0)
    >>> costs.cost({"fbs"}, {"chol": "high"})
    3.0
    """

    name: str
    off: Mapping[str, float]

    def __post_init__(self) -> None:
        check_text(self.name, "name")
        amounts = {}
        for feature, amount in _entries(self.off, "amounts", "off"):
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


@dataclass(frozen=True, slots=True, repr=False)
class FeatureCosts:
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
    _off: Mapping[str, float] = field(init=False, compare=False)
    _surcharges: tuple[Mapping[str, float], ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        prices = {}
        for feature, price in _entries(self.prices, "prices", "costs"):
            with located(f"costs.{feature}"):
                prices[feature] = check_amount(price)
        for name, place, what, kind in (
            ("groups", "groups", "groups", Group),
            ("conditional", "conditional_costs", "conditional prices", ConditionalCost),
            ("discounts", "discounts", "discounts", Discount),
        ):
            entries = check_list(getattr(self, name), f"a list of {what}", place, kind)
            object.__setattr__(self, name, entries)
        order = {
            feature: frozenset(check_list(first, "a list of features", f"order.{feature}", str))
            for feature, first in _entries(self.order, "lists", "order")
        }
        self._check_members()
        with located("rounds.cost"):
            object.__setattr__(self, "round_cost", check_amount(self.round_cost))
        off = {feature: amount for d in self.discounts for feature, amount in d.off.items()}
        self._check_discounts(prices, off)
        for name, value in (
            ("prices", MappingProxyType(prices)),
            ("order", MappingProxyType(order)),
            ("_off", off),
            ("_surcharges", tuple(sharing.surcharges for sharing in self.sharings)),
        ):
            object.__setattr__(self, name, value)

    def _check_members(self) -> None:
        """Raise `InputError` if a name is used twice, or a feature shares costs in two ways."""
        members: dict[str, str] = {}
        names: set[tuple[str, str]] = set()
        for number, sharing in enumerate(self.sharings):
            kind, key, place = "group", "features", number
            if isinstance(sharing, Discount):
                kind, key, place = "discount", "off", number - len(self.groups)
            with located(f"{kind}s[{place}]"):
                if (kind, sharing.name) in names:
                    raise InputError(f"two {kind}s are called {sharing.name!r}", "name")
                names.add((kind, sharing.name))
                for feature in sharing.features:
                    if feature in members:
                        raise InputError(
                            f"{feature!r} is in {members[feature]} already; "
                            f"a feature belongs to one group or discount at most, once",
                            key,
                        )
                    members[feature] = f"{kind} {sharing.name!r}"

    def _check_discounts(self, prices: Mapping[str, float], off: Mapping[str, float]) -> None:
        """Raise `InputError` if a discount takes more off than a feature costs."""
        for place, discount in enumerate(self.discounts):
            for feature, amount in discount.off.items():
                if amount > prices.get(feature, math.inf):
                    raise InputError(
                        f"must be at most the price {prices[feature]:g}, got {amount:g}",
                        f"discounts[{place}].off.{feature}",
                    )
        for place, entry in enumerate(self.conditional):
            if entry.cost < off.get(entry.feature, 0.0):
                raise InputError(
                    f"must be at least {off[entry.feature]:g}, what its discount takes off "
                    f"{entry.feature!r}; got {entry.cost:g}",
                    f"conditional_costs[{place}].cost",
                )

    def __reduce__(self) -> tuple[Any, ...]:
        tables = (dict(self.prices), self.groups, self.conditional, self.discounts)
        return FeatureCosts, (*tables, self.round_cost, dict(self.order))

    def __hash__(self) -> int:
        prices = frozenset(self.prices.items())
        return hash((prices, self.groups, self.conditional, self.discounts, self.round_cost))

    def __repr__(self) -> str:
        discounts = f"{count_noun(len(self.discounts), 'discount')}, " if self.discounts else ""
        rounds = f", {format_amount(self.round_cost)} a round" if self.round_cost else ""
        return (
            f"<FeatureCosts: {count_noun(len(self.prices), 'price')}, "
            f"{count_noun(len(self.groups), 'group')}, {discounts}"
            f"{count_noun(len(self.conditional), 'conditional price')}{rounds}>"
        )

    def without(self, features: Collection[str]) -> FeatureCosts:
        """Return the costs of the other features, if `features` can never be known."""
        groups = (
            Group(g.name, g.overhead, tuple(f for f in g.features if f not in features))
            for g in self.groups
            if not set(g.features) <= set(features)
        )
        conditional = (
            entry
            for entry in self.conditional
            if entry.feature not in features and not any(f in features for f, _ in entry.when)
        )
        discounts = (
            Discount(d.name, {f: amount for f, amount in d.off.items() if f not in features})
            for d in self.discounts
            if not set(d.features) <= set(features)
        )
        prices = {f: price for f, price in self.prices.items() if f not in features}
        tables = (tuple(groups), tuple(conditional), tuple(discounts))
        return FeatureCosts(prices, *tables, self.round_cost)

    def in_order(self, order: Mapping[str, frozenset[str]]) -> FeatureCosts:
        """Return the same costs, with features that come before others in a batch."""
        return self if order == self.order else replace(self, order=dict(order))

    def price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return the price of a feature at this evidence, without overheads and discounts."""
        for entry in self.conditional:
            if entry.feature == feature and entry.applies(evidence):
                return entry.cost
        return self.prices[feature]

    def own_price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return what a feature costs at this evidence if it is not the first of its sharing."""
        return self.price(feature, evidence) - self._off.get(feature, 0.0)

    def least_own_price(self, feature: str, evidence: Mapping[str, str]) -> float:
        """Return the least own price of a feature at this evidence and at all further evidence."""
        # Where a later entry applies, all that is needed for it may be known and nothing else.
        amounts = [self.price(feature, evidence)]
        for entry in self.conditional:
            is_possible = all(evidence.get(f, state) == state for f, state in entry.when)
            if entry.feature == feature and is_possible:
                amounts.append(self.price(feature, {**evidence, **dict(entry.when)}))
        return min(amounts) - self._off.get(feature, 0.0)

    def most_own_price(self, feature: str) -> float:
        """Return the highest own price of a feature at any evidence."""
        amounts = [entry.cost for entry in self.conditional if entry.feature == feature]
        return max(self.prices[feature], *amounts, 0.0) - self._off.get(feature, 0.0)

    @property
    def sharings(self) -> tuple[Group | Discount, ...]:
        """The groups, then the discounts: both are ways to share costs."""
        return (*self.groups, *self.discounts)

    def describe_sharing(self, feature: str) -> str:
        """Return the group of a feature, or its discount and what that takes off; empty: none."""
        for sharing in self.sharings:
            if feature in sharing.features:
                off = f": {format_amount(self._off[feature])} off" if feature in self._off else ""
                return sharing.name + off
        return ""

    def unopened(self, known: Collection[str]) -> list[Group | Discount]:
        """Return the groups and discounts without a known feature: the first is still to pay."""
        return [
            sharing
            for sharing, surcharges in zip(self.sharings, self._surcharges, strict=True)
            if not any(feature in known for feature in surcharges)
        ]

    def surcharges(self, known: Collection[str]) -> dict[str, float]:
        """Return what each feature would pay in addition if it came first of its sharing now."""
        return {f: s for sharing in self.unopened(known) for f, s in sharing.surcharges.items()}

    def firsts(self, features: frozenset[str], known: Collection[str]) -> frozenset[str]:
        """Return the features of a set that can come first in a cheapest order."""
        _, orders = self._cheapest_orders(features, known)
        return frozenset(f for f in features if any(not needs[f] for needs in orders))

    def cost(self, features: frozenset[str], evidence: Mapping[str, str]) -> float:
        """Return C(S | e)."""
        amounts = [self.price(feature, evidence) for feature in features]
        if self._off:
            amounts += [-self._off[feature] for feature in features if feature in self._off]
        # An exact sum, so that it does not depend on the order of a set's elements.
        return math.fsum(amounts + self._shared(features, evidence))

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
            amounts.append(self._cheapest_orders(features, known)[0])
        return amounts

    def _cheapest_orders(
        self, features: frozenset[str], known: Collection[str]
    ) -> tuple[float, list[dict[str, set[str]]]]:
        """Return what the discounts' first features pay in addition, in a cheapest order.

        Also return the cheapest orders: for each feature, what must come before it. In each
        discount one feature comes before the others. The constraints must allow that.
        """
        touched = [
            (discount.off, features.intersection(discount.off))
            for discount in self.discounts
            if features.intersection(discount.off)
            and not any(feature in known for feature in discount.off)
        ]
        before = {feature: set(self.order.get(feature, ())) & features for feature in features}
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


def superset_costs(costs: FeatureCosts, evidence: Mapping[str, str]) -> FeatureCosts:
    """Return costs at this evidence by which a set costs what its cheapest superset costs.

    They are monotone, and never more than the costs themselves.
    """
    off: dict[str, float] = {}
    discounts = []
    for discount in costs.discounts:
        cap = min(costs.price(feature, evidence) for feature in discount.features)
        capped = {feature: min(amount, cap) for feature, amount in discount.off.items()}
        discounts.append(Discount(discount.name, capped))
        off |= capped
    prices = {f: costs.own_price(f, evidence) + off.get(f, 0.0) for f in costs.prices}
    if not discounts:
        return costs
    return FeatureCosts(prices, costs.groups, (), tuple(discounts), costs.round_cost)


def set_costs(
    costs: CostModel, features: Sequence[str], rows: NDArray[np.uint64], evidence: Mapping[str, str]
) -> NDArray[np.float64]:
    """Return C(S | e) for many sets: rows of words, bit k for the k-th of `features`."""
    member = membership(rows, len(features))
    if not isinstance(costs, FeatureCosts) or costs.order:
        names = np.array(features, dtype=object)
        return np.array([price_set(costs, frozenset(names[row]), evidence) for row in member])
    total = np.where(member.any(axis=1), costs.round_cost, 0.0)
    for k, name in enumerate(features):
        if name not in evidence:
            total[member[:, k]] += costs.own_price(name, evidence)
    for sharing in costs.unopened(evidence):
        first = np.full(len(rows), np.inf)
        for name, surcharge in sharing.surcharges.items():
            inside = member[:, features.index(name)]
            first[inside] = np.minimum(first[inside], surcharge)
        total += np.where(np.isinf(first), 0.0, first)
    return total


def price_set(costs: CostModel, features: frozenset[str], evidence: Mapping[str, str]) -> float:
    """Return C(S | e) from any cost model, and check the amount."""
    amount = costs.cost(features, evidence)
    if type(amount) is float and 0.0 <= amount <= MAX_AMOUNT:
        return amount  # a shortcut for the usual case, because thousands of sets are priced
    with located(f"the cost of {format_set(features)}"):
        return check_amount(amount)


def format_set(features: frozenset[str]) -> str:
    """Return a set of features as text."""
    return "{" + ", ".join(sorted(features)) + "}"


def _entries(given: object, what: str, place: str) -> ItemsView[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"must be a mapping of features and {what}, got {quote(given)}", place)
    return given.items()


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
