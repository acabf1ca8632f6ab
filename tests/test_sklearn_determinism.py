"""A fitted classifier gives the same answer for the same row for ever.

What `fit` had no time for is planned at prediction: with missing cells and without, on the tree of
the policy and beyond it.
"""

import json
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pandas as pd
import pytest

from voilattice.cases import completion, focus
from voilattice.cases.completion import complete_policy
from voilattice.policy.solvers import build_policy
from voilattice.sklearn import AcquiringClassifier, planning

N_COLUMNS, N_NEW = 9, 30


def draw_loans(n, seed):
    """Numbers and categories that say a little each, some of them missing, and a class of three."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    columns = {}
    for k in range(N_COLUMNS):
        number = y * rng.choice([-1, 1]) * 0.8 + rng.normal(size=n)
        if k % 3 == 2:
            columns[f"c{k}"] = np.array(["low", "mid", "high"])[np.digitize(number, [-0.5, 0.7])]
        else:
            columns[f"c{k}"] = np.round(number, 2)
    table = pd.DataFrame(columns).astype(object)
    return table.mask(rng.random(table.shape) < 0.1), pd.Series(y, name="grade").map(
        "grade {}".format
    )


X, Y = draw_loans(300, 0)
NEW, TRUTH = draw_loans(N_NEW, 1)


@pytest.fixture(params=["open from the start", "cut", "built", "batch"])
def fitted(request, monkeypatch):
    """A classifier whose policy is worked out so far, and whose features do not fit one table."""
    monkeypatch.setattr(completion, "MAX_STATES_OF_VARIANT", 700)
    monkeypatch.setattr(completion, "MAX_REPLANNED", 700)
    monkeypatch.setattr(planning, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(planning, "LEAST_COMPLETION", 0.0)
    return pickle.loads(fit_once(request.param))


@cache
def fit_once(kind):
    """Return the classifier of a kind as bytes: each test has one of its own."""
    clf = AcquiringClassifier(
        1.0, misclassification=30 * (1 - np.eye(3)), recipe="naive",
        policy="batch" if kind == "batch" else "optimal",
        time_limit=0 if kind == "open from the start" else 60,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that not all is worked out
        clf.fit(X, Y)
    if kind == "cut":
        cut = build_policy(clf.problem_, "greedy-la", max_states=20)
        clf.policy_ = complete_policy(cut, time_limit=0)
    return pickle.dumps(clf)


def answers(clf, rows):
    """All that is said about each row, to the last bit."""
    bill = clf.bill(rows)
    return list(
        zip(
            clf.predict(rows).tolist(), clf.predict_proba(rows).tolist(),
            bill["bought"].tolist(), bill["feature_cost"].tolist(), strict=True,
        )
    )  # fmt: skip


@pytest.mark.filterwarnings("error")  # nothing is decided early
def test_the_same_row_has_the_same_answer_in_any_company(fitted):
    together = answers(fitted, NEW)
    assert answers(fitted, NEW) == together
    assert answers(fitted, NEW[::-1]) == together[::-1]
    alone = [answers(fitted, NEW.iloc[[row]])[0] for row in range(N_NEW)]
    assert alone == together
    assert answers(pickle.loads(pickle.dumps(fitted)), NEW) == together
    with ThreadPoolExecutor(4) as threads:
        assert all(said == together for said in threads.map(answers, [fitted] * 8, [NEW] * 8))


def test_what_is_saved_is_followed_alike(fitted, run, tmp_path):
    folder = fitted.save(tmp_path / "loans")
    assert answers(AcquiringClassifier.load(folder), NEW) == answers(fitted, NEW)
    NEW.assign(grade=TRUTH).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = run(
        "apply", folder, f"{tmp_path}/new.csv", "--policy", f"{folder}/policy.json", "--json",
        "--out", f"{tmp_path}/bill.csv",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["mean_total_cost"] == pytest.approx(-fitted.score(NEW, TRUTH), abs=1e-12)
    bill = pd.read_csv(f"{tmp_path}/bill.csv", keep_default_na=False)
    assert bill["decision"].tolist() == fitted.predict(NEW).tolist()
    bought = [tuple(path.split(";")) if path else () for path in bill["bought"]]
    assert bought == fitted.bill(NEW)["bought"].tolist()


def test_next_feature_leads_along_the_path_beyond_the_tree(fitted):
    whole = NEW.dropna()
    known = pd.DataFrame(np.nan, whole.index, whole.columns, dtype=object)
    for _ in range(N_COLUMNS + 1):
        for row, names in zip(whole.index, fitted.next_feature(known), strict=True):
            for name in names:
                assert pd.isna(known.loc[row, name])
                known.loc[row, name] = whole.loc[row, name]
    bought = fitted.bill(whole)["bought"]
    assert [set(row.dropna().index) for _, row in known.iterrows()] == list(map(set, bought))


def test_no_clock_decides_what_a_variant_does(fitted, monkeypatch):
    together = answers(fitted, NEW)
    monkeypatch.setattr(focus.Deadline, "is_over", property(lambda self: self.end < np.inf))
    monkeypatch.setattr(focus.Deadline, "share", lambda self, part: self)
    assert answers(fitted, NEW) == together
