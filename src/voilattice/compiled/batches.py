"""The compiled twin of `optimal.exact.batches`: V and F of one evidence set."""

from __future__ import annotations

import numpy as np

from voilattice.compiled.arrays import TOO_MUCH, DigitPrices, Floats, Ints, SetSteps
from voilattice.compiled.kernels import kernel

__all__ = ["solve_set"]


@kernel()
def solve_set(
    steps: SetSteps,
    sizes: Ints,
    strides: Ints,
    shared: Floats,
    prices: DigitPrices,
    mass: Floats,
    risk: Floats,
    scale: float,
    before: Floats,
    entries: Floats,
    value: Floats,
    asks: bool,
) -> None:
    """Write V and F of all values of one evidence set."""
    fixed, free = steps.fixed, steps.free
    n_sets = steps.masks.shape[0]
    digits = sizes.copy()
    digits[fixed] = 0
    own = np.zeros(sizes.shape[0])
    paid = np.zeros(n_sets)
    for cell in range(mass.shape[0]):
        base = 0
        for d in range(sizes.shape[0]):
            base += strides[d] * digits[d]
        for d in free:
            place = prices.starts[d]
            for other in range(sizes.shape[0]):
                place += prices.steps[d, other] * digits[other]
            own[d] = prices.own[place]
        best, p = scale * risk[cell], mass[cell]
        for j in range(1, n_sets):
            d, rest = steps.low[j], steps.rest[j]
            stride = strides[d]
            at = base + steps.offset[rest] - sizes[d] * stride
            after = 0.0
            for _ in range(sizes[d]):
                after += entries[at]
                at += stride
            if asks:
                entries[base + steps.offset[j]] = after
            paid[j] = paid[rest] + own[d]
            price = paid[j] + shared[j]
            if price < TOO_MUCH:
                best = min(best, price * p + after)
        value[cell] = best
        entries[base] = before[cell] if before.shape[0] else best
        for k in range(fixed.shape[0] - 1, -1, -1):
            d = fixed[k]
            digits[d] += 1
            if digits[d] < sizes[d]:
                break
            digits[d] = 0
