"""What a task costs beside its work, what a second Dask worker brings, and what 100 would.

    make bench
    python benchmarks/cluster.py --task-seconds OUT/journal.jsonl

(a) Tasks that do nothing, through two processes and through a Dask cluster of two workers.
(b) One and two Dask workers on the same tasks: a naive Bayes network is learned from a drawn
    table, and its optimal policy is worked out. Starting the workers does not count.
(c) 15 data sets x 100 splits x 3 levels x 15 methods on 100 workers. The seconds of a task are
    those of (b), or those in a file with a line of JSON for each task: "seconds" and "method".
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import arguments
import cloudpickle
import numpy as np
from distributed import LocalCluster

from voilattice import build_policy, learn_problem
from voilattice.parallel import Workers, run_tasks

# Workers of a cluster cannot import this script, so its functions are sent as code.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

N_DATA_SETS, N_SPLITS, N_LEVELS, N_METHODS, N_WORKERS = 15, 100, 3, 15, 100


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    n_empty: int
    n_tasks: int
    n_rows: int
    n_features: int
    repeats: int


FULL = Sizes(2_000, 24, 1_000, 7, 8)
SMALL = Sizes(40, 6, 60, 3, 1)


def do_nothing(shared: None, task: int) -> int:
    return task


def learn_and_plan(sizes: Sizes, seed: int) -> float:
    """Return the seconds that this took."""
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    ill = rng.random(sizes.n_rows) < 0.4
    table: dict[str, Any] = {
        f"X{k}": rng.integers(0, 3, sizes.n_rows) + (ill & (rng.random(sizes.n_rows) < 0.4))
        for k in range(sizes.n_features)
    }
    table = {name: [f"level {c}" for c in cells] for name, cells in table.items()}
    found = learn_problem(
        {**table, "class": np.where(ill, "ill", "well").tolist()}, "class", recipe="naive",
        costs=dict.fromkeys(table, 1.0), misclassification=("symmetric", 50.0),
    )  # fmt: skip
    build_policy(found.problem, "optimal")
    return time.perf_counter() - start


@contextmanager
def started(n_workers: int) -> Iterator[Workers]:
    """Start a cluster of processes with one thread each, for several calls."""
    with LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
    ) as cluster:
        yield Workers.of(dask=cluster.scheduler_address)


def seconds_per_task(
    work: Callable[[Any, int], Any], shared: Any, n_tasks: int, where: Workers
) -> tuple[float, list[Any]]:
    """Return the time for each task once all workers are at work, and what was found."""
    n_warm = 2 * where.count()
    found, ended = [], []
    for _, result in run_tasks(work, range(n_tasks), where=where, shared=shared):
        found.append(result)
        ended.append(time.perf_counter())
    return (ended[-1] - ended[n_warm - 1]) / (n_tasks - n_warm), found


def read_seconds(lines: Iterable[str]) -> dict[str, float]:
    """Return the mean seconds of a task, by method."""
    found: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        try:
            entry = json.loads(line)
            found[entry["method"]].append(float(entry["seconds"]))
        except (ValueError, KeyError, TypeError):  # a heading, a line that was cut off
            continue
    return {method: float(np.mean(seconds)) for method, seconds in found.items()}


def print_plan(seconds: dict[str, float], overhead: float) -> None:
    """Print how long the large sweep takes."""
    n_cells = N_DATA_SETS * N_SPLITS * N_LEVELS
    print(f"    {'method':<36} {'s a task':>9} {'hours of one worker':>20}")
    for method, mean in sorted(seconds.items(), key=lambda item: -item[1]):
        print(f"    {method:<36} {mean:9.3f} {mean * n_cells / 3600:20.1f}")
    n_tasks = n_cells * N_METHODS
    mean = float(np.mean(list(seconds.values())))
    total, serial = mean * n_tasks, overhead * n_tasks
    for name, amount in (
        ("tasks", f"{n_tasks:,}"),
        ("one worker", f"{total / 3600:.2f} hours"),
        (f"{N_WORKERS} workers, the work alone", f"{total / N_WORKERS / 60:.2f} min"),
        ("handing the tasks out, one by one", f"{serial / 60:.2f} min"),
        (f"{N_WORKERS} workers, at least", f"{max(total / N_WORKERS, serial) / 60:.2f} min"),
        ("workers that can be kept busy", f"{mean / overhead:.0f}"),
    ):
        print(f"    {name:<36} {amount:>15}")


def main(small: bool = False, task_seconds: str | None = None) -> None:
    sizes = SMALL if small else FULL
    print(f"(a) a task that does nothing, {sizes.n_empty:,} of them")
    overhead = {}
    for name, where in (
        ("two processes", Workers.of(n_jobs=2)),
        ("Dask, two workers", Workers.of(dask="local:2")),
    ):
        overhead[name], _ = seconds_per_task(do_nothing, None, sizes.n_empty, where)
        print(f"    {name:<36} {1000 * overhead[name]:9.3f} ms")
    print(f"(b) {sizes.n_tasks} tasks that learn and plan, {sizes.repeats} times")
    each: dict[int, list[float]] = {1: [], 2: []}
    took: list[float] = []
    with started(1) as one, started(2) as two:
        for _ in range(sizes.repeats):  # in turn: other work on the machine comes and goes
            for n, where in ((1, one), (2, two)):
                seconds, found = seconds_per_task(learn_and_plan, sizes, sizes.n_tasks, where)
                each[n].append(seconds)
                took += found if n == 1 else []
    for n, seconds_each in each.items():
        print(f"    workers: {n}   {1 / min(seconds_each):9.2f} tasks a second at best")
    print(f"    two workers / one worker             {min(each[1]) / min(each[2]):.2f}")
    ratios = np.array(each[1]) / np.array(each[2])
    print(f"    the same, median of {sizes.repeats} turns          {np.median(ratios):.2f}")
    sets = f"{N_DATA_SETS} data sets x {N_SPLITS} splits x {N_LEVELS} levels x {N_METHODS} methods"
    print(f"(c) {sets} on {N_WORKERS} workers")
    by_method = {"learn and plan, as in (b)": float(np.median(took))}
    if task_seconds is not None:
        by_method = read_seconds(Path(task_seconds).read_text(encoding="utf-8").splitlines())
    print_plan(by_method, overhead["Dask, two workers"])


if __name__ == "__main__":
    arguments.run(
        main, __doc__, files={"--task-seconds": "seconds of real tasks, as the arena writes them"}
    )
