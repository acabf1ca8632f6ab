"""The completion of names in a shell."""

import os
import subprocess
import sys

import click
import pytest

from voilattice.cli.completion import complete_features, completion_command


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run, shell):
    status, out, _ = run("completion", shell)
    assert status == 0
    assert "_VOILATTICE_COMPLETE" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("voilattice value fig", ["figure1", "figure3"]),
        ("voilattice value builtin:fig", ["builtin:figure1", "builtin:figure3"]),
        ("voilattice value asia --features xray,b", ["xray,bronc"]),
        ("voilattice value asia --evidence smoke=", ["smoke=yes", "smoke=no"]),
        ("voilattice value nothing --features x", []),
        ("voilattice advise asia --policy gree", ["greedy", "greedy-la"]),
        ("voilattice apply asia cases.csv --policy opt", ["optimal"]),
        ("voilattice advise asia --unavailable x", ["xray"]),
        ("voilattice advise asia --given smoke=y", ["smoke=yes"]),
    ],
)
def test_names_are_completed(run, monkeypatch, words, expected):
    for name, value in asked(words).items():
        monkeypatch.setenv(name, value)
    status, out, err = run()
    assert (status, err) == (0, "")
    assert completed(out) == expected


def test_a_shell_is_answered_by_the_command_itself():
    done = subprocess.run(
        [sys.executable, "-m", "voilattice"], env=os.environ | asked("voilattice value fig"),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert completed(done.stdout) == ["figure1", "figure3"]


def asked(words):
    """What bash sets before it calls the command."""
    place = str(len(words.split()) - 1)
    return {"_VOILATTICE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": place}


def completed(out):
    found = [line.split(",", 1) for line in out.splitlines() if line]
    return [name for kind, name in found if kind == "plain"]


def test_a_feature_is_offered_once():
    context = click.Context(completion_command)
    context.params["problem"] = "asia"
    assert complete_features(context, completion_command.params[0], "xray,x") == []
    assert complete_features(context, completion_command.params[0], "dysp,x") == ["dysp,xray"]


def test_bash_does_not_break_words_at_the_signs_of_ours(run):
    assert "COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]}\n" in run("completion", "bash")[1]
    assert "COMP_WORDBREAKS=" not in run("completion", "zsh")[1]
