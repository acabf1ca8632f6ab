"""The compiled twin of `lattice.growth`: floods of many sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import Growth
from voilattice.compiled.kernels import copy, kernel, part

__all__ = ["fill_hash_table", "grow"]

_WORD = np.uint64(64)
_ONE = np.uint64(1)
# From the finalizer of splitmix64: every bit of a word affects every bit of the hash.
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@part()
def _hash(row: NDArray[np.uint64]) -> Any:
    h = np.uint64(0)
    for w in range(row.shape[0]):
        h = (h ^ row[w]) * _MIX_1
        h = (h ^ (h >> np.uint64(27))) * _MIX_2
        h ^= h >> np.uint64(31)
    return h


@kernel()
def fill_hash_table(rows: NDArray[np.uint64], slots: NDArray[np.int64]) -> None:
    """Write the number of each row into `slots`; their count is a power of two, -1 is empty."""
    last = np.uint64(slots.shape[0] - 1)
    for i in range(rows.shape[0]):
        slot = _hash(rows[i]) & last
        while slots[slot] >= 0:
            slot = (slot + _ONE) & last
        slots[slot] = i


@part()
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


@kernel()
def grow(
    level: NDArray[np.uint64],
    slots: NDArray[np.int64],
    start: int,
    stop: int,
    graph: Growth,
    out: NDArray[np.uint64],
) -> int:
    r"""Write the irreducible sets that sets `start` to `stop` of a level grow into; count them.

    A set T of the next level can be grown from every irreducible T \ {y}. T is flooded only when
    the added feature is the largest such y. So each T is tested once, without a list of the sets
    that failed.
    """
    candidates, feature_nodes, target = graph.candidates, graph.feature_nodes, graph.target
    blocked_by_evidence, ancestors = graph.blocked, graph.ancestors
    starts_of, list_of = graph.containing
    starts, members_of = graph.family
    n_nodes = ancestors.shape[0]
    n_words = level.shape[1]
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
        copy(blocked_by_evidence, blocked_s)
        copy(graph.inside, inside_s)
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
            copy(level[i], t)
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
                copy(t, out[n_out])
                n_out += 1
    return n_out
