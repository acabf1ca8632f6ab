"""The compiled twin of `optimal.exact.bellman`: the recursion over blocks of states."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import BlockLayout, Floats, Ints, Prices, StateTables
from voilattice.compiled.kernels import inner, kernel, part

__all__ = ["choose", "mark", "measure_gains", "solve"]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel()
def mark(wanted: NDArray[np.uint8], layout: BlockLayout, prices: Prices) -> None:
    """Mark the blocks that a policy can reach from marked ones; children come after parents."""
    for b in range(wanted.shape[0]):
        if wanted[b]:
            for t in range(layout.first[b], layout.first[b + 1]):
                if prices.least[t] < prices.scale * prices.gain[b]:
                    wanted[layout.child[t]] = 1


@kernel()
def measure_gains(layout: BlockLayout, tables: StateTables, free: Floats, out: Floats) -> None:
    """Write G of each block: the most that free information reduces the risk in any state."""
    for b in range(layout.start.shape[0]):
        most = 0.0
        for k in range(layout.cells[b]):
            p = tables.mass[tables.at[b] + k]
            if p > 0.0:
                risk = tables.risk[tables.at[b] + k]
                most = max(most, (risk - free[layout.start[b] + k]) / p)
        out[b] = most


@kernel()
def solve(
    blocks: Ints,
    layout: BlockLayout,
    tables: StateTables,
    prices: Prices,
    value: Floats,
    below: Floats,
) -> None:
    """Write V of every state of the blocks; V of their children is read in `below`."""
    room, wheels = (
        np.empty(_largest(blocks, layout)),
        np.empty((5, layout.sizes.shape[0]), np.int64),
    )
    for b in blocks:
        n = layout.cells[b]
        here = value[layout.start[b] : layout.start[b] + n]
        risk = tables.risk[tables.at[b] : tables.at[b] + n]
        for k in range(n):
            here[k] = prices.scale * risk[k]
        for t in range(layout.first[b], layout.first[b + 1]):
            if prices.least[t] < prices.scale * prices.gain[b]:
                _acquire(b, t, layout, tables, prices, below, here, room, wheels)


@kernel()
def choose(
    blocks: Ints,
    layout: BlockLayout,
    tables: StateTables,
    prices: Prices,
    value: Floats,
    below: Floats,
    choice: NDArray[np.int8],
    tolerance: float,
) -> None:
    """Write, for every state, the step of its block that reaches V, or -1: decide."""
    most = _largest(blocks, layout)
    room, wheels = np.empty(most), np.empty((5, layout.sizes.shape[0]), np.int64)
    total, cheapest = np.empty(most), np.empty(most)
    for b in blocks:
        n = layout.cells[b]
        here = value[layout.start[b] : layout.start[b] + n]
        chosen = choice[layout.start[b] : layout.start[b] + n]
        p = tables.mass[tables.at[b] : tables.at[b] + n]
        risk = tables.risk[tables.at[b] : tables.at[b] + n]
        chosen[:] = -1
        cheapest[:n] = np.inf
        for t in range(layout.first[b], layout.first[b + 1]):
            if prices.least[t] < prices.scale * prices.gain[b]:
                total[:n] = np.inf
                _acquire(b, t, layout, tables, prices, below, total, room, wheels)
                for k in range(n):
                    now = prices.scale * risk[k]
                    slack = tolerance * max(p[k], now)
                    if now > here[k] + slack and total[k] <= here[k] + slack:
                        price = _price(b, t, k, layout, prices)
                        if price * p[k] < cheapest[k] * p[k] - slack:
                            cheapest[k] = price
                            chosen[k] = t - layout.first[b]


@part()
def _largest(blocks: Ints, layout: BlockLayout) -> Any:
    """Return the number of states of the largest block."""
    most = 1
    for b in blocks:
        most = max(most, layout.cells[b])
    return most


@inner()
def _price(b: int, t: int, k: int, layout: BlockLayout, prices: Prices) -> Any:
    """Return what step t costs in state k of block b."""
    mask = prices.masks[prices.of[t]]
    place, step, left = 0, 1, k
    if mask:
        for a in range(layout.sizes.shape[0] - 1, -1, -1):
            bit = _ONE << np.uint64(a)
            if layout.kept[b] & bit:
                if mask & bit:
                    place += step * (left % layout.sizes[a])
                    step *= layout.sizes[a]
                left //= layout.sizes[a]
    return prices.own[prices.starts[prices.of[t]] + place] + prices.surcharge[t]


@part()
def _acquire(
    b: int,
    t: int,
    layout: BlockLayout,
    tables: StateTables,
    prices: Prices,
    value: Floats,
    out: Floats,
    room: Floats,
    wheels: Ints,
) -> None:
    """Write what step t and all later steps cost in every state of block b.

    With `lowers`, write a cost only if it is less than the value in `out`. (Callers pass a
    constant, and this function is inlined, so the inner loops do not test it.) `room` and `wheels`
    are work space.
    """
    m = layout.sizes.shape[0]
    sizes, kept, c, i = layout.sizes, layout.kept[b], layout.child[t], layout.axis[t]
    n, size = layout.cells[b], layout.sizes[i]
    below, below_kept = value[layout.start[c] : layout.start[c] + layout.cells[c]], layout.kept[c]
    p = tables.mass[tables.at[b] : tables.at[b] + n]
    price_mask = prices.masks[prices.of[t]]
    if tables.factor_of[t] < 0 and price_mask == _ZERO:
        stride: Any = np.int64(1)
        for a in range(i + 1, m):
            if kept >> np.uint64(a) & _ONE:
                stride *= sizes[a]
        _sum_children(out, p, below, prices.own[prices.starts[prices.of[t]]]
                      + prices.surcharge[t], n, size, stride)  # fmt: skip
        return
    length, step_child, step_factor, step_price, count = wheels
    factor_mask, factor = _ZERO, tables.factors
    if tables.factor_of[t] >= 0:
        factor_mask = tables.factor_masks[tables.factor_of[t]]
        factor = tables.factors[tables.factor_starts[tables.factor_of[t]] :]
    price_table = prices.own[prices.starts[prices.of[t]] :]
    involved = factor_mask | price_mask
    # Starting at the fastest axis: a run without axes of a factor or price, then an odometer.
    stride, child_step, factor_step, price_step, n_slow = 1, 1, 1, 1, 0
    x_child, x_factor = 0, 0
    in_run = True
    for a in range(m - 1, -1, -1):
        bit = _ONE << np.uint64(a)
        if a == i:
            in_run = False
            if below_kept & bit:
                x_child = child_step
            if factor_mask & bit:
                x_factor = factor_step
        elif kept & bit:
            if in_run and not involved & bit:
                stride *= sizes[a]
            else:
                in_run = False
                length[n_slow] = sizes[a]
                step_child[n_slow] = child_step if below_kept & bit else 0
                step_factor[n_slow] = factor_step if factor_mask & bit else 0
                step_price[n_slow] = price_step if price_mask & bit else 0
                count[n_slow] = 0
                n_slow += 1
        if below_kept & bit:
            child_step *= sizes[a]
        if factor_mask & bit:
            factor_step *= sizes[a]
        if price_mask & bit:
            price_step *= sizes[a]
    at_child, at_factor, at_price = 0, 0, 0
    surcharge = prices.surcharge[t]
    one = factor_mask == _ZERO
    for o in range(n // stride):
        price = price_table[at_price] + surcharge
        base = o * stride
        if size == 2:
            w = 1.0 if one else factor[at_factor]
            v = 1.0 if one else factor[at_factor + x_factor]
            low = below[at_child : at_child + stride]
            high = below[at_child + x_child : at_child + x_child + stride]
            for k in range(stride):
                q = price * p[base + k] + w * low[k] + v * high[k]
                out[base + k] = min(out[base + k], q)
        else:
            for k in range(stride):
                room[k] = price * p[base + k]
            for x in range(size):
                w = 1.0 if one else factor[at_factor + x * x_factor]
                more = below[at_child + x * x_child : at_child + x * x_child + stride]
                for k in range(stride):
                    room[k] += w * more[k]
            for k in range(stride):
                out[base + k] = min(out[base + k], room[k])
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


@part()
def _sum_children(
    out: Floats, p: Floats, below: Floats, price: float, n: int, size: int, stride: int
) -> None:
    """Write the cost of a step that forgets nothing: sum the new axis out."""
    if stride == 1 and size == 2:
        for k in range(n):
            q = price * p[k] + below[2 * k] + below[2 * k + 1]
            out[k] = min(out[k], q)
        return
    for o in range(n // stride):
        base = o * stride
        if size == 2:
            low = below[2 * base : 2 * base + stride]
            high = below[2 * base + stride : 2 * base + 2 * stride]
            for k in range(stride):
                q = price * p[base + k] + low[k] + high[k]
                out[base + k] = min(out[base + k], q)
        else:
            for k in range(stride):
                q = price * p[base + k]
                for x in range(size):
                    q += below[(o * size + x) * stride + k]
                out[base + k] = min(out[base + k], q)
