r"""The recursion of the optimal policy, over a plain table of all partial assignments.

If all features matter, hardly any two partial assignments are one state, and blocks save nothing
(`blocks`). A plain table is then simpler and leaner. A state e has one digit for each feature: its
value, or `size` if it is unknown. Its place in the table is the number with these digits, the first
feature in the slowest place. With V(e) = P(e) v(e), the recursion is

    V(e) = min( min_d Σ_j c_dj P(y_j, e),
                min_{i unknown}  C(X_i | e) P(e) + Σ_x V(e, x_i = x) )

"Unknown" is the largest digit, so every (e, x_i) has a smaller number than e: one pass in ascending
order solves the table. Nothing is ever normalized: impossible states have V = 0.

Memory. The table holds V alone, 8 bytes a state. The children are the only other states in the
recursion, and only their V. So P(e) and the risk are needed once, when V(e) is written. The states
are cut into *tiles* that agree in the first, slow digits. A tile sums P(Y, e) over its unknown
slow digits from the joint table P(Y, features), then expands its own digits one by one: the last
entry of each axis is the sum of the others. The joint table has far fewer cells than there are
states, and the tables of a tile stay in the cache. What to do in a state is not stored: it follows
from V of the children.

Order. A tile depends on tiles with one slow unknown digit fewer. So tiles with equally many
unknown slow digits can be solved side by side, by several threads (`_in_levels`). Inside a tile, a
*row* holds the states that agree in all but the last digits. The steps of all other digits run over
whole rows. Only the steps inside a row are taken state by state.

On a GPU each tile is solved by one block of threads, and V stays there (`solve_cuda`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voilattice import devices
from voilattice.budgets import Deadline
from voilattice.compiled.arrays import DigitPrices, Floats, Ints, PlainLayout
from voilattice.engines import choose_engine, count_threads
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits

if TYPE_CHECKING:
    from voilattice.compiled.plain_cuda import DeviceValues

__all__ = [
    "MAX_THREADS",
    "count_slow",
    "count_states",
    "cuda_bytes",
    "digit_prices",
    "scratch_bytes",
    "solve_cuda",
    "solve_plain",
]

MAX_THREADS = 2
TILE_STATES = 3**9  # a tile's tables then stay in the cache of a core
ROW_STATES = 3**4
STATES_PER_TASK = 1 << 20  # between tasks, the time is checked and Ctrl-C is handled


def solve_plain(
    joint: Floats,
    sizes: Sequence[int],
    cost: Floats,
    prices: DigitPrices,
    *,
    value: Floats | None = None,
    mass: Floats | None = None,
    engine: str = "auto",
    deadline: Deadline | None = None,
) -> Floats:
    """Return V of every state, in a flat array.

    Parameters
    ----------
    joint
        P(Y, features), up to a factor: a row for each class, the first feature slowest in a row.
    sizes
        The number of values of each feature.
    cost
        c_dj: a row for each decision, a column for each class.
    prices
        What each feature costs (`digit_prices`).
    value
        Where to write V: an array of `count_states(sizes)` numbers. By default, a new one.
    mass
        Where to write P(e), in the same form. By default, it is not kept.
    engine
        ``"python"`` (NumPy), ``"compiled"``, or ``"auto"``: by the number of states.
    deadline
        Raise `TooLargeError` if the table is not solved before this.

    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> cost = np.array([[0.0, 50.0], [50.0, 0.0]])
    >>> solve_plain(joint, [2], cost, digit_prices([2.0])).tolist()  # known: 0, 1; unknown
    [5.0, 5.0, 12.0]
    """
    n_states = count_states(sizes)
    value = np.empty(n_states) if value is None else value
    mass = np.empty(0) if mass is None else mass
    joint = np.ascontiguousarray(joint, dtype=np.float64)
    cost = np.ascontiguousarray(cost, dtype=np.float64)
    twin = _TWINS[choose_engine(engine, "plain", n_states)]
    twin(joint, tuple(sizes), cost, prices, value, mass, deadline or Deadline())
    return value


def solve_cuda(
    joint: Floats,
    sizes: Sequence[int],
    cost: Floats,
    prices: DigitPrices,
    *,
    device: devices.Device | None = None,
    deadline: Deadline | None = None,
) -> DeviceValues:
    """Return V of every state as `solve_plain` does, on a GPU.

    Parameters
    ----------
    device
        By default, the current GPU.

    Raises
    ------
    InputError
        There is no GPU, or CuPy is missing.
    TooLargeError
        The table does not fit the GPU, or it is not solved in time.
    """
    from voilattice.compiled.plain_cuda import solve_on_device, tile_states

    sizes, joint = tuple(sizes), np.asarray(joint, dtype=np.float64)
    device = device or devices.find_device()
    layout = _layout(sizes, prices, tile_states(device, len(joint)), ROW_STATES)
    return solve_on_device(
        device, layout, *_in_levels(sizes[: layout.n_slow]), joint,
        np.asarray(cost, dtype=np.float64), prices, deadline or Deadline(),
    )  # fmt: skip


def cuda_bytes(device: devices.Device, sizes: Sequence[int], n_classes: int) -> tuple[int, int]:
    """Return how many free bytes of a GPU a plain table takes to solve, in 64 and in 32 bits."""
    from voilattice.compiled.plain_cuda import SHARE_OF_FREE, device_bytes

    n_slow = count_slow(device, sizes, n_classes)
    long, short = (device_bytes(sizes, n_slow, n_classes, t) for t in (np.float64, np.float32))
    return math.ceil(long / SHARE_OF_FREE), math.ceil(short / SHARE_OF_FREE)


def count_slow(device: devices.Device, sizes: Sequence[int], n_classes: int) -> int:
    """Return how many digits are slow in the tiles of a GPU."""
    from voilattice.compiled.plain_cuda import tile_states

    return _cut(sizes, tile_states(device, n_classes))


def digit_prices(
    own: Sequence[ArrayLike],
    named: Sequence[Sequence[int]] | None = None,
    group_of: Sequence[int] | None = None,
    surcharge: Sequence[float] | Floats | None = None,
) -> DigitPrices:
    """Return the prices of a plain table.

    Parameters
    ----------
    own
        The own price of each feature: a number, or a table over the digits that it depends on.
    named
        The features that each own price depends on, in the order of its table's axes. An axis has
        one entry for each value and a last one for "unknown".
    group_of
        The group of each feature; -1: none. By default, there are no groups.
    surcharge
        What each feature costs in addition if it is the first of its group; 0 if the group is paid
        for already.
    """
    n = len(own)
    tables = [np.asarray(table, dtype=np.float64) for table in own]
    steps = np.zeros((n, n), dtype=np.int64)
    for i, others in enumerate(named or ()):
        for axis, d in enumerate(others):
            steps[i, d] = math.prod(tables[i].shape[axis + 1 :])
    return DigitPrices(
        np.concatenate([np.zeros(0), *(table.reshape(-1) for table in tables)]),
        np.cumsum([0, *(table.size for table in tables)])[:-1].astype(np.int64),
        steps,
        np.array([-1] * n if group_of is None else group_of, dtype=np.int64),
        np.zeros(n) if surcharge is None else np.array(surcharge, dtype=np.float64),
    )


def count_states(sizes: Sequence[int]) -> int:
    """Return how many states a plain table has."""
    return math.prod(size + 1 for size in sizes)


def scratch_bytes(sizes: Sequence[int], n_classes: int) -> int:
    """Return how many bytes the compiled twin needs besides V and the joint table."""
    cut = _cut(sizes, TILE_STATES)
    tile, n_tiles = count_states(sizes[cut:]), count_states(sizes[:cut])
    in_a_thread = 8 * (n_classes + 2) * tile
    return MAX_THREADS * in_a_thread + 5 * len(sizes) * tile + 32 * n_tiles


def _solve_numpy(
    joint: Floats,
    sizes: tuple[int, ...],
    cost: Floats,
    prices: DigitPrices,
    value: Floats,
    mass: Floats,
    deadline: Deadline,
) -> None:
    """Solve the table with array operations: the recursion as the module states it."""
    parts = joint.reshape(-1, *sizes)
    for axis in range(1, parts.ndim):
        parts = np.concatenate([parts, parts.sum(axis=axis, keepdims=True)], axis=axis)
    p = parts.sum(axis=0)
    v = value.reshape(p.shape)
    v[...] = np.tensordot(cost, parts, axes=1).min(axis=0)
    if len(mass):
        mass[:] = p.reshape(-1)
    price = [_price(i, sizes, prices) for i in range(len(sizes))]
    for unknown in sorted(range(1 << len(sizes)), key=int.bit_count):
        _check_time(deadline)
        here = _states(unknown, sizes)
        for i in bits(unknown):
            after = v[_states(unknown & ~(1 << i), sizes)].sum(axis=i, keepdims=True)
            paid = np.broadcast_to(price[i], p.shape)[here] * p[here]
            np.minimum(v[here], paid + after, out=v[here])


def _states(unknown: int, sizes: Sequence[int]) -> tuple[slice, ...]:
    """Return where the states lie whose unknown features are exactly `unknown`."""
    return tuple(
        slice(size, None) if unknown >> i & 1 else slice(0, size) for i, size in enumerate(sizes)
    )


def _price(i: int, sizes: Sequence[int], prices: DigitPrices) -> Floats:
    """Return C(X_i | e): an axis for each digit, of length 1 where the digit does not matter."""
    n = len(sizes)

    def along(d: int, values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape([-1 if axis == d else 1 for axis in range(n)])

    place = np.full([1] * n, prices.starts[i])
    for d in np.flatnonzero(prices.steps[i]).tolist():
        place = place + along(d, prices.steps[i, d] * np.arange(sizes[d] + 1))
    price: Floats = prices.own[place]
    if (g := prices.group_of[i]) >= 0:
        is_open = np.ones([1] * n)
        for d in np.flatnonzero(prices.group_of == g).tolist():
            is_open = is_open * along(d, np.arange(sizes[d] + 1) == sizes[d])
        price = price + prices.surcharge[i] * is_open
    return price


def _solve_compiled(
    joint: Floats,
    sizes: tuple[int, ...],
    cost: Floats,
    prices: DigitPrices,
    value: Floats,
    mass: Floats,
    deadline: Deadline,
) -> None:
    """Do the same with the compiled kernel; threads share the tiles of a level."""
    from voilattice.compiled import plain as compiled

    layout = _layout(sizes, prices, TILE_STATES, ROW_STATES)

    def run(tiles: Ints) -> None:
        if not deadline.is_over:
            compiled.solve_tiles(tiles, layout, prices, joint, cost, value, mass)

    n_threads = min(MAX_THREADS, count_threads())
    pool = ThreadPoolExecutor(n_threads)
    try:
        tiles, starts = _in_levels(sizes[: layout.n_slow])
        for begin, end in pairwise(starts.tolist()):
            level = tiles[begin:end]
            per_task = max(STATES_PER_TASK // layout.tile_states, 1)
            per_task = min(per_task, -(-len(level) // n_threads))
            tasks = [level[at : at + per_task] for at in range(0, len(level), per_task)]
            for _ in pool.map(run, tasks) if len(tasks) > 1 and n_threads > 1 else map(run, tasks):
                _check_time(deadline)
    finally:  # after Ctrl-C, no further task starts
        pool.shutdown(cancel_futures=True)


_TWINS = {"python": _solve_numpy, "compiled": _solve_compiled}


def _check_time(deadline: Deadline) -> None:
    if deadline.is_over:
        raise TooLargeError("the states were not solved in time")


@lru_cache(maxsize=4)
def _in_levels(slow: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Return the tiles by the number of their unknown slow digits, and where each number begins.

    Parameters
    ----------
    slow
        The number of values of each slow digit.
    """
    unknown = np.zeros(1, dtype=np.int8)
    for size in slow:
        last = np.arange(size + 1) == size
        unknown = (unknown[:, None] + last).reshape(-1).astype(np.int8)
    starts = np.concatenate([[0], np.cumsum(np.bincount(unknown))])
    return np.argsort(unknown, kind="stable"), starts


def _cut(sizes: Sequence[int], most: int) -> int:
    """Return from which digit on a part of the table has at most so many states."""
    cut = max(len(sizes) - 1, 0)
    while cut and count_states(sizes[cut - 1 :]) <= most:
        cut -= 1
    return cut


def _digits(sizes: Sequence[int]) -> Ints:
    """Return the digits of all states, a row for each digit."""
    digits = np.indices([size + 1 for size in sizes])
    return digits.reshape(len(sizes), count_states(sizes))


def _layout(
    sizes: tuple[int, ...], prices: DigitPrices, tile_states: int, row_states: int
) -> PlainLayout:
    """Cut the table into tiles and rows, and look at prices inside a tile."""
    # It does not depend on the prices themselves, and many tables may differ only in these.
    steps, group_of = tuple(prices.steps.reshape(-1).tolist()), tuple(prices.group_of.tolist())
    return _cached_layout(sizes, steps, group_of, tile_states, row_states)


@lru_cache(maxsize=4)
def _cached_layout(
    sizes: tuple[int, ...],
    flat_steps: tuple[int, ...],
    groups: tuple[int, ...],
    tile_states: int,
    row_states: int,
) -> PlainLayout:
    n, slow, outer = len(sizes), _cut(sizes, tile_states), _cut(sizes, row_states)
    steps, group_of = np.array(flat_steps, np.int64).reshape(n, n), np.array(groups, np.int64)
    n_states = count_states(sizes[slow:])
    unknown = np.array(sizes[outer:], dtype=np.int64)
    row_state, row_axis = np.nonzero(unknown == _digits(sizes[outer:]).T)
    inside = np.arange(n) >= slow
    mates = (group_of[:, None] == group_of) & (group_of >= 0) & ~np.eye(n, dtype=bool)
    place_varies = (steps[:, inside] != 0).any(axis=1)
    open_varies = mates[:, inside].any(axis=1)
    n_cells = n_states if (place_varies | open_varies).any() else 0
    place, is_open = np.zeros((n, n_cells), np.int32), np.ones((n, n_cells), np.uint8)
    if n_cells:
        digits = _digits(sizes[slow:])
        place[:] = steps[:, inside] @ digits
        for i, d in np.argwhere(mates & inside).tolist():
            is_open[i] &= digits[d - slow] == sizes[d]
    return PlainLayout(
        np.array(sizes, dtype=np.int64),
        slow,
        outer,
        n_states,
        count_states(sizes[outer:]),
        row_axis.astype(np.int64) + outer,
        row_state.astype(np.int64),
        place,
        is_open,
        place_varies.astype(np.uint8),
        open_varies.astype(np.uint8),
    )
