"""The pruned trees are those of scikit-learn, which grows a tree for each."""

import numpy as np
import pytest
from helpers.worlds import some
from sklearn.tree import DecisionTreeClassifier

from voilattice.learning.pruning import leaf_prices, leaves_above


@pytest.mark.parametrize("seed", some(range(120)))
def test_each_pruned_tree_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 400)), int(rng.integers(1, 6))
    x = rng.integers(0, int(rng.integers(2, 60)), (n, d)).astype(float)
    noisy = x.sum(axis=1) + rng.normal(size=n) * x.std()
    y = (noisy > x.sum(axis=1).mean()) + (rng.random(n) < 0.1).astype(int)
    weights = rng.random(n) if seed % 3 == 0 else None
    tree = DecisionTreeClassifier(random_state=0).fit(x, y, weights)
    prices = leaf_prices(tree.tree_)
    new = rng.integers(-1, 61, (200, d)).astype(float)
    # Between the prices of two trees: at a price itself, rounding chooses.
    steps = np.unique(np.maximum(prices[np.isfinite(prices)], 0.0))
    for alpha in [*(steps[1:] + steps[:-1]) / 2, *steps[-1:] + 1.0]:
        wanted = DecisionTreeClassifier(ccp_alpha=alpha, random_state=0).fit(x, y, weights)
        leaves = leaves_above(tree.tree_, prices <= alpha)[tree.apply(new)]
        assert np.array_equal(tree.tree_.value[leaves], wanted.tree_.value[wanted.apply(new)])


def test_the_root_is_the_last_to_become_a_leaf():
    x = np.arange(8.0)[:, None]
    tree = DecisionTreeClassifier(random_state=0).fit(x, [0, 0, 1, 1, 1, 0, 1, 1]).tree_
    prices = leaf_prices(tree)
    inner = tree.children_left >= 0
    assert prices[0] == prices[np.isfinite(prices)].max()
    assert (prices[~inner] == -np.inf).all()


def test_a_tree_of_one_leaf_has_nothing_to_prune():
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1]).tree_
    assert leaf_prices(tree).tolist() == [-np.inf]
    assert leaves_above(tree, np.array([True])).tolist() == [0]
