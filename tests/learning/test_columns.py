import numpy as np
import pytest
from helpers.tables import table

from voilattice import VoilatticeError
from voilattice.learning.cell_typing import make_column
from voilattice.learning.columns import encode_column, find_categories, find_cuts, is_numeric
from voilattice.learning.networks import learn_network
from voilattice.learning.recipes import Recipe


def test_columns_become_bins_or_states():
    rng = np.random.default_rng(0)
    dose = rng.normal(size=200).round(2)
    data = table(
        y=["ill" if (d > 0) == (k > 0) else "well" for k, d in enumerate(dose)],  # all but one
        dose=[str(d) for d in dose],
        grade=[str(float(k)) for k in rng.integers(0, 3, 200)],
        ward=[f"w{k}" for k in rng.integers(0, 9, 200)],
    )
    learned = learn_network(data, "y", states={"y": ["well", "ill"]})
    states = dict(zip(learned.network.names, learned.network.states, strict=True))
    assert states["y"] == ("well", "ill")
    assert states["grade"] == ("0", "1", "2")
    assert states["ward"] == tuple(f"w{k}" for k in range(9))
    assert states["dose"][0].startswith("<")
    assert learned.cuts["dose"][0] == pytest.approx(0, abs=0.05)
    assert learn_network(data, "y", numeric=["grade"]).cuts["grade"]
    assert "dose" not in learn_network(data.select(["y", "grade"]), "y").cuts


def test_one_number_is_one_state_however_it_is_written():
    learned = learn_network(table(y="abab", x=["0.5", "0.50", "1.0", "1"]), "y")
    assert learned.network.states[learned.network.index("x")] == ("0.5", "1")
    wanted = {"x": ["1.0", "0.50"]}
    learned = learn_network(table(y="abab", x=["0.50", "0.50", "1.0", "1.0"]), "y", states=wanted)
    assert learned.network.states[learned.network.index("x")] == ("1.0", "0.50")
    huge = learn_network(table(y="abab", x=["1e300", "2", "1e300", "2"]), "y")
    assert huge.network.states[huge.network.index("x")] == ("2", "1e+300")


def test_a_column_of_names_may_hold_numbers_when_it_is_called_one():
    data = table(y="ab" * 4, x=["1", "2", "3", "4", "5", "6", "n.a.", "7"])
    learned = learn_network(data, "y", categorical=["x"])
    assert len(learned.network.states[learned.network.index("x")]) == 8


def test_more_than_five_different_numbers_are_cut():
    assert is_numeric(make_column(("1", "2", "3", "4", "5", "6", None)))
    assert not is_numeric(make_column(("1", "2", "3", "4", "5", "5.0")))
    assert not is_numeric(make_column(("1", "2", "3", "4", "5", "six")))


def test_bins_of_equal_frequency_are_chosen_by_the_recipe():
    column, classes = make_column(range(9)), np.zeros(9, dtype=int)
    assert find_cuts(column, classes, Recipe("frequency", 3)) == [2.5, 5.5]
    assert find_cuts(column, classes, Recipe()) == [3.5]  # no cut pays: the median


def test_states_are_sorted_numbers_by_size():
    numbers, mixed = make_column(("10", "9", None)), make_column(("b", "10", "9"))
    assert find_categories(numbers, None, is_declared=False) == ["9", "10"]
    assert find_categories(mixed, None, is_declared=True) == ["10", "9", "b"]


def test_cells_are_encoded_as_bins_or_states():
    numbers = make_column(("1", None, "3"))
    assert encode_column(numbers, ["<2", ">=2"], (2.0,))[0].tolist() == [0, -1, 1]
    codes, unseen = encode_column(make_column(("c", "a", "c")), ["a", "b"], None)
    assert (codes.tolist(), unseen) == ([-1, 0, -1], [("c", 2)])
    codes, unseen = encode_column(make_column((7, 1, 2.5, 7)), ["2.5", "1"], None)
    assert (codes.tolist(), unseen) == ([-1, 1, 0, -1], [("7", 2)])


def test_a_bin_is_known_by_its_name_and_by_any_number_in_it():
    column = make_column(("<2", "3", ">=2", "odd"))
    codes, unseen = encode_column(column, ["<2", ">=2"], (2.0,))
    assert (codes.tolist(), unseen) == ([0, 1, 1, -1], [("odd", 1)])


def test_an_ordered_column_keeps_its_order():
    pandas = pytest.importorskip("pandas")
    cells = pandas.Categorical(
        ["low", "high", "low", "mid"], categories=["low", "mid", "high", "none"], ordered=True
    )
    column = make_column(pandas.Series(cells))
    assert find_categories(column, None, is_declared=False) == ["low", "mid", "high"]
    many = pandas.Series(pandas.Categorical(range(60), ordered=True))
    with pytest.raises(VoilatticeError, match="60 different values; a feature may have at most 50"):
        find_categories(make_column(many), None, is_declared=False)
    plain = make_column(pandas.Series(["low", "high", "mid"], dtype="category"))
    assert find_categories(plain, None, is_declared=False) == ["high", "low", "mid"]


def test_categories_that_are_numbers_are_never_cut_into_bins():
    pandas = pytest.importorskip("pandas")
    column = make_column(pandas.Series([10, 9, 8, 7, 6, 5, 4.0], dtype="category"))
    assert not is_numeric(column)
    assert find_categories(column, None, is_declared=False) == [*"456789", "10"]


def test_whole_numbers_that_are_one_float_stay_two_states():
    first, second = 2**53, 2**53 + 1
    column = make_column([first, second, first, 1])
    states = find_categories(column, None, is_declared=False)
    assert states == ["1", str(first), str(second)]
    assert encode_column(column, states, None)[0].tolist() == [1, 2, 1, 0]
    assert encode_column(make_column([first, 1]), states, None)[0].tolist() == [1, 0]
    assert encode_column(make_column([second, 7]), states, None) == (
        pytest.approx([2, -1]),
        [("7", 1)],
    )


def test_categories_that_the_data_declares_keep_their_text():
    pandas = pytest.importorskip("pandas")
    column = make_column(pandas.Series(["1.0", "07", "7", "1.0"], dtype="category"))
    states = find_categories(column, None, is_declared=False)
    assert sorted(states) == ["07", "1.0", "7"]
    codes, unseen = encode_column(column, states, None)
    assert ([states[code] for code in codes], unseen) == (["1.0", "07", "7", "1.0"], [])
    assert encode_column(make_column(["1"]), states, None)[0].tolist() == [states.index("1.0")]
    assert find_categories(column, ["1", "7", "07"], is_declared=True) == ["1", "7", "07"]
