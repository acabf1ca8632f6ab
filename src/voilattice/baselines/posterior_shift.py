r"""Selective evidence gathering: the test that is expected to move the posterior most.

The value of a feature is the shift of the target's posterior that its result is expected to bring,

    Shift(i) = Σ_v P(x_i = v | s) ½ Σ_y |P(y | s, x_i = v) - P(y | s)|,

and the next feature is the one with the highest shift for its price. Evidence is gathered one
feature at a time until the diagnosis is certain enough: until the posterior passes a threshold.
Here that is EMC(s) <= τ, the expected misclassification cost of the best decision. If all mistakes
cost c and there are as many decisions as classes, EMC(s) = c (1 - max_y P(y | s)), so this is the
threshold on the posterior; with other costs it is the threshold at which acting is safe enough.
Gathering also ends when no feature shifts the posterior by more than σ for each unit of money. The
method leaves its thresholds to the user: they are chosen by cross-validated total cost (`walks`).
The belief network is a tree-augmented naive Bayes (`class_forests`).

Van der Gaag, Wessels, "Selective evidence gathering for diagnostic belief networks", AISB Quarterly
86, 1993.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.baselines.class_forests import ClassForest
from voilattice.baselines.interface import Baseline
from voilattice.baselines.walks import Offer, Walker, code_cases, divide_by_prices, learn_walker
from voilattice.learning.data_tables import DataTable
from voilattice.learning.recipes import Recipe
from voilattice.learning.rivals import Decider, Question

__all__ = ["PosteriorShift", "expected_shifts"]

RECIPE = Recipe(structure="tree", max_bins=4)

Codes = NDArray[np.intp]
Table = NDArray[np.float64]


class PosteriorShift(Baseline):
    """Buy what shifts the posterior most for its price: van der Gaag, Wessels (1993)."""

    name = "posterior shift"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        def learn(inside: DataTable) -> Walker | None:
            if (found := code_cases(inside, question, RECIPE)) is None:
                return None
            coding, cases = found
            return Walker(question, coding, _Chooser(ClassForest.fit(cases, RECIPE)))

        return learn_walker(table, question, seed, learn, is_tuned=True)


@dataclass(frozen=True, slots=True)
class _Chooser:
    model: ClassForest

    def offer(self, states: Codes, prices: Table) -> Offer:
        posterior, shifts = expected_shifts(self.model, states)
        return Offer(*divide_by_prices(shifts, prices), posterior)


def expected_shifts(model: ClassForest, states: Codes) -> tuple[Table, Table]:
    """Return P(y | s) as [row, class], and Shift(i) as [row, feature]."""
    posterior, joints = model.joints(states)
    shifts = [
        # P(v | s) |P(y | s, v) - P(y | s)| = |P(y, v | s) - P(v | s) P(y | s)|
        np.abs(joint - joint.sum(axis=1, keepdims=True) * posterior[:, :, None]).sum(axis=(1, 2))
        for joint in joints
    ]
    return posterior, np.stack(shifts, axis=1) / 2
