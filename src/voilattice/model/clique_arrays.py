"""Cliques as flat arrays, for the compiled twin of `join_tree`.

The table of a clique is [row, hidden value, separator value, class] (`compiled.arrays.CliqueTree`).
A message is multiplied into a row of the parent's table, and summed from it, in blocks of memory:
the last axes of the row, as long as the message has all of them or none of them. Where the blocks
lie in the message is written down once, so the passes never divide an index.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import CliqueTree, Messages
from voilattice.model.cliques import Clique, Cliques

__all__ = ["clique_tree", "new_messages"]


def clique_tree(cliques: Cliques, n_states: NDArray[np.int64]) -> CliqueTree:
    """Return the cliques as arrays for `compiled.join_tree`."""
    found = cliques.cliques
    n, m = len(found), len(cliques.mantissa)
    shapes = [clique.table.shape for clique in found]
    rows = [math.prod(s[: c.n_features]) for s, c in zip(shapes, found, strict=True)]
    hidden = [math.prod(s[c.n_features : c.n_residual]) for s, c in zip(shapes, found, strict=True)]
    separators = [math.prod(s[c.n_residual : -1]) for s, c in zip(shapes, found, strict=True)]
    feature_at = {(p.clique, p.axis): f for f, p in enumerate(cliques.places) if p.clique >= 0}
    features = [[feature_at[k, axis] for axis in range(c.n_features)] for k, c in enumerate(found)]
    message_at = _starts([size * m for size in separators])
    digits = []
    for clique, count in zip(found, rows, strict=True):
        inner = count
        for size in clique.table.shape[: clique.n_features]:
            inner //= size
            digits.append(np.arange(count) // inner % size)
    n_blocks, block = np.ones(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    is_constant = np.zeros(n, dtype=np.uint8)
    offsets: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64) for _ in found]
    for clique, count in zip(found, rows, strict=True):
        columns = clique.table.size // (m * count)
        for k in clique.children:
            child = found[k]
            shared = child.nodes[child.n_residual :]
            where, block[k], is_constant[k] = _lie(clique, shared)
            n_blocks[k] = columns // block[k]
            offsets[k] = where * m + message_at[k]
    return CliqueTree(
        parent=np.array([clique.parent for clique in found], dtype=np.int64),
        root=np.array(cliques.roots, dtype=np.int64),
        children=_lists([clique.children for clique in found]),
        rows=np.array(rows, dtype=np.int64),
        hidden=np.array(hidden, dtype=np.int64),
        separators=np.array(separators, dtype=np.int64),
        tables=cliques.flat,
        table_at=_starts([clique.table.size for clique in found])[:-1],
        message_at=message_at,
        is_unit=np.array([clique.is_unit for clique in found], dtype=np.uint8),
        least=cliques.least,
        features=_lists(features),
        digits_at=_starts([len(part) for part in digits]),
        digits=np.concatenate([*digits, np.zeros(0)]).astype(np.int32),
        n_blocks=n_blocks,
        block=block,
        is_constant=is_constant,
        offsets_at=_starts([len(part) for part in offsets]),
        offsets=np.concatenate([*offsets, np.zeros(0)]).astype(np.int32),
        clique_of=np.array([place.clique for place in cliques.places], dtype=np.int64),
        fixed=np.array([place.state for place in cliques.places], dtype=np.int64),
        n_states=n_states,
        mantissa=cliques.mantissa,
        exponent=cliques.exponent,
        is_safe=int(cliques.is_safe),
    )


def new_messages(tree: CliqueTree) -> Messages:
    """Return the arrays that a thread needs to propagate evidence through a tree."""
    n, m, n_features = len(tree.parent), len(tree.mantissa), len(tree.n_states)
    return Messages(
        is_started=np.zeros(1, dtype=np.uint8),
        known=np.full(n_features, -1, dtype=np.int64),
        tables=np.empty(len(tree.tables)),
        is_plain=np.ones(n, dtype=np.uint8),
        up=np.ones(tree.message_at[-1]),
        is_one=np.ones(n, dtype=np.uint8),
        exponents=np.zeros((n, m), dtype=np.int64),
        least=np.ones(n),
        down=np.empty(tree.message_at[-1]),
        is_dirty=np.zeros(n, dtype=np.uint8),
        is_wanted=np.zeros(n, dtype=np.uint8),
        conditionals=np.zeros((n_features, int(tree.n_states.max(initial=1)), m)),
        active=np.empty(int(tree.rows.max(initial=1)), dtype=np.int32),
        room=np.empty(int((tree.hidden * tree.separators).max(initial=1)) * m),
        sums=np.empty(m),
        mantissas=np.empty(m),
        shifts=np.empty(m, dtype=np.int64),
    )


def _lie(clique: Clique, shared: Sequence[int]) -> tuple[NDArray[np.int64], int, bool]:
    """Return where a message over `shared` lies in a row of a clique's table.

    That is, for each row and block, which cell of the message; the cells of a block; and whether a
    block is the same cell again and again.
    """
    sizes = clique.table.shape[:-1]
    is_shared = [node in shared for node in clique.nodes]
    is_constant = not is_shared[-1] if clique.n_features < len(clique.nodes) else False
    # The block: the last axes that are all shared or all not, and are not row axes.
    split = len(sizes)
    while split > clique.n_features and is_shared[split - 1] != is_constant:
        split -= 1
    cells = np.zeros((), dtype=np.int64)
    for axis in range(split):
        if is_shared[axis]:
            cells = cells[..., None] * sizes[axis] + np.arange(sizes[axis])
        else:
            cells = np.repeat(cells[..., None], sizes[axis], axis=-1)
    block = math.prod(sizes[split:])
    return cells.reshape(-1) * (1 if is_constant else block), block, is_constant


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return where each of several parts begins, and where the last one ends."""
    return np.cumsum([0, *sizes], dtype=np.int64)


def _lists(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return lists as one array, and where each list begins."""
    flat = [item for items in lists for item in items]
    return _starts([len(items) for items in lists]), np.array(flat, dtype=np.int64)
