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
def test_names_are_completed(words, expected):
    environment = os.environ | {
        "_VOILATTICE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = "from voilattice.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    found = [line.split(",", 1) for line in done.stdout.splitlines() if line]
    assert [name for kind, name in found if kind == "plain"] == expected


def test_a_feature_is_offered_once():
    context = click.Context(completion_command)
    context.params["problem"] = "asia"
    assert complete_features(context, completion_command.params[0], "xray,x") == []
    assert complete_features(context, completion_command.params[0], "dysp,x") == ["dysp,xray"]


def test_bash_does_not_break_words_at_the_signs_of_ours(run):
    assert "COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]}\n" in run("completion", "bash")[1]
    assert "COMP_WORDBREAKS=" not in run("completion", "zsh")[1]
