"""The values W of the bound "once or repeatedly" (`repeats`), and the bound at a state.

With m the counts of what was bought and b a belief over Y,

    W(m, b) = min( rho(b),  min_i c_i + sum_x P(x | b) W(m + pool of i, b after x) ),

at the points of a grid. `follow` finds where each result leads, `solve` is the recursion.
`belief_at`, `lower_at` and `lower_after` are the bound at a state. `compiled.repeats` is the
compiled twin of all of them, and can be used in kernels.
"""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import BeliefGrid, Floats, Ints, RepeatSteps, RepeatTables
from voilattice.optimal.search.bounds.beliefs import locate

__all__ = [
    "belief_after",
    "belief_at",
    "follow",
    "lower_after",
    "lower_at",
    "solve",
    "twin_of",
]


def twin_of(engine: str) -> ModuleType:
    """Return an engine's module with `solve`, `belief_at`, `lower_at` and `lower_after`."""
    if engine == "python":
        return sys.modules[__name__]
    from voilattice.compiled import repeats

    return repeats


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
    enough = tolerance * cheapest
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
        for n_left in range(max_rounds - 1, -1, -1):
            through = prices[unlimited, None] + _expect(steps, upper)[unlimited]
            after = np.minimum(base, through.min(axis=0))
            act = unlimited[through.argmin(axis=0)]
            worst = max(float((upper - after).max()), 0.0)
            if worst <= enough or not n_left:
                break
            upper, buys = after, after < base
            for _ in range(n_sweeps):
                before = upper
                step = np.minimum(base, prices[act] + _expect(steps, upper)[act, every])
                upper = np.where(buys, step, before)
                if np.abs(upper - before).max() <= 0.5 * enough:
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
    is_due = np.append(~paid, False)[steps.group_of]  # the last: no group
    result: Floats = steps.prices + np.where(is_due, steps.surcharges, 0.0)
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
