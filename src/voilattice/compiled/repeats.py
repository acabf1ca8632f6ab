"""The compiled twin of `optimal.search.bounds.repeat_values`: W, and the bound at a state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import (
    BeliefGrid,
    Floats,
    Ints,
    RepeatSteps,
    RepeatTables,
)
from voilattice.compiled.kernels import copy, inner, kernel, part

__all__ = ["belief_after", "belief_at", "follow", "lower_after", "lower_at", "solve"]


@kernel()
def belief_at(tables: RepeatTables, known: Ints, q: Floats, at: Ints) -> None:
    """Write q[h, y] = P(y, h, e) and the number m of the counts for each h.

    `known` gives the value of each feature, or -1. Own evidence of the problem counts as known
    whatever it says.
    """
    n_hub, n_classes = tables.prior.shape
    for h in range(n_hub):
        at[h] = 0
        for y in range(n_classes):
            q[h, y] = tables.prior[h, y]
    for i in range(known.shape[0]):
        if known[i] >= 0:
            belief_after(tables, q, at, i, known[i], q, at)


@kernel()
def belief_after(
    tables: RepeatTables, q: Floats, at: Ints, i: int, x: int, q_after: Floats, at_after: Ints
) -> None:
    """Write what `belief_at` writes for a state with feature i = x known as well."""
    n_hub, n_classes = tables.prior.shape
    for h in range(n_hub):
        at_after[h] = at[h] + tables.stride[h, i]
        for y in range(n_classes):
            q_after[h, y] = q[h, y] * tables.likelihood[i, x, h, y]


@kernel()
def lower_at(tables: RepeatTables, q: Floats, at: Ints) -> Any:
    """Return the bound at a state times P(e), and P(e)."""
    ones = np.ones(q.shape)
    none = np.zeros(q.shape[0], np.int64)
    return _lower(tables, q, at, ones, none)


@kernel()
def lower_after(tables: RepeatTables, q: Floats, at: Ints, i: int, x: int) -> Any:
    """Return the bound at the state with i = x known as well, times P(e, x), and P(e, x)."""
    return _lower(tables, q, at, tables.likelihood[i, x], tables.stride[:, i])


@part()
def _lower(tables: RepeatTables, q: Floats, at: Ints, likelihood: Floats, stride: Ints) -> Any:
    """Return the sum of W_h(m, b) P(e, h) over h, and P(e), after one more result."""
    # The fields are read once: inside the loop, that would take most of the time.
    start, values, grid = tables.start, tables.values, tables.grid
    knots, buckets, rank, n_points = grid.knots, grid.buckets, grid.rank, grid.points.shape[0]
    n_hub, n_classes = q.shape
    lower, mass = 0.0, 0.0
    for h in range(n_hub):
        p = 0.0
        for y in range(n_classes):
            p += q[h, y] * likelihood[h, y]
        if p <= 0.0:
            continue
        mass += p
        base = start[h] + (at[h] + stride[h]) * n_points
        if n_classes == 2:
            s = min(q[h, 1] * likelihood[h, 1] / p, 1.0)
            j = _cell(knots, buckets, s)
            u = (s - knots[j]) / (knots[j + 1] - knots[j])
            lower += p * (values[base + j] * (1.0 - u) + values[base + j + 1] * u)
        elif n_classes == 3:
            t = q[h, 2] * likelihood[h, 2]
            s = min((t + q[h, 1] * likelihood[h, 1]) / p, 1.0)
            t = min(t / p, 1.0)
            j, k = _cell(knots, buckets, s), _cell(knots, buckets, t)
            u = (s - knots[j]) / (knots[j + 1] - knots[j])
            v = (t - knots[k]) / (knots[k + 1] - knots[k])
            low = base + rank[0, j] + rank[1, k]
            high = base + rank[0, j + 1] + rank[1, k + 1]
            if u >= v:
                middle = base + rank[0, j + 1] + rank[1, k]
            else:
                middle = base + rank[0, j] + rank[1, k + 1]
            first, last = max(u, v), min(u, v)
            lower += p * (
                values[low] * (1.0 - first) + values[middle] * (first - last) + values[high] * last
            )
        else:
            lower += p * _interpolate(knots, buckets, rank, values, q, likelihood, h, p, base)
    return lower, mass


@inner()
def _interpolate(
    knots: Floats,
    buckets: Ints,
    rank: Ints,
    values: Floats,
    q: Floats,
    likelihood: Floats,
    h: int,
    mass: float,
    base: int,
) -> Any:
    """Return W_h(m, b) for any number of classes: a walk along the corners of a simplex."""
    n_classes = q.shape[1]
    place, s = base, 0.0
    for k in range(n_classes - 1, 0, -1):
        s += q[h, k] * likelihood[h, k]
        place += rank[k - 1, _cell(knots, buckets, min(s / mass, 1.0))]
    # The corners are visited without room for an order: the coordinates come from the largest
    # share of a cell to the smallest, and the lowest first among equals.
    total, above, last = 0.0, 2.0, -1
    previous = 1.0
    corner = values[place]
    for _ in range(n_classes - 1):
        s = 0.0
        share, chosen, step = -1.0, -1, 0
        for k in range(n_classes - 1, 0, -1):
            s += q[h, k] * likelihood[h, k]
            b = min(s / mass, 1.0)
            j = _cell(knots, buckets, b)
            u = (b - knots[j]) / (knots[j + 1] - knots[j])
            if (u < above or (u == above and k > last)) and u >= share:
                share, chosen, step = u, k, rank[k - 1, j + 1] - rank[k - 1, j]
        total += (previous - share) * corner
        place += step
        corner = values[place]
        previous, above, last = share, share, chosen
    return total + previous * corner


@part()
def _cell(knots: Floats, buckets: Ints, s: float) -> Any:
    """Return the last knot at or below s, but not the last of all."""
    j = buckets[int(s * (buckets.shape[0] - 1))]
    while j + 2 < knots.shape[0] and knots[j + 1] <= s:
        j += 1
    return j


@kernel()
def follow(
    grid: BeliefGrid, likelihood: Floats, corners: NDArray[np.int32], weights: Floats
) -> None:
    """Write where each value of each feature leads from each grid point: [i, j, g]."""
    n_points, n_classes = grid.points.shape
    d = n_classes - 1
    knots, rank = grid.knots, grid.rank
    u, cell, taken = np.empty(d), np.empty(d, np.int64), np.empty(d, np.bool_)
    for i in range(likelihood.shape[0]):
        for x in range(likelihood.shape[1]):
            for g in range(n_points):
                mass = 0.0
                for y in range(n_classes):
                    mass += grid.points[g, y] * likelihood[i, x, y]
                s, place = 0.0, 0
                for k in range(d - 1, -1, -1):
                    s += grid.points[g, k + 1] * likelihood[i, x, k + 1]
                    b = min(s / mass, 1.0) if mass > 0.0 else 0.0
                    cell[k] = _cell(knots, grid.buckets, b)
                    u[k] = (b - knots[cell[k]]) / (knots[cell[k] + 1] - knots[cell[k]])
                    place += rank[k, cell[k]]
                    taken[k] = False
                previous = 1.0
                for c in range(d):
                    chosen = -1
                    for k in range(d):
                        if not taken[k] and (chosen < 0 or u[k] > u[chosen]):
                            chosen = k
                    taken[chosen] = True
                    corners[i, x * n_classes + c, g] = place
                    weights[i, x * n_classes + c, g] = mass * (previous - u[chosen])
                    previous = u[chosen]
                    place += rank[chosen, cell[chosen] + 1] - rank[chosen, cell[chosen]]
                corners[i, x * n_classes + d, g] = place
                weights[i, x * n_classes + d, g] = mass * previous


@kernel()
def solve(
    steps: RepeatSteps, counts: Ints, tolerance: float, max_rounds: int, n_sweeps: int, out: Floats
) -> None:
    """Write W(m, .) for each m of `counts`; what buying from a pool leads to must be solved."""
    n, _, n_points = steps.weights.shape
    base, upper, after, acc = (
        np.empty(n_points), np.empty(n_points), np.empty(n_points), np.empty(n_points),
    )  # fmt: skip
    act = np.empty(n_points, np.int64)
    unlimited = np.flatnonzero(steps.pools < 0)
    cheapest = np.inf
    for k in unlimited:
        cheapest = min(cheapest, steps.prices[k])
    enough = tolerance * cheapest
    for m in counts:
        for g in range(n_points):
            base[g] = steps.risk[g]
            upper[g] = steps.risk[g]
        for i in range(n):
            pool = steps.pools[i]
            if pool < 0 or m // steps.strides[pool] % (steps.sizes[pool] + 1) >= steps.sizes[pool]:
                continue
            below = out[(m + steps.strides[pool]) * n_points :][:n_points]
            _expect(steps, i, _price(steps, i, m), below, acc)
            for g in range(n_points):
                base[g] = min(base[g], acc[g])
                upper[g] = min(upper[g], below[g])
        here = out[m * n_points : (m + 1) * n_points]
        if unlimited.shape[0] == 0:
            copy(base, here)
            continue
        for g in range(n_points):
            upper[g] = min(upper[g], base[g])
        worst = 0.0
        for n_left in range(max_rounds - 1, -1, -1):
            for g in range(n_points):
                after[g] = base[g]
                act[g] = -1
            for k in unlimited:
                _expect(steps, k, _price(steps, k, m), upper, acc)
                for g in range(n_points):
                    if acc[g] < after[g]:
                        after[g] = acc[g]
                        act[g] = k
            worst = 0.0
            for g in range(n_points):
                worst = max(worst, upper[g] - after[g])
            if worst <= enough or n_left == 0:
                break
            copy(after, upper)
            for _ in range(n_sweeps):
                moved = 0.0
                for g in range(n_points):
                    i = act[g]
                    after[g] = upper[g]
                    if i >= 0:
                        t = _price(steps, i, m)
                        for j in range(steps.n_corners[i]):
                            t += steps.weights[i, j, g] * upper[steps.corners[i, j, g]]
                        after[g] = min(base[g], t)
                        moved = max(moved, abs(after[g] - upper[g]))
                copy(after, upper)
                if moved <= 0.5 * enough:
                    break
        # A lower bound by the certificate of the module: T U, scaled down by the worst decrease.
        share = cheapest / (cheapest + worst) if worst > 0.0 else 1.0
        for g in range(n_points):
            here[g] = share * after[g]


@part()
def _expect(steps: RepeatSteps, i: int, price: float, below: Floats, out: Floats) -> None:
    """Write price + E W(b') at each grid point."""
    n_points = steps.weights.shape[2]
    for g in range(n_points):
        out[g] = price
    for j in range(steps.n_corners[i]):
        weights, corners = steps.weights[i, j], steps.corners[i, j]
        for g in range(n_points):
            out[g] += weights[g] * below[corners[g]]


@part()
def _price(steps: RepeatSteps, i: int, m: int) -> Any:
    """Return the least price of feature i when m was bought."""
    group = steps.group_of[i]
    if group >= 0:
        for pool in range(steps.strides.shape[0]):
            bought = m // steps.strides[pool] % (steps.sizes[pool] + 1)
            if steps.group_pools[group, pool] and bought:
                return steps.prices[i]
        return steps.prices[i] + steps.surcharges[i]
    return steps.prices[i]
