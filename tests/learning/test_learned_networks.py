import datetime

import numpy as np
import pytest
from helpers.tables import draw_chain, table

from voilattice import VoilatticeError
from voilattice.errors import DataWarning
from voilattice.learning.networks import learn_network
from voilattice.learning.recipes import Recipe
from voilattice.model.elimination import joint_table


def test_learning_is_deterministic_and_close_to_the_truth():
    first, second = (learn_network(draw_chain(4000), "y").network for _ in range(2))
    assert first == second
    prior = joint_table(first, [first.index("y")], {})
    assert prior == pytest.approx([0.6, 0.4], abs=0.03)


def test_parameters_are_smoothed_counts():
    data = table(y=["no"] * 6 + ["yes"] * 2, x=["a"] * 5 + ["b"] + ["b", "b"])
    recipe = Recipe(required=(("y", "x"),), smoothing=0.5)
    network = learn_network(data, "y", recipe).network
    assert network.parents[network.index("x")] == (network.index("y"),)
    assert network.tables[network.index("y")] == pytest.approx([6.5 / 9, 2.5 / 9], abs=1e-6)
    assert network.tables[network.index("x")] == pytest.approx(
        np.array([[5.5 / 7, 1.5 / 7], [0.5 / 3, 2.5 / 3]]), abs=1e-6
    )


@pytest.mark.parametrize("score", ["BIC", "BDeu", "K2", "AIC"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0, 3.0])
def test_the_score_adds_nothing_to_the_counts(score, smoothing):
    data = table(y=["a"] * 8 + ["b"] * 2, x=["0", "1"] * 5)
    network = learn_network(data, "y", Recipe(score=score, smoothing=smoothing)).network
    want = np.array([8, 2]) + smoothing
    assert joint_table(network, [network.index("y")], {}) == pytest.approx(
        want / want.sum(), abs=2e-6
    )


def test_rows_sum_to_one_and_have_six_decimals():
    learned = learn_network(draw_chain(777), "y")
    for rows in learned.network.tables:
        assert rows.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)
        assert rows == pytest.approx(np.round(rows, 6), abs=1e-15)


def test_rows_without_a_target_are_left_out():
    learned = learn_network(table(y=["a", "b", None, "a"], x=["1", "2", "3", "2"]), "y")
    assert (learned.n_rows, learned.n_left_out) == (3, 1)
    assert learned.network.states[learned.network.index("x")] == ("1", "2")


def test_an_error_names_the_row_of_the_table_also_after_rows_without_a_target():
    data = table(y=[None, "a", "b", "a"], x=["1", "2", "3", "q"])
    with pytest.raises(VoilatticeError, match="data.x: row 4: 'q' is not a number"):
        learn_network(data, "y", numeric=["x"])


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"y": "aa", "x": "12"}, {}, "y: one value only, 'a': there is nothing to decide"),
        (
            {"y": "ab", "x": "11", "z": [None, None]},
            {},
            "data: no column beside the target has two values or more: 'x', 'z'",
        ),
        ({"y": [None, None], "x": "12"}, {}, "y: every cell is missing"),
        ({"y": "ab"}, {}, "there is no column beside the target"),
        ({"z": "ab", "x": "12"}, {}, "target: no column 'y'"),
        ({"y": "ab", "x": "12"}, {"ignore": ["y"]}, "ignore: 'y' is the target"),
        ({"y": "ab", "x": "12"}, {"ignore": ["q"]}, "ignore: no column 'q'"),
        ({"y": "ab", "x": "1q"}, {"numeric": ["x"]}, "x: row 2: 'q' is not a number"),
        (
            {"y": "ab", "x": [2**60, 2**60 + 1]},
            {"numeric": ["x"]},
            "x: the numbers are too large to tell them apart; leave the column out",
        ),
        ({"y": "ab", "x": "12"}, {"states": {"x": ["1"]}}, "x: '2' is in the column but not"),
        ({"y": "aa", "x": "12"}, {"states": {"y": ["a", "b"]}}, "y: one value only, 'a'"),
        ({"y": "ab", "x": "11"}, {"states": {"x": ["1", "2"]}}, "no column beside the target has"),
        (
            {"y": [str(k / 3) for k in range(60)], "x": "12" * 30},
            {},
            "y: 60 different values; a target of at most 50 classes is wanted",
        ),
        (
            {"y": "ab" * 4, "x": ["1", "2", "3", "4", "5", "6", "n.a.", "7"]},
            {},
            "x: most cells are numbers, but 'n.a.' is not (row 7)",
        ),
        (
            {"y": "ab" * 40, "x": [f"name{k}" for k in range(80)]},
            {},
            "x: 80 different values; a feature may have at most 50 states; leave the column out",
        ),
        (
            {"y": "ab" * 40, "x": [*map(str, range(79)), "none"]},
            {},
            "x: most cells are numbers, but 'none' is not (row 80); name it as a mark of",
        ),
    ],
)
def test_tables_that_teach_nothing_are_refused(columns, options, said):
    with pytest.raises(VoilatticeError) as error:
        learn_network(table(**columns), "y", **options)
    assert said in str(error.value)


def test_without_smoothing_a_row_without_cases_is_refused():
    data = table(y="aabb", x="1122", z="1212")
    recipe = Recipe(required=(("x", "z"), ("y", "z")), smoothing=0.0)
    with pytest.raises(VoilatticeError, match="smoothing: with none, some row"):
        learn_network(data, "y", recipe)


def test_a_recipe_without_smoothing_allows_zeros():
    data = table(y="aabb", x="1122")
    network = learn_network(data, "y", Recipe(required=(("y", "x"),), smoothing=0.0)).network
    assert network.tables[network.index("x")].tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ignore": "x"}, "ignore: must be a list of columns, got 'x'"),
        ({"states": {"x": "12"}}, "states.x: must be a list of states, got '12'"),
        ({"states": {"x": ["1", "2", "2"]}}, "data.x: the states: the name '2' appears twice"),
        ({"numeric": ["x"], "categorical": ["x"]}, "numeric: 'x' cannot be a column of names"),
    ],
)
def test_an_error_names_the_parameter(options, said):
    with pytest.raises(VoilatticeError) as error:
        learn_network(table(y="abab", x="1212", z="1122"), "y", **options)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize("smoothing", [1.0, 10.0, 100.0])
def test_a_missing_cell_of_x_does_not_move_the_classes(smoothing):
    data = table(y=["a", "a", "b", "b"], x=["0", "1", "0", None])
    recipe = Recipe(required=(("y", "x"),), smoothing=smoothing)
    network = learn_network(data, "y", recipe).network
    assert network.tables[network.index("y")] == pytest.approx([0.5, 0.5], abs=1e-6)
    # The fixed point of p = (1 + p + a) / (2 + 2 a), for the state of x that was seen with b.
    p = (1 + smoothing) / (1 + 2 * smoothing)
    wanted = np.array([[0.5, 0.5], [p, 1 - p]])
    assert network.tables[network.index("x")] == pytest.approx(wanted, abs=2e-6)


def test_weights_count_rows_everywhere():
    rng = np.random.default_rng(0)
    n = 200
    weights = rng.integers(0, 3, n)
    dose = rng.normal(size=n).round(2)
    data = {
        "y": np.where(dose + rng.normal(size=n) > 0, "ill", "well"),
        "dose": np.where(rng.random(n) < 0.1, np.nan, dose),
        "ward": rng.choice(["a", "b", "c"], n),
    }
    repeated = {name: np.repeat(column, weights) for name, column in data.items()}
    weighted = learn_network(data, "y", weights=weights)
    assert weighted.network == learn_network(repeated, "y").network
    assert weighted.cuts == learn_network(repeated, "y").cuts
    assert weighted.n_rows == int((weights > 0).sum())
    assert learn_network(data, "y", weights=np.ones(n)).network == learn_network(data, "y").network


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, 1], "weights: must be one number for each of 4 rows"),
        ([1, 1, -1, 1], "weights: row 3: must be a number >= 0, got -1"),
        ([1, 1, np.nan, 1], "weights: row 3: must be a number >= 0, got nan"),
        ([0, 0, 0, 0], "weights: every row has the weight 0"),
        (["a", 1, 1, 1], "weights: must be numbers, got ['a', 1, 1, 1]"),
        ([1, 0, 1, 0], "data.y: one value only, 'a': there is nothing to decide"),
        ([0, 0, 0, 0, 1], "data.y: every row with a class has the weight 0"),
    ],
)
def test_weights_that_are_none_are_refused(weights, said):
    n = max(4, len(weights))
    data = table(y=[*"abab", None][:n], x="11223"[:n])
    with pytest.raises(VoilatticeError) as error:
        learn_network(data, "y", weights=weights)
    assert str(error.value) == said


def test_a_column_that_alone_determines_the_target_is_a_leak():
    rng = np.random.default_rng(0)
    n = 100
    y = rng.integers(0, 2, n)
    data = {
        "y": y,
        "code": np.where(y == 1, "C3", "A0"),
        "after": 10 * y + rng.random(n),
        "noise": rng.integers(0, 2, n),
        "almost": np.where(np.arange(n) == 0, 1 - y, y),
    }
    with pytest.warns(DataWarning) as warned:
        learned = learn_network(data, "y")
    assert [str(warning.message) for warning in warned] == [
        "columns that alone determine 'y': 'code', 'after'; leave them out if they are not known "
        "before the decision"
    ]
    assert learned.leaks == ("code", "after")


def test_chance_makes_no_leaks():
    data = {"y": "aabb" * 3, "x": "1122" * 3, "id": list("abcdefghijkl")}
    assert learn_network({k: list(v) for k, v in data.items()}, "y").leaks == ()
    # One row of the rare class, in a state of its own, is no proof; twenty rows are.
    rare = {"y": ["no"] * 999 + ["yes"], "x": ["a"] * 999 + ["b"], "z": ["c", "d"] * 500}
    assert learn_network(rare, "y").leaks == ()
    rare = {"y": ["no"] * 980 + ["yes"] * 20, "x": ["a"] * 980 + ["b"] * 20}
    with pytest.warns(DataWarning, match="'x'"):
        assert learn_network(rare, "y").leaks == ("x",)


def test_all_bad_columns_are_in_one_error():
    data = {
        "y": ["a", "b"] * 40,
        "name": [f"name{k}" for k in range(80)],
        "when": [datetime.date(2020, 1, 1)] * 80,
        "flat": [1] * 80,
        "far": [*range(79), np.inf],
        "mixed": [*range(79), "none"],
        "good": [0, 1, 1, 0] * 20,
    }
    with pytest.raises(VoilatticeError) as error:
        learn_network(data, "y")
    assert str(error.value) == (
        "data: 4 columns cannot be used: 'name' (80 different values; a feature may have at most "
        "50 states), 'when' (row 1: a date or a time), 'far' (row 80: inf is not a finite number), "
        "'mixed' (most cells are numbers, but 'none' is not (row 80)); leave the columns out "
        "(ignore), turn them into numbers, such as days, name it as a mark of missing cells "
        "(missing), or name the column as one of categories (categorical)"
    )
    with pytest.warns(DataWarning, match="left out: 'flat'$"):
        learned = learn_network(data, "y", ignore=["name", "when", "far", "mixed"])
    assert learned.left_out == ("flat",)
    assert learned.network.names == ("y", "good")


def test_anything_that_is_a_table_can_be_learned_from(tmp_path):
    pandas = pytest.importorskip("pandas")
    columns = {"y": ["a", "b", "b", "a"] * 5, "x": ["1", "2", "1", "1"] * 5}
    wanted = learn_network(columns, "y").network
    frame = pandas.DataFrame(columns)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for data in (frame, frame.astype("category"), tmp_path / "t.csv", str(tmp_path / "t.csv")):
        assert learn_network(data, "y").network == wanted
    array = learn_network(frame.to_numpy(), "x0").network
    assert array.names == ("x0", "x1")
    assert array.states == wanted.states
