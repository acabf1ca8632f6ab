"""One door for parallel work: tasks go to processes of this machine or to a Dask cluster.

`run_tasks` calls a function for each task and yields the results as tasks end. Tasks do not know
where they run. What all tasks share is sent to a worker once. Only a few tasks for each worker are
under way at a time, so 100,000 tasks need no more memory than 100.

A worker process can die: it is killed, it has no memory left, or compiled code crashes. A task
that was under way then is a suspect, because others may have been on the same worker. The suspects
run again when all other tasks are done, one at a time, so it is certain which task ends its worker.
The result of such a task is `Died`. All other tasks have their own results.
"""

from __future__ import annotations

import atexit
import os
import queue
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol

from voilattice.budgets import memory_budget, memory_limit
from voilattice.errors import ClusterError, InputError
from voilattice.wording import quote

__all__ = ["Died", "Workers", "run_in_order", "run_tasks"]

TASKS_PER_THREAD = 2  # under way on a cluster: a worker need not wait for its next task
SECONDS_TO_CONNECT = 5.0
SECONDS_WITHOUT_WORKERS = 120.0  # a cluster may need this long to start its first one
SECONDS_PER_LOOK = 2.0  # how often a cluster is asked about its workers
SECONDS_PER_WAIT = 0.2  # Python notices Ctrl-C between two waits only
SECONDS_IDLE = 300  # how long a process of this machine waits for the next call

# Processes of one machine share its cores, so each gets a part of the threads.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip

Work = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Workers:
    """Where tasks run; `Workers.of` checks what it is given.

    Parameters
    ----------
    n_jobs
        How many processes of this machine: 1 is this process, -1 is one for each core, None is
        what joblib is set to, which is 1 by default.
    dask
        The address of a Dask scheduler (``tcp://host:8786``), or ``local:N`` for a cluster of N
        processes on this machine that ends with the work. None: no cluster.
    """

    n_jobs: int | None = None
    dask: str | None = None

    @classmethod
    def of(cls, n_jobs: int | None = None, dask: str | None = None) -> Workers:
        """Return the workers; with `dask`, `n_jobs` has no meaning."""
        if n_jobs == 0 or not isinstance(n_jobs, Integral | None):
            said = "must be a number of processes, or -1 for one per core"
            raise InputError(f"{said}, got {quote(n_jobs)}", "n_jobs")
        if dask is not None and not re.fullmatch(r"(tcp|tls)://[^/]+:\d+|local:[1-9]\d*", dask):
            raise InputError(
                f"must be the address of a scheduler, as in tcp://10.0.0.1:8786, or local:2 for "
                f"two processes of this machine, got {quote(dask)}",
                "dask",
            )
        return cls(n_jobs, dask)

    def count(self) -> int:
        """Return how many tasks can run at once; a cluster is asked."""
        if self.dask is None:
            from joblib import effective_n_jobs

            return int(effective_n_jobs(self.n_jobs))
        if self.dask.startswith("local:"):
            return self._n_local
        with _connected(self) as client:
            return max(1, sum(map(int, client.nthreads().values())))

    @property
    def _n_local(self) -> int:
        assert self.dask is not None
        return int(self.dask.removeprefix("local:"))


@dataclass(frozen=True, slots=True)
class Died:
    """The result of a task that ended its worker process more than once."""

    reason: str


def run_tasks(
    work: Work, tasks: Iterable[Any], *, where: Workers, shared: Any = None
) -> Generator[tuple[int, Any], None, None]:
    """Yield the number of a task and its result as tasks end, in any order.

    An exception of `work` ends all work and is raised here. To stop early, close the iterator:
    tasks that are under way are given up.

    Parameters
    ----------
    work
        Called as ``work(shared, task)`` in a worker process, with the memory budget of now.
    tasks
        What is different from task to task; small, since each one is sent.
    shared
        What all tasks need; sent to a worker once.

    Yields
    ------
    int
        The place of the task in `tasks`.
    Any
        What `work` returned, or `Died`.

    >>> sorted(run_tasks(pow, [3, 1, 2], where=Workers.of(n_jobs=1), shared=10))
    [(0, 1000), (1, 10), (2, 100)]
    """
    with _crew(where, tasks, _Job(work, shared, memory_budget())) as crew:
        suspects = []
        for number, task, result in _work_through(crew, enumerate(tasks)):
            if isinstance(result, Died):
                suspects.append((number, task))
            else:
                yield number, result
        for suspect in suspects:
            for number, _, result in _work_through(crew, [suspect]):
                yield number, result


def run_in_order(
    work: Work, tasks: Iterable[Any], *, where: Workers, shared: Any = None
) -> Generator[Any, None, None]:
    """Yield the results of `run_tasks` in the order of the tasks.

    Raises
    ------
    ClusterError
        The worker of a task died, and again when the task ran alone.
    """
    waiting: dict[int, Any] = {}
    wanted = 0
    with closing(run_tasks(work, tasks, where=where, shared=shared)) as found:
        for number, result in found:
            if isinstance(result, Died):
                raise ClusterError(
                    f"task {number + 1}: {result.reason}; it may need more memory than there is"
                )
            waiting[number] = result
            while wanted in waiting:
                yield waiting.pop(wanted)
                wanted += 1


@dataclass(frozen=True, slots=True)
class _Job:
    """What all tasks share."""

    work: Work
    shared: Any
    memory_bytes: int

    def do(self, task: Any) -> Any:
        with memory_limit(self.memory_bytes):  # another process does not inherit the budget
            return self.work(self.shared, task)


class _Crew(Protocol):
    """Workers that are ready for the tasks of a job."""

    def room(self) -> int:
        """Return how many tasks may be under way now; at least 1."""

    def submit(self, number: int, task: Any) -> None: ...

    def wait(self) -> tuple[int, Any]:
        """Return the number of a task that ended, and its result; `Died` if its worker died."""


def _work_through(crew: _Crew, tasks: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any, Any]]:
    """Yield the number, the task and the result of each task."""
    waiting = iter(tasks)
    under_way: dict[int, Any] = {}
    while True:
        for number, task in islice(waiting, max(crew.room() - len(under_way), 0)):
            under_way[number] = task
            crew.submit(number, task)
        if not under_way:
            return
        number, result = crew.wait()
        yield number, under_way.pop(number), result


@contextmanager
def _crew(where: Workers, tasks: Iterable[Any], job: _Job) -> Iterator[_Crew]:
    if where.dask is not None:
        with _connected(where) as client:
            crew = _Cluster(client, where.dask, job)
            try:
                yield crew
            finally:
                crew.stop()
        return
    n_processes = where.count()
    if isinstance(tasks, Sized):
        n_processes = min(n_processes, len(tasks))
    if n_processes <= 1:
        yield _ThisProcess(job)
        return
    pools = _Pools(n_processes, job)
    try:
        yield pools
    finally:
        pools.stop()


class _ThisProcess:
    """A crew of nobody else: tasks are done when their result is asked for."""

    def __init__(self, job: _Job) -> None:
        self._job = job
        self._waiting: list[tuple[int, Any]] = []

    def room(self) -> int:
        return 1

    def submit(self, number: int, task: Any) -> None:
        self._waiting.append((number, task))

    def wait(self) -> tuple[int, Any]:
        number, task = self._waiting.pop()
        return number, self._job.do(task)


# Pools that wait for the next call, by the process that started them and the number of threads that
# theirs may use. To start a process and to load compiled code takes seconds.
_idle: dict[tuple[int, int], list[Any]] = {}
atexit.register(_idle.clear)  # loky complains if its pools outlive its modules


class _Pools:
    """Processes of this machine.

    If a process of a loky pool dies, so does the pool. So each process is a pool of its own: its
    death concerns one task, and the others go on.
    """

    def __init__(self, n_processes: int, job: _Job) -> None:
        import cloudpickle
        from joblib import cpu_count

        self._n = n_processes
        self._n_threads = max(cpu_count() // n_processes, 1)
        self._ready = _idle.setdefault((os.getpid(), self._n_threads), [])
        self._busy: dict[Any, tuple[int, Any]] = {}  # of futures: the task's number, and its pool
        # A worker that is replaced because it has grown large is no news.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
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
            with suppress(BrokenProcessPool):  # its process died while it was idle
                future = pool.submit(_do_from_file, str(self._path), task)
                break
        self._busy[future] = number, pool

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


def _new_pool(n_threads: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    env = {name: os.environ.get(name, str(n_threads)) for name in THREAD_VARIABLES}
    return ProcessPoolExecutor(max_workers=1, timeout=SECONDS_IDLE, env=env)


def _do_from_file(path: str, task: Any) -> Any:
    return _read_job(path).do(task)


@lru_cache(maxsize=1)
def _read_job(path: str) -> _Job:
    import cloudpickle

    job: _Job = cloudpickle.loads(Path(path).read_bytes())
    return job


def _exit_codes(said: str) -> str:
    """Return how the processes ended, as loky says it at the end of its message."""
    found = re.search(r"exit codes of the workers are \{(.+)\}", said)
    return f" ({found[1]})" if found else ""


class _Cluster:
    """The workers of a Dask cluster, whoever they are at the moment."""

    def __init__(self, client: Any, address: str, job: _Job) -> None:
        import cloudpickle

        self._client, self._address = client, address
        self._futures: dict[int, Any] = {}
        # The task's number, its result, and what was raised instead of a result.
        self._ended: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
        self._known: set[str] = set()  # workers whose version is right
        self._n_threads = 0
        self._seen_at = time.monotonic()  # when there was a worker
        self._look_at = 0.0
        self._look()
        # A task and not scattered data: if all workers that hold it die, Dask makes it again.
        with self._talking():
            self._job = client.submit(cloudpickle.loads, cloudpickle.dumps(job), pure=False)

    def room(self) -> int:
        return max(1, TASKS_PER_THREAD * self._n_threads)

    def submit(self, number: int, task: Any) -> None:
        with self._talking():
            # Without a FIFO timeout, tasks begin in their order.
            future = self._client.submit(_do, self._job, task, pure=False, fifo_timeout=0)
        self._futures[number] = future

        async def follow() -> None:
            # In the client's thread: it fetches several results at once, and waits where a worker
            # dies after its work.
            try:
                self._ended.put((number, await future, None))
            except BaseException as error:
                self._ended.put((number, None, error))

        self._client.loop.add_callback(follow)

    def wait(self) -> tuple[int, Any]:
        from distributed import KilledWorker

        while True:
            if time.monotonic() >= self._look_at:
                self._look()
            with suppress(queue.Empty):
                number, result, error = self._ended.get(timeout=SECONDS_PER_WAIT)
                break
        future = self._futures.pop(number)
        if error is None:
            return number, result
        if isinstance(error, KilledWorker):
            return number, Died("the worker process died, on every worker that tried")
        if future.status == "error":
            raise error
        raise _lost(self._address)

    def stop(self) -> None:
        """Give up what is under way."""
        if self._futures and self._client.status == "running":
            with self._talking():
                self._client.cancel(list(self._futures.values()), force=True)

    def _look(self) -> None:
        """Find out who the workers are; raise `ClusterError` if nobody works any more."""
        if self._client.status != "running":
            raise _lost(self._address)
        with self._talking():
            threads = self._client.nthreads()
            self._check_versions(threads.keys() - self._known)
        self._known.update(threads)
        self._n_threads = sum(threads.values())
        now = time.monotonic()
        self._look_at = now + SECONDS_PER_LOOK
        if threads:
            self._seen_at = now
        elif now > self._seen_at + SECONDS_WITHOUT_WORKERS:
            raise ClusterError(
                f"{self._address} has had no workers for {SECONDS_WITHOUT_WORKERS:.0f} s; start "
                f"some (dask worker ADDRESS) and run this again",
                "dask",
            )

    def _check_versions(self, workers: set[str]) -> None:
        import voilattice

        if not workers:
            return

        def find_version() -> str | None:  # sent as code: the worker may have no voilattice
            try:
                import voilattice
            except ImportError:
                return None
            return voilattice.__version__

        found = self._client.run(find_version, workers=list(workers), on_error="ignore")
        for worker, version in sorted(found.items()):
            if version != voilattice.__version__:
                has = "no voilattice" if version is None else f"voilattice {version}"
                raise ClusterError(
                    f"the worker {worker} has {has}, but {voilattice.__version__} is needed; "
                    f"install the same version on all machines",
                    "dask",
                )

    @contextmanager
    def _talking(self) -> Iterator[None]:
        """Turn errors of the connection into one that says so."""
        from concurrent.futures import CancelledError

        from distributed.client import ClosedClientError

        try:
            yield
        except (OSError, CancelledError, ClosedClientError):
            raise _lost(self._address) from None


def _do(job: _Job, task: Any) -> Any:
    return job.do(task)


def _lost(address: str) -> ClusterError:
    return ClusterError(
        f"the connection to the scheduler at {address} was lost; if it still runs, or once it does "
        f"again, run this again",
        "dask",
    )


@contextmanager
def _connected(where: Workers) -> Iterator[Any]:
    """Return a client of the cluster, inside a ``with`` block; ``local:N`` starts one."""
    try:
        from distributed import Client, LocalCluster
        from distributed.utils import silence_logging_cmgr
    except ImportError:
        raise ClusterError(
            'needs the package distributed: pip install "voilattice[cluster]"', "dask"
        ) from None
    import logging

    assert where.dask is not None
    silent = logging.CRITICAL + 1  # what a user must know is raised as an error
    with ExitStack() as stack:
        stack.enter_context(silence_logging_cmgr(silent, "distributed"))
        address: Any = where.dask
        if address.startswith("local:"):
            address = stack.enter_context(
                LocalCluster(
                    n_workers=where._n_local, threads_per_worker=1, silence_logs=silent,
                    memory_limit=0, env=dict.fromkeys(THREAD_VARIABLES, "1"),
                    # A task that ends its worker runs alone later, so one more try is enough here.
                    scheduler_kwargs={
                        "allowed_failures": 1, "dashboard": False, "dashboard_address": ":0",
                    },
                )
            )  # fmt: skip
            stack.callback(_end_workers, address)
        else:
            _check_answer(address)
        yield stack.enter_context(Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False))


def _check_answer(address: str) -> None:
    """Raise `ClusterError` unless a scheduler answers; a client would wait for other servers."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from distributed import Security
    from distributed.comm import connect

    async def ask() -> None:
        arguments = Security().get_connection_args("client")
        asked = connect(address, timeout=SECONDS_TO_CONNECT, **arguments)
        (await asyncio.wait_for(asked, SECONDS_TO_CONNECT + 1)).abort()

    try:
        with ThreadPoolExecutor(1) as pool:  # this thread may have an event loop, as in a notebook
            pool.submit(asyncio.run, ask()).result()
    except Exception as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}); start one (dask "
            f"scheduler) or correct the address",
            "dask",
        ) from None


def _end_workers(cluster: Any) -> None:
    """End the processes of a local cluster soon, even if they are busy."""
    from asyncio import gather

    async def end() -> None:
        workers = cluster.workers.values()
        await gather(*(worker.close(timeout=1) for worker in workers), return_exceptions=True)

    cluster.sync(end)
