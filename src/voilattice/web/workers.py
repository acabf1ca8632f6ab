"""Processes that do the work, so that the server itself is always free to answer.

A `Worker` is a process that does one task after another. It keeps problems, and what was solved of
them, from task to task. A task that takes longer than it may, or is cancelled, ends with its
process, and a new one is started.
"""

from __future__ import annotations

import multiprocessing
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

from voilattice.budgets import Deadline
from voilattice.errors import Remedy, TooLargeError, VoilatticeError
from voilattice.model.problem import Problem
from voilattice.web.refusals import Busy, describe

__all__ = ["Cancelled", "Job", "Jobs", "Request", "Worker"]

SECONDS_PER_LOOK = 0.1
MAX_KEPT_JOBS = 50
MAX_WAITING = 32  # requests, for one worker


class Cancelled(Exception):
    """The task was cancelled."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a worker: a task, and the problem that it is about."""

    task: str
    name: str  # of the problem
    problem: Problem | None  # None: the worker has it
    kind: str | None = None
    expected: float | None = None
    unavailable: tuple[str, ...] = ()
    evidence: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    share: float | None = None  # of the time left, that the task may use; None: it has no limit

    def within(self, deadline: Deadline) -> Request:
        """Return this request with the seconds that its task may use."""
        seconds = deadline.seconds_left
        if self.share is None or seconds is None:
            return self
        return replace(self, options={**self.options, "seconds": self.share * seconds})


class Worker:
    """A process that does one task after another.

    Parameters
    ----------
    memory_bytes
        The budget for tables.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._turn = threading.Lock()
        self._process: Any = None
        self._pipe: Connection | None = None
        self._told: set[str] = set()
        self._n_waiting = 0
        self._is_closed = False

    def do(
        self,
        request: Request,
        seconds: float,
        *,
        tell: Callable[[str], None] = lambda text: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> dict[str, Any]:
        """Return the document of a task, when its turn has come.

        The seconds count from now on. Waiting for the turn is a part of them.

        Raises
        ------
        TooLargeError
            It took longer than `seconds`.
        Cancelled
            `is_cancelled` became true.
        """
        deadline = Deadline(seconds)
        self._n_waiting += 1
        try:
            if self._n_waiting > MAX_WAITING or not self._turn.acquire(timeout=seconds):
                raise Busy("too many requests are waiting; try again later")
        finally:
            self._n_waiting -= 1
        try:
            return self._do(request, seconds, deadline, tell, is_cancelled)
        finally:
            self._turn.release()

    def _do(
        self,
        request: Request,
        seconds: float,
        deadline: Deadline,
        tell: Callable[[str], None],
        is_cancelled: Callable[[], bool],
    ) -> dict[str, Any]:
        if is_cancelled():
            raise Cancelled
        tell("")
        pipe = self._ensure_started()
        request = request.within(deadline)
        is_sent = False
        while True:
            try:
                if not is_sent:
                    is_told = request.name in self._told
                    pipe.send(replace(request, problem=None) if is_told else request)
                    self._told.add(request.name)
                    is_sent = True
                if pipe.poll(SECONDS_PER_LOOK):
                    what, content = pipe.recv()
                    if what == "done":
                        return dict(content)
                    if what == "error":
                        raise content  # of the class that the worker met
                    tell(content)
            except (EOFError, OSError):
                self.stop()
                why = (
                    "the server is being stopped"
                    if self._is_closed
                    else "the worker process ended; try again, or ask for less"
                )
                raise Busy(why) from None
            if is_cancelled():
                self.stop()
                raise Cancelled
            if deadline.is_over:
                self.stop()
                raise TooLargeError(
                    f"not done after {seconds:g} seconds",
                    remedies=(Remedy("ask for less"), Remedy("raise the limit", "time_limit")),
                )

    def close(self) -> None:
        """End the process for good."""
        self._is_closed = True
        if self._process is not None:
            self._process.kill()  # whoever waits for it sees its pipe end

    def stop(self) -> None:
        """End the process; the next task starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None
        self._told.clear()

    def _ensure_started(self) -> Connection:
        if self._pipe is None or not self._process.is_alive():
            self.stop()
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(
                target=_work, args=(theirs, self._memory_bytes), daemon=True
            )
            self._process.start()
            theirs.close()
        return self._pipe


def _work(pipe: Connection, memory_bytes: int) -> None:
    """Do tasks until the other end is closed."""
    import signal

    from voilattice.budgets import memory_limit
    from voilattice.web.tasks import TASKS, keep, with_stakes

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    with memory_limit(memory_bytes):
        while True:
            try:
                asked: Request = pipe.recv()
            except EOFError:
                return
            try:
                if asked.problem is not None:
                    keep(asked.name, asked.problem)
                known = frozenset(asked.evidence if asked.unavailable else ())
                document = TASKS[asked.task](
                    with_stakes(asked.name, asked.kind, asked.expected, asked.unavailable, known),
                    asked.evidence,
                    lambda text: pipe.send(("progress", text)),
                    **asked.options,
                )
                pipe.send(("done", document))
            except VoilatticeError as error:
                pipe.send(("error", error))
            except MemoryError:
                remedies = (Remedy("ask for fewer features"), Remedy("give more evidence"))
                pipe.send(("error", TooLargeError("out of memory", remedies=remedies)))


@dataclass(slots=True)
class Job:
    """A task that is waited for: queued, running, then done, failed or cancelled."""

    id: str
    state: str = "queued"
    progress: str = ""
    result: dict[str, Any] | None = None
    error: str | None = None
    cancelled: bool = False


class Jobs:
    """Tasks in the background, one after another, each with a name to ask for it."""

    def __init__(self, worker: Worker, max_waiting: int) -> None:
        self._worker, self._max_waiting = worker, max_waiting
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, request: Request, seconds: float) -> Job:
        """Begin a job, or have it wait for its turn.

        Raises
        ------
        Busy
            Too many are waiting.
        """
        job = Job(uuid.uuid4().hex)
        with self._lock:
            waiting = [j for j in self._jobs.values() if j.state in {"queued", "running"}]
            if len(waiting) >= self._max_waiting:
                raise Busy(f"{len(waiting)} jobs are running or waiting; try again later")
            for old in list(self._jobs.values())[: len(self._jobs) - MAX_KEPT_JOBS]:
                if old.state not in {"queued", "running"}:
                    del self._jobs[old.id]
            self._jobs[job.id] = job
        threading.Thread(target=self._run, args=(job, request, seconds), daemon=True).start()
        return job

    def find(self, name: str) -> Job | None:
        return self._jobs.get(name)

    def cancel(self, name: str) -> None:
        """Cancel a job; one that has ended stays as it is."""
        job = self._jobs.get(name)
        if job is not None and job.state in {"queued", "running"}:
            job.cancelled, job.state = True, "cancelled"

    def cancel_all(self) -> None:
        for job in self._jobs.values():
            job.cancelled = True

    def _run(self, job: Job, request: Request, seconds: float) -> None:
        def tell(text: str) -> None:
            if not job.cancelled:
                job.state, job.progress = "running", text

        def is_cancelled() -> bool:
            return job.cancelled

        try:
            result = self._worker.do(request, seconds, tell=tell, is_cancelled=is_cancelled)
            if not job.cancelled:
                job.result, job.state = result, "done"
        except Cancelled:
            pass
        except VoilatticeError as error:
            job.error, job.state = describe(error), "failed"
