"""Ctrl-C while other processes work for a command.

A terminal sends SIGINT to every process of a command. Only the first of them should answer: it ends
the others. A process inherits which signals are blocked, so workers that are started while the main
thread blocks SIGINT never see it, not even while they load Python.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

__all__ = ["deaf_workers"]


@contextmanager
def deaf_workers() -> Iterator[None]:
    """Start processes that do not see Ctrl-C, inside a ``with`` block; this process still does."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # These unblock SIGINT in the thread that starts them, so they are started first.
    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()
    is_over, is_listening = threading.Event(), threading.Event()

    # A signal goes to any thread that does not block it; Python then interrupts the main thread.
    def listen() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        is_listening.set()
        is_over.wait()

    threading.Thread(target=listen, daemon=True).start()
    is_listening.wait()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        is_over.set()
