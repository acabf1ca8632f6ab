"""What a kind of price is.

A kind holds the entries of one table of a problem file, and says all that there is to say of them:
what it adds to C(S | e), what that depends on, how it is read and written, and its words. A method
that a kind does not define adds nothing. `feature_costs` lists the kinds and adds them up.

The price of a feature is built up kind by kind, in that list's order: each takes the price of the
kinds before it. So a conditional price replaces the plain one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

if TYPE_CHECKING:
    from voilattice.model.costs.feature_costs import FeatureCosts
    from voilattice.model.problem import Problem

__all__ = ["Item", "Kind", "ListedPrice", "Sharing"]


class Sharing(Protocol):
    """Features that share costs: the first of them that is acquired pays a surcharge."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def features(self) -> tuple[str, ...]:
        """The members."""
        ...

    @property
    def surcharges(self) -> dict[str, float]:
        """What each feature costs in addition if it is the first."""
        ...

    @property
    def counts_order(self) -> bool:
        """Whether members may have different surcharges, so that it matters who is the first."""
        ...


class Item(NamedTuple):
    """A part of what a set costs."""

    kind: str  # `Kind.item`
    name: str  # of the feature, the group or the discount
    amount: float


class ListedPrice(NamedTuple):
    """A price that may be paid: a row of a bill."""

    kind: str  # `Kind.item`
    name: str
    price: float | None  # None: there is no single price


class Kind(ABC):
    """A kind of price. Every kind is read, written and fingerprinted; the defaults add nothing.

    Parameters
    ----------
    entries
        What the table of a problem file says, checked.
    """

    key: ClassVar[str]  # the table of a problem file
    item: ClassVar[str]  # what a part of a bill is called

    def __init__(self, entries: Any) -> None:
        self.entries = entries

    def __bool__(self) -> bool:
        return bool(self.entries)

    # -- from tables and back

    @classmethod
    @abstractmethod
    def check(cls, given: object) -> Any:
        """Return entries that were given in Python, checked and frozen."""

    @classmethod
    @abstractmethod
    def read(cls, table: Any) -> Any:
        """Return the entries in a table of a problem file."""

    @abstractmethod
    def table(self) -> Any:
        """Return the table of a problem file."""

    def document(self) -> Any:
        """Return the entries as JSON shows them."""
        return self.table()

    @abstractmethod
    def fingerprint(self) -> object:
        """Return what tells these entries from others, as JSON can hold it."""

    # -- checks

    def check_with(self, costs: FeatureCosts) -> None:
        """Raise `InputError` if the entries contradict those of other kinds."""
        return  # most kinds cannot

    def check_names(self, problem: Problem) -> None:
        """Raise an error unless all that the entries name exists in a problem."""
        return  # an amount by itself names nothing

    def without(self, features: Collection[str]) -> Any:
        """Return the entries that are left if some features can never be known."""
        return self.entries

    # -- what it adds

    def price(self, feature: str, evidence: Mapping[str, str], price: float) -> float:
        """Return the price of a feature at some evidence, from that of the kinds before."""
        return price

    def least_price(self, feature: str, evidence: Mapping[str, str], price: float) -> float:
        """Return the least price of a feature at this evidence and at all further evidence."""
        return price

    def most_price(self, feature: str, price: float) -> float:
        """Return the highest price of a feature at any evidence."""
        return price

    def conditions(self) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
        """Yield features whose price changes, each with the states that must be known for it."""
        return iter(())

    @property
    def sharings(self) -> tuple[Sharing, ...]:
        """The groups of features that share costs."""
        return ()

    # -- words

    def sentences(self, problem: Problem) -> Iterator[str]:
        """Yield what the entries say, in sentences."""
        return iter(())

    def items(
        self, costs: FeatureCosts, features: Collection[str], known: Mapping[str, str]
    ) -> Iterable[Item]:
        """Return the parts of what a set costs that are of this kind."""
        return ()

    def listed(self) -> Iterable[ListedPrice]:
        """Return the prices of this kind, as rows of a bill."""
        return ()

    def row_name(self, problem: Problem, name: str) -> str:
        """Return what a row of a bill is about."""
        return name
