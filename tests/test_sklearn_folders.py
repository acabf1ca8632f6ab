"""A fitted classifier is saved: as a problem folder that every command takes, pickled, by skops."""

import json
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import PRICES, draw_patients, make_classifier

from voilattice import VoilatticeError, load_policy, load_problem, write_problem
from voilattice.learning import Recipe
from voilattice.sklearn import AcquiringClassifier

X, Y = draw_patients()
NEW, TRUTH = draw_patients(60, seed=1)
SETTINGS = {
    "groups": [("visit", 2.5, ["age", "pain"])],
    "discounts": [("blood", {"chol": 2.1, "fbs": 2.1})],
}
FITTED = make_classifier(**SETTINGS).fit(X, Y)


def assert_alike(one, two, rows=NEW):
    assert (one.predict(rows) == two.predict(rows)).all()
    assert one.predict(rows).dtype == two.predict(rows).dtype
    assert np.array_equal(one.predict_proba(rows), two.predict_proba(rows))
    assert one.bill(rows).equals(two.bill(rows))


def test_a_saved_classifier_is_the_same(tmp_path):
    folder = FITTED.save(tmp_path / "clinic")
    assert sorted(file.name for file in folder.iterdir()) == [
        "README.md", "estimator.json", "network.bif", "policy.json", "problem.toml",
    ]  # fmt: skip
    again = AcquiringClassifier.load(folder)
    assert_alike(FITTED, again)
    assert again.get_params() == FITTED.get_params()
    assert again.problem_ == FITTED.problem_
    assert again.policy_ == FITTED.policy_
    assert again.score(NEW, TRUTH) == FITTED.score(NEW, TRUTH)
    assert again.feature_names_in_.tolist() == list(X.columns)
    assert (again.recipe_, again.choice_, again.learned_) == ("naive", None, None)
    assert_alike(again, AcquiringClassifier.load(again.save(tmp_path / "again")))
    assert_alike(again.fit(X, Y), FITTED)


@pytest.mark.parametrize("prices", [pd.Series(PRICES), [1, 7, 5, 3], np.array([1, 7, 5, 3])])
def test_prices_in_any_form_are_saved(prices, tmp_path):
    clf = make_classifier(prices=prices).fit(X, Y)
    again = AcquiringClassifier.load(clf.save(tmp_path / "clinic"))
    assert_alike(clf, again)
    assert again.fit(X, Y).problem_ == clf.problem_


def test_decisions_of_ones_own_are_saved(tmp_path):
    rows = {1: {1: 0, 0: 60}, "refer": {1: 9, 0: 9}, 0: {1: 100, 0: 0}}
    clf = make_classifier(misclassification=rows).fit(X, np.where(Y == "ill", 1, 0))
    folder = clf.save(tmp_path / "clinic")
    again = AcquiringClassifier.load(folder)
    assert again.decisions_.tolist() == [1, "refer", 0]
    assert_alike(clf, again)
    text = (folder / "estimator.json").read_text()
    (folder / "estimator.json").write_text(text.replace('"refer"', '"ask"'))
    with pytest.raises(VoilatticeError, match="the decisions are not those of the problem"):
        AcquiringClassifier.load(folder)


def test_the_commands_take_the_folder(run, tmp_path):
    folder = FITTED.save(tmp_path / "clinic")
    assert load_policy(folder / "policy.json", load_problem(folder)) == FITTED.policy_
    NEW.assign(state=TRUTH).to_csv(tmp_path / "new.csv", index=False)
    for policy in ("optimal", f"{folder}/policy.json"):
        code, out, err = run(
            "apply", folder, f"{tmp_path}/new.csv", "--policy", policy, "--json",
            "--out", f"{tmp_path}/bill.csv",
        )  # fmt: skip
        assert code == 0, err
        assert json.loads(out)["mean_total_cost"] == pytest.approx(-FITTED.score(NEW, TRUTH))
        bill = pd.read_csv(f"{tmp_path}/bill.csv", keep_default_na=False)
        assert bill["decision"].tolist() == FITTED.predict(NEW).tolist()
        assert [tuple(b.split(";")) if b else () for b in bill["bought"]] == (
            FITTED.bill(NEW)["bought"].tolist()
        )
    code, out, _ = run("advise", folder, "--policy", f"{folder}/policy.json", "--json")
    assert (code, json.loads(out)["features"]) == (0, sorted(FITTED.policy_.root.features))
    code, out, _ = run("policy", folder, "--policy", "optimal", "--json")
    found = json.loads(out)["expected_total_cost"]
    assert found == pytest.approx(FITTED.policy_.expected_total_cost)


def test_a_folder_is_not_overwritten_unless_that_is_wanted(tmp_path):
    FITTED.save(tmp_path / "clinic")
    with pytest.raises(VoilatticeError, match="are there already; choose another folder, or"):
        FITTED.save(tmp_path / "clinic")
    (tmp_path / "clinic" / "notes.txt").write_text("mine")
    other = make_classifier(policy="greedy").fit(X, Y)
    other.save(tmp_path / "clinic", force=True)
    assert AcquiringClassifier.load(tmp_path / "clinic").policy_ == other.policy_
    again = AcquiringClassifier.load(tmp_path / "clinic")
    again.save(tmp_path / "clinic", force=True)
    assert_alike(AcquiringClassifier.load(tmp_path / "clinic"), other)
    assert (tmp_path / "clinic" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "labels", [[0, 1], [True, False], [1.5, 2.5], ["a", "b"], [1, "1"]], ids=str
)
def test_labels_and_settings_of_every_type_are_saved(tmp_path, labels):
    y = np.array([labels[int(is_ill)] for is_ill in Y == "ill"], dtype=object)
    if type(labels[0]) is type(labels[1]):
        y = np.array(y.tolist())
    if y.dtype.kind == "f":
        y = (2 * y).astype(int) / 1.0  # scikit-learn takes other numbers for measurements
    array = X[["age", "chol"]].to_numpy()
    clf = AcquiringClassifier(
        {0: 1, "x1": np.float64(3)}, groups=(("visit", 1, [0, 1]),), recipe=Recipe(bins=4),
        misclassification=np.array([[0, 1], [1, 0]]), n_jobs=np.int64(1), time_limit=None,
    ).fit(array, y)  # fmt: skip
    again = AcquiringClassifier.load(clf.save(tmp_path / "p"))
    assert_alike(clf, again, array)
    assert [type(label) for label in again.classes_.tolist()] == [
        type(label) for label in clf.classes_.tolist()
    ]
    assert not hasattr(again, "feature_names_in_")
    assert again.recipe == clf.recipe
    assert again.fit(array, y).problem_ == clf.problem_


@pytest.mark.filterwarnings("ignore::voilattice.errors.DataWarning")
@pytest.mark.parametrize("y", [["one"] * 240, Y], ids=["one class", "no column"])
def test_what_decides_at_once_is_saved_too(tmp_path, y):
    flat = pd.DataFrame({"flat": np.ones(240)})
    clf = AcquiringClassifier().fit(flat, y)
    assert_alike(clf, AcquiringClassifier.load(clf.save(tmp_path / "p")), flat)


def test_what_cannot_be_saved_says_so(tmp_path):
    y = np.empty(240, dtype=object)
    y[:] = [("a", 1) if is_ill else ("b", 2) for is_ill in Y == "ill"]
    clf = make_classifier().fit(X, y)
    with pytest.raises(VoilatticeError) as error:
        clf.save(tmp_path / "p")
    said = "labels such as ('a', 1) cannot be saved; pickle or joblib may do"
    assert str(error.value) == f"{tmp_path}/p: {said}"
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("estimator.json", None, "estimator.json: cannot be read: No such file"),
        ("estimator.json", "{", "estimator.json: not valid JSON"),
        ("estimator.json", "[]", "estimator.json: not a saved classifier: the key 'format'"),
        ("estimator.json", '{"format": "voilattice classifier"}', "version None is not 1"),
        (
            "estimator.json",
            '{"format": "voilattice classifier", "version": 1}',
            "estimator.json: not a saved classifier: KeyError 'settings'",
        ),
        ("policy.json", "{}", "policy.json: this is not a saved policy"),
        ("problem.toml", None, "the folder holds no problem.toml"),
    ],
)
def test_damaged_folders_are_refused_in_one_line(tmp_path, name, content, said):
    folder = FITTED.save(tmp_path / "clinic")
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_text(content)
    with pytest.raises(VoilatticeError) as error:
        AcquiringClassifier.load(folder)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_of_a_problem_is_told_from_a_saved_classifier(tmp_path):
    folder = tmp_path / "asia"
    write_problem(load_problem("asia"), folder)
    with pytest.raises(VoilatticeError) as error:
        AcquiringClassifier.load(folder)
    said = "a folder of a problem, not of a saved classifier; read it with voilattice.load_problem"
    assert str(error.value) == f"{folder}: {said}"


def test_pickle_and_joblib_keep_everything(tmp_path):
    joblib.dump(FITTED, tmp_path / "clf.joblib")
    for again in (pickle.loads(pickle.dumps(FITTED)), joblib.load(tmp_path / "clf.joblib")):
        assert_alike(FITTED, again)
        assert again.policy_ == FITTED.policy_
        assert again.learned_.learned == FITTED.learned_.learned


def test_skops_keeps_everything(tmp_path):
    skops = pytest.importorskip("skops.io")
    skops.dump(FITTED, tmp_path / "clf.skops")
    trusted = skops.get_untrusted_types(file=tmp_path / "clf.skops")
    assert all(name.startswith("voilattice.") for name in trusted)
    assert_alike(FITTED, skops.load(tmp_path / "clf.skops", trusted=trusted))
