"""How raw values become states: one rule for evidence and for tables."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voilattice import load_problem
from voilattice.errors import InputError, UnknownNameError, VoilatticeError
from voilattice.model.raw_values import MISSING, UNSEEN, StateReader, as_cells, check_cuts

AGE = StateReader("age", ["young", "middle", "old"], [30, 54.5])
GRADE = StateReader("grade", ["1", "2", "0.5"])
FLAG = StateReader("flag", ["False", "True"])


@pytest.mark.parametrize(
    ("reader", "value", "code"),
    [
        (AGE, 29.99, 0),
        (AGE, 30, 1),  # a bin holds its lower cut
        (AGE, "54.4999", 1),
        (AGE, 54.5, 2),
        (AGE, -1e300, 0),
        (AGE, np.int64(80), 2),
        (AGE, np.float32(30), 1),
        (AGE, Decimal("30"), 1),
        (AGE, "middle", 1),
        (GRADE, 1, 0),
        (GRADE, 1.0, 0),
        (GRADE, "2.0", 1),
        (GRADE, 0.5, 2),
        (FLAG, True, 1),
        (FLAG, np.bool_(False), 0),
        (StateReader("f", ["true", "false"]), False, 1),
        (StateReader("b", ["0", "1"], [0.5]), 0.7, 1),
        (StateReader("b", ["0", "1"], [0.5]), True, 1),
        (StateReader("c", ["1", "0"]), np.bool_(True), 0),
        (StateReader("d", ["1", "2", "true"]), True, 2),
        # A state's own name wins over the bins, for a text and for a number.
        (StateReader("odd", ["1", "0"], [0.5]), "0", 1),
        (StateReader("odd", ["1", "0"], [0.5]), 0.0, 1),
    ],
)
def test_a_value_stands_for_a_state(reader, value, code):
    assert reader.code(value) == code
    assert reader.codes(as_cells([value])).tolist() == [code]
    assert reader.codes(np.array([value])).tolist() == [code]


@pytest.mark.parametrize(
    ("reader", "value", "message"),
    [
        (AGE, "x", "'age' has no state 'x'; its states are 'young', 'middle', 'old'; a number"),
        (AGE, "4_6", "'age' has no state '4_6'"),
        (AGE, None, "'age' has no state None"),
        (AGE, [46], r"'age' has no state \[46\]"),
        (AGE, math.nan, "'age' must be a finite number or one of its states, got nan"),
        (AGE, "inf", "'age' must be a finite number or one of its states, got 'inf'"),
        pytest.param(AGE, 10**400, "finite number or one of its states, got 1000", id="large"),
        pytest.param(AGE, -(10**5000), "got a number with thousands of digits", id="huge"),
        # A truth value is no number of years; where a state is called so, it stands for that state.
        (AGE, True, "'age' must be a finite number or one of its states, got True"),
        (AGE, np.bool_(False), "'age' must be a finite number or one of its states, got"),
        (GRADE, True, "'grade' has no state True; its states are '1', '2', '0.5'$"),
        (StateReader("ca", ["0", "1", "2", "3"]), False, "'ca' has no state False; its states"),
        (GRADE, 3, "'grade' has no state 3; its states are '1', '2', '0.5'$"),
        (FLAG, 1, "'flag' has no state 1; its states are 'False', 'True'$"),
    ],
)
def test_what_stands_for_no_state_is_refused_in_evidence(reader, value, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        reader.code(value)


@pytest.mark.parametrize("cell", [None, math.nan, "", " ", "nan", pd.NA, pd.NaT, np.float32("nan")])
@pytest.mark.parametrize("reader", [AGE, GRADE])
def test_what_is_missing_in_a_table(reader, cell):
    assert reader.codes(as_cells([cell, "7_0"])).tolist() == [MISSING, UNSEEN]


@pytest.mark.parametrize("reader", [AGE, GRADE])
def test_an_infinite_number_stands_for_no_state(reader):
    cells = [math.inf, "-inf", 10**400, math.nan]
    assert reader.codes(as_cells(cells)).tolist() == [UNSEEN, UNSEEN, UNSEEN, MISSING]
    assert reader.codes(np.array([-math.inf, math.nan])).tolist() == [UNSEEN, MISSING]


def test_columns_of_every_kind_are_read_alike():
    wanted = [0, 1, 2, MISSING]
    numbers = [12.0, 30.0, 80.0, math.nan]
    for column in (
        np.array(numbers),
        np.array(numbers, dtype=np.float32),
        pd.Series(numbers),
        pd.Series([12, 30, 80, None], dtype="Int64"),
        pd.Series(["12", "30", "80", None], dtype="string"),
        pd.Series(["12", "middle", "80", None], dtype="category"),
        ["young", 30, "80", ""],
    ):
        assert AGE.codes(as_cells(column)).tolist() == wanted
    assert AGE.codes(np.array([12, 30, 80])).tolist() == wanted[:3]
    assert GRADE.codes(np.array([1.0, 0.5, 9.0, np.nan])).tolist() == [0, 2, UNSEEN, MISSING]
    assert FLAG.codes(np.array([True, False])).tolist() == [1, 0]


def test_a_column_is_a_list_of_cells():
    with pytest.raises(InputError, match="must be a list of cells"):
        as_cells(np.zeros((2, 2)))
    with pytest.raises(InputError, match="the cells must be numbers or texts, got lists or tables"):
        AGE.codes(as_cells([[1], [2]]))
    for odd in (np.array(["2020-01-01"], dtype="M8[ns]"), np.array([1j]), np.array([b"46"])):
        with pytest.raises(InputError, match="the cells must be numbers or texts, got "):
            AGE.codes(as_cells(odd))


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        (5, "must be a list of numbers, got 5"),
        ("12", "must be a list of numbers, got '12'"),
        ([1], "3 states need 2 cuts between them, got 1"),
        ([1, 1], r"the cuts must increase, got \[1.0, 1.0\]"),
        ([1, math.nan], "a cut must be a finite number, got nan"),
        ([1, "2"], "a cut must be a finite number, got '2'"),
        ([True, 2], "a cut must be a finite number, got True"),
    ],
)
def test_cuts_are_checked(cuts, message):
    with pytest.raises(InputError, match=message):
        check_cuts(cuts, 3)


cut_lists = st.lists(
    st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5, unique=True
).map(sorted)


@given(cut_lists, st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_finite_number_lies_in_one_bin(cuts, values):
    states = [f"bin {k}" for k in range(len(cuts) + 1)]
    reader = StateReader("x", states, check_cuts(cuts, len(states)))
    edges = [-math.inf, *cuts, math.inf]
    codes = reader.codes(np.array(values))
    for value, code in zip(values, codes, strict=True):
        assert edges[code] <= value < edges[code + 1]
        assert reader.code(value) == reader.code(repr(value)) == code


@given(st.floats() | st.integers() | st.text() | st.booleans() | st.none())
def test_any_value_is_a_state_or_one_clear_error(value):
    for reader in (AGE, GRADE, FLAG):
        (found,) = reader.codes(as_cells([value]))
        if found >= 0:
            assert reader.code(value) == found
        else:
            with pytest.raises(VoilatticeError):
                reader.code(value)


def test_a_truth_value_beside_an_equal_number_is_told_apart():
    assert AGE.codes(as_cells([True, 1, 1.0, False, 0])).tolist() == [UNSEEN, 0, 0, UNSEEN, 0]
    assert AGE.codes(np.array([True, False])).tolist() == [UNSEEN, UNSEEN]


@pytest.mark.parametrize("kind", [bool, object, "boolean"])
def test_truth_values_in_a_column_are_no_counts(kind):
    column = pd.Series([True, False], dtype=kind)
    assert StateReader("ca", ["0", "1", "2"]).codes(as_cells(column)).tolist() == [UNSEEN, UNSEEN]
    assert StateReader("flag", ["0", "1"]).codes(as_cells(column)).tolist() == [1, 0]


def test_built_in_problems_take_raw_values():
    heart = load_problem("heart")
    assert heart.merge_evidence({"age": 46, "ca": 0.0}) == {"age": "<54.5", "ca": "0"}
