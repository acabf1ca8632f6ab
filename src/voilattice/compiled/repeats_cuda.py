"""The twin of `optimal.search.bounds.repeat_values.solve` on a GPU (``repeats.cu``)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Floats, Ints, RepeatSteps
from voilattice.devices import THREADS, Device, Kernel

__all__ = ["fits_device", "solve_on_device"]

_ARRAYS = (
    "prices", "pools", "strides", "sizes", "group_of", "surcharges", "group_pools", "n_corners",
    "corners", "weights", "risk",
)  # fmt: skip
KERNEL = Kernel("repeats.cu", "solve_counts", (("NEVER", "1e300"),))


def fits_device(device: Device, n_counts: int, n_points: int) -> bool:
    """Return whether W of so many counts fits the device, with all that is needed beside it."""
    values = 8 * n_counts * n_points
    return 2 * values <= device.free_bytes and _room_bytes(n_points) <= device.room_bytes


def solve_on_device(
    device: Device,
    steps: RepeatSteps,
    levels: Iterable[Ints],
    tolerance: float,
    max_rounds: int,
    n_sweeps: int,
    out: Floats,
    deadline: Deadline,
) -> None:
    """Write W(m, .) for all counts.

    Parameters
    ----------
    levels
        The counts, the largest first; those of one level do not need each other.
    """
    arrays = {name: device.put(np.ascontiguousarray(getattr(steps, name))) for name in _ARRAYS}
    n_features, max_corners, n_points = steps.weights.shape
    struct = np.array(
        [
            *(n_features, len(steps.strides), n_points, max_corners),
            *(device.address(handle) for handle in arrays.values()),
        ],
        dtype=np.int64,
    )
    given, values = device.put(struct), device.empty(len(out), np.float64)
    for counts in levels:
        if deadline.is_over:
            return
        device.launch(
            KERNEL, len(counts), _room_bytes(n_points),
            given, device.put(counts.astype(np.int64)), tolerance, max_rounds, n_sweeps, values,
        )  # fmt: skip
    device.wait()
    out[:] = device.get(values)


def _room_bytes(n_points: int) -> int:
    """Return the shared memory of a block: three numbers and a step a point, one a thread."""
    return 8 * (3 * n_points + THREADS) + 4 * n_points
