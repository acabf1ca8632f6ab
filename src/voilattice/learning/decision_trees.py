r"""A decision tree as a network: the target below the features that a pruned tree tests.

Some targets follow from a few features through sharp thresholds and exceptions. Tables of pairs
cannot say this, but a decision tree can. A tree is grown (CART, by scikit-learn) and pruned: the
weight of its size (minimal cost-complexity pruning) is the one with the best log loss in
cross-validation. Then it becomes an ordinary network:

- *Bins.* The thresholds of the tree cut its columns of numbers. Values that the tree never tells
  apart are one state. The tree sees the ranks of the values, because it keeps numbers in single
  precision, which would make neighbours of large numbers equal.
- *The target.* Each combination of states of the tested features falls into one leaf, and
  P(y | leaf) becomes a row of the table. Few cases reach some leaves, so a node's probabilities are
  drawn towards those of the node above it:

      p(node) = (n(node) + s p(above)) / (|n(node)| + s).

- *The features.* The tested features make a forest (`augmented`); their tables are counted. A
  feature that the tree does not test stands alone: it tells nothing.

So every policy, bound and optimum works on a tree, and the policy may ask in another order than the
tree, or stop earlier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voilattice.learning.augmented import Table, plain_forest
from voilattice.learning.cells import Codes
from voilattice.learning.discretization import middle
from voilattice.learning.preparation import Prepared
from voilattice.learning.pruning import leaf_prices, leaves_above

__all__ = ["TreeNetwork", "grow_tree_network"]

MAX_ROWS = 20_000  # of the target's table
N_FOLDS = 5
N_SIZES = 12  # pruned trees that are compared
LEAST_LEAF = 1e-6  # of a class, in the log loss


@dataclass(frozen=True, slots=True)
class TreeNetwork:
    """The cases with the bins of a tree, the arcs of its network, and P(y | tested features)."""

    cases: Prepared
    parents: tuple[tuple[int, ...], ...]  # of each node, by its place among the cases' columns
    target_table: Table  # an axis for each parent of the target, in order, the target last


def grow_tree_network(cases: Prepared, smoothing: float) -> TreeNetwork:
    """Return the network of a pruned decision tree.

    Parameters
    ----------
    smoothing
        s above: for how many cases the node above counts.
    """
    tested, tree = cases.features, _Tree(cases, cases.features, smoothing)
    # A tree over fewer features may cut these more finely, so it is looked at again.
    while (chosen := tree.choose_features()) != tested:
        tested, tree = chosen, _Tree(cases, chosen, smoothing)
    cases = cases.recut({name: tree.cuts(name) for name in tested if name in cases.cuts})
    columns = list(cases.states)
    places = [columns.index(name) for name in tested]
    sizes = [len(cases.states[name]) for name in tested]
    nothing = np.zeros(cases.n_rows, dtype=np.intp)
    forest = plain_forest(sizes, [cases.codes[n] for n in tested], nothing, 1, cases.row_weights)
    parents: list[tuple[int, ...]] = [()] * len(columns)
    for place, above in zip(places, forest, strict=True):
        parents[place] = () if above < 0 else (places[above],)
    order = sorted(range(len(tested)), key=lambda k: places[k])
    parents[columns.index(cases.target)] = tuple(places[k] for k in order)
    return TreeNetwork(cases, tuple(parents), tree.table(cases, [tested[k] for k in order]))


class _Tree:
    """A pruned tree over some columns: numbers as they are, a column of 0 and 1 for each name."""

    def __init__(self, cases: Prepared, names: Sequence[str], smoothing: float) -> None:
        self._cases, self._names, self._smoothing = cases, list(names), smoothing
        self._owners: list[tuple[str, int | None]] = []  # of each column, with the state of a name
        self._different: dict[str, Table] = {}  # the values of a column of numbers, ascending
        columns = []
        for name in names:
            if name in cases.cuts:
                self._different[name], ranks = _rank(cases.values[name])
                self._owners.append((name, None))
                columns.append(ranks)
                continue
            for state in [1] if self._n_states(name) == 2 else range(self._n_states(name)):
                self._owners.append((name, state))
                columns.append((cases.codes[name] == state).astype(np.float64))
        self._x = np.stack(columns, axis=1) if columns else np.zeros((cases.n_rows, 0))
        self._y = cases.codes[cases.target]
        self._tree = _prune(self._x, self._y, cases.weights) if columns else None

    def choose_features(self) -> list[str]:
        """Return the features that the tree tests, the most important first, while they fit."""
        if self._tree is None:
            return []
        importance = dict.fromkeys(self._names, 0.0)
        for (name, _), share in zip(self._owners, self._tree.feature_importances_, strict=True):
            importance[name] += float(share)
        chosen, rows = [], 1
        for name in sorted(self._names, key=lambda name: -importance[name]):
            size = len(self.cuts(name)) + 1 if name in self._cases.cuts else self._n_states(name)
            if importance[name] > 0 and rows * size <= MAX_ROWS:
                chosen.append(name)
                rows *= size
        return [name for name in self._names if name in chosen]

    def cuts(self, name: str) -> tuple[float, ...]:
        """Return the thresholds of a column of numbers; its own cuts if the tree has none."""
        if self._tree is None:
            return self._cases.cuts[name]
        column = self._owners.index((name, None))
        tree, values = self._tree.tree_, self._different[name]
        ranks = sorted({math.ceil(rank) for rank in tree.threshold[tree.feature == column]})
        return tuple(middle(values[r - 1], values[r]) for r in ranks) or self._cases.cuts[name]

    def table(self, cases: Prepared, order: Sequence[str]) -> Table:
        """Return P(y | states of the tested features), the target last."""
        n_classes = len(cases.states[cases.target])
        sizes = [len(cases.states[name]) for name in order]
        if self._tree is None or not order:
            n = np.bincount(self._y, cases.weights, n_classes) + 1.0
            return np.asarray(n / n.sum())
        grid = np.indices(sizes).reshape(len(sizes), -1)
        x = np.empty((grid.shape[1], len(self._owners)))
        for k, (name, state) in enumerate(self._owners):
            codes = grid[order.index(name)]
            if state is None:
                # A bin of the tree has no threshold inside, so its lowest value will do.
                first = np.searchsorted(self._different[name], cases.cuts[name])
                x[:, k] = np.array([-math.inf, *first])[codes]
            else:
                x[:, k] = codes == state
        return self._probabilities(n_classes)[self._leaves(x)].reshape(*sizes, n_classes)

    def _leaves(self, x: Table) -> Codes:
        """Return the leaf of each row; thresholds lie between ranks."""
        assert self._tree is not None
        tree = self._tree.tree_
        at = np.zeros(len(x), dtype=np.intp)
        while (inner := tree.children_left[at] >= 0).any():
            below = x[np.arange(len(x)), np.maximum(tree.feature[at], 0)] < tree.threshold[at]
            child = np.where(below, tree.children_left[at], tree.children_right[at])
            at = np.where(inner, child, at)
        return at

    def _probabilities(self, n_classes: int) -> Table:
        """Return the classes' probabilities at each node of the tree."""
        assert self._tree is not None
        tree = self._tree.tree_
        weights = self._cases.weights
        counts = np.zeros((tree.node_count, n_classes))
        np.add.at(counts, (self._leaves(self._x), self._y), 1.0 if weights is None else weights)
        found = np.empty_like(counts)
        s = max(self._smoothing, 1e-9)
        for node in reversed(range(tree.node_count)):  # children have larger numbers
            if tree.children_left[node] >= 0:
                counts[node] += counts[tree.children_left[node]] + counts[tree.children_right[node]]
        found[0] = (counts[0] + s / n_classes) / (counts[0].sum() + s)
        for node in range(tree.node_count):
            for child in (tree.children_left[node], tree.children_right[node]):
                if child >= 0:
                    found[child] = (counts[child] + s * found[node]) / (counts[child].sum() + s)
        return found

    def _n_states(self, name: str) -> int:
        return len(self._cases.states[name])


def _rank(values: Table) -> tuple[Table, Table]:
    """Return the different values, and the rank of each one; a missing one has the middle rank."""
    there = ~np.isnan(values)
    different, inverse = np.unique(values[there], return_inverse=True)
    ranks = np.full(len(values), np.floor(np.median(inverse)))
    ranks[there] = inverse
    return different, ranks


def _prune(x: Table, y: Codes, weights: Table | None) -> Any:
    """Return the tree whose size has the best log loss in cross-validation."""
    from sklearn.tree import DecisionTreeClassifier

    def grow(alpha: float, rows: Codes) -> Any:
        w = None if weights is None else weights[rows]
        return DecisionTreeClassifier(ccp_alpha=alpha, random_state=0).fit(x[rows], y[rows], w)

    everything = np.arange(len(y))
    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(x, y, weights)
    alphas = np.unique(np.quantile(np.maximum(path.ccp_alphas, 0), np.linspace(0, 1, N_SIZES)))
    folds = np.random.default_rng(0).permutation(len(y)) % min(N_FOLDS, len(y))
    losses = np.zeros(len(alphas))
    for fold in range(folds.max() + 1):
        inside, outside = everything[folds != fold], everything[folds == fold]
        w = None if weights is None else weights[outside]
        losses += _losses(grow(0.0, inside), alphas, x[outside], y[outside], w)
    best = np.flatnonzero(losses <= losses.min() * (1 + 1e-9))[-1]  # the smallest of equal trees
    return grow(float(alphas[best]), everything)


def _losses(tree: Any, alphas: Table, x: Table, y: Codes, weights: Table | None) -> Table:
    """Return the log loss of a tree pruned at each alpha; a leaf counts one case more a class."""
    counts = tree.tree_.value[:, 0, :] * tree.tree_.weighted_n_node_samples[:, None] + 1.0
    p = np.full((len(counts), max(y.max(), tree.classes_.max()) + 1), LEAST_LEAF)
    p[:, tree.classes_] = counts / counts.sum(axis=1, keepdims=True)
    nodes, prices = tree.apply(x), leaf_prices(tree.tree_)
    losses = np.empty(len(alphas))
    for k, alpha in enumerate(alphas):
        # As in scikit-learn, alpha = 0 prunes nothing, not even what costs nothing.
        leaves = leaves_above(tree.tree_, (prices <= alpha) & (alpha > 0))[nodes]
        losses[k] = -np.log(p[leaves, y]) @ (np.ones(len(y)) if weights is None else weights)
    return losses
