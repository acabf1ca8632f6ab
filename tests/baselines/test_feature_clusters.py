from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from helpers.baselines import EIGHT, ask, code_table, draw_codes

from voilattice import FeatureCosts, Group
from voilattice.baselines.class_forests import ClassForest
from voilattice.baselines.feature_clusters import (
    MAX_SIZE,
    RECIPE,
    FeatureClusters,
    find_clusters,
    gini_gain,
)
from voilattice.baselines.walks import UNKNOWN, Prices, StopRule, code_cases


def exclusive_or(n=400, seed=0):
    """The class is a xor b, with a few mistakes; c is noise."""
    rng = np.random.default_rng(seed)
    a, b, c, wrong = (rng.random((4, n)) < np.array([[0.5], [0.5], [0.5], [0.05]])).astype(int)
    return code_table(np.stack([a, b, c], axis=1), a ^ b ^ wrong)


def test_a_gain_by_hand():
    """The Gini index is 1/2 before the test, and 1 - 4/9 - 1/9 = 4/9 after it."""
    table, question = ask(EIGHT, {"test": 1}, ("symmetric", 30.0))
    _, cases = code_cases(table, question, RECIPE)
    posterior, [joint] = ClassForest.fit(cases, RECIPE).joints(np.array([[UNKNOWN]]))
    assert gini_gain(posterior, joint)[0] == pytest.approx(1 / 18, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_gain_of_a_cluster_is_the_mean_over_all_results(seed):
    rng = np.random.default_rng(seed)
    codes, classes = draw_codes(rng, 90, [2, 3, 2, 3], 3)
    table, question = ask(code_table(codes, classes), dict.fromkeys("abcd", 1.0), ("symmetric", 30))
    chooser = FeatureClusters().learn(table, question, 0).chooser
    model = chooser.model
    states = np.array([[UNKNOWN] * 4, [1, UNKNOWN, UNKNOWN, 2], [1, 0, 1, 2]])
    found = chooser._gain(states, model.posterior(states), (0, 1, 2))
    assert found[2] == 0
    for row, members in ((0, (0, 1, 2)), (1, (1, 2))):
        mean = 0.0
        for values in product(*(range(model.tables[k].shape[2]) for k in members)):
            p, state = 1.0, states[row].copy()
            for k, value in zip(members, values, strict=True):
                p *= model.joints(state[None], [k])[1][0][0, :, value].sum()
                state[k] = value
            mean += p * (1 - (model.posterior(state[None]) ** 2).sum())
        before = 1 - (model.posterior(states[[row]]) ** 2).sum()
        assert found[row] == pytest.approx(before - mean)


def test_features_that_tell_only_together_are_bought():
    """Each alone tells nothing, so methods that look one feature ahead decide at once."""
    columns = exclusive_or()
    prices = {"a": 1.0, "b": 1.0, "c": 1.0}
    table, question = ask(columns, prices, ("symmetric", 100.0))
    found = FeatureClusters().learn(table, question, 0).decide(table)
    assert all({"a", "b"} <= set(path) for path in found.bought.tolist())


def test_features_of_a_group_are_not_joined_with_others():
    rng = np.random.default_rng(1)
    codes, classes = draw_codes(rng, 300, [2] * 7)
    codes[:, 4:] = codes[:, :3] ^ (rng.random((300, 3)) < 0.1)  # e follows a, f b, g c
    costs = FeatureCosts(dict.fromkeys("abcdefg", 1.0), (Group("lab", 2.0, ("a", "b", "e")),))
    table, question = ask(code_table(codes, classes), costs, ("symmetric", 30.0))
    coding, cases = code_cases(table, question, RECIPE)
    clusters = find_clusters(ClassForest.fit(cases, RECIPE), coding, costs)
    assert sorted(k for cluster in clusters for k in cluster) == list(range(7))
    assert max(map(len, clusters)) <= MAX_SIZE
    lab = {0, 1, 4}
    assert all(set(cluster) <= lab or not set(cluster) & lab for cluster in clusters)
    assert {0, 4} <= set(next(cluster for cluster in clusters if 0 in cluster))


def test_an_open_cluster_is_finished_before_the_stop_rule_is_looked_at():
    table, question = ask(exclusive_or(), dict.fromkeys("abc", 1.0), ("symmetric", 100.0))
    walker = FeatureClusters().learn(table, question, 0)
    state = np.array([[0, UNKNOWN, UNKNOWN]])
    offer = walker.chooser.offer(state, Prices(question.costs, walker.coding).at(state))
    assert offer.worth[0] == np.inf
    assert offer.feature[0] == 1
    states = np.array([[UNKNOWN] * 3, [0, UNKNOWN, UNKNOWN], [1, UNKNOWN, UNKNOWN]])
    risks = (walker.chooser.model.posterior(states) @ question.cost.T).min(axis=1)
    assert risks[1:].min() < risks[0]
    for low_risk, wanted in ((risks.min(), {"a", "b"}), (risks[0], set())):
        found = replace(walker, stop=StopRule(low_risk=low_risk)).decide(table)
        assert all({"a", "b"} & set(path) == wanted for path in found.bought.tolist())
