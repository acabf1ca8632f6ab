from functools import cache

import numpy as np
import pytest
from helpers.baselines import EIGHT, ask, code_table, draw_codes

from voilattice import Discount, FeatureCosts, Group
from voilattice.baselines.systematic_search import RECIPE, Search, SystematicSearch
from voilattice.baselines.walks import NOTHING, UNKNOWN, Prices, code_cases


def make_search(columns, costs, stakes, **settings):
    table, question = ask(columns, costs, stakes)
    coding, cases = code_cases(table, question, RECIPE)
    codes = np.stack([cases.codes[name] for name in coding.features], axis=1)
    prices = Prices(question.costs, coding)
    classes = cases.codes["y"]
    search = Search(codes, classes, coding.n_states, question.cost, prices, **settings)
    return search, codes, classes, coding, question


def best_value(codes, classes, coding, question):
    """The value of the best policy, by trying every test at every state."""
    prices = Prices(question.costs, coding)
    n_classes = len(question.classes)

    def shares(rows):
        counts = np.bincount(classes[rows if rows.any() else ~rows], minlength=n_classes)
        return (counts + 1) / (counts.sum() + n_classes)

    @cache
    def value(state):
        known = np.array(state)
        rows = ((known < 0) | (codes == known)).all(axis=1)
        least = (question.cost @ shares(rows)).min()
        price = prices.at(known[None])[0]
        for k in np.flatnonzero(np.isfinite(price)):
            n = np.array([(rows & (codes[:, k] == v)).sum() for v in range(coding.n_states[k])])
            p = (n + 1) / (n.sum() + len(n))
            below = [value((*state[:k], v, *state[k + 1 :])) for v in range(len(n))]
            least = min(least, price[k] + p @ below)
        return least

    return value((UNKNOWN,) * codes.shape[1])


@pytest.mark.parametrize(("price", "is_bought"), [(9.99, True), (10.01, False)])
def test_a_test_is_bought_below_its_gain(price, is_bought):
    """By hand: EMC is 30; each result has P = (4 + 1) / 10, and leaves EMC = 60 / 3."""
    search, *_ = make_search(EIGHT, {"test": price}, ("symmetric", 30.0), is_pruned=False)
    root = search.find(np.array([UNKNOWN]))
    assert root.choice == (0 if is_bought else NOTHING)
    assert root.upper == pytest.approx(20 + price if is_bought else 30)


@pytest.mark.parametrize(("copies", "is_bought"), [(1, False), (10, True)])
def test_few_cases_prove_nothing(copies, is_bought):
    """Eight cases: the cost of deciding is 30 plus or minus 1.96 · 30 / √8 = 21, 21 is inside.

    Eighty: plus or minus 6.6, and the test leaves about 16.
    """
    columns = {name: column * copies for name, column in EIGHT.items()}
    search, *_ = make_search(columns, {"test": 1}, ("symmetric", 30.0))
    assert search.find(np.array([UNKNOWN])).choice == (0 if is_bought else NOTHING)


COSTS = {
    "prices": FeatureCosts({"a": 1.0, "b": 2.0, "c": 0.5, "d": 0.0}),
    "groups": FeatureCosts(
        {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.2}, (Group("g", 1.5, ("a", "c")),)
    ),
    "discounts": FeatureCosts(
        {"a": 2.0, "b": 1.5, "c": 0.5, "d": 1.0}, discounts=(Discount("g", {"a": 1.5, "b": 1.5}),)
    ),
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("costs", COSTS)
def test_without_pruning_the_policy_is_the_best_of_all(costs, seed):
    rng = np.random.default_rng(seed)
    codes, classes = draw_codes(rng, 25, [2, 3, 2, 2], 2 + seed % 2, missing=0.05 * (seed % 3))
    columns = code_table(codes, classes)
    stakes = ("symmetric", float(rng.choice([3.0, 10.0, 40.0])))
    search, *case = make_search(columns, COSTS[costs], stakes, is_pruned=False)
    root = search.find(np.full(4, UNKNOWN))
    best = best_value(*case)
    assert root.upper == pytest.approx(best)
    assert root.lower == pytest.approx(best)


def test_a_limit_of_work_leaves_a_policy_between_the_bounds():
    rng = np.random.default_rng(0)
    codes, classes = draw_codes(rng, 60, [3, 3, 2, 2])
    columns = code_table(codes, classes)
    values = []
    for limit in (0, 1, 3, 10, 1000):
        search, *case = make_search(
            columns, COSTS["prices"], ("symmetric", 20.0), is_pruned=False, max_states=limit
        )
        root = search.find(np.full(4, UNKNOWN))
        assert root.lower - 1e-9 <= best_value(*case) <= root.upper + 1e-9
        values.append(root.upper)
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1]


def test_after_a_missing_cell_the_rest_is_searched():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    told = [np.where(rng.random(300) < p, 1 - y, y).astype(str) for p in (0.02, 0.06)]
    columns = {"y": y.astype(str), "a": told[0], "b": told[1]}
    table, question = ask(columns, {"a": 1, "b": 2}, ("symmetric", 50.0))
    learned = SystematicSearch().learn(table, question, 0)
    new, _ = ask({**columns, "a": [None, *told[0][1:]]}, {"a": 1, "b": 2}, ("symmetric", 50.0))
    found = learned.decide(new)
    assert found.bought[0] == ("b",)
    assert {path[0] for path in found.bought[1:].tolist()} == {"a"}
