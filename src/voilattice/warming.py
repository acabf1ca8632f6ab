"""Compiling all kernels before they are needed.

numba holds one lock while it compiles, so kernels are compiled in several processes at once. They
leave the code in numba's cache (`kernel_cache`), where every later process finds it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from multiprocessing import active_children, get_context

from voilattice.engines import count_threads
from voilattice.extras import has_extra
from voilattice.kernel_cache import KERNELS, are_ready

__all__ = ["Warming", "is_warm", "start_warming", "warm", "warm_beside"]

Progress = Callable[[str, int, int], None]  # the loop, how many loops are done, and of how many
Failure = Callable[[int], None]  # the exit status of a process

LOWEST_PRIORITY = 19
SECONDS_TO_END = 2.0  # for a process that is told to
LOOPS_OF_EXTRAS = {"training": "learn", "trees": "arena"}  # nobody calls them without the extra


def is_warm() -> bool:
    """Return whether no kernel is left to compile."""
    return not _cold_loops()


def _cold_loops() -> list[str]:
    """Return the loops whose kernels are not in numba's cache."""
    unused = {loop for loop, extra in LOOPS_OF_EXTRAS.items() if not has_extra(extra)}
    return [loop for loop in KERNELS if loop not in unused and not are_ready(loop)]


def warm(n_processes: int | None = None, progress: Progress | None = None) -> int:
    """Compile the kernels that are not in numba's cache; return of how many loops.

    Parameters
    ----------
    n_processes
        How many processes compile at once; by default one for each core.
    progress
        Is called after each loop.
    """
    waiting = _cold_loops()
    n_loops = len(waiting)
    if not waiting:
        return 0
    # Loaded here: it imports most of the package, and a server asks only whether all is warm.
    from voilattice.kernel_calls import CALLS, NEEDS, call_kernels

    waiting.sort(key=list(CALLS).index)
    running: dict[Future[None], str] = {}
    others = set(active_children())
    pool = ProcessPoolExecutor(
        min(n_processes or count_threads(), n_loops), get_context("spawn"), _end_with_parent
    )
    try:
        while waiting or running:
            under_way = {*waiting, *running.values()}
            for loop in [one for one in waiting if not NEEDS.get(one, set()) & under_way]:
                waiting.remove(loop)
                running[pool.submit(call_kernels, loop)] = loop
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                loop = running.pop(future)
                future.result()
                if progress is not None:
                    progress(loop, n_loops - len(waiting) - len(running), n_loops)
    except BaseException:  # Ctrl-C does not wait for what is being compiled
        for process in set(active_children()) - others:
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return n_loops


class Warming:
    """A process that compiles kernels beside this one; `start_warming` starts it."""

    def __init__(self, process: subprocess.Popen[bytes] | None, on_failure: Failure) -> None:
        self._process, self._on_failure = process, on_failure
        self._is_stopped = False
        self._watch: threading.Thread | None = None
        if process is not None:
            self._watch = threading.Thread(target=self._wait, args=(process,), daemon=True)
            self._watch.start()

    @property
    def is_done(self) -> bool:
        """Whether the process has ended; also if there was nothing to compile."""
        return self._watch is None or not self._watch.is_alive()

    def stop(self) -> None:
        """End the process now, if it has not ended."""
        if self._process is not None and self._watch is not None:
            self._is_stopped = True
            self._process.terminate()
            self._watch.join(SECONDS_TO_END)
            self._process.kill()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        status = process.wait()
        if process.stdin is not None:
            process.stdin.close()
        if status and not self._is_stopped:
            self._on_failure(status)


def start_warming(on_failure: Failure) -> Warming:
    """Start to compile what numba's cache lacks, in a process of low priority, and return.

    Parameters
    ----------
    on_failure
        Is called, in a thread, with the exit status of a process that could not compile.
    """
    if is_warm():
        return Warming(None, on_failure)
    n_processes = max(count_threads() // 2, 1)
    script = f"from voilattice.warming import warm_beside; warm_beside({n_processes})"
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        # The end of this pipe is the end of this process, however it ends.
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        process_group=0,  # Ctrl-C is for this process
    )  # fmt: skip
    if hasattr(os, "setpriority"):
        with suppress(ProcessLookupError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, process.pid, LOWEST_PRIORITY)
    return Warming(process, on_failure)


def warm_beside(n_processes: int) -> None:
    """Compile kernels, until the process at the other end of standard input ends."""

    def watch() -> None:
        os.read(sys.stdin.fileno(), 1)  # nothing is ever written there
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    warm(n_processes)


def _end_with_parent() -> None:
    """End this process as soon as the one that started it has ended, and not by Ctrl-C."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait as wait_for

    def watch() -> None:
        if (parent := parent_process()) is not None:
            wait_for([parent.sentinel])
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()
