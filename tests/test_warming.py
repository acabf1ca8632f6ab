"""Kernels are compiled before they are needed, in processes of their own."""

import os
import subprocess
import sys
from concurrent.futures import Future

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
    monkeypatch.setattr(warming, "has_extra", lambda extra: False)
    assert warming.is_warm()


def test_nothing_is_started_if_nothing_is_left_to_compile(monkeypatch):
    cold(monkeypatch)
    monkeypatch.setattr(warming.subprocess, "Popen", None)
    assert warming.warm() == 0
    beside = warming.start_warming()
    assert beside.is_done
    beside.stop()


def test_a_process_compiles_beside_this_one_until_it_is_stopped(tmp_path, monkeypatch):
    cold(monkeypatch, "blocks")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/given\nexec sleep 600\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    beside = warming.start_warming()
    assert not beside.is_done
    assert os.getpriority(os.PRIO_PROCESS, beside._process.pid) == warming.LOWEST_PRIORITY
    beside.stop()
    assert beside.is_done
    assert beside._process.args[1:4] == ["-m", "voilattice", "warm"]
    beside.stop()


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
