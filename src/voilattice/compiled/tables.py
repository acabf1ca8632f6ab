"""The compiled twin of `valuation.tables`: the tables of a trie of sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import Leaves
from voilattice.compiled.kernels import kernel, part

__all__ = ["expected_emc", "sum_out", "walk_trie"]

_ONE = np.uint64(1)


@part()
def sum_out(
    table: NDArray[np.float64],
    out: NDArray[np.float64],
    outer: int,
    size: int,
    inner: int,
) -> None:
    """Sum out the middle axis of ``table[outer, size, inner]``, into `out`.

    Half of all cells are summed in very short runs, when few features are undecided. The two most
    common lengths are written out, so that the compiler can vectorize many runs at once.
    """
    if size == 2 and inner == 2:
        for o in range(outer):
            out[2 * o] = table[4 * o] + table[4 * o + 2]
            out[2 * o + 1] = table[4 * o + 1] + table[4 * o + 3]
        return
    if size == 2 and inner == 1:
        for o in range(outer):
            out[o] = table[2 * o] + table[2 * o + 1]
        return
    if inner == 1:
        for o in range(outer):
            total = table[o * size]
            for b in range(1, size):
                total += table[o * size + b]
            out[o] = total
        return
    for o in range(outer):
        here = out[o * inner : (o + 1) * inner]
        start = o * size * inner
        first = table[start : start + inner]
        second = table[start + inner : start + 2 * inner]
        for k in range(inner):
            here[k] = first[k] + second[k]
        for b in range(2, size):
            more = table[start + b * inner : start + (b + 1) * inner]
            for k in range(inner):
                here[k] += more[k]


@part()
def expected_emc(table: NDArray[np.float64], cost: NDArray[np.float64], cells: int) -> Any:
    """Return the sum over s of min_i sum_j c_ij P(y_j, s), from ``table[y, s]``."""
    n_decisions, n_classes = cost.shape
    total = 0.0
    if n_decisions == 2 and n_classes == 2:
        first, second = table[:cells], table[cells : 2 * cells]
        c00, c01, c10, c11 = cost[0, 0], cost[0, 1], cost[1, 0], cost[1, 1]
        for s in range(cells):
            total += min(c00 * first[s] + c01 * second[s], c10 * first[s] + c11 * second[s])
        return total
    for s in range(cells):
        least = np.inf
        for i in range(n_decisions):
            risk = 0.0
            for j in range(n_classes):
                risk += cost[i, j] * table[j * cells + s]
            least = min(least, risk)
        total += least
    return total


@kernel()
def walk_trie(
    root: NDArray[np.float64],
    sizes: NDArray[np.int64],
    cost: NDArray[np.float64],
    keys: NDArray[np.uint64],
    leaves: Leaves,
    room: NDArray[np.float64],
) -> int:
    """Value the sets in `keys`, which ascend; return the number of cells that were summed.

    If the leaves have `starts`, one for each set, write P(s, e) and the risk of every s, beginning
    there, and do not write the sum to `found`.

    A key holds a set's features, the first axis in the highest bit, so the sets without the next
    feature come before the sets with it. Tables are stacked in `room`. The sets without a feature
    come first: their table lies on top of the table that the sets with the feature still need.
    """
    found, starts, mass, risk = leaves.found, leaves.starts, leaves.mass, leaves.risk
    m = sizes.shape[0]
    n_decisions, n_classes = cost.shape
    # A frame: the sets [lo, hi), the next axis, where the table begins (-1: the root), its outer
    # size (Y and kept features), its inner size (undecided features), and where `room` is free.
    frames = np.empty((m + 2, 7), np.int64)
    inner = 1
    for axis in range(m):
        inner *= sizes[axis]
    frames[0, 0] = 0
    frames[0, 1] = keys.shape[0]
    frames[0, 2] = 0
    frames[0, 3] = -1
    frames[0, 4] = n_classes
    frames[0, 5] = inner
    frames[0, 6] = 0
    height = 1
    n_cells = 0
    while height:
        height -= 1
        lo, hi, axis, start, outer, inner, free = frames[height]
        while axis < m:
            bit = _ONE << np.uint64(m - 1 - axis)
            if keys[lo] & bit:  # then all other sets of the frame have the feature too
                outer *= sizes[axis]
                inner //= sizes[axis]
                axis += 1
                continue
            if keys[hi - 1] & bit:
                a, b = lo, hi  # find the first set with the feature
                while a < b:
                    middle = (a + b) // 2
                    if keys[middle] & bit:
                        b = middle
                    else:
                        a = middle + 1
                frames[height, 0] = a
                frames[height, 1] = hi
                frames[height, 2] = axis + 1
                frames[height, 3] = start
                frames[height, 4] = outer * sizes[axis]
                frames[height, 5] = inner // sizes[axis]
                frames[height, 6] = free
                height += 1
                hi = a
            run = axis + 1  # features that all sets of the frame lack are summed out together
            while run < m and not keys[hi - 1] & (_ONE << np.uint64(m - 1 - run)):
                run += 1
            block = 1
            for k in range(axis, run):
                block *= sizes[k]
            axis = run
            inner //= block
            if block > 1:
                table = root if start < 0 else room[start:]
                sum_out(table, room[free:], outer, block, inner)
                n_cells += outer * block * inner
                start = free
                free += outer * inner
        table = root if start < 0 else room[start:]
        if starts.shape[0] == 0:
            found[lo:hi] = expected_emc(table, cost, outer // n_classes)
            continue
        cells = outer // n_classes
        for s in range(cells):
            total = 0.0
            for j in range(n_classes):
                total += table[j * cells + s]
            least = np.inf
            for i in range(n_decisions):
                r = 0.0
                for j in range(n_classes):
                    r += cost[i, j] * table[j * cells + s]
                least = min(least, r)
            mass[starts[lo] + s] = total
            risk[starts[lo] + s] = least
    return n_cells
