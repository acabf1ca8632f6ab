"""Recipes: the choices that turn a table into a network, in one frozen object.

A `Recipe` fixes the bins, the structure and the parameters, so two people with the same table and
the same recipe learn the same network. `NAMED` has the recipes that people ask for by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from voilattice.errors import InputError, UnknownNameError
from voilattice.model.network import check_pairs
from voilattice.wording import quote

__all__ = [
    "AUTO",
    "DISCRETIZATIONS",
    "MAX_STATES",
    "NAMED",
    "PARAMETERS",
    "SCORES",
    "SEARCHES",
    "STRUCTURES",
    "Recipe",
    "find_recipe",
    "name_recipe",
]

AUTO = "auto"  # in place of a name: the recipe that is cheapest on new cases
DISCRETIZATIONS = ("mdl", "frequency", "affordable")
STRUCTURES = ("search", "naive", "tree", "k-dependence", "decision-tree")
PARAMETERS = ("counts", "smooth", "trained")
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
        does; ``frequency``: make `bins` bins with about the same number of cases; ``affordable``:
        the same, but at most `bins`, and fewer if the exact optimum would have too many states
        (`preparation`).
    max_bins
        How many bins ``mdl`` may make: it stops at the cuts that tell most.
    structure
        ``search``: the arcs that a local search finds; ``naive``: each feature depends on the
        target alone; ``tree``: and on at most one other feature (`augmented`); ``k-dependence``:
        and on the features that tell most about it, up to `max_parents` parents in all;
        ``decision-tree``: the target depends on the features that a pruned decision tree tests
        (`decision_trees`).
    parameters
        ``counts``: smoothed counts (`parameters`); ``smooth``: a model with few parameters,
        corrected by counts (`smooth`); ``trained``: the smooth tables, trained to answer
        P(y | some of the features) (`training`). The last two are for ``naive`` and ``tree``.
    score, search, max_parents
        What the structure search maximizes, how it searches, and how many parents a node may have.
    target_first
        The target may have no parents.
    forbidden, required
        Arcs (from, to) that the structure must not have, and arcs that it must have.
    smoothing
        What is added to each count. In a decision tree: the cases that the node above counts for.
    strength
        The cases that the model of ``smooth`` counts for.
    pull
        How strongly ``trained`` tables are pulled towards the smooth ones.

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
    structure: str = "search"
    parameters: str = "counts"
    strength: float = 1000.0
    pull: float = 2.0

    def __post_init__(self) -> None:
        for name in ("forbidden", "required"):
            arcs = check_pairs(getattr(self, name), "a list of pairs of names", name)
            object.__setattr__(self, name, arcs)
        _check_choice("discretization", self.discretization, DISCRETIZATIONS)
        _check_choice("structure", self.structure, STRUCTURES)
        _check_choice("parameters", self.parameters, PARAMETERS)
        if self.parameters != "counts" and self.structure not in ("naive", "tree"):
            raise InputError(
                f"must be counts for the structure {self.structure}, got {self.parameters}",
                "parameters",
            )
        if self.structure != "search" and (self.forbidden or self.required):
            option = "forbidden" if self.forbidden else "required"
            raise InputError(f"arcs are for the structure search, not for {self.structure}", option)
        _check_choice("score", self.score, SCORES)
        _check_choice("search", self.search, SEARCHES)
        if not 2 <= self.bins <= MAX_STATES:
            raise InputError(f"must be 2 to {MAX_STATES}, got {self.bins}", "bins")
        if not 2 <= self.max_bins <= MAX_STATES:
            raise InputError(f"must be 2 to {MAX_STATES}, got {self.max_bins}", "max_bins")
        if self.max_parents < 1:
            raise InputError(f"must be at least 1, got {self.max_parents}", "max_parents")
        if self.strength == 0:
            raise InputError(
                "must be more than 0: some row of a table may have no case", "strength"
            )
        for name in ("smoothing", "strength", "pull"):
            if not 0 <= (amount := getattr(self, name)) <= MAX_SMOOTHING:
                raise InputError(
                    f"must be a number >= 0, at most {MAX_SMOOTHING:g}, got {amount}", name
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
        bins = {
            "mdl": "mdl", "frequency": f"{self.bins} bins", "affordable": f"<= {self.bins} bins"
        }[self.discretization]  # fmt: skip
        if self.structure == "decision-tree":
            return "decision tree"
        if self.structure == "search":
            first = ", target first" if self.target_first else ""
            return f"{bins}, {self.score}, {self.search}, <= {self.max_parents} parents{first}"
        most = f", <= {self.max_parents} parents" if self.structure == "k-dependence" else ""
        return f"{bins}, {self.structure}{most}, {self.parameters}"


def find_recipe(recipe: Recipe | str | None) -> Recipe:
    """Return a recipe by its name, or as it is; None: the one of the paper's problems."""
    if recipe is None:
        return NAMED["search"]
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str) or recipe not in NAMED:
        raise UnknownNameError(
            f"must be a Recipe or one of {', '.join(NAMED)}, got {quote(recipe)}", "recipe"
        )
    return NAMED[recipe]


def name_recipe(recipe: Recipe | str) -> str:
    """Return the name of a recipe, or what it does if it has none; ``auto`` stays as it is."""
    if isinstance(recipe, Recipe):
        return next((name for name, own in NAMED.items() if own == recipe), str(recipe))
    if recipe not in (AUTO, *NAMED):
        raise UnknownNameError(f"no recipe {quote(recipe)}; there are {', '.join((AUTO, *NAMED))}")
    return recipe


def _check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    if value not in allowed:
        raise UnknownNameError(f"must be one of {', '.join(allowed)}, got {quote(value)}", name)


# Fine bins cost smooth tables nothing, because their number of parameters does not grow with them.
NAMED = {
    "search": Recipe(),
    "search-bdeu": Recipe(score="BDeu", max_parents=2),
    "naive": Recipe(structure="naive"),
    "tree": Recipe(structure="tree"),
    "k-dependence": Recipe(structure="k-dependence"),
    "smooth": Recipe("affordable", 8, structure="tree", parameters="smooth"),
    "trained": Recipe("affordable", 8, structure="tree", parameters="trained"),
    "decision-tree": Recipe(structure="decision-tree"),
}
