"""Budgets: how much memory tables may take, and how long work may take.

The memory budget is a context, like NumPy's ``errstate``, so functions need no parameter for it. A
`Deadline` is passed as an argument, because parts of the work get parts of the time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from voilattice.errors import InputError
from voilattice.wording import quote

__all__ = ["MEMORY_BYTES", "Deadline", "memory_budget", "memory_limit"]

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
    """

    def __init__(self, seconds: float | None = None) -> None:
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and seconds >= 0):
            raise InputError(
                f"must be a number of seconds >= 0, got {quote(seconds)}", "time_limit"
            )
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self._end

    @property
    def seconds_left(self) -> float | None:
        """The time that is left; None: there is no limit."""
        return None if self._end == math.inf else max(self._end - time.monotonic(), 0.0)

    def share(self, part: float) -> Deadline:
        """Return a deadline for a part of the time that is left, starting now."""
        left = self.seconds_left
        return Deadline(None if left is None else part * left)
