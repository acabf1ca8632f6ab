import numpy as np
import pytest

from voilattice import FeatureCosts
from voilattice.learning import as_table, selection
from voilattice.learning.selection import Fold, choose_recipe, deal_folds, try_recipe

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
            for name in selection.CANDIDATES
            if trials[name].difference <= trials[name].error_of_difference
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
    assert choose(draw(90), n_jobs=n_jobs) == choose(draw(90))


def test_another_seed_deals_other_folds():
    one, two = (choose(draw(90), seed=seed) for seed in (1, 2))
    assert one.trials != two.trials


def test_a_recipe_never_sees_the_rows_it_is_tried_on():
    table = draw(120)
    fold = Fold(np.arange(80), np.arange(80, 120))
    leaked = dict(table)
    leaked["x"] = np.where(np.arange(120) < 80, table["x"], 5.0 * (table["y"] == "ill"))

    def decisions(data):
        return try_recipe(
            as_table(data), "y", "smooth", fold, PRICES, STAKES, classes=CLASSES, policy="greedy"
        )

    plain = decisions(table)
    shuffled = {name: np.concatenate([c[:80], c[80:][::-1]]) for name, c in table.items()}
    np.testing.assert_allclose(decisions(shuffled), plain[::-1])
    assert len(decisions(leaked)) == 40


def test_a_class_that_a_fold_lacks_is_no_obstacle():
    table = draw(60)
    table["y"] = np.array(["well"] * 59 + ["ill"])
    assert choose(table).trials


def test_weights_count():
    table = draw(90)
    weights = np.where(np.arange(90) < 45, 1.0, 0.0)
    found = choose(table, weights=weights)
    assert found.trials != choose(table).trials


def test_the_greedy_policy_stands_in_for_a_large_optimum(monkeypatch):
    seen = []
    real = selection.apply_policy
    monkeypatch.setattr(
        selection, "apply_policy", lambda name, *a, **k: seen.append(name) or real(name, *a, **k)
    )
    choose(draw(60), candidates=("smooth",))
    monkeypatch.setattr(selection, "MAX_STATES", 3)
    choose(draw(60), candidates=("smooth",))
    assert set(seen) == {"optimal", "greedy"}


def test_progress_counts_the_trials():
    seen = []
    choose(draw(40), candidates=("smooth", "none"), progress=lambda *a: seen.append(a))
    assert seen[-1] == (len(seen), len(seen)) == (16, 16)
