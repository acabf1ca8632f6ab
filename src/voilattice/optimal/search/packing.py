"""Packed states: how a search writes evidence as digits, and digits as words.

A state e has one digit for each feature: its value, or `size` if it is unknown. The digits are
those of a number in mixed radix. As many digits as fit share a word of 64 bits, and the words of a
state are its key in a hash table. Changing a digit adds a multiple of its radix to one word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voilattice.compiled.arrays import (
    KEY,
    DigitPrices,
    Floats,
    Ints,
    SearchRoom,
    SearchSpace,
    StateRows,
)
from voilattice.model.elimination import LEAST_MASS

__all__ = ["enter_state", "search_room", "search_space", "state_rows"]

UPPER_EVERY = 4  # every so many trials, the upper bounds are followed
SLACK = 1e-11  # relative to the cost of deciding at the root; bounds this close are equal


def search_space(
    sizes: Sequence[int], cost: Floats, prices: DigitPrices, now: float
) -> SearchSpace:
    """Pack the digits of a state into words, and gather what the kernels need."""
    word, radix = np.zeros(len(sizes), np.int64), np.ones(len(sizes), np.uint64)
    w, product = 0, 1
    for i, size in enumerate(sizes):
        if product * (size + 1) > 1 << 64:
            w, product = w + 1, 1
        word[i], radix[i] = w, product
        product *= size + 1
    return SearchSpace(
        np.array(sizes, dtype=np.int64),
        word,
        radix,
        np.ascontiguousarray(cost, dtype=np.float64),
        prices,
        (prices.steps != 0).any(axis=1).astype(np.uint8),
        float(prices.own.min(initial=np.inf)),
        LEAST_MASS,
        SLACK * now,
        UPPER_EVERY,
    )


def search_room(space: SearchSpace) -> SearchRoom:
    """Return the room to work, at the root."""
    n, m = len(space.sizes), space.cost.shape[1]
    room = SearchRoom(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(int(space.word.max(initial=0)) + 1, np.uint64),
        np.zeros((n + 1, 2), np.int64),
        np.zeros(n),
        np.zeros(int(space.prices.group_of.max(initial=-1)) + 1, np.uint8),
        np.zeros(m),
        np.zeros((n, int(space.sizes.max(initial=1)), m)),
        np.zeros((5, n + 1), np.int64),
        np.zeros((0, m)),
        np.zeros(0, np.int64),
    )
    enter_state(space.sizes, space, room)
    return room


def enter_state(digits: Ints, space: SearchSpace, room: SearchRoom) -> None:
    """Make these digits the current state."""
    room.digits[:] = digits
    room.known[:] = np.where(digits < space.sizes, digits, -1)
    room.key[:] = 0
    np.add.at(room.key, space.word, digits.astype(np.uint64) * space.radix)


def state_rows(n_rows: int, n_words: int) -> StateRows:
    """Return an empty table of states."""
    words = np.zeros((n_rows, KEY + n_words), np.uint64)
    return StateRows(
        words.view(np.float64), words, np.zeros(n_rows, np.uint8), np.zeros(3, np.int64)
    )
