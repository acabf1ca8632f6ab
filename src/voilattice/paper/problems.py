"""The built-in medical problems, and the recipes that could have learned them.

The paper does not say how its networks were learned. One recipe learns all five, and Table 1 alone
chooses it: its lattices are the nearest to the paper's. The distance of a recipe is its worst
factor,

    max over the data sets of  max(nodes / printed, printed / nodes).

The choice builds no policy and looks at no cost. `python -m voilattice.paper.problems FOLDER`
writes the five problems; with `--recipes FILE.csv` it writes what every recipe gives, and prints
the nearest.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from voilattice.errors import InputError, VoilatticeError
from voilattice.lattice.independence import acquirable_core
from voilattice.lattice.lattice import Lattice
from voilattice.learning.problems import LearnedProblem, learn_problem
from voilattice.learning.recipes import SCORES, Recipe
from voilattice.paper.datasets import DATASETS, load_dataset
from voilattice.paper.published import TABLE_1

__all__ = [
    "RECIPE",
    "Tried",
    "learn_dataset",
    "recipe_rows",
    "recipe_table",
    "try_recipe",
    "try_recipes",
    "write_problems",
    "write_recipes",
]

RECIPE = Recipe()  # the defaults are this choice
STAKES = ("symmetric", 500.0)
MAX_PARENTS = (1, 2, 3, 4)
N_SHOWN = 5


def learn_dataset(name: str, recipe: Recipe = RECIPE) -> LearnedProblem:
    """Return the problem that a recipe learns from a data set, with Turney's prices."""
    data = DATASETS[name]
    return learn_problem(
        load_dataset(name), "class", costs=data.costs, misclassification=STAKES, recipe=recipe,
        title=data.title, states=data.states,
    )  # fmt: skip


def write_problems(folder: Path) -> Iterator[Path]:
    """Write the five problems, a folder each, and return the paths of their problem files."""
    for name, data in DATASETS.items():
        file, address, _ = data.files[0]
        source = (
            f"Learned from `{address}` (`{file}`), with the test costs of Turney (1995), JAIR 2, "
            f"Appendix A, by `python -m voilattice.paper.problems FOLDER`."
        )
        yield learn_dataset(name).write(folder / name, source=source)


@dataclass(frozen=True, slots=True)
class Tried:
    """What a recipe gives for each data set: the lattice's nodes, the core's size, and P(Y)."""

    recipe: Recipe
    n_nodes: Mapping[str, int]
    core_size: Mapping[str, int]
    prior: Mapping[str, tuple[float, ...]]

    @property
    def worst_factor(self) -> float:
        """How many times too large or too small the lattice furthest from Table 1 is."""
        ratios = [n / TABLE_1[name].n_nodes for name, n in self.n_nodes.items()]
        return max(max(ratio, 1 / ratio) for ratio in ratios)


def try_recipe(recipe: Recipe) -> Tried:
    """Return what a recipe gives."""
    problems = {name: learn_dataset(name, recipe).problem for name in DATASETS}
    return Tried(
        recipe,
        {name: len(Lattice(problem)) for name, problem in problems.items()},
        {name: len(acquirable_core(problem)) for name, problem in problems.items()},
        {name: tuple(problem.prior.tolist()) for name, problem in problems.items()},
    )


def try_recipes() -> list[Tried]:
    """Return what every recipe gives, the nearest to Table 1 first."""
    bins = [("mdl", 3), ("frequency", 2), ("frequency", 3)]
    tried = [
        try_recipe(Recipe(cut, n, score, max_parents=limit, target_first=first))
        for (cut, n), score, limit, first in product(bins, SCORES, MAX_PARENTS, (False, True))
    ]
    return sorted(tried, key=lambda row: row.worst_factor)


def recipe_rows(tried: Iterable[Tried]) -> Iterator[Sequence[object]]:
    """Return the recipes as the rows of a CSV file, a header first."""
    columns = [f"{name}_{what}" for name in DATASETS for what in ("nodes", "core", "prior")]
    yield "recipe", "worst_factor", *columns
    for row in tried:
        cells = [
            cell
            for name in DATASETS
            for cell in (row.n_nodes[name], row.core_size[name], _format_prior(row.prior[name]))
        ]
        yield str(row.recipe), f"{row.worst_factor:.2f}", *cells


def recipe_table(tried: Iterable[Tried]) -> Iterator[str]:
    """Return the recipes as the lines of a Markdown table, below what the paper prints."""
    yield "| recipe | " + " | ".join(DATASETS) + " | worst factor |"
    yield "| --- |" + " --- |" * (len(DATASETS) + 1)
    printed = [f"**{TABLE_1[name].n_nodes:,}**" for name in DATASETS]
    yield "| the paper's Table 1 | " + " | ".join(printed) + " | |"
    for row in tried:
        cells = [
            f"{row.n_nodes[name]:,} ({row.core_size[name]}) {_format_prior(row.prior[name])}"
            for name in DATASETS
        ]
        yield f"| {row.recipe} | " + " | ".join(cells) + f" | {row.worst_factor:.2f} |"


def write_recipes(path: Path, tried: Iterable[Tried]) -> None:
    """Write the recipes as a CSV file."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(recipe_rows(tried))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", str(path)) from None


def _format_prior(prior: Sequence[float]) -> str:
    return "/".join(f"{p:.3f}" for p in prior)


def main(arguments: list[str]) -> None:
    """Write the problems to a folder, or write the recipes tried and print the nearest."""
    match arguments:
        case ["--recipes", file]:
            tried = try_recipes()
            write_recipes(Path(file), tried)
            print("\n".join(recipe_table(tried[:N_SHOWN])))
        case [folder] if not folder.startswith("-"):
            for path in write_problems(Path(folder)):
                print(path)
        case _:
            sys.exit("usage: python -m voilattice.paper.problems FOLDER | --recipes FILE.csv")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except VoilatticeError as error:
        sys.exit(str(error))
