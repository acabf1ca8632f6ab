r"""A lower bound on the optimum: some features once, the others repeatedly.

Two relaxations. Each leaves every policy possible and makes none dearer.

1. Reveal the value h of a hub for nothing (`hubs`). Then the other features are independent given
   Y, and the bound is the mean over h.
2. Divide these features into *pools*, and let a member of a pool be bought again, as an independent
   copy, as long as no more is bought from the pool than it has members. A pool of one feature is
   that feature once. Features in no pool can be bought any number of times.

What was bought matters only through the counts m (how much of each pool) and the belief b over Y:

    W(m, b) = min( rho(b),  min_i c_i + sum_x P(x | b) W(m + pool of i, b after x) ),

with rho the risk of the best decision and c_i the least own price of feature i over all evidence.
The surcharge of the first feature of a group or discount is due if all members are in pools and
none of these was touched.

W(m, .) is concave. So where its values at the points of a grid are at least A, the mean of A over
the corners around b (`beliefs`) is at most W(m, b). Larger m are solved first, and the recursion
gives lower bounds of W from lower bounds of W. If some features are in no pool, W(m, .) is also on
the right, with T for the recursion: A = T A. Iterating from above, by sweeps along the best steps
(`repeat_values.solve`), gives U with U - T U <= worst. Then the lower bound is, with c the least
price of a feature in no pool,

    c / (c + worst) * T U.

At any evidence e, with q(h, y) = P(y, h, e) the product of the P(x_i | y, h) of what is known,

    v*(e) P(e) >= sum_h W_h(m(e), b = q(h, .) / P(h, e)) P(h, e).

``docs/optimal.md`` proves all this. `repeat_bound` finds a hub and pools (`pools`) and fills the
tables in a given time. `repeat_values` solves W and is the bound at a state.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from voilattice import devices
from voilattice.budgets import Deadline, memory_budget
from voilattice.compiled.arrays import BeliefGrid, Floats, Ints, RepeatSteps, RepeatTables
from voilattice.engines import choose_engine, count_threads, preferred_engine
from voilattice.errors import TooLargeError
from voilattice.model.problem import Problem
from voilattice.optimal.search.bounds.beliefs import angular_knots, locate, make_grid
from voilattice.optimal.search.bounds.hubs import Hub, find_hub, rank_features, reveal
from voilattice.optimal.search.bounds.pools import Shape, make_pools, make_steps, n_counts
from voilattice.optimal.search.bounds.repeat_values import twin_of

__all__ = ["RepeatBound", "empty_tables", "repeat_bound"]

MAX_HUB_STATES = 4096
DEFAULT_SECONDS = 15.0
MAX_CLASSES = 6

# The number of knots of each coordinate of a belief, by the number of classes.
N_KNOTS = {2: 200, 3: 48, 4: 20, 5: 13, 6: 10}
LARGE_HUB = 64  # more values of the hub have fewer knots, so that there is work left for counts
FEW_KNOTS = {2: 100, 3: 32, 4: 15, 5: 10, 6: 8}

# A grid is solved until a round changes it by less than this share of the least price, but in at
# most so many rounds; and a round has so many sweeps along the best steps.
GRID_TOLERANCE = 1e-4
MAX_ROUNDS = 60
N_SWEEPS = 12

# Weights added up in a second (a guess, until it is measured); rounds and sweeps to solve a grid.
WEIGHTS_PER_SECOND = 3e8
ROUNDS_PER_GRID = 3
SWEEPS_PER_GRID = 25
CUDA_WORK = 3e9  # weights, for which a GPU is worth loading
MAX_THREADS = 2
MAX_POOLS = 4  # before features are bought once
MEMORY_SHARE = 1 / 8
MAX_TABLES = 512  # further values of the hub, the least probable, are bounded by 0
LEAST_GAIN = 1e-3  # of all risk: also where the bound is tight, later evidence may need a table


@dataclass(frozen=True, slots=True)
class RepeatBound:
    """The bound "once or repeatedly" of a problem, at every evidence."""

    problem: Problem
    tables: RepeatTables
    hub: tuple[str, ...]
    shapes: tuple[Shape, ...]  # of each value of the hub with a table, most probable first
    seconds: float
    engine: str

    def lower(self, known: Mapping[str, str] | None = None) -> float:
        """Return the bound on the cost to go at some evidence beyond the problem's own."""
        problem = self.problem
        values = np.full(len(problem.features), -1)
        for name, state in (known or {}).items():
            values[problem.features.index(name)] = problem.states(name).index(state)
        n_hub, n_classes = self.tables.prior.shape
        q, at = np.empty((n_hub, n_classes)), np.empty(n_hub, np.int64)
        twin = twin_of(self.engine)
        twin.belief_at(self.tables, values, q, at)
        lower, mass = twin.lower_at(self.tables, q, at)
        return float(lower / mass) if mass > 0 else 0.0


def repeat_bound(
    problem: Problem,
    *,
    deadline: Deadline | None = None,
    engine: str = "auto",
    max_hub_states: int = MAX_HUB_STATES,
    shape: Shape | None = None,
) -> RepeatBound | None:
    """Return the bound of a problem, or None if it does not apply.

    Parameters
    ----------
    deadline
        When the tables must be ready; by default after 15 seconds.
    max_hub_states
        Return None if more joint states of a hub are needed.
    shape
        How the features can be bought; by default, as many of them once as time and memory allow.
    """
    if not problem.pricing.is_sum:
        return None
    begin = time.monotonic()
    deadline = Deadline(DEFAULT_SECONDS) if deadline is None else deadline
    nodes = find_hub(problem, max_hub_states, deadline)
    if nodes is None or not 2 <= len(problem.classes) <= MAX_CLASSES:
        return None
    hub = reveal(problem, nodes, deadline)
    if hub is None or not hub.tells.any():
        return None
    n = min(len(hub.prior), MAX_TABLES)
    ranked = [rank_features(hub, h) for h in range(n)]
    builder = _Builder(problem, hub, _make_grid(hub), ranked, begin, engine)
    if shape is not None:
        shapes = [Shape(min(shape.n_once, len(each)), shape.n_pools) for each in ranked]
        return builder.solve(shapes, Deadline())
    return builder.grow(deadline)


def _make_grid(hub: Hub) -> BeliefGrid:
    n_classes = hub.prior.shape[1]
    n_knots = FEW_KNOTS if len(hub.prior) > LARGE_HUB else N_KNOTS
    return make_grid(angular_knots(n_knots[n_classes]), n_classes)


# -- the tables


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds the tables of a problem, with more and more features that are bought once."""

    problem: Problem
    hub: Hub
    grid: BeliefGrid
    ranked: list[list[int]]  # for each value of the hub with a table: its features in order
    begin: float
    engine: str

    def counts(self, h: int, shape: Shape) -> int:
        """Return about how many grids W has at a value of the hub."""
        left, n_pools = len(self.ranked[h]) - shape.n_once, shape.n_pools
        sizes = [left * (k + 1) // n_pools - left * k // n_pools for k in range(n_pools)]
        return math.prod(size + 1 for size in sizes) << shape.n_once

    def work(self, h: int, shape: Shape) -> float:
        """Return about how many weights are added up to solve W at a value of the hub."""
        n, n_once = len(self.ranked[h]), shape.n_once
        per_point = 1 + n / 2
        if n > n_once and not shape.n_pools:
            per_point = 1 + n_once / 2 + SWEEPS_PER_GRID + ROUNDS_PER_GRID * (n - n_once)
        n_corners = self.hub.likelihood.shape[1] * self.hub.prior.shape[1]
        return float(self.counts(h, shape) * per_point * n_corners * len(self.grid.points))

    def plan(self, work: float, weight: Floats, pooled: bool) -> list[Shape]:
        """Return a shape for each value of the hub, with about so much work in all.

        The next larger shape about doubles the work. It goes where there is most to gain for its
        work.
        """
        shapes = [Shape(0, int(pooled)) for _ in self.ranked]
        room = memory_budget() * MEMORY_SHARE / 8 / len(self.grid.points)
        room -= sum(self.counts(h, shape) for h, shape in enumerate(shapes))
        work -= sum(self.work(h, shape) for h, shape in enumerate(shapes))
        queue = [(-math.inf, h) for h in range(len(shapes)) if self.ranked[h]]
        while queue:
            _, h = heapq.heappop(queue)
            shape, after = shapes[h], self._next(h, shapes[h])
            more_work = self.work(h, after) - self.work(h, shape)
            more_room = self.counts(h, after) - self.counts(h, shape)
            if more_work > work or more_room > room:
                continue
            work, room = work - more_work, room - more_room
            shapes[h] = after
            if after.n_once < len(self.ranked[h]):
                further = self.work(h, self._next(h, after)) - self.work(h, after)
                heapq.heappush(queue, (-weight[h] / max(further, 1.0), h))
        return shapes

    def _next(self, h: int, shape: Shape) -> Shape:
        """Return the next larger shape: a few pools of equal size, then more features once."""
        n = len(self.ranked[h])
        if not shape.n_pools:
            more, every = Shape(shape.n_once + 1, 0), Shape(n, 0)
            # If nothing is repeated, a grid needs no rounds: the last features can cost nothing.
            return every if self.work(h, every) <= self.work(h, more) else more
        if not shape.n_once and shape.n_pools < MAX_POOLS and n >= 2 * (shape.n_pools + 1):
            return Shape(0, shape.n_pools + 1)
        larger = (Shape(k, 1) for k in range(shape.n_once + 1, n))
        least = self.counts(h, shape)
        return next((more for more in larger if self.counts(h, more) > least), Shape(n, 1))

    def solve(self, shapes: Sequence[Shape], deadline: Deadline) -> RepeatBound | None:
        """Return the bound, or None if it is not ready before the deadline."""
        hub, n_points = self.hub, len(self.grid.points)
        plan = [make_pools(hub, *each) for each in zip(self.ranked, shapes, strict=True)]
        counts = np.array([n_counts(pools) for pools in plan])
        # Values of the hub without a table share one grid of zeros, at the end.
        start = np.full(len(hub.prior), int(counts.sum()) * n_points)
        start[: len(plan)] = np.concatenate([[0], np.cumsum(counts * n_points)])[:-1]
        values = np.zeros((int(counts.sum()) + 1) * n_points)
        stride = np.zeros((len(hub.prior), len(self.problem.features)), np.int64)
        engine = choose_engine(self.engine, "repeats", self.total_work(shapes))
        twin = twin_of(engine)

        on_device = self._goes_to_device(int(counts.max(initial=0)), self.total_work(shapes))

        def solve_at(h: int, threads: ThreadPoolExecutor | None = None) -> None:
            if deadline.is_over:
                return
            steps = make_steps(self.problem, hub, h, self.grid, plan[h], twin)
            for k, pool in enumerate(plan[h]):
                stride[h, pool] = steps.strides[k]
            out = values[start[h] : start[h] + counts[h] * n_points]
            if not (on_device and _solve_on_device(steps, out, deadline)):
                _solve_in_order(twin, steps, out, deadline, threads)

        if on_device or engine == "python" or count_threads() == 1:
            for h in range(len(plan)):
                solve_at(h)
        else:
            with ThreadPoolExecutor(MAX_THREADS) as threads:
                if len(plan) >= 4 * MAX_THREADS:
                    list(threads.map(solve_at, range(len(plan))))
                else:
                    for h in range(len(plan)):
                        solve_at(h, threads)
        if deadline.is_over:
            return None
        tables = RepeatTables(hub.prior, hub.likelihood, stride, start, self.grid, values)
        names = tuple(self.problem.network.names[v] for v in hub.nodes)
        seconds = time.monotonic() - self.begin
        return RepeatBound(self.problem, tables, names, tuple(shapes), seconds, engine)

    def _goes_to_device(self, n_counts: int, work: float) -> bool:
        """Return whether W is solved on a GPU: if the engine says so, or if there is much to do."""
        engine = preferred_engine(self.engine)
        by_size = engine == "auto" and work >= CUDA_WORK and devices.has_device()
        if engine == "cuda" or by_size:
            from voilattice.compiled.repeats_cuda import fits_device

            return fits_device(devices.find_device(), n_counts, len(self.grid.points))
        return False

    def grow(self, deadline: Deadline) -> RepeatBound | None:
        """Return the bound with as many features bought once as time and memory allow.

        None: not even the smallest tables are ready before the deadline.
        """
        shapes = tuple(Shape(0, 1) for _ in self.ranked)
        started = time.monotonic()
        if (best := self.solve(shapes, deadline)) is None:
            return None
        # Loading the compiled engine may have taken most of this time.
        rate = max(self.rate(shapes, started), WEIGHTS_PER_SECOND)
        rates, weight, tried = {True: rate, False: rate}, self._still_to_gain(best), {shapes}
        # Two small tables show which shape is better here and how long the larger ones take.
        for share, both in ((0.05, True), (0.3, False), (0.7, False)):
            for pooled in (True, False) if both else (best.shapes[0].n_pools > 0,):
                left = deadline.seconds_left
                work = rates[pooled] * share * (DEFAULT_SECONDS if left is None else left)
                shapes = tuple(self.plan(work, weight, pooled))
                if shapes in tried or self.total_work(shapes) > 2 * work or deadline.is_over:
                    continue
                tried.add(shapes)
                started = time.monotonic()
                found = self.solve(shapes, deadline)
                if found is None:
                    return best
                rates[pooled] = self.rate(shapes, started)
                best = max(best, found, key=RepeatBound.lower)
        return best

    def total_work(self, shapes: Sequence[Shape]) -> float:
        """Return about how many weights are added up to solve W at all values of the hub."""
        return sum(self.work(h, shape) for h, shape in enumerate(shapes))

    def rate(self, shapes: Sequence[Shape], started: float) -> float:
        """Return the work in a second of what was started then."""
        return self.total_work(shapes) / max(time.monotonic() - started, 1e-3)

    def _still_to_gain(self, found: RepeatBound) -> Floats:
        """Return how much the bound at each value of the hub could rise at most."""
        prior, tables, n = self.hub.prior, found.tables, len(self.ranked)
        mass = prior[:n].sum(axis=1)
        risk = (prior[:n] @ self.hub.cost.T).min(axis=1)
        corners, weights = locate(self.grid, prior[:n] / mass[:, None])
        lower = (weights * tables.values[tables.start[:n] + corners]).sum(axis=0) * mass
        result: Floats = risk - lower + LEAST_GAIN * mass * risk.sum()
        return result


def _solve_in_order(
    twin: ModuleType,
    steps: RepeatSteps,
    out: Floats,
    deadline: Deadline,
    threads: ThreadPoolExecutor | None,
) -> None:
    """Write W for all counts, the largest first."""

    def solve_some(counts: Ints) -> None:
        if not deadline.is_over:
            twin.solve(steps, counts, GRID_TOLERANCE, MAX_ROUNDS, N_SWEEPS, out)

    for level in _levels(steps, len(out)):
        if threads is None or len(level) < 4 * MAX_THREADS:
            solve_some(level)
        else:
            list(threads.map(solve_some, np.array_split(level, 4 * MAX_THREADS)))


def _solve_on_device(steps: RepeatSteps, out: Floats, deadline: Deadline) -> bool:
    """Do the same on the GPU, and return whether its memory was enough."""
    from voilattice.compiled.repeats_cuda import solve_on_device

    device, levels = devices.find_device(), _levels(steps, len(out))
    try:
        solve_on_device(device, steps, levels, GRID_TOLERANCE, MAX_ROUNDS, N_SWEEPS, out, deadline)
    except TooLargeError:
        return False
    return True


def _levels(steps: RepeatSteps, n_values: int) -> Iterator[Ints]:
    """Return the numbers of the counts, the largest counts first; those of one size together."""
    numbers = np.arange(n_values // len(steps.risk))[::-1]
    bought = np.zeros_like(numbers)
    for s, size in zip(steps.strides, steps.sizes, strict=True):
        bought += numbers // s % (size + 1)
    for n in range(int(bought.max()), -1, -1):
        yield numbers[bought == n]


def empty_tables(n_features: int) -> RepeatTables:
    """Return tables of no bound: 0 at every state."""
    return RepeatTables(
        np.empty((0, 0)), np.empty((n_features, 0, 0, 0)), np.empty((0, n_features), np.int64),
        np.empty(0, np.int64), make_grid(np.array([0.0, 1.0]), 2), np.empty(0),
    )  # fmt: skip
