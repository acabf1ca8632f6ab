"""Text for people, in terminals of any width and in pipes."""

import os
import pty
import re
import subprocess
import sys

import pytest

from voilattice.cli.terminal import print_lines, print_table, table

ODD = """
[network]
target = "Y"
[network.joint]
variables = ["a=b", "Y", "[bold]"]
states = { "a=b" = ["x=1", "é"], Y = ["T", "F"], "[bold]" = [":smile:", "<b>"] }
probabilities = [0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.2, 0.1]
[costs]
"a=b" = 1
"[bold]" = 1e20
[misclassification]
kind = "symmetric"
expected = 10
"""


def test_odd_names_are_taken_as_they_are(run, tmp_path, monkeypatch):
    path = tmp_path / "odd.toml"
    path.write_text(ODD)
    out = run("show", path, "--evidence", "a=b=x=1")[1]
    assert "Known: a=b = x=1" in out
    assert "[bold]" in out
    assert ":smile:" in out
    assert "1e+20" in out
    monkeypatch.setenv("COLUMNS", "0")
    assert run("show", path)[1]


def test_a_terminal_without_the_letters_gets_their_codes(tmp_path):
    (tmp_path / "odd.toml").write_text(ODD)
    code = "import sys; from voilattice.cli import main; main(['show', sys.argv[1]])"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "odd.toml"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\xe9" in done.stdout


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
    leaves = [line for line in out.splitlines() if "decide " in line]
    assert len(leaves) == 24
    assert all(re.search(r"risk \d+\.\d\d \(.* %\)$", line) for line in leaves)
    assert max(map(len, run("lattice", "diabetes", "--values")[1].splitlines())) < 120
    out = run("value", "figure1", "--features", "X1,X2")[1]
    assert out.splitlines()[-1].endswith("costs 15.00: it does not pay.")


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_terminal_is_as_wide_as_it_says():
    lines = in_terminal(50, *POLICY)
    assert max(map(len, lines)) <= 50
    assert any(re.fullmatch(r"[│ ]+\(\w+ [\d.]+ %\)", line) for line in lines)  # wrapped


def printed_lines(capsys, lines):
    print_lines(lines, before="")
    return capsys.readouterr().out.splitlines()


def test_an_amount_keeps_its_currency(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    tree = ["buy a", "└─ a = yes (45.0 %): say no, risk 16.00 CAD"]
    assert printed_lines(capsys, tree)[1:] == [
        "└─ a = yes (45.0 %): say no,",
        "     risk 16.00 CAD",
    ]


def test_a_long_branch_is_wrapped_inside_its_branch(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    tree = ["buy a", "├─ a = yes (45.0 %): say no, risk 16.00", "└─ a = no"]
    assert printed_lines(capsys, tree) == [
        "buy a",
        "├─ a = yes (45.0 %): say no,",
        "│    risk 16.00",
        "└─ a = no",
    ]


def test_a_figure_keeps_the_word_in_front_of_it(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "12")
    assert printed_lines(capsys, ["it costs about 12 %"]) == ["it costs", "  about 12 %"]


def test_a_table_that_does_not_fit_is_a_list(capsys, monkeypatch):
    rows = table("policy", ">expected", ">savings")
    rows.add_row("markov-blanket", "1,234,567.00", "")
    rows.add_row("none", "2.00", "1.00")
    monkeypatch.setenv("COLUMNS", "60")
    print_table(rows)
    assert capsys.readouterr().out.splitlines()[-1].split() == ["none", "2.00", "1.00"]
    monkeypatch.setenv("COLUMNS", "25")
    print_table(rows)
    assert capsys.readouterr().out.splitlines() == [
        "policy markov-blanket",
        "  expected: 1,234,567.00",
        "policy none",
        "  expected: 2.00",
        "  savings: 1.00",
    ]
