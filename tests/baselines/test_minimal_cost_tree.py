"""The tree of minimal costs against the definition, and the properties that its authors name."""

import numpy as np
import pytest

from voilattice import FeatureCosts
from voilattice.baselines.minimal_cost_tree import MinimalCostTree
from voilattice.baselines.tree_growth import smooth
from voilattice.learning import as_table
from voilattice.learning.evaluation import ask_question
from voilattice.model.costs import Discount, price_set


def learn(columns, prices, stakes, **costs):
    table = as_table(columns)
    question, _ = ask_question(table, "class", FeatureCosts(prices, **costs), stakes)
    return table, question, MinimalCostTree().learn(table, question, 0)


def noisy(y, share, rng):
    return np.where((rng.random(len(y)) < share) == (y == "a"), "yes", "no")


def draw(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.array(["a", "b"] * (n // 2)))
    return {"good": noisy(y, 0.9, rng), "twin": noisy(y, 0.9, rng), "poor": noisy(y, 0.6, rng),
            "class": y}  # fmt: skip


def test_the_first_test_lowers_the_total_cost_most():
    """L(n) - L(missing) - Σ L(n_v) - C |known|, by hand over all features."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        columns = draw(60, seed)
        columns["poor"] = np.where(rng.random(60) < 0.2, "?", columns["poor"])
        prices = {name: float(rng.integers(1, 12)) for name in ("good", "twin", "poor")}
        table, question, found = learn(columns, prices, ("symmetric", 10.0))
        y = question.classes_of(table)
        shares = np.bincount(y) / 60

        def leaf(rows, y=y, shares=shares, question=question):
            counts = np.bincount(y[rows], minlength=2)
            return counts.sum() * (question.cost @ smooth(counts, shares)).min()

        lowered = {}
        for name, price in prices.items():
            cells = columns[name]
            parts = [leaf(cells == value) for value in np.unique(cells)]
            lowered[name] = leaf(np.ones(60, bool)) - sum(parts) - price * (cells != "?").sum()
        best = max(lowered, key=lambda name: lowered[name])
        first = found.tree.feature[0]
        if lowered[best] > 0:
            assert found.coding.features[first] == best
        else:
            assert first == -1


def test_the_cheaper_of_two_equal_features_is_tested_first():
    """Ling et al. (2004): the cheaper a test, the higher it stands."""
    for cheap, dear in (("good", "twin"), ("twin", "good")):
        columns = draw()
        columns["twin"] = columns["good"]
        table, _, found = learn(columns, {cheap: 1.0, dear: 2.0, "poor": 1.0}, ("symmetric", 20.0))
        assert {path[0] for path in found.decide(table).bought} == {cheap}


def test_tests_that_cost_more_than_errors_are_not_made():
    """Ling et al. (2004): with prices far above the costs of errors, the tree is one leaf."""
    table, _, found = learn(
        draw(), dict.fromkeys(("good", "twin", "poor"), 30.0), ("symmetric", 20.0)
    )
    assert set(found.decide(table).bought) == {()}


def test_higher_stakes_buy_more():
    spent = []
    for emc in (1.0, 20.0, 1000.0):
        table, _, found = learn(draw(), {"good": 4.0, "twin": 4.0, "poor": 1.0}, ("symmetric", emc))
        spent.append(found.decide(table).feature_cost.mean())
    assert spent == sorted(spent)
    assert spent[0] < spent[2]


def test_a_case_is_decided_where_a_value_is_missing():
    _, _, found = learn(draw(), {"good": 1.0, "twin": 1.0, "poor": 9.0}, ("symmetric", 100.0))
    first = found.coding.features[found.tree.feature[0]]
    cells = {name: ["yes"] for name in ("good", "twin", "poor")} | {first: [None]}
    decided = found.decide(as_table(cells))
    assert decided.bought.tolist() == [()]
    assert decided.posterior[0] == pytest.approx([0.5, 0.5])


def test_a_discount_is_part_of_the_price():
    """The second feature is bought only because it is cheaper after the first."""
    off = Discount("visit", {"twin": 9.0})
    prices, stakes = {"good": 1.0, "twin": 9.0, "poor": 9.0}, ("symmetric", 20.0)
    table, _, without = learn(draw(), prices, stakes)
    assert {len(path) for path in without.decide(table).bought} == {1}
    both = Discount("visit", {"good": 0.0, **off.off})
    table, question, found = learn(draw(), prices, stakes, discounts=(both,))
    decided = found.decide(table)
    assert {path for path in decided.bought if len(path) == 2} == {("good", "twin")}
    assert price_set(question.costs, frozenset({"twin"}), {"good": "yes"}) == 0
    assert set(decided.feature_cost) == {1.0}
