r"""The tree of minimal costs: a feature is tested where that lowers the total cost.

Papers: C. X. Ling, Q. Yang, J. Wang, S. Zhang, Decision trees with minimal costs, ICML 2004;
Q. Yang, C. Ling, X. Chai, R. Pan, Test-cost sensitive classification on data with missing values,
TKDE 18 (2006).

A leaf with n_j cases of class j costs the least that one decision i for all of them costs,

    L(n) = min_i Σ_j n_j c_ij.

A test of a feature of price C takes the cases apart by its values v. The cases with a missing cell
stay, and pay nothing. It lowers the cost by

    L(n) - L(n_missing) - Σ_v L(n_v) - C Σ_v |n_v|.

The feature that lowers it most is tested, and the same is done below, until no feature lowers it.
A new case buys what the tree tests, one feature after another (the sequential test strategy), and
is decided where a value is missing or no case had it.

Numbers are cut by Fayyad and Irani's method before, as in the papers. C is the price now, so a
feature is cheaper below a feature that it shares costs with.

Departure: the counts of a leaf are smoothed by the shares of the classes (`tree_growth.smooth`), in
L and where new cases are decided. Without that, small leaves look certain and the tree buys too
much.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from voilattice.baselines.coding import Coding, code_by_bins
from voilattice.baselines.interface import Baseline
from voilattice.baselines.tree_decider import TreeDecider
from voilattice.baselines.tree_growth import Rows, Table, smooth
from voilattice.compiled.arrays import CodedCases, GrownTree
from voilattice.learning.data_tables import DataTable
from voilattice.learning.discretization import bin_labels
from voilattice.learning.rivals import Decider, Question
from voilattice.model.costs import price_set
from voilattice.ties import tolerance

__all__ = ["MinimalCostTree"]


class MinimalCostTree(Baseline):
    """The tree of Ling, Yang, Wang and Zhang."""

    name = "minimal cost tree"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        coding = code_by_bins(table, question)
        cases = coding.cases(table, question, is_ranked=False)
        shares = np.bincount(cases.classes, minlength=cases.n_classes) / table.n_rows
        grower = _Grower(question, coding, cases, shares)
        grower.add_node(np.arange(table.n_rows, dtype=np.int32), {})
        return TreeDecider(question, coding, grower.finish(), shares)


@dataclass(slots=True)
class _Grower:
    question: Question
    coding: Coding
    cases: CodedCases
    shares: Table
    nodes: list[tuple[int, int]] = field(default_factory=list)  # the feature, the first branch
    counts: list[NDArray[np.intp]] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)

    def add_node(self, rows: Rows, evidence: dict[str, str]) -> int:
        """Add what is grown from some rows, and return its number."""
        node = len(self.nodes)
        self.nodes.append((-1, -1))
        self.counts.append(self._count(rows))
        if (f := self._choose_test(rows, evidence)) is None:
            return node
        name, n_values = self.coding.features[f], int(self.cases.n_values[f])
        first = len(self.branches)
        self.nodes[node] = f, first
        self.branches.extend([-1] * n_values)
        codes = self.cases.codes[f, rows]
        for code in range(n_values):
            if (inside := rows[codes == code]).size:
                known = evidence | {name: self._state(f, code)}
                self.branches[first + code] = self.add_node(inside, known)
        return node

    def finish(self) -> GrownTree:
        """Return the tree; a case with a missing cell is decided where it is."""
        feature, first = np.array(self.nodes, dtype=np.int32).T
        nowhere = np.full(len(feature), -1, dtype=np.int32)
        branches = np.array(self.branches, dtype=np.int32)
        counts = np.array(self.counts, dtype=np.int64)
        return GrownTree(feature, nowhere, first, nowhere, branches, counts)

    def _choose_test(self, rows: Rows, evidence: dict[str, str]) -> int | None:
        """Return the feature that lowers the cost most; None: no feature lowers it."""
        here = self._leaf_cost(self._count(rows)[None])
        best, chosen = tolerance(here), None
        for f, name in enumerate(self.coding.features):
            codes = self.cases.codes[f, rows]
            if name in evidence or not (n_there := int((codes >= 0).sum())):
                continue
            # The last row is that of the missing cells, whose code is -1.
            table = np.zeros((self.cases.n_values[f] + 1, self.cases.n_classes), dtype=np.intp)
            np.add.at(table, (codes, self.cases.classes[rows]), 1)
            price = price_set(self.question.costs, frozenset({name}), evidence)
            lowered = here - self._leaf_cost(table) - price * n_there
            if lowered > best + tolerance(here):
                best, chosen = lowered, f
        return chosen

    def _leaf_cost(self, counts: NDArray[np.intp]) -> float:
        """Return the sum of L over some leaves."""
        risk = smooth(counts, self.shares) @ self.question.cost.T
        return float(counts.sum(axis=1) @ risk.min(axis=1))

    def _count(self, rows: Rows) -> NDArray[np.intp]:
        return np.bincount(self.cases.classes[rows], minlength=self.cases.n_classes)

    def _state(self, f: int, code: int) -> str:
        """Return a value as evidence, for prices that depend on values."""
        name = self.coding.features[f]
        if name in self.coding.cuts:
            return bin_labels(self.coding.cuts[name])[code]
        return self.coding.reader.levels[name][code]
