import math
import subprocess
import sys

import pytest

from voilattice import Problem, VoilatticeError, build_policy, learn_problem, load_problem
from voilattice.learning import DataTable, Recipe, learn_network
from voilattice.learning.problems import PLACEHOLDER_STAKES

ROWS = 40
COLUMNS = {
    "ill": ["no", "yes"] * (ROWS // 2),
    "fever": [36.5 + k % 2 + k / 50 for k in range(ROWS)],
    "grade": [(k % 4) // 2 for k in range(ROWS)],
}


def test_a_table_in_memory_gives_the_problem_of_its_file(tmp_path):
    rows = [COLUMNS, *zip(*COLUMNS.values(), strict=True)]
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "clinic.csv").write_text("\n".join(lines))
    from_file = learn_problem(tmp_path / "clinic.csv", "ill")
    for data in (COLUMNS, from_file.table):
        assert learn_problem(data, "ill", title="clinic").problem == from_file.problem
    assert from_file.problem.title == "clinic"
    assert from_file.source == "Learned by `voilattice.learn_problem` from `clinic.csv`."


def test_a_written_problem_takes_raw_values(tmp_path):
    found = learn_problem(COLUMNS, "ill")
    assert found.problem.bins == found.learned.cuts
    again = load_problem(found.write(tmp_path / "clinic"))
    assert again == found.problem
    (cut,) = again.bins["fever"]
    assert again.state_of("fever", cut - 0.1) == again.states("fever")[0]
    assert again.state_of("grade", 1.0) == "1"


def test_a_data_frame_gives_the_problem_of_its_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS)
    assert learn_problem(frame, "ill").problem == learn_problem(COLUMNS, "ill").problem
    frame["grade"] = frame["grade"].astype("Int64")
    frame.loc[0, "grade"] = pandas.NA
    frame.loc[1, "fever"] = math.nan
    assert learn_problem(frame, "ill").learned.missing == {"fever": 1, "grade": 1}


def test_what_has_columns_as_polars_has_is_a_data_frame():
    class Frame:
        columns = tuple(COLUMNS)

        def __getitem__(self, name):
            return COLUMNS[name]

    assert learn_problem(Frame(), "ill").problem == learn_problem(COLUMNS, "ill").problem


def test_costs_recipe_and_columns_are_chosen_by_the_caller():
    recipe = Recipe(target_first=True)
    found = learn_problem(
        COLUMNS, "ill", costs={"fever": 3}, misclassification=[[0, 7], [9, 0]], recipe=recipe,
        ignore=["grade"], states={"ill": ["yes", "no"]}, title="Clinic",
    )  # fmt: skip
    assert found.problem.classes == ("yes", "no")
    assert found.problem.features == ("fever",)
    assert found.problem.misclassification.tolist() == [[0, 7], [9, 0]]
    assert (found.learned.recipe, found.stakes) == (recipe, None)
    assert found.notes == ("Left out: grade.",)


def test_costs_that_are_not_given_stand_at_placeholders():
    found = learn_problem(COLUMNS, "ill")
    assert found.stakes == PLACEHOLDER_STAKES
    assert set(found.problem.costs.prices.values()) == {1.0}
    assert build_policy(found.problem, "none").expected_total_cost == pytest.approx(100)


def test_a_written_folder_reads_back_and_says_how_it_was_made(tmp_path):
    marked = {**COLUMNS, "grade": ["-", *COLUMNS["grade"][1:]]}
    found = learn_problem(marked, "ill", missing=["-"], categorical=["grade"])
    path = found.write(tmp_path / "new")
    assert load_problem(path) == found.problem
    readme = (tmp_path / "new" / "README.md").read_text()
    assert "Learned by `voilattice.learn_problem` from a table." in readme
    assert "- Marks of missing cells, too: -." in readme
    assert "- Never cut into bins: grade." in readme
    assert f"`{found.table.checksum}`" in readme
    with pytest.raises(VoilatticeError, match="README.md is there already"):
        found.write(tmp_path / "new")


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (COLUMNS, {"target": "il"}, "target: no column 'il' (nearest: 'ill')"),
        (COLUMNS, {"costs": {"fever": 1}}, "costs.grade"),
        (COLUMNS, {"costs": {"fever": -1, "grade": 1}}, "costs.fever: must be >= 0"),
        (COLUMNS, {"misclassification": ("odd", 5)}, "misclassification"),
        (COLUMNS, {"recipe": "auto"}, "recipe: must be a voilattice.learning.Recipe, got 'auto'"),
        (COLUMNS, {"ignore": "grade"}, "ignore: must be a list of columns, got 'grade'"),
        (COLUMNS, {"missing": "-"}, "missing: must be a list of marks, got '-'"),
        ({**COLUMNS, "x": [1] * ROWS}, {}, "data.x: one value only, '1': the column tells nothing"),
        ({**COLUMNS, "x": [1]}, {}, "data: column 'x' has 1 cell, but column 'ill' has 40"),
        (DataTable({"ill": ("no", "yes"), "x": ("1",)}), {}, "data: column 'x' has 1 cell"),
        ({**COLUMNS, "x": "12"}, {}, "data.x: must be a list of cells, got '12'"),
        ({"ill": COLUMNS["ill"]}, {}, "data: there is no column beside the target"),
        ({}, {}, "data: there are no columns"),
        ({"ill": [], "x": []}, {}, "data: the columns have no cells"),
        ([1, 2], {}, "data: must be a path, a DataTable, a mapping of columns or a data frame"),
        ("no.csv", {}, "no.csv: there is no such file"),
    ],
)
def test_an_error_names_the_parameter(data, options, said):
    with pytest.raises(VoilatticeError) as error:
        learn_problem(data, **{"target": "ill", **options})
    assert str(error.value).startswith(said)


def test_the_room_loads_neither_pyagrum_nor_pandas():
    code = (
        "import sys, voilattice.learning; "
        "sys.exit(any(name in sys.modules for name in ('pyagrum', 'pandas', 'pyarrow')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_table_of_its_own_is_learned_as_it_is():
    table = DataTable({name: tuple(map(str, cells)) for name, cells in COLUMNS.items()})
    found = learn_problem(table, "ill")
    assert found.learned.network == learn_network(table, "ill").network
    assert isinstance(found.problem, Problem)
