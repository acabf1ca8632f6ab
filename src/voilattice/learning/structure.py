"""The structure of a network: arcs that a local search finds (by pyAgrum), or arcs from the target.

*Search.* It cannot use missing cells, so each one is first replaced by the most frequent state of
its column. This weakens dependences. If cells are missing for a reason, it can also make that
reason look like a dependence.

*From the target.* Each feature depends on the target. In a tree-augmented network a feature also
depends on at most one other feature, and the arcs that are worth most make a forest (`augmented`).
In a k-dependence network (Sahami, 1996) the features are ordered by what they tell about the
target, and a feature also depends on those before it that tell most about it, as far as the arcs
are worth more than they cost.

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
from voilattice.learning.augmented import count_pairs, gain_of_arc, information_gain, plain_forest
from voilattice.learning.cells import Codes
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
    if recipe.structure == "search":
        return _search(sizes, codes, target, recipe, weights)
    names = list(codes)
    at = names.index(target)
    features = [k for k in range(len(names)) if k != at]
    columns = [codes[names[k]] for k in features]
    others = [sizes[k] for k in features]
    counted = np.ones(len(codes[target])) if weights is None else weights
    above: list[list[int]] = [[] for _ in features]
    if recipe.structure == "tree":
        forest = plain_forest(others, columns, codes[target], sizes[at], counted)
        above = [[] if parent < 0 else [parent] for parent in forest]
    elif recipe.structure == "k-dependence":
        most = recipe.max_parents - 1
        above = _depend_on_few(others, columns, codes[target], sizes[at], counted, most)
    parents: list[list[int]] = [[] for _ in names]
    for k, inside in zip(features, above, strict=True):
        parents[k] = sorted([at, *(features[j] for j in inside)])
    return parents


def _depend_on_few(
    sizes: Sequence[int],
    codes: Sequence[Codes],
    classes: Codes,
    n_classes: int,
    weights: NDArray[np.float64],
    most: int,
) -> list[list[int]]:
    """Return up to `most` features that each feature depends on, in a k-dependence network."""
    alone = np.zeros(len(classes), dtype=np.intp)
    told = [
        information_gain(count_pairs(alone, classes, column, (1, n_classes, size), weights))
        for column, size in zip(codes, sizes, strict=True)
    ]
    order = sorted(range(len(codes)), key=lambda k: -told[k])
    above: list[list[int]] = [[] for _ in codes]
    for place, i in enumerate(order):
        worth = [
            (gain_of_arc(classes, codes[i], codes[j], (n_classes, sizes[i], sizes[j]), weights), j)
            for j in order[:place]
        ]
        best = sorted((-gain, j) for gain, j in worth if gain > 0)[:most]
        above[i] = [j for _, j in best]
    return above


def _search(
    sizes: Sequence[int],
    codes: Mapping[str, Codes],
    target: str,
    recipe: Recipe,
    weights: NDArray[np.float64] | None,
) -> list[list[int]]:
    """Return the parents that a local search finds for a score."""
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
