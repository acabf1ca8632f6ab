"""How the command line starts, and how it ends when it is interrupted."""

import os
import signal
import subprocess
import sys
import time

import pytest

from voilattice.cli.group import COMMANDS, cli

RUN = "from voilattice.cli import main; main()"


def process(*arguments, code=RUN, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def test_the_help_loads_neither_numpy_nor_rich():
    code = f"import atexit, sys; atexit.register(lambda: print(sorted(sys.modules)))\n{RUN}"
    out, err = process("--help", code=code).communicate()
    assert err == ""
    assert "Commands:" in out
    loaded = out.splitlines()[-1]
    for module in ("numpy", "rich", "voilattice.model", "tomllib"):
        assert f"'{module}'" not in loaded


def test_the_help_lists_each_command_with_the_first_line_of_its_own_help(run):
    context = cli.make_context("voilattice", [], resilient_parsing=True)
    assert list(COMMANDS) == sorted(COMMANDS)
    for name, (_, line) in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command.name == name
        assert command.help.split("\n\n")[0].strip() == line
        assert command.get_short_help_str(1000) == line
    shown = " ".join(run("--help")[1].split())
    assert all(f"{name} {line}" in shown for name, (_, line) in COMMANDS.items())


def test_the_help_spells_abbreviations_out(run):
    for arguments in (("--help",), ("value", "--help")):
        shown = " ".join(run(*arguments)[1].split())
        assert "EMC the expected misclassification cost" in shown
        assert "EVI the expected value of information" in shown


def test_command_names_are_completed():
    environment = os.environ | {
        "_VOILATTICE_COMPLETE": "bash_complete", "COMP_WORDS": "voilattice po", "COMP_CWORD": "1"
    }  # fmt: skip
    out, err = process(env=environment).communicate()
    assert (out.splitlines(), err) == (["plain,policy"], "")


@pytest.mark.parametrize("delay", [0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6])
@pytest.mark.parametrize(
    "arguments",
    [
        ("lattice", "thyroid", "--values", "--max-nodes", "100000000"),
        ("compare", "hepatitis", "--emc", "0:4000:1", "--jobs", "2"),
    ],
)
def test_ctrl_c_is_understood_however_early(arguments, delay):
    # A terminal interrupts all processes of a command, the workers too.
    started = process(*arguments, start_new_session=True)
    time.sleep(delay)
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=30)
    if "voilattice/" not in err.replace(sys.prefix, "") and started.returncode != 130:
        return  # Python itself was still starting
    assert (started.returncode, out, err.strip()) == (130, "", "interrupted")


@pytest.mark.parametrize("delay", [0.9, 1.6])
def test_workers_say_nothing_when_a_command_is_interrupted(delay, tmp_path):
    started = process("reproduce", "--out", tmp_path, "--jobs", "2", start_new_session=True)
    time.sleep(delay)
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out) == (130, "")
    said = [line for line in err.splitlines() if line and not line.startswith("[")]  # progress
    assert said == ["interrupted"]
