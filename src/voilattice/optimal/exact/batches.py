r"""The recursion of the optimal policy over steps that acquire sets, with limits on any path.

Where rounds cost something or are limited, a step acquires a set S and sees all of its values at
once. With V(e) = P(e) v(e), the recursion is

    V(e) = min( risk(e),  min_S  C(S | e) P(e) + F(e, S) ),      F(e, S) = Σ_s V(e, s),

over the feasible sets S of unknown features. F is a table of its own: a feature is known, unknown,
or *asked*. It need not be summed over all outcomes of S. Any member X_i of S gives

    F(e, S) = Σ_x F((e, x_i = x), S \ {i}),        F(e, ∅) = V(e),

so each entry takes one addition for each value of one feature. A feature with k values makes k + 2
times as many entries: 4^n for n binary features, where the sets and their outcomes one by one would
be 5^n. The evidence sets E are taken in descending order of size: the right sides are then there.

If rounds do not count and no set is cheaper together, steps of single features are enough. Then
nothing is asked, and a feature with k values makes k + 1 times as many entries.

Limits. The number of features on a path is the size of E. What the path has cost depends on E alone
if the prices do not depend on the order in which features are bought (`depends_on_order`), except
for the rounds. So a limit on features and a limit on spending only forbid some pairs (E, S). Where
the number of rounds counts against a limit, V is found for r = 0, 1, 2, ... rounds left, each from
the one before:

    V_0(e) = risk(e),      V_r(e) = min( risk(e),  min_S  C(S | e) P(e) + F_{r-1}(e, S) ).

States are not merged here: V has one entry for each partial assignment of R.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import TOO_MUCH, DigitPrices, Floats, Ints, SetSteps
from voilattice.engines import choose_engine
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits

__all__ = ["BatchTable", "solve_batches"]


@dataclass(frozen=True, slots=True)
class BatchTable:
    """Where the values of each evidence set lie, and what is decided there.

    An evidence set is a mask of digits, and all its values have their places one after another, the
    last digit fastest.
    """

    sizes: tuple[int, ...]  # of each digit
    starts: Ints  # where the values of each evidence set begin
    mass: Floats  # P(e)
    risk: Floats  # of deciding at e, at unit stakes

    def cells(self, known: int) -> int:
        """Return how many values an evidence set has."""
        return math.prod(self.sizes[d] for d in bits(known))

    def part(self, values: Floats, known: int) -> Floats:
        """Return the values of an evidence set."""
        start = int(self.starts[known])
        return values[start : start + self.cells(known)]


def solve_batches(
    table: BatchTable,
    prices: DigitPrices,
    shared: Callable[[int, Sequence[int], int], Floats],
    *,
    scale: float = 1.0,
    n_rounds: int | None = None,
    asks: bool = True,
    engine: str = "auto",
    deadline: Deadline | None = None,
) -> Floats:
    """Return V_r of every state: a row for each r, or one row if the rounds do not count.

    Parameters
    ----------
    prices
        The own price of each digit at each evidence (`plain.digit_prices`).
    shared
        What the sets of a list cost besides, once an evidence set is known with some rounds left:
        infinite for a set that cannot be acquired.
    scale
        The stakes, in units of those of the table.
    n_rounds
        How many rounds a path may have; None: any number.
    asks
        Whether a step may acquire several features.

    Raises
    ------
    TooLargeError
        The deadline is over before the table is solved.
    """
    n = len(table.sizes)
    radix = [size + 1 + asks for size in table.sizes]
    sizes = np.array(table.sizes, dtype=np.int64)
    strides = np.array([math.prod(radix[d + 1 :]) for d in range(n)], dtype=np.int64)
    entries = np.empty(math.prod(radix))  # F
    solve = _twin(choose_engine(engine, "batches", len(entries)))
    n_rows = 1 if n_rounds is None else n_rounds + 1
    value = np.empty((n_rows, len(table.mass)))
    if n_rounds is not None:
        np.multiply(table.risk, scale, out=value[0])
    order = sorted(range(1 << n), key=lambda known: -known.bit_count())
    for r in range(n_rows) if n_rounds is None else range(1, n_rows):
        before = value[0][:0] if n_rounds is None else value[r - 1]
        for known in order:
            if deadline is not None and deadline.is_over:
                raise TooLargeError("the states were not solved in time")
            steps = _set_steps(table.sizes, known, strides, asks=asks)
            paid = shared(known, steps.masks.tolist(), r)
            solve(
                steps, sizes, strides, paid, prices,
                table.part(table.mass, known), table.part(table.risk, known), scale,
                table.part(before, known) if len(before) else before,
                entries, table.part(value[r], known), asks,
            )  # fmt: skip
    return value


def _set_steps(sizes: Sequence[int], known: int, strides: Ints, *, asks: bool) -> SetSteps:
    """Return the sets that a step may acquire once an evidence set is known; the first is ∅."""
    free = [d for d in range(len(sizes)) if not known >> d & 1]
    masks: NDArray[np.int64] = np.zeros(1, np.int64)
    low, rest, offset = np.full(1, -1), np.zeros(1, np.int64), np.zeros(1, np.int64)
    for d in free:
        # Each set so far, and this digit: then the set without it comes before the set with it.
        count = len(masks) if asks else 1
        low = np.concatenate([low, np.full(count, d)])
        rest = np.concatenate([rest, np.arange(count)])
        offset = np.concatenate([offset, offset[:count] + strides[d]])
        masks = np.concatenate([masks, masks[:count] | 1 << d])
    fixed = np.array(list(bits(known)), dtype=np.int64)
    return SetSteps(fixed, np.array(free, dtype=np.int64), masks, low, rest, offset)


def _solve_numpy(
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
    """Write V and F of all values of one evidence set: the recursion as the module states it."""
    shape = [int(sizes[d]) for d in steps.fixed]
    values = np.indices(shape).reshape(len(shape), len(mass))
    digits = dict(zip(steps.fixed.tolist(), values, strict=True))
    digits |= {d: np.full(len(mass), sizes[d]) for d in steps.free.tolist()}
    base = sum((strides[d] * digits[d] for d in digits), np.zeros(len(mass), np.int64))
    own = {d: _own_price(d, digits, prices) for d in steps.free.tolist()}
    np.multiply(risk, scale, out=value)
    paid = [np.zeros(len(mass))]  # the own prices of each set
    for j in range(1, len(steps.masks)):
        d, rest = int(steps.low[j]), int(steps.rest[j])
        paid.append(paid[rest] + own[d])
        unknown = base + steps.offset[rest]
        after = sum(
            (entries[unknown - (sizes[d] - x) * strides[d]] for x in range(sizes[d])),
            np.zeros(len(mass)),
        )
        if asks:
            entries[base + steps.offset[j]] = after
        price = paid[j] + shared[j]
        total = np.where(price < TOO_MUCH, price, 0.0) * mass + after
        np.minimum(value, np.where(price < TOO_MUCH, total, np.inf), out=value)
    entries[base] = before if len(before) else value


def _own_price(d: int, digits: dict[int, Ints], prices: DigitPrices) -> Floats:
    place = prices.starts[d] + sum(
        int(prices.steps[d, other]) * digits[other] for other in sorted(digits)
    )
    price: Floats = prices.own[place]
    return price


def _twin(engine: str) -> Callable[..., None]:
    if engine == "python":
        return _solve_numpy
    from voilattice.compiled.batches import solve_set

    solve: Callable[..., None] = solve_set
    return solve
