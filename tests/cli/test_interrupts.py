"""How the command line ends when it is interrupted."""

import os
import signal
import sys
import time

import pytest
from helpers.processes import process


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
