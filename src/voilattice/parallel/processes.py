"""Tasks in processes of this machine."""

from __future__ import annotations

import atexit
import os
import re
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, cast

from voilattice.parallel.interface import SECONDS_PER_WAIT, THREAD_VARIABLES, Died, Job

__all__ = ["open_pools"]

SECONDS_IDLE = 60  # how long a process waits for the next call
SECONDS_PER_LOOK = 1.0  # how often a process looks whether its parent lives

# Pools that wait for the next call, by the process that started them and the number of threads that
# theirs may use. To start a process and to load compiled code takes seconds.
_idle: dict[tuple[int, int], list[Any]] = {}
atexit.register(_idle.clear)  # loky complains if its pools outlive its modules


@contextmanager
def open_pools(n_processes: int, job: Job) -> Iterator[_Pools]:
    """Return processes that are ready for the tasks of a job, inside a ``with`` block."""
    with _ignore_replaced_workers():
        pools = _Pools(n_processes, job)
        try:
            yield pools
        finally:
            pools.stop()


@contextmanager
def _ignore_replaced_workers() -> Iterator[None]:
    """Say nothing of a worker that is replaced because it has grown large, inside a ``with`` block.

    loky warns in a thread of its own, at any time. `warnings.catch_warnings` would also take back
    what the caller changes while tasks are under way, so only our own filter goes at the end.
    """
    before = list(warnings.filters)
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    ours = [one for one in warnings.filters if one not in before]
    try:
        yield
    finally:
        for one in ours:
            with suppress(ValueError):  # the caller has removed it
                cast("list[Any]", warnings.filters).remove(one)


class _Pools:
    """Processes of this machine.

    If a process of a loky pool dies, so does the pool. So each process is a pool of its own: its
    death concerns one task, and the others go on.
    """

    def __init__(self, n_processes: int, job: Job) -> None:
        import cloudpickle
        from joblib import cpu_count

        self._n = n_processes
        self._n_threads = max(cpu_count() // n_processes, 1)
        self._ready = _idle.setdefault((os.getpid(), self._n_threads), [])
        self._busy: dict[Any, tuple[int, Any]] = {}  # of futures: the task's number, and its pool
        handle, path = tempfile.mkstemp(prefix="voilattice-")
        self._path = Path(path)
        with os.fdopen(handle, "wb") as file:
            cloudpickle.dump(job, file)

    def room(self) -> int:
        return self._n

    def submit(self, number: int, task: Any) -> None:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        while True:
            try:
                pool = self._ready.pop()
            except IndexError:
                pool = _new_pool(self._n_threads)
            # It may be broken: its process died while it was idle.
            with suppress(BrokenProcessPool), _put_off_interrupts():
                self._busy[pool.submit(_do_from_file, str(self._path), task)] = number, pool
                return

    def wait(self) -> tuple[int, Any]:
        from concurrent.futures import FIRST_COMPLETED, wait

        from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

        done: set[Any] = set()
        while not done:
            done, _ = wait(self._busy, SECONDS_PER_WAIT, FIRST_COMPLETED)
        future = done.pop()
        number, pool = self._busy[future]
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            del self._busy[future]
            pool.shutdown(kill_workers=True)
            if isinstance(error, TerminatedWorkerError):
                return number, Died(f"the worker process died{_exit_codes(str(error))}")
            raise error
        result = future.result()
        del self._busy[future]
        self._ready.append(pool)
        return number, result

    def stop(self) -> None:
        """End the processes that are at work; the others wait for the next call."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        for future, (_, pool) in self._busy.items():
            # loky fails if it is stopped before it has taken up its task.
            while not (future.running() or future.done()):
                time.sleep(0.001)
            if future.done() and not isinstance(future.exception(), BrokenProcessPool):
                self._ready.append(pool)
            else:
                pool.shutdown(kill_workers=True)
        self._path.unlink(missing_ok=True)


@contextmanager
def _put_off_interrupts() -> Iterator[None]:
    """Answer Ctrl-C at the end of a ``with`` block: a process that is half started complains."""
    usual = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()  # signals belong to it
    if not (is_main and callable(usual)):
        yield
        return
    interrupts: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *interrupt: interrupts.append(interrupt))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        for interrupt in interrupts:
            usual(*interrupt)


def _new_pool(n_threads: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    env = {name: os.environ.get(name, str(n_threads)) for name in THREAD_VARIABLES}
    return ProcessPoolExecutor(
        max_workers=1, timeout=SECONDS_IDLE, env=env, initializer=_end_with, initargs=(os.getpid(),)
    )


def _end_with(parent: int) -> None:
    """End this process when its parent was killed: nobody waits for its task any more."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_PER_LOOK)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _do_from_file(path: str, task: Any) -> Any:
    return _read_job(path).do(task)


@lru_cache(maxsize=1)
def _read_job(path: str) -> Job:
    import cloudpickle

    job: Job = cloudpickle.loads(Path(path).read_bytes())
    return job


def _exit_codes(said: str) -> str:
    """Return how the processes ended, as loky says it at the end of its message."""
    found = re.search(r"exit codes of the workers are \{(.+)\}", said)
    return f" ({found[1]})" if found else ""
