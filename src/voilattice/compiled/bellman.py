"""The compiled twin of `policy.optimal.bellman`: the recursion over blocks of states."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["gains", "mark", "solve"]

Masks = NDArray[np.uint64]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@njit(cache=True, nogil=True)
def mark(
    wanted: NDArray[np.uint8],
    first: Ints,
    child: Ints,
    least_price: Floats,
    gain: Floats,
    scale: float,
) -> None:
    """Mark the blocks that a policy can get to from those marked; children stand behind."""
    for b in range(wanted.shape[0]):
        if wanted[b]:
            for t in range(first[b], first[b + 1]):
                if least_price[t] < scale * gain[b]:
                    wanted[child[t]] = 1


@njit(cache=True, nogil=True)
def gains(
    start: Ints, cells: Ints, table: Ints, risk: Floats, mass: Floats, free: Floats, out: Floats
) -> None:
    """Write the most that free information takes off the risk, in any state of each block."""
    for b in range(start.shape[0]):
        most = 0.0
        for k in range(cells[b]):
            p = mass[table[b] + k]
            if p > 0.0:
                most = max(most, (risk[table[b] + k] - free[start[b] + k]) / p)
        out[b] = most


@njit(cache=True, nogil=True)
def solve(
    blocks: Ints,
    first: Ints,
    axis: Ints,
    child: Ints,
    kept: Masks,
    start: Ints,
    cells: Ints,
    table: Ints,
    sizes: Ints,
    risk: Floats,
    mass: Floats,
    scale: float,
    least_price: Floats,
    gain: Floats,
    surcharge: Floats,
    price_of: Ints,
    price_masks: Masks,
    price_starts: Ints,
    prices: Floats,
    factor_of: Ints,
    factor_masks: Masks,
    factor_starts: Ints,
    factors: Floats,
    value: Floats,
) -> None:
    """Write the optimal cost-to-go of every state of the blocks, whose children are done."""
    m = sizes.shape[0]
    length = np.empty(m, np.int64)
    step_child = np.empty(m, np.int64)
    step_factor = np.empty(m, np.int64)
    step_price = np.empty(m, np.int64)
    count = np.empty(m, np.int64)
    most = 1
    for b in blocks:
        most = max(most, cells[b])
    total = np.empty(most)
    for b in blocks:
        n = cells[b]
        here = value[start[b] : start[b] + n]
        p = mass[table[b] : table[b] + n]
        r = risk[table[b] : table[b] + n]
        for k in range(n):
            here[k] = scale * r[k]
        for t in range(first[b], first[b + 1]):
            if least_price[t] >= scale * gain[b]:
                continue
            i = axis[t]
            size = sizes[i]
            c = child[t]
            below = value[start[c] : start[c] + cells[c]]
            price_mask = price_masks[price_of[t]]
            if factor_of[t] < 0 and price_mask == _ZERO:
                price = prices[price_starts[price_of[t]]] + surcharge[t]
                inner = 1
                for a in range(i + 1, m):
                    if kept[b] >> np.uint64(a) & _ONE:
                        inner *= sizes[a]
                _take(here, p, below, price, size, inner)
                continue
            factor_mask, factor = _ZERO, factors
            if factor_of[t] >= 0:
                factor_mask = factor_masks[factor_of[t]]
                factor = factors[factor_starts[factor_of[t]] :]
            price_table = prices[price_starts[price_of[t]] :]
            involved = factor_mask | price_mask
            # From the fastest axis on: a run that no factor or price touches, then an odometer.
            inner, child_step, factor_step, price_step, n_slow = 1, 1, 1, 1, 0
            x_child, x_factor = 0, 0
            in_run = True
            for a in range(m - 1, -1, -1):
                bit = _ONE << np.uint64(a)
                if a == i:
                    in_run = False
                    if kept[c] & bit:
                        x_child = child_step
                    if factor_mask & bit:
                        x_factor = factor_step
                elif kept[b] & bit:
                    if in_run and not involved & bit:
                        inner *= sizes[a]
                    else:
                        in_run = False
                        length[n_slow] = sizes[a]
                        step_child[n_slow] = child_step if kept[c] & bit else 0
                        step_factor[n_slow] = factor_step if factor_mask & bit else 0
                        step_price[n_slow] = price_step if price_mask & bit else 0
                        count[n_slow] = 0
                        n_slow += 1
                if kept[c] & bit:
                    child_step *= sizes[a]
                if factor_mask & bit:
                    factor_step *= sizes[a]
                if price_mask & bit:
                    price_step *= sizes[a]
            at_child, at_factor, at_price = 0, 0, 0
            one = factor_mask == _ZERO
            for o in range(n // inner):
                price = price_table[at_price] + surcharge[t]
                base = o * inner
                if size == 2:
                    w = 1.0 if one else factor[at_factor]
                    v = 1.0 if one else factor[at_factor + x_factor]
                    low = below[at_child : at_child + inner]
                    high = below[at_child + x_child : at_child + x_child + inner]
                    for k in range(inner):
                        q = price * p[base + k] + w * low[k] + v * high[k]
                        here[base + k] = min(here[base + k], q)
                else:
                    for k in range(inner):
                        total[k] = price * p[base + k]
                    for x in range(size):
                        w = 1.0 if one else factor[at_factor + x * x_factor]
                        more = below[at_child + x * x_child : at_child + x * x_child + inner]
                        for k in range(inner):
                            total[k] += w * more[k]
                    for k in range(inner):
                        here[base + k] = min(here[base + k], total[k])
                for s in range(n_slow):
                    count[s] += 1
                    at_child += step_child[s]
                    at_factor += step_factor[s]
                    at_price += step_price[s]
                    if count[s] < length[s]:
                        break
                    count[s] = 0
                    at_child -= length[s] * step_child[s]
                    at_factor -= length[s] * step_factor[s]
                    at_price -= length[s] * step_price[s]


@njit(cache=True, nogil=True, inline="always")
def _take(here: Floats, p: Floats, below: Floats, price: float, size: int, inner: int) -> None:
    """Lower `here` to what acquiring costs, where nothing is forgotten: sum the new axis out."""
    n = here.shape[0]
    if inner == 1 and size == 2:
        for k in range(n):
            here[k] = min(here[k], price * p[k] + below[2 * k] + below[2 * k + 1])
        return
    for o in range(n // inner):
        base = o * inner
        if size == 2:
            low = below[2 * base : 2 * base + inner]
            high = below[2 * base + inner : 2 * base + 2 * inner]
            for k in range(inner):
                here[base + k] = min(here[base + k], price * p[base + k] + low[k] + high[k])
        else:
            for k in range(inner):
                q = price * p[base + k]
                for x in range(size):
                    q += below[(o * size + x) * inner + k]
                here[base + k] = min(here[base + k], q)
