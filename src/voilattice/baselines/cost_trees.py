"""EG2, CS-ID3 and IDX: the trees that Turney (1995) compares, grown by information for money.

Papers: M. Núñez, The use of background knowledge in decision tree induction, Machine Learning 6
(1991); M. Tan, Cost-sensitive learning of classification knowledge and its applications in
robotics, Machine Learning 13 (1993); S. W. Norton, Generating better decision trees, IJCAI 1989;
P. D. Turney, Cost-sensitive classification, JAIR 2 (1995), sections 3.2 to 3.4. The criteria and
the pruning are in `tree_growth`. As in Turney's experiments, ω is 1, IDX does not look ahead, EG2
has no hierarchy of values and CS-ID3 grows its whole tree.

Departures, which all favour these trees. The confidence CF of the pruning is chosen by total cost
in cross-validation, from C4.5's own 25 % down to 0: at 25 %, the trees keep branches that are
chance, and cost more than a tree of CART that is cut back by cross-validation. A leaf decides by
the least expected cost and not by its most frequent class, and its probabilities are smoothed. The
price of a feature that shares its costs with a known one is the lower one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from voilattice.baselines.coding import code_by_rank
from voilattice.baselines.interface import Baseline
from voilattice.baselines.tree_decider import TreeDecider
from voilattice.baselines.tree_growth import (
    CS_ID3,
    EG2,
    IDX,
    find_deviations,
    find_twin,
    make_bias,
    price_features,
    sort_rows,
)
from voilattice.compiled.arrays import TreeStakes
from voilattice.learning.data_tables import DataTable
from voilattice.learning.rivals import Decider, Question

__all__ = ["CSID3Tree", "EG2Tree", "IDXTree"]

N_FOLDS = 5
CONFIDENCES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.25)  # of equal costs, the smaller tree


class _CostTree(Baseline):
    kind: ClassVar[int]

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        coding = code_by_rank(table, question)
        cases = coding.cases(table, question)
        prices, after = price_features(question, table, coding.reader)
        shares = np.bincount(cases.classes, minlength=cases.n_classes) / table.n_rows
        stakes = TreeStakes(prices, after, np.ascontiguousarray(question.cost), shares)
        n, n_tried = table.n_rows, len(CONFIDENCES)
        twin = find_twin("auto", cases.codes.size * N_FOLDS * n_tried)
        folds = np.random.default_rng(seed).permutation(n).astype(np.int32)
        folds = folds[: n - n % N_FOLDS].reshape(N_FOLDS, -1)  # a few rows are always learned from
        everything = np.arange(n, dtype=np.int32)
        inside = [sort_rows(cases, np.setdiff1d(everything, fold)) for fold in folds]
        bias = make_bias(self.kind, prices, after)
        confidences = np.array(CONFIDENCES)
        paid = twin.try_biases(
            cases, np.stack(inside), folds, bias, np.tile(prices, (n_tried, 1)), np.ones(n_tried),
            confidences, find_deviations(confidences), stakes,
        )  # fmt: skip
        bias = make_bias(self.kind, prices, after, confidence=CONFIDENCES[int(paid.argmin())])
        tree = twin.grow(cases, sort_rows(cases, everything), bias)
        return TreeDecider(question, coding, tree, shares)


class EG2Tree(_CostTree):
    """Núñez's tree: (2^ΔI - 1) / (C + 1)."""

    name = "EG2"
    kind = EG2


class CSID3Tree(_CostTree):
    """Tan's tree: ΔI² / C."""

    name = "CS-ID3"
    kind = CS_ID3


class IDXTree(_CostTree):
    """Norton's tree: ΔI / C."""

    name = "IDX"
    kind = IDX
