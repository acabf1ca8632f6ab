"""Sets of features: as masks, as rows of words, as flags.

Outside, a set of features is a frozenset of names. Inside it is one of three things:

- a *mask*, an integer whose bit k stands for feature k: one set;
- a row of 64-bit *words*, the lowest features first: one of many sets, 8 bytes for 64 features;
- a row of flags, one for each feature: one of many sets, to index arrays with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Words", "bits", "mask_of", "membership", "sort_keys", "to_mask", "to_words"]

Words: TypeAlias = NDArray[np.uint64]


def bits(mask: int) -> Iterator[int]:
    """Return the places of the ones in a mask, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(places: Iterable[int]) -> int:
    """Return the mask with ones at these places."""
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def to_words(found: Collection[int], n_words: int) -> Words:
    """Return sets that are given as bitmasks, a row each."""
    low = (1 << 64) - 1
    rows = [[mask >> 64 * w & low for w in range(n_words)] for mask in found]
    return np.array(rows, dtype=np.uint64).reshape(len(found), n_words)


def to_mask(row: Words) -> int:
    """Return the set in a row as a bitmask."""
    return sum(int(word) << 64 * w for w, word in enumerate(row))


def membership(rows: Words, n: int) -> NDArray[np.bool_]:
    """Return which of n features is in which set: one row a set, one column a feature."""
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    return bits[:, :n].view(np.bool_)


def sort_keys(rows: Words) -> NDArray[np.bytes_]:
    """Return one value for each row, in the order of the sets as numbers."""
    big_endian = np.ascontiguousarray(rows[:, ::-1].astype(">u8"))
    return big_endian.view(f"S{8 * rows.shape[1]}")[:, 0]
