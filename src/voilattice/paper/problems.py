"""The built-in medical problems, and the recipes that they could have been learned by.

The paper does not say how its networks were learned. One recipe is used for all five, and it is
chosen by Table 1 alone: the recipe whose lattices are nearest to the paper's, where the distance of
a recipe is its worst factor,

    max over the data sets of  max(nodes / printed, printed / nodes).

No policy is built, and no cost looked at, to choose it. To write the five problems, call
`python -m voilattice.paper.problems FOLDER`; `--recipes` prints the table of the recipes tried.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from voilattice.errors import VoilatticeError
from voilattice.lattice.independence import acquirable_core
from voilattice.lattice.lattice import Lattice
from voilattice.learning.data_tables import DataTable
from voilattice.learning.networks import SCORES, Learned, Recipe, learn_network
from voilattice.learning.problems import write_learned
from voilattice.model.problem import Problem
from voilattice.paper.datasets import DATASETS, load_dataset
from voilattice.paper.published import TABLE_1

__all__ = ["RECIPE", "Tried", "learned_problem", "recipe_table", "recipes_tried", "write_problems"]

RECIPE = Recipe()  # the defaults are this choice
STAKES = ("symmetric", 500.0)
MAX_PARENTS = (1, 2, 3, 4)


def learned_problem(name: str, recipe: Recipe = RECIPE) -> tuple[Problem, Learned, DataTable]:
    """Return the problem that a recipe learns from a data set, with Turney's prices."""
    data = DATASETS[name]
    table = load_dataset(name)
    learned = learn_network(table, "class", recipe, states=data.states)
    problem = Problem.create(learned.network, "class", data.costs, STAKES, title=data.title)
    return problem, learned, table


def write_problems(folder: Path) -> Iterator[Path]:
    """Write the five problems, a folder each, and return the paths of their problem files."""
    for name, data in DATASETS.items():
        problem, learned, table = learned_problem(name)
        file, address, _ = data.files[0]
        source = (
            f"Learned from `{address}` (`{file}`), with the test costs of Turney (1995), JAIR 2, "
            f"Appendix A, by `python -m voilattice.paper.problems FOLDER`."
        )
        yield write_learned(problem, learned, table, folder / name, source=source, stakes=STAKES)


@dataclass(frozen=True, slots=True)
class Tried:
    """What a recipe gives: the lattice's nodes and the core's size of each data set."""

    recipe: Recipe
    n_nodes: Mapping[str, int]
    core_size: Mapping[str, int]
    prior: Mapping[str, tuple[float, ...]]

    @property
    def worst_factor(self) -> float:
        """How many times too large or too small the lattice is that is furthest from Table 1."""
        ratios = [n / TABLE_1[name].n_nodes for name, n in self.n_nodes.items()]
        return max(max(ratio, 1 / ratio) for ratio in ratios)


def recipes_tried() -> Iterator[Tried]:
    """Return what every recipe gives, nothing left out."""
    bins = [("mdl", 3), ("frequency", 2), ("frequency", 3)]
    for (cut, n), score, limit, first in product(bins, SCORES, MAX_PARENTS, (False, True)):
        recipe = Recipe(cut, n, score, max_parents=limit, target_first=first)
        nodes, cores, priors = {}, {}, {}
        for name in DATASETS:
            problem, _, _ = learned_problem(name, recipe)
            nodes[name] = len(Lattice(problem))
            cores[name] = len(acquirable_core(problem))
            priors[name] = tuple(problem.prior.tolist())
        yield Tried(recipe, nodes, cores, priors)


def recipe_table(tried: Iterable[Tried]) -> Iterator[str]:
    """Return the recipes as the lines of a Markdown table, the nearest first."""
    yield "| recipe | " + " | ".join(DATASETS) + " | worst factor |"
    yield "| --- |" + " --- |" * (len(DATASETS) + 1)
    printed = [f"**{TABLE_1[name].n_nodes:,}**" for name in DATASETS]
    yield "| the paper's Table 1 | " + " | ".join(printed) + " | |"
    for row in sorted(tried, key=lambda row: row.worst_factor):
        cells = [
            f"{row.n_nodes[name]:,} ({row.core_size[name]}) "
            + "/".join(f"{p:.3f}" for p in row.prior[name])
            for name in DATASETS
        ]
        yield f"| {row.recipe} | " + " | ".join(cells) + f" | {row.worst_factor:.2f} |"


def main(arguments: list[str]) -> None:
    """Write the problems to a folder, or print the recipes tried."""
    if arguments == ["--recipes"]:
        for line in recipe_table(recipes_tried()):
            print(line)
    elif len(arguments) == 1:
        for path in write_problems(Path(arguments[0])):
            print(path)
    else:
        sys.exit("usage: python -m voilattice.paper.problems FOLDER | --recipes")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except VoilatticeError as error:
        sys.exit(str(error))
