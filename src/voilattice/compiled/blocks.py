"""The compiled twin of `optimal.exact.blocks`: what still matters after each step.

Sets of nodes are 64-bit masks here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voilattice.compiled.arrays import Flow, Masks
from voilattice.compiled.kernels import inner, kernel, part

__all__ = ["expand"]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)

# A de Bruijn sequence of 64 bits: a multiplication gives the position of a single bit.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, np.int64)
for _k in range(64):
    _PLACES[((int(_SEQUENCE) << _k) & (2**64 - 1)) >> 58] = _k


@part()
def _place(bit: Any) -> Any:
    return _PLACES[(bit * _SEQUENCE) >> np.uint64(58)]


@inner()
def _flood(sources: Any, blocked: Any, family: Masks, families_of: Masks, ancestors: Masks) -> Any:
    """Return the nodes that touch the flood from `sources` (`Moral.flood`)."""
    left = _ZERO
    nodes = sources | blocked
    while nodes:
        bit = nodes & (~nodes + _ONE)
        nodes ^= bit
        left |= ancestors[_place(bit)]
    touched = sources
    frontier = sources & ~blocked
    while frontier:
        bit = frontier & (~frontier + _ONE)
        frontier ^= bit
        families = families_of[_place(bit)] & left
        left ^= families
        while families:
            c = families & (~families + _ONE)
            families ^= c
            members = family[_place(c)]
            frontier |= members & ~touched & ~blocked
            touched |= members
    return touched


@inner()
def _touching(
    sources: Any, known: Any, needed: Any, family: Masks, families_of: Masks, ancestors: Masks
) -> Any:
    """Return a part of `known`, with `needed`, that separates the rest from the sources."""
    kept = known
    while True:
        smaller = needed | (kept & _flood(sources, kept, family, families_of, ancestors))
        if smaller == kept:
            return kept
        kept = smaller


@inner()
def _reachable(
    sources: Any, blocked: Any, free: Any, children: Masks, parents: Masks, ancestors: Masks
) -> Any:
    """Return the nodes that a walk from the sources reaches (`Graph.reachable`)."""
    is_open = _ZERO
    nodes = blocked | free
    while nodes:
        bit = nodes & (~nodes + _ONE)
        nodes ^= bit
        is_open |= ancestors[_place(bit)]
    up = sources
    down = _ZERO
    new_up, new_down = up, down
    while new_up | new_down:
        if new_up:
            bit = new_up & (~new_up + _ONE)
            new_up ^= bit
            climbs = bit & blocked == _ZERO
        else:
            bit = new_down & (~new_down + _ONE)
            new_down ^= bit
            climbs = bit & is_open != _ZERO
        node = _place(bit)
        if bit & blocked == _ZERO:
            more = children[node] & ~down
            down |= more
            new_down |= more
        if climbs:
            more = parents[node] & ~up
            up |= more
            new_up |= more
    return up | down


@inner()
def _with_helpers(telling: Any, free: Any, pays: Any, flow: Flow) -> Any:
    """Return the features that tell something, with their openers and unlockers."""
    r, before = telling, _ZERO
    while r != before:
        before = r
        left = flow.openers & free
        while left:
            x = left & (~left + _ONE)
            left ^= x
            is_paid = pays & (_ONE << np.uint64(flow.group_of[_place(x)]))
            if flow.opens[_place(x)] & r and not is_paid:
                r |= x
        left = r
        while left:
            x = left & (~left + _ONE)
            left ^= x
            r |= flow.unlockers[_place(x)] & free
    return r


@kernel()
def expand(relevant: Masks, kept: Masks, paid: Masks, flow: Flow, out: Masks) -> None:
    """Write R', K', paid', D and B for each block and each feature of its R.

    All are masks of nodes except paid', a mask of groups. `out` has one row for each feature of
    each block, features ascending.
    """
    family, families_of, ancestors = flow.family, flow.families_of, flow.ancestors
    evidence, target = flow.evidence, _ONE << np.uint64(flow.target)
    row = 0
    for b in range(relevant.shape[0]):
        todo = relevant[b]
        while todo:
            bit = todo & (~todo + _ONE)
            todo ^= bit
            known = kept[b] | bit
            free = relevant[b] ^ bit
            everything = known | evidence
            pays = paid[b]
            if flow.group_of[_place(bit)] >= 0:
                pays |= _ONE << np.uint64(flow.group_of[_place(bit)])
            begin, before = target, _ZERO
            telling, r, named, locking = _ZERO, _ZERO, _ZERO, _ZERO
            while begin != before:
                before = begin
                telling = free & _reachable(
                    begin, everything, free, flow.children, flow.parents, ancestors
                )
                r = _with_helpers(telling, free, pays, flow)
                named, locking = _ZERO, _ZERO
                left = r
                while left:
                    x = left & (~left + _ONE)
                    left ^= x
                    named |= flow.conditions[_place(x)]
                    locking |= flow.locks[_place(x)]
                begin |= (named | (locking & r)) & free
            needed = (named | locking) & known
            sources = r | target
            k = known & _touching(sources, everything, needed, family, families_of, ancestors)
            still = _ZERO
            for g in range(flow.groups.shape[0]):
                if flow.groups[g] & r:
                    still |= pays & (_ONE << np.uint64(g))
            dropped = known & ~k
            screen = _ZERO
            if dropped:
                screen = k & _touching(dropped, k | evidence, _ZERO, family, families_of, ancestors)
            out[row, 0] = r
            out[row, 1] = k
            out[row, 2] = still
            out[row, 3] = dropped
            out[row, 4] = screen
            row += 1
