"""What the server answers about sets of features, typed: see `schemas`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from voilattice.web.problem_schemas import Answer

__all__ = ["BestSet", "Explanation", "Lattice", "SetEntry", "SetValue"]


class SetEntry(Answer):
    """What a set of features is worth, and what it costs."""

    features: list[str] = Field(description="The set.")
    evi: float = Field(
        description="Its expected value of information (EVI): what it takes off the EMC."
    )
    cost: float = Field(description="What it costs if it is acquired at once.")
    benefit: float = Field(description="EVI minus cost.")
    feasible: bool = Field(description="Whether the constraints allow acquiring it now.")
    within_limits: bool = Field(description="Whether the limits allow it.")
    obstacles: list[str] = Field(description="What keeps it from being acquired now, in sentences.")


class SetValue(SetEntry):
    """A set with the expected misclassification cost (EMC) before and after."""

    emc: float = Field(description="The EMC before.")
    expected_emc: float = Field(description="The expected EMC after.")


class BestSet(Answer):
    """The set of highest benefit."""

    features: list[str] = Field(description="The set of highest benefit that was found.")
    evi: float = Field(
        description="Its expected value of information (EVI): what it takes off the EMC."
    )
    cost: float = Field(description="What it costs if it is acquired at once.")
    benefit: float = Field(description="EVI minus cost.")
    feasible: bool = Field(description="Always true: no other set is considered.")
    optimal: bool = Field(description="Whether it is proved that no set has a higher benefit.")
    bound: float = Field(description="An upper bound on the benefit of any set.")
    evaluated: int = Field(description="How many sets had their EVI computed.")
    sets: int | None = Field(
        description="How many irreducible sets there are; null: they were not counted."
    )
    short_of: str | None = Field(
        description="What stopped the search before a proof, time or memory; null: nothing did."
    )


class ReasonOfMember(Answer):
    """Why a feature does, or does not, belong in a set."""

    feature: str = Field(description="The feature.")
    depends: bool = Field(description="Whether it depends on the target given the others.")
    constraint: str | None = Field(
        description="The condition under which it does; null: there is none."
    )
    reason: str = Field(description="The reason in words.")


class Explanation(Answer):
    """Why a set is, or is not, in the lattice."""

    features: list[str] = Field(description="The set.")
    irreducible: bool = Field(description="Whether it is in the lattice.")
    core: list[str] = Field(description="The irreducible set that is worth as much.")
    members: list[ReasonOfMember] = Field(
        description="Why each feature does, or does not, belong in it."
    )
    completions: list[list[str]] = Field(
        description="Sets of features that would make it irreducible."
    )
    feasible: bool = Field(description="Whether it can be acquired as it is.")
    obstacles: list[str] = Field(description="Why not, in sentences.")
    closure: list[str] = Field(description="The set with all that must come before its members.")


class LatticeSet(Answer):
    """A set of the lattice; null: the lattice is too large to value its sets."""

    features: list[str] = Field(description="The set.")
    evi: float | None = Field(
        description="Its expected value of information (EVI); null: not valued."
    )
    cost: float | None = Field(
        description="What it costs if it is acquired at once; null: not valued."
    )
    benefit: float | None = Field(description="EVI minus cost; null: not valued.")
    feasible: bool | None = Field(
        description="Whether the constraints allow acquiring it now; null: not valued."
    )
    within_limits: bool | None = Field(default=None, description="Whether the limits allow it.")
    obstacles: list[str] | None = Field(
        default=None, description="What keeps it from being acquired now, in sentences."
    )
    best: bool = Field(description="It has the highest benefit of all sets.")
    on_way: Annotated[bool, Field(description="It lies on the way to the best set.")]


class LatticeLevel(Answer):
    """The sets of one size, the best of them named."""

    size: int = Field(description="How many features each of them has.")
    count: int = Field(description="How many sets there are.")
    sets: list[LatticeSet] = Field(description="The best of them.")


class Lattice(Answer):
    """The lattice of irreducible sets."""

    nodes: int = Field(description="How many irreducible sets there are.")
    subsets: int = Field(description="How many sets there are in all.")
    sets: list[list[str]] | None = Field(
        default=None, description="The irreducible sets; left out if there are too many."
    )
    edges: int = Field(description="How many edges the lattice has.")
    roots: list[list[str]] = Field(description="The sets that no other irreducible set contains.")
    largest: int = Field(description="How many features the largest set has.")
    markov_blanket: list[str] = Field(
        description="The irreducible set that separates the target from all other features."
    )
    levels: list[int] = Field(
        description="How many sets there are of each size, from the empty set on."
    )
    feasible: list[bool] | None = Field(
        default=None, description="Whether each of the sets can be acquired; only with constraints."
    )
    feasible_nodes: int | None = Field(
        default=None, description="How many of them can be acquired; only with constraints."
    )
    values: list[SetEntry] | None = Field(
        default=None,
        description="The sets of highest benefit; left out if there are too many sets.",
    )
    best: SetEntry | None = Field(description="The set of highest benefit; null: not valued.")
    rows: list[LatticeLevel] = Field(description="The sets by size, the best of each size named.")
    svg: Annotated[str | None, Field(description="A drawing, if there are not too many sets.")]
