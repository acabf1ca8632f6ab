"""Whatever a table holds: decisions are possible ones, and bills are what was bought costs."""

import numpy as np
import pytest
from helpers.baselines import COSTS, ask, draw_table

from voilattice.baselines import (
    CostSensitiveNaiveBayes,
    FeatureClusters,
    GreedyInformation,
    PosteriorShift,
    SystematicSearch,
)
from voilattice.learning.data_tables import as_table
from voilattice.learning.rivals import price_paths

METHODS = (
    CostSensitiveNaiveBayes,
    SystematicSearch,
    PosteriorShift,
    FeatureClusters,
    GreedyInformation,
)
# With the networks, over 1.5 s.
LONG = (*METHODS[:-1], pytest.param(GreedyInformation, marks=pytest.mark.slow))
OWN = {
    "class 0": {"class 0": 0, "class 1": 30, "class 2": 40},
    "refer": {"class 0": 9, "class 1": 8, "class 2": 7},
}


def new_cases(seed):
    columns = draw_table(seed + 100, 60, 3)
    columns["color"][:5] = "violet"  # was never seen
    columns["whole"][:9] = np.nan  # was never missing
    del columns["y"]
    return as_table(columns)


def check(question, table, found):
    assert found.decision.min() >= 0
    assert found.decision.max() < len(question.decisions)
    assert found.posterior.sum(axis=1) == pytest.approx(1.0)
    assert (found.decision == question.decide(found.posterior)).all()
    states = {}
    for name in question.features:
        raw = table.raw([name])[name]
        states[name] = [None if x is None or x != x or x == "violet" else str(x) for x in raw]  # noqa: PLR0124
    for row, path in enumerate(found.bought.tolist()):
        assert len(set(path)) == len(path)
        assert all(states[name][row] is not None for name in path)
    assert found.feature_cost == pytest.approx(price_paths(question.costs, found.bought, states))


def assert_same(one, other):
    assert (one.decision == other.decision).all()
    assert (one.feature_cost == other.feature_cost).all()
    assert one.bought.tolist() == other.bought.tolist()
    assert one.posterior == pytest.approx(other.posterior)


@pytest.mark.parametrize("method", LONG, ids=lambda m: m.name)
@pytest.mark.parametrize("prices", COSTS)
def test_bills_are_what_was_bought_costs(method, prices):
    n_classes = 3 if prices in ("prices", "conditional") else 2
    stakes = OWN if n_classes == 3 else ("symmetric", 20.0)
    table, question = ask(draw_table(1, 120, n_classes), COSTS[prices], stakes)
    new = new_cases(1)
    learned = method().learn(table, question, 3)
    found = learned.decide(new)
    check(question, new, found)
    assert_same(found, method().learn(table, question, 3).decide(new))
    some = np.array([2, 5, 30])
    part = learned.decide(new.take(some))
    assert (part.decision == found.decision[some]).all()
    assert part.bought.tolist() == found.bought[some].tolist()


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_few_rows_and_a_class_of_one_row(method):
    columns = draw_table(2, 12, 2)
    columns["y"][0] = "class 2"
    table, question = ask(columns, COSTS["prices"], ("symmetric", 50.0))
    for rows in (np.arange(12), np.arange(1, 12), np.arange(4), np.array([0]), np.array([2, 3])):
        learned = method().learn(table.take(rows), question, 0)
        check(question, new_cases(2), learned.decide(new_cases(2)))


@pytest.mark.parametrize("method", LONG, ids=lambda m: m.name)
def test_free_features_are_bought_and_dear_ones_are_not(method):
    """The class is the first column, with a few mistakes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    told = np.where(rng.random(200) < 0.02, 1 - y, y)
    columns = {"y": y.astype(str), "told": told.astype(str), "noise": rng.normal(size=200)}
    for price, wanted in ((0.0, True), (200.0, False)):
        table, question = ask(columns, {"told": price, "noise": 200.0}, ("symmetric", 100.0))
        found = method().learn(table, question, 0).decide(table)
        assert all(("told" in path) == wanted for path in found.bought.tolist())
        assert not any("noise" in path for path in found.bought.tolist())


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_is_a_classifier(method):
    columns = draw_table(4, 80)
    y = columns.pop("y")
    del columns["constant"]
    import pandas

    frame = pandas.DataFrame(columns)
    model = method(dict.fromkeys(columns, 1.0), misclassification=[[0, 30], [10, 0]])
    paid = model.fit(frame, y).total_cost(frame, y).mean()
    assert model.score(frame, y) == pytest.approx(-paid)
    assert paid < 30 * (y == "class 1").mean()
