import hashlib

import pytest

from voilattice import VoilatticeError
from voilattice.learning.data_tables import number, read_table


def test_cells_are_text_and_marks_of_missing_are_none(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes(b'\xef\xbb\xbfage,"blood, type"\r\n63, A\r\n,?\r\n\r\n 1.50 ,NA\r\n')
    table = read_table(file)
    assert table.columns == {"age": ("63", None, "1.50"), "blood, type": ("A", None, None)}
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
        (b"a;b\n1;2\n", "one column only, 'a;b'; are the cells separated by commas?"),
        (b"a,b\n\xff,2\n", "not UTF-8 text: byte 4 cannot be decoded"),
        (b"a,b\n\0,2\n", "not a CSV file: it holds NUL characters"),
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
    assert read_table(file).columns == {
        "age": ("63", None, "41"),
        "dose": ("0.5", "1.0", None),
        "sex": ("m", "f", None),
    }
    twice = pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], ["a", "a"])
    parquet.write_table(twice, file)
    with pytest.raises(VoilatticeError, match="column 'a' is in the header more than once"):
        read_table(file)
    file.write_bytes(b"PAR1 garbage")
    with pytest.raises(VoilatticeError, match="not a Parquet file"):
        read_table(file)


def test_numbers():
    cells = ("1", "-2.5e3", " 7", "inf", "nan", "1_000", "a")
    assert [number(cell) for cell in cells] == [1.0, -2500.0, 7.0, None, None, None, None]
