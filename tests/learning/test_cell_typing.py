"""What a column holds, decided once."""

import datetime
import decimal
import fractions
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from voilattice import VoilatticeError
from voilattice.learning.cell_typing import make_case_column, make_column
from voilattice.learning.cells import Categories, Numbers, number, write_number

NAN = math.nan


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "1.0", " 2.50 ", "?"], [1, 1, 2.5, NAN]),
        ([1, 2.5, None], [1, 2.5, NAN]),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (np.array([1.5, np.nan]), [1.5, NAN]),
        (np.array([0.1, 0.2], dtype=np.float32), [0.1, 0.2]),
        (np.ma.array([1, 2], mask=[False, True]), [1, NAN]),
        ([decimal.Decimal("1.5"), fractions.Fraction(1, 4), np.float32(2)], [1.5, 0.25, 2]),
        ([None, None], [NAN, NAN]),
        ([decimal.Decimal("sNaN"), 1], [NAN, 1]),
        (["", "NA"], [NAN, NAN]),
        (iter([1, 2]), [1, 2]),
        ([2**53, 2**60, 10**22], [2**53, 2**60, 1e22]),
        (["9007199254740992", "1e300"], [2**53, 1e300]),
        (["1", 2, np.int64(3), NAN], [1, 2, 3, NAN]),
    ],
)
def test_numbers(cells, values):
    column = make_column(cells)
    assert isinstance(column, Numbers)
    np.testing.assert_array_equal(column.values, values)


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (["a", " b", None, NAN], ["a", "b", None, None]),
        (["1.0", "x", 1, 0.5], ["1", "x", "1", "0.5"]),
        ([True, False, None], ["True", "False", None]),
        (np.array([True, False]), ["True", "False"]),
        ([True, 1, "x"], ["True", "1", "x"]),
        (np.array(["ü", "日本"]), ["ü", "日本"]),
        (["inf", "sup"], ["inf", "sup"]),
        (["1_000", "2"], ["1_000", "2"]),
        # A float holds no such whole number: two of them could become one.
        ([2**53 + 1, 1], ["9007199254740993", "1"]),
        (["9007199254740993", "1.0"], ["9007199254740993", "1"]),
        (np.array([2**63 + 1, 1], dtype=np.uint64), ["9223372036854775809", "1"]),
        (np.array([-(2**63) + 1, 1]), ["-9223372036854775807", "1"]),
        ([10**400, 1], [str(10**400), "1"]),
    ],
)
def test_categories(cells, texts):
    column = make_column(cells)
    assert isinstance(column, Categories)
    assert [None if c < 0 else column.levels[c] for c in column.codes] == texts


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([1, math.inf], "row 2: inf is not a finite number; name it as a mark of missing cells"),
        (np.array([1, -np.inf]), "row 2: -inf is not a finite number"),
        (["1", "1e999"], "row 2: inf is not a finite number"),
        ([datetime.date(2020, 1, 1), None], "row 1: a date or a time; turn them into numbers, "),
        (
            [None, datetime.timedelta(1)],
            "row 2: a date or a time; turn them into numbers, such as ",
        ),
        (np.array(["2020-01-01"], dtype="M8[D]"), "row 1: a date or a time"),
        ([1j, 2], "row 1: a complex number, 1j; a cell is a number or a text"),
        (np.array([1j]), "row 1: a complex number, 1j"),
        ([b"a", b"b"], "row 1: bytes; a cell is a number or a text; leave the column out"),
        (np.array([b"a"]), "row 1: bytes"),
        (["a", ["b"]], "row 2: nested values (list); a cell is a number or a text"),
        ([{"a": 1}], "row 1: nested values (dict)"),
        (np.zeros((2, 2)), "row 1: nested values (ndarray)"),
        ([1, object], "row 2: an object of type type, <class 'object'>"),
        ([10**5000, 1], "a number of too many digits"),
        ([fractions.Fraction(10**400), 1], "row 1: inf is not a finite number"),
    ],
)
def test_what_makes_no_column(cells, said):
    with pytest.raises(VoilatticeError) as error:
        make_column(cells)
    assert str(error.value).startswith(said)
    assert "leave the column out (ignore)" in str(error.value)


def test_what_makes_no_column_of_a_frame():
    pandas = pytest.importorskip("pandas")
    dates = pandas.to_datetime(["2020-01-01", None])
    for cells in (
        dates,
        dates - dates[0],
        dates.to_period("D"),
        dates.to_period("D").astype(object),
    ):
        with pytest.raises(VoilatticeError, match="turn them into numbers, such as days, or leave"):
            make_column(pandas.Series(cells))
    for cells in ([1j, 2], [[1], [2]], [b"a", b"b"], pandas.Categorical(dates)):
        with pytest.raises(VoilatticeError, match="leave the column out"):
            make_column(pandas.Series(cells))


def test_columns_of_a_frame():
    pandas = pytest.importorskip("pandas")
    for kind in ("Int64", "Float64", "int64[pyarrow]", "double[pyarrow]", object):
        np.testing.assert_array_equal(
            make_column(pandas.Series([1, None, 3], dtype=kind)).values, [1, NAN, 3]
        )
    huge = make_column(pandas.Series([2**53 + 1, None], dtype="Int64"))
    assert huge.levels == ("9007199254740993",)
    for kind in ("string", "str", "string[pyarrow]", "category", object):
        column = make_column(pandas.Series(["a", None, "b"], dtype=kind))
        assert (column.codes.tolist(), column.levels) == ([0, -1, 1], ("a", "b"))
    bins = make_column(pandas.Series(pandas.cut([1, 5, 1], [0, 2, 6])))
    assert (bins.codes.tolist(), bins.levels) == ([0, 1, 0], ("(0, 2]", "(2, 6]"))
    sparse = make_column(pandas.Series(pandas.arrays.SparseArray([1.0, 0.0])))
    assert sparse.values.tolist() == [1, 0]


def test_marks_of_missing_cells_are_texts_or_numbers():
    assert make_column([1, -9.0, 3], ["-9"]).is_missing.tolist() == [False, True, False]
    assert make_column(["a", "-9.0", "-"], ["-9", "-"]).levels == ("a",)
    assert make_column(["1", "inf"], ["inf"]).is_missing.tolist() == [False, True]
    assert make_column([1, math.inf], ["inf"]).is_missing.tolist() == [False, True]
    assert make_column([True, False], ["False"]).is_missing.tolist() == [False, True]


def test_a_number_has_one_spelling():
    cells = ("1", "-2.5e3", " 7", "inf", "nan", "1_000", "a")
    assert [number(cell) for cell in cells] == [1.0, -2500.0, 7.0, None, None, None, None]
    sizes = (1.0, -0.0, 0.1, 2.0**52, 2.0**60, 1e300)
    assert [write_number(value) for value in sizes] == [
        "1", "0", "0.1", "4503599627370496", "1152921504606846976", "1e+300",
    ]  # fmt: skip


def texts(column):
    if isinstance(column, Numbers):
        return [None if math.isnan(x) else write_number(x) for x in column.values.tolist()]
    return [None if code < 0 else column.levels[code] for code in column.codes]


CELLS = st.one_of(
    st.none(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 3),
    st.floats(allow_infinity=False),
    st.booleans(),
    st.text(st.characters(exclude_categories=["C", "Z"]), max_size=3),
)


@given(st.lists(CELLS, min_size=1, max_size=8))
def test_a_cell_and_its_text_are_the_same_cell(cells):
    written = [None if cell is None or str(cell) == "nan" else str(cell) for cell in cells]
    assume(not any(cell and "inf" in cell.lower() for cell in written))
    assert texts(make_column(cells)) == texts(make_column(written))
    assert texts(make_column(np.array(cells, dtype=object))) == texts(make_column(cells))


@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9)), min_size=1))
def test_whole_numbers_are_never_changed(cells):
    for column in (make_column(cells), make_column(np.array(cells, dtype=np.int64))):
        assert [int(text) for text in texts(column)] == cells


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        ([1.5, math.inf, None], ["1.5", "inf", None]),
        (np.array([2.0, -math.inf, math.nan]), ["2", "-inf", None]),
        (["2,50", "-inf", "?"], ["2.5", "-inf", None]),
        ([datetime.date(2020, 1, 1), 3, "old", True], ["2020-01-01", "3", "old", "True"]),
        ([[1, 2], b"x", " 7 "], ["[1, 2]", "b'x'", "7"]),
        (["high", "low"], ["high", "low"]),
    ],
)
def test_in_cases_to_be_decided_an_odd_cell_is_a_text(cells, read):
    assert make_case_column(cells, decimal=",").raw().tolist() == read


@pytest.mark.parametrize(
    "cells", [np.array(["2020-01-01"], dtype="M8[D]"), np.array([1j]), np.zeros((2, 2))]
)
def test_a_column_whose_type_is_odd_is_refused_in_cases_too(cells):
    with pytest.raises(VoilatticeError):
        make_case_column(cells)
