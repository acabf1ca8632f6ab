"""The compiled twin of `optimal.search.bounds.reveal`: plain tables of many values side by side."""

from __future__ import annotations

import numpy as np

from voilattice.compiled.arrays import DigitPrices, Floats, Ints
from voilattice.compiled.kernels import kernel

__all__ = ["solve_values"]


@kernel()
def solve_values(
    joint: Floats,
    first: int,
    sizes: Ints,
    prices: DigitPrices,
    cost: Floats,
    parts: Floats,
    out: Floats,
) -> None:
    """Write V of all states, for the values of the revealed features from `first` on.

    The values lie side by side, so that each step runs over contiguous numbers.

    Parameters
    ----------
    joint
        P(Y, revealed, others), [class, value, cell].
    parts
        Room for P(y, e) of all states, [state, class, value], for as many values as are solved.
    out
        V, [state, value], for all values.
    """
    n, m, width = sizes.shape[0], joint.shape[0], min(parts.shape[2], out.shape[1] - first)
    steps, cell_steps = np.ones(n, np.int64), np.ones(n, np.int64)
    for i in range(n - 2, -1, -1):
        steps[i] = steps[i + 1] * (sizes[i + 1] + 1)
        cell_steps[i] = cell_steps[i + 1] * sizes[i + 1]
    digits = np.zeros(n, np.int64)
    mass, total = np.empty(width), np.empty(width)
    n_groups = 0
    for i in range(n):
        n_groups = max(n_groups, prices.group_of[i] + 1)
    is_paid = np.empty(n_groups, np.bool_)
    last = first + width
    for s in range(out.shape[0]):
        best = out[s, first:last]
        unknown, cell = -1, 0
        for i in range(n):
            if digits[i] == sizes[i]:
                unknown = i
            else:
                cell += digits[i] * cell_steps[i]
        for x in range(width):
            mass[x] = 0.0
        for y in range(m):
            if unknown < 0:
                for x in range(width):
                    parts[s, y, x] = joint[y, first + x, cell]
            else:
                child = s - sizes[unknown] * steps[unknown]
                for x in range(width):
                    parts[s, y, x] = parts[child, y, x]
                for _ in range(1, sizes[unknown]):
                    child += steps[unknown]
                    for x in range(width):
                        parts[s, y, x] += parts[child, y, x]
            for x in range(width):
                mass[x] += parts[s, y, x]
        for d in range(cost.shape[0]):
            for x in range(width):
                total[x] = 0.0
            for y in range(m):
                c = cost[d, y]
                if c != 0.0:
                    for x in range(width):
                        total[x] += c * parts[s, y, x]
            for x in range(width):
                if d == 0 or total[x] < best[x]:
                    best[x] = total[x]
        is_paid[:] = False
        for i in range(n):
            if prices.group_of[i] >= 0 and digits[i] < sizes[i]:
                is_paid[prices.group_of[i]] = True
        for i in range(n):
            if digits[i] < sizes[i]:
                continue
            at = prices.starts[i]
            for d in range(n):
                at += prices.steps[i, d] * digits[d]
            price = prices.own[at]
            if prices.group_of[i] >= 0 and not is_paid[prices.group_of[i]]:
                price += prices.surcharge[i]
            for x in range(width):
                total[x] = price * mass[x]
            child = s - sizes[i] * steps[i]
            for _ in range(sizes[i]):
                after = out[child, first:last]
                for x in range(width):
                    total[x] += after[x]
                child += steps[i]
            for x in range(width):
                best[x] = min(best[x], total[x])
        for i in range(n - 1, -1, -1):
            digits[i] += 1
            if digits[i] <= sizes[i]:
                break
            digits[i] = 0
