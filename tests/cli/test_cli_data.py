"""The commands that begin with data: learn and reproduce."""

import pytest

from voilattice import load_problem

TABLE = "ill,age,sex,dose\n" + "".join(
    f"{'yes' if k % 3 else 'no'},{40 + k % 3 * 10 + k % 7},{'mf'[k % 2]},{k % 4 if k % 9 else ''}\n"
    for k in range(60)
)
COSTS = """
[costs]
age = 1
sex = 2
dose = 5.5
[[groups]]
name = "visit"
overhead = 3
features = ["age", "sex"]
[misclassification]
kind = "asymmetric"
expected = 80
"""


def test_learn_writes_a_problem_that_every_command_takes(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "costs.toml").write_text(COSTS)
    for folder in ("one", "two"):
        code, _, err = run(
            "learn", f"{tmp_path}/t.csv", "--target", "ill", "--costs", f"{tmp_path}/costs.toml",
            "-o", f"{tmp_path}/{folder}", "--states", "ill=no,yes", "--title", "A | test",
        )  # fmt: skip
        assert code == 0, err
    files = ("problem.toml", "network.bif", "README.md")
    assert all(
        (tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files
    )
    problem = load_problem(tmp_path / "one")
    assert problem.classes == ("no", "yes")
    assert problem.costs.groups[0].overhead == 3
    assert 'kind = "asymmetric"' in (tmp_path / "one" / "problem.toml").read_text()
    assert "| age | <" in (tmp_path / "one" / "README.md").read_text()
    assert run("policy", f"{tmp_path}/one", "--policy", "greedy-la", "--json")[0] == 0


def test_learn_without_costs_says_so(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    _, out, _ = run("learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p")
    assert "Every feature costs 1 until you edit that file" in out
    assert set(load_problem(tmp_path / "p").costs.prices.values()) == {1.0}


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (TABLE, ["--target", "il"], "--target: no column 'il' (nearest: 'ill')"),
        ("", ["--target", "ill"], "the file is empty; it must have a header and rows"),
        ("a,a\n1,2\n", ["--target", "a"], "column 'a' is in the header more than once"),
        (TABLE, ["--target", "ill", "--forbid", "age"], "--forbid: must be FROM:TO"),
        (TABLE, ["--target", "ill", "--states", "sex"], "--states: must be COLUMN=a,b,c"),
        (TABLE, ["--target", "ill", "--ignore", "age,sex,dose"], "no column beside the target"),
        (TABLE, ["--target", "ill", "--max-parents", "0"], "--max-parents: must be at least 1"),
        (TABLE, ["--target", "ill", "--forbid", "a:b"], "--forbid: no column 'a'"),
        (TABLE, ["--target", "ill", "--bins", "4"], "--bins: is for --discretization frequency"),
        (TABLE, ["--target", "ill", "--costs", "COSTS"], "COSTS: cannot be read"),
        (
            "a,b\n1,1\n2,1\n",
            ["--target", "a"],
            "t.csv: no column beside the target has two values or more: 'b'",
        ),
        (TABLE, ["--target", "ill", "--states", "sex=m,m,f"], "t.csv: "),
        (
            TABLE,
            ["--target", "ill", "--states", "sex=m,f", "--states", "sex=f,m"],
            "--states sex=f,m: 'sex' is given twice",
        ),
        (
            TABLE,
            ["--target", "ill", "--numeric", "ill"],
            "--numeric: 'ill' is the target, which is never cut into bins",
        ),
    ],
)
def test_learn_refuses_in_one_line(run, tmp_path, content, options, said):
    (tmp_path / "t.csv").write_text(content)
    code, out, err = run("learn", f"{tmp_path}/t.csv", "-o", f"{tmp_path}/p", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "p").exists()


def test_an_error_in_the_costs_names_their_file(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "costs.toml").write_text("[costs]\nage = 1\nsex = 2\n")
    code, _, err = run(
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "--costs", f"{tmp_path}/costs.toml",
        "-o", f"{tmp_path}/p",
    )  # fmt: skip
    assert code == 2
    assert f"{tmp_path}/costs.toml: costs.dose: " in err


def test_learn_overwrites_nothing(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "README.md").write_text("mine")
    code, _, err = run("learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p")
    assert code == 2
    assert "README.md is there already" in err
    assert [f.name for f in (tmp_path / "p").iterdir()] == ["README.md"]


def test_a_file_is_not_taken_for_a_folder(run, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(TABLE)
    status, out, err = run("learn", file, "--target", "ill", "-o", file)
    assert (status, out) == (2, "")
    assert err == f"--output: {file}: is a file, not a folder; choose another name\n"
    assert run("reproduce", "--out", file)[2].startswith(f"{file}: is a file, not a folder")
    assert file.read_text() == TABLE


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "lung"], "--only: must be one of liver, diabetes"),
        (["--jobs", "0"], "--jobs: must be a number of processes"),
        (["--jobs", "-3"], "--jobs: must be a number of processes"),
    ],
)
def test_reproduce_refuses_in_one_line(run, tmp_path, options, said):
    code, _, err = run("reproduce", "--out", f"{tmp_path}/r", *options)
    assert code == 2
    assert said in err
