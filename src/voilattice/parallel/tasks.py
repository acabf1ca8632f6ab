"""Work through tasks, wherever they are done."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sized
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

from voilattice.budgets import memory_budget
from voilattice.engines import preferred_engine
from voilattice.errors import ClusterError
from voilattice.parallel.cluster import join_cluster
from voilattice.parallel.interface import Crew, Died, Job, Work
from voilattice.parallel.processes import open_pools
from voilattice.parallel.workers import Workers

__all__ = ["run_in_order", "run_tasks"]


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
    with _crew(where, tasks, Job(work, shared, memory_budget(), preferred_engine())) as crew:
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


def _work_through(crew: Crew, tasks: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any, Any]]:
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
def _crew(where: Workers, tasks: Iterable[Any], job: Job) -> Iterator[Crew]:
    if where.dask is not None:
        with join_cluster(where.dask, job) as cluster:
            yield cluster
        return
    n_processes = where.count()
    if isinstance(tasks, Sized):
        n_processes = min(n_processes, len(tasks))
    if n_processes <= 1:
        yield _ThisProcess(job)
        return
    with open_pools(n_processes, job) as pools:
        yield pools


class _ThisProcess:
    """A crew of nobody else: tasks are done when their result is asked for."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._waiting: list[tuple[int, Any]] = []

    def room(self) -> int:
        return 1

    def submit(self, number: int, task: Any) -> None:
        self._waiting.append((number, task))

    def wait(self) -> tuple[int, Any]:
        number, task = self._waiting.pop()
        return number, self._job.do(task)
