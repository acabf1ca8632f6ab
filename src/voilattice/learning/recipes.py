"""Recipes: the choices that turn a table into a network, in one frozen object.

A `Recipe` fixes the bins, the search for a structure and the smoothing of the parameters, so two
people with the same table and the same recipe learn the same network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from voilattice.errors import InputError, UnknownNameError
from voilattice.wording import quote

__all__ = ["DISCRETIZATIONS", "MAX_STATES", "SCORES", "SEARCHES", "Recipe"]

DISCRETIZATIONS = ("mdl", "frequency")
SCORES = ("BIC", "AIC", "BDeu", "K2")
SEARCHES = ("hill-climbing", "tabu")

MAX_STATES = 50  # of a node, bins included
MAX_SMOOTHING = 1e6

Arc = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is learned.

    Parameters
    ----------
    discretization
        ``mdl``: make the cuts that pay for their description, and one cut at the median if none
        does; ``frequency``: make `bins` bins with about the same number of cases.
    max_bins
        How many bins ``mdl`` may make: it stops at the cuts that tell most.
    score, search, max_parents
        What the structure search maximizes, how it searches, and how many parents a node may have.
    target_first
        The target may have no parents.
    forbidden, required
        Arcs (from, to) that the structure must not have, and arcs that it must have.
    smoothing
        What is added to each count.

    >>> print(Recipe(max_parents=2, target_first=True))
    mdl, BIC, hill-climbing, <= 2 parents, target first
    """

    discretization: str = "mdl"
    bins: int = 3
    score: str = "BIC"
    search: str = "hill-climbing"
    max_parents: int = 3
    target_first: bool = False
    forbidden: tuple[Arc, ...] = ()
    required: tuple[Arc, ...] = ()
    smoothing: float = 1.0
    max_bins: int = 8

    def __post_init__(self) -> None:
        _check_choice("discretization", self.discretization, DISCRETIZATIONS)
        _check_choice("score", self.score, SCORES)
        _check_choice("search", self.search, SEARCHES)
        if not 2 <= self.bins <= MAX_STATES:
            raise InputError(f"must be 2 to {MAX_STATES}, got {self.bins}", "bins")
        if not 2 <= self.max_bins <= MAX_STATES:
            raise InputError(f"must be 2 to {MAX_STATES}, got {self.max_bins}", "max_bins")
        if self.max_parents < 1:
            raise InputError(f"must be at least 1, got {self.max_parents}", "max_parents")
        if not 0 <= self.smoothing <= MAX_SMOOTHING:
            raise InputError(
                f"must be a number >= 0, at most {MAX_SMOOTHING:g}, got {self.smoothing}",
                "smoothing",
            )
        self._check_arcs()

    def _check_arcs(self) -> None:
        for option, arcs in (("forbidden", self.forbidden), ("required", self.required)):
            for start, end in arcs:
                if start == end:
                    raise InputError(f"an arc from {start} to itself", option)
        if both := set(self.forbidden) & set(self.required):
            raise InputError(f"{' -> '.join(min(both))} is forbidden too", "required")
        for end, n in Counter(end for _, end in self.required).items():
            if n > self.max_parents:
                raise InputError(
                    f"{n} arcs into {end}, but at most {self.max_parents} parents", "required"
                )

    def __str__(self) -> str:
        bins = self.discretization if self.discretization == "mdl" else f"{self.bins} bins"
        first = ", target first" if self.target_first else ""
        return f"{bins}, {self.score}, {self.search}, <= {self.max_parents} parents{first}"


def _check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    if value not in allowed:
        raise UnknownNameError(f"must be one of {', '.join(allowed)}, got {quote(value)}", name)
