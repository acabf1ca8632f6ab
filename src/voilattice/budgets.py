"""Budgets: how much memory tables may take, and how long work may take.

The memory budget is a context, like NumPy's ``errstate``, so functions need no parameter for it. A
`Deadline` is passed as an argument, because parts of the work get parts of the time. A time limit
becomes a deadline once, where the work is asked for. From there on the deadline is passed, so all
parts of the work together take the time that was given.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from voilattice.errors import InputError
from voilattice.wording import quote

__all__ = ["MEMORY_BYTES", "Deadline", "TimeLimit", "memory_budget", "memory_limit"]

# Default budget for tables.
MEMORY_BYTES = 4 << 30

_memory_bytes: ContextVar[int] = ContextVar("memory_bytes", default=MEMORY_BYTES)


@contextmanager
def memory_limit(n_bytes: int) -> Iterator[None]:
    """Set the budget for tables inside a ``with`` block; outside it is `MEMORY_BYTES`.

    Work that would need more raises `TooLargeError` before it begins.
    """
    if not isinstance(n_bytes, int) or isinstance(n_bytes, bool) or n_bytes < 0:
        raise InputError(f"must be a whole number of bytes >= 0, got {quote(n_bytes)}", "n_bytes")
    token = _memory_bytes.set(n_bytes)
    try:
        yield
    finally:
        _memory_bytes.reset(token)


def memory_budget() -> int:
    """Return the budget for tables, in bytes."""
    return _memory_bytes.get()


class Deadline:
    """A time at which work stops and returns the result so far.

    Parameters
    ----------
    seconds
        How long the work may take from now on; None: no limit.
    within
        A deadline that this one is a part of: when that is over, so is this one.
    """

    def __init__(self, seconds: float | None = None, within: Deadline | None = None) -> None:
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and seconds >= 0):
            raise InputError(
                f"must be a number of seconds >= 0, got {quote(seconds)}", "time_limit"
            )
        self.seconds = seconds
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._within = within

    @classmethod
    def of(cls, limit: TimeLimit) -> Deadline:
        """Return a deadline as it is, and a number of seconds as a deadline that starts now."""
        return limit if isinstance(limit, Deadline) else cls(limit)

    def __reduce__(self) -> tuple[type[Deadline], tuple[float | None]]:
        # In another process the clock may be that of another machine: the seconds left travel.
        return Deadline, (self.seconds_left,)

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.end

    @property
    def end(self) -> float:
        """When the time is up, on the clock `time.monotonic`; infinite: never."""
        return self._end if self._within is None else min(self._end, self._within.end)

    @property
    def seconds_left(self) -> float | None:
        """The time that is left; None: there is no limit."""
        end = self.end
        return None if end == math.inf else max(end - time.monotonic(), 0.0)

    def share(self, part: float) -> Deadline:
        """Return a deadline for a part of the time that is left, starting now."""
        left = self.seconds_left
        return Deadline(None if left is None else part * left, self)

    def stop(self) -> None:
        """End the time now, for this deadline and for all that are a part of it."""
        self._end = -math.inf


# Seconds, or a deadline that has begun; None: no limit.
TimeLimit: TypeAlias = float | Deadline | None
