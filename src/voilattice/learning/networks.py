"""Learn a network from a table of cases.

The steps, each chosen by a `Recipe` and the same for every table:

1. A column of numbers with more than `MAX_CATEGORIES` different values is cut into bins
   (`discretization.py`); any other column keeps its values as states.
2. The structure is the best that a local search finds for a score of the completed table: a missing
   cell stands at the most frequent state of its column, since structure search takes no gaps. That
   weakens dependences, unless cells are missing for a reason: then it may show up as one.
3. The parameters are the counts plus `smoothing` in each cell, normalised. Where cells are missing
   they come from expectation maximization on the table as it is, which uses every cell there is
   (`parameters.py`).
4. Probabilities are rounded to six decimals: the same file on every machine.

Rows whose target is missing say nothing about it and are left out.
"""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, Remedy, UnknownNameError, located, nearest, quote
from voilattice.learning.data_tables import Column, DataTable, number
from voilattice.learning.discretization import (
    bin_labels,
    bins_of,
    frequency_cuts,
    mdl_cuts,
    median_cut,
)
from voilattice.learning.parameters import Codes, fit_tables
from voilattice.model.network import Network

__all__ = ["DISCRETIZATIONS", "SCORES", "SEARCHES", "Learned", "Recipe", "learn_network"]

MAX_CATEGORIES = 5
MAX_STATES = 50
DECIMALS = 6
MAX_SMOOTHING = 1e6
LARGEST_WHOLE = 1e15

DISCRETIZATIONS = ("mdl", "frequency")
SCORES: dict[str, Callable[[Any], object]] = {
    "BIC": lambda learner: learner.useScoreBIC(),
    "AIC": lambda learner: learner.useScoreAIC(),
    "BDeu": lambda learner: learner.useScoreBDeu(),
    "K2": lambda learner: learner.useScoreK2(),
}
SEARCHES: dict[str, Callable[[Any], object]] = {
    "hill-climbing": lambda learner: learner.useGreedyHillClimbing(),
    "tabu": lambda learner: learner.useLocalSearchWithTabuList(100, 2),
}

Arc = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is learned.

    Parameters
    ----------
    discretization
        ``mdl``: cuts that pay for their description, one at the median where none does;
        ``frequency``: `bins` bins of about as many cases each.
    score, search, max_parents
        What the structure search maximises, how, and with how many parents a node.
    target_first
        The target may have no parents.
    forbidden, required
        Arcs (from, to) that the structure must not have, and must have.
    smoothing
        What is added to each count.
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

    def __post_init__(self) -> None:
        for name, allowed in (
            ("discretization", DISCRETIZATIONS),
            ("score", SCORES),
            ("search", SEARCHES),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise UnknownNameError(
                    f"must be one of {', '.join(allowed)}, got {quote(value)}", name
                )
        if not 2 <= self.bins <= MAX_STATES:
            raise InputError(f"must be 2 to {MAX_STATES}, got {self.bins}", "bins")
        if self.max_parents < 1:
            raise InputError(f"must be at least 1, got {self.max_parents}", "max_parents")
        if not 0 <= self.smoothing <= MAX_SMOOTHING:
            raise InputError(
                f"must be a number >= 0, at most {MAX_SMOOTHING:g}, got {self.smoothing}",
                "smoothing",
            )
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


@dataclass(frozen=True, slots=True)
class Learned:
    """A network, and how the table's cells became its states."""

    network: Network
    target: str
    recipe: Recipe
    cuts: Mapping[str, tuple[float, ...]]  # of the columns that were cut into bins
    n_rows: int
    n_left_out: int  # rows without a target
    missing: Mapping[str, int]  # missing cells of each column that has some

    def encode(self, table: DataTable) -> dict[str, list[str | None]]:
        """Return the cells of another table as states of this network, for `apply_policy`."""
        found: dict[str, list[str | None]] = {}
        for name in self.network.names:
            if name not in table.columns:
                continue
            states = self.network.states[self.network.index(name)]
            with located(name):
                codes = _codes(table.columns[name], states, self.cuts.get(name))
            found[name] = [None if code < 0 else states[code] for code in codes]
        return found


def learn_network(
    table: DataTable,
    target: str,
    recipe: Recipe | None = None,
    *,
    ignore: Collection[str] = (),
    numeric: Collection[str] = (),
    categorical: Collection[str] = (),
    states: Mapping[str, Sequence[str]] | None = None,
) -> Learned:
    """Return the network that a recipe learns from a table.

    Parameters
    ----------
    ignore
        Columns to leave out.
    numeric, categorical
        Columns that are cut into bins whatever their number of values, or never.
    states
        The states of a column in the order wanted; by default they are sorted.
    """
    recipe, states = recipe or Recipe(), states or {}
    for option, names in (
        ("ignore", ignore), ("numeric", numeric), ("categorical", categorical), ("states", states),
    ):  # fmt: skip
        for name in names:
            with located(option):
                table.column(name)
    if target in ignore:
        raise InputError(f"{quote(target)} is the target", "ignore")
    if both := set(numeric) & {*categorical, *states, target}:
        raise InputError(f"{quote(min(both))} cannot be a column of names as well", "numeric")
    with located("target"):
        labelled = [cell is not None for cell in table.column(target)]
    if not any(labelled):
        raise InputError("every cell is missing", target)
    columns = {
        name: tuple(cell for cell, keep in zip(column, labelled, strict=True) if keep)
        for name, column in table.columns.items()
        if name not in ignore
    }
    if len(columns) < 2:
        raise InputError("there is no column beside the target")
    named = {target, *categorical, *states}
    found_states: dict[str, list[str]] = {}
    cuts: dict[str, tuple[float, ...]] = {}
    codes: dict[str, Codes] = {}
    with located(target):
        classes = _classes(columns[target], states.get(target))
        target_codes = _codes(columns[target], classes, None)
    for name, column in columns.items():
        with located(name):
            if name == target:
                found_states[name] = classes
            elif name not in named and (name in numeric or _is_numeric(column)):
                cuts[name] = tuple(_cuts(column, target_codes, recipe))
                found_states[name] = bin_labels(cuts[name])
            else:
                found_states[name] = _categories(column, states.get(name), name in named)
            codes[name] = _codes(column, found_states[name], cuts.get(name))
    return Learned(
        _network(found_states, codes, target, recipe),
        target,
        recipe,
        cuts,
        sum(labelled),
        len(labelled) - sum(labelled),
        {name: int((c < 0).sum()) for name, c in codes.items() if (c < 0).any()},
    )


def _is_numeric(column: Column) -> bool:
    cells = {cell for cell in column if cell is not None}
    values = {number(cell) for cell in cells}
    return None not in values and len(values) > MAX_CATEGORIES


def _cuts(column: Column, classes: Codes, recipe: Recipe) -> list[float]:
    values = _numbers(column)
    there = ~np.isnan(values)
    if len(set(values[there].tolist())) < 2:
        _refuse_constant(column)
    if recipe.discretization == "frequency":
        return frequency_cuts(values[there], recipe.bins)
    return mdl_cuts(values[there], classes[there]) or median_cut(values[there])


def _numbers(column: Column) -> NDArray[np.float64]:
    values = np.full(len(column), np.nan)
    for row, cell in enumerate(column):
        if cell is not None:
            value = number(cell)
            if value is None:
                raise InputError(f"row {row + 1}: {quote(cell)} is not a number")
            values[row] = value
    return values


def _classes(column: Column, wanted: Sequence[str] | None) -> list[str]:
    """Return the states of the target."""
    values = {_state(cell) for cell in column if cell is not None}
    if len(values) < 2:
        raise InputError(f"one value only, {quote(min(values))}: there is nothing to decide")
    if len(values) > MAX_STATES:
        raise InputError(
            f"{len(values):,} different values; a target of at most {MAX_STATES} classes is wanted"
        )
    return _categories(column, wanted, True)


def _categories(column: Column, wanted: Sequence[str] | None, is_sure: bool) -> list[str]:
    """Return the states of a column of names; `is_sure`: it was called one."""
    cells = Counter(_state(cell) for cell in column if cell is not None)
    if len(cells) < 2:
        _refuse_constant(column)
    if wanted is not None:
        texts = {cell for cell in column if cell is not None}
        if unknown := sorted(t for t in texts if t not in wanted and _state(t) not in wanted):
            raise UnknownNameError(
                f"{quote(unknown[0])} is in the column but not among the states given"
            )
        return list(wanted)
    odd = [cell for cell in cells if number(cell) is None]
    n_numbers = len(cells) - len(odd)
    if not is_sure and odd and n_numbers > max(MAX_CATEGORIES, len(odd)):
        row = next(row for row, cell in enumerate(column) if cell is not None and cell in odd)
        raise InputError(
            f"most cells are numbers, but {quote(odd[0])} is not (row {row + 1})",
            remedies=(
                Remedy("name it as a mark of missing cells", "missing"),
                Remedy("name the column as one of categories", "categorical"),
            ),
        )
    if len(cells) > MAX_STATES:
        raise InputError(
            f"{len(cells):,} different values; a feature may have at most {MAX_STATES} states",
            remedies=(Remedy("leave the column out", "ignore"),),
        )
    numbers = {cell: number(cell) for cell in cells}
    if None in numbers.values():
        return sorted(cells)
    return sorted(cells, key=lambda cell: numbers[cell] or 0.0)


def _refuse_constant(column: Column) -> None:
    values = {cell for cell in column if cell is not None}
    what = f"one value only, {quote(min(values))}" if values else "no value at all"
    raise InputError(
        f"{what}: the column tells nothing", remedies=(Remedy("leave the column out", "ignore"),)
    )


def _state(cell: str) -> str:
    """Return what a cell is called: a number in one way, so that 1.0 is 1 and 0.50 is 0.5."""
    value = number(cell)
    if value is None:
        return cell
    return str(int(value)) if value.is_integer() and abs(value) < LARGEST_WHOLE else repr(value)


def _codes(column: Column, states: Sequence[str], cuts: Sequence[float] | None) -> Codes:
    """Return the number of each cell's state, -1 where it is missing."""
    if cuts is not None:
        values = _numbers(column)
        return np.where(np.isnan(values), -1, bins_of(values, cuts))
    places: dict[str | None, int] = {state: k for k, state in enumerate(states)}
    found = np.full(len(column), -1)
    for row, cell in enumerate(column):
        if cell is not None:
            state = cell if cell in places else _state(cell)
            if state not in places:
                raise UnknownNameError(
                    f"row {row + 1}: no state {quote(cell)}{nearest(cell, states)}"
                )
            found[row] = places[state]
    return found


def _network(
    states: Mapping[str, Sequence[str]], codes: Mapping[str, Codes], target: str, recipe: Recipe
) -> Network:
    import pyagrum

    names = list(states)
    # pyAgrum sees numbers for names and states: nothing of a user's text is parsed.
    template = pyagrum.BayesNet()
    for k, name in enumerate(names):
        labels = [str(state) for state in range(len(states[name]))]
        template.add(pyagrum.LabelizedVariable(f"v{k}", "", labels))
    with tempfile.TemporaryDirectory() as folder:
        completed = Path(folder) / "completed.csv"
        modes = {name: np.bincount(c[c >= 0]).argmax() for name, c in codes.items()}
        _write(completed, [np.where(codes[n] < 0, modes[n], codes[n]) for n in names])
        learner = pyagrum.BNLearner(str(completed), template)
        learner.setNumberOfThreads(1)
        learner.useNoPrior()
        SCORES[recipe.score](learner)
        SEARCHES[recipe.search](learner)
        learner.setMaxIndegree(recipe.max_parents)
        _restrict(learner, names, target, recipe)
        try:
            graph = learner.learnDAG()
        except pyagrum.InvalidDirectedCycle:
            raise InputError("these arcs make a cycle", "required") from None
    parents = [sorted(int(node) for node in graph.parents(k)) for k in range(len(names))]
    tables = fit_tables(
        [len(states[name]) for name in names],
        parents,
        [codes[name] for name in names],
        recipe.smoothing,
    )
    return Network.from_tables(
        states,
        {name: [names[p] for p in parents[k]] for k, name in enumerate(names)},
        {name: _rounded(tables[k]) for k, name in enumerate(names)},
    )


def _restrict(learner: Any, names: Sequence[str], target: str, recipe: Recipe) -> None:
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


def _write(path: Path, columns: Iterable[Codes]) -> None:
    rows = zip(*(column.tolist() for column in columns), strict=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        for place, row in enumerate(rows):
            if place == 0:
                writer.writerow([f"v{k}" for k in range(len(row))])
            writer.writerow(row)


def _rounded(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows of six decimals that sum to 1: the likeliest state takes the difference."""
    unit = 10**DECIMALS
    counts = np.rint(table * unit).astype(np.int64)
    rows = counts.reshape(-1, counts.shape[-1])
    rows[np.arange(len(rows)), rows.argmax(axis=1)] += unit - rows.sum(axis=1)
    rounded: NDArray[np.float64] = rows.reshape(table.shape) / unit
    return rounded
