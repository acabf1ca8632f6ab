"""What people use: deciding at once, trees of scikit-learn, logistic regression, gradient boosting.

They are the rivals of `voilattice.learning.rivals` under the verbs of a baseline. A classifier buys
all features together, or the cheapest ones that a quarter or a half of the price of all features
buys. The tree of scikit-learn (CART) is cut back by cross-validation, either by accuracy, as most
people do, or by total cost. Everybody decides by the least expected cost.
"""

from __future__ import annotations

from typing import Any, ClassVar

from voilattice.baselines.interface import Baseline
from voilattice.learning.data_tables import DataTable
from voilattice.learning.rivals import (
    AtOnce,
    Classifier,
    Decider,
    PrunedTree,
    Question,
    gradient_boosting,
    logistic_regression,
)
from voilattice.model.costs import price_set

__all__ = [
    "AccuracyTree",
    "BoostingHalf",
    "BoostingQuarter",
    "CostTree",
    "DecideAtOnce",
    "GradientBoosting",
    "LogisticHalf",
    "LogisticQuarter",
    "LogisticRegression",
]


class DecideAtOnce(Baseline):
    """Buy nothing."""

    name = "at once"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        return AtOnce().learn(table, question, seed)


class AccuracyTree(Baseline):
    """CART, pruned by accuracy."""

    name = "tree by accuracy"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        return PrunedTree(is_by_accuracy=True).learn(table, question, seed)


class CostTree(Baseline):
    """CART, pruned by total cost."""

    name = "tree by cost"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        return PrunedTree().learn(table, question, seed)


class _Bought(Baseline):
    """A classifier with the features that a share of the price of all features buys."""

    share: ClassVar[float | None] = None  # None: all features

    @staticmethod
    def make(seed: int) -> Any:
        """Return a classifier of scikit-learn that has learned nothing yet."""
        raise NotImplementedError

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        total = price_set(question.costs, frozenset(question.features), {})
        budget = None if self.share is None else self.share * total
        return Classifier(self.name, self.make, budget).learn(table, question, seed)


class LogisticRegression(_Bought):
    """Logistic regression on all features."""

    name = "logistic regression"
    make = staticmethod(logistic_regression)


class LogisticQuarter(LogisticRegression):
    """Logistic regression on what a quarter of the price buys."""

    name = "logistic regression 1/4"
    share = 0.25


class LogisticHalf(LogisticRegression):
    """Logistic regression on what half of the price buys."""

    name = "logistic regression 1/2"
    share = 0.5


class GradientBoosting(_Bought):
    """Boosted trees on all features."""

    name = "gradient boosting"
    make = staticmethod(gradient_boosting)


class BoostingQuarter(GradientBoosting):
    """Boosted trees on what a quarter of the price buys."""

    name = "gradient boosting 1/4"
    share = 0.25


class BoostingHalf(GradientBoosting):
    """Boosted trees on what half of the price buys."""

    name = "gradient boosting 1/2"
    share = 0.5
