import numpy as np
import pandas as pd
import pytest

from voilattice import load_problem
from voilattice.cases.tables import read_cases
from voilattice.errors import DataWarning, InputError

HEART = load_problem("heart")
COLUMNS = {"age": [46, 61.5, None], "ca": [0, 3.0, 1], "class": ["absent", "present", "absent"]}


class Frame:
    """A table as polars has it: iterating over it gives columns, not names."""

    columns = tuple(COLUMNS)

    def __iter__(self):
        return iter(COLUMNS.values())

    def __getitem__(self, name):
        return COLUMNS[name]


@pytest.mark.parametrize("table", [COLUMNS, pd.DataFrame(COLUMNS), Frame()])
def test_tables_of_every_kind_are_read_alike(table):
    cases = read_cases(HEART, table, strict=True)
    assert cases.n_rows == 3
    assert cases.codes["age"].tolist() == [0, 1, -1]
    assert cases.codes["ca"].tolist() == [0, 3, 1]
    assert cases.codes["cp"].tolist() == [-1, -1, -1]  # there is no such column
    assert cases.truth.tolist() == [0, 1, 0]
    assert cases.unseen == {}


def test_what_stands_for_no_state_is_counted():
    table = {"ca": np.array([7, 8, 7, 0]), "cp": ["?", None, "?", "typical"]}
    cases = read_cases(HEART, table, strict=False)
    assert cases.unseen == {"ca": {"7": 2, "8": 1}, "cp": {"?": 2}}
    assert cases.codes["ca"].tolist() == [-1, -1, -1, 0]


def test_dates_are_refused_with_their_column():
    with pytest.raises(
        InputError, match="^age: the cells must be numbers or texts, got datetime64"
    ):
        read_cases(HEART, {"age": pd.to_datetime(["2020-01-01"])}, strict=False)


def test_columns_that_are_no_features_are_not_looked_at():
    table = {"age": [46], "note": [object()], 7: [1]}
    assert read_cases(HEART, table, strict=True).n_rows == 1


def test_a_table_without_features_is_refused():
    with pytest.raises(InputError, match="^cases: has a column for none of the features; they are"):
        read_cases(HEART, {"agee": [46], "class": ["absent"]}, strict=True)


def test_a_column_that_may_be_a_misspelt_feature_is_told():
    table = {"agee": [46], "sex": ["male"], "patient": [7]}
    with pytest.warns(DataWarning) as told:
        read_cases(HEART, table, strict=True)
    assert [str(warning.message) for warning in told] == [
        "the table has no column 'age'; 'agee' is not used"
    ]
