"""Laws that every baseline keeps, over random tables with all that tables can have."""

import pickle

import numpy as np
import pytest
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import FeatureCosts
from voilattice.baselines import BASELINES
from voilattice.learning import as_table
from voilattice.learning.evaluation import ask_question
from voilattice.model.costs import Discount, Group, price_set

pytestmark = pytest.mark.filterwarnings("ignore::voilattice.errors.DataWarning")


def draw_table(rng, n):
    """Return numbers, categories, bits, constant columns and missing cells."""
    y = rng.integers(0, 3, n)
    y[:6] = [0, 0, 1, 1, 2, 2]
    good = np.where(rng.random(n) < 0.1, np.nan, y + rng.normal(0, 0.5, n))
    kinds = np.array(["red", "green", "blue", "?"])
    color = kinds[np.where(rng.random(n) < 0.6, y, rng.integers(0, 4, n))]
    columns = {
        "good": good,
        "age": rng.integers(20, 60, n).astype(float),
        "color": color,
        "bits": np.array(["b01", "b10", "b11"])[np.where(rng.random(n) < 0.5, y, 0)],
        "flag": np.where(rng.random(n) < 0.5 + 0.2 * y, "yes", "no"),
        "same": np.full(n, "x"),
        "flat": np.full(n, 7.0),
    }
    return columns, np.array(["a", "b", "c"])[y]


def draw_costs(rng):
    prices = dict.fromkeys(("good", "age", "color", "bits", "flag", "same", "flat"), 0.0)
    prices = {name: float(rng.integers(0, 6)) for name in prices}
    groups = (Group("lab", float(rng.integers(0, 4)), ("good", "bits")),)
    off = {name: prices[name] / 2 for name in ("age", "color", "flag")}
    return FeatureCosts(prices, groups, discounts=(Discount("visit", off),))


def draw_stakes(rng):
    if rng.random() < 0.5:
        return ("symmetric", float(rng.integers(1, 40)))
    rows = {
        d: {c: 0.0 if c == d else float(rng.integers(1, 60)) for c in "abc"}
        for d in ("a", "b", "c", "refer")[rng.integers(0, 2) :]
    }
    rows["refer"] = dict.fromkeys("abc", float(rng.integers(1, 20)))
    return rows


def draw_cases(seed, n=60, n_new=40):
    rng = np.random.default_rng(seed)
    columns, y = draw_table(rng, n)
    new, _ = draw_table(rng, n_new)
    new["color"] = np.where(rng.random(n_new) < 0.2, "violet", new["color"])
    new["bits"] = np.where(rng.random(n_new) < 0.2, "b00", new["bits"])
    new["good"] = np.where(rng.random(n_new) < 0.1, 1e6, new["good"])
    table = as_table({**columns, "class": y})
    costs = draw_costs(rng)
    question, _ = ask_question(table, "class", costs, draw_stakes(rng))
    return table, as_table(new), question


def check(name, table, new, question):
    found = BASELINES[name]().learn(table, question, 3).decide(new)
    n = new.n_rows
    assert found.decision.shape == (n,)
    assert ((found.decision >= 0) & (found.decision < len(question.decisions))).all()
    assert found.posterior.shape == (n, len(question.classes))
    assert (found.posterior >= 0).all()
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(n))
    raw = new.raw(question.features)
    for row, (path, paid) in enumerate(zip(found.bought, found.feature_cost, strict=True)):
        assert len(set(path)) == len(path)
        assert set(path) <= set(question.features)
        for feature in path:
            assert raw[feature][row] is not None
            assert raw[feature][row] == raw[feature][row]
        known, bill = {}, 0.0
        for feature in path:
            bill += price_set(question.costs, frozenset({feature}), known)
            known[feature] = "some"
        together = price_set(question.costs, frozenset(path), {})
        assert paid == pytest.approx(bill) or paid == pytest.approx(together)
    again = BASELINES[name]().learn(table, question, 3)
    again = pickle.loads(pickle.dumps(again)).decide(new)  # as a worker may send it
    assert (again.decision == found.decision).all()
    assert (again.posterior == found.posterior).all()
    assert (again.feature_cost == found.feature_cost).all()
    assert again.bought.tolist() == found.bought.tolist()


@pytest.mark.parametrize("name", BASELINES)
def test_decisions_are_legal_and_bills_add_up(name):
    check(name, *draw_cases(1))


@pytest.mark.slow
@pytest.mark.parametrize("name", BASELINES)
@examples(16, least=4)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_table_is_decided_and_paid(name, seed):
    check(name, *draw_cases(seed))


@pytest.mark.parametrize("name", BASELINES)
def test_some_rows_of_a_table(name):
    table, new, question = draw_cases(5)
    y = question.classes_of(table)
    two = table.take(np.flatnonzero(y != 2))  # the class is in the question and in no row
    check(name, two, new, question)
    one = table.take(np.concatenate([np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:1]]))
    check(name, one, new, question)


@pytest.mark.parametrize("name", BASELINES)
def test_nothing_is_bought_where_all_is_worthless(name):
    rng = np.random.default_rng(0)
    cells = {"same": ["x"] * 30 + ["y"], "class": [*rng.permutation(["a", "b"] * 15), "a"]}
    table = as_table(cells)
    question, _ = ask_question(table, "class", {"same": 1.0}, ("symmetric", 10.0))
    table = table.take(np.arange(30))
    found = BASELINES[name]().learn(table, question, 0).decide(table)
    assert found.bought.tolist() == [()] * 30
    assert not found.feature_cost.any()


@pytest.mark.parametrize("name", BASELINES)
def test_a_free_feature_that_tells_all_is_used(name):
    y = ["a", "b"] * 30
    table = as_table({"tell": ["yes" if c == "a" else "no" for c in y], "class": y})
    question, _ = ask_question(table, "class", {"tell": 0.0}, ("symmetric", 10.0))
    found = BASELINES[name]().learn(table, question, 0).decide(table)
    if name != "at once":
        assert (found.decision == question.classes_of(table)).all()


@pytest.mark.parametrize("name", BASELINES)
def test_the_verbs_of_scikit_learn(name):
    import pandas

    rng = np.random.default_rng(1)
    y = np.where(rng.random(80) < 0.5, "ill", "well")
    frame = pandas.DataFrame({"x": (y == "ill") + rng.normal(0, 0.3, 80), "z": rng.random(80)})
    model = BASELINES[name]({"x": 1, "z": 2}, misclassification=[[0, 20], [30, 0]]).fit(frame, y)
    bill, decided = model.bill(frame), model.predict(frame)
    wrong = np.where(decided == y, 0, np.where(decided == "ill", 20, 30))
    assert model.total_cost(frame, y) == pytest.approx(bill["feature_cost"] + wrong)
