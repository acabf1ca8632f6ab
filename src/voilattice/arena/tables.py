"""Tables of the arena: what is compared, the summary of each method, and where ours is weak.

*Cells.* A cell is a data set at a level. Its numbers are means over its splits.

*What is compared.* A method is ranked if it has a result in each cell that it was tried on. A split
of a cell counts if all ranked methods have a result there, and a cell counts if one of its splits
does. So all numbers of a cell come from the same cases.

*Regret in hindsight.* In each cell, the normalized cost of the method minus the lowest one of all
ranked methods: what choosing the best method for each cell would save.

*In-model regret.* What a quick policy of ours costs more than the optimum on cases drawn from their
common network, as a share of what the optimum costs:

    sum over splits of (cost of the policy - cost of the optimum) / sum of the cost of the optimum.

All means over cells weigh every cell alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.arena.methods import OURS
from voilattice.arena.ranks import rank_costs
from voilattice.arena.results import Key, Result
from voilattice.arena.tournament import Standings
from voilattice.samples import standard_error

__all__ = ["Comparison", "Summary", "Weakness", "compare_methods", "find_weaknesses", "summarize"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean costs of ranked methods in each cell; arrays are [cell, method]."""

    methods: tuple[str, ...]  # the lowest mean rank first
    cells: tuple[tuple[str, str], ...]  # data set and level
    results: Mapping[tuple[str, str], Mapping[str, tuple[Result, ...]]]  # of the splits that count
    total_cost: Array
    standard_error: Array  # of the total cost, over splits; NaN: there is one split
    feature_cost: Array
    errors: Array
    normalized: Array
    seconds: Array
    ranks: Array
    left_out: Mapping[str, str]  # methods that are not ranked, and why

    @property
    def data_sets(self) -> list[str]:
        """The data set of each cell."""
        return [data_set for data_set, _ in self.cells]

    @property
    def spending(self) -> Array:
        """The share of features in the total cost."""
        return _shares(self.feature_cost, self.total_cost)

    @property
    def is_won(self) -> NDArray[np.bool_]:
        """Which methods cost least in a cell; all of those that tie."""
        return np.asarray(self.ranks == self.ranks.min(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class Summary:
    """Means of a method over all cells."""

    method: str
    mean_rank: float
    normalized: float
    spending: float  # the share of features in the total cost
    errors: float
    n_won: int  # cells; a tie is won by all
    regret: float  # in hindsight, normalized
    model_regret: float | None  # a share; None: no quick policy of ours
    seconds: float


@dataclass(frozen=True, slots=True)
class Weakness:
    """A cell in which another method costs less than ours."""

    data_set: str
    level: str
    best: str  # the other method
    ratio: float  # our cost over that of the other
    total_cost: tuple[float, float]  # ours, and that of the other
    standard_error: float  # of the difference, paired by splits; NaN: there is one split
    feature_cost: tuple[float, float]
    errors: tuple[float, float]
    recipe: str  # that ours used most
    n_with_recipe: int  # splits
    n_splits: int

    @property
    def extra_spending(self) -> float:
        """What ours spends more on features; negative: less."""
        return self.feature_cost[0] - self.feature_cost[1]

    @property
    def extra_errors(self) -> float:
        """What our decisions cost more; negative: less."""
        return self.total_cost[0] - self.total_cost[1] - self.extra_spending


def compare_methods(standings: Standings) -> Comparison:
    """Return what can be compared of the standings."""
    places = {
        (data.name, level): [data.split_number(k) for k in range(standings.suite.n_splits)]
        for data in standings.suite.data_sets.values()
        for level in data.levels
    }
    left_out = _left_out(standings)
    ranked = [method for method in standings.methods if method not in left_out]
    results: dict[tuple[str, str], dict[str, tuple[Result, ...]]] = {}
    for (data_set, level), splits in places.items():
        found = [
            [standings.results.get(Key(data_set, level, split, method)) for method in ranked]
            for split in splits
        ]
        whole = [row for row in found if row and None not in row]
        if whole:
            columns = zip(*whole, strict=True)
            results[data_set, level] = dict(zip(ranked, columns, strict=True))

    def means(name: str) -> Array:
        return np.array(
            [
                [np.mean([getattr(result, name) for result in column]) for column in cell.values()]
                for cell in results.values()
            ],
            dtype=float,
        ).reshape(len(results), len(ranked))

    total_cost = means("total_cost")
    ranks = rank_costs(total_cost) if results else total_cost
    order = np.argsort(ranks.mean(axis=0), kind="stable") if results else np.arange(len(ranked))
    errors = [
        [_standard_error([result.total_cost for result in column]) for column in cell.values()]
        for cell in results.values()
    ]
    standard_error = np.array(errors, dtype=float).reshape(total_cost.shape)
    return Comparison(
        tuple(ranked[k] for k in order),
        tuple(results),
        results,
        total_cost[:, order],
        standard_error[:, order],
        means("feature_cost")[:, order],
        means("errors")[:, order],
        means("normalized")[:, order],
        means("seconds")[:, order],
        ranks[:, order],
        left_out,
    )


def summarize(found: Comparison) -> list[Summary]:
    """Return the summary of each ranked method, the lowest mean rank first."""
    if not found.cells:
        return []
    regret = found.normalized - found.normalized.min(axis=1, keepdims=True)
    return [
        Summary(
            method,
            float(found.ranks[:, k].mean()),
            float(found.normalized[:, k].mean()),
            float(found.spending[:, k].mean()),
            float(found.errors[:, k].mean()),
            int(found.is_won[:, k].sum()),
            float(regret[:, k].mean()),
            _model_regret(found, method),
            float(found.seconds[:, k].mean()),
        )
        for k, method in enumerate(found.methods)
    ]


def find_weaknesses(found: Comparison, method: str = OURS) -> list[Weakness]:
    """Return the cells in which another method costs less, the worst ratio first."""
    if method not in found.methods or len(found.methods) < 2:
        return []
    ours = found.methods.index(method)
    rows = []
    for place, (data_set, level) in enumerate(found.cells):
        cost = found.total_cost[place]
        others = np.where(np.arange(len(cost)) == ours, math.inf, cost)
        best = int(others.argmin())
        if found.is_won[place, ours]:
            continue
        columns = found.results[data_set, level]
        mine, theirs = columns[method], columns[found.methods[best]]
        recipes = Counter(sorted(result.recipe for result in mine))
        recipe, n_with_recipe = recipes.most_common(1)[0]
        rows.append(
            Weakness(
                data_set,
                level,
                found.methods[best],
                _ratio(float(cost[ours]), float(cost[best])),
                (float(cost[ours]), float(cost[best])),
                _standard_error(
                    [a.total_cost - b.total_cost for a, b in zip(mine, theirs, strict=True)]
                ),
                _pair(found.feature_cost[place], ours, best),
                _pair(found.errors[place], ours, best),
                recipe,
                n_with_recipe,
                len(mine),
            )
        )
    return sorted(rows, key=lambda row: -row.ratio)


def _left_out(standings: Standings) -> dict[str, str]:
    """Return the methods that cannot be ranked, and why."""
    there = {(key.method, key.data_set, key.level) for key in standings.results}
    have_results = {method for method, _, _ in there}
    found = {}
    for method in standings.methods:
        failed = [
            (key.data_set, key.level)
            for key in sorted(standings.failures)
            if key.method == method and (method, key.data_set, key.level) not in there
        ]
        if method not in have_results:
            found[method] = "failed everywhere" if failed else "has no result yet"
        elif failed:
            found[method] = f"has no result for {', '.join(failed[0])}"
    return found


def _model_regret(found: Comparison, method: str) -> float | None:
    """Return the mean in-model regret over cells; None: there is nothing to compare."""
    if method == OURS or OURS not in found.methods:
        return None
    shares = []
    for columns in found.results.values():
        pairs = [
            (quick.model_cost, best.model_cost)
            for quick, best in zip(columns[method], columns[OURS], strict=True)
            if quick.model_cost is not None and best.model_cost is not None
        ]
        optimum = sum(best for _, best in pairs)
        if optimum:
            shares.append((sum(quick for quick, _ in pairs) - optimum) / optimum)
    return float(np.mean(shares)) if shares else None


def _standard_error(values: Sequence[float]) -> float:
    error = standard_error(values)
    return math.nan if error is None else error


def _shares(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _ratio(cost: float, other: float) -> float:
    if other:
        return cost / other
    return math.inf if cost else 1.0


def _pair(row: Array, ours: int, best: int) -> tuple[float, float]:
    return float(row[ours]), float(row[best])
