"""Sets of features: as masks, as rows of words, as flags.

Users see a set of features as a frozenset of names. The code represents it in three ways:

- a *mask*: an integer whose bit k stands for feature k, for one set;
- a row of 64-bit *words*, the lowest features first: compact (8 bytes for 64 features), for many
  sets;
- a row of flags, one for each feature: for many sets, to index arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Words",
    "bits",
    "find_circle",
    "mask_of",
    "membership",
    "sort_keys",
    "to_mask",
    "to_words",
]

Words: TypeAlias = NDArray[np.uint64]


def bits(mask: int) -> Iterator[int]:
    """Return the positions of the ones in a mask, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(places: Iterable[int]) -> int:
    """Return the mask with ones at these positions."""
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def to_words(found: Collection[int], n_words: int) -> Words:
    """Return sets, given as bitmasks, as rows of words."""
    low = (1 << 64) - 1
    rows = [[mask >> 64 * w & low for w in range(n_words)] for mask in found]
    return np.array(rows, dtype=np.uint64).reshape(len(found), n_words)


def to_mask(row: Words) -> int:
    """Return a row of words as a bitmask."""
    return sum(int(word) << 64 * w for w, word in enumerate(row))


def membership(rows: Words, n: int) -> NDArray[np.bool_]:
    """Return which of n features each set contains: one row per set, one column per feature."""
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    return bits[:, :n].view(np.bool_)


def sort_keys(rows: Words) -> NDArray[np.bytes_]:
    """Return one value for each row; the values sort as the sets do as numbers."""
    big_endian = np.ascontiguousarray(rows[:, ::-1].astype(">u8"))
    return big_endian.view(f"S{8 * rows.shape[1]}")[:, 0]


def find_circle(needs: Mapping[str, Collection[str]]) -> list[str] | None:
    """Return features of which each needs the next to come first, or None: there is an order.

    >>> find_circle({"B": ["A"], "A": ["B"]}), find_circle({"B": ["A"]})
    (['B', 'A', 'B'], None)
    """
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return None
