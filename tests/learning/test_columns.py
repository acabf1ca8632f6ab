import numpy as np
import pytest
from helpers.tables import table

from voilattice import VoilatticeError
from voilattice.learning.columns import encode_cells, find_categories, find_cuts, is_numeric
from voilattice.learning.networks import learn_network
from voilattice.learning.recipes import Recipe


def test_columns_become_bins_or_states():
    rng = np.random.default_rng(0)
    dose = rng.normal(size=200).round(2)
    data = table(
        y=["ill" if d > 0 else "well" for d in dose],
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
    assert is_numeric(("1", "2", "3", "4", "5", "6", None))
    assert not is_numeric(("1", "2", "3", "4", "5", "5.0"))
    assert not is_numeric(("1", "2", "3", "4", "5", "six"))


def test_bins_of_equal_frequency_are_chosen_by_the_recipe():
    column, classes = tuple(map(str, range(9))), np.zeros(9, dtype=int)
    assert find_cuts(column, classes, Recipe("frequency", 3)) == [2.5, 5.5]
    assert find_cuts(column, classes, Recipe()) == [3.5]  # no cut pays: the median


def test_states_are_sorted_numbers_by_size():
    assert find_categories(("10", "9", None), None, is_declared=False) == ["9", "10"]
    assert find_categories(("b", "10", "9"), None, is_declared=True) == ["10", "9", "b"]


def test_cells_are_encoded_as_bins_or_states():
    assert encode_cells(("1", None, "3"), ["<2", ">=2"], (2.0,)).tolist() == [0, -1, 1]
    with pytest.raises(VoilatticeError, match="row 1: no state 'c'"):
        encode_cells(("c",), ["a", "b"], None)
