"""The compiled twin of `valuation.set_search`: branch and bound below a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import Frames, Incumbent, Offers
from voilattice.compiled.kernels import kernel, part
from voilattice.compiled.tables import expected_emc, sum_out

__all__ = ["NOWHERE", "search"]

_ONE = np.uint64(1)

# A position after the last feature of any problem.
NOWHERE = 1 << 40


@part()
def _comes_first(a: Any, b: Any, outside: int, places: NDArray[np.int64]) -> bool:
    """Return whether a has the first feature, in the problem's order, that only one set has.

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


@kernel()
def search(
    root: NDArray[np.float64],
    offers: Offers,
    stack: Frames,
    height: int,
    incumbent: Incumbent,
    room: NDArray[np.float64],
    quota: int,
) -> tuple[int, int]:
    """Go on with a branch and bound until `quota` cells are summed; return (height, evaluated)."""
    frames, keeps, amounts = stack.places, stack.keeps, stack.amounts
    best, best_key = incumbent.facts, incumbent.key
    sizes, prices = offers.sizes, offers.prices
    cost, now, scale, tolerance = offers.cost, offers.now, offers.scale, offers.tolerance
    m = sizes.shape[0]
    n_classes = cost.shape[1]
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
            continue  # a set below can only tie, and has more features
        size = sizes[axis]
        bit = _ONE << np.uint64(axis)
        more = prices[axis] + _added(offers, kept, axis)
        if not kept:
            more += offers.round_cost
        later = full & ~((bit << _ONE) - _ONE)
        # The sets with the feature: the same table, a higher price.
        if (
            not offers.closed & bit
            and not offers.needs[axis] & ~(kept | bit | later)
            and _count(kept | bit) <= offers.n_features
            and spent + more <= offers.spend
        ):
            frames[height, 0] = axis + 1
            frames[height, 1] = start
            frames[height, 2] = outer * size
            frames[height, 3] = inner // size
            frames[height, 4] = free
            keeps[height] = kept | bit
            amounts[height, 0] = spent + more
            amounts[height, 1] = after
            height += 1
        # The sets without the feature are searched first.
        inner //= size
        if size > 1:
            table = root if start < 0 else room[start:]
            sum_out(table, room[free:], outer, size, inner)
            n_cells += outer * size * inner
            start = free
            free += outer * inner
            after = expected_emc(room[start:], cost, outer * inner // n_classes)
            n_evaluated += 1
        whole = kept | later
        price = _cost(offers, whole)
        benefit = (now - after) * scale - price
        size_of = _count(whole)
        better = benefit > best[0] + tolerance
        if not better and benefit >= best[0] - tolerance:
            if size_of != best[1]:
                better = size_of < best[1]
            elif abs(price - best[2]) > tolerance:
                better = price < best[2]
            else:
                better = _comes_first(whole, best_key[0], int(best[3]), offers.places)
        if better and _is_allowed(offers, whole, price):
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


@part()
def _count(mask: Any) -> int:
    n = 0
    while mask:
        mask &= mask - _ONE
        n += 1
    return n


@part()
def _is_allowed(offers: Offers, mask: Any, price: float) -> bool:
    """Return whether a set is feasible and keeps to the limits."""
    if mask & offers.closed or _count(mask) > offers.n_features:
        return False
    if mask and price > offers.spend:
        return False
    for axis in range(offers.needs.shape[0]):
        if mask & (_ONE << np.uint64(axis)) and offers.needs[axis] & ~mask:
            return False
    return True


@part()
def _added(offers: Offers, kept: Any, axis: int) -> Any:
    """Return what an axis adds to the least that the first features of all groups pay."""
    groups, least = offers.groups, offers.least
    group = groups[axis]
    if group < 0:
        return 0.0
    before = np.inf
    for k in range(groups.shape[0]):
        if groups[k] == group and kept & (_ONE << np.uint64(k)):
            before = min(before, least[k])
    return least[axis] if before == np.inf else min(least[axis] - before, 0.0)


@part()
def _cost(offers: Offers, mask: Any) -> Any:
    """Return the price of a set."""
    due = offers.due
    due[:] = np.inf
    price = 0.0
    for axis in range(offers.groups.shape[0]):
        if mask & (_ONE << np.uint64(axis)):
            price += offers.prices[axis]
            group = offers.groups[axis]
            if group >= 0:
                due[group] = min(due[group], offers.surcharges[axis])
    for group in range(due.shape[0]):
        if due[group] < np.inf:
            price += due[group]
    if mask:
        price += offers.round_cost
    return price
