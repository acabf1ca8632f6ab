r"""A lower bound on the optimum: some features once, the others repeatedly.

Reveal a small *hub* H of nodes for nothing, so that the other features are independent given Y and
a value h of the hub. Then let some features be bought once and the others any number of times, as
independent copies. Every policy of the problem is still possible and costs no more, so the optimum
W of this problem is a lower bound at every evidence.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline, memory_budget
from voilattice.compiled.arrays import BeliefGrid, Floats, Ints, RepeatSteps, RepeatTables
from voilattice.engines import choose_engine
from voilattice.feature_sets import bits, mask_of
from voilattice.lattice.independence import Graph, graph_of
from voilattice.model.costs import FeatureCosts
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.problem import Problem

__all__ = ["RepeatBound", "empty_tables", "find_hub", "repeat_bound", "solve"]

MAX_HUB_STATES = 4096
MAX_CLASSES = 6

# The number of knots of each coordinate of a belief, by the number of classes.
N_KNOTS = {2: 200, 3: 40, 4: 16, 5: 10, 6: 8}
N_BUCKETS = 1 << 12

# How exactly a grid is solved, as a share of the least price, and how long at most.
TOLERANCE = 1e-5
MAX_ROUNDS = 60
N_SWEEPS = 12

# Weights that a thread adds up in a second: a guess, until it is measured.
WEIGHTS_PER_SECOND = 3e8
MAX_THREADS = 2
MEMORY_SHARE = 1 / 8


@dataclass(frozen=True, slots=True)
class Hub:
    """A problem whose hub is revealed: features independent given Y and a value h of the hub."""

    nodes: tuple[int, ...]
    prior: Floats  # [h, y]
    likelihood: Floats  # [i, x, h, y]
    tells: Ints  # [h, i]: 1 if feature i tells something about Y at h
    prices: Floats  # the least price of each feature
    cost: Floats  # c_ij


@dataclass(frozen=True, slots=True)
class RepeatBound:
    """The bound "once or repeatedly" of a problem, at every evidence."""

    tables: RepeatTables
    hub: tuple[str, ...]
    n_pools: tuple[int, ...]  # for each value of the hub
    seconds: float
    engine: str

    def lower(self, problem: Problem, known: Mapping[str, str] | None = None) -> float:
        """Return the bound on the cost to go at some evidence beyond the problem's own."""
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
    max_counts: int | None = None,
) -> RepeatBound | None:
    """Return the bound of a problem, or None if it does not apply.

    Parameters
    ----------
    deadline
        When the tables must be ready; by default after 15 seconds.
    max_counts
        The most grids for each value of the hub; by default what time and memory allow.
    """
    if not isinstance(problem.costs, FeatureCosts):
        return None
    begin = time.monotonic()
    deadline = Deadline(15.0) if deadline is None else deadline
    nodes = find_hub(problem, max_hub_states)
    if nodes is None or not 2 <= len(problem.classes) <= MAX_CLASSES:
        return None
    hub = reveal(problem, nodes)
    if not hub.tells.any():
        return None
    return _grow(problem, hub, deadline, engine, max_counts, begin)


# -- the hub


def find_hub(problem: Problem, max_states: int) -> tuple[int, ...] | None:
    """Return nodes that make all relevant features independent given Y: few states in all."""
    graph = graph_of(problem)
    e = problem.feature_mask(problem.evidence)
    features = graph.nodes(graph.relevant(e))
    known = graph.nodes(e) | 1 << graph.target
    sizes = problem.network.n_states
    candidates = list(bits(graph.moral.ancestral(features | known) & ~known))
    best, fewest = None, max_states + 1
    for order in (
        sorted(candidates, key=lambda v: (not features >> v & 1, -sizes[v], v)),
        sorted(candidates, key=lambda v: (-sizes[v], not features >> v & 1, v)),
    ):
        hub = mask_of(candidates)
        for node in order:
            if _separates(graph, features, known, hub & ~(1 << node)):
                hub &= ~(1 << node)
        n = math.prod(sizes[v] for v in bits(hub))
        if n < fewest:
            best, fewest = tuple(bits(hub)), n
    return best


def _separates(graph: Graph, features: int, known: int, hub: int) -> bool:
    """Return whether features outside the hub are independent given it and what is known."""
    blocked = known | hub
    left = features & ~blocked
    while left:
        first = left & -left
        left ^= first
        if graph.moral.flood(first, blocked, features) & left:
            return False
    return True


def reveal(problem: Problem, nodes: tuple[int, ...]) -> Hub:
    """Return P(y, h | e) and P(x_i | y, h, e) of a problem."""
    network, graph = problem.network, graph_of(problem)
    e = problem.feature_mask(problem.evidence)
    known = problem.node_states(problem.evidence)
    n_classes = len(problem.classes)
    joint = scaled_joint_table(network, [graph.target, *nodes], known).table
    joint = (joint / joint.sum()).reshape(n_classes, -1).T
    possible = np.flatnonzero(joint.sum(axis=1) > 0)
    prior = np.ascontiguousarray(joint[possible])
    n_hub, n_states = len(prior), max(map(len, map(problem.states, problem.features)))
    likelihood = np.ones((len(problem.features), n_states, n_hub, n_classes))
    tells = np.zeros((n_hub, len(problem.features)), np.int64)
    shape = [network.n_states[v] for v in nodes]
    digits = np.array(np.unravel_index(possible, shape)) if nodes else np.empty((0, n_hub))
    for k in bits(graph.relevant(e)):
        node = graph.features[k]
        size = network.n_states[node]
        if node in nodes:
            value = digits[nodes.index(node)]
            table = (np.arange(size)[:, None] == value).astype(float)[:, :, None]
            table = np.broadcast_to(table, (size, n_hub, n_classes))
        else:
            found = scaled_joint_table(network, [node, graph.target, *nodes], known).table
            found = found.reshape(size, n_classes, -1).transpose(0, 2, 1)[:, possible]
            mass = found.sum(axis=0)
            table = np.divide(found, mass, out=np.ones_like(found), where=mass > 0)
            tells[:, k] = _tells(table, prior)
        likelihood[k] = 0.0
        likelihood[k, :size] = table
    prices = least_prices(problem)
    return Hub(nodes, prior, likelihood, tells, prices, problem.misclassification)


def _tells(table: Floats, prior: Floats) -> Ints:
    """Return for each h whether P(x | y, h) differs between classes that are possible at h."""
    possible = prior > 0
    low = np.where(possible, table, np.inf).min(axis=-1)
    high = np.where(possible, table, -np.inf).max(axis=-1)
    result: Ints = (high - low > 1e-12 * high).any(axis=0).astype(np.int64)
    return result


def least_prices(problem: Problem) -> Floats:
    """Return the least price of each feature over all evidence, without overheads."""
    costs = problem.costs
    assert isinstance(costs, FeatureCosts)
    found = []
    for name in problem.features:
        amounts = []
        for entry in costs.conditional:
            if entry.feature != name:
                continue
            if all(problem.evidence.get(f, s) == s for f, s in entry.when):
                amounts.append(entry.cost)
            if entry.applies(problem.evidence):
                break
        else:
            amounts.append(costs.prices[name])
        found.append(min(amounts))
    return np.array(found)


# -- the grid of beliefs


def make_grid(knots: Floats, n_classes: int) -> BeliefGrid:
    """Return the grid with these knots of each coordinate."""
    d, n = n_classes - 1, len(knots)
    rank = np.array(
        [[math.comb(j + d - 1 - k, d - k) for j in range(n)] for k in range(d)], dtype=np.int64
    )
    js = np.array(
        [js for js in product(range(n), repeat=d) if all(a >= b for a, b in pairwise(js))]
    )
    js = js[np.argsort(rank[np.arange(d), js].sum(axis=1))]
    edge = np.ones((len(js), 1))
    s = np.concatenate([edge, knots[js], 0 * edge], axis=1)
    buckets = np.searchsorted(knots, np.arange(N_BUCKETS + 1) / N_BUCKETS, side="right") - 1
    return BeliefGrid(knots, np.clip(buckets, 0, n - 2), rank, s[:, :-1] - s[:, 1:])


def locate(grid: BeliefGrid, beliefs: Floats) -> tuple[Ints, Floats]:
    """Return the corners around beliefs [..., y] and their weights, as [k, ...]."""
    d, knots = beliefs.shape[-1] - 1, grid.knots
    s = np.minimum(np.cumsum(beliefs[..., :0:-1], axis=-1)[..., ::-1], 1.0)
    j = np.clip(np.searchsorted(knots, s, side="right") - 1, 0, len(knots) - 2)
    u = (s - knots[j]) / (knots[j + 1] - knots[j])
    order = np.argsort(-u, axis=-1, kind="stable")
    k = np.arange(d)
    step = np.take_along_axis(grid.rank[k, j + 1] - grid.rank[k, j], order, axis=-1)
    lowest = grid.rank[k, j].sum(axis=-1)
    corners = np.stack([lowest, *(lowest + step[..., : n + 1].sum(axis=-1) for n in range(d))])
    edge = np.ones((*u.shape[:-1], 1))
    u = np.concatenate([edge, np.take_along_axis(u, order, axis=-1), 0 * edge], axis=-1)
    return corners, np.moveaxis(u[..., :-1] - u[..., 1:], -1, 0)


def _grid_of(hub: Hub, n_knots: int) -> BeliefGrid:
    """Return a grid that is uniform in the log-odds, as far as a price can matter."""
    priced = hub.prices[hub.tells.any(axis=0) & (hub.prices > 0)]
    ratio = hub.cost.max() / priced.min() if len(priced) and hub.cost.max() > 0 else 1.0
    reach = min(max(math.log(max(ratio, 1.0)), 3.0), 14.0)
    odds = np.linspace(-reach, reach, n_knots - 2)
    return make_grid(np.concatenate([[0.0], 1 / (1 + np.exp(-odds)), [1.0]]), hub.cost.shape[0])


# -- pools


def choose_pools(hub: Hub, h: int, max_counts: int) -> list[list[int]]:
    """Return the pools for a value of the hub: at most `max_counts` counts."""
    features = np.flatnonzero(hub.tells[h])
    information = _information(hub, h)[features]
    with np.errstate(divide="ignore"):
        ratio = information / hub.prices[features]
    order = features[np.argsort(-ratio, kind="stable")].tolist()
    free = [i for i in order if hub.prices[i] <= 0.0]
    n = min(len(order), int(math.log2(max(max_counts, 1))))
    pools = [[i] for i in order[:n]]
    if left := free[n:]:
        pools.append(left)
    return pools


def _information(hub: Hub, h: int) -> Floats:
    """Return the mutual information of each feature and Y at h."""
    joint = hub.likelihood[:, :, h] * hub.prior[h] / hub.prior[h].sum()
    apart = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    ratio = np.divide(joint, apart, out=np.ones_like(joint), where=(joint > 0) & (apart > 0))
    result: Floats = (joint * np.log(ratio)).sum(axis=(1, 2))
    return result


def _n_counts(pools: Sequence[Sequence[int]]) -> int:
    return math.prod(len(pool) + 1 for pool in pools)


def make_steps(
    problem: Problem,
    hub: Hub,
    h: int,
    grid: BeliefGrid,
    pools: Sequence[Sequence[int]],
    twin: ModuleType,
) -> RepeatSteps:
    """Return what can be bought at a value of the hub, and where it leads."""
    features = np.flatnonzero(hub.tells[h])
    n, n_states, n_classes = len(features), hub.likelihood.shape[1], hub.prior.shape[1]
    shape = (n, n_states * n_classes, len(grid.points))
    corners, weights = np.empty(shape, np.int32), np.empty(shape)
    likelihood = np.ascontiguousarray(hub.likelihood[features, :, h])
    twin.follow(grid, likelihood, corners, weights)
    pool_of = np.full(len(problem.features), -1)
    for k, pool in enumerate(pools):
        pool_of[list(pool)] = k
    sizes = np.array([len(pool) for pool in pools], dtype=np.int64)
    strides = np.concatenate([[1], np.cumprod(sizes + 1)[:-1]])[: len(pools)].astype(np.int64)
    groups = _counted_groups(problem, pool_of, pools)
    group_of = np.full(len(problem.features), -1)
    costs = problem.costs
    assert isinstance(costs, FeatureCosts)
    group_pools = np.zeros((len(groups), len(pools)), np.int64)
    for k, g in enumerate(groups):
        for name in costs.groups[g].features:
            if name not in problem.evidence:
                i = problem.features.index(name)
                group_of[i] = k
                group_pools[k, pool_of[i]] = 1
    return RepeatSteps(
        hub.prices[features],
        pool_of[features],
        strides,
        sizes,
        group_of[features],
        np.array([costs.groups[g].overhead for g in groups]),
        group_pools,
        corners,
        weights,
        (hub.cost @ grid.points.T).min(axis=0),
    )


def _counted_groups(problem: Problem, pool_of: Ints, pools: Sequence[Sequence[int]]) -> list[int]:
    """Return the groups whose overhead is due or paid according to the counts."""
    costs = problem.costs
    assert isinstance(costs, FeatureCosts)
    found = []
    for g, group in enumerate(costs.groups):
        if any(name in problem.evidence for name in group.features):
            continue
        members = {problem.features.index(name) for name in group.features}
        if all(pool_of[i] >= 0 and members.issuperset(pools[pool_of[i]]) for i in members):
            found.append(g)
    return found


# -- the tables


def _grow(
    problem: Problem,
    hub: Hub,
    deadline: Deadline,
    engine: str,
    max_counts: int | None,
    begin: float,
) -> RepeatBound:
    grid = _grid_of(hub, N_KNOTS[hub.prior.shape[1]])
    if max_counts is not None:
        plan = [choose_pools(hub, h, max_counts) for h in range(len(hub.prior))]
        return _solve_all(problem, hub, grid, plan, engine, begin)
    plan = _plan(hub, grid, 0.0)
    bound = _solve_all(problem, hub, grid, plan, engine, begin)
    work = sum(_work(hub, h, grid, pools) for h, pools in enumerate(plan))
    rate = WEIGHTS_PER_SECOND
    while (left := deadline.seconds_left) is not None and left > 0.1:
        room = rate * left * 0.6
        if room < 4 * work:
            break
        step = min(room, 30 * work) if work < 1e9 else room
        plan, before = _plan(hub, grid, step), plan
        if plan == before:
            break
        work = sum(_work(hub, h, grid, pools) for h, pools in enumerate(plan))
        started = time.monotonic()
        bound = _solve_all(problem, hub, grid, plan, engine, begin)
        rate = work / max(time.monotonic() - started, 1e-4)
    return bound


def _plan(hub: Hub, grid: BeliefGrid, work: float) -> list[list[list[int]]]:
    """Return pools for each value of the hub that need about so much work in all."""
    share = np.sqrt(hub.prior.sum(axis=1))
    share = share / share.sum()
    cells = int(memory_budget() * MEMORY_SHARE / 8 / len(grid.points))
    plan = []
    for h in range(len(hub.prior)):
        n = 0
        most = int(hub.tells[h].sum())
        while n < most and share[h] * cells >= 2 << n:
            if _work(hub, h, grid, choose_pools(hub, h, 2 << n)) > share[h] * work:
                break
            n += 1
        plan.append(choose_pools(hub, h, 1 << n))
    return plan


def _work(hub: Hub, h: int, grid: BeliefGrid, pools: Sequence[Sequence[int]]) -> float:
    n = int(hub.tells[h].sum())
    pooled = sum(map(len, pools))
    per_point = pooled / 2 + 4 * (n - pooled) + 1
    n_corners = hub.likelihood.shape[1] * hub.prior.shape[1]
    return float(_n_counts(pools) * per_point * n_corners * len(grid.points))


def _solve_all(
    problem: Problem,
    hub: Hub,
    grid: BeliefGrid,
    plan: Sequence[Sequence[Sequence[int]]],
    engine: str,
    begin: float,
) -> RepeatBound:
    n_points, n_hub = len(grid.points), len(hub.prior)
    counts = np.array([_n_counts(pools) for pools in plan])
    start = np.concatenate([[0], np.cumsum(counts * n_points)])
    values = np.empty(start[-1])
    stride = np.zeros((n_hub, len(problem.features)), np.int64)
    work = sum(_work(hub, h, grid, pools) for h, pools in enumerate(plan))
    engine = choose_engine(engine, "repeats", work)
    twin = twin_of(engine)
    priced = hub.prices[hub.prices > 0]
    exact = TOLERANCE * float(priced.min()) if len(priced) else TOLERANCE

    def run(h: int, threads: ThreadPoolExecutor | None) -> None:
        steps = make_steps(problem, hub, h, grid, plan[h], twin)
        for k, pool in enumerate(plan[h]):
            stride[h, list(pool)] = steps.strides[k]
        out = values[start[h] : start[h + 1]]
        numbers = np.arange(counts[h])[::-1].copy()
        if threads is None:
            twin.solve(steps, numbers, exact, MAX_ROUNDS, N_SWEEPS, out)
            return
        bought = sum(
            (numbers // s % (size + 1) for s, size in zip(steps.strides, steps.sizes, strict=True)),
            start=np.zeros_like(numbers),
        )
        for n in range(int(bought.max()), -1, -1):
            level = numbers[bought == n]
            parts = np.array_split(level, min(len(level), 4 * MAX_THREADS))
            list(
                threads.map(
                    lambda part: twin.solve(steps, part, exact, MAX_ROUNDS, N_SWEEPS, out), parts
                )
            )

    if engine == "python" or (os.cpu_count() or 1) == 1:
        for h in range(n_hub):
            run(h, None)
    else:
        with ThreadPoolExecutor(MAX_THREADS) as threads:
            if n_hub >= 4 * MAX_THREADS:
                list(threads.map(lambda h: run(h, None), range(n_hub)))
            else:
                for h in range(n_hub):
                    run(h, threads)
    tables = RepeatTables(
        hub.prior, hub.likelihood, stride, start[:-1].copy(), grid, values
    )  # fmt: skip
    names = tuple(problem.network.names[v] for v in hub.nodes)
    return RepeatBound(tables, names, tuple(map(len, plan)), time.monotonic() - begin, engine)


def empty_tables(n_features: int) -> RepeatTables:
    """Return tables of no bound: 0 at every state."""
    return RepeatTables(
        np.empty((0, 0)), np.empty((n_features, 0, 0, 0)), np.empty((0, n_features), np.int64),
        np.empty(0, np.int64), make_grid(np.array([0.0, 1.0]), 2), np.empty(0),
    )  # fmt: skip


def twin_of(engine: str) -> ModuleType:
    """Return an engine's module with `solve`, `belief_at`, `lower_at` and `lower_after`."""
    if engine == "python":
        return sys.modules[__name__]
    from voilattice.compiled import repeats

    return repeats


# -- the readable twin


def follow(
    grid: BeliefGrid, likelihood: Floats, corners: NDArray[np.int32], weights: Floats
) -> None:
    """Write where each value of each feature leads from each grid point: [i, j, g]."""
    joint = grid.points * likelihood[:, :, None, :]  # [i, x, g, y]
    mass = joint.sum(axis=-1, keepdims=True)
    belief = np.divide(joint, mass, out=np.zeros_like(joint), where=mass > 0)
    place, share = locate(grid, belief)  # [k, i, x, g]
    corners[:] = place.transpose(1, 2, 0, 3).reshape(corners.shape)
    weights[:] = (share * mass[..., 0]).transpose(1, 2, 0, 3).reshape(weights.shape)


def solve(
    steps: RepeatSteps, counts: Ints, tolerance: float, max_rounds: int, n_sweeps: int, out: Floats
) -> None:
    """Write W(m, .) for each m of `counts`; what buying from a pool leads to must be solved."""
    n_points = len(steps.risk)
    table = out.reshape(-1, n_points)
    every = np.arange(n_points)
    unlimited = np.flatnonzero(steps.pools < 0)
    cheapest = steps.prices[unlimited].min(initial=np.inf)
    for m in counts.tolist():
        prices = _prices(steps, m)
        left = m // steps.strides % (steps.sizes + 1) < steps.sizes
        base = upper = steps.risk
        for i in np.flatnonzero(steps.pools >= 0):
            if left[pool := steps.pools[i]]:
                below = table[m + steps.strides[pool]]
                base = np.minimum(base, prices[i] + _expect(steps, below)[i])
                upper = np.minimum(upper, below)
        if not len(unlimited):
            table[m] = base
            continue
        upper = np.minimum(upper, base)
        for _ in range(max_rounds):
            through = prices[unlimited, None] + _expect(steps, upper)[unlimited]
            after = np.minimum(base, through.min(axis=0))
            act = unlimited[through.argmin(axis=0)]
            worst = max(float((upper - after).max()), 0.0)
            if worst <= tolerance:
                break
            upper, buys = after, after < base
            for _ in range(n_sweeps):
                before = upper
                step = np.minimum(base, prices[act] + _expect(steps, upper)[act, every])
                upper = np.where(buys, step, before)
                if np.abs(upper - before).max() <= 0.5 * tolerance:
                    break
        table[m] = after * (cheapest / (cheapest + worst))


def _expect(steps: RepeatSteps, below: Floats) -> Floats:
    """Return E W(b') after each feature at each grid point."""
    result: Floats = (steps.weights * below[steps.corners]).sum(axis=1)
    return result


def _prices(steps: RepeatSteps, m: int) -> Floats:
    """Return the least price of each feature when m was bought."""
    bought = m // steps.strides % (steps.sizes + 1) > 0
    paid = (steps.group_pools.astype(bool) & bought).any(axis=1)
    due = np.append(np.where(paid, 0.0, steps.overheads), 0.0)  # the last: no group
    result: Floats = steps.prices + due[steps.group_of]
    return result


def belief_at(tables: RepeatTables, known: Ints, q: Floats, at: Ints) -> None:
    """Write q[h, y] = P(y, h, e) and the number m of the counts for each h.

    `known` gives the value of each feature, or -1.
    """
    q[:], at[:] = tables.prior, 0
    for i in np.flatnonzero(known >= 0).tolist():
        belief_after(tables, q, at, i, int(known[i]), q, at)


def belief_after(
    tables: RepeatTables, q: Floats, at: Ints, i: int, x: int, q_after: Floats, at_after: Ints
) -> None:
    """Write what `belief_at` writes for a state with feature i = x known as well."""
    at_after[:] = at + tables.stride[:, i]
    q_after[:] = q * tables.likelihood[i, x]


def lower_at(tables: RepeatTables, q: Floats, at: Ints) -> tuple[float, float]:
    """Return the bound at a state times P(e), and P(e)."""
    mass = q.sum(axis=1)
    there = np.flatnonzero(mass > 0)
    corners, weights = locate(tables.grid, q[there] / mass[there, None])
    base = tables.start[there] + at[there] * len(tables.grid.points)
    lower = (weights * tables.values[base + corners]).sum(axis=0) @ mass[there]
    return float(lower), float(mass.sum())


def lower_after(tables: RepeatTables, q: Floats, at: Ints, i: int, x: int) -> tuple[float, float]:
    """Return the bound at the state with i = x known as well, times P(e, x), and P(e, x)."""
    q_after, at_after = np.empty_like(q), np.empty_like(at)
    belief_after(tables, q, at, i, x, q_after, at_after)
    return lower_at(tables, q_after, at_after)
