"""The optimum of a large problem on a busy machine: its cost beside greedy's, and its time.

    python benchmarks/under_load.py

Busy processes run beside, and this process gives way to them (``nice``). Naive Bayes with 40
features is too large for the exact optimum. What is called optimal must not cost more than greedy,
and must be there at the limit. Greedy is built without a limit, to compare with.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass

import arguments
from large_problems import naive_bayes

from voilattice import build_policy, emc


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    n_features: int
    n_busy: int  # processes that run beside
    limits: tuple[float, ...]  # seconds
    seeds: tuple[int, ...]


FULL = Sizes(40, 4, (5.0, 10.0, 60.0), (0, 1, 2))
SMALL = Sizes(30, 0, (0.5,), (0,))

NICENESS = 10
BUSY = "while True: pass"


def main(small: bool = False) -> None:
    """Measure everything."""
    sizes = SMALL if small else FULL
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(sizes.n_busy)]
    if busy:
        os.nice(NICENESS)
    try:
        print(f"naive Bayes, {sizes.n_features} features, beside {sizes.n_busy} busy processes")
        print(f"{'seed':>4} {'limit':>6} {'seconds':>8} {'at once':>8} {'greedy':>8} optimum")
        for seed in sizes.seeds:
            for limit in sizes.limits:
                measure(sizes.n_features, seed, limit)
    finally:
        for process in busy:
            process.kill()


def measure(n_features: int, seed: int, limit: float) -> None:
    """Print one line."""
    problem = naive_bayes(n_features, seed)
    began = time.monotonic()
    policy = build_policy(problem, "optimal", time_limit=limit)
    seconds, cost = time.monotonic() - began, policy.expected_total_cost
    greedy = build_policy(problem, "greedy", time_limit=None).expected_total_cost
    print(
        f"{seed:4} {limit:6.1f} {seconds:8.1f} {emc(problem):8.2f} {greedy:8.2f} "
        f"in [{policy.lower_bound:.2f}, {cost:.2f}]"
        f"{'' if cost <= greedy + 1e-9 else ', more than greedy'}"
    )


if __name__ == "__main__":
    arguments.run(main, __doc__)
