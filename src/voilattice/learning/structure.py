"""The structure of a network: the arcs that a local search finds for a score (by pyAgrum).

Structure search cannot use missing cells, so each one is first replaced by the most frequent state
of its column. This weakens dependences. If cells are missing for a reason, it can also make that
reason look like a dependence.

A row of weight w counts as w rows: in the score, and in what is the most frequent state.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, UnknownNameError
from voilattice.learning.columns import Codes
from voilattice.learning.recipes import Recipe
from voilattice.wording import nearest, quote

__all__ = ["learn_structure"]

# How pyAgrum's learner is told each score and each search of `recipes.py`.
CHOOSE_SCORE: dict[str, Callable[[Any], object]] = {
    "BIC": lambda learner: learner.useScoreBIC(),
    "AIC": lambda learner: learner.useScoreAIC(),
    "BDeu": lambda learner: learner.useScoreBDeu(),
    "K2": lambda learner: learner.useScoreK2(),
}
CHOOSE_SEARCH: dict[str, Callable[[Any], object]] = {
    "hill-climbing": lambda learner: learner.useGreedyHillClimbing(),
    "tabu": lambda learner: learner.useLocalSearchWithTabuList(100, 2),
}


def learn_structure(
    sizes: Sequence[int],
    codes: Mapping[str, Codes],
    target: str,
    recipe: Recipe,
    weights: NDArray[np.float64] | None = None,
) -> list[list[int]]:
    """Return the parents of each node, as sorted numbers of columns.

    Parameters
    ----------
    sizes
        The number of states of each column.
    codes
        The columns in order: the number of a state in each case, -1 where the cell is missing.
    weights
        How many cases each case counts for; by default 1.

    >>> y, x = np.array([0, 0, 0, 1, 1, 1] * 9), np.array([0, 0, 0, 1, 1, 0] * 9)
    >>> learn_structure([2, 2], {"y": y, "x": x}, "y", Recipe(target_first=True))
    [[], [0]]
    """
    import pyagrum

    names = list(codes)
    # pyAgrum sees numbers for names and states: nothing of a user's text is parsed.
    template = pyagrum.BayesNet()
    for k, size in enumerate(sizes):
        labels = [str(state) for state in range(size)]
        template.add(pyagrum.LabelizedVariable(f"v{k}", "", labels))
    with tempfile.TemporaryDirectory() as folder:
        completed = Path(folder) / "completed.csv"
        _write_cases(completed, [_complete(column, weights) for column in codes.values()])
        learner = pyagrum.BNLearner(str(completed), template)
        for row, weight in enumerate(() if weights is None else weights.tolist()):
            learner.setRecordWeight(row, weight)
        learner.setNumberOfThreads(1)
        learner.useNoPrior()
        CHOOSE_SCORE[recipe.score](learner)
        CHOOSE_SEARCH[recipe.search](learner)
        learner.setMaxIndegree(recipe.max_parents)
        _restrict(learner, names, target, recipe)
        try:
            graph = learner.learnDAG()
        except pyagrum.InvalidDirectedCycle:
            raise InputError("these arcs make a cycle", "required") from None
    return [sorted(int(node) for node in graph.parents(k)) for k in range(len(names))]


def _complete(column: Codes, weights: NDArray[np.float64] | None) -> Codes:
    """Return a column with each missing cell at the most frequent state."""
    there = column >= 0
    n = np.bincount(column[there], None if weights is None else weights[there])
    return np.where(there, column, n.argmax())


def _restrict(learner: Any, names: Sequence[str], target: str, recipe: Recipe) -> None:
    """Tell the learner which arcs the recipe forbids and requires."""
    for option, arcs, add in (
        ("forbidden", recipe.forbidden, learner.addForbiddenArc),
        ("required", recipe.required, learner.addMandatoryArc),
    ):
        for arc in arcs:
            for end in arc:
                if end not in names:
                    raise UnknownNameError(f"no column {quote(end)}{nearest(end, names)}", option)
            add(*(f"v{names.index(end)}" for end in arc))
    if recipe.target_first:
        if any(end == target for _, end in recipe.required):
            raise InputError(f"an arc into {target}, which may have no parents", "required")
        learner.addNoParentNode(f"v{names.index(target)}")


def _write_cases(path: Path, columns: Iterable[Codes]) -> None:
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"v{k}" for k in range(len(rows[0]))])
        writer.writerows(rows)
