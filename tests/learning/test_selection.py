"""Recipes are chosen by what their policies cost on rows that they have not seen."""

import numpy as np
import pytest

from voilattice import FeatureCosts, learn_problem
from voilattice.learning import Recipe, as_table
from voilattice.learning.recipes import NAMED
from voilattice.learning.selection import NONE, choose_recipe

QUICK = (NONE, "tree", "naive")
STAKES = np.array([[0.0, 50.0], [50.0, 0.0]])


def draw_table(n=200, noise=0.15, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    told = np.where(rng.random(n) < noise, ~y, y)
    return {
        "y": np.where(y, "yes", "no"),
        "told": np.where(told, "a", "b"),
        "number": rng.normal(size=n) + y,
    }


def choose(data, prices, **options):
    return choose_recipe(
        as_table(data), "y", FeatureCosts(prices), STAKES, classes=["no", "yes"],
        candidates=QUICK, **options,
    )  # fmt: skip


def test_deciding_at_once_wins_where_features_cost_more_than_they_tell():
    choice = choose(draw_table(), {"told": 60, "number": 60})
    assert (choice.name, choice.recipe) == (NONE, None)
    assert choose(draw_table(), {"told": 1, "number": 1}).name != NONE


def test_the_choice_does_not_depend_on_the_number_of_processes():
    data, prices = draw_table(60), {"told": 1, "number": 1}
    assert choose(data, prices, n_jobs=2) == choose(data, prices)


def test_without_time_one_fold_decides():
    calls = []
    choice = choose(
        draw_table(), {"told": 1, "number": 1}, time_limit=0,
        progress=lambda done, total: calls.append((done, total)),
    )  # fmt: skip
    assert calls == [(k, 30) for k in (1, 2, 3)]
    assert {trial.name for trial in choice.trials} == set(QUICK)


def test_folds_from_which_nothing_can_be_learned_decide_at_once():
    data = {"y": ["no"] * 5 + ["yes"], "told": ["a"] * 5 + ["b"]}
    choice = choose(data, {"told": 1})
    assert choice.name == NONE


def test_rows_of_weight_0_do_not_count():
    data, prices = draw_table(100), {"told": 1, "number": 1}
    weights = np.repeat([1.0, 0.0], 50)
    half = {name: column[:50] for name, column in data.items()}
    assert choose(data, prices, weights=weights) == choose(half, prices)


@pytest.fixture
def quick_candidates(monkeypatch):
    defaults = dict(choose_recipe.__kwdefaults__, candidates=QUICK)
    monkeypatch.setattr(choose_recipe, "__kwdefaults__", defaults)


@pytest.mark.usefixtures("quick_candidates")
def test_a_problem_is_learned_with_the_recipe_chosen():
    found = learn_problem(draw_table(), "y", recipe="auto", misclassification=STAKES)
    assert found.choice is not None
    assert found.learned.recipe == found.choice.recipe == NAMED[found.choice.name]
    assert learn_problem(draw_table(), "y", recipe="naive").choice is None
    again = learn_problem(draw_table(), "y", recipe=found.choice.name, misclassification=STAKES)
    assert again.problem == found.problem


@pytest.mark.usefixtures("quick_candidates")
def test_where_deciding_at_once_is_best_the_best_network_is_learned_all_the_same(tmp_path):
    found = learn_problem(
        draw_table(), "y", recipe="auto", costs={"told": 60, "number": 60}, misclassification=STAKES
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
