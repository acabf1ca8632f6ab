import numpy as np
import pytest
from helpers.baselines import ask, code_table

from voilattice.baselines.greedy_information import GreedyInformation, encode, hide
from voilattice.baselines.walks import UNKNOWN, StateCoding
from voilattice.learning.rivals import AtOnce


def told(p, seed=0, n=900):
    """A class, and features that say it correctly in some share of the cases each."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    wrong = [rng.permutation(n) >= round(one * n) for one in p]
    return code_table(np.stack([y ^ one for one in wrong], axis=1), y)


def information(p):
    """I(Y; X) in nats of a feature that says a fair class correctly with probability p."""
    return np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)


@pytest.mark.slow
def test_values_are_the_mutual_information():
    """By hand: I(Y; X) of a feature that is right with probability p, and nothing is known."""
    p = [0.9, 0.75, 0.5]
    table, question = ask(told(p), dict.fromkeys("abc", 1.0), ("symmetric", 10.0))
    chooser = GreedyInformation().learn(table, question, 0).decider.chooser
    nothing = np.full((1, 3), UNKNOWN)
    gains = chooser.gains(nothing)[0]
    assert gains == pytest.approx([information(0.9), information(0.75), 0.0], abs=0.05)
    assert chooser.classifier.posterior(nothing)[0] == pytest.approx([0.5, 0.5], abs=0.05)


@pytest.mark.slow
def test_the_most_information_for_its_price_comes_first():
    columns = told([0.9, 0.75], n=300)
    for prices, first in (({"a": 1.0, "b": 1.0}, "a"), ({"a": 9.0, "b": 1.0}, "b")):
        table, question = ask(columns, prices, ("symmetric", 100.0))
        found = GreedyInformation().learn(table, question, 0).decide(table)
        assert {path[:1] for path in found.bought.tolist()} == {(first,)}


@pytest.mark.slow
def test_new_cases_cost_less_than_deciding_at_once():
    table, question = ask(
        told([0.9, 0.8, 0.8, 0.5, 0.5]), dict.fromkeys("abcde", 1.0), ("symmetric", 50)
    )
    inside, outside = table.take(np.arange(500)), table.take(np.arange(500, 900))
    truth = question.classes_of(outside)

    def paid(method):
        found = method.learn(inside, question, 0).decide(outside)
        return (found.feature_cost + question.cost[found.decision, truth]).mean()

    assert paid(GreedyInformation()) < 0.3 * paid(AtOnce())


def test_hidden_cells_are_unknown_and_shown_ones_are_true():
    codes = np.random.default_rng(0).integers(-1, 3, (500, 6))
    hidden = hide(codes, np.random.default_rng(1))
    assert ((hidden == UNKNOWN) | (hidden == codes)).all()
    n_known = (hidden != UNKNOWN).sum(axis=1)
    assert n_known.min() == 0
    assert (n_known >= 4).any()


def test_inputs_are_cuts_and_categories_and_nothing_where_a_cell_is_unknown():
    coding = StateCoding(
        ("number", "color"), (["<1", "1..2", ">=2"], ["blue", "red"]), {"number": (1, 2)}
    )
    found = encode(np.array([[1, 0], [UNKNOWN, 1], [2, UNKNOWN]]), coding)
    assert found.tolist() == [[1, -1, 1, -1], [0, 0, -1, 1], [1, 1, 0, 0]]
