"""A scikit-learn classifier that asks for features only while they pay."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import PRICES, STAKES, draw_patients, make_classifier
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

from voilattice import Discount, Group, advise, build_policy
from voilattice.errors import DataWarning
from voilattice.learning import Recipe
from voilattice.sklearn import AcquiringClassifier

X, Y = draw_patients()
NEW, TRUTH = draw_patients(120, seed=1)
FITTED = make_classifier().fit(X, Y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # its tables have one class only, or constant columns
@parametrize_with_checks([AcquiringClassifier(time_limit=30)])
def test_scikit_learn_accepts_the_classifier(estimator, check):
    if check.func is check_sample_weight_equivalence_on_dense_data:
        # Repeated rows land in several folds, so that "auto" may choose another recipe for them.
        estimator.set_params(recipe="search")
    check(estimator)


def test_settings_are_kept_as_they_are():
    groups, discounts = [("blood", 2.1, ["chol"])], [("lab", {"fbs": 1.0})]
    clf = make_classifier(groups=groups, discounts=discounts)
    assert clf.groups is groups
    assert clf.get_params()["discounts"] is discounts
    assert clone(clf).get_params() == clf.get_params()
    assert clf.set_params(policy="greedy", time_limit=3).policy == "greedy"
    assert AcquiringClassifier().get_params() == {
        "prices": 0, "groups": (), "discounts": (), "misclassification": None,
        "policy": "optimal", "recipe": "auto", "time_limit": 60, "n_jobs": None, "random_state": 0,
    }  # fmt: skip
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_prices_come_as_people_have_them():
    polars = pytest.importorskip("polars")
    in_order = [PRICES[name] for name in X.columns]
    for prices in (
        in_order, tuple(in_order), np.array(in_order), pd.Series(PRICES), pd.Series(in_order),
        pd.Series(PRICES)[::-1], polars.Series(in_order),
    ):  # fmt: skip
        clf = clone(make_classifier(prices=prices)).fit(X, Y)
        assert clf.problem_.costs == FITTED.problem_.costs
    off = {"chol": 2.1, "fbs": 2.1}
    series, plain = (
        make_classifier(discounts=[("lab", given)], groups=[("visit", 1.0, columns)]).fit(X, Y)
        for given, columns in ((pd.Series(off), X.columns[[0, 3]]), (off, ["age", "pain"]))
    )
    assert series.problem_.costs == plain.problem_.costs


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.arange(500.0), "Expected 2D array, got 1D array of 500 values instead. Reshape your"),
        (pd.Series(range(500)), "Expected 2D array, got 1D array of 500 values instead. Reshape"),
        (dict(X), "must be a data frame or a 2-D array, got a dict; pandas.DataFrame(...) makes"),
        (X.to_dict("records"), "must be a data frame or a 2-D array, got a list of mappings; pan"),
    ],
    ids=["array", "series", "dict", "records"],
)
def test_what_is_no_table_is_refused_without_printing_it(rows, said):
    for call in (FITTED.predict, lambda given: make_classifier(prices=1).fit(given, Y)):
        with pytest.raises(ValueError, match="^X: ") as error:
            call(rows)
        assert said in str(error.value)
        assert len(str(error.value)) < 230


def test_what_fit_finds_out():
    assert FITTED.classes_.tolist() == ["ill", "well"]
    assert FITTED.n_features_in_ == 4
    assert FITTED.feature_names_in_.tolist() == list(X.columns)
    assert FITTED.problem_.target == "state"
    assert FITTED.problem_.misclassification.tolist() == STAKES
    assert (FITTED.policy_.name, FITTED.recipe_, FITTED.choice_) == ("optimal", "naive", None)
    assert FITTED.learned_.table.columns == {}  # the rows do not travel with the model
    assert "chol" in FITTED.problem_.bins


def test_predictions_follow_the_policy():
    decisions = FITTED.predict(NEW)
    assert (decisions == TRUTH).mean() > 0.8
    probabilities = FITTED.predict_proba(NEW)
    assert probabilities.shape == (120, 2)
    risk = probabilities @ np.array(STAKES).T
    assert (FITTED.classes_[risk.argmin(axis=1)] == decisions).all()
    bill = FITTED.bill(NEW)
    assert list(bill.columns) == ["bought", "feature_cost"]
    assert bill.index.equals(NEW.index)
    spent = [sum(PRICES[name] for name in bought) for bought in bill["bought"]]
    assert bill["feature_cost"].tolist() == pytest.approx(spent)
    first = FITTED.policy_.root.features
    assert all(bought[: len(first)] == first for bought in bill["bought"])
    wrong = np.where(decisions == TRUTH, 0, np.where(decisions == "ill", 60, 100))
    assert FITTED.total_cost(NEW, TRUTH).tolist() == pytest.approx((spent + wrong).tolist())
    assert FITTED.score(NEW, TRUTH) == pytest.approx(-FITTED.total_cost(NEW, TRUTH).mean())
    weights = np.arange(120.0)
    assert FITTED.score(NEW, TRUTH, weights) == pytest.approx(
        -np.average(FITTED.total_cost(NEW, TRUTH), weights=weights)
    )


def test_a_cell_matters_only_if_it_is_bought():
    bought, decisions = FITTED.bill(NEW)["bought"], FITTED.predict(NEW)
    hidden = NEW.astype(object)
    for row, names in enumerate(bought):
        for name in set(NEW.columns) - set(names):
            hidden.loc[row, name] = "never seen"
    assert (hidden == "never seen").to_numpy().any()
    assert (FITTED.predict(hidden) == decisions).all()  # and no warning


def test_acquire_asks_for_what_it_buys_and_for_nothing_else():
    for row in range(40):
        asked = []

        def oracle(name, row=row, asked=asked):
            asked.append(name)
            return NEW.loc[row, name]

        found = FITTED.acquire(oracle)
        assert tuple(asked) == found.bought == FITTED.bill(NEW[row : row + 1])["bought"][row]
        assert found.decision == FITTED.predict(NEW)[row]
        assert list(found.posterior) == ["ill", "well"]
        posterior = FITTED.predict_proba(NEW)[row].tolist()
        assert list(found.posterior.values()) == pytest.approx(posterior)
        assert found.feature_cost == sum(PRICES[name] for name in asked)
    decision, _, bought, cost = FITTED.acquire(lambda name: None)  # nothing can be had
    assert (decision, bought, cost) == (build_policy(FITTED.problem_, "none").root.decision, (), 0)


def test_next_feature_leads_along_the_path_of_the_case():
    known = pd.DataFrame(np.nan, NEW.index, NEW.columns, dtype=object)
    for _ in range(5):
        steps = FITTED.next_feature(known)
        for row, names in enumerate(steps):
            for name in names:
                assert pd.isna(known.loc[row, name])
                known.loc[row, name] = NEW.loc[row, name]
    assert set(steps) == {()}
    bought = FITTED.bill(NEW)["bought"]
    assert [set(row.dropna().index) for _, row in known.iterrows()] == [set(b) for b in bought]


def test_next_feature_takes_evidence_that_the_policy_did_not_ask_for():
    for name in X.columns:
        known = pd.DataFrame(np.nan, [0], X.columns, dtype=object)
        known.loc[0, name] = X.loc[0, name]
        (step,) = FITTED.next_feature(known)
        advice = advise(FITTED.problem_, "optimal", {name: X.loc[0, name]})
        assert set(step) == advice.features


def test_a_missing_cell_cannot_be_had():
    (first,) = FITTED.policy_.root.features
    lacking = NEW.copy()
    lacking[first] = None
    bill = FITTED.bill(lacking)
    assert all(first not in bought for bought in bill["bought"])
    without = build_policy(FITTED.problem_.without([first]), "optimal")
    assert {bought[:1] for bought in bill["bought"]} == {without.root.features}


def test_unseen_categories_are_missing_with_one_warning():
    odd = NEW.copy()
    odd["pain"] = ["dull", "sharp"] * 60
    with pytest.warns(DataWarning) as warned:
        decisions = FITTED.predict(odd)
    assert [str(warning.message) for warning in warned] == [
        "values that were not seen in fit are taken as missing: pain = 'dull', 'sharp'"
    ]
    assert warned[0].filename == __file__
    odd["pain"] = None
    assert (FITTED.predict(odd) == decisions).all()


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1], [7, -3], [True, False], ["yes", "no"], [1.0, 2.0], ["NA", "?"], ["", " x"],
        [1, "1"], [True, "True"], [("a", 1), ("b", 2)], [b"x", b"y"], ["é", "名"],
        [np.datetime64("2020-01-01"), np.datetime64("2021-01-01")], [2**70, 3],
    ],
    ids=str,
)  # fmt: skip
def test_labels_come_back_as_they_came(labels):
    y = np.empty(len(Y), dtype=object)
    for row, is_ill in enumerate(Y == "ill"):
        y[row] = labels[int(is_ill)]
    if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], tuple):
        y = np.array(y.tolist())
        assert make_classifier().fit(X, y).classes_.tolist() == np.unique(y).tolist()
    clf = make_classifier(misclassification=None, prices=0).fit(X, y)
    found = clf.predict(X)
    assert {(type(label), label) for label in found.tolist()} == {
        (type(label), label) for label in y.tolist()
    }
    agreed = [one == other for one, other in zip(found.tolist(), y.tolist(), strict=True)]
    assert np.mean(agreed) > 0.8
    assert clf.score(X, y) == pytest.approx(np.mean(agreed) - 1)


@pytest.mark.parametrize(
    ("kind", "labels", "dtype"),
    [
        ("Int64", [0, 1], np.int64), ("UInt8", [3, 9], np.uint8), ("boolean", [True, False], bool),
        ("Float64", [1.0, 2.0], np.float64), ("string", ["yes", "no"], object),
        ("string[python]", ["yes", "no"], object), ("category", ["yes", "no"], object),
        ("int64[pyarrow]", [0, 1], np.int64), ("bool[pyarrow]", [True, False], bool),
        ("string[pyarrow]", ["yes", "no"], object),
    ],
)  # fmt: skip
def test_labels_of_nullable_types_come_back_as_they_came(kind, labels, dtype):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    y = pd.Series(np.array(labels, dtype=object)[(Y == "ill").to_numpy().astype(int)]).astype(kind)
    clf = make_classifier(misclassification=None, prices=0).fit(X, y)
    assert clf.classes_.dtype == dtype
    assert clf.classes_.tolist() == sorted(labels)
    assert clf.problem_.classes == tuple(f"{label:g}" if dtype == np.float64 else str(label)
                                         for label in sorted(labels))  # fmt: skip
    found = clf.predict(X)
    assert found.dtype == dtype
    assert accuracy_score(y, found) > 0.8
    assert clf.score(X, y) == pytest.approx(np.mean(found == y.to_numpy(dtype=dtype)) - 1)
    with pytest.raises(ValueError, match="y: row 4: Input y contains NaN"):
        clf.fit(X, y.where(y.index != 3))


def test_stakes_by_label():
    y = np.where(Y == "ill", 1, 0)
    by_label = {1: {1: 0, 0: 60}, 0: {1: 100, 0: 0}}
    clf = make_classifier(misclassification=by_label).fit(X, y)
    assert clf.problem_.misclassification.tolist() == [[0, 100], [60, 0]]
    by_text = {"ill": {"ill": 0, "well": 60}, "well": {"well": 0, "ill": 100}}
    text = make_classifier(misclassification=by_text).fit(X, Y)
    assert text.problem_.misclassification.tolist() == STAKES
    assert (clf.predict(NEW) == np.where(text.predict(NEW) == "ill", 1, 0)).all()


def test_stakes_may_have_classes_that_the_labels_lack():
    names = ("ill", "well", "dead")
    stakes = {i: {j: 0.0 if i == j else 50.0 + len(i) for j in names} for i in names}
    clf = make_classifier(misclassification=stakes).fit(X, Y)
    assert clf.problem_.misclassification.tolist() == [[0, 53], [54, 0]]
    with pytest.warns(DataWarning, match="one class only, 'well'"):
        assert set(clf.fit(X, ["well"] * len(X)).predict(X)) == {"well"}


OWN = {
    "treat": {"ill": 0, "well": 60},
    "refer": {"ill": 12, "well": 12},
    "well": {"well": 0, "ill": 100},
}


def test_decisions_of_ones_own_are_predicted():
    clf = make_classifier(misclassification=OWN).fit(X, Y)
    assert clf.classes_.tolist() == ["ill", "well"]
    assert clf.decisions_.tolist() == list(clf.problem_.decisions) == list(OWN)
    said = clf.predict(NEW)
    assert set(said) <= set(OWN)
    assert "refer" in said
    paid = [OWN[decision][truth] for decision, truth in zip(said, TRUTH, strict=True)]
    assert clf.total_cost(NEW, TRUTH) == pytest.approx(clf.bill(NEW)["feature_cost"] + paid)
    assert clf.predict_proba(NEW).shape == (len(NEW), 2)
    case = NEW.iloc[3]
    got = clf.acquire(case.get)
    assert got.decision == said[3]
    assert set(got.posterior) == {"ill", "well"}
    # A way out that costs little makes no case dearer.
    without = make_classifier(misclassification=[[0, 60], [100, 0]]).fit(X, Y)
    assert clf.policy_.expected_total_cost <= without.policy_.expected_total_cost


def test_decisions_keep_their_types():
    y = np.where(Y == "ill", 1, 0)
    rows = {1: {1: 0, 0: 60}, "refer": {1: 5, 0: 5}, 0: {1: 100, 0: 0}}
    clf = make_classifier(misclassification=rows).fit(X, y)
    assert clf.decisions_.tolist() == [1, "refer", 0]
    assert {type(said) for said in clf.predict(NEW).tolist()} <= {int, str}
    only = make_classifier(misclassification={"go": {1: 1, 0: 2}}).fit(X, y)
    assert set(only.predict(NEW)) == {"go"}
    assert clf.policy_.expected_feature_cost >= 0 == only.policy_.expected_feature_cost
    fewer = make_classifier(misclassification={0: {1: 1, 0: 2}}).fit(X, y)
    assert fewer.predict(NEW).dtype == y.dtype


def test_one_class_may_have_several_decisions():
    with pytest.warns(DataWarning, match="one class only, 'well': all rows are decided alike"):
        clf = make_classifier(misclassification={"go": {"well": 3}, "wait": {"well": 2}}).fit(
            X, ["well"] * len(X)
        )
    assert set(clf.predict(X)) == {"wait"}


def test_groups_and_discounts_as_tuples_and_as_objects():
    plain = make_classifier(
        groups=[("visit", 2.5, ["age", "pain"])], discounts=[("blood", {"chol": 2, "fbs": 2})]
    ).fit(X, Y)
    objects = make_classifier(
        groups=[Group("visit", 2.5, ("age", "pain"))],
        discounts=[Discount("blood", {"chol": 2, "fbs": 2})],
    ).fit(X, Y)
    assert plain.problem_ == objects.problem_
    assert plain.problem_.costs.groups[0].overhead == 2.5
    assert dict(plain.problem_.costs.discounts[0].off) == {"chol": 2, "fbs": 2}


def test_arrays_have_numbered_columns():
    numbers = np.stack([X["age"], X["chol"], X["fbs"]], axis=1).astype(float)
    named = make_classifier(prices={"x0": 1, "x1": 7, "x2": 5}).fit(numbers, Y)
    placed = make_classifier(prices={0: 1, np.int64(1): 7, 2: 5}).fit(numbers.tolist(), Y)
    assert named.problem_ == placed.problem_
    assert not hasattr(named, "feature_names_in_")
    assert named.next_feature(np.full((2, 3), np.nan)).tolist() == [named.policy_.root.features] * 2
    assert set(named.policy_.root.features) <= {"x0", "x1", "x2"}
    whole = pd.DataFrame(numbers)  # columns 0, 1, 2: scikit-learn takes them as nameless
    assert make_classifier(prices={0: 1, 1: 7, 2: 5}).fit(whole, Y).problem_.features == (
        "x0", "x1", "x2",
    )  # fmt: skip


def test_labels_that_are_numbers_are_not_places():
    frame = X[["age", "chol", "fbs"]].set_axis([2, 0, 1], axis=1)
    prices = {2: 1, 0: 7, 1: 5}
    plain = make_classifier(
        prices=[1, 7, 5], groups=[("visit", 1.0, ["x0"])], discounts=[("lab", {"x1": 2, "x2": 2})]
    ).fit(frame, Y)
    off = {0: 2, 1: 2}
    for given, discount in ((prices, off), (pd.Series(prices)[::-1], pd.Series(off))):
        clf = make_classifier(
            prices=given, groups=[("visit", 1.0, frame.columns[:1])], discounts=[("lab", discount)]
        )
        assert clf.fit(frame, Y).problem_.costs == plain.problem_.costs
    with pytest.raises(KeyError, match=r"^prices: no column 0 \(there are: 5, 6, 7\)"):
        make_classifier(prices={0: 1, 1: 1, 2: 1}).fit(frame.set_axis([5, 6, 7], axis=1), Y)


def test_the_index_of_a_series_is_never_ignored():
    said = "^prices: the index of a Series must be the names of the columns, or 0, 1, 2 and so on, "
    for index in ([3, 2, 1, 0], [10, 11, 12, 13], [1, 2, 3, 4]):
        for table in (X, X.to_numpy()):
            with pytest.raises(ValueError, match=said):
                make_classifier(prices=pd.Series([1, 7, 5, 3], index)).fit(table, Y)


def test_columns_are_found_by_their_names():
    assert (FITTED.predict(NEW[NEW.columns[::-1]]) == FITTED.predict(NEW)).all()
    with pytest.raises(ValueError, match="^X: .*seen at fit time, yet now missing: - age$"):
        FITTED.predict(NEW.drop(columns="age"))
    with pytest.raises(ValueError, match="^X: .*Feature names unseen at fit time: - more$"):
        FITTED.predict(NEW.assign(more=1))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        FITTED.predict(NEW.to_numpy())


def test_frames_of_every_kind_give_the_same_model():
    polars = pytest.importorskip("polars")
    frame, new = polars.from_pandas(X), polars.from_pandas(NEW)
    clf = make_classifier().fit(frame, polars.Series("state", Y.tolist()))
    assert clf.problem_ == FITTED.problem_
    assert (clf.predict(new) == FITTED.predict(NEW)).all()
    bill = clf.bill(new)
    assert isinstance(bill, polars.DataFrame)
    assert list(map(tuple, bill["bought"])) == FITTED.bill(NEW)["bought"].tolist()
    text = X.astype({"pain": "category", "age": "Int64"})
    text.loc[0, "age"] = pd.NA
    assert make_classifier().fit(text, Y).learned_.learned.missing == {"age": 1}


def test_constant_columns_are_left_out_with_one_warning():
    flat = X.assign(one=1, none=np.nan)
    with pytest.warns(DataWarning) as warned:
        clf = make_classifier(prices=2).fit(flat, Y)
    assert [str(warning.message) for warning in warned] == [
        "columns with one value or none are left out: 'one', 'none'"
    ]
    assert clf.problem_.features == tuple(X.columns)
    assert clf.predict(flat).shape == (240,)


def test_without_any_column_to_use_the_decision_is_made_at_once():
    flat = pd.DataFrame({"one": np.ones(240), "none": [None] * 240})
    with pytest.warns(DataWarning, match="'one', 'none'"):
        clf = make_classifier(prices=2).fit(flat, Y)
    assert clf.problem_.features == ()
    assert set(clf.bill(flat)["bought"]) == {()}
    assert clf.next_feature(flat).tolist() == [()] * 240
    assert (clf.recipe_, clf.learned_) == ("none", None)
    assert clf.predict_proba(flat)[0] == pytest.approx([(Y == "ill").mean(), (Y == "well").mean()])


def test_one_class_is_always_predicted():
    with pytest.warns(DataWarning, match="one class only, 'well': it is always predicted"):
        clf = make_classifier(misclassification=[[0]]).fit(X, ["well"] * 240)
    assert clf.classes_.tolist() == ["well"]
    assert clf.predict(NEW).tolist() == ["well"] * 120
    assert clf.predict_proba(NEW).tolist() == [[1.0]] * 120
    assert clf.total_cost(NEW, ["well"] * 120).tolist() == [0.0] * 120
    assert clf.acquire(lambda name: 1 / 0).bought == ()


def test_a_leak_is_warned_about():
    with pytest.warns(DataWarning, match="columns that alone determine 'state': 'code'"):
        make_classifier(prices=1).fit(X.assign(code=Y == "ill"), Y)


def test_weights_count_rows():
    weights = np.random.default_rng(3).integers(0, 3, len(Y))
    repeated = X.loc[X.index.repeat(weights)]
    clf = make_classifier().fit(X, Y, sample_weight=weights)
    assert clf.problem_ == make_classifier().fit(repeated, Y.repeat(weights)).problem_
    ill = np.where(Y == "ill", 1.0, 0.0)
    with pytest.warns(DataWarning, match="one class only"):
        assert make_classifier(misclassification=None).fit(X, Y, ill).classes_.tolist() == ["ill"]


def test_the_target_never_takes_the_name_of_a_column():
    taken = X.rename(columns={"age": "target", "fbs": "state"})
    clf = make_classifier(prices=1).fit(taken, Y.to_numpy())
    assert clf.problem_.target == "target_"
    assert make_classifier(prices=1).fit(taken, Y).problem_.target == "state_"


def test_policies_and_recipes_by_name_or_as_objects():
    for name in ("none", "greedy", "greedy-la", "batch", "markov-blanket"):
        assert make_classifier(policy=name).fit(X, Y).policy_.name == name
    recipe = Recipe(target_first=True)
    clf = make_classifier(recipe=recipe).fit(X, Y)
    assert (clf.learned_.learned.recipe, clf.recipe_) == (recipe, str(recipe))
    assert make_classifier(recipe=Recipe()).fit(X, Y).recipe_ == "search"


def test_where_no_recipe_pays_the_policy_decides_at_once(monkeypatch):
    from voilattice.learning.selection import choose_recipe

    quick = dict(choose_recipe.__kwdefaults__, candidates=("none", "naive"))
    monkeypatch.setattr(choose_recipe, "__kwdefaults__", quick)
    clf = make_classifier(recipe="auto", prices=1000).fit(X, Y)
    assert (clf.recipe_, clf.choice_.name, clf.policy_.name) == ("none", "none", "none")
    assert set(clf.bill(NEW)["bought"]) == {()}
    assert make_classifier(recipe="auto").fit(X, Y).recipe_ == "naive"


def test_cross_validation_grids_and_pipelines_work():
    scores = cross_val_score(make_classifier(), X, Y, cv=3)
    assert (scores < 0).all()
    grid = GridSearchCV(make_classifier(), {"policy": ["none", "greedy"]}, cv=2).fit(X, Y)
    assert grid.best_params_ == {"policy": "greedy"}
    numbers = X[["age", "chol"]]
    piped = make_pipeline(StandardScaler(), make_classifier(prices={"x0": 1, "x1": 7}))
    assert piped.fit(numbers, Y).predict(numbers).shape == (240,)
    kept = make_pipeline(FunctionTransformer(), make_classifier())
    assert (kept.fit(X, Y).predict(NEW) == FITTED.predict(NEW)).all()


def test_a_classifier_shows_itself():
    assert "AcquiringClassifier" in FITTED._repr_html_()
    assert "recipe='naive'" in repr(FITTED)


@pytest.mark.slow
def test_where_the_tree_is_cut_the_greedy_policy_goes_on():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    wide = y[:, None] + rng.normal(size=(300, 12)) * 2
    clf = AcquiringClassifier(0.01, recipe=Recipe("frequency", 8, structure="naive"), time_limit=1)
    start = time.monotonic()
    clf.fit(wide, y)
    assert time.monotonic() - start < 30  # compiling included
    assert not clf.policy_.exact
    many = np.tile(wide, (30, 1))
    start = time.monotonic()
    one, two = clf.predict_proba(many), clf.predict_proba(many[::-1])[::-1]
    assert time.monotonic() - start < 5
    assert np.array_equal(one, two)  # no clock decides
    many[0, clf.n_features_in_ - 1] = np.nan
    assert clf.predict(many).shape == (9000,)


@pytest.mark.slow
def test_the_recipe_is_chosen_by_default_and_for_a_seed_it_is_the_same():
    one, two = (
        AcquiringClassifier(PRICES, misclassification=STAKES, n_jobs=n_jobs).fit(X, Y)
        for n_jobs in (None, 2)
    )
    assert one.choice_ == two.choice_
    assert one.recipe_ in [trial.name for trial in one.choice_.trials]
    assert one.problem_ == two.problem_
    assert one.score(NEW, TRUTH) > make_classifier(policy="none").fit(X, Y).score(NEW, TRUTH)
    state = np.random.RandomState(3)
    assert AcquiringClassifier(random_state=state, recipe="naive").fit(X, Y).recipe_ == "naive"


def test_pickles_predict_alike():
    again = pickle.loads(pickle.dumps(FITTED))
    assert (again.predict(NEW) == FITTED.predict(NEW)).all()
    assert again.policy_ == FITTED.policy_
