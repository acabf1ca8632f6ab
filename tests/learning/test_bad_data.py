"""Bad data is refused in one line, or used with a warning; never a traceback from below."""

import datetime
import gzip
import math
import warnings

import numpy as np
import pytest

from voilattice import VoilatticeError, learn_problem
from voilattice.errors import DataWarning

N = 40
Y = ["no", "yes", "yes", "no", "yes"] * (N // 5)
X = [0, 0, 1, 1] * (N // 4)
GOOD = {"y": Y, "x": X}
ROWS = "".join(f"{y},{x}\n" for y, x in zip(Y, X, strict=True))


def good_and(**columns):
    return {**GOOD, **columns}


def every(value):
    return [value] * N


# Data in memory, and how its error begins.
REFUSED = {
    "nothing": (None, "data: must be a path, a DataTable, a mapping of columns, a data frame"),
    "a number": (7, "data: must be a path, a DataTable"),
    "a list of rows": ([[1, 2], [3, 4]], "data: must be a path, a DataTable"),
    "a list of records": ([{"y": 1}], "data: must be a path, a DataTable"),
    "a type": (dict, "data: must be a path, a DataTable"),
    "one dimension": (np.arange(3), "data: must be a path, a DataTable"),
    "three dimensions": (np.zeros((2, 2, 2)), "data: must be a path, a DataTable"),
    "fields": (np.zeros((2, 2), dtype=[("y", "f8")]), "data: must be a path, a DataTable"),
    "no columns": ({}, "data: there are no columns"),
    "no rows": ({"y": [], "x": []}, "data: the columns have no cells"),
    "one row": ({"y": ["no"], "x": [1]}, "data.y: one value only, 'no': there is nothing"),
    "ragged columns": (good_and(z=[1]), "data: column 'z' has 1 cell, but column 'y' has 40"),
    "a text for a column": (good_and(z="abc"), "data.z: must be a list of cells, got 'abc'"),
    "bytes for a column": (good_and(z=b"abc"), "data.z: must be a list of cells, got b'abc'"),
    "a number for a column": (good_and(z=3), "data.z: must be a list of cells, got 3"),
    "a mapping for a column": (good_and(z={"a": 1}), "data.z: must be a list of cells, got"),
    "no dimension": (good_and(z=np.array(3)), "data.z: must be a list of cells, got array(3)"),
    "a name twice": ({**GOOD, 1: X, "1": X}, "data: column '1' is in the header more than once"),
    "a name twice but blanks": ({**GOOD, " x": X}, "data: column 'x' is in the header more than"),
    "an empty name": ({**GOOD, " ": X}, "data: column 3 has no name in the header"),
    "a name of parts": ({**GOOD, ("a", "b"): X}, "data: the name of a column must be a text"),
    "a name that is none": ({**GOOD, None: X}, "data: the name of a column must be a text"),
    "an end of line in a name": (
        {**GOOD, "a\nb": X},
        "data: the columns: a name must be printable",
    ),
    "no target": ({"x": X, "z": X}, "target: no column 'y' (there are: x, z)"),
    "target all missing": (good_and(y=every(None)), "data.y: every cell is missing"),
    "target constant": (good_and(y=every("no")), "data.y: one value only, 'no': there is nothing"),
    "target continuous": (
        {"y": [k / 7 for k in range(60)], "x": [0, 1] * 30},
        "data.y: 60 different values; a target of at most 50 classes is wanted",
    ),
    "target of dates": (good_and(y=every(datetime.date(2020, 1, 1))), "data.y: row 1: a date or"),
    "target infinite": (good_and(y=[*X[1:], math.inf]), "data.y: row 40: inf is not a finite"),
    "only the target": ({"y": Y}, "data: there is no column beside the target"),
    "features all constant": (
        {"y": Y, "a": every(1), "b": every(None)},
        "data: no column beside the target has two values or more: 'a', 'b'",
    ),
    "infinite": (good_and(z=[*X[1:], -math.inf]), "data.z: row 40: -inf is not a finite number"),
    "infinite float": (good_and(z=np.array([*X[1:], np.inf])), "data.z: row 40: inf is not a"),
    "infinite text": (good_and(z=["1e999", *map(str, X[1:])]), "data.z: row 1: inf is not a"),
    "dates": (good_and(z=every(datetime.datetime(2020, 1, 1))), "data.z: row 1: a date or a time"),
    "dates of NumPy": (good_and(z=np.array(every("2020"), "M8[D]")), "data.z: row 1: a date or"),
    "times": (good_and(z=every(datetime.time(1))), "data.z: row 1: a date or a time; turn them"),
    "durations": (good_and(z=every(datetime.timedelta(1))), "data.z: row 1: a date or a time"),
    "nested lists": (good_and(z=every([1])), "data.z: row 1: nested values (list)"),
    "nested dictionaries": (good_and(z=every({})), "data.z: row 1: nested values (dict)"),
    "nested arrays": (good_and(z=np.zeros((N, 2))), "data.z: row 1: nested values (ndarray)"),
    "complex numbers": (good_and(z=every(1j)), "data.z: row 1: a complex number, 1j"),
    "bytes": (good_and(z=every(b"a")), "data.z: row 1: bytes; a cell is a number or a text"),
    "objects": (good_and(z=every(object)), "data.z: row 1: an object of type type"),
    "huge beyond writing": (good_and(z=[10**5000, *X[1:]]), "data.z: a number of too many digits"),
    "text among numbers": (good_and(z=[*range(N - 1), "x"]), "data.z: most cells are numbers, but"),
    "identifiers": (
        {"y": Y * 2, "x": X * 2, "z": [f"p{k}" for k in range(2 * N)]},
        "data.z: 80 different values; a feature may have at most 50 states; leave the column out",
    ),
    "huge identifiers": (
        {"y": Y * 2, "x": X * 2, "z": [2**60 + k for k in range(2 * N)]},
        "data.z: 80 different values; a feature may have at most 50 states; leave the column out "
        "(ignore), or cut it into bins (numeric)",
    ),
    "decimal commas": (
        {"y": Y * 2, "x": X * 2, "z": [f"1,{k:02d}" for k in range(2 * N)]},
        "data.z: 80 different values; a feature may have at most 50 states; leave the column out "
        "(ignore), or read decimal commas (decimal)",
    ),
    "NUL in a state": (
        good_and(z=["a\0b", "c"] * (N // 2)),
        "data.z: the states: a name must be printable text, got 'a\\x00b'",
    ),
    "an end of line in a state": (
        good_and(z=["a\nb", "c"] * (N // 2)),
        "data.z: the states: a name must be printable text, got 'a\\nb'",
    ),
    "half a character": (
        good_and(z=["\ud800", "c"] * (N // 2)),
        "data.z: the states: a name must be printable text, got '\\ud800'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_data_is_refused_in_one_line(case):
    data, said = REFUSED[case]
    with pytest.raises(VoilatticeError) as error:
        learn_problem(data, "y", recipe="search")
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


# The name and the content of a file, and what its error says after the name.
REFUSED_FILES = {
    "empty": ("t.csv", b"", "the file is empty; it must have a header and rows"),
    "blank": ("t.csv", b"\n \n\n", "column 1 has no name in the header"),
    "a header alone": ("t.csv", b"y,x\n", "there is a header but no row below it"),
    "one row": ("t.csv", b"y,x\nno,1\n", "y: one value only, 'no': there is nothing to decide"),
    "short row": ("t.csv", f"y,x\n{ROWS}no\n".encode(), "line 42: 1 cell; the header has 2"),
    "long row": ("t.csv", f"y,x\n{ROWS}no,1,2\n".encode(), "line 42: 3 cells; the header has 2"),
    "open quote": ("t.csv", f'y,x\n{ROWS}"no,1\n'.encode(), "line 42: not valid CSV: unexpected"),
    "odd quote": ("t.csv", b'y,x\n"a"b,1\n', "line 2: not valid CSV: "),
    "long cell": ("t.csv", b"y,x\n" + b"a" * 200_000 + b",1\n", "line 2: not valid CSV: field"),
    "column twice": ("t.csv", b"y,x,x\nno,1,2\n", "column 'x' is in the header more than once"),
    "no name": ("t.csv", b"y,x,\nno,1,2\n", "column 3 has no name in the header"),
    "wrong separator": ("t.csv", b"y:x\nno:1\n", "one column only, 'y:x'; name the character"),
    "wrong separator in a TSV": ("t.tsv", b"y,x\nno,1\n", "one column only, 'y,x'; name the"),
    "latin-1": ("t.csv", "y,größe\n".encode("latin-1"), "not UTF-8 text: byte 4 cannot be decoded"),
    "UTF-16 without a mark": ("t.csv", "y,x\n".encode("utf-16-le"), "not a table of text: it"),
    "half of UTF-16": ("t.csv", b"\xff\xfey\0,", "not UTF-16 text: byte 4 cannot be decoded"),
    "NUL": ("t.csv", b"y,x\nno,\0\n", "not a table of text: it holds NUL characters; name its"),
    "a picture": ("t.csv", b"\x89PNG\r\n\x1a\n\0\0", "not UTF-8 text: byte 0 cannot be decoded"),
    "no gzip": ("t.csv.gz", b"y,x\n", "not a gzip file, or not a whole one"),
    "half a gzip": (
        "t.csv.gz",
        gzip.compress(b"y,x\n" * 99, mtime=0)[:-9],
        "not a gzip file, or not a",
    ),
    "no Parquet": ("t.parquet", b"y,x\n", "not a Parquet file: "),
    "infinite": ("t.csv", f"y,x\nno,inf\n{ROWS}".encode(), "x: row 1: inf is not a finite number"),
}


@pytest.mark.parametrize("case", REFUSED_FILES)
def test_bad_files_are_refused_in_one_line(case, run, tmp_path):
    name, content, said = REFUSED_FILES[case]
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    file = tmp_path / name
    file.write_bytes(content)
    status, out, err = run("learn", file, "--target", "y", "-o", tmp_path / "p")
    assert (status, out) == (2, "")
    assert err.startswith(f"{file}: {said}")
    assert err.count("\n") == 1
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "this is a folder"),
        ("no.csv", "there is no such file"),
        ("no\0.csv", "the name of a file has no NUL character"),
        ("a" * 300 + ".csv", "cannot be read: File name too long"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, said):
    with pytest.raises(VoilatticeError) as error:
        learn_problem(tmp_path / name, "y", recipe="search")
    assert str(error.value).endswith(f": {said}")


def test_a_file_without_permission(tmp_path, monkeypatch):
    file = tmp_path / "t.csv"
    file.write_text(f"y,x\n{ROWS}")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)  # whoever runs the tests may read everything
    with pytest.raises(VoilatticeError, match="t.csv: cannot be read: Permission denied"):
        learn_problem(file, "y", recipe="search")


# Data that is odd but can be used; every one of these is learned from without a word.
USED = {
    "missing cells": good_and(z=[None, 1, 2, math.nan] * (N // 4)),
    "huge numbers": good_and(z=[1e300, -1e300, 1, 0] * (N // 4)),
    "huge whole numbers": good_and(z=[2**60 + 1, 2**60, 1, 0] * (N // 4)),
    "tiny differences": good_and(z=[1 + k * 2.0**-52 for k in range(N)]),
    "unicode": {"y": Y, "größe 日本": ["ü", "é", "é", "ü"] * (N // 4)},
    "markup": {"y": Y, "[bold]|x": ["<b>", "a|b", "a b", '"q"'] * (N // 4)},
    "numbers for names": {"y": Y, 0: X, 1.5: X[::-1]},
    "truth values": good_and(z=[True, False, None, True] * (N // 4)),
    "a truth value for a target": {"y": [True, False] * (N // 2), "x": X},
    "mixed types": good_and(z=[1, "a", True, 2.5] * (N // 4)),
    "one cell missing from all rows": good_and(z=[None] * (N - 2) + ["a", "b"]),
    "spaces": good_and(z=[" a", "a ", "b", "\u00a0b"] * (N // 4)),
}


@pytest.mark.parametrize("case", USED)
def test_odd_data_is_used(case, tmp_path):
    found = learn_problem(USED[case], "y", recipe="search")
    assert len(found.problem.features) == len(USED[case]) - 1
    assert found.write(tmp_path / "p").exists()


def test_a_warning_is_one_warning_for_all_columns():
    data = good_and(a=every(1), b=every(None), c=every("z"))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        learn_problem(data, "y", recipe="search")
    assert [(w.category, str(w.message)) for w in warned] == [
        (DataWarning, "columns with one value or none are left out: 'a', 'b', 'c'")
    ]
