"""Text for people, in terminals of any width and in pipes; files with the right names."""

import os
import pty
import re
import subprocess
import sys

import pytest

from voilattice.cli.parameters import option_of
from voilattice.errors import Remedy, TooLargeError

POLICY = ("policy", "heart", "--policy", "optimal", "--text")
RUN = [sys.executable, "-c", "from voilattice.cli import main; main()"]


def figures(text):
    return re.findall(r"\d[\d,]*\.\d\d\b", text)


def in_terminal(columns, *arguments):
    """Run the command line in a terminal that many columns wide; return its lines."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES"}}
    with subprocess.Popen([*RUN, *arguments], stdout=theirs, env=environment) as process:
        os.close(theirs)
        content = b""
        try:
            while part := os.read(ours, 65536):
                content += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[\d;]*m", "", content.decode()).splitlines()


def test_what_is_piped_is_neither_wrapped_nor_cut(run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    out = run(*POLICY)[1]
    leaves = [line for line in out.splitlines() if "say " in line]
    assert len(leaves) == 24
    assert all(re.search(r"risk \d+\.\d\d$", line) for line in leaves)
    assert max(map(len, run("lattice", "diabetes", "--values")[1].splitlines())) < 120
    out = run("value", "figure1", "--features", "X1,X2")[1]
    assert out.splitlines()[-1].endswith("costs 15.00: it does not pay.")


@pytest.mark.parametrize(
    "arguments",
    [
        POLICY,
        ("compare", "heart"),
        ("compare", "asia", "--emc", "0:2000:1000", "--jobs", "1"),
        ("show", "heart"),
        ("lattice", "diabetes", "--values"),
        ("advise", "heart", "--policy", "greedy-la"),
    ],
)
def test_no_figure_is_cut_in_a_narrow_terminal(run, monkeypatch, arguments):
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = sorted(figures(run(*arguments)[1]))
    assert whole
    for columns in ("50", "40"):
        monkeypatch.setenv("COLUMNS", columns)
        out = run(*arguments)[1]
        assert sorted(figures(out)) == whole
        if arguments[0] == "compare":
            assert "markov-blanket" in out.replace("markov-\n", "markov-")


def test_a_terminal_is_as_wide_as_it_says():
    lines = in_terminal(50, *POLICY)
    assert max(map(len, lines)) <= 50
    assert any(re.fullmatch(r"[│ ]+\w+, risk \d+\.\d\d", line) for line in lines)  # wrapped


LATTICE, NONE = ("lattice", "asia"), ("policy", "asia", "--policy", "none")
SWEEP = ("compare", "figure1", "--emc", "0:10:10", "--jobs", "1")


@pytest.mark.parametrize(
    ("command", "option", "file", "wanted"),
    [
        (LATTICE, "--svg", "out.png", ".svg"),
        (LATTICE, "--html", "a.svg", ".html or .htm"),
        (LATTICE, "--graphml", "a.dot", ".graphml or .xml"),
        (NONE, "--dot", "a.svg", ".dot or .gv"),
        (NONE, "--svg", "a.html", ".svg"),
        (NONE, "--html", "a.json", ".html or .htm"),
        (NONE, "--save", "a.toml", ".json"),
        (SWEEP, "--csv", "a.xls", ".csv"),
        (SWEEP, "--plot", "a.doc", ".svg, .png or .pdf"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    run, tmp_path, monkeypatch, command, option, file, wanted
):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*command, option, file, "--json")
    assert (status, out, err) == (2, "", f"{option}: {file}: must end in {wanted}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_name_without_an_extension_is_fine(run, tmp_path):
    plain, upper, plot = tmp_path / "drawing", tmp_path / "A.SVG", tmp_path / "plot"
    assert run("lattice", "figure3", "--svg", plain, "--html", tmp_path / "page")[0] == 0
    assert plain.read_text().startswith("<?xml")
    assert run("lattice", "figure3", "--svg", upper)[0] == 0
    assert run(*SWEEP, "--plot", plot)[0] == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert run(*SWEEP, "--plot", tmp_path / "plot.pdf")[0] == 0


def test_the_lattice_is_valued_before_it_is_drawn(run, tmp_path):
    files = tmp_path / "a.svg", tmp_path / "a.html"
    run("lattice", "figure3", "--values", "--svg", files[0], "--html", files[1])
    for file in files:
        drawn = file.read_text()
        assert len(re.findall(r'<g class="node[^"]* best"', drawn)) == 1
        assert "13.90 − 5.00 = 8.90" in drawn
    run("lattice", "figure3", "--svg", files[0])
    assert "8.90" not in files[0].read_text()


def test_errors_name_options_but_only_those_that_the_command_has(run):
    status, _, err = run("policy", "asia", "--policy", "greedy-la", "--max-states", "3")
    assert status == 2
    assert "raise the budget (--max-states), choose fewer features, or give more evidence" in err
    error = TooLargeError("too much", remedies=(Remedy("raise it", "max_states"), Remedy("ask")))
    assert str(error) == "too much; raise it (max_states), or ask"
    assert error.describe(lambda name: option_of(name, {"--json"})) == "too much; ask"
    assert option_of("memory_limit", {"--memory"}) == "--memory"


def test_counts_have_the_right_number(run, tmp_path):
    from voilattice import ConditionalCost, FeatureCosts, load_problem

    costs = FeatureCosts({"a": 1, "b": 2}, (), (ConditionalCost("a", (("b", "T"),), 0.5),))
    assert repr(costs) == "<FeatureCosts: 2 prices, 0 groups, 1 conditional price>"
    assert "1 group," in repr(load_problem("asia").costs)


def test_a_consultation_keeps_to_its_time_limit(run, monkeypatch):
    from voilattice.policy import advice

    asked = []

    def noted(problem, policy, evidence=None, *, time_limit=None):
        asked.append(time_limit)
        return advice.advise(problem, policy, evidence, time_limit=time_limit)

    monkeypatch.setattr("voilattice.cli.consultation.advise", noted)
    monkeypatch.setattr("click.prompt", lambda *_, **__: "yes")
    run("advise", "asia", "--policy", "optimal", "--interactive", "--time-limit", "7")
    assert set(asked) == {7.0}
