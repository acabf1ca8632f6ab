r"""A grid of beliefs over the target, and the mean of grid points that a belief is.

A belief b over m classes has the coordinates s_k = b_{k+1} + ... + b_m, with 1 >= s_1 >= s_2 >= ...
The knots 0 = t_0 < t_1 < ... = 1 divide every coordinate in the same way. A cell of the grid is cut
into simplices by the order of the shares u_k that the coordinates have of their sides (Kuhn's
triangulation). The corners around b are reached from the lowest one by raising the coordinates to
the next knot one by one, the largest share first, and b is the mean of these corners with weights

    1 - u_(1),  u_(1) - u_(2),  ...,  u_(m-1).

All corners are beliefs: of two coordinates in the same cell the lower one never comes first.
"""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np

from voilattice.compiled.arrays import BeliefGrid, Floats, Ints

__all__ = ["angular_knots", "locate", "make_grid"]

N_BUCKETS = 1 << 12


def angular_knots(n: int) -> Floats:
    """Return knots sin^2 of evenly spaced angles: closer where a class is almost sure.

    Measured in this angle, a result moves a belief about equally far everywhere.
    """
    knots: Floats = np.sin(np.linspace(0.0, math.pi / 2, n)) ** 2
    knots[-1] = 1.0
    return knots


def make_grid(knots: Floats, n_classes: int) -> BeliefGrid:
    """Return the grid with these knots of each coordinate."""
    d, n = n_classes - 1, len(knots)
    rank = np.array(
        [[math.comb(j + d - 1 - k, d - k) for j in range(n)] for k in range(d)], dtype=np.int64
    )
    js = np.array(
        [js for js in product(range(n), repeat=d) if all(a >= b for a, b in pairwise(js))]
    )
    js = js[np.argsort(rank[np.arange(d), js].sum(axis=1))]
    edge = np.ones((len(js), 1))
    s = np.concatenate([edge, knots[js], 0 * edge], axis=1)
    buckets = np.searchsorted(knots, np.arange(N_BUCKETS + 1) / N_BUCKETS, side="right") - 1
    return BeliefGrid(knots, np.clip(buckets, 0, n - 2), rank, s[:, :-1] - s[:, 1:])


def locate(grid: BeliefGrid, beliefs: Floats) -> tuple[Ints, Floats]:
    """Return the corners around beliefs [..., y] and their weights, as [k, ...]."""
    d, knots = beliefs.shape[-1] - 1, grid.knots
    s = np.minimum(np.cumsum(beliefs[..., :0:-1], axis=-1)[..., ::-1], 1.0)
    j = np.clip(np.searchsorted(knots, s, side="right") - 1, 0, len(knots) - 2)
    u = (s - knots[j]) / (knots[j + 1] - knots[j])
    order = np.argsort(-u, axis=-1, kind="stable")
    k = np.arange(d)
    step = np.take_along_axis(grid.rank[k, j + 1] - grid.rank[k, j], order, axis=-1)
    lowest = grid.rank[k, j].sum(axis=-1)
    corners = np.stack([lowest, *(lowest + step[..., : n + 1].sum(axis=-1) for n in range(d))])
    edge = np.ones((*u.shape[:-1], 1))
    u = np.concatenate([edge, np.take_along_axis(u, order, axis=-1), 0 * edge], axis=-1)
    return corners, np.moveaxis(u[..., :-1] - u[..., 1:], -1, 0)
