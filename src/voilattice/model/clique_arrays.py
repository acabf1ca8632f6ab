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

from voilattice.compiled.arrays import AXIS, CLIQUE, FEATURE, STATUS, CliqueTree, Messages
from voilattice.model.cliques import Clique, Cliques

__all__ = ["clique_tree", "new_messages"]


def clique_tree(cliques: Cliques, n_states: NDArray[np.int64]) -> CliqueTree:
    """Return the cliques as arrays for `compiled.join_tree`."""
    found = cliques.cliques
    m = len(cliques.mantissa)
    records = np.zeros(len(found), dtype=CLIQUE)
    records["parent"] = [clique.parent for clique in found]
    records["root"] = cliques.roots
    _number(records, "child", [len(clique.children) for clique in found])
    _number(records, "axis", [clique.n_features for clique in found])
    shapes = [clique.table.shape for clique in found]
    rows = [math.prod(s[: c.n_features]) for s, c in zip(shapes, found, strict=True)]
    for k, (clique, shape) in enumerate(zip(found, shapes, strict=True)):
        records["hidden"][k] = math.prod(shape[clique.n_features : clique.n_residual])
        records["separators"][k] = math.prod(shape[clique.n_residual : -1])
    records["table_at"] = _starts([clique.table.size for clique in found])[:-1]
    records["message_at"] = _starts((records["separators"] * m).tolist())[:-1]
    records["is_unit"] = [clique.is_unit for clique in found]
    records["least"] = cliques.least
    offsets: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64) for _ in found]
    for clique, count in zip(found, rows, strict=True):
        columns = clique.table.size // (m * count)
        for k in clique.children:
            child = found[k]
            shared = child.nodes[child.n_residual :]
            where, block, is_constant = _lie(clique, shared)
            records["n_blocks"][k] = columns // block
            records["repeats"][k], stretch = (block, 1) if is_constant else (1, block)
            records["stretch"][k] = stretch * m
            offsets[k] = where * m + records["message_at"][k]
    records["offsets_at"] = _starts([len(part) for part in offsets])[:-1]

    feature_at = {(p.clique, p.axis): f for f, p in enumerate(cliques.places) if p.clique >= 0}
    listed = [(k, axis) for k, clique in enumerate(found) for axis in range(clique.n_features)]
    axes = np.zeros(len(listed), dtype=AXIS)
    axes["feature"] = [feature_at[place] for place in listed]
    axes["n_states"] = n_states[axes["feature"]]
    digits = []
    for clique, count in zip(found, rows, strict=True):
        inner = count
        for size in clique.table.shape[: clique.n_features]:
            inner //= size
            digits.append(np.arange(count) // inner % size)
    axes["digits_at"] = _starts([len(part) for part in digits])[:-1]
    features = np.zeros(len(n_states), dtype=FEATURE)
    features["clique"] = [place.clique for place in cliques.places]
    features["fixed"] = [place.state for place in cliques.places]
    features["n_states"] = n_states
    return CliqueTree(
        cliques=records,
        children=np.array([k for clique in found for k in clique.children], dtype=np.int64),
        axes=axes,
        features=features,
        tables=cliques.flat,
        digits=np.concatenate([*digits, np.zeros(0)]).astype(np.int32),
        offsets=np.concatenate([*offsets, np.zeros(0)]).astype(np.int32),
        mantissa=cliques.mantissa,
        exponent=cliques.exponent,
        is_safe=int(cliques.is_safe),
    )


def new_messages(tree: CliqueTree) -> Messages:
    """Return the arrays that a thread needs to propagate evidence through a tree."""
    cliques, n_states = tree.cliques, tree.features["n_states"]
    n, m, n_features = len(cliques), len(tree.mantissa), len(n_states)
    n_cells = m * int(cliques["separators"].sum())
    columns = m * cliques["hidden"] * cliques["separators"]
    sizes = np.diff(cliques["table_at"], append=len(tree.tables))
    status = np.zeros(n, dtype=STATUS)
    status["is_dirty"] = status["is_plain"] = status["is_one"] = 1
    status["least"] = 1.0
    conditionals = np.zeros((n_features, int(n_states.max(initial=1)), m))
    is_fixed = tree.features["fixed"] >= 0
    conditionals[is_fixed, tree.features["fixed"][is_fixed]] = 1.0
    return Messages(
        known=np.full(n_features, -1, dtype=np.int64),
        cliques=status,
        tables=np.empty(len(tree.tables)),
        up=np.ones(n_cells),
        exponents=np.zeros((n, m), dtype=np.int64),
        down=np.empty(n_cells),
        conditionals=conditionals,
        active=np.empty(int((sizes // columns).max(initial=1)), dtype=np.int32),
        room=np.empty(int(columns.max(initial=1))),
        sums=np.empty(m),
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


def _number(records: NDArray[np.void], kind: str, counts: Sequence[int]) -> None:
    """Write down where the list of each record begins and ends."""
    starts = _starts(counts)
    records[f"first_{kind}"], records[f"last_{kind}"] = starts[:-1], starts[1:]
