"""How the command line ends when it is interrupted."""

import json
import os
import signal
import time

import pytest
from helpers.processes import process

from voilattice.budgets import Deadline
from voilattice.cli.interrupts import deaf_workers, finish_on_interrupt


@pytest.mark.slow
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
    if started.returncode != 130 and ", in main" not in err:
        return  # Python itself, or the module with `main`, was still being loaded
    assert (started.returncode, out, err.strip()) == (130, "", "interrupted")


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.9, 1.6])
def test_workers_say_nothing_when_a_command_is_interrupted(delay, tmp_path):
    started = process("reproduce", "--out", tmp_path, "--jobs", "2", start_new_session=True)
    time.sleep(delay)
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out) == (130, "")
    said = [line for line in err.splitlines() if line and not line.startswith("[")]  # progress
    assert said == ["interrupted"]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no such masks")
def test_workers_start_deaf_and_the_mask_is_taken_off_again():
    def is_deaf():
        return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())

    before = is_deaf()
    with deaf_workers():
        assert is_deaf()
        code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(0, ()))"
        assert process(code=code).communicate() == ("True\n", "")
    assert is_deaf() == before
    with pytest.raises(KeyboardInterrupt), deaf_workers():
        raise KeyboardInterrupt
    assert is_deaf() == before


def interrupt_oneself(missed):
    os.kill(os.getpid(), signal.SIGINT)
    until = time.monotonic() + 10
    while time.monotonic() < until:  # Python interrupts the main thread at one of these steps
        pass
    missed.append("Ctrl-C")


def test_ctrl_c_reaches_the_command_while_its_workers_are_deaf():
    missed = []
    with pytest.raises(KeyboardInterrupt), deaf_workers():
        interrupt_oneself(missed)
    assert missed == []


def test_an_interrupted_command_ends_with_status_130(run, monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("voilattice.cli.group.run", interrupted)
    assert run("show", "asia") == (130, "", "interrupted\n")


def test_a_handler_of_whoever_runs_the_command_line_stays(run):
    mine = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run("problems")[0] == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, mine)
    assert run("problems")[0] == 0
    assert signal.getsignal(signal.SIGINT) is mine


def test_the_first_ctrl_c_ends_the_time_and_the_second_the_command(capsys):
    deadline = Deadline(1000)
    before = signal.getsignal(signal.SIGINT)
    with finish_on_interrupt(deadline):
        signal.raise_signal(signal.SIGINT)
        assert deadline.is_over
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert capsys.readouterr().err.startswith("Interrupted: this is what is done so far.")


def test_where_ctrl_c_is_ignored_it_stays_ignored():
    mine = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        deadline = Deadline(1000)
        with finish_on_interrupt(deadline):
            signal.raise_signal(signal.SIGINT)
        assert not deadline.is_over
    finally:
        signal.signal(signal.SIGINT, mine)


def test_in_an_interrupted_table_the_greedy_policy_goes_on(run, monkeypatch, tmp_path):
    from voilattice.policy.solvers import RuleSolver

    usual, n_asked = RuleSolver.next_step, 0

    def interrupted(self, problem, evidence, limits):
        nonlocal n_asked
        n_asked += 1
        if n_asked == 2:
            signal.raise_signal(signal.SIGINT)
        return usual(self, problem, evidence, limits)

    monkeypatch.setattr(RuleSolver, "next_step", interrupted)
    table = tmp_path / "cases.csv"
    table.write_text("cp,thal,age\n" + "".join(f"{cp},,46\n" for cp in ("typical", "", "atypical")))
    status, out, err = run("apply", "heart", table, "--policy", "greedy-la", "--json")
    assert status == 0
    assert json.loads(out)["unfinished"] > 0
    assert json.loads(out)["status"] == "time"
    assert "Interrupted" in err


def test_an_interrupted_policy_is_printed_as_far_as_it_is(run, monkeypatch):
    from voilattice.policy.situation import Situation

    usual = Situation.best_single

    def interrupted(self, candidates):
        if len(self.known) == 1:
            signal.raise_signal(signal.SIGINT)
        return usual(self, candidates)

    monkeypatch.setattr(Situation, "best_single", interrupted)
    status, out, err = run("policy", "heart", "--policy", "greedy", "--json")
    assert status == 0
    document = json.loads(out)
    assert (document["exact"], document["status"]) == (False, "time")
    assert document["nodes"] >= 1
    assert "Interrupted" in err


def test_an_interrupted_sweep_in_one_process_is_printed_as_far_as_it_is(run, monkeypatch):
    from voilattice.policy.situation import Situation

    usual = Situation.best_single

    def interrupted(self, candidates):
        if self.builder.problem.costs.prices["xray"] == 2:
            monkeypatch.setattr(Situation, "best_single", usual)
            signal.raise_signal(signal.SIGINT)
        return usual(self, candidates)

    monkeypatch.setattr(Situation, "best_single", interrupted)
    status, out, err = run("compare", "asia", "--price", "xray=1,2,3", "--jobs", "1", "--json")
    assert status == 0
    rows = json.loads(out)
    cut = {row["settings"]["costs.xray"] for row in rows if row["status"] == "time"}
    assert cut == {2, 3}
    assert all(row["exact"] for row in rows if row["settings"]["costs.xray"] == 1)
    assert "Interrupted" in err
