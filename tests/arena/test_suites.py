from dataclasses import fields, replace

import numpy as np
import pytest

from voilattice import ConditionalCost, Discount, FeatureCosts, Group
from voilattice.arena.suites import DataSet, Level, Suite, load_suite
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

ROUNDS = COSTS + "\n[rounds]\ncost = 1.5\n"


@pytest.mark.parametrize(
    ("costs", "old", "new"),
    [
        (COSTS, "test = 2", "test = 3"), (COSTS, "90", "91"), (OFF, "age = 0.5", "age = 0.4"),
        (RICH, "overhead = 3", "overhead = 4"), (ROUNDS, "cost = 1.5", "cost = 1.6"),
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


EVERY_KIND = FeatureCosts(
    {"test": 2.0, "age": 1.0, "xray": 5.0},
    (Group("visit", 3.0, ("test", "age")),),
    (ConditionalCost("test", {"age": "old"}, 4.0),),
    (Discount("lab", {"xray": 1.0}),),
    1.5,
    {"xray": frozenset({"age"})},
)
MADE_FROM = {
    FeatureCosts: {
        "prices": {"test": 2.5, "age": 1.0, "xray": 5.0}, "groups": (), "conditional": (),
        "discounts": (), "round_cost": 1.6, "order": {},
    },
    Group: {"name": "call", "overhead": 3.5, "features": ("test",)},
    ConditionalCost: {"feature": "xray", "when": {"age": "young"}, "cost": 4.5},
    Discount: {"name": "labs", "off": {"xray": 1.1}},
    Level: {"costs": replace(EVERY_KIND, round_cost=0.0), "stakes": ("symmetric", 51.0)},
}  # fmt: skip


def checksum_of(level):
    return Suite({"a": DataSet("a", "ill", {"low": level}, None, {})}, 1).checksums["a low"]


@pytest.mark.parametrize("kind", MADE_FROM, ids=lambda kind: kind.__name__)
def test_every_field_of_the_costs_changes_the_checksum(kind):
    # A field that comes later fails here until it is listed, and has a checksum without that.
    assert set(MADE_FROM[kind]) == {field.name for field in fields(kind) if field.init}
    before = Level(EVERY_KIND, ("symmetric", 50.0))
    seen = {checksum_of(before)}
    for name, value in MADE_FROM[kind].items():
        if kind is Level:
            after = replace(before, **{name: value})
        elif kind is FeatureCosts:
            after = replace(before, costs=replace(EVERY_KIND, **{name: value}))
        else:
            table = {Group: "groups", ConditionalCost: "conditional", Discount: "discounts"}[kind]
            (entry,) = getattr(EVERY_KIND, table)
            entry = replace(entry, **{name: value})
            after = replace(before, costs=replace(EVERY_KIND, **{table: (entry,)}))
        seen.add(checksum_of(after))
    assert len(seen) == 1 + len(MADE_FROM[kind])


def test_the_checksum_takes_the_order_of_decisions_and_refuses_what_it_does_not_know():
    rows = {"yes": {"yes": 0, "no": 9}, "no": {"yes": 9, "no": 0}}
    turned = dict(reversed(rows.items()))
    levels = [Level(EVERY_KIND, stakes) for stakes in (rows, turned, np.eye(2), np.eye(2) * 2)]
    assert len(set(map(checksum_of, levels))) == 4
    with pytest.raises(TypeError, match="a level of the arena holds object, which has no checksum"):
        checksum_of(Level(EVERY_KIND, object()))


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
