import math
import subprocess
import sys

import pytest

from voilattice import (
    FeatureCosts,
    Group,
    Problem,
    VoilatticeError,
    build_policy,
    learn_problem,
    load_problem,
)
from voilattice.errors import DataWarning, InputError
from voilattice.learning import Recipe, as_table, learn_network
from voilattice.learning.problems import PLACEHOLDER_STAKES

ROWS = 40
COLUMNS = {
    "ill": ["yes", "no", *["no", "yes"] * (ROWS // 2 - 1)],
    "fever": [36.5 + k % 2 + k / 50 for k in range(ROWS)],
    "grade": [(k % 4) // 2 for k in range(ROWS)],
}


def learn(*arguments, **settings):
    """A quick recipe, where it does not matter which."""
    return learn_problem(*arguments, recipe="search", **settings)


def test_a_table_in_memory_gives_the_problem_of_its_file(tmp_path):
    rows = [COLUMNS, *zip(*COLUMNS.values(), strict=True)]
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "clinic.csv").write_text("\n".join(lines))
    from_file = learn(tmp_path / "clinic.csv", "ill")
    for data in (COLUMNS, from_file.table):
        assert learn(data, "ill", title="clinic").problem == from_file.problem
    assert from_file.problem.title == "clinic"
    assert from_file.source == "Learned by `voilattice.learn_problem` from `clinic.csv`."


def test_a_written_problem_takes_raw_values(tmp_path):
    found = learn(COLUMNS, "ill")
    assert found.problem.bins == found.learned.cuts
    again = load_problem(found.write(tmp_path / "clinic"))
    assert again == found.problem
    (cut,) = again.bins["fever"]
    assert again.state_of("fever", cut - 0.1) == again.states("fever")[0]
    assert again.state_of("grade", 1.0) == "1"


def test_a_data_frame_gives_the_problem_of_its_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS)
    assert learn(frame, "ill").problem == learn(COLUMNS, "ill").problem
    frame["grade"] = frame["grade"].astype("Int64")
    frame.loc[0, "grade"] = pandas.NA
    frame.loc[1, "fever"] = math.nan
    assert learn(frame, "ill").learned.missing == {"fever": 1, "grade": 1}


def test_what_has_columns_as_polars_has_is_a_data_frame():
    class Frame:
        columns = tuple(COLUMNS)

        def __getitem__(self, name):
            return COLUMNS[name]

    assert learn(Frame(), "ill").problem == learn(COLUMNS, "ill").problem


@pytest.mark.parametrize("recipe", [None, "auto"])
def test_decisions_need_not_be_classes(tmp_path, recipe):
    rows = {"refer": {"no": 5, "yes": 5}, "wait": {"yes": 90, "no": 0}, "yes": {"yes": 0, "no": 9}}
    found = learn_problem(COLUMNS, "ill", misclassification=rows, recipe=recipe)
    assert found.problem.classes == ("no", "yes")
    assert found.problem.decisions == ("refer", "wait", "yes")
    assert found.problem.misclassification.tolist() == [[5, 5], [0, 90], [9, 0]]
    found.write(tmp_path / "p")
    assert load_problem(tmp_path / "p") == found.problem
    with pytest.raises(InputError, match="misclassification.refer: the cost for the class 'yes'"):
        learn_problem(COLUMNS, "ill", misclassification={"refer": {"no": 5}}, recipe=recipe)


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
    found = learn(COLUMNS, "ill")
    assert found.stakes == PLACEHOLDER_STAKES
    assert set(found.problem.costs.prices.values()) == {1.0}
    assert build_policy(found.problem, "none").expected_total_cost == pytest.approx(100)


def test_a_written_folder_reads_back_and_says_how_it_was_made(tmp_path):
    marked = {**COLUMNS, "grade": ["-", *COLUMNS["grade"][1:]]}
    found = learn(marked, "ill", missing=["-"], categorical=["grade"])
    path = found.write(tmp_path / "new")
    assert load_problem(path) == found.problem
    readme = (tmp_path / "new" / "README.md").read_text()
    assert "Learned by `voilattice.learn_problem` from a table." in readme
    assert "- Marks of missing cells, too: -." in readme
    assert "- Never cut into bins: grade." in readme
    assert f"`{found.table.checksum}`" in readme
    with pytest.raises(VoilatticeError) as error:
        found.write(tmp_path / "new")
    assert str(error.value) == (
        f"{tmp_path / 'new'}: network.bif, README.md, problem.toml are there already; "
        f"choose another folder, or overwrite what is there (force)"
    )


def test_force_overwrites_the_three_files_and_nothing_else(tmp_path):
    folder = tmp_path / "new"
    learn(COLUMNS, "ill", title="first").write(folder)
    (folder / "notes.txt").write_text("mine")
    found = learn(COLUMNS, "ill", title="second")
    path = found.write(folder, force=True)
    assert load_problem(path) == found.problem
    assert (folder / "notes.txt").read_text() == "mine"
    names = ["README.md", "network.bif", "notes.txt", "problem.toml"]
    assert sorted(file.name for file in folder.iterdir()) == names


def test_an_interrupted_write_loses_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "new"
    first = learn(COLUMNS, "ill", title="first")
    path = first.write(folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("voilattice.learning.problems.write_readme", interrupt)
    with pytest.raises(KeyboardInterrupt):
        learn(COLUMNS, "ill", title="second").write(folder, force=True)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert load_problem(path) == first.problem


def test_an_error_of_writing_names_the_folder_that_was_asked_for(tmp_path):
    (tmp_path / "file").write_text("")
    found = learn(COLUMNS, "ill")
    with pytest.raises(VoilatticeError) as error:
        found.write(tmp_path / "file" / "new")
    assert str(error.value) == f"{tmp_path}/file/new: cannot be written: Not a directory"

    class Costs:
        def cost(self, features, evidence):
            return float(len(features))

    with pytest.raises(VoilatticeError) as error:
        learn(COLUMNS, "ill", costs=Costs()).write(tmp_path / "new")
    said = "problem.toml: costs of type Costs cannot be written; only FeatureCosts can"
    assert str(error.value) == f"{tmp_path}/new: {said}"
    assert not (tmp_path / "new").exists()


def test_prices_of_columns_that_are_left_out_are_not_needed_and_do_no_harm():
    data = {**COLUMNS, "flat": [1] * ROWS, "empty": [None] * ROWS}
    costs = FeatureCosts(
        {"fever": 3, "grade": 1, "flat": 2}, (Group("visit", 2, ("fever", "flat")),)
    )
    said = "columns with one value or none are left out: 'flat', 'empty'"
    for given in (costs, {"fever": 3, "grade": 1, "flat": 2}):
        with pytest.warns(DataWarning) as warned:
            found = learn(data, "ill", costs=given)
        assert [str(warning.message) for warning in warned] == [said]
        assert warned[0].filename == __file__  # the line that called, not one of ours
        assert found.problem.features == ("fever", "grade")
        assert found.problem.costs.prices == {"fever": 3, "grade": 1}
        assert found.notes == ("Left out, with one value or none: flat, empty.",)


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (COLUMNS, {"target": "il"}, "target: no column 'il' (nearest: 'ill')"),
        (COLUMNS, {"costs": {"fever": 1}}, "costs: no price for 'grade'; give one, or leave"),
        (COLUMNS, {"costs": {"fever": -1, "grade": 1}}, "costs.fever: must be >= 0"),
        (COLUMNS, {"misclassification": ("odd", 5)}, "misclassification"),
        (COLUMNS, {"recipe": "odd"}, "recipe: must be a Recipe, 'auto', or one of search, "),
        (COLUMNS, {"recipe": "auto", "policy": "odd"}, "policy: no policy 'odd'"),
        (COLUMNS, {"recipe": "auto", "costs": {"fevr": 1}}, "costs.fevr: no feature 'fevr'"),
        (COLUMNS, {"ignore": "grade"}, "ignore: must be a list of columns, got 'grade'"),
        (COLUMNS, {"missing": "-"}, "missing: must be a list of marks, got '-'"),
        ({**COLUMNS, "x": [1]}, {}, "data: column 'x' has 1 cell, but column 'ill' has 40"),
        ({**COLUMNS, "x": "12"}, {}, "data.x: must be a list of cells, got '12'"),
        ({"ill": COLUMNS["ill"]}, {}, "data: there is no column beside the target"),
        ({}, {}, "data: there are no columns"),
        ({"ill": [], "x": []}, {}, "data: the columns have no cells"),
        ([1, 2], {}, "data: must be a path, a DataTable, a mapping of columns, a data frame or "),
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
    table = as_table({name: tuple(map(str, cells)) for name, cells in COLUMNS.items()})
    found = learn(table, "ill")
    assert found.learned.network == learn_network(table, "ill").network
    assert isinstance(found.problem, Problem)
