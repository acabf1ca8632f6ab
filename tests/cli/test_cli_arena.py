import json
from pathlib import Path

import pytest
from helpers.clinic import draw_clinic

METHODS = "at once,EG2,csNB"
COSTS = """
[costs]
age = 1
ward = 2
fever = 4
scan = 9
gene = 3

[misclassification]
kind = "symmetric"
expected = 30
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    raw = draw_clinic(90)
    names = list(raw.columns)
    cells = raw.raw(names)
    lines = [",".join("" if x is None or x != x else str(x) for x in row)  # noqa: PLR0124
             for row in zip(*(cells[name].tolist() for name in names), strict=True)]  # fmt: skip
    (path / "clinic.csv").write_text("\n".join([",".join(names), *lines]))
    (path / "clinic.toml").write_text(COSTS)
    return str(path)


def test_arena_writes_a_report_and_prints_the_standings(run, folder, tmp_path):
    out = tmp_path / "out"
    arguments = ["arena", "--data", folder, "--target", "ill", "--out", str(out), "--splits", "2"]
    status, printed, said = run(*arguments, "--methods", METHODS, "--jobs", "1")
    assert status == 0, said
    assert printed.split()[:3] == ["method", "rank", "cost"]
    assert "1 cell" in printed
    for name in ("report.html", "results.csv", "summary.csv", "times.csv", "journal.jsonl"):
        assert (out / name).is_file()
    _, printed, _ = run(*arguments, "--methods", METHODS, "--jobs", "1", "--json")
    document = json.loads(printed)
    assert document["results"] == document["wanted"] == 6
    assert {entry["method"] for entry in document["methods"]} == set(METHODS.split(","))
    assert document["data_sets"] == {"clinic": ["given"]}
    assert document["failures"] == []


def test_arena_lists_its_methods(run):
    status, printed, _ = run("arena", "--list")
    assert status == 0
    assert printed.splitlines()[0] == "voilattice optimal"
    assert "ICET" in printed.splitlines()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--data", "nowhere"], "--data: 'nowhere' is no folder"),
        (["--methods", "EG3"], "--methods: no method 'EG3'"),
        (["--only", "ward"], "--only: no data set 'ward'"),
        (["--target", "illness"], "no column 'illness'"),
        (["--splits", "0"], "--splits"),
        (["--jobs", "0"], "--jobs: must be a number of processes"),
        (["--dask", "somewhere"], "--dask: must be the address of a scheduler"),
        (["--jobs", "2", "--dask", "local:2"], "cannot be used together with --dask"),
    ],
)
def test_wrong_input_is_one_line(run, folder, tmp_path, arguments, said):
    usual = ["--data", folder, "--target", "ill", "--out", str(tmp_path / "out")]
    given = dict(zip(usual[::2], usual[1::2], strict=True))
    given |= dict(zip(arguments[::2], arguments[1::2], strict=True))
    status, _, error = run("arena", *(word for pair in given.items() for word in pair))
    assert status == 2
    assert said in error
    assert "Traceback" not in error


def test_a_folder_that_cannot_be_written_is_named(run, folder, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, said = run(
        "arena", "--data", folder, "--target", "ill", "--out", str(tmp_path / "file"),
        "--methods", "at once", "--jobs", "1",
    )  # fmt: skip
    assert status == 2
    assert "--out" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gene = 3\n", "gene = 3\nbmi = 1\n", "no such feature"),
        ("gene = 3\n", "", "no price for 'gene'"),
        ('kind = "symmetric"\nexpected = 30', "yes = { yes = 0 }\nno = { yes = 1 }", "no"),
    ],
)
def test_a_cost_file_that_does_not_fit_is_refused_before_the_work(
    run, folder, tmp_path, old, new, said
):
    assert old in COSTS
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    (data / "clinic.csv").write_text((Path(folder) / "clinic.csv").read_text())
    (data / "clinic.toml").write_text(COSTS.replace(old, new))
    status, printed, error = run("arena", "--data", data, "--target", "ill", "--out", out)
    assert status == 2
    assert not printed
    assert said in error
    assert not (out / "journal.jsonl").exists()


def test_a_report_keeps_the_methods_that_were_tried_before(run, folder, tmp_path):
    usual = ["arena", "--data", folder, "--target", "ill", "--out", tmp_path, "--splits", "1"]
    run(*usual, "--jobs", "1", "--methods", METHODS)
    run(*usual, "--jobs", "1", "--methods", "at once")
    rows = (tmp_path / "results.csv").read_text().splitlines()
    assert len(rows) == 1 + 3
