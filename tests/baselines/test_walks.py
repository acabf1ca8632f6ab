import math

import numpy as np
import pytest
from helpers.baselines import COSTS, ask, draw_table

from voilattice.baselines.walks import (
    NEVER,
    NOT_THERE,
    NOTHING,
    UNKNOWN,
    Offer,
    Prices,
    StopRule,
    Walker,
    code_cases,
    divide_by_prices,
    tune,
)
from voilattice.learning.recipes import NAMED


class InOrder:
    """Buys the features in order; each is worth as much as it is early."""

    def offer(self, states, prices):
        can = np.isfinite(prices)
        feature = np.where(can.any(axis=1), can.argmax(axis=1), NOTHING)
        worth = np.where(feature == NOTHING, NEVER, 10.0 - feature)
        first = np.where(states[:, 0] == 1, 0.9, np.where(states[:, 0] == 0, 0.1, 0.5))
        return Offer(feature, worth, np.stack([1 - first, first], axis=1))


COLUMNS = {
    "y": ["0", "1"] * 30,
    "a": ["0", "1"] * 30,
    "b": ["x", "x", "z"] * 20,
}


def learn(question):
    def learned(table):
        coding, _ = code_cases(table, question, NAMED["naive"])
        return Walker(question, coding, InOrder())

    return learned


def test_a_missing_cell_is_not_paid_and_the_case_goes_on():
    table, question = ask(
        {**COLUMNS, "a": [None, "1"] * 29 + ["0", "1"]}, {"a": 3, "b": 5}, ("symmetric", 10)
    )
    found = learn(question)(table).decide(table)
    assert found.bought[:2].tolist() == [("b",), ("a", "b")]
    assert found.feature_cost[:2].tolist() == [5, 8]


def test_a_stop_rule_cuts_off_what_is_bought():
    table, question = ask(COLUMNS, {"a": 3, "b": 5}, ("symmetric", 10))
    walker = learn(question)(table)
    for stop, bought in (
        (StopRule(), ("a", "b")),
        (StopRule(9.0), ("a",)),
        (StopRule(10.0), ()),
        (StopRule(low_risk=2.1), ("a",)),
        (StopRule(low_risk=10.1), ()),
    ):
        rule = Walker(question, walker.coding, walker.chooser, stop)
        assert set(rule.decide(table).bought.tolist()) == {bought}


def test_tuning_finds_the_rule_of_least_cost():
    table, question = ask(COLUMNS, {"a": 3, "b": 5}, ("symmetric", 10))
    rule = tune(table, question, 0, learn(question))
    walker = learn(question)(table)
    found = Walker(question, walker.coding, walker.chooser, rule).decide(table)
    assert set(found.bought.tolist()) == {("a",)}
    table, question = ask(COLUMNS, {"a": 30, "b": 5}, ("symmetric", 10))
    rule = tune(table, question, 0, learn(question))
    found = Walker(question, walker.coding, walker.chooser, rule).decide(table)
    assert set(found.bought.tolist()) == {()}


def test_the_best_ratio_comes_first_and_free_features_before_it():
    gains = np.array([[0.1, 0.3, 0.2], [0.1, 0.3, 0.2], [0.0, 0.0, 0.2]])
    prices = np.array([[1.0, 4.0, 1.0], [0.0, 4.0, 0.0], [0.0, 1.0, np.inf]])
    feature, worth = divide_by_prices(gains, prices)
    assert feature.tolist() == [2, 2, NOTHING]
    assert worth.tolist() == [0.2, math.inf, NEVER]


@pytest.mark.parametrize("prices", COSTS)
def test_prices_are_those_of_the_cost_model(prices):
    costs = COSTS[prices]
    table, question = ask(draw_table(0), costs, ("symmetric", 20))
    coding, _ = code_cases(table, question, NAMED["naive"])
    codes = coding.codes(table)[:40]
    rng = np.random.default_rng(0)
    states = np.where(rng.random(codes.shape) < 0.5, UNKNOWN, np.where(codes < 0, NOT_THERE, codes))
    sets = [(0, 1), (1, 2), (4,)]
    single, joint = Prices(costs, coding), Prices(costs, coding, sets)
    for _ in range(2):  # the second time from memory
        for state, found, together in zip(states, single.at(states), joint.at(states), strict=True):
            evidence = {
                name: coding.states[k][state[k]]
                for k, name in enumerate(coding.features)
                if state[k] >= 0
            }
            for k, name in enumerate(coding.features):
                price = costs.cost(frozenset({name}), evidence)
                assert found[k] == (price if state[k] == UNKNOWN else math.inf)
            for k, one in enumerate(sets):
                names = frozenset(coding.features[i] for i in one if state[i] == UNKNOWN)
                assert together[k] == (costs.cost(names, evidence) if names else math.inf)
