r"""Buy one feature after another: what the methods that work on states have in common.

Cells become states (bins of numbers, categories), so a case is described by a row of codes, one
for each feature: the state that was found, `UNKNOWN`, or `NOT_THERE` for a cell that was asked for
and is missing. A method is a `Chooser`. At a row of codes s it says which feature it would buy
next, what that is worth to it, w(s), and P(y | s). The case goes on buying while

    w(s) > σ   and   EMC(s) = min_i Σ_j P(y_j | s) c_ij > τ,

where EMC is the expected misclassification cost, or while w(s) = ∞: that is said of what is free
and tells something, and of the rest of a cluster that was opened. σ and τ are the
*stop rule*. Some methods have one of their own (σ = 0, no τ). Others leave the thresholds to the
user; for these, `tune` finds the thresholds of least total cost by cross-validation. A stop rule
only cuts off what a case buys without one, so each case is followed once, and all thresholds are
tried on what was written down.

A missing cell cannot be bought, so a case goes on without that feature and pays nothing. Cases with
the same codes do the same, so every different row of codes is looked at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from voilattice.learning.columns import check_typed, encode_column
from voilattice.learning.data_tables import DataTable
from voilattice.learning.evaluation import deal_evenly
from voilattice.learning.preparation import Prepared, prepare_cases
from voilattice.learning.recipes import Recipe
from voilattice.learning.rivals import AtOnce, Decided, Decider, Question, list_paths
from voilattice.model.costs import CostModel, price_set, pricing_of

__all__ = [
    "LEAST_GAIN",
    "NEVER",
    "NOTHING",
    "NOT_THERE",
    "UNKNOWN",
    "Chooser",
    "Offer",
    "Prices",
    "StateCoding",
    "StopRule",
    "Walker",
    "code_cases",
    "divide_by_prices",
    "learn_walker",
    "tune",
]

UNKNOWN, NOT_THERE = -1, -2  # in a row of codes
NOTHING = -1  # in place of a feature: there is none to buy
NEVER = -math.inf  # what nothing is worth

N_FOLDS = 5  # in which a stop rule is tried
MAX_TRIED = 1_000  # rows in which a stop rule is tried
N_THRESHOLDS = 16  # of each kind that are tried
LEAST_GAIN = 1e-12  # less is a rounding error

Codes = NDArray[np.intp]
Table = NDArray[np.float64]


class Offer(NamedTuple):
    """What a method would do at each of some rows of codes."""

    feature: Codes  # what it would buy next, or `NOTHING`
    worth: Table  # of that feature; `NEVER` where there is none
    posterior: Table  # P(y | s): [row, class]


class Chooser(Protocol):
    """A method that has learned: what to buy next, and what is known."""

    def offer(self, states: Codes, prices: Table) -> Offer:
        """Return what to do at each row of codes.

        Parameters
        ----------
        prices
            [row, feature]: what a feature costs now; infinite if it cannot be bought any more.
        """
        ...


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a case is decided: the thresholds σ and τ."""

    least_worth: float = 0.0
    low_risk: float = -math.inf

    def goes_on(self, worth: Table, risk: Table) -> NDArray[np.bool_]:
        """Return where a case buys on: w > σ and EMC > τ, or w = ∞."""
        found: NDArray[np.bool_] = (worth > self.least_worth) & (
            (risk > self.low_risk) | np.isposinf(worth)
        )
        return found


@dataclass(frozen=True, slots=True)
class StateCoding:
    """How the cells of some features become states of a network, and their codes."""

    features: tuple[str, ...]
    states: tuple[Sequence[str], ...]
    cuts: Mapping[str, tuple[float, ...]]

    @property
    def n_states(self) -> list[int]:
        return [len(states) for states in self.states]

    def codes(self, table: DataTable) -> Codes:
        """Return the code of each cell; negative: it is missing, or its value was never seen."""
        columns = [
            encode_column(check_typed(table.column(name)), states, self.cuts.get(name))[0]
            for name, states in zip(self.features, self.states, strict=True)
        ]
        return np.stack(columns, axis=1)


def code_cases(
    table: DataTable, question: Question, recipe: Recipe
) -> tuple[StateCoding, Prepared] | None:
    """Return the bins and categories of a table, and its cases.

    None: the table has one class only, or no feature with two values. Then there is nothing that
    could be learned.
    """
    features = question.usable(table)
    if not features or len(np.unique(question.classes_of(table))) < 2:
        return None
    cases = prepare_cases(table, question.target, recipe, question.columns(table))
    names = tuple(cases.features)
    return StateCoding(names, tuple(cases.states[name] for name in names), cases.cuts), cases


@dataclass(frozen=True, slots=True)
class Prices:
    """What sets of features cost at rows of codes; by default a set for each feature."""

    costs: CostModel
    coding: StateCoding
    sets: Sequence[Sequence[int]] = ()
    _known: dict[bytes, Table] = field(default_factory=dict)

    def at(self, states: Codes) -> Table:
        """Return [row, set]: the price of what is unknown of a set; infinite if nothing is."""
        # Without conditional prices it does not matter which states are known.
        pricing = pricing_of(self.costs)
        is_plain = pricing.is_sum and not pricing.conditions
        keys = np.minimum(states, 0) if is_plain else states
        return np.array([self._find(key, state) for key, state in zip(keys, states, strict=True)])

    def _find(self, key: Codes, state: Codes) -> Table:
        if (found := self._known.get(key.tobytes())) is None:
            names, labels = self.coding.features, self.coding.states
            evidence = {name: labels[k][state[k]] for k, name in enumerate(names) if state[k] >= 0}
            sets = self.sets or [(k,) for k in range(len(names))]
            unknown = [frozenset(names[k] for k in one if state[k] == UNKNOWN) for one in sets]
            found = np.array(
                [price_set(self.costs, one, evidence) if one else np.inf for one in unknown]
            )
            self._known[key.tobytes()] = found
        return found


class _Step(NamedTuple):
    """What was known, and what was possible, when cases had so many features."""

    rows: Codes
    spent: Table
    worth: Table
    decision: Codes
    risk: Table  # EMC


@dataclass(frozen=True, slots=True)
class Walker:
    """A method that has learned, with its stop rule."""

    question: Question
    coding: StateCoding
    chooser: Chooser
    stop: StopRule = StopRule()

    def decide(self, table: DataTable) -> Decided:
        """Return what is decided and paid in each row."""
        decided, _ = self.follow(table)
        return decided

    def follow(self, table: DataTable) -> tuple[Decided, list[_Step]]:
        """Return what is decided and paid in each row, and the steps on the way."""
        question, names = self.question, self.coding.features
        prices = Prices(question.costs, self.coding)
        cells = self.coding.codes(table)
        known = np.full(cells.shape, UNKNOWN, dtype=np.intp)
        spent = np.zeros(len(cells))
        posterior = np.zeros((len(cells), len(question.classes)))
        bought: list[list[str]] = [[] for _ in cells]
        rows = np.arange(len(cells))
        steps = []
        while len(rows):
            states, places = np.unique(known[rows], axis=0, return_inverse=True)
            places = places.reshape(-1)
            price = prices.at(states)
            offer = self.chooser.offer(states, price)
            risks = offer.posterior @ question.cost.T
            decision, risk = risks.argmin(axis=1), risks.min(axis=1)
            posterior[rows] = offer.posterior[places]
            steps.append(
                _Step(rows, spent[rows], offer.worth[places], decision[places], risk[places])
            )
            goes_on = (offer.feature != NOTHING) & self.stop.goes_on(offer.worth, risk)
            rows, places = rows[goes_on[places]], places[goes_on[places]]
            feature = offer.feature[places]
            value = cells[rows, feature]
            is_there = value >= 0
            known[rows, feature] = np.where(is_there, value, NOT_THERE)
            spent[rows[is_there]] += price[places, feature][is_there]
            for row, k in zip(rows[is_there].tolist(), feature[is_there].tolist(), strict=True):
                bought[row].append(names[k])
        paths = list_paths([tuple(path) for path in bought])
        return Decided(question.decide(posterior), posterior, spent, paths), steps


Learn = Callable[[DataTable], Walker | None]


def learn_walker(
    table: DataTable, question: Question, seed: int, learn: Learn, *, is_tuned: bool
) -> Decider:
    """Return what `learn` makes of a table, with a tuned stop rule if asked.

    If there is nothing to learn, every case is decided at once.
    """
    made = learn(table)
    if made is None:
        return AtOnce().learn(table, question, seed)
    stop = tune(table, question, seed, learn) if is_tuned else made.stop
    return Walker(question, made.coding, made.chooser, stop)


def tune(table: DataTable, question: Question, seed: int, learn: Learn) -> StopRule:
    """Return the stop rule of least total cost on rows that were not learned from."""
    random = np.random.default_rng(seed)
    classes, rows = question.classes_of(table), np.arange(table.n_rows)
    totals, worths, risks = [], [], []
    folds = deal_evenly(rows, classes, min(N_FOLDS, len(rows)), random)
    for fold in folds:
        made = learn(table.take(fold.inside))
        if made is None:
            continue
        outside = fold.outside
        if len(outside) > MAX_TRIED // len(folds):
            outside = np.sort(random.choice(outside, MAX_TRIED // len(folds), replace=False))
        _, steps = made.follow(table.take(outside))
        total = np.full((len(outside), len(steps)), np.nan)
        worth, risk = np.full(total.shape, NEVER), np.full(total.shape, np.nan)
        for k, step in enumerate(steps):
            paid = question.cost[step.decision, classes[outside][step.rows]]
            total[step.rows, k] = step.spent + paid
            worth[step.rows, k] = step.worth
            risk[step.rows, k] = step.risk
        totals += list(total)
        worths += list(worth)
        risks += list(risk)
    if not totals:
        return StopRule()
    return _best_rule(*(_pad(rows) for rows in (totals, worths, risks)))


def _best_rule(total: Table, worth: Table, risk: Table) -> StopRule:
    """Return the thresholds of least mean total cost; of equal ones, those that stop earliest."""
    worth = np.where(np.isnan(worth), NEVER, worth)
    numbers = np.arange(len(total))
    best, least = StopRule(), math.inf
    for least_worth in _thresholds(worth, 0.0)[::-1]:
        for low_risk in _thresholds(risk, -math.inf)[::-1]:
            stop = StopRule(least_worth, low_risk)
            stops = ~stop.goes_on(worth, risk)
            # Nothing is left to buy in the last step of a case, so some step always stops.
            paid = float(total[numbers, stops.argmax(axis=1)].mean())
            if paid < least - LEAST_GAIN:
                best, least = stop, paid
    return best


def _thresholds(values: Table, lowest: float) -> list[float]:
    """Return thresholds between the values that occur, in order; the first one never stops."""
    there = values[np.isfinite(values) & (values > max(lowest, 0.0))]
    if not len(there):
        return [lowest]
    found = np.quantile(there, np.linspace(0, 1, N_THRESHOLDS), method="lower")
    return [lowest, *np.unique(found).tolist()]


def _pad(rows: Sequence[Table]) -> Table:
    """Return rows of different lengths as one array, NaN where a row has ended."""
    found = np.full((len(rows), max(map(len, rows))), np.nan)
    for k, row in enumerate(rows):
        found[k, : len(row)] = row
    return found


def divide_by_prices(gains: Table, prices: Table) -> tuple[Codes, Table]:
    """Return the feature with the best gain for its price, and that ratio.

    What is free and tells anything is worth more than all that has a price; of several such
    features, the one that tells most comes first. Of equal ratios, the first feature wins.
    """
    can_gain = np.isfinite(prices) & (gains > LEAST_GAIN)
    is_free = can_gain & (prices <= 0)
    ratio = np.where(can_gain, gains, NEVER) / np.where(is_free | ~can_gain, 1.0, prices)
    rows = np.arange(len(gains))
    paid = ratio.argmax(axis=1)
    free = np.where(is_free, gains, NEVER).argmax(axis=1)
    has_free = is_free.any(axis=1)
    feature = np.where(has_free, free, paid)
    worth = np.where(has_free, np.inf, ratio[rows, paid])
    return np.where(can_gain.any(axis=1), feature, NOTHING), worth
