"""Progress on standard error, once work has taken a second.

Work that has told nothing yet is shown too: a thread looks at the clock.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

__all__ = ["progress_bar", "progress_line"]

BAR_WIDTH = 24
QUIET_SECONDS = 1.0
SECONDS_PER_LINE = 5.0
SECONDS_PER_LOOK = 0.25


@contextmanager
def progress_bar(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Return a function that shows on standard error how much is done, and how long it takes."""
    started, before = time.monotonic(), None

    def describe(done: int, total: int) -> str:
        nonlocal before
        before = done if before is None else before
        filled = BAR_WIDTH * done // max(total, 1)
        line = f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {done:,} of {total:,} {noun}"
        if done - before > total / 20:  # the first points say little about the rest
            left = (time.monotonic() - started) * (total - done) / (done - before)
            line += f", {left / 60:.0f} min left" if left >= 90 else f", {left:.0f} s left"
        return line

    with progress_line(describe) as report:
        yield report


@contextmanager
def progress_line(
    describe: Callable[[int, Any], str], waiting: str = ""
) -> Iterator[Callable[[int, Any], None]]:
    """Return a function that shows progress on standard error, once it has taken a second.

    In a terminal one line is rewritten; elsewhere a line is added every few seconds.

    Parameters
    ----------
    describe
        Returns the line for two numbers that the work tells.
    waiting
        What to show, with the seconds so far, while the work tells nothing.
    """
    with _shown() as show:
        if not waiting:
            yield lambda first, second: show(lambda: describe(first, second))
            return
        started = told_at = time.monotonic()

        def report(first: int, second: Any) -> None:
            nonlocal told_at
            told_at = time.monotonic()
            show(lambda: describe(first, second))

        is_over = threading.Event()

        def look() -> None:
            while not is_over.wait(SECONDS_PER_LOOK):
                now = time.monotonic()
                if now - told_at >= QUIET_SECONDS:
                    line = f"{waiting}: {now - started:.0f} s"
                    show(partial(str, line))

        watch = threading.Thread(target=look, daemon=True)
        watch.start()
        try:
            yield report
        finally:
            is_over.set()
            watch.join()


@contextmanager
def _shown() -> Iterator[Callable[[Callable[[], str]], None]]:
    """Return a function that shows a line, if it is time to."""
    started = shown_at = time.monotonic()
    lock = threading.Lock()
    terminal = sys.stderr.isatty()
    written = 0

    def show(describe: Callable[[], str]) -> None:
        with lock:
            write(describe)

    def write(describe: Callable[[], str]) -> None:
        nonlocal shown_at, written
        now = time.monotonic()
        wait = 0.1 if terminal else SECONDS_PER_LINE
        if now - started < QUIET_SECONDS or (written and now - shown_at < wait):
            return
        shown_at = now
        line = describe()
        if terminal:  # a line that is wrapped cannot be rewritten
            line = line[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write(f"\r{line.ljust(written)}" if terminal else f"{line}\n")
        sys.stderr.flush()
        written = len(line)

    try:
        yield show
    finally:
        if terminal and written:
            sys.stderr.write("\r" + " " * written + "\r")
