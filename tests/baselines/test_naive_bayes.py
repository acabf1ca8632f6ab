import numpy as np
import pytest
from helpers.baselines import EIGHT, ask, code_table, draw_codes

from voilattice.baselines.class_forests import ClassForest
from voilattice.baselines.naive_bayes import CostSensitiveNaiveBayes
from voilattice.baselines.walks import UNKNOWN, Prices, code_cases
from voilattice.learning.recipes import NAMED


@pytest.mark.parametrize(("price", "is_bought"), [(9.99, True), (10.01, False)])
def test_a_test_is_bought_below_its_gain(price, is_bought):
    """By hand: P(ill) = 5/10, P(+ | ill) = 4/6, P(+ | well) = 2/6.

    With mistakes of 60, EMC = 30 before, and 60 / 3 = 20 after either result: the gain is 10.
    """
    table, question = ask(EIGHT, {"test": price}, ("symmetric", 30.0))
    found = CostSensitiveNaiveBayes().learn(table, question, 0).decide(table)
    assert question.cost.max() == 60
    assert set(found.bought.tolist()) == {("test",) if is_bought else ()}


@pytest.mark.parametrize("seed", range(8))
def test_the_feature_of_highest_utility_comes_next(seed):
    rng = np.random.default_rng(seed)
    codes, classes = draw_codes(rng, 80, [2, 3, 2], 3)
    prices = dict(zip("abc", rng.uniform(0, 3, 3), strict=True))
    table, question = ask(code_table(codes, classes), prices, ("symmetric", 30.0))
    walker = CostSensitiveNaiveBayes().learn(table, question, 0)
    model = ClassForest.fit(code_cases(table, question, NAMED["naive"])[1], NAMED["naive"])
    state = np.array([UNKNOWN, codes[0, 1], UNKNOWN])

    def emc(state):
        likelihood = model.prior.copy()
        for k, value in enumerate(state):
            if value >= 0:
                likelihood = likelihood * model.tables[k][:, 0, value]
        return (question.cost @ likelihood).min() / likelihood.sum(), likelihood.sum()

    before, p = emc(state)
    utility = {}
    for k in (0, 2):
        utility[k] = before - prices["abc"[k]]
        for value in range(walker.coding.n_states[k]):
            further = state.copy()
            further[k] = value
            after, p_after = emc(further)
            utility[k] -= p_after / p * after
    found = walker.chooser.offer(state[None], Prices(question.costs, walker.coding).at(state[None]))
    assert found.worth[0] == pytest.approx(max(utility.values()))
    assert utility[int(found.feature[0])] == pytest.approx(max(utility.values()))
