"""Times for ratios: the best of several runs, because other work on the machine only adds."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_of(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time that `work` took."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
