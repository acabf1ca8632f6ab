"""What sets of features are worth: the commands `value`, `best`, `lattice` and `explain`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from voilattice.documents.declaration import Document, Json, key
from voilattice.valuation.lattice_levels import top_by_level, way_to_the_best

if TYPE_CHECKING:
    from voilattice.lattice.lattice import Lattice as LatticeResult
    from voilattice.valuation.lattice_values import LatticeValues

__all__ = [
    "BestSet",
    "Explanation",
    "Lattice",
    "LatticeLevel",
    "PrintedLattice",
    "SetEntry",
    "SetValue",
    "lattice_levels",
]

# `sets` is left out of the document of a lattice with more nodes.
MAX_SETS = 200_000


class _Worth(Document):
    features: list[str] = key("The set.")
    evi: float = key("Its expected value of information (EVI): what it takes off the EMC.")
    cost: float = key("What it costs if it is acquired at once.")
    benefit: float = key("EVI minus cost.")
    feasible: bool = key("Whether the constraints allow acquiring it now.")


class SetEntry(_Worth):
    """What a set of features is worth, and what it costs."""

    within_limits: bool = key("Whether the limits allow it.")
    obstacles: list[str] = key("What keeps it from being acquired now, in sentences.")


class SetValue(SetEntry):
    """A set with the expected misclassification cost (EMC) before and after."""

    emc: float = key("The EMC before.")
    expected_emc: float = key("The expected EMC after: the EMC before minus EVI.")


class BestSet(_Worth):
    """The set of highest benefit."""

    features: list[str] = key("The set of highest benefit that was found.")
    feasible: bool = key("Always true: no other set is considered.")
    optimal: bool = key("Whether it is proved that no set has a higher benefit.", "exact")
    bound: float = key("An upper bound on the benefit of any set.")
    evaluated: int = key("How many sets had their EVI computed.", "n_evaluated")
    sets: int | None = key(
        "How many irreducible sets there are; null: they were not counted.", "n_sets"
    )
    short_of: str | None = key(
        "What stopped the search before a proof, time or memory; null: nothing did."
    )


class ReasonOfMember(Document):
    """Why a feature does, or does not, belong in a set."""

    feature: str = key("The feature.")
    depends: bool = key("Whether it depends on the target given the others.")
    constraint: str | None = key(
        "The condition under which it does; null: there is none.",
        lambda member: None if member.constraint is None else str(member.constraint),
    )
    reason: str = key("The reason in words.")


class Explanation(Document):
    """Why a set is, or is not, in the lattice."""

    features: list[str] = key("The set.")
    irreducible: bool = key("Whether it is in the lattice.")
    core: list[str] = key("The irreducible set that is worth as much.")
    members: list[ReasonOfMember] = key(
        "Why each feature does, or does not, belong in it.",
        lambda explanation: [
            ReasonOfMember.json_of(member, reason=explanation.reason(member))
            for member in explanation.members
        ],
    )
    completions: list[list[str]] = key("Sets of features that would make it irreducible.")
    feasible: bool = key("Whether it can be acquired as it is.")
    obstacles: list[str] = key("Why not, in sentences.")
    closure: list[str] = key("The set with all that must come before its members.")


def _feasible_sets(lattice: LatticeResult) -> list[bool] | None:
    if lattice.feasible is None or not lattice.problem.constraints:
        return None
    found: list[bool] = lattice.feasible.tolist()
    return found


class Lattice(Document):
    """The lattice of irreducible sets."""

    nodes: int = key("How many irreducible sets there are.", len)
    subsets: int = key("How many sets there are in all.", "n_subsets")
    sets: list[list[str]] | None = key(
        f"The irreducible sets; left out if there are too many: of a command, above {MAX_SETS:,}.",
        lambda lattice: lattice if len(lattice) <= MAX_SETS else None,
        optional=True,
    )
    edges: int = key("How many edges the lattice has (Definition 2).", "n_edges")
    roots: list[list[str]] = key("The sets that no other irreducible set contains.")
    largest: int = key(
        "How many features the largest set has.", lambda lattice: len(lattice.level_sizes) - 1
    )
    markov_blanket: list[str] = key(
        "The acquirable core: the irreducible set that separates the target from all other "
        "features that can be acquired.",
        "acquirable_core",
    )
    levels: list[int] = key(
        "How many sets there are of each size, from the empty set on.", "level_sizes"
    )
    feasible: list[bool] | None = key(
        "Whether each of the sets can be acquired; only with constraints.",
        lambda lattice: _feasible_sets(lattice) if len(lattice) <= MAX_SETS else None,
        optional=True,
    )
    feasible_nodes: int | None = key(
        "How many of them can be acquired; only with constraints.",
        lambda lattice: None if (can := _feasible_sets(lattice)) is None else sum(can),
        optional=True,
    )
    values: list[SetEntry] | None = key(
        "The sets of highest benefit, if the sets are valued.", optional=True
    )


class PrintedLattice(Lattice):
    """The lattice of irreducible sets."""

    max_size: int | None = key("What --max-size said.", optional=True)


class LatticeSet(Document):
    """A set of the lattice; null: the lattice is too large to value its sets."""

    features: list[str] = key("The set.")
    evi: float | None = key("Its expected value of information (EVI); null: not valued.")
    cost: float | None = key("What it costs if it is acquired at once; null: not valued.")
    benefit: float | None = key("EVI minus cost; null: not valued.")
    feasible: bool | None = key("Whether the constraints allow acquiring it now; null: not valued.")
    within_limits: bool | None = key("Whether the limits allow it.", optional=True)
    obstacles: list[str] | None = key(
        "What keeps it from being acquired now, in sentences.", optional=True
    )
    best: bool = key("It has the highest benefit of all sets.")
    on_way: bool = key("It lies on the way to the best set.")


class LatticeLevel(Document):
    """The sets of one size, the best of them named."""

    size: int = key("How many features each of them has.")
    count: int = key("How many sets there are.")
    sets: list[LatticeSet] = key("The best of them.")


def lattice_levels(
    lattice: LatticeResult,
    values: LatticeValues | None,
    *,
    top: int,
    containing: Collection[str] = (),
) -> Iterator[Json]:
    """Yield the best sets of each level; without values, its first sets, whose amounts are null."""
    if values is not None:
        best, way = values.top(1)[0].features, set(way_to_the_best(values))
        for level in top_by_level(values, top, containing, with_way=not containing):
            sets = [
                LatticeSet.json_of(v, best=v.features == best, on_way=v.features in way)
                for v in level.sets
            ]
            yield LatticeLevel.json_of(level, sets=sets)
        return
    wanted, feasible = set(containing), lattice.feasible
    lattice.problem.feature_mask(wanted)  # checks that they are features
    unknown = dict.fromkeys(("evi", "cost", "benefit"))
    numbers = iter(range(len(lattice)))
    for size in range(len(lattice.level_sizes)):
        numbered = [(next(numbers), s) for s in lattice.level(size)]
        numbered = [(number, s) for number, s in numbered if wanted <= s]
        sets = [
            LatticeSet.json_of(
                None, **unknown, features=s, best=False, on_way=False,
                feasible=None if feasible is None else bool(feasible[number]),
            )
            for number, s in numbered[:top]
        ]  # fmt: skip
        if numbered:
            yield LatticeLevel.json_of(None, size=size, count=len(numbered), sets=sets)
