"""A tree that decides new cases: the features on a path are bought, the leaf decides.

A leaf decides by the least expected cost, with P(y | leaf) as `tree_growth.smooth` gives it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voilattice.baselines.coding import Coding
from voilattice.baselines.tree_growth import Table, smooth, walk
from voilattice.compiled.arrays import GrownTree
from voilattice.learning.data_tables import DataTable
from voilattice.learning.rivals import Decided, Question, list_paths, price_paths

__all__ = ["TreeDecider"]


@dataclass(frozen=True, slots=True)
class TreeDecider:
    """A tree over codes."""

    question: Question
    coding: Coding
    tree: GrownTree
    shares: Table  # of the classes

    def decide(self, table: DataTable) -> Decided:
        codes = self.coding.codes(table)
        found = [walk(self.tree, codes[:, row]) for row in range(table.n_rows)]
        posterior = smooth(self.tree.counts, self.shares)[[node for node, _ in found]]
        names = self.coding.features
        bought = list_paths([tuple(names[f] for f in path) for _, path in found])
        bills = price_paths(self.question.costs, bought, self.coding.reader.states(table))
        return Decided(self.question.decide(np.asarray(posterior)), posterior, bills, bought)
