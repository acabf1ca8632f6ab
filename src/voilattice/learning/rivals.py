r"""What people use instead of a policy: rivals that decide by the same costs.

Every rival estimates P(y | x) from some features x, pays for these, and decides by

    argmin_i Σ_j P(y_j | x) c_ij                                          (Eq. 1)

with the same c_ij as everybody else. They differ in what they buy:

- `AtOnce` buys nothing: P(y) are the shares of the classes;
- `PrunedTree` is scikit-learn's CART, cut back by cost-complexity pruning. A case buys the features
  that are tested on its path, one after another. P(y | leaf) are counts, pulled towards P(y);
- `Classifier` is any classifier of scikit-learn. It buys all features together, or with a *budget*
  the cheapest ones that the budget allows.

What is bought is priced by `CostModel.cost`, so groups, discounts and conditional prices count.
A missing cell cannot be bought and costs nothing; the median or the most frequent value stands in
for it. A value that was not in the table that a rival learned from is missing too.

A `Rival` of your own needs a name and a method `learn`, which returns something that can `decide`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voilattice.learning.columns import check_typed, encode_column
from voilattice.learning.data_tables import DataTable
from voilattice.learning.encoders import Encoder
from voilattice.learning.preparation import Columns
from voilattice.model.costs import CostModel, price_set
from voilattice.model.stakes import CostMatrix
from voilattice.wording import format_amount

__all__ = [
    "AtOnce",
    "Classifier",
    "Decided",
    "Decider",
    "Paths",
    "PrunedTree",
    "Question",
    "Rival",
    "Table",
    "gradient_boosting",
    "list_paths",
    "logistic_regression",
    "make_rivals",
    "price_paths",
]

N_FOLDS = 5  # to find out how far a tree is cut back
N_CUTS = 12  # amounts of pruning that are tried

Codes = NDArray[np.intp]
Table = NDArray[np.float64]
Paths = NDArray[np.object_]  # tuples of features


@dataclass(frozen=True, slots=True)
class Question:
    """What has to be decided from which columns, and what everything costs.

    Parameters
    ----------
    features
        The columns that may be bought.
    numeric
        Those of them that hold numbers; the others hold categories.
    states
        The states of some columns in the order wanted.
    """

    target: str
    classes: tuple[str, ...]
    decisions: tuple[str, ...]
    features: tuple[str, ...]
    numeric: frozenset[str]
    costs: CostModel
    cost: CostMatrix  # c_ij: [i = decision, j = actual class]
    states: Mapping[str, Sequence[str]]

    def classes_of(self, table: DataTable) -> Codes:
        """Return the number of the class of each row."""
        codes, _ = encode_column(check_typed(table.column(self.target)), self.classes, None)
        return codes

    def usable(self, table: DataTable) -> tuple[str, ...]:
        """Return the features that have two values or more in a table."""
        columns = {name: check_typed(table.column(name)) for name in self.features}
        return tuple(name for name, column in columns.items() if column.n_different() > 1)

    def columns(self, table: DataTable) -> Columns:
        """Return how the columns of a table are read, so that its cases answer the question."""
        features = self.usable(table)
        return Columns(
            sorted(set(table.columns) - {self.target, *features}),
            sorted(self.numeric.intersection(features)),
            sorted(set(features) - self.numeric - set(self.states)),
            {name: s for name, s in self.states.items() if name in features}
            | {self.target: self.classes},
        )

    def decide(self, posterior: Table) -> Codes:
        """Return the decision of least expected cost for each row of P(y | x)."""
        decision: Codes = (posterior @ self.cost.T).argmin(axis=1)
        return decision


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided and paid, case by case."""

    decision: Codes  # the numbers of decisions
    posterior: Table  # [case, class], when the case was decided
    feature_cost: Table
    bought: Paths  # what was bought in each case, in order


class Decider(Protocol):
    """Something that has learned, and decides cases."""

    def decide(self, table: DataTable) -> Decided:
        """Return what is decided and paid in each row; the target is not looked at."""
        ...


class Rival(Protocol):
    """A way to decide that can be compared with policies."""

    @property
    def name(self) -> str:
        """What the rival is called in tables."""
        ...

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        """Learn from a table whose rows all have a class."""
        ...


def make_rivals(question: Question, budgets: Sequence[float] | None = None) -> tuple[Rival, ...]:
    """Return the rivals that people would use.

    Parameters
    ----------
    budgets
        What the classifiers with a budget may spend; by default a quarter and a half of the price
        of all features.
    """
    if budgets is None:
        total = price_set(question.costs, frozenset(question.features), {})
        budgets = (total / 4, total / 2) if total > 0 else ()
    limits = (None, *dict.fromkeys(budgets))
    return (
        AtOnce(),
        PrunedTree(),
        *(Classifier("logistic regression", logistic_regression, limit) for limit in limits),
        *(Classifier("gradient boosting", gradient_boosting, limit) for limit in limits),
    )


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Buy nothing, and decide by the shares of the classes, each counted once more."""

    name: str = "deciding at once"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        counts = np.bincount(question.classes_of(table), minlength=len(question.classes)) + 1.0
        return _Constant(question, counts / counts.sum())


@dataclass(frozen=True, slots=True)
class _Constant:
    question: Question
    shares: Table

    def decide(self, table: DataTable) -> Decided:
        posterior = np.tile(self.shares, (table.n_rows, 1))
        bought = list_paths([()] * table.n_rows)
        return Decided(self.question.decide(posterior), posterior, np.zeros(table.n_rows), bought)


def logistic_regression(seed: int) -> Any:
    """Return a classifier that has learned nothing yet."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


def gradient_boosting(seed: int) -> Any:
    """Return a classifier that has learned nothing yet."""
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(random_state=seed)


@dataclass(frozen=True, slots=True)
class Classifier:
    """A classifier of scikit-learn that buys all features together, or the cheapest ones.

    Parameters
    ----------
    kind
        What it is called.
    make
        Returns a new classifier for a seed.
    budget
        What the features may cost together: they are taken in the order of their prices, and one
        that does not fit any more is left out. None: all features are bought.
    """

    kind: str
    make: Callable[[int], Any]
    budget: float | None = None

    @property
    def name(self) -> str:
        limit = "" if self.budget is None else f", budget {format_amount(self.budget)}"
        return self.kind + limit

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        features = self.choose(question, question.usable(table))
        if not features:
            return AtOnce().learn(table, question, seed)
        encoder = Encoder.fit(table, features, question.numeric, scale=True)
        model = self.make(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a fit has not converged: it is what it is
            model.fit(encoder.numbers(table), question.classes_of(table))
        return _Bundle(question, encoder, model)

    def choose(self, question: Question, features: Sequence[str]) -> tuple[str, ...]:
        """Return the features to buy."""
        if self.budget is None:
            return tuple(features)
        prices = {name: price_set(question.costs, frozenset({name}), {}) for name in features}
        chosen: frozenset[str] = frozenset()
        for name in sorted(features, key=lambda name: prices[name]):
            if price_set(question.costs, chosen | {name}, {}) <= self.budget:
                chosen |= {name}
        return tuple(name for name in features if name in chosen)


@dataclass(frozen=True, slots=True)
class _Bundle:
    """A classifier that has learned; all that it looks at is bought together."""

    question: Question
    encoder: Encoder
    model: Any

    def decide(self, table: DataTable) -> Decided:
        posterior = _probabilities(self.model, self.encoder.numbers(table), self.question)
        there = ~np.isnan(self.encoder.cells(table))
        patterns, places = np.unique(there, axis=0, return_inverse=True)
        names = np.array(self.encoder.features, dtype=object)
        prices = [price_set(self.question.costs, frozenset(names[p]), {}) for p in patterns]
        bought = list_paths([tuple(names[p]) for p in patterns])
        return Decided(
            self.question.decide(posterior), posterior, np.array(prices)[places], bought[places]
        )


@dataclass(frozen=True, slots=True)
class PrunedTree:
    """A decision tree that pays for what it tests.

    How far the tree is cut back is chosen by cross-validation inside the table: the amount of
    pruning with the lowest total cost, or with the fewest errors.

    Parameters
    ----------
    is_by_accuracy
        Count as an error what is not the most probable class, whatever it costs.
    """

    name: str = "pruned decision tree"
    is_by_accuracy: bool = False

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        from sklearn.tree import DecisionTreeClassifier

        features = question.usable(table)
        if not features:
            return AtOnce().learn(table, question, seed)
        encoder = Encoder.fit(table, features, question.numeric, scale=False)
        tree = DecisionTreeClassifier(random_state=seed)
        classes = question.classes_of(table)
        path = tree.cost_complexity_pruning_path(encoder.numbers(table), classes)
        # Less pruning than 0 is a rounding error, and the last amount leaves the root alone.
        amounts = np.unique(
            np.quantile(path.ccp_alphas.clip(0.0), np.linspace(0, 1, N_CUTS), method="nearest")
        )
        random = np.random.default_rng(seed)
        number = random.permutation(table.n_rows) % min(N_FOLDS, table.n_rows)
        paid = np.zeros(len(amounts))
        for fold in range(min(N_FOLDS, table.n_rows)) if len(amounts) > 1 else ():
            inside = table.take(np.flatnonzero(number != fold))
            outside = table.take(np.flatnonzero(number == fold))
            truth = question.classes_of(outside)
            # The encoder and the amounts are those of the whole table, which the case to be decided
            # in the end is not in.
            known, new = _EncodedCases.read(encoder, inside), _EncodedCases.read(encoder, outside)
            labels = question.classes_of(inside)
            for k, amount in enumerate(amounts):
                tree = _grow(known, labels, question, encoder, float(amount), seed)
                found = tree.decide_cases(new)
                if self.is_by_accuracy:
                    paid[k] += (found.posterior.argmax(axis=1) != truth).sum()
                else:
                    paid[k] += (found.feature_cost + question.cost[found.decision, truth]).sum()
        # Of equal costs, the smaller tree.
        best = len(amounts) - 1 - int(paid[::-1].argmin())
        everything = _EncodedCases.read(encoder, table)
        return _grow(everything, classes, question, encoder, float(amounts[best]), seed)


@dataclass(frozen=True, slots=True)
class _EncodedCases:
    """A table as a tree needs it, read once for all trees that look at it."""

    numbers: Table
    is_there: NDArray[np.bool_]  # [case, feature]
    states: Mapping[str, Sequence[str | None]]

    @classmethod
    def read(cls, encoder: Encoder, table: DataTable) -> _EncodedCases:
        is_there = ~np.isnan(encoder.cells(table))
        return cls(encoder.numbers(table), is_there, encoder.states(table))


def _grow(
    cases: _EncodedCases,
    classes: Codes,
    question: Question,
    encoder: Encoder,
    amount: float,
    seed: int,
) -> _Tree:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(random_state=seed, ccp_alpha=amount)
    model.fit(cases.numbers, classes)
    return _Tree(question, encoder, model, np.bincount(classes, minlength=len(question.classes)))


@dataclass(frozen=True)
class _Tree:
    """A tree that has learned; a feature is bought when it is tested for the first time."""

    question: Question
    encoder: Encoder
    model: Any
    counts: Codes  # of the classes

    def decide(self, table: DataTable) -> Decided:
        return self.decide_cases(_EncodedCases.read(self.encoder, table))

    def decide_cases(self, cases: _EncodedCases) -> Decided:
        """Return what is decided in each case of a table that was read before."""
        posterior = self.leaves[self.model.apply(cases.numbers)]
        bought = self._paths(cases)
        bills = price_paths(self.question.costs, bought, cases.states)
        return Decided(self.question.decide(posterior), posterior, bills, bought)

    @cached_property
    def leaves(self) -> Table:
        """P(y | node) of each node: counts, and as many cases more as there are classes.

        The cases more have the shares of the classes in the whole table, so a small leaf does not
        say that something is certain.
        """
        grown = self.model.tree_
        shares = np.zeros((grown.node_count, len(self.counts)))
        shares[:, self.model.classes_] = grown.value[:, 0, :]
        shares /= shares.sum(axis=1, keepdims=True)
        n = grown.n_node_samples[:, None]
        more = len(self.counts)
        pulled: Table = (n * shares + more * self.counts / self.counts.sum()) / (n + more)
        return pulled

    def _paths(self, cases: _EncodedCases) -> Paths:
        """Return the features that each case tests, in order; a missing cell cannot be bought."""
        owners = self.encoder.owners
        tested = self.model.tree_.feature  # of each node, a column; negative: a leaf
        paths = self.model.decision_path(cases.numbers)
        found = []
        for row in range(len(cases.numbers)):
            # scikit-learn numbers a node before the nodes below it.
            nodes = np.sort(paths.indices[paths.indptr[row] : paths.indptr[row + 1]])
            columns = owners[tested[nodes[tested[nodes] >= 0]]].tolist()
            bought = dict.fromkeys(k for k in columns if cases.is_there[row, k])
            found.append(tuple(self.encoder.features[k] for k in bought))
        return list_paths(found)


def list_paths(paths: Sequence[tuple[str, ...]]) -> Paths:
    """Return paths as an array with an entry for each case."""
    found = np.empty(len(paths), dtype=object)
    found[:] = paths
    return found


def price_paths(
    costs: CostModel, bought: Paths, states: Mapping[str, Sequence[str | None]]
) -> Table:
    """Return what each case pays for its features, bought one after another.

    Parameters
    ----------
    states
        The state of each feature in each case, for prices that depend on what is known.
    """
    known: dict[Any, float] = {}
    bills = np.zeros(len(bought))
    for row, path in enumerate(bought.tolist()):
        values = tuple(states[name][row] for name in path)
        if (path, values) not in known:
            evidence: dict[str, str] = {}
            paid = 0.0
            for name, state in zip(path, values, strict=True):
                paid += price_set(costs, frozenset({name}), evidence)
                evidence[name] = str(state)
            known[path, values] = paid
        bills[row] = known[path, values]
    return bills


def _probabilities(model: Any, cells: Table, question: Question) -> Table:
    """Return P(y | x) with a column for each class, also for those that were not learned from."""
    found = np.zeros((len(cells), len(question.classes)))
    found[:, model.classes_] = model.predict_proba(cells)
    return found
