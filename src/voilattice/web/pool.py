"""A pool of workers: who does what next.

A task has a level: quick (a posterior, a value, greedy advice), long (advice, a lattice) or a job
(a whole policy, a comparison). Any worker may do what is quick. All workers but one may be at work
on longer tasks, and all but two on jobs, so what is quick never waits for what is long.

A problem's tasks go to the worker that knows the problem best, because it has solved parts of it: a
long task that this worker did in a moment the last time counts as quick there. A task waits a
little for that worker while it is busy with something short; otherwise an idle worker is taken.
Clients take turns: the next task is that of the client that was served longest ago. If a process
ends in the middle of a task, the task is done once more by another.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from voilattice.budgets import Deadline
from voilattice.errors import Remedy, TooLargeError, VoilatticeError
from voilattice.web.logs import log
from voilattice.web.refusals import STOPPED, Broken, Busy
from voilattice.web.workers import Ended, Outcome, Request, Tell, Worker

__all__ = ["Level", "Pool", "Ticket"]

MAX_WAITING = 512  # tasks
MAX_ATTEMPTS = 2  # at a task whose worker died
PATIENCE = 2.0  # seconds that a task waits for the worker that knows its problem
SHORT = 0.25  # seconds
SECONDS_PER_KILL = 0.1
SECONDS_PER_LOOK = 1.0  # at workers whose process has ended while they were idle

CROWDED = "too many requests are waiting; try again later"

WARM_UP = Request("warm")


class Level(IntEnum):
    """How long a task may take."""

    QUICK = 0
    LONG = 1
    JOB = 2


@dataclass(eq=False, slots=True)
class Ticket:
    """A task that waits for a worker, or is at work."""

    request: Request
    level: Level
    client: str
    seconds: float  # of work
    done: asyncio.Future[Outcome]
    tell: Tell
    since: float = field(default_factory=time.monotonic)
    is_job: bool = False  # somebody asks for it again and again, or cancels it
    number: int = 0
    n_attempts: int = 0
    patience: float = 0.0  # seconds, from the start, until its turn has come
    deadline: Deadline = field(default_factory=Deadline)  # from its turn on
    timer: asyncio.TimerHandle | None = None  # the end of that
    is_short: bool = False  # where it is at work
    is_cancelled: bool = False


class Pool:
    """Workers, and the tasks that wait for them. Used from one event loop alone.

    Parameters
    ----------
    n_workers
        At least 2, so that one is left for what is quick.
    memory_bytes
        The budget for tables of each worker.
    """

    def __init__(
        self, n_workers: int, memory_bytes: int, make: Callable[[int], Worker] = Worker
    ) -> None:
        self.workers = [make(memory_bytes) for _ in range(n_workers)]
        self._at_work: dict[Worker, Ticket | None] = {}  # None: the worker warms up
        self._queue: list[Ticket] = []
        self._numbers = itertools.count()
        self._served: dict[str, int] = {}  # when the clients that wait had their last turn
        self._threads = ThreadPoolExecutor(n_workers, "worker")
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self.n_stops = 0  # of processes at work on what took too long or was cancelled

    @property
    def is_ready(self) -> bool:
        """Whether all workers could be started; one that was ended since does not change that."""
        has_started = all(worker.has_answered for worker in self.workers)
        return not self._is_closed and has_started and self.n_alive > 0

    @property
    def n_alive(self) -> int:
        """How many workers have a process that runs."""
        return sum(worker.is_alive for worker in self.workers)

    @property
    def n_deaths(self) -> int:
        """How many processes have ended by themselves."""
        return sum(worker.n_deaths for worker in self.workers)

    @property
    def n_waiting(self) -> int:
        """How many tasks wait for a worker."""
        return len(self._queue)

    @property
    def n_busy(self) -> int:
        """How many workers are at work."""
        return sum(ticket is not None for ticket in self._at_work.values())

    def start(self) -> None:
        """Start the processes and have them load what they need, now and whenever one has ended."""
        self._spawn(self._keep_warm())

    async def close(self) -> None:
        """End all processes; whatever waits is told so."""
        self._is_closed = True
        for ticket in self._queue:
            _settle(ticket, Busy(STOPPED))
        self._queue.clear()
        for worker in self.workers:
            worker.kill()
        while self._at_work:  # a process that was just being started is killed too
            for worker in self._at_work:
                worker.kill()
            await asyncio.sleep(0.01)
        for worker in self.workers:
            worker.close()
        self._threads.shutdown()

    async def do(
        self,
        request: Request,
        seconds: float,
        *,
        level: Level,
        client: str = "",
        is_job: bool = False,
        patience: float | None = None,
        tell: Tell = lambda text, fraction: None,
    ) -> Outcome:
        """Return what a task returns, when its turn has come.

        It may wait for its turn for the seconds of `patience` (by default, as many as it may work);
        a job waits as long as it takes. The seconds of work count from the turn. A job may have any
        level: advice is asked for as a job, but it must not wait for whole policies. If the caller
        is cancelled, a task that waits is dropped. A job that is at work is stopped; any other task
        goes on, because the next question is likely to be about the same problem.

        Raises
        ------
        TooLargeError
            Its work took longer than `seconds`.
        Busy
            Its turn did not come in time, or its worker died again and again.
        """
        if self._is_closed:
            raise Busy(STOPPED)
        if len(self._queue) >= MAX_WAITING:
            raise Busy(CROWDED)
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        ticket = Ticket(request, level, client, seconds, done, tell)
        ticket.number, ticket.is_job = next(self._numbers), is_job
        ticket.patience = seconds if patience is None else patience
        self._enqueue(ticket)
        self._dispatch()
        try:
            return await done
        except asyncio.CancelledError:
            ticket.is_cancelled = is_job
            raise
        finally:
            self._give_up(ticket)

    def _enqueue(self, ticket: Ticket) -> None:
        """Let a task wait for a worker, no longer than it may; a job waits as long as it takes."""
        self._queue.append(ticket)
        if not ticket.is_job:
            # A task whose worker has died does not begin to wait anew.
            seconds = ticket.patience - (time.monotonic() - ticket.since)
            loop = asyncio.get_running_loop()
            ticket.timer = loop.call_later(max(seconds, 0.0), self._give_up, ticket)

    def _give_up(self, ticket: Ticket) -> None:
        """Let a task wait no longer."""
        if ticket.timer is not None:
            ticket.timer.cancel()
        if ticket in self._queue:
            self._queue.remove(ticket)
            _settle(ticket, Busy(CROWDED))

    def _dispatch(self) -> None:
        """Give workers what they can begin now."""
        if self._is_closed or len(self._at_work) == len(self.workers):
            return
        clients = {ticket.client for ticket in self._queue}
        self._served = {c: turn for c, turn in self._served.items() if c in clients}
        order = sorted(
            self._queue, key=lambda t: (t.level, self._served.get(t.client, -1), t.number)
        )
        for ticket in order:
            if len(self._at_work) == len(self.workers):
                return
            if (worker := self._worker_for(ticket)) is not None:
                self._queue.remove(ticket)
                if ticket.timer is not None:
                    ticket.timer.cancel()
                self._at_work[worker] = ticket
                self._served[ticket.client] = next(self._numbers)
                ticket.is_short = _is_short(ticket, worker)
                self._spawn(self._run(worker, ticket))

    def _worker_for(self, ticket: Ticket) -> Worker | None:
        """Return the idle worker that a task should go to; None: it has to wait."""
        request = ticket.request
        idle = [worker for worker in self.workers if worker not in self._at_work]
        expert = min(
            (worker for worker in self.workers if worker.familiarity(request)),
            key=lambda w: (not _is_short(ticket, w), -w.familiarity(request), w not in idle),
            default=None,
        )
        if expert is not None and _is_short(ticket, expert):
            if expert in idle:
                return expert
            busy_with, waited = self._at_work[expert], time.monotonic() - ticket.since
            if busy_with is not None and busy_with.is_short and waited < PATIENCE:
                # The end of its task is a turn too; this is for the case that others come first.
                asyncio.get_running_loop().call_later(PATIENCE - waited + 0.001, self._dispatch)
                return None
        if not self._has_room(ticket.level):
            return None
        # Among workers that know nothing of the problem, one that has a process is quicker.
        return max(idle, key=lambda w: (w.familiarity(request), bool(w.pid)))

    def _has_room(self, level: Level) -> bool:
        """Return whether another task of this level leaves workers for what is quicker."""
        at_work = [ticket for ticket in self._at_work.values() if ticket is not None]
        levels = [Level.QUICK if ticket.is_short else ticket.level for ticket in at_work]
        # A worker that warms up cannot do anything quick.
        n_ready = len(self.workers) - (len(self._at_work) - len(at_work))
        return all(
            sum(other >= least for other in levels) < max(n_ready - least, 1)
            for least in Level
            if Level.QUICK < least <= level
        )

    async def _run(self, worker: Worker, ticket: Ticket) -> None:
        loop = asyncio.get_running_loop()
        ticket.n_attempts += 1
        ticket.tell("", None)
        ticket.deadline = Deadline(ticket.seconds)

        def tell(text: str, fraction: float | None) -> None:
            loop.call_soon_threadsafe(ticket.tell, text, fraction)

        work = loop.run_in_executor(
            self._threads, worker.exchange, ticket.request.within(ticket.deadline), tell
        )
        is_stopped = False
        while not work.done():
            await asyncio.wait({work}, timeout=SECONDS_PER_KILL)
            if not work.done() and (ticket.is_cancelled or ticket.deadline.is_over):
                self.n_stops += not is_stopped
                is_stopped = True
                worker.kill()
        try:
            _settle(ticket, work.result())
        except Ended:
            self._after_death(ticket, is_stopped)
        except VoilatticeError as error:
            if isinstance(error, Broken):
                log.error("a task failed: %s", error.message)
            _settle(ticket, error)
        except Exception as error:
            broken = Broken.by(error)
            log.error("a task failed: %s", broken.message)
            _settle(ticket, broken)
        finally:
            del self._at_work[worker]
            self._dispatch()
        if worker.pid is None and not self._is_closed:
            await self._warm(worker)

    def _after_death(self, ticket: Ticket, is_stopped: bool) -> None:
        """Try again what lost its process, unless the process was ended on purpose."""
        if self._is_closed:
            _settle(ticket, Busy(STOPPED))
        elif is_stopped:
            remedies = (Remedy("ask for less"), Remedy("raise the limit", "time_limit"))
            late = f"not done after {ticket.seconds:g} seconds"
            _settle(ticket, TooLargeError(late, remedies=remedies))
        elif ticket.n_attempts >= MAX_ATTEMPTS:
            died = "the worker process ended twice at this; try again, or ask for less"
            _settle(ticket, Busy(died))
        else:
            self._enqueue(ticket)

    async def _keep_warm(self) -> None:
        """Have workers load what they need, one after another, whenever they have not."""
        while not self._is_closed:
            for worker in self.workers:
                if not (worker.is_alive and worker.has_answered):
                    await self._warm(worker)
            await asyncio.sleep(SECONDS_PER_LOOK)

    async def _warm(self, worker: Worker) -> None:
        """Have an idle worker load what it needs."""
        if worker in self._at_work or self._is_closed:
            return
        self._at_work[worker] = None
        loop = asyncio.get_running_loop()
        try:
            # A worker that cannot be warmed up says why at its first task.
            with suppress(Exception):
                await loop.run_in_executor(
                    self._threads, worker.exchange, WARM_UP, lambda text, fraction: None
                )
        finally:
            del self._at_work[worker]
            self._dispatch()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine beside the others; the loop itself keeps only a weak reference."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _is_short(ticket: Ticket, worker: Worker) -> bool:
    """Return whether a worker should be done with a task in a moment."""
    return ticket.level is Level.QUICK or (
        ticket.level is Level.LONG and worker.seconds_for(ticket.request) < SHORT
    )


def _settle(ticket: Ticket, result: Outcome | Exception) -> None:
    """Tell whoever waits what became of a task."""
    if ticket.done.done():
        return
    if isinstance(result, Outcome):
        ticket.done.set_result(result)
    else:
        ticket.done.set_exception(result)
