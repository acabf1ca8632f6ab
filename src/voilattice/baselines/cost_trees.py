"""EG2, CS-ID3 and IDX: the trees that Turney (1995) compares, grown by information for money.

Papers: M. Núñez, The use of background knowledge in decision tree induction, Machine Learning 6
(1991); M. Tan, Cost-sensitive learning of classification knowledge and its applications in
robotics, Machine Learning 13 (1993); S. W. Norton, Generating better decision trees, IJCAI 1989;
P. D. Turney, Cost-sensitive classification, JAIR 2 (1995), sections 3.2 to 3.4. The criteria and
the pruning are in `tree_growth`. As in Turney's experiments, ω is 1, IDX does not look ahead, EG2
has no hierarchy of values and CS-ID3 grows its whole tree.

Departures, which all favour these trees: a leaf decides by the least expected cost and not by its
most frequent class, its probabilities are smoothed, and the price of a feature that shares its
costs with a known one is the lower one.
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
    find_twin,
    make_bias,
    price_features,
    sort_rows,
)
from voilattice.learning.data_tables import DataTable
from voilattice.learning.rivals import Decider, Question

__all__ = ["CSID3Tree", "EG2Tree", "IDXTree"]


class _CostTree(Baseline):
    kind: ClassVar[int]

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        coding = code_by_rank(table, question)
        cases = coding.cases(table, question)
        bias = make_bias(self.kind, *price_features(question, table, coding.reader))
        twin = find_twin("auto", cases.codes.size)
        order = sort_rows(cases, np.arange(table.n_rows, dtype=np.int32))
        tree = twin.grow(cases, order, bias)
        shares = np.bincount(cases.classes, minlength=cases.n_classes) / table.n_rows
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
