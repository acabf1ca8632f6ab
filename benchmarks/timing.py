"""Times for ratios: the best of several runs, because other work on the machine only adds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType


def best_of(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time that `work` took."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@contextmanager
def one_thread(engine: ModuleType) -> Iterator[None]:
    """Let an engine use a single thread while the block runs: NumPy's sums use one too."""
    before = engine.MAX_THREADS
    engine.MAX_THREADS = 1
    try:
        yield
    finally:
        engine.MAX_THREADS = before
