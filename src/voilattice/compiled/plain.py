"""The compiled twin of `optimal.exact.plain`: the recursion over a plain table of all states."""

from __future__ import annotations

import numpy as np

from voilattice.compiled.arrays import DigitPrices, Floats, Ints, PlainLayout
from voilattice.compiled.kernels import copy, inner, kernel, part

__all__ = ["solve_tiles"]


@kernel()
def solve_tiles(
    tiles: Ints,
    layout: PlainLayout,
    prices: DigitPrices,
    joint: Floats,
    cost: Floats,
    value: Floats,
    mass: Floats,
) -> None:
    """Write V of every state of the tiles; the tiles of their children must be solved already.

    `joint` is P(Y, features), a row for each class. P(e) is written to `mass` unless it is empty.
    """
    sizes, n, a, b = layout.sizes, layout.sizes.shape[0], layout.n_slow, layout.n_outer
    n_classes, n_states = joint.shape[0], layout.tile_states
    parts = np.empty((n_classes, n_states))  # P(y, e) of a tile
    p, room = np.empty(n_states), np.empty(n_states)
    digits, steps = np.empty(n, np.int64), np.ones(n, np.int64)
    base, surcharge = np.empty(n, np.int64), np.empty(n)
    flat = np.empty(n)  # the price of a digit if it is the same in the whole tile, else -1
    for i in range(n - 2, -1, -1):
        steps[i] = steps[i + 1] * (sizes[i + 1] + 1)
    for tile in tiles:
        left = tile
        for i in range(a - 1, -1, -1):
            digits[i] = left % (sizes[i] + 1)
            left //= sizes[i] + 1
        start = tile * n_states
        here = value[start : start + n_states]
        _fill(digits, layout, joint, parts)
        _decide(parts, cost, p, here, room)
        if mass.shape[0]:
            copy(p, mass[start : start + n_states])
        _price_tile(digits, layout, prices, base, surcharge, flat)
        for i in range(a):
            if digits[i] == sizes[i]:
                _acquire(
                    i, np.int64(0), n_states, start - sizes[i] * steps[i], steps[i], layout, prices,
                    base[i], surcharge[i], flat[i], value, p, here, room,
                )  # fmt: skip
        for row in range(n_states // layout.row_states):
            first = row * layout.row_states
            left = row
            for i in range(b - 1, a - 1, -1):
                if left % (sizes[i] + 1) == sizes[i]:
                    _acquire(
                        i, first, layout.row_states, start + first - sizes[i] * steps[i],
                        steps[i], layout, prices, base[i], surcharge[i], flat[i],
                        value, p, here, room,
                    )  # fmt: skip
                left //= sizes[i] + 1
            # Inside a row, states depend on each other: one state after the other, ascending.
            for k in range(layout.row_axis.shape[0]):
                i, t = layout.row_axis[k], first + layout.row_state[k]
                price = flat[i]
                if price < 0.0:
                    price = prices.own[base[i] + layout.place[i, t]]
                    price += surcharge[i] * layout.is_open[i, t]
                q = price * p[t]
                child = t - sizes[i] * steps[i]
                for _ in range(sizes[i]):
                    q += here[child]
                    child += steps[i]
                here[t] = min(here[t], q)


@inner()
def _fill(digits: Ints, layout: PlainLayout, joint: Floats, parts: Floats) -> None:
    """Write P(y, e) of every state of a tile: sum slow unknown digits out, then expand."""
    sizes, n, a = layout.sizes, layout.sizes.shape[0], layout.n_slow
    cells = 1
    for i in range(a, n):
        cells *= sizes[i]
    # An odometer over the values of the unknown slow digits.
    count = np.zeros(a, np.int64)
    step = np.empty(a, np.int64)
    at, inner = 0, cells
    for i in range(a - 1, -1, -1):
        step[i] = inner
        if digits[i] < sizes[i]:
            at += digits[i] * inner
        inner *= sizes[i]
    n_terms = 1
    for i in range(a):
        if digits[i] == sizes[i]:
            n_terms *= sizes[i]
    for term in range(n_terms):
        for j in range(joint.shape[0]):
            more, into = joint[j, at : at + cells], parts[j, :cells]
            if term == 0:
                for k in range(cells):
                    into[k] = more[k]
            else:
                for k in range(cells):
                    into[k] += more[k]
        for i in range(a - 1, -1, -1):
            if digits[i] == sizes[i]:
                count[i] += 1
                at += step[i]
                if count[i] < sizes[i]:
                    break
                count[i] = 0
                at -= sizes[i] * step[i]
    for j in range(joint.shape[0]):
        outer, faster = cells, np.int64(1)
        for i in range(n - 1, a - 1, -1):
            outer //= sizes[i]
            _expand(parts[j], outer, sizes[i], faster)
            faster *= sizes[i] + 1


@inner()
def _expand(table: Floats, outer: int, size: int, inner: int) -> None:
    """Turn ``table[outer, size, inner]`` into ``[outer, size + 1, inner]``, in place.

    The new last entry of the middle axis is the sum of the others. Going backwards, nothing is
    written over before it is read.
    """
    for o in range(outer - 1, -1, -1):
        old, new = o * size * inner, o * (size + 1) * inner
        total = table[new + size * inner : new + (size + 1) * inner]
        # The place of the sum may hold entries of this run that are still to be moved.
        for v in range(size - 1, -1, -1):
            source = table[old + v * inner : old + (v + 1) * inner]
            target = table[new + v * inner : new + (v + 1) * inner]
            if o:
                for k in range(inner):
                    target[k] = source[k]
        for k in range(inner):
            total[k] = table[new + k]
        for v in range(1, size):
            more = table[new + v * inner : new + (v + 1) * inner]
            for k in range(inner):
                total[k] += more[k]


@inner()
def _decide(parts: Floats, cost: Floats, p: Floats, out: Floats, room: Floats) -> None:
    """Write P(e), and the risk of the best decision min_d sum_j c_dj P(y_j, e)."""
    n_decisions, n_classes = cost.shape
    n = p.shape[0]
    if n_classes == 2 and n_decisions == 2:
        first, second = parts[0], parts[1]
        c00, c01, c10, c11 = cost[0, 0], cost[0, 1], cost[1, 0], cost[1, 1]
        for k in range(n):
            p[k] = first[k] + second[k]
            out[k] = min(c00 * first[k] + c01 * second[k], c10 * first[k] + c11 * second[k])
        return
    copy(parts[0], p)
    for j in range(1, n_classes):
        more = parts[j]
        for k in range(n):
            p[k] += more[k]
    for d in range(n_decisions):
        for k in range(n):
            room[k] = cost[d, 0] * parts[0, k]
        for j in range(1, n_classes):
            more, c = parts[j], cost[d, j]
            for k in range(n):
                room[k] += c * more[k]
        if d == 0:
            copy(room, out)
        else:
            for k in range(n):
                out[k] = min(out[k], room[k])


@inner()
def _price_tile(
    digits: Ints,
    layout: PlainLayout,
    prices: DigitPrices,
    base: Ints,
    surcharge: Floats,
    flat: Floats,
) -> None:
    """Write what the slow digits of a tile say about each price."""
    n, a = layout.sizes.shape[0], layout.n_slow
    for i in range(n):
        base[i] = prices.starts[i]
        for d in range(a):
            base[i] += prices.steps[i, d] * digits[d]
        g = prices.group_of[i]
        surcharge[i] = 0.0
        if g >= 0:
            surcharge[i] = prices.surcharge[i]
            for d in range(a):
                if prices.group_of[d] == g and digits[d] < layout.sizes[d]:
                    surcharge[i] = 0.0
        flat[i] = -1.0
        if not layout.place_varies[i] and not (layout.open_varies[i] and surcharge[i] > 0.0):
            flat[i] = prices.own[base[i]] + surcharge[i]


@part()
def _acquire(
    i: int,
    first: int,
    length: int,
    child: int,
    step: int,
    layout: PlainLayout,
    prices: DigitPrices,
    base: int,
    surcharge: float,
    flat: float,
    value: Floats,
    p: Floats,
    here: Floats,
    room: Floats,
) -> None:
    """Lower V of a run of states to what acquiring digit i and all later steps cost.

    The run begins at `first` in the tile, and its children for value v at ``child + v * step``.
    """
    out, mass = here[first : first + length], p[first : first + length]
    size = layout.sizes[i]
    if flat >= 0.0 and size == 2:
        low, high = value[child : child + length], value[child + step : child + step + length]
        for k in range(length):
            out[k] = min(out[k], flat * mass[k] + low[k] + high[k])
        return
    if flat >= 0.0:
        for k in range(length):
            room[k] = flat * mass[k]
    else:
        place, is_open = layout.place[i], layout.is_open[i]
        for k in range(length):
            price = prices.own[base + place[first + k]] + surcharge * is_open[first + k]
            room[k] = price * mass[k]
    for v in range(size):
        below = value[child + v * step : child + v * step + length]
        for k in range(length):
            room[k] += below[k]
    for k in range(length):
        out[k] = min(out[k], room[k])
