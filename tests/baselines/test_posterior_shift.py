from dataclasses import replace

import numpy as np
import pytest
from helpers.baselines import EIGHT, ask, code_table, draw_codes

from voilattice.baselines.class_forests import ClassForest
from voilattice.baselines.posterior_shift import RECIPE, PosteriorShift, expected_shifts
from voilattice.baselines.walks import NOTHING, UNKNOWN, code_cases
from voilattice.learning.rivals import AtOnce


def learn_model(columns, prices):
    table, question = ask(columns, prices, ("symmetric", 30.0))
    coding, cases = code_cases(table, question, RECIPE)
    return coding, ClassForest.fit(cases, RECIPE)


def test_a_shift_by_hand():
    """P(ill) is 1/2, and 2/3 or 1/3 after the test: it moves by 1/6."""
    _, model = learn_model(EIGHT, {"test": 1})
    posterior, shifts = expected_shifts(model, np.array([[UNKNOWN], [0]]))
    assert posterior == pytest.approx(np.array([[1 / 2, 1 / 2], [2 / 3, 1 / 3]]), abs=1e-5)
    assert shifts == pytest.approx(np.array([[1 / 6], [0]]), abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_a_shift_is_the_mean_over_all_results(seed):
    rng = np.random.default_rng(seed)
    codes, classes = draw_codes(rng, 90, [2, 3, 3], 3)
    coding, model = learn_model(code_table(codes, classes), dict.fromkeys("abc", 1))
    state = np.array([UNKNOWN, UNKNOWN, seed % 3])
    posterior, shifts = expected_shifts(model, state[None])
    _, joints = model.joints(state[None])
    for k in (0, 1):
        mean = 0.0
        for value in range(coding.n_states[k]):
            further = state.copy()
            further[k] = value
            moved = np.abs(model.posterior(further[None])[0] - posterior[0]).sum() / 2
            mean += joints[k][0, :, value].sum() * moved
        assert shifts[0, k] == pytest.approx(mean)


def test_the_highest_shift_for_its_price_comes_first():
    rng = np.random.default_rng(3)
    codes, classes = draw_codes(rng, 300, [2, 2, 2])
    prices = {"a": 1.0, "b": 2.0, "c": 3.0}
    table, question = ask(code_table(codes, classes), prices, ("symmetric", 900.0))
    walker = PosteriorShift().learn(table, question, 0)
    unknown = np.full((1, 3), UNKNOWN)
    _, shifts = expected_shifts(walker.chooser.model, unknown)
    offer = walker.chooser.offer(unknown, np.array([[1.0, 2.0, 3.0]]))
    assert offer.feature[0] == (shifts[0] / [1, 2, 3]).argmax()
    assert offer.worth[0] == pytest.approx((shifts[0] / [1, 2, 3]).max())
    nothing = walker.chooser.offer(unknown, np.full((1, 3), np.inf))
    assert nothing.feature[0] == NOTHING


def test_at_high_stakes_it_costs_less_than_deciding_at_once():
    rng = np.random.default_rng(5)
    codes, classes = draw_codes(rng, 400, [3] * 6)
    table, question = ask(
        code_table(codes, classes), dict.fromkeys("abcdef", 2.0), ("symmetric", 100)
    )
    inside, outside = table.take(np.arange(250)), table.take(np.arange(250, 400))
    truth = question.classes_of(outside)

    def paid(method):
        found = method.learn(inside, question, 0).decide(outside)
        return (found.feature_cost + question.cost[found.decision, truth]).mean()

    assert paid(PosteriorShift()) < 0.7 * paid(AtOnce())
    dear = replace(question, costs=type(question.costs)(dict.fromkeys("abcdef", 1000.0)))
    found = PosteriorShift().learn(inside, dear, 0).decide(outside)
    assert not found.feature_cost.any()
