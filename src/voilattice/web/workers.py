"""A process that does the work, so that the server itself is always free to answer.

A `Worker` is a process that does one task after another. It keeps problems, and what was solved of
them, from task to task. A task that takes longer than it may, or is cancelled, ends with its
process. The next task starts another one.
"""

from __future__ import annotations

import math
import multiprocessing
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

from voilattice.budgets import Deadline
from voilattice.model.problem import Problem
from voilattice.web.logs import log

__all__ = ["Ended", "Outcome", "Request", "Tell", "Worker"]

SECONDS_TO_END = 1.0  # from the end of a pipe to that of its process
MAX_VARIANTS = 8  # of problems, that a worker keeps with what was solved of them

Tell = Callable[[str, float | None], None]  # what is done, and which part of all that is


class Ended(Exception):
    """The process ended before its task did."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a worker: a task, and the problem that it is about."""

    task: str
    name: str = ""  # of the problem; empty: none
    problem: Problem | None = None  # None: the worker has it
    changes: str = "{}"  # what differs from the problem as it is, as JSON
    options: Mapping[str, Any] = field(default_factory=dict)
    share: float | None = None  # of the time left, that the task may use; None: it has no limit

    @property
    def variant(self) -> tuple[str, str]:
        """The problem with its changes: what a worker keeps."""
        return self.name, self.changes

    def within(self, deadline: Deadline) -> Request:
        """Return this request with the seconds that its task may use."""
        seconds = deadline.seconds_left
        if self.share is None or seconds is None:
            return self
        return replace(self, options={**self.options, "seconds": self.share * seconds})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task returned: a document as JSON, and for an upload the problem in it."""

    content: bytes
    is_final: bool = True  # False: with more time the answer could be a better one
    n_fallbacks: int = 0  # advice by greedy in place of the policy asked for
    problem: Problem | None = None


class Worker:
    """A process that does one task after another.

    Parameters
    ----------
    memory_bytes
        The budget for tables.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self.n_deaths = 0  # of processes that ended by themselves
        self.has_answered = False  # this process, or one before it, has done a task
        self._process: Any = None
        self._is_ended = False  # on purpose
        self._pipe: Connection | None = None
        self._told: set[str] = set()
        # By problem with its changes: how many seconds each task took there the last time.
        self._variants: OrderedDict[tuple[str, str], dict[str, float]] = OrderedDict()

    @property
    def pid(self) -> int | None:
        """The number of the process; None: there is none."""
        return None if self._process is None else self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        process = self._process
        return process is not None and process.pid is not None and process.is_alive()

    def familiarity(self, request: Request) -> int:
        """Return how much of a request the worker has done already: 0 to 2."""
        return (request.name in self._told) + (request.variant in self._variants)

    def seconds_for(self, request: Request) -> float:
        """Return how long such a task took the last time on the same problem; infinite: never."""
        return self._variants.get(request.variant, {}).get(request.task, math.inf)

    def exchange(self, request: Request, tell: Tell) -> Outcome:
        """Return what a task returns. This waits, so it is called in a thread of its own.

        Raises
        ------
        VoilatticeError
            What the task raised.
        Ended
            The process ended first.
        """
        try:
            return self._exchange(self._ensure_started(), request, tell)
        except (EOFError, OSError):
            self._note_death()
            self.close()
            raise Ended from None

    def _exchange(self, pipe: Connection, request: Request, tell: Tell) -> Outcome:
        is_told, begun = request.name in self._told, time.monotonic()
        pipe.send(replace(request, problem=None) if is_told else request)
        while True:
            what, content = pipe.recv()
            if what == "progress":
                tell(*content)
            elif what == "unknown":  # it had too many problems to keep
                pipe.send(request)
            else:
                self.has_answered = True
                self._remember(request, time.monotonic() - begun)
                if what == "error":
                    raise content  # of the class that the worker met
                outcome: Outcome = content
                return outcome

    def _remember(self, request: Request, seconds: float) -> None:
        if request.name:
            self._told.add(request.name)
            self._variants.setdefault(request.variant, {})[request.task] = seconds
            self._variants.move_to_end(request.variant)
            if len(self._variants) > MAX_VARIANTS:
                self._variants.popitem(last=False)

    def kill(self) -> None:
        """End the process now, if it has started; whoever waits for it sees its pipe end."""
        process = self._process
        if process is not None and process.pid is not None:
            self._is_ended = True
            process.kill()

    def _note_death(self) -> None:
        """Count and log a process that ended by itself: it was killed, or ran out of memory."""
        if self._process is not None and not self._is_ended:
            self._process.join(SECONDS_TO_END)
            self.n_deaths += 1
            how = f"exit status {self._process.exitcode}"
            log.warning("worker process %s ended by itself (%s)", self._process.pid, how)

    def close(self) -> None:
        """End the process and forget what it knew."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None
        self._is_ended = False
        self._told.clear()
        self._variants.clear()

    def _ensure_started(self) -> Connection:
        if self._pipe is None or not self._process.is_alive():
            self._note_death()
            self.close()
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

    # Ctrl-C and a stop of the service are for the server, which ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with_server, daemon=True).start()
    from voilattice.web.tasks import do_tasks

    do_tasks(pipe, memory_bytes)


def _end_with_server() -> None:
    """End this process when the server has ended, even in the middle of a task."""
    import os
    from multiprocessing.connection import wait

    if (server := multiprocessing.parent_process()) is not None:
        wait([server.sentinel])
        os._exit(1)
