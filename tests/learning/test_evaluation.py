"""Held-out costs: known answers, no peeking, the same for a seed."""

import numpy as np
import pytest
from helpers.clinic import COSTS, STAKES, draw_clinic
from hypothesis import given
from hypothesis import strategies as st

from voilattice import ConditionalCost, FeatureCosts
from voilattice.errors import InputError, UnknownNameError
from voilattice.learning import Recipe, as_table
from voilattice.learning.evaluation import (
    ask_question,
    deal_evenly,
    decide_by_policies,
    evaluate,
    evaluate_folds,
)
from voilattice.learning.held_out_results import summarize
from voilattice.learning.rivals import AtOnce, Decided, list_paths

SETTINGS = {"costs": COSTS, "misclassification": STAKES, "n_folds": 2}
QUICK = {**SETTINGS, "policies": ["greedy"], "recipes": ["naive"]}

# 40 cases: the sure test is right except in the last two; the other column tells nothing.
TOY = {
    "sure": ["+", "-"] * 19 + ["-", "+"],
    "idle": ["a", "a", "b", "b"] * 10,
    "ill": ["yes", "no"] * 20,
}
TOY_COSTS = {"sure": 1.0, "idle": 5.0}
TOY_STAKES = {"yes": {"yes": 0.0, "no": 20.0}, "no": {"yes": 20.0, "no": 0.0}}


@pytest.fixture(scope="module")
def toy():
    return evaluate(
        TOY, "ill", costs=TOY_COSTS, misclassification=TOY_STAKES,
        policies=["none", "markov-blanket", "greedy", "optimal"], recipes=["naive"], n_folds=4,
        budgets=[1.0],
    )  # fmt: skip


def test_the_costs_of_a_toy_are_known_by_hand(toy):
    # The sure test costs 1 and is wrong twice in 40 cases: 1 + 2 * 20 / 40 = 2.
    for method in (
        "voilattice greedy (naive)", "voilattice optimal (naive)", "pruned decision tree",
        "logistic regression, budget 1.00", "gradient boosting, budget 1.00",
    ):  # fmt: skip
        assert toy[method].mean_total_cost == pytest.approx(2.0)
        assert toy[method].mean_feature_cost == pytest.approx(1.0)
        assert toy[method].accuracy == pytest.approx(0.95)
        # Two of 40 rows cost 21, the others 1.
        squares = 38 * 1.0**2 + 2 * 19.0**2
        assert toy[method].standard_error == pytest.approx((squares / 39 / 40) ** 0.5)
    assert toy["logistic regression"].mean_total_cost == pytest.approx(7.0)  # the idle column too
    for method in ("deciding at once", "voilattice none (naive)"):
        assert toy[method].mean_feature_cost == 0
        assert toy[method].mean_total_cost == pytest.approx(10.0)
    above = toy.difference(toy["logistic regression"])
    assert (above.mean, above.standard_error, above.p_value) == pytest.approx((5.0, 0.0, 0.0))


def test_results_say_which_recipe_and_policy_they_are_of(toy):
    assert toy["voilattice optimal (naive)"].policy == "optimal"
    assert toy["voilattice optimal (naive)"].recipe == "naive"
    assert toy["pruned decision tree"].policy is None
    with pytest.raises(UnknownNameError, match="no method 'prune'"):
        toy["prune"]


@pytest.mark.parametrize("seed", [0, 1])
def test_costs_add_up_and_the_lowest_comes_first(seed):
    found = evaluate(draw_clinic(90, seed), "ill", seed=seed, **QUICK)
    totals = [result.mean_total_cost for result in found.results]
    assert totals == sorted(totals)
    assert found.rows.tolist() == list(range(90))
    for result in found.results:
        assert result.mean_total_cost == pytest.approx(
            result.mean_feature_cost + result.mean_misclassification_cost
        )
        assert result.mean_total_cost == pytest.approx(result.total_cost.mean())
        assert (result.feature_cost >= 0).all()
        wrong = result.misclassification_cost > 0
        assert (wrong == ~result.is_right).all()
        assert result.seconds > 0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_costs_in_any_number_of_processes():
    table = draw_clinic(80)
    one, again = (evaluate(table, "ill", seed=3, n_jobs=n_jobs, **QUICK) for n_jobs in (1, 2))
    other = evaluate(table, "ill", seed=4, **QUICK | {"rivals": [AtOnce()]})
    for result in one.results:
        same = again[result.method]
        assert (result.total_cost == same.total_cost).all()
        assert (result.probability == same.probability).all()
    assert any((r.decision != one[r.method].decision).any() for r in other.results)


def test_what_a_row_holds_does_not_change_the_other_rows_of_its_fold():
    table = draw_clinic(90)
    settings = QUICK | {"policies": ["greedy", "optimal"], "recipes": ["naive", "smooth", "tree"]}
    fold = next(evaluate_folds(table, "ill", **settings))
    row = int(fold.rows[4])
    columns = {name: column.raw().tolist() for name, column in table.columns.items()}
    columns |= {"age": list(columns["age"]), "fever": list(columns["fever"])}
    columns["age"][row], columns["fever"][row], columns["ward"][row] = 9000.0, -50.0, "nowhere"
    changed = next(evaluate_folds(columns, "ill", **settings))
    assert (changed.rows == fold.rows).all()
    others = fold.rows != row
    assert len(fold.results) == 3 * 2 + 8
    for before, after in zip(fold.results, changed.results, strict=True):
        assert before.method == after.method
        assert (before.total_cost[others] == after.total_cost[others]).all()
        assert (before.probability[others] == after.probability[others]).all()


@pytest.mark.slow
def test_auto_chooses_without_the_rows_to_decide():
    table = draw_clinic(120)
    asked, rows = ask_question(table, "ill", COSTS, STAKES)
    inside, outside = table.take(rows[:90]), table.take(rows[90:])
    chosen, [(found, _, _)] = decide_by_policies(inside, outside, asked, "auto", ["greedy"])
    flipped = {name: column.raw() for name, column in outside.columns.items()}
    flipped["ill"] = np.where(flipped["ill"] == "yes", "no", "yes")
    other, [(same, _, _)] = decide_by_policies(inside, as_table(flipped), asked, "auto", ["greedy"])
    assert chosen == other
    assert (found.decision == same.decision).all()
    assert (found.feature_cost == same.feature_cost).all()


@pytest.mark.slow
def test_auto_says_what_it_chose_in_each_fold():
    found = evaluate(draw_clinic(60), "ill", **SETTINGS | {"policies": ["none"], "rivals": ()})
    [result] = found.results
    assert len(result.chosen) == 2
    assert result.method == "voilattice none (auto)"


@pytest.mark.parametrize("recipe", ["naive", Recipe(structure="naive")])
def test_targets_of_held_out_rows_are_not_looked_at(recipe):
    table = draw_clinic(120)
    asked, rows = ask_question(table, "ill", COSTS, STAKES)
    inside, outside = table.take(rows[:90]), table.take(rows[90:])
    blank = as_table(
        {name: column.raw() for name, column in outside.columns.items() if name != "ill"}
    )
    _, [(found, _, _)] = decide_by_policies(inside, outside, asked, recipe, ["optimal"])
    _, [(same, _, _)] = decide_by_policies(inside, blank, asked, recipe, ["optimal"])
    assert (found.decision == same.decision).all()


@given(st.lists(st.integers(0, 2), min_size=4, max_size=40), st.integers(2, 6), st.integers(0, 99))
def test_every_class_of_two_rows_is_learned_from_in_every_fold(codes, n_folds, seed):
    codes = np.array(codes)
    rows = np.arange(len(codes))
    n_folds = min(n_folds, len(codes))
    folds = deal_evenly(rows, codes, n_folds, np.random.default_rng(seed))
    assert sorted(row for fold in folds for row in fold.outside) == rows.tolist()
    for fold in folds:
        assert sorted([*fold.inside, *fold.outside]) == rows.tolist()
        assert abs(len(fold.outside) - len(codes) / n_folds) < 1
        for k in range(3):
            if (codes == k).sum() >= 2:
                assert (codes[fold.inside] == k).any()


def test_rows_without_a_class_are_left_out():
    table = draw_clinic(60)
    columns = {name: column.raw().tolist() for name, column in table.columns.items()}
    columns["ill"][7] = None
    found = evaluate(columns, "ill", **QUICK | {"rivals": [AtOnce()]})
    assert len(found.rows) == 59
    assert 7 not in found.rows


def test_a_fold_without_any_usable_column_is_decided_at_once():
    # One row alone has another value: where it is held out, there is nothing to learn from.
    columns = {"x": ["a"] * 29 + ["b"], "y": ["no", "no", "yes"] * 10}
    found = evaluate(
        columns, "y", costs={"x": 1}, misclassification=("symmetric", 10), n_folds=3,
        policies=["optimal"], recipes=["smooth"],
    )  # fmt: skip
    assert found["voilattice optimal (smooth)"].mean_total_cost >= 0


def test_scaled_stakes_are_those_of_the_whole_table():
    found = evaluate(draw_clinic(80), "ill", **QUICK | {"rivals": [AtOnce()]})
    paid = {float(x) for result in found.results for x in result.misclassification_cost}
    assert len(paid) == 3  # 0 and two errors, the same in every fold
    assert found["deciding at once"].mean_total_cost == pytest.approx(30.0, rel=0.2)


def test_a_class_may_be_in_the_matrix_and_in_no_row():
    names = ("no", "yes", "perhaps")
    stakes = {p: {a: 10.0 * (p != a) for a in names} for p in names}
    settings = {**QUICK, "misclassification": stakes}
    found = evaluate(draw_clinic(60), "ill", **settings)
    assert len(found.results) == 9


def test_users_may_add_a_rival():
    class Always:
        name = "always yes"

        def learn(self, table, question, seed):
            self.question = question
            return self

        def decide(self, table):
            posterior = np.tile([0.0, 1.0], (table.n_rows, 1))
            decision, paid = np.ones(table.n_rows, dtype=int), np.full(table.n_rows, 2.0)
            return Decided(decision, posterior, paid, list_paths([("test",)] * table.n_rows))

    found = evaluate(draw_clinic(60), "ill", **SETTINGS | {"policies": (), "rivals": [Always()]})
    [result] = found.results
    assert set(result.decision) == {"yes"}
    assert result.mean_feature_cost == 2
    assert result.mean_expected_cost == 2  # it is sure of itself
    assert [bin.predicted for bin in result.calibration] == [1.0]
    assert result.calibration[0].observed == result.accuracy


def test_a_referral_is_a_decision_and_never_the_true_class():
    rows = {
        "yes": {"yes": 0, "no": 60},
        "refer": {"yes": 4, "no": 4},
        "no": {"yes": 90, "no": 0},
    }
    changes = {"misclassification": rows, "policies": ["none", "greedy"]}
    found = evaluate(draw_clinic(120), "ill", **QUICK | changes)
    for result in found.results:
        assert set(result.decision) <= set(rows)
        paid = [rows[d][t] for d, t in zip(result.decision, result.truth, strict=True)]
        assert result.misclassification_cost.tolist() == paid
        is_referred = result.decision == "refer"
        assert np.isnan(result.probability[is_referred]).all()
        assert not np.isnan(result.probability[~is_referred]).any()
        assert not result.is_right[is_referred].any()
        assert sum(bin.count for bin in result.calibration) == (~is_referred).sum()
    none = next(result for result in found.results if result.policy == "none")
    assert set(none.decision) == {"refer"}
    assert (none.mean_total_cost, none.accuracy, none.calibration) == (4, 0, ())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_folds": 1}, "n_folds: must be 2 to 60, the number of rows, got 1"),
        ({"n_folds": 61}, "n_folds: must be 2 to 60"),
        ({"policies": ["best"]}, "policies: no policy 'best'; there are none, "),
        ({"recipes": ["soup"]}, "recipes: no recipe 'soup'; there are auto, search"),
        ({"seed": -1}, "seed: must be a whole number >= 0, got -1"),
        ({"budgets": [-1]}, "budgets: must be >= 0, got -1"),
        ({"policies": [], "rivals": []}, "policies: nothing is asked for"),
        ({"rivals": [AtOnce(), AtOnce()]}, "rivals: two rivals have the same name"),
        ({"costs": {"age": 1}}, "costs: no price for 'ward', 'fever', 'scan', 'gene'; give one"),
        ({"costs": {**COSTS.prices, "agee": 1}}, r"costs.agee: no such feature \(nearest: 'age'\)"),
        ({"misclassification": [[0, 1]]}, r"misclassification: must be a matrix \[decision\]"),
        ({"misclassification": {}}, "misclassification: at least one decision is needed"),
        (
            {"misclassification": {"yes": {"yes": 0}}},
            "misclassification.yes: the cost for the class 'no' is missing",
        ),
        (
            {"misclassification": {"yes": {"yes": 0, "no": 9}, "refer": {"yes": 3, "mo": 3}}},
            "misclassification.refer.mo: this is not a class; the classes are 'no', 'yes'",
        ),
        ({"ignore": ["nothing"]}, "ignore: no column 'nothing'"),
    ],
)
def test_errors_name_the_parameter(changes, said):
    with pytest.raises((InputError, UnknownNameError), match=said):
        evaluate_folds(draw_clinic(60), "ill", **QUICK | changes)


def test_two_classes_of_two_rows_are_needed():
    columns = {"x": [1, 2, 3, 4], "y": ["a", "a", "a", "b"]}
    with pytest.raises(InputError, match="data.y: two classes with two rows or more are needed"):
        evaluate(columns, "y", costs={"x": 1}, misclassification=("symmetric", 1), n_folds=2)


def test_some_folds_can_be_put_together():
    settings = QUICK | {"n_folds": 3, "rivals": [AtOnce()]}
    folds = list(evaluate_folds(draw_clinic(60), "ill", **settings))
    part = summarize(folds[:2])
    assert (part.n_folds, len(part.rows)) == (2, 40)
    assert (np.diff(part.rows) > 0).all()
    with pytest.raises(InputError, match="at least one fold is needed"):
        summarize([])


def when(feature, state):
    return FeatureCosts(COSTS.prices, conditional=(ConditionalCost("gene", {feature: state}, 8),))


def test_a_price_may_depend_on_a_state_that_a_fold_does_not_have():
    columns = {name: c.raw().tolist() for name, c in draw_clinic(60).columns.items()}
    columns["ward"][5] = "west"
    found = evaluate(columns, "ill", **QUICK | {"costs": when("ward", "west")})
    assert len(found.rows) == 60


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        (when("age", "<50"), r"conditional_costs\[0\].when.age: has other bins in every fold"),
        (when("ward", "nort"), r"when.ward: no state 'nort' \(nearest: 'north'\)"),
        (when("wardd", "north"), r"when.wardd: no feature 'wardd' \(nearest: 'ward'\)"),
        (when("ill", "yes"), r"when.ill: no feature 'ill'"),
        (
            FeatureCosts(COSTS.prices, conditional=(ConditionalCost("jean", {"ward": "n"}, 8),)),
            r"conditional_costs\[0\].feature: no feature 'jean'",
        ),
    ],
)
def test_a_price_may_not_depend_on_what_is_no_state_of_the_table(costs, said):
    with pytest.raises((InputError, UnknownNameError), match=said):
        evaluate_folds(draw_clinic(60), "ill", **QUICK | {"costs": costs})
