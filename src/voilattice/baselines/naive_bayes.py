r"""Test-cost sensitive naive Bayes, with its sequential strategy (csNB).

Naive Bayes with Laplace's correction gives P(y | s) and P(x_i | s) for every set s of features that
are known. A feature is worth what it takes off the expected misclassification cost, less its price:

    Util(i) = EMC(s) - Σ_v P(x_i = v | s) EMC(s, x_i = v) - C_i.

The feature of highest utility is bought as long as that is positive. Then the case is decided by
least expected cost. So csNB looks one feature ahead.

Chai, Deng, Yang, Ling, "Test-cost sensitive naive Bayes classification", ICDM 2004. Yang, Ling,
Chai, Pan, "Test-cost sensitive classification on data with missing values", IEEE Transactions on
Knowledge and Data Engineering 18(5), 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.baselines.class_forests import ClassForest
from voilattice.baselines.interface import Baseline
from voilattice.baselines.walks import (
    LEAST_GAIN,
    NOTHING,
    Offer,
    StopRule,
    Walker,
    code_cases,
    learn_walker,
)
from voilattice.learning.data_tables import DataTable
from voilattice.learning.recipes import NAMED
from voilattice.learning.rivals import Decider, Question
from voilattice.model.stakes import CostMatrix

__all__ = ["CostSensitiveNaiveBayes"]

Codes = NDArray[np.intp]
Table = NDArray[np.float64]


class CostSensitiveNaiveBayes(Baseline):
    """Buy the feature of highest utility while there is one: Chai, Deng, Yang, Ling (2004)."""

    name = "csNB"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        def learn(inside: DataTable) -> Walker | None:
            if (found := code_cases(inside, question, NAMED["naive"])) is None:
                return None
            coding, cases = found
            chooser = _Chooser(ClassForest.fit(cases, NAMED["naive"]), question.cost)
            return Walker(question, coding, chooser, StopRule(LEAST_GAIN))

        return learn_walker(table, question, seed, learn, is_tuned=False)


@dataclass(frozen=True, slots=True)
class _Chooser:
    model: ClassForest
    cost: CostMatrix

    def offer(self, states: Codes, prices: Table) -> Offer:
        posterior, joints = self.model.joints(states)
        emc = (posterior @ self.cost.T).min(axis=1)
        # [row, decision, state] of each feature: the least over the decisions, over all states
        after = [(self.cost @ joint).min(axis=1).sum(axis=1) for joint in joints]
        utility = emc[:, None] - np.stack(after, axis=1) - prices
        feature = utility.argmax(axis=1)
        worth = utility.max(axis=1)  # minus infinity where nothing can be bought
        return Offer(np.where(np.isfinite(worth), feature, NOTHING), worth, posterior)
