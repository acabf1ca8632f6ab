"""Ctrl-C: what is done is not lost, and other processes of a command end with it.

The first Ctrl-C ends the time of work that has a time limit, so the command prints what there is.
The second one ends the command.

A terminal sends SIGINT to every process of a command. Only the first of them should answer: it ends
the others. A process inherits which signals are blocked, so workers that are started while the main
thread blocks SIGINT never see it, not even while they load Python.
"""

from __future__ import annotations

import os
import signal
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

import click

from voilattice.budgets import Deadline

__all__ = ["deaf_workers", "finish_on_interrupt"]

SECONDS_PER_LOOK = 0.2


@contextmanager
def finish_on_interrupt(deadline: Deadline) -> Iterator[None]:
    """End a deadline at the first Ctrl-C, inside a ``with`` block; the next one interrupts."""
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()  # signals belong to it
    if not is_main or before is None or before is signal.SIG_IGN:
        yield
        return

    def finish(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        deadline.stop()
        click.echo("Interrupted: this is what is done so far. Ctrl-C again ends at once.", err=True)

    signal.signal(signal.SIGINT, finish)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def deaf_workers() -> Iterator[None]:
    """Start processes that do not see Ctrl-C, inside a ``with`` block; this process still does."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # These unblock SIGINT in the thread that starts them, so they are started first.
    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    # Of a process that was ended, they may clean up what it had cleaned up itself: that is no news.
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before, "ignore:resource_tracker")))
    try:
        for tracker in (resource_tracker, loky_tracker):
            tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before
    is_over = threading.Event()

    def listen() -> None:
        # A handler that runs in another thread would only set a flag, which a main thread that
        # computes may not look at. This thread takes the signal itself and interrupts the main one.
        while not is_over.is_set():
            if signal.sigtimedwait({signal.SIGINT}, SECONDS_PER_LOOK) is not None:
                interrupt_main()

    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threading.Thread(target=listen, daemon=True).start()  # it inherits the mask
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        is_over.set()
