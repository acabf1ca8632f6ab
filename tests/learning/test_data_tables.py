import gzip
import hashlib

import numpy as np
import pytest

from voilattice import VoilatticeError
from voilattice.learning.data_tables import DataTable, as_table, read_table


def cells_of(column):
    """The cells of a column, None where they are missing."""
    if hasattr(column, "values"):
        return [
            None if gone else x for x, gone in zip(column.values, column.is_missing, strict=True)
        ]
    return [None if code < 0 else column.levels[code] for code in column.codes]


def test_cells_are_typed_once_and_marks_of_missing_are_gaps(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes(b'\xef\xbb\xbfage,"blood, type"\r\n63, A\r\n,?\r\n\r\n 1.50 ,NA\r\n')
    table = read_table(file)
    assert [cells_of(column) for column in table.columns.values()] == [
        [63, None, 1.5],
        ["A", None, None],
    ]
    assert list(table.columns) == ["age", "blood, type"]
    assert table.n_rows == 3
    assert table.checksum == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty; it must have a header and rows"),
        (b"\n\n", "the file is empty; it must have a header and rows"),
        (b"a,b\n", "there is a header but no row below it"),
        (b"a,b,a\n1,2,3\n", "column 'a' is in the header more than once"),
        (b"a,,c\n1,2,3\n", "column 2 has no name in the header"),
        (b"a,b\n1,2\n1,2,3\n", "line 3: 3 cells; the header has 2"),
        (b"a,b\n1,2\n1\n", "line 3: 1 cell; the header has 2"),
        (
            b"a:b\n1:2\n",
            "one column only, 'a:b'; name the character that separates the cells (separator)",
        ),
        (
            b"a,b\n\xff,2\n",
            "not UTF-8 text: byte 4 cannot be decoded; name its encoding, such as cp1252 or "
            "latin-1 (encoding)",
        ),
        (
            b"a,b\n\0,2\n",
            "not a table of text: it holds NUL characters; name its encoding, such as cp1252 or "
            "latin-1 (encoding)",
        ),
        (b'a,b\n"1,2\n', "line 2: not valid CSV: unexpected end of data"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, content, said):
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    with pytest.raises(VoilatticeError) as error:
        read_table(file)
    assert str(error.value) == f"{file}: {said}"


def test_folders_and_files_that_are_not_there(tmp_path):
    with pytest.raises(VoilatticeError, match="this is a folder"):
        read_table(tmp_path)
    with pytest.raises(VoilatticeError, match="this is not an ordinary file"):
        read_table("/dev/null")
    with pytest.raises(VoilatticeError, match="there is no such file"):
        read_table(tmp_path / "no.csv")


def test_parquet_is_read_as_csv_is(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = tmp_path / "t.parquet"
    columns = {"age": [63, None, 41], "dose": [0.5, 1.0, None], "sex": ["m", "f", None]}
    parquet.write_table(pyarrow.table(columns), file)
    assert {name: cells_of(column) for name, column in read_table(file).columns.items()} == {
        "age": [63, None, 41],
        "dose": [0.5, 1, None],
        "sex": ["m", "f", None],
    }
    twice = pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], ["a", "a"])
    parquet.write_table(twice, file)
    with pytest.raises(VoilatticeError, match="column 'a' is in the header more than once"):
        read_table(file)
    file.write_bytes(b"PAR1 garbage")
    with pytest.raises(VoilatticeError, match="not a Parquet file"):
        read_table(file)


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("t.csv", b"a;b\n1,5;x\n2;y\n", {"decimal": ","}),
        ("t.csv", b"a\tb\n1.5\tx\n2\ty\n", {}),
        ("t.tsv", b"a\tb\n1.5\tx\n2\ty\n", {}),
        ("t.TSV.gz", gzip.compress(b"a\tb\n1.5\tx\n2\ty\n", mtime=0), {}),
        ("t.csv.gz", gzip.compress(b"a,b\n1.5,x\n2,y\n", mtime=0), {}),
        ("t.txt", b"a|b\n1.5|x\n2|y\n", {}),
        ("t.csv", b"a:b\n1.5:x\n2:y\n", {"separator": ":"}),
        ("t.csv", "a,b\n1.5,x\n2,y\n".encode("utf-16"), {}),
        ("t.csv", "a,b\n1.5,x\n2,y\n".encode("utf-32"), {}),
        ("t.csv", "a,b\n1.5,x\n2,y\n".encode("utf-16-le"), {"encoding": "utf-16-le"}),
        ("t.csv", b"\r\na,b\r\n1.5,x\r\n\r\n2,y", {"encoding": "latin-1"}),
    ],
)
def test_one_table_in_many_files(tmp_path, name, content, options):
    file = tmp_path / name
    file.write_bytes(content)
    assert read_table(file, **options).columns == as_table({"a": [1.5, 2], "b": ["x", "y"]}).columns


def test_an_encoding_that_is_named_is_used(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes("größe,x\nklein,1\nübergroß,2\n".encode("cp1252"))
    with pytest.raises(VoilatticeError, match="not UTF-8 text: byte 2 cannot be decoded; name its"):
        read_table(file)
    assert cells_of(read_table(file, encoding="cp1252").columns["größe"]) == ["klein", "übergroß"]
    with pytest.raises(VoilatticeError, match="not ASCII text: byte 2 cannot be decoded$"):
        read_table(file, encoding="ascii")
    for odd in ("klingon", "base64", "a\0b"):
        with pytest.raises(VoilatticeError, match="no encoding"):
            read_table(file, encoding=odd)


def test_a_decimal_comma_is_read_only_when_it_is_named(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a;b\n1,5;1.500\n2;2\n")
    table = read_table(file)
    assert cells_of(table.columns["a"]) == ["1,5", "2"]
    assert cells_of(table.columns["b"]) == [1500 / 1000, 2]
    table = read_table(file, decimal=",")
    assert cells_of(table.columns["a"]) == [1.5, 2]
    assert cells_of(table.columns["b"]) == ["1.500", "2"]  # thousands, or a decimal point?
    with pytest.raises(VoilatticeError, match="^decimal: must be '.' or ',', got 'x'"):
        read_table(file, decimal="x")


def test_arrays_have_the_names_of_scikit_learn_unless_others_are_given():
    array = np.array([[1.0, 2.0], [3.0, np.nan]])
    table = as_table(array)
    assert [cells_of(column) for column in table.columns.values()] == [[1, 3], [2, None]]
    assert list(table.columns) == ["x0", "x1"]
    assert list(as_table(array, names=["a", "b"]).columns) == ["a", "b"]
    with pytest.raises(VoilatticeError, match="data.names: 1 name for 2 columns"):
        as_table(array, names=["a"])
    objects = np.array([["1", "x"], ["2", None]], dtype=object)
    assert [cells_of(column) for column in as_table(objects).columns.values()] == [
        [1, 2],
        ["x", None],
    ]


def test_names_that_are_no_texts_become_texts_unless_two_collide():
    assert list(as_table({1: [1], "b": [2], " ü ": [3]}).columns) == ["1", "b", "ü"]
    with pytest.raises(VoilatticeError, match="^data: column '1' is in the header more than once"):
        as_table({1: [1], "1": [2]})
    with pytest.raises(VoilatticeError, match="^data: the name of a column must be a text, got"):
        as_table({("a", "b"): [1]})


def test_frames_of_any_library_are_tables():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    columns = {"n": [1, 2, None], "t": ["x", None, "y"], "b": [True, False, None]}
    wanted = as_table(columns)
    assert as_table(pandas.DataFrame(columns)).columns == wanted.columns
    assert as_table(pandas.DataFrame(columns).convert_dtypes()).columns == wanted.columns
    arrow = pyarrow.table(columns)
    assert as_table(arrow).columns == wanted.columns
    backed = arrow.to_pandas(types_mapper=pandas.ArrowDtype)
    assert as_table(backed).columns == wanted.columns
    twice = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(VoilatticeError, match="^data: column 'a' is in the header more than once"):
        as_table(twice)
    assert list(as_table(pandas.DataFrame([[1, 2]])).columns) == ["0", "1"]


def test_polars_frames_are_tables():
    polars = pytest.importorskip("polars")
    columns = {"n": [1, 2, None], "t": ["x", None, "y"], "b": [True, False, None]}
    assert as_table(polars.DataFrame(columns)).columns == as_table(columns).columns
    with pytest.raises(VoilatticeError, match="^data: must be a path"):
        as_table(polars.LazyFrame(columns))


def test_marks_of_missing_cells_are_used_once_more_on_a_table():
    table = as_table({"x": ["1", "-", "2"], "y": [1, -9, 3], "z": ["NA", "a", "-9"]}, missing=["-"])
    assert cells_of(table.columns["x"]) == [1, None, 2]
    assert cells_of(table.columns["z"]) == ["NA", "a", "-9"]
    assert as_table(table) is table
    marked = as_table(table, missing=["NA", "-9"])
    assert cells_of(marked.columns["y"]) == [1, None, 3]
    assert cells_of(marked.columns["z"]) == [None, "a", None]
    mixed = as_table({"x": ["1", "-", "2"]})
    assert cells_of(as_table(mixed, missing=["-"]).columns["x"]) == [1, None, 2]


def test_the_checksum_of_a_table_in_memory_is_that_of_its_cells():
    first = as_table({"x": [1, 2], "y": ["a", "b"]})
    second = as_table({"x": ["1", "2.0"], "y": np.array(["a", "b"])})
    assert first == second
    assert first.checksum != as_table({"x": [1, 3], "y": ["a", "b"]}).checksum


def test_a_table_holds_typed_columns_of_one_length():
    numbers = as_table({"x": [1, 2]}).columns["x"]
    with pytest.raises(VoilatticeError, match="column 'y' has no type; as_table makes a table"):
        DataTable({"x": numbers, "y": ("a", "b")})
    with pytest.raises(VoilatticeError, match="column 'y' has 1 cell, but column 'x' has 2"):
        DataTable({"x": numbers, "y": as_table({"y": ["a"]}).columns["y"]})
    with pytest.raises(ValueError, match="read-only"):
        numbers.values[0] = 7


def test_the_array_of_a_user_stays_writable():
    array = np.array([1.0, 2.0])
    as_table({"x": array})
    array[0] = 7
