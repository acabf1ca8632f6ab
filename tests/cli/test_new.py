"""Asking for a problem in the terminal."""

import pytest
from click.testing import CliRunner

from voilattice import load_problem
from voilattice.cli.group import cli

CAR = """Car that does not start
CAD
fault
battery, starter, none
0.3 0.2 0.5
lights
dim, bright

0.9 0.1
0.1 0.9
0.05, 0.95
5
horn
loud, weak
fault, lights
0.1 0.9
0.2 0.8
0.9 0.1
0.9 0.1
0.95 0.05
1 0
1.5

each
0 200 300
200 0 300
100 100 0

"""

# Answers that cannot be used, and then one that can.
WRONG = """a\tb



fault
battery
battery, battery
battery, none
0.3 0.2 0.5
0.3 x
0.3 0.6
-1 2
nan 1
0.3 0.7

fault
li,ghts
lights
dim, bright
horn
fault, fault
-
0.4 0.6
cheap
-2
inf
5

most
asymmetric
-1
100
"""


@pytest.fixture
def new(tmp_path, monkeypatch):
    """Answer the questions; return the exit status, what is shown, and the file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def new(answers, *options, file="car.toml"):
        result = CliRunner().invoke(cli, ["new", file, *options], input=answers)
        return result, tmp_path / file

    return new


def test_the_answers_become_a_problem(new):
    result, path = new(CAR)
    assert result.exit_code == 0
    assert "car.toml is written." in result.output
    problem = load_problem(path)
    assert problem.title == "Car that does not start"
    assert problem.currency == "CAD"
    assert problem.features == ("lights", "horn")
    assert problem.network.parents == ((), (0,), (0, 1))
    assert problem.network.tables[2][2, 1].tolist() == [1, 0]
    assert problem.network.tables[2][0, 1].tolist() == [0.2, 0.8]
    assert dict(problem.costs.prices) == {"lights": 5, "horn": 1.5}
    assert problem.misclassification.tolist() == [[0, 200, 300], [200, 0, 300], [100, 100, 0]]


def test_the_file_is_a_problem_like_any_other(new, run):
    _, path = new(CAR)
    status, out, err = run("advise", str(path), "--policy", "optimal")
    assert (status, err) == (0, "")
    assert out.startswith("Acquire horn.\n")
    assert "acquiring horn for 1.50 CAD" in out
    assert run("policy", str(path), "--policy", "optimal", "--text")[0] == 0


def test_a_wrong_answer_is_asked_for_again_with_the_reason(new):
    result, path = new(WRONG)
    assert result.exit_code == 0, result.output
    complaints = [line for line in result.output.splitlines() if "Please answer again." in line]
    for reason, complaint in zip(
        [
            "must be printable text, got 'a\\tb'",
            "the name: a name must be printable text, got ''",
            "at least two states are needed, got 'battery'",
            "the states: the name 'battery' appears twice",
            "needs 2 numbers, got 3",
            "must be a number, such as 0.5, got 'x'",
            "P(fault) sums to 0.9, not 1",
            "P(fault) holds -1.0, which is not a probability",
            "P(fault) holds nan, which is not a probability",
            "the name: a name must be printable text, got ''",
            "'fault' is there already; names must be unique",
            "a name must not hold a comma here, got 'li,ghts'",
            "no node 'horn' yet (there are: fault)",
            "what it depends on: the name 'fault' appears twice",
            "must be a number, such as 0.5, got 'cheap'",
            "must be >= 0, got -2.0",
            "must be finite, got inf",
            "must be symmetric, asymmetric or each, got 'most'",
            "must be >= 0, got -1.0",
        ],
        complaints,
        strict=True,
    ):
        assert complaint.lstrip("> ").startswith(reason)
    problem = load_problem(path)
    assert problem.network.n_arcs == 0  # - means that it depends on nothing
    assert (problem.title, problem.currency) == ("", "")


def test_stakes_that_the_prior_does_not_allow_are_asked_for_again(new):
    answers = "\n\nY\na, b\n1 0\nX\nT, F\n\n1 0\n0 1\n2\n\nasymmetric\n100\neach\n0 1\n1 0\n\n"
    result, path = new(answers)
    assert result.exit_code == 0, result.output
    assert result.output.count("Please answer again.") == 1
    assert load_problem(path).misclassification.tolist() == [[0, 1], [1, 0]]


def test_decisions_that_are_no_classes_can_be_added(new, run):
    result, path = new(CAR.rstrip("\n") + "\ntow\n60 60 x\n60 60 60\ntow\nwait\n70 10 20\n\n")
    assert result.exit_code == 0, result.output
    assert "'tow' is there already; names must be unique. Please answer again." in result.output
    problem = load_problem(path)
    assert problem.decisions == ("battery", "starter", "none", "tow", "wait")
    assert problem.misclassification[3:].tolist() == [[60, 60, 60], [70, 10, 20]]
    assert "tow = { battery = 60, starter = 60, none = 60 }" in path.read_text()
    assert run("advise", str(path), "--policy", "optimal")[0] == 0


def test_symmetric_stakes_are_written_as_such(new):
    _, path = new(CAR[: CAR.index("each")] + "\n500\n")
    assert 'kind = "symmetric"\nexpected = 500\n' in path.read_text()
    assert load_problem(path) == load_problem(path).with_expected("symmetric", 500)


@pytest.mark.parametrize("n_lines", [0, 4, 14, 25])
def test_the_end_of_the_answers_writes_nothing_and_says_so(
    n_lines, tmp_path, run, monkeypatch, capsys
):
    answers = iter(CAR.splitlines()[:n_lines])

    def answer(prompt=""):
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("click.termui.visible_prompt_func", answer)
    path = tmp_path / "car.toml"
    status, _, err = run("new", str(path))
    assert status == 2
    assert err == f"{path}: the answers ended too early; nothing was written\n"
    assert not path.exists()


def test_ctrl_c_writes_nothing_and_says_so(tmp_path, run, monkeypatch):
    def interrupted(prompt=""):
        raise KeyboardInterrupt

    monkeypatch.setattr("click.termui.visible_prompt_func", interrupted)
    path = tmp_path / "car.toml"
    status, _, err = run("new", str(path))
    assert status == 130
    assert f"{path}: nothing was written\n" in err
    assert not path.exists()


def test_a_file_is_overwritten_only_with_force(new, tmp_path, run):
    path = tmp_path / "car.toml"
    path.write_text("mine")
    assert run("new", str(path)) == (2, "", f"{path}: is there already; --force overwrites it\n")
    assert path.read_text() == "mine"
    result, _ = new(CAR, "--force")
    assert result.exit_code == 0
    assert load_problem(path).target == "fault"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("car.bif", "must end in .toml"),
        ("car", "must end in .toml"),
        ("no/car.toml", "cannot be written: No such file or directory"),
        ("folder.toml", "cannot be written: this is not a file"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_questions(
    run, tmp_path, name, message
):
    (tmp_path / "folder.toml").mkdir()
    path = tmp_path / name
    assert run("new", str(path), "--force") == (2, "", f"{path}: {message}\n")


def test_questions_fit_a_narrow_terminal(new, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    result, _ = new(CAR)
    for line in result.output.splitlines():
        assert len(line.removeprefix("> ").rstrip()) <= 61
