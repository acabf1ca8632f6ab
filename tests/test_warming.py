"""Kernels are compiled before they are needed, in processes of their own."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from queue import Queue

import psutil
import pytest

from voilattice import kernel_cache, kernel_calls, warming


def cold(monkeypatch, *loops):
    """Let these loops be the ones that are not compiled."""
    monkeypatch.setattr(warming, "are_ready", lambda loop: loop not in loops)


def test_kernels_land_in_the_cache_and_are_found_there(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    cold(monkeypatch, "blocks")
    told = []
    assert not kernel_cache._is_cached("blocks.expand")
    assert warming.warm(progress=lambda *args: told.append(args)) == 1
    assert told == [("blocks", 1, 1)]
    assert kernel_cache._is_cached("blocks.expand")


def test_every_kernel_of_a_loop_is_called():
    script = (
        "from voilattice.kernel_cache import KERNELS, _is_loaded\n"
        "from voilattice.kernel_calls import CALLS, call_kernels\n"
        "for loop in CALLS:\n"
        "    call_kernels(loop)\n"
        "print([name for names in KERNELS.values() for name in names if not _is_loaded(name)])\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout
    assert out == b"[]\n"


class Inline:
    """A pool that does everything at once, in this process."""

    def __init__(self, n, context, prepare):
        self.n = n

    def submit(self, work, *args):
        future = Future()
        try:
            future.set_result(work(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, cancel_futures):
        assert cancel_futures


def test_a_loop_comes_after_those_whose_kernels_it_calls(monkeypatch):
    cold(monkeypatch, *kernel_cache.KERNELS)
    called, told = [], []
    monkeypatch.setattr(warming, "ProcessPoolExecutor", Inline)
    monkeypatch.setattr(kernel_calls, "call_kernels", called.append)
    assert warming.warm(2, lambda *args: told.append(args)) == len(kernel_cache.KERNELS)
    assert set(called) == set(kernel_cache.KERNELS)
    for loop, needs in kernel_calls.NEEDS.items():
        assert all(called.index(need) < called.index(loop) for need in needs)
    assert [n_done for _, n_done, _ in told][-1] == len(called)


def test_a_loop_that_does_not_compile_is_an_error(monkeypatch):
    def fail(loop):
        raise RuntimeError(loop)

    cold(monkeypatch, "blocks")
    monkeypatch.setattr(warming, "ProcessPoolExecutor", Inline)
    monkeypatch.setattr(kernel_calls, "call_kernels", fail)
    with pytest.raises(RuntimeError, match="blocks"):
        warming.warm()


def test_loops_of_missing_packages_are_left_out(monkeypatch):
    cold(monkeypatch, "trees", "training")
    assert not warming.is_warm()
    monkeypatch.setattr(warming, "has_extra", lambda extra: extra == "learn")
    assert warming._cold_loops() == ["training"]
    monkeypatch.setattr(warming, "has_extra", lambda extra: False)
    assert warming.is_warm()


def test_nothing_is_started_if_nothing_is_left_to_compile(monkeypatch):
    cold(monkeypatch)
    monkeypatch.setattr(warming.subprocess, "Popen", None)
    assert warming.warm() == 0
    beside = warming.start_warming(pytest.fail)
    assert beside.is_done
    beside.stop()


@pytest.fixture
def beside(monkeypatch):
    """A function that starts a program in place of Python, and what it says of a failure."""
    cold(monkeypatch, "blocks")
    failures, started = Queue(), []

    def start(tmp_path, program):
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(python))
        started.append(warming.start_warming(failures.put))
        return started[-1], failures

    yield start
    for process in started:
        process.stop()


def test_a_process_compiles_beside_this_one_until_it_is_stopped(tmp_path, beside):
    process, failures = beside(tmp_path, "exec sleep 600")
    assert not process.is_done
    assert os.getpgid(process._process.pid) != os.getpgid(0)  # Ctrl-C is for the server
    assert os.getpriority(os.PRIO_PROCESS, process._process.pid) == warming.LOWEST_PRIORITY
    process.stop()
    assert process.is_done
    process.stop()
    process._watch.join()
    assert failures.empty()  # it was ended on purpose


def test_a_process_that_does_not_end_when_it_is_told_to_is_killed(tmp_path, beside, monkeypatch):
    monkeypatch.setattr(warming, "SECONDS_TO_END", 0.01)
    process, failures = beside(tmp_path, f"trap '' TERM; echo > {tmp_path}/set; exec sleep 600")
    while not (tmp_path / "set").exists():
        process._watch.join(0.01)
    process.stop()
    process._watch.join()
    assert process._process.returncode == -signal.SIGKILL
    assert failures.empty()


def test_compiling_that_fails_is_told_once_with_its_exit_status(tmp_path, beside):
    process, failures = beside(tmp_path, "exit 3")
    assert failures.get(timeout=60) == 3
    process._watch.join()
    assert process.is_done
    assert failures.empty()


def test_what_compiles_beside_a_process_ends_with_it():
    script = (
        "import time\n"
        "from voilattice import warming\n"
        "warming.warm = lambda n_processes: print(n_processes, flush=True) or time.sleep(600)\n"
        "warming.warm_beside(3)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline() == b"3\n"
        child.stdin.close()  # as if the server had been killed
        assert child.wait(timeout=60) == 1


def test_processes_that_compile_end_with_the_one_that_started_them():
    script = (
        "import os, time\n"
        "from voilattice.warming import *\n"
        "from voilattice import warming\n"
        "pool = warming.ProcessPoolExecutor(\n"
        "    1, warming.get_context('spawn'), warming._end_with_parent)\n"
        "print(pool.submit(os.getpid).result(), flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    child.wait(timeout=60)


@pytest.mark.parametrize(("n", "said"), [(2, "compiled 2 inner loops in "), (0, "nothing to ")])
def test_the_command_says_what_it_did_and_where_the_code_is(n, said, run, monkeypatch):
    def warm(processes, tell):
        assert processes == 3
        for k in range(n):
            tell(f"loop-{k}", k + 1, n)
        return n

    monkeypatch.setattr(warming, "warm", warm)
    status, out, err = run("warm", "--processes", 3)
    assert status == 0
    assert out.startswith(said)
    assert out.endswith(f"the code is in {kernel_cache.find_cache_folder()}\n")
    assert err.count("\n") == n
    assert "warm: loop-1 is compiled, 2 of 2, 0 s\n" in err or not n
