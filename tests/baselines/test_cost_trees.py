"""EG2, CS-ID3 and IDX as a whole: what they test first, and how far they are cut back."""

import numpy as np
import pytest

from voilattice import ConditionalCost, FeatureCosts
from voilattice.baselines.cost_trees import CSID3Tree, EG2Tree, IDXTree
from voilattice.learning import as_table
from voilattice.learning.evaluation import ask_question

pytestmark = pytest.mark.filterwarnings("ignore::voilattice.errors.DataWarning")
METHODS = (EG2Tree, CSID3Tree, IDXTree)


def learn(method, columns, costs, stakes):
    table = as_table(columns)
    question, _ = ask_question(table, "class", costs, stakes)
    return table, method().learn(table, question, 0)


def draw(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return {
        "good": y + rng.normal(0, noise, n),
        "twin": y + rng.normal(0, noise, n),
        "class": np.array(["a", "b"])[y],
    }


@pytest.mark.parametrize("method", METHODS)
def test_of_two_equal_features_the_cheaper_one_is_bought(method):
    for prices in ({"good": 1.0, "twin": 9.0}, {"good": 9.0, "twin": 1.0}):
        cells = draw(200, 0.2)
        cells["twin"] = cells["good"]
        table, tree = learn(method, cells, prices, ("symmetric", 50.0))
        assert set(tree.decide(table).bought) == {(min(prices, key=lambda name: prices[name]),)}


@pytest.mark.parametrize("method", METHODS)
def test_chance_is_pruned_away(method):
    rng = np.random.default_rng(1)
    cells = {"noise": rng.random(200), "class": np.array(["a", "b"])[rng.integers(0, 2, 200)]}
    table, tree = learn(method, cells, {"noise": 5.0}, ("symmetric", 10.0))
    assert set(tree.decide(table).bought) == {()}


@pytest.mark.parametrize("method", METHODS)
def test_a_price_that_depends_on_values_is_on_the_bill(method):
    """While the tree grows, such a price is an estimate; the bill of each case is exact."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    cells = {
        "first": np.where((rng.random(300) < 0.8) == (y == 1), "yes", "no"),
        "second": y + rng.normal(0, 0.3, 300),
        "class": np.array(["a", "b"])[y],
    }
    costs = FeatureCosts(
        {"first": 1.0, "second": 20.0},
        conditional=(ConditionalCost("second", (("first", "yes"),), 5.0),),
    )
    table, tree = learn(method, cells, costs, ("symmetric", 100.0))
    found = tree.decide(table)
    both = [k for k, path in enumerate(found.bought) if path == ("first", "second")]
    assert both
    for row in both:
        assert found.feature_cost[row] == 1 + (5 if cells["first"][row] == "yes" else 20)
