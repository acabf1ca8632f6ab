"""The sweep of Section 4.2: what each policy costs, point by point.

A *scenario* is a data set, feature costs (Turney's, or synthetic ones of a seed) and a kind of
misclassification costs. A *point* is a scenario at one a-priori EMC (the expected misclassification
cost before any evidence). All scenarios of one data set and kind are a *unit*: they share
intermediate results (`Sweep`) and a file. Each point is a task, and the tasks of a unit follow each
other, so a worker process keeps one `Sweep` at a time.

No point is computed twice. Each point is appended to the file of its unit as soon as it is known,
by the process that runs the experiment: workers may be on other machines. A run that finds such a
file computes only the points that it lacks. Lines that are cut off or damaged are ignored. The
results do not depend on interruptions or on the workers.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np

from voilattice.errors import ClusterError, InputError, TooLargeError
from voilattice.files.policies import fingerprint
from voilattice.files.problems import load_problem
from voilattice.model.costs import FeatureCosts, Group
from voilattice.model.problem import Problem
from voilattice.model.stakes import KINDS
from voilattice.parallel import Died, Workers, run_tasks
from voilattice.policy.solvers import Limits, solver_of
from voilattice.policy.sweep import Sweep
from voilattice.source_code import code_digest
from voilattice.wording import count_noun

__all__ = ["FULL", "NAMES", "QUICK", "Grid", "Point", "Scenario", "price_problem", "run"]

# The five data sets, in the order of the figures.
NAMES = ("liver", "diabetes", "heart", "hepatitis", "thyroid")
SEEDS = (0, 1, 2)
POLICIES = ("none", "markov-blanket", "greedy", "greedy-la", "batch", "optimal")
FEATURE_COST = (1, 100)
GROUP_COST = (100, 200)
SECONDS_PER_LOOK = 0.2


@dataclass(frozen=True, slots=True)
class Grid:
    """The a-priori EMC at which policies are compared, for each kind of feature costs."""

    real: tuple[float, ...]
    synthetic: tuple[float, ...]

    def points(self, costs: str) -> tuple[float, ...]:
        return self.real if costs == "real" else self.synthetic


# Steps of 100, as in the paper. Its Table 3 shows this: where savings fall by the same amount at
# every step, they fall 1.1 times as much into the last interval, which is closed.
FULL = Grid(
    tuple(100.0 * k for k in range(21)),
    tuple(100.0 * k for k in range(41)),
)
QUICK = Grid(
    tuple(250.0 * k for k in range(9)),
    tuple(500.0 * k for k in range(9)),
)


@dataclass(frozen=True, slots=True, order=True)
class Scenario:
    """A data set, its feature costs and its kind of misclassification costs."""

    name: str
    costs: str  # "real" or "synthetic"
    seed: int | None  # of synthetic costs
    kind: str


@dataclass(frozen=True, slots=True)
class Point:
    """What each policy costs in a scenario, at one a-priori EMC."""

    scenario: Scenario
    expected: float
    total_cost: Mapping[str, float]


Key = tuple[str, int | None, float]  # of a point in its unit: costs, seed, a-priori EMC


def price_problem(problem: Problem, seed: int | None) -> Problem:
    """Return the problem with synthetic costs; without a seed, return it unchanged.

    Each feature costs between 1 and 100, and each group between 100 and 200 (Section 4.2). The
    amounts are whole numbers, all equally likely.
    """
    if seed is None:
        return problem
    rng = np.random.default_rng(seed)
    prices = {f: float(rng.integers(*FEATURE_COST, endpoint=True)) for f in problem.features}
    groups = tuple(
        Group(group.name, float(rng.integers(*GROUP_COST, endpoint=True)), group.features)
        for group in problem.pricing.sharings
        if not group.counts_order
    )
    return replace(problem, costs=FeatureCosts(prices, groups))


def run(
    folder: Path,
    *,
    names: Sequence[str] = NAMES,
    grid: Grid = FULL,
    n_jobs: int = -1,
    dask: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Point]:
    """Return all points, in order; points that `folder` holds are not computed again.

    Parameters
    ----------
    folder
        Where each unit has its file; created if it does not exist.
    n_jobs
        How many processes of this machine to use; -1: one for each core.
    dask
        The address of a Dask scheduler, whose workers take the place of these processes, or
        ``local:N`` (`voilattice.parallel`).
    """
    where = Workers.of(n_jobs, dask)
    units = [_Unit(folder, name, kind, grid) for name in names for kind in KINDS]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _compute(units, where, progress or (lambda done, total: None))
        return [point for unit in units for point in unit.points()]
    except OSError as error:
        place = error.filename or folder
        raise InputError(f"{place}: cannot be used: {error.strerror or error}") from None


def _compute(units: Sequence[_Unit], where: Workers, progress: Callable[[int, int], None]) -> None:
    """Compute the points that the files lack, and append each one when it is known."""
    left = [unit for unit in units if not unit.is_complete()]
    if not left:
        return
    total = sum(len(unit.wanted) for unit in units)
    with ExitStack() as stack:
        # Sorted, so that two runs that need the same files do not wait for each other.
        files = {unit: stack.enter_context(unit.open_locked()) for unit in sorted(left, key=_path)}
        # The largest problems come first, so that no worker waits long for the last one.
        tasks = [(unit, key) for unit in reversed(left) for key in unit.lacking()]
        done = total - len(tasks)
        progress(done, total)
        asked = [(unit.name, unit.kind, key) for unit, key in tasks]
        died: list[str] = []
        for number, found in stack.enter_context(closing(run_tasks(_work, asked, where=where))):
            unit, (costs, seed, x) = tasks[number]
            if isinstance(found, Died):
                died.append(f"{unit.name}, {unit.kind}, {costs} costs, EMC {x:g}: {found.reason}")
                continue
            row = {"costs": costs, "seed": seed, "expected": x, "total_cost": found}
            file = files[unit]
            file.write(f"{json.dumps(row)}\n".encode())
            file.flush()
            os.fsync(file.fileno())
            done += 1
            progress(done, total)
    _sweep.cache_clear()  # it may have worked in this process
    for unit in left:  # points were appended in the order in which workers found them
        unit.open_locked().close()
    if died:
        raise ClusterError(f"{count_noun(len(died), 'point')} cannot be computed: {died[0]}")


def _path(unit: _Unit) -> Path:
    return unit.path


def _work(shared: None, task: tuple[str, str, Key]) -> dict[str, float | None]:
    """Return what each policy costs at a point."""
    name, kind, (_, seed, x) = task
    sweep = _sweep(name, kind)
    priced = price_problem(sweep.problem, seed).with_expected(kind, x)
    # A rule is worked out to the end, however slow the machine is.
    found = {
        p: solver_of(p).cost(
            priced, Limits() if p == "optimal" else Limits(time_limit=None), sweep=sweep
        )
        for p in POLICIES
    }
    if not all(cost.certificate.exact for cost in found.values()):
        raise TooLargeError(f"{name}: the optimum cannot be proved within the memory budget")
    return {p: cost.expected_total_cost for p, cost in found.items()}


@lru_cache(maxsize=1)
def _sweep(name: str, kind: str) -> Sweep:
    return Sweep(load_problem(f"builtin:{name}"), kind)


@dataclass(frozen=True, slots=True)
class _Unit:
    """All scenarios of one data set and kind, and the file of their points."""

    folder: Path
    name: str
    kind: str
    grid: Grid

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}-{self.kind}.jsonl"

    @property
    def wanted(self) -> list[Key]:
        scenarios = [("real", None), *(("synthetic", seed) for seed in SEEDS)]
        return [(costs, seed, x) for costs, seed in scenarios for x in self.grid.points(costs)]

    @property
    def heading(self) -> str:
        """What the points depend on; a file with another heading is not used."""
        document = {
            "code": code_digest(),
            "problem": fingerprint(load_problem(f"builtin:{self.name}")),
            "policies": list(POLICIES),
        }
        return json.dumps(document)

    def found(self) -> dict[Key, dict[str, float]]:
        """Return the points that the file holds."""
        try:
            return self._parse(self.path.read_bytes())[0]
        except FileNotFoundError:
            return {}

    def lacking(self) -> list[Key]:
        """Return the wanted points that the file does not hold."""
        found = self.found()
        return [key for key in self.wanted if key not in found]

    def is_complete(self) -> bool:
        """Return whether the file holds all wanted points, in order."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return False
        found, tidy = self._parse(content)
        return content == tidy and all(key in found for key in self.wanted)

    def points(self) -> Iterator[Point]:
        found = self.found()
        for costs, seed, x in self.wanted:
            scenario = Scenario(self.name, costs, seed, self.kind)
            yield Point(scenario, x, found[costs, seed, x])

    def open_locked(self) -> BinaryIO:
        """Return the file, locked and open to append; drop damaged lines and sort it first."""
        while True:
            file = self.path.open("a+b")
            _lock(file)
            # Another run may have replaced the file by a repaired one meanwhile.
            if not os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                file.close()
                continue
            file.seek(0)
            content = file.read()
            _, whole = self._parse(content)
            if content == whole:
                return file
            repaired = self.path.with_suffix(".new")
            repaired.write_bytes(whole)
            repaired.replace(self.path)
            file.close()

    def _parse(self, content: bytes) -> tuple[dict[Key, dict[str, float]], bytes]:
        """Return the points in a file, and the file without other lines, in the order of points."""
        heading = f"{self.heading}\n".encode()
        if not content.startswith(heading):
            return {}, heading
        found, lines = {}, {}
        for line in content[len(heading) :].splitlines(keepends=True):
            if (point := _point(line)) is not None:
                found[point[0]], lines[point[0]] = point[1], line
        order = sorted(lines, key=lambda key: (*map(str, key[:2]), key[2]))
        return found, heading + b"".join(lines[key] for key in order)


def _point(line: bytes) -> tuple[Key, dict[str, float]] | None:
    """Return the point in a line, or None if the line is cut off or damaged."""
    try:
        row = json.loads(line)
        costs = {policy: float(row["total_cost"][policy]) for policy in POLICIES}
        key = row["costs"], row["seed"], float(row["expected"])
        hash(key)
    except (ValueError, TypeError, KeyError):
        return None
    is_whole = line.endswith(b"\n") and all(0 <= cost < math.inf for cost in costs.values())
    return (key, costs) if is_whole else None


def _lock(file: BinaryIO) -> None:
    """Lock a file; another run that needs it may hold it until that run ends."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # asked again and again, because Ctrl-C must be noticed
            time.sleep(SECONDS_PER_LOOK)
        else:
            return
