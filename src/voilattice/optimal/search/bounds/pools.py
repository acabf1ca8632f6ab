"""Pools: how the features of a value of the hub can be bought (`repeats`), and where that leads.

From a pool no more is bought than it has members. What was bought is counted in m, one digit a
pool: with n_k the size of pool k and m_k what was bought from it,

    m = sum_k m_k s_k,        s_0 = 1,   s_k+1 = s_k (n_k + 1)                (the strides).

A feature is bought at its least price. What the first of its group or discount pays in addition is
added if all members are in pools and none of these was touched: only then do the counts tell that
it is due.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple

import numpy as np

from voilattice.compiled.arrays import BeliefGrid, Ints, RepeatSteps
from voilattice.model.costs import Sharing
from voilattice.model.problem import Problem
from voilattice.optimal.search.bounds.hubs import Hub

__all__ = ["Shape", "make_pools", "make_steps", "n_counts"]

ALMOST_FREE = 1e-5  # a lower price, as a share of the stakes, would be paid again and again


class Shape(NamedTuple):
    """How the features of a value of the hub can be bought."""

    n_once: int  # so many features once, those that tell most for their price
    n_pools: int  # the others from so many pools; 0: each of them any number of times


def make_pools(hub: Hub, ranked: Sequence[int], shape: Shape) -> list[list[int]]:
    """Return a pool for each feature that is bought once, and pools of about equal size for others.

    Without such pools, one pool has the features that are almost free: they would be repeated
    without end.
    """
    once, left, n_pools = ranked[: shape.n_once], ranked[shape.n_once :], shape.n_pools
    if not n_pools:
        left = [i for i in left if hub.prices[i] <= ALMOST_FREE * hub.cost.max()]
        n_pools = 1
    cuts = [len(left) * k // n_pools for k in range(n_pools + 1)]
    pools = [[i] for i in once] + [list(left[a:b]) for a, b in pairwise(cuts)]
    return [pool for pool in pools if pool]


def n_counts(pools: Sequence[Sequence[int]]) -> int:
    """Return how many different counts m there are."""
    return math.prod(len(pool) + 1 for pool in pools)


def make_steps(
    problem: Problem,
    hub: Hub,
    h: int,
    grid: BeliefGrid,
    pools: Sequence[Sequence[int]],
    twin: ModuleType,
) -> RepeatSteps:
    """Return what can be bought at a value of the hub, and where it leads."""
    features = np.flatnonzero(hub.tells[h])
    n, n_states, n_classes = len(features), hub.likelihood.shape[1], hub.prior.shape[1]
    shape = (n, n_states * n_classes, len(grid.points))
    corners, weights = np.empty(shape, np.int32), np.empty(shape)
    likelihood = np.ascontiguousarray(hub.likelihood[features, :, h])
    twin.follow(grid, likelihood, corners, weights)
    pool_of = np.full(len(problem.features), -1)
    for k, pool in enumerate(pools):
        pool_of[list(pool)] = k
    sizes = np.array([len(pool) for pool in pools], dtype=np.int64)
    strides = np.concatenate([[1], np.cumprod(sizes + 1)[:-1]])[: len(pools)].astype(np.int64)
    groups = _counted_groups(problem, pool_of)
    group_of, surcharges = np.full(len(problem.features), -1), np.zeros(len(problem.features))
    group_pools = np.zeros((len(groups), len(pools)), np.int64)
    for k, group in enumerate(groups):
        members = [problem.features.index(name) for name in group.features]
        group_of[members], surcharges[members] = k, list(group.surcharges.values())
        group_pools[k, pool_of[members]] = 1
    return RepeatSteps(
        hub.prices[features],
        pool_of[features],
        strides,
        sizes,
        group_of[features],
        surcharges[features],
        group_pools,
        np.array(
            [n_classes * len(problem.states(problem.features[i])) for i in features], np.int64
        ),
        corners,
        weights,
        (hub.cost @ grid.points.T).min(axis=0),
    )


def _counted_groups(problem: Problem, pool_of: Ints) -> list[Sharing]:
    """Return the groups and discounts whose members are all in pools."""
    return [
        group
        for group in problem.pricing.unopened(problem.evidence)
        if all(pool_of[problem.features.index(name)] >= 0 for name in group.features)
    ]
