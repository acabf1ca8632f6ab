"""Recipes are chosen by what their policies cost on rows that they have not seen."""

from functools import cache

import numpy as np
import pytest

from voilattice import ConditionalCost, FeatureCosts, VoilatticeError, learn_problem
from voilattice.errors import DataWarning
from voilattice.learning import Recipe, as_table, selection
from voilattice.learning.recipes import NAMED
from voilattice.learning.selection import (
    NONE,
    Choice,
    Fold,
    Trial,
    choose_recipe,
    deal_folds,
    try_recipe,
)

CLASSES = ("ill", "well")
STAKES = np.array([[0.0, 100.0], [100.0, 0.0]])
PRICES = FeatureCosts({"x": 1.0, "z": 1.0, "noise": 1.0})


def draw(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    return {
        "x": rng.normal(size=n) + 2.0 * y,
        "z": np.where(rng.random(n) < 0.7, y, ~y),
        "noise": rng.normal(size=n),
        "y": np.where(y, "ill", "well"),
    }


def choose(table, prices=PRICES, stakes=STAKES, **options):
    return choose_recipe(as_table(table), "y", prices, stakes, classes=CLASSES, **options)


@cache
def choose_once():
    """The choice for a table that several tests compare with."""
    return choose(draw(90))


def test_every_row_is_outside_once():
    folds = deal_folds(np.arange(3, 20), 5, np.random.default_rng(0))
    assert sorted(np.concatenate([fold.outside for fold in folds])) == list(range(3, 20))
    assert all(not set(fold.inside) & set(fold.outside) for fold in folds)
    assert all(len(fold.inside) + len(fold.outside) == 17 for fold in folds)


def test_the_choice_is_cheaper_than_deciding_at_once():
    found = choose(draw())
    costs = {trial.name: trial.mean_total_cost for trial in found.trials}
    assert found.name != "none"
    assert costs[found.name] < costs["none"] / 2
    assert list(costs.values()) == sorted(costs.values())


def test_the_first_recipe_within_a_standard_error_of_the_lowest_is_chosen():
    for seed in range(3):
        found = choose(draw(80, seed))
        trials = {trial.name: trial for trial in found.trials}
        close = [
            name
            for k, name in enumerate(selection.CANDIDATES)
            if trials[name].difference <= trials[name].error_of_difference
            and all(
                trials[name].mean_total_cost <= trials[earlier].mean_total_cost
                for earlier in selection.CANDIDATES[:k]
            )
        ]
        assert found.name == close[0]
        assert found.trials[0].difference == 0


def test_where_features_are_too_dear_nothing_is_bought():
    table = draw()
    table["y"] = np.where(np.arange(150) % 5 == 0, "ill", "well")
    found = choose(table, FeatureCosts(dict.fromkeys(("x", "z", "noise"), 1000.0)))
    assert {trial.mean_total_cost for trial in found.trials} == {found.trials[0].mean_total_cost}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_same_seed_gives_the_same_choice(n_jobs):
    assert choose(draw(90), n_jobs=n_jobs) == choose_once()


def test_another_seed_deals_other_folds():
    assert choose(draw(90), seed=1).trials != choose_once().trials


@pytest.mark.parametrize("recipe", ["smooth", "trained", "decision-tree", "naive", "search"])
def test_a_recipe_never_sees_the_rows_it_is_tried_on(recipe):
    """Other held-out rows, with other labels, change nothing for the last one."""
    table, other = draw(120), draw(120, seed=8)
    last = np.arange(120) == 119
    changed = {
        name: np.where((np.arange(120) < 80) | last, table[name], other[name][::-1])
        for name in table
    }
    changed["y"] = np.where(
        (np.arange(120) < 80) | last, table["y"], np.where(table["y"] == "ill", "well", "ill")
    )
    fold = Fold(np.arange(80), np.arange(80, 120))

    def pay(data):
        return try_recipe(
            as_table(data), "y", recipe, fold, PRICES, STAKES, classes=CLASSES, policy="greedy"
        )

    one, two = pay(table), pay(changed)
    assert one[-1] == two[-1]
    assert (one != two).any()


def test_of_two_recipes_that_seem_dear_the_noisier_one_is_not_taken():
    """Deciding at once costs 10; the first is surely dearer, the second dearer still, but noisy."""
    rng = np.random.default_rng(0)
    costs = np.full((3, 400), 10.0)
    costs[0] += 1.0 + 0.1 * rng.normal(size=400)
    costs[1] += 2.0 + 90.0 * np.tile([1.0, -1.0], 200)
    found = selection._choose(["smooth", "trained", NONE], costs, np.ones(400), 2)
    assert found.name == NONE
    assert selection._choose(["trained", NONE], costs[1:], np.ones(400), 2).name == "trained"


def test_prices_may_depend_on_a_state_that_a_fold_lacks():
    table = draw(90)
    table["z"] = np.where(np.arange(90) == 7, "rare", table["z"].astype(str))
    prices = FeatureCosts(dict(PRICES.prices), (), (ConditionalCost("x", {"z": "rare"}, 9.0),))
    assert choose(table, prices, candidates=("naive", "none")).trials
    for when, said in (({"z": "none"}, "no state 'none'"), ({"q": "a"}, "no feature 'q'")):
        wrong = FeatureCosts(dict(PRICES.prices), (), (ConditionalCost("x", when, 9.0),))
        with pytest.raises(VoilatticeError, match=said):
            choose(table, wrong)
    binned = FeatureCosts(dict(PRICES.prices), (), (ConditionalCost("x", {"noise": "<0"}, 9.0),))
    with pytest.raises(VoilatticeError, match="has other bins in every fold"):
        choose(table, binned)


def test_a_class_that_a_fold_lacks_is_no_obstacle():
    table = draw(60)
    table["y"] = np.array(["well"] * 59 + ["ill"])
    assert choose(table).trials


def test_weights_count():
    table = draw(90)
    weights = np.where(np.arange(90) < 45, 1.0, 0.0)
    found = choose(table, weights=weights)
    assert found.trials != choose_once().trials


def test_a_large_optimum_is_that_of_fewer_features(monkeypatch):
    seen = []
    real = selection.apply_policy

    def spy(name, *others, planner, problem, **options):
        seen.append(len(planner.focus(problem).features) < len(problem.features))
        return real(name, *others, planner=planner, problem=problem, **options)

    monkeypatch.setattr(selection, "apply_policy", spy)
    choose(draw(60), candidates=("smooth",))
    monkeypatch.setattr(selection, "MAX_STATES", 3)
    choose(draw(60), candidates=("smooth",))
    assert seen == sorted(seen)
    assert set(seen) == {False, True}


def test_progress_counts_the_trials():
    seen = []
    choose(draw(40), candidates=("smooth", "none"), progress=lambda *a: seen.append(a))
    assert seen[-1] == (len(seen), len(seen)) == (16, 16)


QUICK = (NONE, "tree", "naive")
EVEN = np.array([[0.0, 50.0], [50.0, 0.0]])


def draw_table(n=200, noise=0.15, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    told = np.where(rng.random(n) < noise, ~y, y)
    return {
        "y": np.where(y, "yes", "no"),
        "told": np.where(told, "a", "b"),
        "number": rng.normal(size=n) + y,
    }


def choose_quickly(data, prices, **options):
    return choose_recipe(
        as_table(data), "y", FeatureCosts(prices), EVEN, classes=["no", "yes"],
        candidates=QUICK, **options,
    )  # fmt: skip


def test_deciding_at_once_wins_where_features_cost_more_than_they_tell():
    choice = choose_quickly(draw_table(), {"told": 60, "number": 60})
    assert (choice.name, choice.recipe) == (NONE, None)
    assert choose_quickly(draw_table(), {"told": 1, "number": 1}).name != NONE


def test_the_choice_does_not_depend_on_the_number_of_processes():
    data, prices = draw_table(60), {"told": 1, "number": 1}
    assert choose_quickly(data, prices, n_jobs=2) == choose_quickly(data, prices)


def test_without_time_one_fold_decides():
    calls = []
    with pytest.warns(DataWarning, match="^there was time to try recipes on 50 of 200 rows only"):
        choice = choose_quickly(
            draw_table(), {"told": 1, "number": 1}, time_limit=0,
            progress=lambda done, total: calls.append((done, total)),
        )  # fmt: skip
    assert choice.n_rows == 50
    assert calls == [(k, 24) for k in (1, 2, 3)]
    assert {trial.name for trial in choice.trials} == set(QUICK)


def test_folds_from_which_nothing_can_be_learned_decide_at_once():
    data = {"y": ["no"] * 5 + ["yes"], "told": ["a"] * 5 + ["b"]}
    choice = choose_quickly(data, {"told": 1})
    assert choice.name == NONE


def test_rows_of_weight_0_do_not_count():
    data, prices = draw_table(100), {"told": 1, "number": 1}
    weights = np.repeat([1.0, 0.0], 50)
    half = {name: column[:50] for name, column in data.items()}
    assert choose_quickly(data, prices, weights=weights) == choose_quickly(half, prices)


@pytest.fixture
def quick_candidates(monkeypatch):
    defaults = dict(choose_recipe.__kwdefaults__, candidates=QUICK)
    monkeypatch.setattr(choose_recipe, "__kwdefaults__", defaults)


@pytest.mark.usefixtures("quick_candidates")
def test_a_problem_is_learned_with_the_recipe_chosen():
    found = learn_problem(draw_table(), "y", recipe="auto", misclassification=EVEN)
    assert found.choice is not None
    assert found.learned.recipe == found.choice.recipe == NAMED[found.choice.name]
    assert learn_problem(draw_table(), "y", recipe="naive").choice is None
    again = learn_problem(draw_table(), "y", recipe=found.choice.name, misclassification=EVEN)
    assert again.problem == found.problem


@pytest.mark.usefixtures("quick_candidates")
def test_where_deciding_at_once_is_best_the_best_network_is_learned_all_the_same(tmp_path):
    found = learn_problem(
        draw_table(), "y", recipe="auto", costs={"told": 60, "number": 60}, misclassification=EVEN
    )
    assert found.choice.recipe is None
    assert found.learned.recipe in (NAMED["tree"], NAMED["naive"])
    found.write(tmp_path / "p")
    readme = (tmp_path / "p" / "README.md").read_text()
    assert "The recipe `none` was chosen" in readme
    assert "`none` decides at once: no recipe was shown to be worth its features." in readme


def test_stakes_reach_the_training_of_every_recipe():
    data = draw_table()
    trained = Recipe("frequency", 4, structure="naive", parameters="trained")
    even, uneven = (
        learn_problem(data, "y", recipe=trained, misclassification=matrix).learned.network
        for matrix in ([[0, 1], [1, 0]], [[0, 1], [9, 0]])
    )
    assert even != uneven


@pytest.mark.parametrize("n_repeats", [1, 2])
def test_the_error_of_a_difference_is_corrected_for_folds_that_overlap(n_repeats):
    costs = np.random.default_rng(0).normal(size=(2, 50))
    costs[0] += 2.0
    found = selection._choose(["smooth", NONE], costs, np.ones(50), n_repeats)
    best, other = found.trials
    assert (best.name, other.name) == (NONE, "smooth")
    difference = costs[0] - costs[1]
    k = selection.N_FOLDS
    corrected = (1 / (n_repeats * k) + 1 / (k - 1)) * k * difference.var() / 50
    assert other.difference == pytest.approx(difference.mean())
    assert other.error_of_difference == pytest.approx(corrected**0.5)
    assert other.standard_error == pytest.approx((costs[0].var() / 50) ** 0.5)
    assert (best.difference, best.error_of_difference) == (0.0, 0.0)
    assert found.n_rows == 50


def test_rows_of_unequal_weight_say_less():
    # The mean is 1, the variance 3; the weights say as much as 16 / 10 equal ones.
    found = selection._error(np.array([0.0, 4.0]), np.array([3.0, 1.0]))
    assert found == pytest.approx((3 / 1.6) ** 0.5)


@pytest.mark.parametrize(("n", "n_repeats"), [(19, 2), (20, 1), (21, 1)])
def test_many_rows_are_dealt_once(monkeypatch, n, n_repeats):
    monkeypatch.setattr(selection, "MANY_ROWS", 20)
    seen = []
    choose(draw(n), candidates=(NONE,), progress=lambda *a: seen.append(a))
    assert len(seen) == n_repeats * selection.N_FOLDS


@pytest.mark.parametrize(("most", "n_rows"), [(29, 29), (30, 30), (31, 30)])
def test_of_very_many_rows_some_are_drawn(monkeypatch, most, n_rows):
    monkeypatch.setattr(selection, "MOST_ROWS", most)
    assert choose(draw(30), candidates=(NONE,)).n_rows == n_rows


def test_deciding_at_once_costs_what_the_commoner_class_says():
    table = {"y": ["ill"] * 3 + ["well"] * 5, "x": list("ababbaba")}
    fold = Fold(np.array([0, 1, 2, 3, 4, 5]), np.array([6, 7]))  # three of each class

    def pay(stakes, weights=None):
        return try_recipe(
            as_table(table), "y", NONE, fold, FeatureCosts({"x": 1.0}), np.array(stakes),
            classes=CLASSES, policy="none", weights=weights,
        ).tolist()  # fmt: skip

    assert pay([[0.0, 9.0], [8.0, 0.0]]) == [0.0, 0.0]
    assert pay([[0.0, 8.0], [9.0, 0.0]]) == [8.0, 8.0]
    assert pay([[0.0, 9.0], [8.0, 0.0]], [5.0] * 3 + [1.0] * 5) == [9.0, 9.0]


@pytest.mark.parametrize(
    "result",
    [Trial(NONE, 1.0, 0.1, 0.0, 0.0), Choice(NONE, None, ()), Fold(np.arange(2), np.arange(1))],
    ids=lambda result: type(result).__name__,
)
def test_a_result_cannot_be_changed(result):
    field = next(iter(result.__dataclass_fields__))
    with pytest.raises(AttributeError):
        setattr(result, field, "other")
