r"""What all baselines have in common: raw tables in, decisions and bills out.

A baseline is a way to *learn*: from a table of cases and a `Question` (the classes, the prices, the
costs c_ij of decisions) it makes a `Decider`, which says for new cases what it buys, in order, and
what it decides,

    argmin_i Σ_j P(y_j | x) c_ij,                                         (Eq. 1)

unless the method has a rule of its own. `Baseline` adds the verbs of scikit-learn to that. The
prices count as everywhere: the first feature of a group pays the overhead, and a missing cell
cannot be bought and costs nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from voilattice.learning.cells import Categories
from voilattice.learning.data_tables import DataTable, as_table
from voilattice.learning.evaluation import ask_question
from voilattice.learning.preparation import Columns
from voilattice.learning.rivals import Decided, Decider, Question
from voilattice.sklearn.bills import make_bill
from voilattice.sklearn.column_costs import make_costs
from voilattice.sklearn.decisions import make_decisions
from voilattice.sklearn.inputs import (
    check_lengths,
    find_seed,
    name_places,
    name_target,
    one_line,
    read_rows,
    split_labels,
)

__all__ = ["Baseline"]


class Baseline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method of the literature as a classifier that pays for what it looks at.

    Parameters
    ----------
    prices, groups, discounts, misclassification, random_state
        As in `voilattice.sklearn.AcquiringClassifier`.

    Attributes
    ----------
    classes_
        The labels, in order.
    decisions_
        What `predict` can return.
    decider_
        What was learned.
    """

    name: ClassVar[str]  # what the method is called in tables

    def __init__(
        self,
        prices: Any = 0,
        *,
        groups: Any = (),
        discounts: Any = (),
        misclassification: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.prices = prices
        self.groups = groups
        self.discounts = discounts
        self.misclassification = misclassification
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @abstractmethod
    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        """Return what decides new cases, learned from a table whose rows all have a class.

        The prices and the costs of decisions are those of the question.
        """

    def fit(self, X: Any, y: Any) -> Baseline:
        """Learn from cases with their labels; X is a data frame of raw values, or an array."""
        seed = find_seed(self.random_state)
        rows = read_rows(X)
        labels, codes = split_labels(y)
        check_lengths(rows, codes)
        costs = make_costs(self.prices, self.groups, self.discounts, rows)
        decisions = make_decisions(self.misclassification, labels)
        target = name_target(y, rows.features)
        with name_places():
            cells = {name: rows.column(k) for k, name in enumerate(rows.features)}
            columns = as_table(cells).columns
            known = Categories(codes, labels.states, True, True)
            table = DataTable({target: known, **columns}, "")
            read = Columns(states={target: labels.states})
            question, _ = ask_question(table, target, costs, decisions.rows, read)
        self.classes_, self.decisions_ = labels.classes, decisions.labels_of(question.decisions)
        self.n_features_in_ = len(rows.names)
        if rows.has_names:
            self.feature_names_in_ = np.array(rows.names, dtype=object)
        self._labels, self._question = labels, question
        self._columns = dict(zip(rows.features, rows.names, strict=True))
        self.decider_ = self.learn(table, question, seed)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decision for each row."""
        decision = self._decide(X).decision
        return self.decisions_[decision]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(y) when each row was decided, in the order of `classes_`."""
        return self._decide(X).posterior

    def bill(self, X: Any) -> Any:
        """Return a data frame of what each row bought, in order, and what that cost."""
        found = self._decide(X)
        own = [tuple(self._columns[name] for name in path) for path in found.bought.tolist()]
        return make_bill(X, own, found.feature_cost)

    def total_cost(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return what each row costs: its features, and the decision."""
        found, truth = self._decide(X), self._labels.encode(y)
        check_lengths(read_rows(X), truth)
        return found.feature_cost + self._question.cost[found.decision, truth]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean total cost: more is better."""
        return -float(np.average(self.total_cost(X, y), weights=sample_weight))

    def _decide(self, X: Any) -> Decided:
        check_is_fitted(self)
        rows = read_rows(X, getattr(self, "feature_names_in_", None))
        if not rows.has_names:
            with one_line("X"):
                validate_data(self, X, reset=False, skip_check_array=True)
        with name_places():
            cells = {name: rows.column(k) for k, name in enumerate(rows.features)}
            return self.decider_.decide(as_table(cells))
