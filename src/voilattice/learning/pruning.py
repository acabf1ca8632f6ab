"""The pruned trees of a decision tree, all at once (minimal cost-complexity pruning).

A tree T with |T| leaves and the impurity R(T) of its leaves is best at the price a of a leaf if it
has the least R(T) + a |T|. An inner node t with the branch T_t below it becomes a leaf at

    g(t) = (R(t) - R(T_t)) / (|T_t| - 1),

the node with the least g(t) first, after which the g of the nodes above it are others (Breiman et
al. 1984). The trees that are best at some price are nested. So one walk from the leaves to the root
tells for each node from which price on it is a leaf, and no tree is grown twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["leaf_prices", "leaves_above"]

Table = NDArray[np.float64]
Codes = NDArray[np.intp]


def leaf_prices(tree: Any) -> Table:
    """Return from which price of a leaf on each node is one: leaves -inf, the root at last.

    Parameters
    ----------
    tree
        The `tree_` of a scikit-learn tree that is not pruned. Its nodes are in preorder.
    """
    left, right = tree.children_left, tree.children_right
    inner = np.flatnonzero(left >= 0)
    parent = np.full(tree.node_count, -1)
    parent[left[inner]] = parent[right[inner]] = inner
    impurity = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    branch = impurity.copy()  # R(T_t)
    n_leaves = np.ones(tree.node_count)
    after = np.arange(1, tree.node_count + 1)  # the first node that is not below
    for t in inner[::-1].tolist():
        branch[t] = branch[left[t]] + branch[right[t]]
        n_leaves[t] = n_leaves[left[t]] + n_leaves[right[t]]
        after[t] = after[right[t]]
    g = np.full(tree.node_count, np.inf)
    g[inner] = (impurity[inner] - branch[inner]) / (n_leaves[inner] - 1)
    prices = np.where(left >= 0, np.inf, -np.inf)
    price = -np.inf
    for _ in range(len(inner)):
        t = int(g.argmin())
        if g[t] == np.inf:
            break
        price = max(price, float(g[t]))
        prices[t] = price
        less, fewer = branch[t] - impurity[t], n_leaves[t] - 1
        g[t : after[t]] = np.inf
        while (t := parent[t]) >= 0:
            branch[t] -= less
            n_leaves[t] -= fewer
            g[t] = (impurity[t] - branch[t]) / (n_leaves[t] - 1)
    return prices


def leaves_above(tree: Any, is_leaf: NDArray[np.bool_]) -> Codes:
    """Return for each node the highest leaf on the way to it; itself if there is none."""
    above = np.arange(tree.node_count)
    for t in np.flatnonzero(tree.children_left >= 0).tolist():  # parents come first
        if is_leaf[above[t]]:
            above[tree.children_left[t]] = above[tree.children_right[t]] = above[t]
    return above
