"""The optimum against other people's optimisers: pystreed's trees and pyAgrum's diagrams."""

import numpy as np
import pytest
from helpers.influence_diagrams import optimal_cost
from helpers.solving import optimum

from voilattice import FeatureCosts, Network, Problem
from voilattice.model.costs import Discount, Group


@pytest.mark.parametrize("is_group", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_cost_sensitive_trees_of_pystreed(seed, is_group):
    """An empirical distribution as the joint; binary features, a group or a discount."""
    from pystreed import CostSpecifier, FeatureCostSpecifier, STreeDCostSensitiveClassifier

    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(20, 60)), int(rng.integers(3, 6))
    x = rng.integers(0, 2, (n, m))
    noise = rng.random(n) < 0.15
    y = ((x[:, 0] ^ x[:, 1]) | x[:, 2] & noise).astype(int) ^ (rng.random(n) < 0.1)
    prices = rng.integers(1, 9, m).astype(float)
    overhead, group = float(rng.integers(1, 9)), (0, m - 1)
    # In a discount, what the first feature pays in addition differs from feature to feature.
    first = {k: overhead if is_group else float(rng.integers(0, 9)) for k in group}
    cost = np.array([[0, rng.integers(10, 60)], [rng.integers(10, 60), 0]], dtype=float)

    def full_price(k):
        return prices[k] + first.get(k, 0.0)

    specifier = CostSpecifier(
        cost.T.tolist(),  # theirs is [actual][predicted]
        [
            FeatureCostSpecifier(full_price(k), prices[k], "g" if k in group else f"own{k}", k, k)
            for k in range(m)
        ],
    )
    model = STreeDCostSensitiveClassifier(max_depth=m, max_num_nodes=2**m - 1)
    model.fit(x, y, specifier)

    def paid(node, row, label, discount):
        if node.is_leaf_node():
            return cost[int(node.label), label]
        k = node.feature
        price = prices[k] if discount else full_price(k)
        child = node.right_child if row[k] else node.left_child
        return price + paid(child, row, label, discount or k in group)

    tree = model.get_tree()
    theirs = sum(paid(tree, row, label, False) for row, label in zip(x, y, strict=True)) / n

    names = [*(f"x{k}" for k in range(m)), "y"]
    joint = np.zeros((2,) * (m + 1))
    for row, label in zip(x, y, strict=True):
        joint[(*row, label)] += 1 / n
    if is_group:
        groups = (Group("g", overhead, tuple(f"x{k}" for k in group)),)
        costs = FeatureCosts({f"x{k}": prices[k] for k in range(m)}, groups)
    else:
        discounts = (Discount("g", {f"x{k}": off for k, off in first.items()}),)
        costs = FeatureCosts({f"x{k}": full_price(k) for k in range(m)}, discounts=discounts)
    problem = Problem.create(
        Network.from_joint(names, {name: ["0", "1"] for name in names}, joint.reshape(-1).tolist()),
        "y",
        costs,
        cost,
    )
    assert optimum(problem).lower_bound == pytest.approx(theirs, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "seed"), [(3, 0), (3, 1), (3, 2), (4, 0), (4, 1)])
def test_influence_diagrams_of_pyagrum(n, seed):
    rng = np.random.default_rng(seed)
    names = ["Y", *(f"X{k}" for k in range(n))]
    parents, tables = {}, {"Y": rng.dirichlet([2, 2])}
    for k in range(n):
        above = ["Y"] if k == 0 or rng.random() < 0.5 else ["Y", f"X{k - 1}"]
        parents[f"X{k}"] = above
        tables[f"X{k}"] = rng.dirichlet([0.6, 0.6], (2,) * len(above))
    problem = Problem.create(
        Network.from_tables({name: ["0", "1"] for name in names}, parents, tables),
        "Y",
        {f"X{k}": float(rng.integers(1, 6)) for k in range(n)},
        ("asymmetric", 50.0),
    )
    assert optimum(problem).lower_bound == pytest.approx(optimal_cost(problem), abs=1e-9)
