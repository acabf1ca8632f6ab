"""Tasks on a Dask cluster."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from voilattice.errors import ClusterError
from voilattice.extras import need_extra
from voilattice.parallel.interface import SECONDS_PER_WAIT, THREAD_VARIABLES, Died, Job

__all__ = ["count_threads", "join_cluster"]

LOCAL = "local:"  # and a number: a cluster of so many processes of this machine
TASKS_PER_THREAD = 2  # under way: a worker need not wait for its next task
SECONDS_TO_CONNECT = 5.0
SECONDS_WITHOUT_WORKERS = 120.0  # a cluster may need this long to start its first one
SECONDS_PER_LOOK = 2.0  # how often a cluster is asked about its workers


@contextmanager
def join_cluster(dask: str, job: Job) -> Iterator[_Cluster]:
    """Return the workers of a cluster, ready for the tasks of a job, inside a ``with`` block."""
    with _connected(dask) as client:
        cluster = _Cluster(client, dask, job)
        try:
            yield cluster
        finally:
            cluster.stop()


def count_threads(dask: str) -> int:
    """Return how many tasks can run at once; a cluster that runs already is asked."""
    if dask.startswith(LOCAL):
        return int(dask.removeprefix(LOCAL))
    with _connected(dask) as client:
        return max(1, sum(map(int, client.nthreads().values())))


class _Cluster:
    """The workers of a Dask cluster, whoever they are at the moment."""

    def __init__(self, client: Any, address: str, job: Job) -> None:
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


def _do(job: Job, task: Any) -> Any:
    return job.do(task)


def _lost(address: str) -> ClusterError:
    return ClusterError(
        f"the connection to the scheduler at {address} was lost; if it still runs, or once it does "
        f"again, run this again",
        "dask",
    )


@contextmanager
def _connected(dask: str) -> Iterator[Any]:
    """Return a client of the cluster, inside a ``with`` block; ``local:N`` starts one."""
    need_extra("dask", place="dask")
    import logging

    from distributed import Client, LocalCluster
    from distributed.utils import silence_logging_cmgr

    silent = logging.CRITICAL + 1  # what a user must know is raised as an error
    with ExitStack() as stack:
        stack.enter_context(silence_logging_cmgr(silent, "distributed"))
        address: Any = dask
        if dask.startswith(LOCAL):
            stack.enter_context(_environment_kept())
            address = stack.enter_context(
                LocalCluster(
                    n_workers=count_threads(dask), threads_per_worker=1, silence_logs=silent,
                    memory_limit=0, env=dict.fromkeys(THREAD_VARIABLES, "1"),
                    # A task that ends its worker runs alone later, so one more try is enough here.
                    scheduler_kwargs={
                        "allowed_failures": 1, "dashboard": False, "dashboard_address": ":0",
                    },
                )
            )  # fmt: skip
            stack.callback(_end_workers, address)
        else:
            _check_answer(dask)
        yield stack.enter_context(Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False))


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Restore this process's environment at the end of a ``with`` block.

    To start two workers at once, Dask sets variables here and may put one's back as the other's.
    """
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


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
