import pytest

from voilattice.arena.suites import load_suite
from voilattice.errors import InputError, UnknownNameError, VoilatticeError

COSTS = """
[costs]
test = 2
age = 1

[misclassification]
yes = { yes = 0, no = 20 }
no = { yes = 90, no = 0 }
"""


def rows(n):
    return "test,age,ill\n" + "".join(
        f"{'+' if k % 3 else '-'},{20 + k},{'no' if k % 4 else 'yes'}\n" for k in range(n)
    )


def write(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_toml", ".toml").replace("_csv", ".csv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder)


def test_a_table_beside_its_cost_file(tmp_path):
    source = write(tmp_path, clinic_csv=rows(60), clinic_toml=COSTS)
    [data] = load_suite(source, target="ill", n_splits=2).data_sets.values()
    cell = data.cell("given", 1)
    assert cell.inside.n_rows + cell.outside.n_rows == 60
    assert cell.inside.n_rows == 40
    assert set(cell.question.features) == {"test", "age"}


def test_levels_beside_a_table_are_in_order(tmp_path):
    files = {"clinic_csv": rows(60)}
    files |= {f"clinic-{level}_toml": COSTS for level in ("high", "low", "other", "middle")}
    [data] = load_suite(write(tmp_path, **files), target="ill").data_sets.values()
    assert list(data.levels) == ["low", "middle", "high", "other"]


def test_splits_that_come_with_the_data_are_used(tmp_path):
    files = {"a__low_toml": COSTS}
    for k in (1, 2, 10):
        files |= {f"a__train-{k}_csv": rows(30 + k), f"a__test-{k}_csv": rows(10 + k)}
    suite = load_suite(write(tmp_path, **files), target="ill", n_splits=3)
    data = suite.data_sets["a"]
    assert [data.split_number(k) for k in range(3)] == [1, 2, 10]
    assert data.cell("low", 10).inside.n_rows == 40
    assert data.cell("low", 10).outside.n_rows == 20


def test_a_folder_with_one_table_is_split_at_random(tmp_path):
    source = write(tmp_path, a__low_toml=COSTS, a__cases_csv=rows(60))
    data = load_suite(source, target="ill").data_sets["a"]
    one, other, again = (data.cell("low", k) for k in (1, 2, 1))
    assert one.inside.raw(["age"])["age"].tolist() == again.inside.raw(["age"])["age"].tolist()
    assert one.inside.raw(["age"])["age"].tolist() != other.inside.raw(["age"])["age"].tolist()


def test_random_splits_hold_every_class_evenly(tmp_path):
    source = write(tmp_path, clinic_csv=rows(60), clinic_toml=COSTS)
    data = load_suite(source, target="ill").data_sets["clinic"]
    for split in range(1, 6):
        cell = data.cell("given", split)
        ill = [
            cell.question.classes_of(part).tolist().count(0) for part in (cell.inside, cell.outside)
        ]
        assert sorted(ill) == [5, 10] or sorted(ill) == [15, 30]


RICH = (
    COSTS
    + """
[[groups]]
name = "visit"
overhead = 3
features = ["test", "age"]
"""
)
OFF = (
    COSTS
    + """
[[discounts]]
name = "visit"
off = { test = 1, age = 0.5 }
"""
)


@pytest.mark.parametrize(
    ("costs", "old", "new"),
    [
        (COSTS, "test = 2", "test = 3"), (COSTS, "90", "91"), (OFF, "age = 0.5", "age = 0.4"),
        (RICH, "overhead = 3", "overhead = 4"),
    ],
)  # fmt: skip
def test_checksums_tell_other_costs(tmp_path, costs, old, new):
    def checksum(name, text):
        source = write(tmp_path / name, clinic_csv=rows(60), clinic_toml=text)
        return load_suite(source, target="ill").checksums

    assert checksum("a", costs) == checksum("b", costs)
    assert (
        checksum("a", costs)["clinic given"]
        != checksum("c", costs.replace(old, new))["clinic given"]
    )


def test_checksums_tell_other_data_and_another_target(tmp_path):
    def checksum(name, n, target="ill"):
        source = write(tmp_path / name, clinic_csv=rows(n), clinic_toml=COSTS)
        return load_suite(source, target=target).checksums["clinic"]

    assert checksum("a", 60) == checksum("b", 60)
    assert checksum("a", 60) != checksum("c", 61)
    assert checksum("a", 60) != checksum("d", 60, "test")


def test_wrong_folders_are_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match="is no folder"):
        load_suite(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="holds no data set"):
        load_suite(str(tmp_path))
    write(tmp_path, a__low_toml=COSTS)
    with pytest.raises(InputError, match="found 0 tables"):
        load_suite(str(tmp_path), target="ill")
    write(tmp_path, a__cases_csv=rows(20))
    with pytest.raises(VoilatticeError, match="no column 'class'"):
        load_suite(str(tmp_path))
    with pytest.raises(UnknownNameError, match="no data set 'b'"):
        load_suite(str(tmp_path), target="ill", only=["b"])


def test_more_splits_than_there_are_is_refused(tmp_path):
    files = {"a__low_toml": COSTS, "a__train-1_csv": rows(30), "a__test-1_csv": rows(10)}
    with pytest.raises(InputError, match="comes with 1 split, and 5 are wanted"):
        load_suite(write(tmp_path, **files), target="ill")
    (tmp_path / "a" / "test-1.csv").unlink()
    with pytest.raises(InputError, match=r"has no test-1\.csv beside it"):
        load_suite(str(tmp_path), target="ill", n_splits=1)


def test_costs_without_stakes_are_refused(tmp_path):
    source = write(tmp_path, clinic_csv=rows(60), clinic_toml="[costs]\ntest = 1\nage = 1\n")
    with pytest.raises(InputError, match="misclassification: is missing"):
        load_suite(source, target="ill")
