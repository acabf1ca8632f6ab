"""Groups: features that share an overhead, which the first of them pays.

    own(i | e) = price(i | e)              surcharge(i) = the group's overhead

In a problem file: ``[[groups]]``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from voilattice.errors import InputError, located
from voilattice.model.costs.amounts import check_amount
from voilattice.model.costs.interface import Item, Kind, ListedPrice
from voilattice.model.network import check_list, check_text
from voilattice.model.references import check_features
from voilattice.model.sections import check_keys, expect, expect_all, expect_entries
from voilattice.wording import format_amount, join_names

if TYPE_CHECKING:
    from voilattice.model.costs.feature_costs import FeatureCosts
    from voilattice.model.problem import Problem

__all__ = ["Group", "Groups"]


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

    >>> from voilattice import FeatureCosts
    >>> costs = FeatureCosts({"chol": 7, "fbs": 5}, (Group("blood", 2, ("chol", "fbs")),))
    >>> costs.cost({"chol"}, {}), costs.cost({"chol", "fbs"}, {})
    (9.0, 14.0)
    >>> costs.cost({"fbs"}, {"chol": "high"})
    5.0
    """

    counts_order: ClassVar[bool] = False

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


class Groups(Kind):
    """Overheads that features share."""

    key, item = "groups", "group"
    entries: tuple[Group, ...]

    @classmethod
    def check(cls, given: object) -> tuple[Group, ...]:
        """Return the entries of a list of groups."""
        return check_list(given, "a list of groups", cls.key, Group)

    @classmethod
    def read(cls, table: Any) -> tuple[Group, ...]:
        """Return the groups in a list of tables."""
        groups = []
        for place, entry in enumerate(expect_entries(table, cls.key)):
            with located(f"{cls.key}[{place}]"):
                check_keys(entry, names := ("name", "overhead", "features"), required=names)
                features = tuple(expect_all(entry["features"], str, "features"))
                name = expect(entry["name"], str, "name")
                groups.append(Group(name, entry["overhead"], features))
        return tuple(groups)

    def table(self) -> list[dict[str, Any]]:
        """Return the tables of a problem file."""
        return [
            {"name": group.name, "overhead": group.overhead, "features": list(group.features)}
            for group in self.entries
        ]

    def document(self) -> list[dict[str, Any]]:
        """Return the groups, with their features in alphabetical order."""
        return [group | {"features": sorted(group["features"])} for group in self.table()]

    def fingerprint(self) -> object:
        """Return what tells these groups from others."""
        return [(group.name, group.overhead, group.features) for group in self.entries]

    def check_names(self, problem: Problem) -> None:
        """Raise an error unless the members exist in a problem."""
        for place, group in enumerate(self.entries):
            check_features(problem, group.features, f"{self.key}[{place}].features")

    def without(self, features: Collection[str]) -> tuple[Group, ...]:
        """Return the groups of other features."""
        left = {g: tuple(f for f in g.features if f not in features) for g in self.entries}
        return tuple(Group(g.name, g.overhead, members) for g, members in left.items() if members)

    @property
    def sharings(self) -> tuple[Group, ...]:
        """The groups."""
        return self.entries

    def sentences(self, problem: Problem) -> Iterator[str]:
        """Yield what each group costs, in a sentence."""
        for group in self.entries:
            members = [problem.label(feature) for feature in group.features]
            first = "the first of " if len(members) > 1 else ""
            overhead = format_amount(group.overhead, problem.currency)
            with_whom = f"{first}{join_names(members, 'and')}"
            yield f"{group.name} costs {overhead}, paid once: with {with_whom}."

    def items(
        self, costs: FeatureCosts, features: Collection[str], known: Mapping[str, str]
    ) -> Iterator[Item]:
        """Yield the overheads that the set opens."""
        for group in self.entries:
            is_open = any(feature in known for feature in group.features)
            if not is_open and not set(features).isdisjoint(group.features):
                yield Item(self.item, group.name, group.overhead)

    def listed(self) -> Iterator[ListedPrice]:
        """Yield the overheads."""
        for group in self.entries:
            yield ListedPrice(self.item, group.name, group.overhead)

    def row_name(self, problem: Problem, name: str) -> str:
        """Return the group, and for which features it holds."""
        [members] = (group.features for group in self.entries if group.name == name)
        return f"{name}, once for {join_names([*map(problem.label, members)], 'or')}"
