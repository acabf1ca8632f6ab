r"""The recursion of the optimal policy, over blocks of states.

The least expected cost from evidence e on is

    v(e) = min( EMC(e),  min_{i in R}  C(X_i | e) + Σ_x P(X_i = x | e_K) v(e_K, X_i = x) )

with R the features, and K the evidence, that still matter (`policy.relevance`). The step to X_i
leads to the block (K', R') and forgets the evidence D, whose screen is B (`blocks`). Written with
V(e_K) = P(e_K) v(e_K), the recursion is

    V(e_K) = min( min_a Σ_j c_aj P(y_j, e_K),
                  min_{i in R}  C_i P(e_K) + Σ_x P(e_D | e_B) V'(e_K') )

If a step forgets nothing, the sum runs over one axis of the child's table. Nothing is ever
normalized: impossible states have V = 0 and need no special case. `solve` is this recursion for
blocks whose children are solved, and `cost_to_go` takes the blocks in that order.
``docs/optimal.md`` proves the recursion.

Let G be the most that free and complete information reduces the risk in any state of a block. A
step that costs G or more pays in no state of the block. V with all prices 0 gives G
(`measure_gains`). Blocks that are reached only through such steps need not be solved (`mark`).

`choose` finds the step that reaches V. Deciding wins a tie, then the cheaper feature, then the
first feature in the problem's order, as in `ties`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import BlockLayout, Floats, Ints, Prices, StateTables
from voilattice.engines import count_threads
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits
from voilattice.optimal.exact.blocks import Blocks
from voilattice.ties import TOLERANCE

__all__ = ["Choices", "choose", "cost_to_go", "mark", "measure_gains", "solve", "twin_of"]

Choices = NDArray[np.int8]

STATES_PER_THREAD = 1 << 18
MAX_THREADS = 2


def cost_to_go(
    blocks: Blocks,
    wanted: Ints,
    layout: BlockLayout,
    tables: StateTables,
    prices: Prices,
    value: Floats,
    *,
    engine: str,
    choice: Choices | None = None,
    below: Floats | None = None,
    deadline: Deadline | None = None,
) -> None:
    """Write V for the wanted blocks; their other children must be solved already.

    With `choice`, also write what reaches V: a step of the block, or -1 to decide. With `below`, V
    of the children is read there: the optimum with one feature less to acquire
    (`counted_solution`).

    Raises
    ------
    TooLargeError
        The deadline is over before all blocks are solved.
    """
    deadline = deadline or Deadline()
    twin, below = twin_of(engine), value if below is None else below
    sizes = np.bitwise_count(blocks.relevant[wanted])
    wanted = wanted[np.argsort(sizes, kind="stable")]  # smaller R first: children before parents
    if int(layout.cells[wanted].sum()) < STATES_PER_THREAD:
        levels = [wanted]
    else:
        levels = np.split(wanted, np.flatnonzero(np.diff(np.sort(sizes))) + 1)
    for level in levels:
        _in_threads(
            level, layout,
            lambda part: twin.solve(part, layout, tables, prices, value, below), deadline,
        )  # fmt: skip
    if choice is not None:
        _in_threads(
            wanted,
            layout,
            lambda part: twin.choose(part, layout, tables, prices, value, below, choice, TOLERANCE),
            deadline,
        )


def twin_of(engine: str) -> ModuleType:
    """Return an engine's module with `solve`, `choose`, `mark` and `measure_gains`."""
    if engine == "python":
        return sys.modules[__name__]
    from voilattice.compiled import bellman

    return bellman


def _in_threads(
    blocks: Ints, layout: BlockLayout, solve: Callable[[Ints], None], deadline: Deadline
) -> None:
    """Solve blocks that do not depend on each other in several threads."""
    done = np.cumsum(layout.cells[blocks])
    n_parts = 1 + int(done[-1]) // STATES_PER_THREAD
    cuts = np.searchsorted(done, np.linspace(0, done[-1], 4 * n_parts + 1)[1:-1])
    parts = [part for part in np.split(blocks, cuts) if len(part)] if n_parts > 1 else [blocks]

    def solve_in_time(part: Ints) -> None:
        if deadline.is_over:
            raise TooLargeError("the states were not solved in time")
        solve(part)

    n_threads = min(MAX_THREADS, n_parts, count_threads())
    if n_threads == 1:
        for part in parts:
            solve_in_time(part)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        list(pool.map(solve_in_time, parts))
    finally:  # after an error or Ctrl-C, no further part starts
        pool.shutdown(cancel_futures=True)


def solve(
    blocks: Ints,
    layout: BlockLayout,
    tables: StateTables,
    prices: Prices,
    value: Floats,
    below: Floats,
) -> None:
    """Write V with array operations: the recursion as the module states it.

    V of the children is read in `below`, which may be `value` itself.
    """
    for b in blocks.tolist():
        here = value[layout.start[b] : layout.start[b] + layout.cells[b]]
        _, risk = _mass_and_risk(tables, layout, b)
        np.multiply(risk, prices.scale, out=here)
        for t in _paying_steps(b, layout, prices):
            np.minimum(here, _acquire(b, t, layout, tables, prices, below), out=here)


def choose(
    blocks: Ints,
    layout: BlockLayout,
    tables: StateTables,
    prices: Prices,
    value: Floats,
    below: Floats,
    choice: Choices,
    tolerance: float,
) -> None:
    """Write, for every state, the step of its block that reaches V, or -1: decide."""
    for b in blocks.tolist():
        there = slice(layout.start[b], layout.start[b] + layout.cells[b])
        here, chosen = value[there], choice[there]
        mass, risk = _mass_and_risk(tables, layout, b)
        now = prices.scale * risk
        slack = tolerance * np.maximum(mass, now)
        buys = now > here + slack
        cheapest = np.full(len(here), np.inf)
        chosen[:] = -1
        for t in _paying_steps(b, layout, prices):
            ties = buys & (_acquire(b, t, layout, tables, prices, below) <= here + slack)
            price = np.broadcast_to(_price(b, t, layout, prices), _shape(layout, b)).reshape(-1)
            with np.errstate(invalid="ignore"):  # infinity times 0, the mass of an impossible state
                better = ties & (price * mass < cheapest * mass - slack)
            cheapest[better] = price[better]
            chosen[better] = t - layout.first[b]


def mark(wanted: NDArray[np.uint8], layout: BlockLayout, prices: Prices) -> None:
    """Mark the blocks that a policy can reach from marked ones; children come after parents."""
    for b in range(len(wanted)):
        if wanted[b]:
            for t in _paying_steps(b, layout, prices):
                wanted[layout.child[t]] = 1


def measure_gains(layout: BlockLayout, tables: StateTables, free: Floats, out: Floats) -> None:
    """Write G of each block, from V with all prices 0, at unit stakes."""
    for b in range(len(out)):
        mass, risk = _mass_and_risk(tables, layout, b)
        there = mass > 0
        after = free[layout.start[b] : layout.start[b] + layout.cells[b]]
        out[b] = ((risk - after)[there] / mass[there]).max(initial=0.0)


def _paying_steps(b: int, layout: BlockLayout, prices: Prices) -> Iterator[int]:
    for t in range(layout.first[b], layout.first[b + 1]):
        if prices.least[t] < prices.scale * prices.gain[b]:
            yield t


def _mass_and_risk(tables: StateTables, layout: BlockLayout, b: int) -> tuple[Floats, Floats]:
    here = slice(tables.at[b], tables.at[b] + layout.cells[b])
    return tables.mass[here], tables.risk[here]


def _acquire(
    b: int, t: int, layout: BlockLayout, tables: StateTables, prices: Prices, value: Floats
) -> Floats:
    """Return C_i P(e_K) + Σ_x P(e_D | e_B) V'(e_K') for every e_K of a block."""
    axis, child, kept = int(layout.axis[t]), int(layout.child[t]), int(layout.kept[b])
    both = kept | 1 << axis
    below = value[layout.start[child] : layout.start[child] + layout.cells[child]]
    after = _align(below, int(layout.kept[child]), both, layout.sizes)
    if (factor := int(tables.factor_of[t])) >= 0:
        begin, end = tables.factor_starts[factor : factor + 2]
        mask = int(tables.factor_masks[factor])
        after = after * _align(tables.factors[begin:end], mask, both, layout.sizes)
    place = (both & ((1 << axis) - 1)).bit_count()
    mass, _ = _mass_and_risk(tables, layout, b)
    paid = _price(b, t, layout, prices) * mass.reshape(_shape(layout, b))
    total: Floats = np.broadcast_to(paid + after.sum(axis=place), _shape(layout, b)).reshape(-1)
    return total


def _price(b: int, t: int, layout: BlockLayout, prices: Prices) -> Floats:
    """Return what step t costs in every state of block b, with an axis for each member of K."""
    own = int(prices.of[t])
    mask, begin = int(prices.masks[own]), int(prices.starts[own])
    length = int(np.prod([layout.sizes[a] for a in bits(mask)], dtype=np.int64))
    table = prices.own[begin : begin + length] + prices.surcharge[t]
    return _align(table, mask, int(layout.kept[b]), layout.sizes)


def _shape(layout: BlockLayout, b: int) -> list[int]:
    return [int(layout.sizes[a]) for a in bits(int(layout.kept[b]))]


def _align(table: Floats, mask: int, axes: int, sizes: Ints) -> Floats:
    """Return a table over `mask` with an axis for each of `axes`, of length 1 outside `mask`."""
    return table.reshape([int(sizes[a]) if mask >> a & 1 else 1 for a in bits(axes)])
