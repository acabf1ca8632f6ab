"""Compiled twins of the inner loops; imported only when the work is large.

Each kernel does what a readable function elsewhere does, and the tests run both against each other.
Kernels are called in small portions, so that Python gets to see Ctrl-C and to show progress.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["NOWHERE", "fill_hash_table", "grow", "search", "walk_trie"]

_WORD = np.uint64(64)
_ONE = np.uint64(1)
# The finalizer of splitmix64: every bit of a word reaches every bit of the hash.
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

# After the last feature of any problem.
NOWHERE = 1 << 40


@njit(cache=True, inline="always")
def _hash(row: NDArray[np.uint64]) -> Any:
    h = np.uint64(0)
    for w in range(row.shape[0]):
        h = (h ^ row[w]) * _MIX_1
        h = (h ^ (h >> np.uint64(27))) * _MIX_2
        h ^= h >> np.uint64(31)
    return h


@njit(cache=True)
def fill_hash_table(rows: NDArray[np.uint64], slots: NDArray[np.int64]) -> None:
    """Enter the number of each row into `slots`, whose length is a power of two; -1 is empty."""
    last = np.uint64(slots.shape[0] - 1)
    for i in range(rows.shape[0]):
        slot = _hash(rows[i]) & last
        while slots[slot] >= 0:
            slot = (slot + _ONE) & last
        slots[slot] = i


@njit(cache=True, inline="always")
def _holds(rows: NDArray[np.uint64], slots: NDArray[np.int64], row: NDArray[np.uint64]) -> bool:
    last = np.uint64(slots.shape[0] - 1)
    slot = _hash(row) & last
    while slots[slot] >= 0:
        found = rows[slots[slot]]
        same = True
        for w in range(row.shape[0]):
            same = same and found[w] == row[w]
        if same:
            return True
        slot = (slot + _ONE) & last
    return False


@njit(cache=True)
def grow(
    level: NDArray[np.uint64],
    slots: NDArray[np.int64],
    start: int,
    stop: int,
    candidates: NDArray[np.int64],
    feature_nodes: NDArray[np.int64],
    target: int,
    blocked_by_evidence: NDArray[np.uint8],
    inside_by_evidence: NDArray[np.uint8],
    ancestors: NDArray[np.uint8],
    families_of: tuple[NDArray[np.int64], NDArray[np.int64]],
    family: tuple[NDArray[np.int64], NDArray[np.int64]],
    out: NDArray[np.uint64],
) -> int:
    r"""Write the irreducible sets that sets `start` to `stop` of a level grow into; count them.

    A set T of the next level can be grown from every irreducible T \ {y}. It is flooded only
    when it is grown by the largest such y, so each T is met once and no list of the sets that
    failed is kept.
    """
    n_nodes = ancestors.shape[0]
    n_words = level.shape[1]
    starts_of, list_of = families_of
    starts, members_of = family
    members = np.empty(feature_nodes.shape[0], np.int64)
    blocked_s = np.empty(n_nodes, np.uint8)
    inside_s = np.empty(n_nodes, np.uint8)
    blocked = np.empty(n_nodes, np.uint8)
    left = np.empty(n_nodes, np.uint8)  # families not yet flooded
    touched = np.empty(n_nodes, np.uint8)
    stack = np.empty(n_nodes, np.int64)
    t = np.empty(n_words, np.uint64)
    n_out = 0
    for i in range(start, stop):
        n_members = 0
        blocked_s[:] = blocked_by_evidence
        inside_s[:] = inside_by_evidence
        for k in candidates:
            if level[i, k >> 6] >> (np.uint64(k) & (_WORD - _ONE)) & _ONE:
                members[n_members] = k
                n_members += 1
                blocked_s[feature_nodes[k]] = 1
                above = ancestors[feature_nodes[k]]
                for node in range(n_nodes):
                    inside_s[node] |= above[node]
        place = 0
        for x in candidates:
            if place < n_members and members[place] == x:
                place += 1
                continue
            t[:] = level[i]
            t[x >> 6] |= _ONE << (np.uint64(x) & (_WORD - _ONE))
            first = True
            for m in range(place, n_members):  # the members after x
                y = members[m]
                y_bit = _ONE << (np.uint64(y) & (_WORD - _ONE))
                t[y >> 6] ^= y_bit
                if _holds(level, slots, t):
                    first = False
                t[y >> 6] ^= y_bit
                if not first:
                    break
            if not first:
                continue

            x_node = feature_nodes[x]
            above = ancestors[x_node]
            for node in range(n_nodes):
                blocked[node] = blocked_s[node]
                left[node] = inside_s[node] | above[node]
                touched[node] = 0
            blocked[x_node] = 1
            untouched = n_members + 1
            touched[target] = 1
            stack[0] = target
            height = 1
            while height and untouched:
                height -= 1
                node = stack[height]
                for a in range(starts_of[node], starts_of[node + 1]):
                    c = list_of[a]
                    if left[c]:
                        left[c] = 0
                        for b in range(starts[c], starts[c + 1]):
                            other = members_of[b]
                            if not touched[other]:
                                touched[other] = 1
                                if not blocked[other]:
                                    stack[height] = other
                                    height += 1
                                elif not blocked_by_evidence[other]:
                                    untouched -= 1
            if untouched == 0:
                out[n_out] = t
                n_out += 1
    return n_out


@njit(cache=True, nogil=True, inline="always")
def _sum_out(
    table: NDArray[np.float64],
    out: NDArray[np.float64],
    outer: int,
    size: int,
    inner: int,
) -> None:
    """Sum the middle axis of ``table[outer, size, inner]`` out, into `out`.

    Half of all cells are summed where little is undecided, in very short runs: the two commonest
    lengths are written out, so that the compiler can take many runs at once.
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


@njit(cache=True, nogil=True, inline="always", fastmath={"reassoc", "nnan"})
def _expected_emc(table: NDArray[np.float64], cost: NDArray[np.float64], cells: int) -> Any:
    """Return the sum over s of min_i sum_j c_ij P(y_j, s), from ``table[y, s]``."""
    n = cost.shape[0]
    total = 0.0
    if n == 2:
        first, second = table[:cells], table[cells : 2 * cells]
        c00, c01, c10, c11 = cost[0, 0], cost[0, 1], cost[1, 0], cost[1, 1]
        for s in range(cells):
            total += min(c00 * first[s] + c01 * second[s], c10 * first[s] + c11 * second[s])
        return total
    for s in range(cells):
        least = np.inf
        for i in range(n):
            risk = 0.0
            for j in range(n):
                risk += cost[i, j] * table[j * cells + s]
            least = min(least, risk)
        total += least
    return total


@njit(cache=True, nogil=True)
def walk_trie(
    root: NDArray[np.float64],
    sizes: NDArray[np.int64],
    cost: NDArray[np.float64],
    keys: NDArray[np.uint64],
    found: NDArray[np.float64],
    starts: NDArray[np.int64],
    mass: NDArray[np.float64],
    risk: NDArray[np.float64],
    room: NDArray[np.float64],
) -> int:
    """Value the sets in `keys`, which ascend; return the number of cells that were summed.

    Where there are `starts`, one for each set, write P(s, e) and the risk of every s from there on,
    and not their sum to `found`.

    A key holds a set's features, the first axis in the highest place, so that the sets without
    the next feature stand before those with it. Tables are stacked in `room`: those without a
    feature are made and walked first, on top of the table that those with it still need.
    """
    m = sizes.shape[0]
    n = cost.shape[0]
    # A frame: the sets [lo, hi), the next axis, where the table begins (-1: the root), its outer
    # size (Y and what is kept), its inner size (what is undecided), and where room is free.
    frames = np.empty((m + 2, 7), np.int64)
    inner = 1
    for axis in range(m):
        inner *= sizes[axis]
    frames[0, 0] = 0
    frames[0, 1] = keys.shape[0]
    frames[0, 2] = 0
    frames[0, 3] = -1
    frames[0, 4] = n
    frames[0, 5] = inner
    frames[0, 6] = 0
    height = 1
    n_cells = 0
    while height:
        height -= 1
        lo, hi, axis, start, outer, inner, free = frames[height]
        while axis < m:
            bit = _ONE << np.uint64(m - 1 - axis)
            if keys[lo] & bit:  # so do all the others
                outer *= sizes[axis]
                inner //= sizes[axis]
                axis += 1
                continue
            if keys[hi - 1] & bit:
                a, b = lo, hi  # the first set with the feature
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
            run = axis + 1  # the features that all of them lack are summed out at once
            while run < m and not keys[hi - 1] & (_ONE << np.uint64(m - 1 - run)):
                run += 1
            block = 1
            for k in range(axis, run):
                block *= sizes[k]
            axis = run
            inner //= block
            if block > 1:
                table = root if start < 0 else room[start:]
                _sum_out(table, room[free:], outer, block, inner)
                n_cells += outer * block * inner
                start = free
                free += outer * inner
        table = root if start < 0 else room[start:]
        if starts.shape[0] == 0:
            found[lo:hi] = _expected_emc(table, cost, outer // n)
            continue
        cells = outer // n
        for s in range(cells):
            total = 0.0
            least = np.inf
            for i in range(n):
                total += table[i * cells + s]
                r = 0.0
                for j in range(n):
                    r += cost[i, j] * table[j * cells + s]
                least = min(least, r)
            mass[starts[lo] + s] = total
            risk[starts[lo] + s] = least
    return n_cells


@njit(cache=True, inline="always")
def _comes_first(a: Any, b: Any, outside: int, places: NDArray[np.int64]) -> bool:
    """Return whether a has the first feature, in the problem's order, that only one of them has.

    b also has the feature `outside`, the first of its features that is not among the axes.
    """
    differ = a ^ b
    first = outside
    winner = False
    for axis in range(places.shape[0]):
        bit = _ONE << np.uint64(axis)
        if differ & bit and places[axis] < first:
            first = places[axis]
            winner = a & bit != 0
    return winner


@njit(cache=True, nogil=True)
def search(
    root: NDArray[np.float64],
    sizes: NDArray[np.int64],
    places: NDArray[np.int64],
    cost: NDArray[np.float64],
    now: float,
    scale: float,
    prices: NDArray[np.float64],
    groups: NDArray[np.int64],
    overheads: NDArray[np.float64],
    frames: NDArray[np.int64],
    keeps: NDArray[np.uint64],
    amounts: NDArray[np.float64],
    height: int,
    best: NDArray[np.float64],
    best_key: NDArray[np.uint64],
    tolerance: float,
    room: NDArray[np.float64],
    quota: int,
) -> tuple[int, int]:
    """Go on with a branch and bound until `quota` cells are summed; return (height, evaluated).

    A frame on the stack is a node (K, U): the features kept and those undecided, from the axis
    frames[., 0] on. Its table over K ∪ U begins at frames[., 1] (-1: the root) with the outer size
    frames[., 2] and the inner size frames[., 3]; room is free from frames[., 4]. keeps[.] is K,
    amounts[., 0] what K costs and amounts[., 1] the expected EMC of K ∪ U. The best set so far is
    best_key, with best = (benefit, number of features, cost, its first feature that is not among
    the axes, or `NOWHERE`).
    """
    m = sizes.shape[0]
    n = cost.shape[0]
    full = np.uint64(0)
    for axis in range(m):
        full |= _ONE << np.uint64(axis)
    n_cells = 0
    n_evaluated = 0
    while height and n_cells < quota:
        height -= 1
        axis, start, outer, inner, free = frames[height]
        kept = keeps[height]
        spent, after = amounts[height]
        bound = (now - after) * scale - spent
        if bound < best[0] - tolerance or axis == m:
            continue
        if bound <= best[0] + tolerance and _count(kept) > best[1]:
            continue  # it can only tie, with more features
        size = sizes[axis]
        bit = _ONE << np.uint64(axis)
        group = groups[axis]
        more = prices[axis]
        if group >= 0 and not _touched(kept, groups, group):
            more += overheads[group]
        # The sets with the feature: the same table, dearer.
        frames[height, 0] = axis + 1
        frames[height, 1] = start
        frames[height, 2] = outer * size
        frames[height, 3] = inner // size
        frames[height, 4] = free
        keeps[height] = kept | bit
        amounts[height, 0] = spent + more
        amounts[height, 1] = after
        height += 1
        # The sets without it, looked at first.
        inner //= size
        if size > 1:
            table = root if start < 0 else room[start:]
            _sum_out(table, room[free:], outer, size, inner)
            n_cells += outer * size * inner
            start = free
            free += outer * inner
            after = _expected_emc(room[start:], cost, outer * inner // n)
            n_evaluated += 1
        whole = kept | (full & ~((bit << _ONE) - _ONE))
        price = spent
        for k in range(axis + 1, m):
            price += prices[k]
        for g in range(overheads.shape[0]):
            if not _touched(kept, groups, g) and _touched(whole, groups, g):
                price += overheads[g]
        benefit = (now - after) * scale - price
        size_of = _count(whole)
        better = benefit > best[0] + tolerance
        if not better and benefit >= best[0] - tolerance:
            if size_of != best[1]:
                better = size_of < best[1]
            elif abs(price - best[2]) > tolerance:
                better = price < best[2]
            else:
                better = _comes_first(whole, best_key[0], int(best[3]), places)
        if better:
            best[0] = benefit
            best[1] = size_of
            best[2] = price
            best[3] = NOWHERE
            best_key[0] = whole
        frames[height, 0] = axis + 1
        frames[height, 1] = start
        frames[height, 2] = outer
        frames[height, 3] = inner
        frames[height, 4] = free
        keeps[height] = kept
        amounts[height, 0] = spent
        amounts[height, 1] = after
        height += 1
    return height, n_evaluated


@njit(cache=True, inline="always")
def _count(mask: Any) -> int:
    n = 0
    while mask:
        mask &= mask - _ONE
        n += 1
    return n


@njit(cache=True, inline="always")
def _touched(mask: Any, groups: NDArray[np.int64], group: int) -> bool:
    for axis in range(groups.shape[0]):
        if groups[axis] == group and mask & (_ONE << np.uint64(axis)):
            return True
    return False
