"""Bad data and bad settings end in one line that names the place."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import PRICES, draw_patients, make_classifier
from scipy import sparse

from voilattice import VoilatticeError
from voilattice.errors import DataWarning
from voilattice.sklearn import AcquiringClassifier

X, Y = draw_patients(60)
N = len(Y)
ARRAY = X[["age", "chol"]].to_numpy()


def frame(**columns):
    return X.assign(**columns)


BAD_TABLES = {
    "nothing": (None, "X: Expected 2D array"),
    "a text": ("table.csv", "X: Expected 2D array"),
    "a number": (7, "X: Expected 2D array"),
    "no rows": (X[:0], "X: Found array with 0 sample(s)"),
    "no columns": (X[[]], "X: Found array with "),
    "an empty array": (np.empty((0, 3)), "X: Found array with 0 sample(s)"),
    "an empty list": ([], "X: Expected 2D array"),
    "one dimension": (np.arange(60.0), "X: Expected 2D array, got 1D array"),
    "three dimensions": (np.zeros((60, 2, 2)), "X: Found array with dim 3"),
    "ragged rows": ([[1, 2]] * 59 + [[1]], "X: "),
    "complex numbers": (ARRAY + 1j, "X: Complex data not supported"),
    "a sparse matrix": (sparse.csr_array(ARRAY), "X: Sparse data was passed"),
    "infinite": (frame(x=[np.inf] + [1.0] * (N - 1)), "X.x: "),
    "infinite in an array": (np.where(ARRAY > 60, -np.inf, ARRAY), "X: 2 columns cannot be used"),
    "a column twice": (pd.concat([X, X[["age"]]], axis=1), "X: column 'age' is there more than"),
    "two names that differ by blanks": (frame(**{"age ": 1}), "X: column 'age' is there more than"),
    "names of two types": (X.rename(columns={"age": 3}), "X: Feature names are only supported if"),
    "dates": (frame(day=pd.to_datetime("2020-01-01")), "X.day: dates or times"),
    "dates as objects": (frame(day=datetime.date(2020, 1, 1)), "X.day: row 1: a date or a time"),
    "durations": (frame(gap=pd.Timedelta(days=3)), "X.gap: dates or times"),
    "lists in cells": (frame(cell=[[1, 2]] * N), "X.cell: "),
    "bytes": (frame(cell=[b"x"] * N), "X.cell: "),
    "an identifier": (frame(name=[f"patient {k}" for k in range(N)]), "X.name: 60 different val"),
    "text among numbers": (frame(dose=[*range(N - 1), "much"]), "X.dose: most cells are numbers"),
    "an unprintable name": (X.rename(columns={"age": "a\x00ge"}), "X: the columns: a name must"),
    "an empty name": (X.rename(columns={"age": ""}), "X: "),
    "an unprintable value": (frame(cell=["a\x00", "b"] * (N // 2)), "X.cell: "),
    "a lazy frame": (pytest.importorskip("polars").from_pandas(X).lazy(), "X: "),
}
BAD_LABELS = {
    "none": (None, "y: This AcquiringClassifier estimator requires y to be passed"),
    "too few": (Y[:-1], "y: Found input variables with inconsistent numbers of samples: X has 60"),
    "too many": ([*Y, "ill"], "y: Found input variables with inconsistent numbers of samples"),
    "two columns": (np.zeros((N, 2)), "y: y should be a 1d array"),
    "a text": ("ill", "y: "),
    "missing numbers": (np.where(Y == "ill", np.nan, 1.0), "y: row "),
    "missing objects": ([None, *Y[1:]], "y: row 1: Input y contains NaN"),
    "missing in pandas": (pd.Series([pd.NA, *Y[1:]]), "y: row 1: Input y contains NaN"),
    "infinite": (np.where(Y == "ill", np.inf, 1.0), "y: row "),
    "measurements": (np.linspace(0, 1, N), "y: Unknown label type: continuous"),
    "complex": (np.full(N, 1j), "y: "),
    "too many classes": ([f"c{k}" for k in range(N)], "X.target: 60 different values; a target"),
}
BAD_SETTINGS = {
    "a price of an unknown column": ({"prices": {"agee": 1}}, "prices: no column 'agee' (nearest"),
    "a missing price": ({"prices": {"age": 1}}, "prices.chol: every column needs a price >= 0"),
    "a negative price": ({"prices": -1}, "prices: must be >= 0, got -1"),
    "a negative price of a column": (
        {"prices": {"age": -3, "chol": 1, "fbs": 1, "pain": 1}}, "prices.age: must be >= 0, got -3",
    ),
    "a price that is no number": ({"prices": float("nan")}, "prices: must be finite, got nan"),
    "an infinite price": ({"prices": np.inf}, "prices: must be finite"),
    "a text for a price": ({"prices": "cheap"}, "prices: must be a number, a list of them"),
    "a truth value for a price": ({"prices": True}, "prices: must be a number, a list of them"),
    "no prices": ({"prices": None}, "prices: must be a number, a list of them"),
    "a set of prices": ({"prices": {1, 2, 3, 4}}, "prices: must be a number, a list of them"),
    "a matrix of prices": ({"prices": np.ones((2, 2))}, "prices: must be a number, a list of"),
    "too few prices": ({"prices": [1, 2]}, "prices: must have a price for each of the 4 columns, "),
    "a list with a negative price": ({"prices": [1, 1, -2, 1]}, "prices.fbs: must be >= 0, got -2"),
    "a series that lacks a price": (
        {"prices": pd.Series({"age": 1.0})}, "prices.chol: every column needs a price >= 0",
    ),
    "a series with two prices": (
        {"prices": pd.Series([1, 2], index=["age", "age"])}, "prices: 'age' has two prices",
    ),
    "places of named columns": ({"prices": {0: 1}}, "prices: no column 0"),
    "a group that is no list": ({"groups": "blood"}, "groups: must be a list of (name, overhead"),
    "a group without columns": ({"groups": [("blood", 2)]}, "groups[0]: must be a list of (name,"),
    "a group of unknown columns": (
        {"groups": [("blood", 2, ["chool"])]}, "groups[0].features: no column 'chool' (nearest",
    ),
    "a group with a text for columns": (
        {"groups": [("blood", 2, "chol")]}, "groups[0].features: must be a list of columns",
    ),
    "a negative overhead": (
        {"groups": [("blood", -2, ["chol"])]}, "groups[0].overhead: must be >= 0, got -2",
    ),
    "a column in two groups": (
        {"groups": [("a", 1, ["chol"]), ("b", 1, ["chol"])]}, "groups[1].features: 'chol' is in",
    ),
    "a column in a group and a discount": (
        {"groups": [("a", 1, ["chol"])], "discounts": [("b", {"chol": 1})]}, "discounts[0].off: 'c",
    ),
    "a discount that is no list": ({"discounts": 3}, "discounts: must be a list of (name, {col"),
    "a discount without amounts": (
        {"discounts": [("blood", ["chol"])]}, "discounts[0]: must be a mapping of columns",
    ),
    "a discount above the price": (
        {"discounts": [("blood", {"chol": 8})]}, "discounts[0].off.chol: must be at most the price",
    ),
    "a discount of an unknown column": (
        {"discounts": [("blood", {"x": 1})]}, "discounts[0].off: no column 'x'",
    ),
    "a matrix of another size": (
        {"misclassification": np.ones((3, 3))},
        "misclassification: must be a 2 x 2 matrix, a row and a column for each class of y (they "
        "are ['ill', 'well']), got the shape (3, 3); only the form {decision: ",
    ),
    "a matrix of texts": (
        {"misclassification": [["a", "b"], ["c", "d"]]}, "misclassification: must be a matrix",
    ),
    "a negative cost": (
        {"misclassification": [[0, -1], [1, 0]]}, "misclassification.ill.well: must be >= 0",
    ),
    "a cost that is no number": (
        {"misclassification": [[0, np.nan], [1, 0]]}, "misclassification.ill.well: must be finite",
    ),
    "an unknown class": (
        {"misclassification": {"go": {"ill": 1, "well": 2}, "wait": {"ill": 1, "well": 2, "x": 3}}},
        "misclassification.wait: no class 'x'; the classes are 'ill', 'well'",
    ),
    "wrong names for the classes": (
        {"misclassification": {"ill": {"yes": 0, "no": 9}, "well": {"yes": 9, "no": 0}}},
        "misclassification: no class 'yes'; the classes are 'ill', 'well'",
    ),
    "wrong names for the classes and the decisions": (
        {"misclassification": {"yes": {"yes": 0, "no": 9}, "no": {"yes": 9, "no": 0}}},
        "misclassification: no class 'yes'; the classes are 'ill', 'well'",
    ),
    "a class without costs": (
        {"misclassification": {"refer": {"ill": 0}}}, "misclassification.refer.well: the cost is m",
    ),
    "no decision": ({"misclassification": {}}, "misclassification: at least one decision is nee"),
    "a decision twice": (
        {"misclassification": {1: {"ill": 0, "well": 1}, "1": {"ill": 0, "well": 1}}},
        "misclassification: the decision '1' appears twice",
    ),
    "a row that is no mapping": (
        {"misclassification": {"ill": 3}}, "misclassification.ill: must be a mapping of classes",
    ),
    "a scaled kind": ({"misclassification": ("symmetric", 500)}, "misclassification: must be a"),
    "an unknown policy": ({"policy": "gready"}, "policy: no policy 'gready' (nearest: 'greedy')"),
    "a policy that is no name": ({"policy": 3}, "policy: no policy 3"),
    "an unknown recipe": ({"recipe": "magic"}, "recipe: must be a Recipe, 'auto', or one of"),
    "a recipe that is no name": ({"recipe": 3}, "recipe: must be a Recipe, 'auto', or one of"),
    "no recipe": ({"recipe": ["auto"]}, "recipe: must be a Recipe, 'auto', or one of"),
    "a negative time": ({"time_limit": -1}, "time_limit: must be a number of seconds >= 0"),
    "a text for a time": ({"time_limit": "1 min"}, "time_limit: must be a number of seconds"),
    "a time that is no number": ({"time_limit": np.nan}, "time_limit: must be a number of sec"),
    "no processes": ({"n_jobs": 0}, "n_jobs: must be a number of processes"),
    "half a process": ({"n_jobs": 0.5}, "n_jobs: must be a number of processes"),
    "a seed that is none": ({"random_state": "seed"}, "random_state: 'seed' cannot be"),
    "a negative seed": ({"random_state": -1}, "random_state: "),
}  # fmt: skip
BAD_WEIGHTS = {
    "too few": ([1.0], "sample_weight: "),
    "negative": (np.full(N, -1.0), "sample_weight: Negative values"),
    "no numbers": (["a"] * N, "sample_weight: "),
    "infinite": (np.full(N, np.inf), "sample_weight: Input sample_weight contains infinity"),
    "all zero": (np.zeros(N), "sample_weight: "),
    "two columns": (np.ones((N, 2)), "sample_weight: Sample weights must be 1D"),
}


def assert_refused(said, work):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((VoilatticeError, ValueError, TypeError)) as error:
            work()
    text = str(error.value)
    assert text.startswith(said)
    assert "\n" not in text


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(case):
    table, said = BAD_TABLES[case]
    assert_refused(said, lambda: make_classifier(prices=1).fit(table, Y))


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels(case):
    labels, said = BAD_LABELS[case]
    assert_refused(said, lambda: make_classifier(misclassification=None).fit(X, labels))


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_bad_settings(case):
    settings, said = BAD_SETTINGS[case]
    clf = make_classifier(**settings)
    assert_refused(said, lambda: clf.fit(X, Y))


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights(case):
    weights, said = BAD_WEIGHTS[case]
    assert_refused(said, lambda: make_classifier().fit(X, Y, weights))


FITTED = make_classifier().fit(X, Y)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda: FITTED.predict(X[:0]), "X: Found array with 0 sample(s)"),
        (lambda: FITTED.predict(X.assign(pain=pd.Timestamp(0))), "X.pain: dates or times"),
        (lambda: FITTED.total_cost(X, ["sick"] * N), "y: no class 'sick'; the classes are 'ill'"),
        (lambda: FITTED.total_cost(X, Y[:3]), "y: Found input variables with inconsistent"),
        (lambda: FITTED.score(X, [None] * N), "y: row 1: Input y contains NaN"),
        (lambda: FITTED.score(X, Y, [1, 2]), "sample_weight: "),
        (lambda: FITTED.acquire("age"), "oracle: must be a function of a column's name, got 'age'"),
        (lambda: FITTED.next_feature([1, 2]), "X: Expected 2D array, got 1D array"),
        (
            lambda: make_classifier(prices=1).fit(ARRAY, Y).predict(ARRAY[:, :1]),
            "X: X has 1 features",
        ),
    ],
    ids=range(9),
)
def test_bad_rows_after_fitting(work, said):
    assert_refused(said, work)


ODD_CELLS = {
    "infinite": (-np.inf, "-inf"),
    "infinite as text": ("1e999", "1e999"),
    "a date": (datetime.date(2020, 1, 1), "2020-01-01"),
    "a time stamp": (pd.Timestamp(2020, 1, 1), "2020-01-01 00:00:00"),
    "a list": ([1, 2], "[1, 2]"),
    "bytes": (b"x", "b'x'"),
    "a complex number": (1j, "1j"),
    "thousands of digits": (10**5000, "a number with thousands of digits"),
}


@pytest.mark.parametrize("case", ODD_CELLS)
@pytest.mark.parametrize("column", ["pain", "chol"])
def test_an_odd_cell_is_missing_with_a_warning(case, column):
    cell, text = ODD_CELLS[case]
    clf = FITTED if column == "pain" else make_classifier(prices={**PRICES, "chol": 0}).fit(X, Y)
    odd, without = X.astype(object), X.astype(object)
    odd.at[7, column], without.at[7, column] = cell, None
    with pytest.warns(DataWarning) as warned:
        found = clf.predict_proba(odd)
    assert [str(warning.message) for warning in warned] == [
        f"values that were not seen in fit are taken as missing: {column} = {text!r}"
    ]
    assert found.tolist() == clf.predict_proba(without).tolist()
    with pytest.warns(DataWarning, match="are taken as missing"):
        assert clf.next_feature(odd).tolist() == clf.next_feature(without).tolist()
    with pytest.warns(DataWarning, match="are taken as missing"):
        assert clf.acquire(lambda name: cell).bought == ()


ODD_BUT_USABLE = {
    "one row": (X[:1], Y[:1]),
    "two rows": (X[:2], ["ill", "well"]),
    "all cells missing": (pd.DataFrame({"a": [None] * N, "b": np.full(N, np.nan)}), Y),
    "one column": (X[["chol"]], Y),
    "huge whole numbers": (frame(huge=[2**80 + k % 3 for k in range(N)]), Y),
    "huge numbers": (frame(huge=np.linspace(-1e300, 1e300, N)), Y),
    "unicode": (X.rename(columns={"age": "âge", "pain": "痛み"}), Y.replace("ill", "ålig 🙂")),
    "mixed types": (frame(mix=[True, 1, "one"] * (N // 3)), Y),
    "marks of missing cells": (frame(mark=["?", "NA", "yes", "no"] * (N // 4)), Y),
    "nullable types": (X.convert_dtypes(), Y.astype("string")),
    "categories": (X.astype({"pain": "category"}), Y.astype("category")),
    "floats of half size": (X[["age", "chol"]].astype("float32"), Y),
    "text numbers": (X.astype({"age": str}), Y),
    "missing truth values": (frame(fbs=[None, True, False] * (N // 3)), Y),
    "a rare class": (X, ["rare", *Y[1:]]),
    "three classes": (X, ["a", "b", "c"] * (N // 3)),
    "a list of lists": (X.to_numpy().tolist(), Y.tolist()),
}


@pytest.mark.filterwarnings("ignore::voilattice.errors.DataWarning")
@pytest.mark.parametrize("case", ODD_BUT_USABLE)
@pytest.mark.parametrize("recipe", ["naive", pytest.param("auto", marks=pytest.mark.slow)])
def test_odd_data_can_be_used(case, recipe):
    table, labels = ODD_BUT_USABLE[case]
    clf = AcquiringClassifier(0.01, recipe=recipe, time_limit=5).fit(table, labels)
    found = clf.predict(table)
    assert set(found) <= set(labels)
    assert len(clf.bill(table)) == len(labels)
    assert len(clf.next_feature(table)) == len(labels)
    assert clf.predict_proba(table).sum(axis=1) == pytest.approx(np.ones(len(labels)))


def test_all_bad_columns_are_in_one_message():
    table = frame(day=pd.Timestamp(0), name=[f"patient {k}" for k in range(N)], flat=1)
    with pytest.raises(VoilatticeError) as error:
        make_classifier(prices=1).fit(table, Y)
    said = str(error.value)
    assert said.startswith("X: 2 columns cannot be used: 'day' (dates or times")
    assert "'name' (60 different values" in said


def test_one_warning_for_each_oddity():
    table = frame(flat=1, empty=np.nan, code=Y)
    with pytest.warns(DataWarning) as warned:
        make_classifier(prices=1).fit(table, Y)
    assert len(warned) == 2
