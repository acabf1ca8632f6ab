"""The rivals decide as scikit-learn does, and pay as a hand walk does."""

import numpy as np
import pytest
from helpers.clinic import COSTS, STAKES, draw_clinic

from voilattice import ConditionalCost, FeatureCosts
from voilattice.learning import as_table
from voilattice.learning.evaluation import ask_question
from voilattice.learning.rivals import (
    AtOnce,
    Classifier,
    PrunedTree,
    gradient_boosting,
    logistic_regression,
    make_rivals,
)

ROWS = np.arange(300)


def is_there(cell):
    return cell is not None and not (isinstance(cell, float) and np.isnan(cell))


@pytest.fixture(scope="module")
def clinic():
    return draw_clinic(300)


@pytest.fixture(scope="module")
def question(clinic):
    return ask_question(clinic, "ill", COSTS, STAKES)[0]


@pytest.fixture(scope="module")
def tables(clinic):
    return clinic.take(ROWS[:200]), clinic.take(ROWS[200:])


def test_deciding_at_once_costs_nothing_and_follows_the_shares(tables, question):
    inside, outside = tables
    found = AtOnce().learn(inside, question, 0).decide(outside)
    n_ill = (question.classes_of(inside) == 1).sum()
    assert found.feature_cost.tolist() == [0.0] * 100
    assert found.posterior[0] == pytest.approx([(201 - n_ill) / 202, (n_ill + 1) / 202])
    risks = question.cost @ found.posterior[0]
    assert set(found.decision) == {risks.argmin()}


def test_logistic_regression_is_that_of_scikit_learn(tables, question):
    from sklearn.linear_model import LogisticRegression

    inside, outside = tables

    def numbers(table, learned):
        parts = []
        for name in ("age", "fever"):
            known = learned.columns[name].values
            values = table.columns[name].values
            middle = np.nanmedian(known)
            filled = np.where(np.isnan(known), middle, known)
            values = np.where(np.isnan(values), middle, values)
            parts.append(((values - filled.mean()) / filled.std())[:, None])
        for name in ("ward", "scan", "gene"):
            known = learned.columns[name].raw()
            there = sorted({cell for cell in known if is_there(cell)})
            counts = [sum(cell == level for cell in known) for level in there]
            usual = there[int(np.argmax(counts))]
            cells = table.columns[name].raw()
            cells = [cell if is_there(cell) else usual for cell in cells]
            parts.append(np.array([[float(cell == level) for level in there] for cell in cells]))
        return np.concatenate(parts, axis=1)

    model = LogisticRegression(max_iter=1000).fit(
        numbers(inside, inside), question.classes_of(inside)
    )
    p = model.predict_proba(numbers(outside, inside))
    found = Classifier("lr", logistic_regression).learn(inside, question, 0).decide(outside)
    assert found.posterior == pytest.approx(p, abs=1e-6)
    assert (found.decision == (p @ question.cost.T).argmin(axis=1)).all()


def test_a_classifier_pays_for_all_cells_that_are_there_together(tables, question):
    inside, outside = tables
    found = Classifier("gb", gradient_boosting).learn(inside, question, 0).decide(outside)
    raw = outside.raw(question.features)
    for row in range(outside.n_rows):
        there = {f for f in raw if is_there(raw[f][row])}
        assert found.feature_cost[row] == pytest.approx(COSTS.cost(frozenset(there), {}))
    assert len(set(found.feature_cost)) > 1


@pytest.mark.parametrize(
    ("budget", "bought"),
    [
        (0.0, set()),
        (2.4, {"ward"}),  # age costs 2.50: a visit comes with it
        (4.5, {"age", "ward"}),
        (8.5, {"age", "ward", "gene"}),  # then the fever (4) does not fit any more
        (99.0, {"age", "ward", "fever", "scan", "gene"}),
    ],
)
def test_a_budget_buys_the_cheapest_features_that_fit(question, budget, bought):
    rival = Classifier("lr", logistic_regression, budget)
    chosen = set(rival.choose(question, question.features))
    assert COSTS.cost(frozenset(chosen), {}) <= budget
    assert chosen == bought


def test_a_budget_of_nothing_decides_at_once(tables, question):
    inside, outside = tables
    found = Classifier("lr", logistic_regression, 0.0).learn(inside, question, 0).decide(outside)
    assert (found.posterior == AtOnce().learn(inside, question, 0).decide(outside).posterior).all()


def test_the_default_budgets_are_a_quarter_and_a_half_of_all(question):
    names = [rival.name for rival in make_rivals(question)]
    assert len(names) == len(set(names)) == 8
    total = COSTS.cost(frozenset(COSTS.prices), {})
    assert f"logistic regression, budget {total / 4:.2f}" in names
    assert f"gradient boosting, budget {total / 2:.2f}" in names


def test_free_features_need_no_budget(clinic):
    free, _ = ask_question(clinic, "ill", dict.fromkeys(COSTS.prices, 0), STAKES)
    assert len(make_rivals(free)) == 4


def walk(decider, question, table, row):
    """Return what a case pays in a tree, node by node."""
    tree, encoder = decider.model.tree_, decider.encoder
    numbers = encoder.numbers(table)[row]
    raw, node, known, paid = table.raw(question.features), 0, {}, 0.0
    while tree.children_left[node] >= 0:
        column = tree.feature[node]
        feature = encoder.features[encoder.owners[column]]
        cell = raw[feature][row]
        if is_there(cell) and feature not in known:
            paid += question.costs.cost(frozenset({feature}), known)
            known[feature] = cell if isinstance(cell, str) else f"{cell:g}"
        is_left = numbers[column] <= tree.threshold[node]
        node = (tree.children_left if is_left else tree.children_right)[node]
    return paid, len(known)


@pytest.mark.parametrize(
    "conditional", [(), (ConditionalCost("fever", {"scan": "dark"}, 40.0),)], ids=["plain", "when"]
)
def test_a_tree_pays_for_what_it_tests_in_the_order_of_its_tests(tables, clinic, conditional):
    inside, outside = tables
    prices = {name: price / 4 for name, price in COSTS.prices.items()}
    costs = FeatureCosts(prices, COSTS.groups, conditional)
    question, _ = ask_question(clinic, "ill", costs, ("symmetric", 900.0))
    decider = PrunedTree().learn(inside, question, 0)
    found = decider.decide(outside)
    walked = [walk(decider, question, outside, row) for row in range(outside.n_rows)]
    assert max(n for _, n in walked) >= 2
    assert found.feature_cost == pytest.approx([paid for paid, _ in walked])
    if conditional:
        assert found.feature_cost.max() > 40


def test_leaves_of_a_tree_are_never_certain(tables, question):
    inside, outside = tables
    found = PrunedTree().learn(inside, question, 0).decide(outside)
    assert 0 < found.posterior.min() < found.posterior.max() < 1
    assert found.posterior.sum(axis=1) == pytest.approx(1)


def test_a_tree_that_does_not_pay_is_a_root(tables, clinic):
    inside, outside = tables
    dear, _ = ask_question(clinic, "ill", dict.fromkeys(COSTS.prices, 1000), STAKES)
    assert PrunedTree().learn(inside, dear, 0).decide(outside).feature_cost.max() == 0


@pytest.mark.parametrize("rival", [PrunedTree(), Classifier("lr", logistic_regression)])
def test_a_value_that_was_not_learned_is_missing_and_costs_nothing(rival, question):
    columns = {"age": [30, 70, 30] * 20, "ward": ["north", "south"] * 30, "ill": ["no", "yes"] * 30}
    columns["ill"][:2] = ["yes", "no"]
    inside = as_table(columns)
    outside = as_table({"age": [None, None], "ward": ["east", None], "ill": ["no", "no"]})
    asked, _ = ask_question(inside, "ill", {"age": 1, "ward": 1}, STAKES)
    found = rival.learn(inside, asked, 0).decide(outside)
    assert found.feature_cost.tolist() == [0.0, 0.0]
    assert (found.posterior[0] == found.posterior[1]).all()


def test_nobody_learns_from_a_column_of_one_value(question):
    inside = as_table(
        {name: ["same"] * 8 for name in question.features} | {"ill": ["no", "no", "no", "yes"] * 2}
    )
    for rival in make_rivals(question):
        assert rival.learn(inside, question, 0).decide(inside).feature_cost.max() == 0


def test_a_class_that_was_not_learned_has_no_probability():
    stakes = {p: {a: float(p != a) for a in ("a", "b", "c")} for p in ("a", "b", "c")}
    table = as_table({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": ["a", "b"] * 3})
    asked, _ = ask_question(table, "y", {"x": 1}, stakes)
    assert asked.classes == ("a", "b", "c")
    for rival in (PrunedTree(), Classifier("lr", logistic_regression)):
        assert rival.learn(table, asked, 0).decide(table).posterior[:, 2].max() == 0


RIVALS = (
    PrunedTree(),
    Classifier("lr", logistic_regression),
    Classifier("gb", gradient_boosting),
)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
@pytest.mark.parametrize(
    "stretch",
    [
        lambda x: 1.5e18 + 256.0 * np.round(100 * x),  # times in nanoseconds
        lambda x: np.sign(x) * 1e300 * np.exp(np.abs(x)),
        lambda x: 1e-300 * np.exp(x),
        lambda x: np.where(x > 2, 1.7e308, np.where(x < -2, -1.7e308, x)),
    ],
    ids=["times", "huge", "tiny", "extremes"],
)
def test_numbers_of_any_size_can_be_learned_from(rival, stretch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    ill = (x > 0.3) ^ (rng.random(300) < 0.02)  # else the column would be a leak
    table = as_table({"x": stretch(x), "ill": np.where(ill, "yes", "no")})
    asked, _ = ask_question(table, "ill", {"x": 1}, ("symmetric", 100.0))
    inside, outside = table.take(ROWS[:200]), table.take(ROWS[200:])
    found = rival.learn(inside, asked, 0).decide(outside)
    assert (found.decision == asked.classes_of(outside)).mean() > 0.9
    assert np.isfinite(found.posterior).all()


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_a_number_that_is_huge_in_a_new_case_only_can_be_decided(rival, question, tables):
    decider = rival.learn(tables[0], question, 0)
    columns = {name: column.raw().tolist() for name, column in tables[1].columns.items()}
    columns["age"][0], columns["fever"][0] = -1.7e308, 1.7e308
    assert np.isfinite(decider.decide(as_table(columns)).posterior).all()


def test_ordinary_numbers_are_not_changed_for_a_tree(question, tables):
    decider = PrunedTree().learn(tables[0], question, 0)
    age = tables[1].columns["age"].values
    numbers = decider.encoder.numbers(tables[1])[:, 0]
    assert (numbers[~np.isnan(age)] == age[~np.isnan(age)]).all()
