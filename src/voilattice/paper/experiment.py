"""The sweep of Section 4.2: what each policy costs, point by point.

A *scenario* is a data set, feature costs (Turney's, or synthetic ones of a seed) and a kind of
misclassification costs. A *point* is a scenario at one a-priori EMC (the expected misclassification
cost before any evidence). All scenarios of one data set and kind share intermediate results
(`Sweep`), so they are the unit of parallel work.

No point is computed twice. A unit appends each point to its own file as soon as it is known, and a
run that finds such a file computes only the points that it lacks. Lines that are cut off or damaged
are ignored. The results do not depend on interruptions or on the number of processes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np

from voilattice.errors import InputError, TooLargeError
from voilattice.files.policies import fingerprint
from voilattice.files.problems import load_problem
from voilattice.model.costs import FeatureCosts, Group
from voilattice.model.problem import Problem
from voilattice.model.stakes import KINDS
from voilattice.policy.solvers import Limits, solver_of
from voilattice.policy.sweep import Sweep

__all__ = ["FULL", "NAMES", "QUICK", "Grid", "Point", "Scenario", "price_problem", "run"]

# The five data sets, in the order of the figures.
NAMES = ("liver", "diabetes", "heart", "hepatitis", "thyroid")
SEEDS = (0, 1, 2)
POLICIES = ("none", "markov-blanket", "greedy", "greedy-la", "batch", "optimal")
FEATURE_COST = (1, 100)
GROUP_COST = (100, 200)
SECONDS_PER_LOOK = 0.5


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


def price_problem(problem: Problem, seed: int | None) -> Problem:
    """Return the problem with synthetic costs; without a seed, return it unchanged.

    Each feature costs between 1 and 100, and each group between 100 and 200 (Section 4.2). The
    amounts are whole numbers, all equally likely.
    """
    if seed is None:
        return problem
    costs = problem.costs
    assert isinstance(costs, FeatureCosts)  # built-in problems have no others
    rng = np.random.default_rng(seed)
    prices = {f: float(rng.integers(*FEATURE_COST, endpoint=True)) for f in problem.features}
    groups = tuple(
        Group(group.name, float(rng.integers(*GROUP_COST, endpoint=True)), group.features)
        for group in costs.groups
    )
    return replace(problem, costs=FeatureCosts(prices, groups))


def run(
    folder: Path,
    *,
    names: Sequence[str] = NAMES,
    grid: Grid = FULL,
    n_jobs: int = -1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Point]:
    """Return all points, in order; points that `folder` holds are not computed again.

    Parameters
    ----------
    folder
        Where each unit of work keeps its file; created if it does not exist.
    n_jobs
        How many processes joblib may use; -1: one for each core.
    """
    units = [_Unit(folder, name, kind, grid) for name in names for kind in KINDS]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The largest problems come first, so that no core waits long for the last one.
        left = [unit for unit in reversed(units) if unit.n_done() < len(unit.wanted)]
        if left:
            _compute(left, n_jobs, units, progress or (lambda done, total: None))
        return [point for unit in units for point in unit.points()]
    except OSError as error:
        where = error.filename or folder
        raise InputError(f"{where}: cannot be used: {error.strerror or error}") from None


def _compute(
    left: Sequence[_Unit],
    n_jobs: int,
    units: Sequence[_Unit],
    progress: Callable[[int, int], None],
) -> None:
    """Compute what is left, in processes, and report the number of points meanwhile."""
    from threading import Event, Thread

    from joblib import Parallel, delayed

    finished = Event()
    total = sum(len(unit.wanted) for unit in units)

    def tell() -> None:
        progress(sum(unit.n_done() for unit in units), total)

    def watch() -> None:
        while not finished.wait(SECONDS_PER_LOOK):
            tell()

    tell()
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        Parallel(n_jobs=min(n_jobs, len(left)))(delayed(unit.work)(os.getpid()) for unit in left)
    finally:
        finished.set()
        watcher.join()
        tell()


@cache
def _code() -> str:
    """Return a digest of the package's code, because other code may find other numbers."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


Key = tuple[str, int | None, float]


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
            "code": _code(),
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

    def n_done(self) -> int:
        """Return how many of the wanted points the file holds."""
        return len(self.found().keys() & set(self.wanted))

    def points(self) -> Iterator[Point]:
        found = self.found()
        for costs, seed, x in self.wanted:
            scenario = Scenario(self.name, costs, seed, self.kind)
            yield Point(scenario, x, found[costs, seed, x])

    def work(self, parent: int) -> None:
        """Compute the points that the file lacks, and append each one when it is known."""
        problem = load_problem(f"builtin:{self.name}")
        sweep = Sweep(problem, self.kind)
        with self._open_locked() as file:
            found = self.found()
            for costs, seed, x in self.wanted:
                if (costs, seed, x) in found:
                    continue
                if os.getpid() != parent and os.getppid() != parent:
                    os._exit(0)  # the run was killed, so nobody waits for this
                priced = price_problem(problem, seed).with_expected(self.kind, x)
                # A rule is worked out to the end, however slow the machine is.
                found_costs = {
                    p: solver_of(p).cost(
                        priced, Limits() if p == "optimal" else Limits(time_limit=None), sweep=sweep
                    )
                    for p in POLICIES
                }
                if not all(cost.certificate.exact for cost in found_costs.values()):
                    raise TooLargeError(
                        f"{self.name}: the optimum cannot be proved within the memory budget"
                    )
                total = {p: cost.expected_total_cost for p, cost in found_costs.items()}
                row = {"costs": costs, "seed": seed, "expected": x, "total_cost": total}
                file.write(f"{json.dumps(row)}\n".encode())
                file.flush()
                os.fsync(file.fileno())

    def _open_locked(self) -> BinaryIO:
        """Return the file, locked and open to append; drop damaged lines from it first."""
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
        """Return the points in a file, and the heading and lines that hold them."""
        heading = f"{self.heading}\n".encode()
        if not content.startswith(heading):
            return {}, heading
        found, whole = {}, [heading]
        for line in content[len(heading) :].splitlines(keepends=True):
            if (point := _point(line)) is not None:
                found[point[0]] = point[1]
                whole.append(line)
        return found, b"".join(whole)


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
    """Lock a file; a worker of a killed run may hold it until its current point is done."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    fcntl.flock(file, fcntl.LOCK_EX)
