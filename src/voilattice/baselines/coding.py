"""Tables as small whole numbers: what the trees of the baselines look at.

The code of a number says between which *cuts* it lies, that of a category which one it is. With a
cut between each two neighbours, codes are ranks and nothing is lost. A cell that is missing has the
code -1, and so has a category that was not in the table to learn from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import CodedCases
from voilattice.learning.data_tables import DataTable
from voilattice.learning.discretization import bins_of, frequency_cuts, mdl_cuts, middle
from voilattice.learning.encoders import CellReader
from voilattice.learning.rivals import Question

__all__ = ["Coding", "code_by_bins", "code_by_rank", "code_by_thresholds"]

Codes = NDArray[np.int32]  # [feature, case]
Classes = NDArray[np.intp]
Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coding:
    """How the cells of some features become codes."""

    reader: CellReader
    cuts: Mapping[str, Sequence[float]]  # of the features that hold numbers

    @property
    def features(self) -> tuple[str, ...]:
        return self.reader.features

    def codes(self, table: DataTable) -> Codes:
        """Return the codes of a table: [feature, case]."""
        found = np.empty((len(self.features), table.n_rows), dtype=np.int32)
        for k, name in enumerate(self.features):
            cells = self.reader.column(table, name)
            if name in self.cuts:
                found[k] = np.where(np.isnan(cells), -1, bins_of(cells, self.cuts[name]))
            else:
                found[k] = np.where(np.isnan(cells), -1, cells)
        return found

    def cases(self, table: DataTable, question: Question, *, is_ranked: bool = True) -> CodedCases:
        """Return a table whose rows all have a class, as the trees take it.

        Parameters
        ----------
        is_ranked
            Numbers are compared with a threshold; otherwise each code has its own branch.
        """
        n_values = [
            len(self.cuts[name]) + 1 if name in self.cuts else len(self.reader.levels[name])
            for name in self.features
        ]
        n = np.arange(table.n_rows + 1, dtype=np.float64)
        return CodedCases(
            self.codes(table),
            question.classes_of(table).astype(np.int32),
            np.array(n_values, dtype=np.int64),
            np.array([is_ranked and name in self.cuts for name in self.features], dtype=np.bool_),
            n * np.log2(np.maximum(n, 1.0)),
            len(question.classes),
        )


def code_by_rank(table: DataTable, question: Question) -> Coding:
    """Return a coding that tells all numbers of a table apart."""

    def cut(values: Table, classes: Classes) -> list[float]:
        different = np.unique(values)
        return [middle(low, high) for low, high in pairwise(different)]

    return _fit(table, question, cut)


def code_by_bins(table: DataTable, question: Question) -> Coding:
    """Return a coding with the bins of Fayyad and Irani."""
    return _fit(table, question, mdl_cuts)


def code_by_thresholds(table: DataTable, question: Question, max_bins: int) -> Coding:
    """Return a coding with the cuts that tell most about the class, and with quarters."""

    def cut(values: Table, classes: Classes) -> list[float]:
        found = {*mdl_cuts(values, classes, max_bins=max_bins), *frequency_cuts(values, 4)}
        return sorted(found)

    return _fit(table, question, cut)


def _fit(
    table: DataTable, question: Question, cut: Callable[[Table, Classes], list[float]]
) -> Coding:
    """Return a coding with these cuts; a number without any is left out."""
    classes = question.classes_of(table)
    reader = CellReader.fit(table, question.usable(table), question.numeric)
    cuts = {}
    for name in reader.features:
        if name not in reader.levels:
            values = reader.column(table, name)
            there = ~np.isnan(values)
            cuts[name] = cut(values[there], classes[there])
    features = tuple(name for name in reader.features if cuts.get(name, True))
    return Coding(CellReader(features, reader.levels), {name: c for name, c in cuts.items() if c})
