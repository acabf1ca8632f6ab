r"""STreeD: the optimal tree of a small depth for prices and costs of decisions.

Paper: J. G. M. van der Linden, M. M. de Weerdt, E. Demirović, Necessary and sufficient conditions
for optimal decision trees using dynamic programming, NeurIPS 2023; the package pystreed. Among all
trees of at most a depth over features of 0 and 1, STreeD finds the one whose cases in the table
cost least: what is bought on their paths, and c_ij. It pays for an attribute once, whichever of its
bits it looks at, and it knows discounts. Five-fold cross-validation says how many tests the tree
may have.

Cells become bits. A number has a bit for each of some thresholds (those of Fayyad and Irani, and
the quarters), a category a bit for each value. Texts of 0 and 1 after a b, such as b0110, are bits
already: the benchmark of S. Lomax (2013) that comes with STreeD is written like that here. A
missing cell, or an unseen one, has the bits of the usual cell and costs nothing.

STreeD takes it that a case with its own label costs nothing. So the least cost of a class is
subtracted from the costs of its cases, which changes no comparison, and its label stands for a
decision that has this least cost. Each other decision has a label of its own, which no case has.
STreeD counts labels up to the highest that a case has, so those of the classes come last, and
classes without a case have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voilattice.baselines.coding import Coding, code_by_thresholds
from voilattice.baselines.interface import Baseline
from voilattice.baselines.tree_growth import price_features, smooth
from voilattice.extras import need_extra
from voilattice.learning.cells import Codes
from voilattice.learning.data_tables import DataTable
from voilattice.learning.rivals import (
    AtOnce,
    Decided,
    Decider,
    Question,
    list_paths,
    price_paths,
)

__all__ = ["STreeD"]

MAX_WORK = 1_500_000  # rows x bits², up to which trees have depth 4; above, they have 3
MAX_BINS = 8  # of a number, by the cuts that tell most
TIME_LIMIT = 3_600  # far above what a fit takes, so the clock decides nothing
LARGEST = 1_000.0  # amount that STreeD sees; it adds them up, and has an upper bound of 2^31

Bits = NDArray[np.int64]  # [case, bit]
Table = NDArray[np.float64]


class STreeD(Baseline):
    """The optimal tree of depth 4, or 3 for a large table."""

    name = "STreeD"
    depth: ClassVar[int] = 4
    is_tuned: ClassVar[bool] = True  # the number of tests is chosen by cross-validation

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        need_extra("streed", "STreeD")
        from pystreed import CostSpecifier, STreeDCostSensitiveClassifier

        coder = BitCoder.fit(table, question)
        classes = question.classes_of(table)
        there, places = np.unique(classes, return_inverse=True)
        if not len(coder.owners) or len(there) < 2:
            return AtOnce().learn(table, question, seed)
        bits = coder.bits(table)
        prices, after = price_features(question, table, coder.coding.reader)
        scale = LARGEST / max(float(question.cost.max()), float(prices.max()), 1e-300)
        labels, cost = label_decisions(scale * question.cost[:, there])
        is_small = table.n_rows * bits.shape[1] ** 2 <= MAX_WORK
        model = STreeDCostSensitiveClassifier(
            max_depth=self.depth if is_small else min(self.depth, 3),
            hyper_tune=self.is_tuned,
            time_limit=TIME_LIMIT,
        )
        model.fit(
            bits,
            places.reshape(-1) + len(labels) - len(there),
            CostSpecifier(cost.T.tolist(), specify(scale * prices, scale * after, coder.owners)),
        )
        nodes = list_nodes(model.get_tree(), labels)
        tree = BitTree(question, coder, nodes, np.zeros((len(nodes), len(question.classes))))
        counts = np.zeros((len(nodes), len(question.classes)))
        for row, y in zip(bits, classes, strict=True):
            counts[tree.follow(row)[0], y] += 1
        shares = np.bincount(classes, minlength=len(question.classes)) / table.n_rows
        return BitTree(question, coder, nodes, smooth(counts, shares))


@dataclass(frozen=True, slots=True)
class BitCoder:
    """How cells become bits."""

    coding: Coding
    patterns: Sequence[Bits]  # of each feature: [code, bit]
    usual: Sequence[int]  # of each feature: the code that stands for a missing one
    owners: Codes  # the feature of each bit

    @classmethod
    def fit(cls, table: DataTable, question: Question) -> BitCoder:
        coding = code_by_thresholds(table, question, MAX_BINS)
        codes = coding.codes(table)
        patterns: list[Bits] = []
        usual = []
        for k, name in enumerate(coding.features):
            there = codes[k][codes[k] >= 0]
            if name in coding.cuts:
                n = len(coding.cuts[name])
                patterns.append((np.arange(n + 1)[:, None] > np.arange(n)).astype(np.int64))
                usual.append(int(np.median(there)))
            else:
                patterns.append(bits_of_categories(coding.reader.levels[name]))
                usual.append(int(np.bincount(there).argmax()))
        widths = [pattern.shape[1] for pattern in patterns]
        return cls(coding, patterns, usual, np.repeat(np.arange(len(widths)), widths))

    def bits(self, table: DataTable) -> Bits:
        """Return the bits of each case."""
        columns = [
            pattern[np.where(codes < 0, usual, codes)]
            for pattern, usual, codes in zip(
                self.patterns, self.usual, self.coding.codes(table), strict=True
            )
        ]
        return np.concatenate(columns, axis=1)


def bits_of_categories(levels: Sequence[str]) -> Bits:
    """Return the bits of each category.

    >>> bits_of_categories(["b01", "b11"]).tolist()
    [[0, 1], [1, 1]]
    >>> bits_of_categories(["no", "yes"]).tolist()
    [[0], [1]]
    >>> bits_of_categories(["a", "b", "c"]).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    is_written = all(level[:1] == "b" and level[1:] and not set(level[1:]) - {*"01"}
                     for level in levels)  # fmt: skip
    if is_written and len({len(level) for level in levels}) == 1:
        return np.array([[int(bit) for bit in level[1:]] for level in levels])
    n = len(levels)
    return np.arange(n)[:, None] if n == 2 else np.eye(n, dtype=np.int64)


def label_decisions(cost: Table) -> tuple[list[int], Table]:
    """Return the decision of each label, and the costs [label, label of the case].

    The last labels are those of the classes.

    >>> labels, cost = label_decisions(np.array([[2.0, 2], [0, 9], [5, 0]]))
    >>> labels, cost.tolist()
    ([0, 1, 2], [[0.0, 2.0, 2.0], [0.0, 0.0, 9.0], [0.0, 5.0, 0.0]])
    """
    lowered = cost - cost.min(axis=0)
    best = lowered.argmin(axis=0).tolist()
    labels = [decision for decision in range(len(cost)) if decision not in best] + best
    found = np.zeros((len(labels), len(labels)))
    found[:, len(labels) - len(best) :] = lowered[labels]
    return labels, found


def specify(prices: Table, after: Table, owners: Codes) -> list[Any]:
    """Return the prices as STreeD takes them: the full one, the lower one, and who shares it."""
    from pystreed import FeatureCostSpecifier

    lower = np.minimum(after, prices[:, None])
    group = np.arange(len(prices))
    for i, k in np.argwhere(lower < prices[:, None]):
        group[group == group[i]] = group[k]
    found = []
    for k, price in enumerate(prices):
        first, last = np.flatnonzero(owners == k)[[0, -1]]
        name = f"shared {group[k]}"
        found.append(
            FeatureCostSpecifier(float(price), float(lower[k].min()), name, int(first), int(last))
        )
    return found


def list_nodes(root: Any, labels: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Return the nodes: the bit that is tested, the nodes below for 0 and 1, and the decision."""
    nodes: list[tuple[int, int, int, int]] = []

    def add(node: Any) -> int:
        place = len(nodes)
        if node.is_leaf_node():
            nodes.append((-1, -1, -1, labels[int(node.label)]))
        else:
            nodes.append((-1, -1, -1, -1))
            left, right = add(node.left_child), add(node.right_child)
            nodes[place] = (int(node.feature), left, right, -1)
        return place

    add(root)
    return nodes


@dataclass(frozen=True, slots=True)
class BitTree:
    """A tree over bits that decides new cases as STreeD says."""

    question: Question
    coder: BitCoder
    nodes: Sequence[tuple[int, int, int, int]]
    posterior: Table  # of each node

    def follow(self, bits: Bits) -> tuple[int, dict[int, None]]:
        """Return the leaf of a case, and the features that are looked at, in order."""
        place, looked = 0, dict[int, None]()
        while (bit := self.nodes[place][0]) >= 0:
            looked[int(self.coder.owners[bit])] = None
            place = self.nodes[place][2 if bits[bit] else 1]
        return place, looked

    def decide(self, table: DataTable) -> Decided:
        reader = self.coder.coding.reader
        is_there = self.coder.coding.codes(table) >= 0
        leaves, paths = [], []
        for row, bits in enumerate(self.coder.bits(table)):
            leaf, looked = self.follow(bits)
            leaves.append(leaf)
            paths.append(tuple(reader.features[k] for k in looked if is_there[k, row]))
        bought = list_paths(paths)
        bills = price_paths(self.question.costs, bought, reader.states(table))
        decision = np.array([self.nodes[leaf][3] for leaf in leaves], dtype=np.intp)
        return Decided(decision, self.posterior[leaves], bills, bought)
