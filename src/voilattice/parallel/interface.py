"""What tasks, and those who do them, have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from voilattice.budgets import memory_limit
from voilattice.engines import use_engine

__all__ = ["SECONDS_PER_WAIT", "THREAD_VARIABLES", "Crew", "Died", "Job", "Work"]

SECONDS_PER_WAIT = 0.2  # Python notices Ctrl-C between two waits only

# Processes of one machine share its cores, so each gets a part of the threads.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip

Work = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Died:
    """The result of a task that ended its worker process more than once."""

    reason: str


@dataclass(frozen=True, slots=True)
class Job:
    """What all tasks share."""

    work: Work
    shared: Any
    memory_bytes: int
    engine: str

    def do(self, task: Any) -> Any:
        """Return the result of a task."""
        # Another process does not inherit the budget and the engine.
        with memory_limit(self.memory_bytes), use_engine(self.engine):
            return self.work(self.shared, task)


class Crew(Protocol):
    """Workers that are ready for the tasks of a job."""

    def room(self) -> int:
        """Return how many tasks may be under way now; at least 1."""

    def submit(self, number: int, task: Any) -> None: ...

    def wait(self) -> tuple[int, Any]:
        """Return the number of a task that ended, and its result; `Died` if its worker died."""
