r"""The twin of `optimal.exact.plain` on a GPU: the same recursion, tile by tile (``plain.cu``).

Masses. The joint table P(Y, features) is expanded over its slow digits: the entry "unknown" is the
sum of the others. This gives P(y, e) of all states whose digits inside their tile are known. The
other states of a tile are summed in the memory that the threads of a block share.

Values. V is stored in 64 bits if that fits the GPU, else in 32 bits. All arithmetic is in 64 bits,
and inside a tile nothing is rounded to 32 bits. Prices, costs and probabilities are not negative,
so V is a minimum of sums of terms that are not negative, and a relative error never grows in a sum
or in a minimum. Each tile rounds once, by a factor between 1 - u and 1 + u with u = 2^-24, and it
reads tiles that have one unknown slow digit fewer. With a slow digits, the last value therefore has
at most a + 1 such factors:

    |V' - V| <= ((1 + u)^(a + 1) - 1) V

The code applies the factor to the stored V', and adds a thousandth of it: far more than this change
and the rounding of all sums in 64 bits.

A value below the smallest normal number loses at most 2^-149 instead. At most one such loss for
each state enters V. So V is divided by the largest cost before it is stored (`DeviceValues.error`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import DigitPrices, Floats, Ints, PlainLayout
from voilattice.devices import MAX_BLOCKS, THREADS, Device, Kernel
from voilattice.errors import TooLargeError
from voilattice.wording import format_bytes

__all__ = ["DeviceValues", "device_bytes", "solve_on_device", "tile_states"]

Dtype: TypeAlias = type[np.floating[Any]]
DTYPES: tuple[Dtype, ...] = (np.float64, np.float32)  # of V, the better first
ROUNDING = 2.0**-24  # of a number in 32 bits
LEAST_NUMBER = 2.0**-149  # in 32 bits
SLACK = 1.001  # for the rounding of sums in 64 bits, which is far below that in 32 bits
LEAST_MASS = 1e-20  # relative to the root: below it, a value in 32 bits says too little

# What a block of threads should take of the shared memory, so that a processor has several blocks.
ROOM_BYTES = 56_000
SHARE_OF_FREE = 0.97  # of the memory that is free; the rest is for small arrays and rounding
STATES_PER_WAIT = 1 << 30
SPARE_BYTES = 4_096  # of shared memory, for what all tiles need besides their tables

_COUNTS = ("n_digits", "n_slow", "tile_states", "tile_cells", "n_levels")
_ARRAYS = (
    "sizes", "steps", "level_first", "level_state", "cell", "sum_digit", "unknown", "cost", "own",
    "price_start", "price_step", "group_of", "surcharge", "place_varies", "open_varies",
    "price_place", "is_open",
)  # fmt: skip
# The struct `Table` of the kernel.
CUDA_TABLE = np.dtype(
    [*((name, np.int32) for name in _COUNTS), *((name, np.uint64) for name in _ARRAYS)], align=True
)


EXPAND = Kernel("expand.cu", "expand")


@dataclass(frozen=True, slots=True)
class DeviceValues:
    """V of every state, on the device: an array of places gives the values there."""

    device: Device
    handle: Any
    n_states: int
    scale: float  # of what is stored
    n_roundings: int  # to 32 bits, at most; 0: the values have 64 bits

    def __getitem__(self, places: Ints) -> Floats:
        return self.scale * self.device.take(self.handle, places)

    @property
    def least_mass(self) -> float:
        """The least P(e), relative to the root, whose value can be used."""
        return LEAST_MASS if self.n_roundings else 0.0

    def error(self, value: float) -> float:
        """Return by how much a value may be wrong at most."""
        if not self.n_roundings:
            return 0.0
        relative = SLACK * ((1 + ROUNDING) ** self.n_roundings - 1)
        return relative * value + LEAST_NUMBER * self.n_states * self.scale


def tile_states(device: Device, n_classes: int) -> int:
    """Return how many states a tile should have at most."""
    return min(ROOM_BYTES, device.room_bytes - SPARE_BYTES) // _state_bytes(n_classes)


def device_bytes(sizes: Sequence[int], n_slow: int, n_classes: int, dtype: Dtype) -> int:
    """Return how many bytes of the device a plain table takes to solve, with V of this type."""
    n_tiles = math.prod(size + 1 for size in sizes[:n_slow])
    n_states = n_tiles * math.prod(size + 1 for size in sizes[n_slow:])
    parts = 8 * n_tiles * n_classes * math.prod(sizes[n_slow:])
    before = parts * sizes[0] // (sizes[0] + 1) if n_slow else 0  # the last expansion
    return np.dtype(dtype).itemsize * n_states + parts + before + 8 * n_tiles


def solve_on_device(
    device: Device,
    layout: PlainLayout,
    tiles: Ints,
    level_starts: Ints,
    joint: Floats,
    cost: Floats,
    prices: DigitPrices,
    deadline: Deadline,
) -> DeviceValues:
    """Return V of every state.

    Parameters
    ----------
    tiles
        The tiles, by the number of their unknown slow digits.
    level_starts
        Where each of these numbers begins in `tiles`, and the end.
    joint
        P(Y, features), a row for each class.

    Raises
    ------
    TooLargeError
        The table does not fit the device, or it is not solved in time.
    """
    room = _state_bytes(len(joint)) * layout.tile_states
    if room + SPARE_BYTES > device.room_bytes:
        raise TooLargeError(
            f"a tile of {layout.tile_states:,} states needs {format_bytes(room)} of the shared "
            f"memory of the GPU, which has {format_bytes(device.room_bytes)}"
        )
    value = _room_for_values(device, layout, len(joint))
    # What is stored must be far from the largest number in 32 bits.
    is_short = value.dtype == np.float32
    scale = float(cost.max()) or 1.0 if is_short else 1.0
    prices = prices._replace(own=prices.own / scale, surcharge=prices.surcharge / scale)
    arrays = _arrays(layout, cost / scale, prices)
    handles = {name: device.put(array) for name, array in arrays.items()}
    table = device.put(_table(device, layout, arrays["level_first"], handles))
    parts, in_order = _expand(device, layout, joint), device.put(tiles)
    kernel = _tile_kernel(layout, cost, value.dtype)
    n_started = 0
    for begin, end in pairwise(level_starts.tolist()):
        device.launch(kernel, end - begin, room, table, in_order[begin:end], parts, value)
        n_started += (end - begin) * layout.tile_states
        if n_started >= STATES_PER_WAIT or end == len(tiles):
            device.wait()  # now the time is checked, and Ctrl-C is handled
            n_started = 0
        if deadline.is_over:
            raise TooLargeError("the states were not solved in time")
    return DeviceValues(device, value, len(value), scale, layout.n_slow + 1 if is_short else 0)


def _room_for_values(device: Device, layout: PlainLayout, n_classes: int) -> Any:
    """Return room for V, in 64 bits if all that is needed fits the device so."""
    sizes, free = layout.sizes.tolist(), device.free_bytes
    n_states = math.prod(size + 1 for size in sizes)
    for dtype in DTYPES:
        needed = device_bytes(sizes, layout.n_slow, n_classes, dtype)
        if needed <= SHARE_OF_FREE * free:
            with suppress(TooLargeError):  # what is free may be in pieces
                return device.empty(n_states, dtype)
    raise TooLargeError(
        f"{n_states:,} states need {format_bytes(needed)} of the GPU, "
        f"which has {format_bytes(free)} left"
    )


def _tile_kernel(layout: PlainLayout, cost: Floats, dtype: Any) -> Kernel:
    """Return the kernel for problems of this kind."""
    sizes = set(layout.sizes.tolist())
    constants = (
        ("VALUE", "float" if dtype == np.float32 else "double"),
        ("CLASSES", cost.shape[1]),
        ("DECISIONS", cost.shape[0]),
        ("SIZE", min(sizes) if len(sizes) == 1 else 0),
    )
    return Kernel("plain.cu", "solve_tiles", constants)


def _state_bytes(n_classes: int) -> int:
    """Return the shared memory for a state: P(y, e) for each class, and P(e)."""
    return 8 * (n_classes + 1)


def _expand(device: Device, layout: PlainLayout, joint: Floats) -> Any:
    """Return P(y, e) of the states whose digits inside their tile are known: [tile, class, cell].

    The last digit to be expanded is the first, and the largest table but one is gone by then.
    """
    slow = tuple(layout.sizes[: layout.n_slow].tolist())
    n_classes, cells = len(joint), math.prod(layout.sizes[layout.n_slow :].tolist())
    in_order = joint.reshape(n_classes, -1, cells).swapaxes(0, 1)
    table = device.put(np.ascontiguousarray(in_order).reshape(-1))
    inner = n_classes * cells
    for i in reversed(range(len(slow))):
        outer = math.prod(slow[:i])
        longer = device.empty(outer * (slow[i] + 1) * inner, np.float64)
        n_blocks = min(-(-outer * inner // THREADS), MAX_BLOCKS)
        device.launch(EXPAND, n_blocks, 0, table, longer, outer, slow[i], inner)
        table, inner = longer, inner * (slow[i] + 1)
    return table


def _arrays(layout: PlainLayout, cost: Floats, prices: DigitPrices) -> dict[str, NDArray[Any]]:
    """Return the arrays that the kernel reads."""
    sizes, fast = layout.sizes, layout.sizes[layout.n_slow :]
    steps = np.cumprod([1, *(sizes[:0:-1] + 1)])[: len(sizes)][::-1]
    digits = np.indices((fast + 1).tolist()).reshape(len(fast), layout.tile_states)
    is_unknown = digits == fast[:, None]
    n_unknown = is_unknown.sum(axis=0)
    order = np.argsort(n_unknown, kind="stable")
    levels = np.arange(len(fast) + 2)
    cell = np.zeros(layout.tile_states, np.int32)
    for digit, size in zip(digits, fast, strict=True):
        cell = cell * size + np.minimum(digit, size - 1)
    first = is_unknown.argmax(axis=0) if len(fast) else np.zeros(1, np.int64)
    return {
        "sizes": sizes.astype(np.int32),
        "steps": steps.astype(np.int64),
        "level_first": np.searchsorted(n_unknown[order], levels).astype(np.int32),
        "level_state": order.astype(np.int32),
        "cell": cell.astype(np.int32),
        "sum_digit": (first + layout.n_slow).astype(np.int32),
        "unknown": (is_unknown << np.arange(len(fast))[:, None]).sum(axis=0).astype(np.uint32),
        "cost": np.ascontiguousarray(cost, np.float64),
        "own": prices.own,
        "price_start": prices.starts.astype(np.int64),
        "price_step": np.ascontiguousarray(prices.steps, np.int64),
        "group_of": prices.group_of.astype(np.int32),
        "surcharge": prices.surcharge,
        "place_varies": layout.place_varies,
        "open_varies": layout.open_varies,
        "price_place": layout.place,
        "is_open": layout.is_open,
    }


def _table(
    device: Device, layout: PlainLayout, level_first: Ints, handles: dict[str, Any]
) -> NDArray[Any]:
    """Return the struct `Table` of the kernel."""
    table = np.zeros(1, CUDA_TABLE)
    table["n_digits"], table["n_slow"] = len(layout.sizes), layout.n_slow
    table["tile_states"] = layout.tile_states
    table["tile_cells"] = math.prod(layout.sizes[layout.n_slow :].tolist())
    table["n_levels"] = len(level_first) - 1
    for name, handle in handles.items():
        table[name] = device.address(handle)
    return table.view(np.uint8)
