"""What the server answers about sets of features, typed: see `schemas`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from voilattice.web.problem_schemas import Answer

__all__ = ["BestSet", "Explanation", "Lattice", "SetEntry", "SetValue"]


class SetEntry(Answer):
    """What a set of features is worth, and what it costs."""

    features: list[str]
    evi: float
    cost: float
    benefit: float
    feasible: bool
    within_limits: bool
    obstacles: list[str]


class SetValue(SetEntry):
    """A set with the expected misclassification cost (EMC) before and after."""

    emc: float
    expected_emc: float


class BestSet(Answer):
    """The set of highest benefit."""

    features: list[str]
    evi: float
    cost: float
    benefit: float
    feasible: bool
    optimal: bool
    bound: float
    evaluated: int
    sets: int | None
    short_of: str | None


class ReasonOfMember(Answer):
    """Why a feature does, or does not, belong in a set."""

    feature: str
    depends: bool
    constraint: str | None
    reason: str


class Explanation(Answer):
    """Why a set is, or is not, in the lattice."""

    features: list[str]
    irreducible: bool
    core: list[str]
    members: list[ReasonOfMember]
    completions: list[list[str]]
    feasible: bool
    obstacles: list[str]
    closure: list[str]


class LatticeSet(Answer):
    """A set of the lattice; null: the lattice is too large to value its sets."""

    features: list[str]
    evi: float | None
    cost: float | None
    benefit: float | None
    feasible: bool | None
    within_limits: bool | None = None
    obstacles: list[str] | None = None
    best: bool
    on_way: Annotated[bool, Field(description="It lies on the way to the best set.")]


class LatticeLevel(Answer):
    """The sets of one size, the best of them named."""

    size: int
    count: int
    sets: list[LatticeSet]


class Lattice(Answer):
    """The lattice of irreducible sets."""

    nodes: int
    subsets: int
    sets: list[list[str]] | None = None
    edges: int
    roots: list[list[str]]
    largest: int
    markov_blanket: list[str]
    levels: list[int]
    feasible: list[bool] | None = None
    feasible_nodes: int | None = None
    values: list[SetEntry] | None = None
    best: SetEntry | None
    rows: list[LatticeLevel]
    svg: Annotated[str | None, Field(description="A drawing, if there are not too many sets.")]
