"""The arrays that both twins of an engine take, as named tuples.

They are named tuples because numba can read the fields of a named tuple. They have their own module
because the readable twins import it and must not load numba.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BeliefGrid",
    "BlockLayout",
    "Floats",
    "Flow",
    "Frames",
    "Growth",
    "Incumbent",
    "Ints",
    "Leaves",
    "Masks",
    "Offers",
    "Prices",
    "RepeatSteps",
    "RepeatTables",
    "StateTables",
]

Masks: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.uint8]


class Growth(NamedTuple):
    """A graph, prepared for the floods of many sets given E (`lattice.growth`)."""

    candidates: Ints  # the features that are relevant given E
    feature_nodes: Ints  # the node of each feature
    target: int
    blocked: Flags  # for each node: is it in E?
    inside: Flags  # for each node: is it an ancestor of Y or E?
    ancestors: Flags  # [node, ancestor]
    containing: tuple[Ints, Ints]  # the families of each node: where its list begins, all lists
    family: tuple[Ints, Ints]  # the members of each family, in the same form


class Flow(NamedTuple):
    """A graph as masks of nodes, axes first, and what prices depend on (`optimal.blocks`)."""

    family: Masks
    families_of: Masks
    ancestors: Masks
    children: Masks
    parents: Masks
    conditions: Masks  # what the price of each axis depends on
    group_of: Ints  # the group of each axis; -1: none
    groups: Masks  # the members of each group
    evidence: np.uint64
    target: int


class Leaves(NamedTuple):
    """The arrays into which a walk of the trie of sets writes its results (`valuation.tables`)."""

    found: Floats  # sum_s P(s, e) EMC(e, s) of each set, if `starts` is empty
    starts: Ints  # where each set begins in `mass` and `risk`; empty: these two are not written
    mass: Floats  # P(s, e)
    risk: Floats  # min_i sum_j c_ij P(y_j, s, e)


class Offers(NamedTuple):
    """What the features of a table cost, to search the best set (`valuation.best_set`)."""

    sizes: Ints  # of each axis
    places: Ints  # the position of each axis in the problem's order of features
    prices: Floats
    groups: Ints  # the open group of each axis; -1: none
    overheads: Floats  # of each open group
    cost: Floats  # c_ij
    now: float  # EMC, on the scale of the table
    scale: float  # amounts of money per amount on the scale of the table
    tolerance: float


class Frames(NamedTuple):
    """The stack of a branch and bound: a node (K, U) in each place (`valuation.best_set`)."""

    # The next axis, where the table begins (-1: the root), its outer and its inner size, and from
    # where on the room is free.
    places: Ints
    keeps: Masks  # K
    amounts: Floats  # what K costs, and the expected EMC of K ∪ U


class Incumbent(NamedTuple):
    """The best set so far, to be written over (`valuation.best_set`)."""

    # Its benefit, its number of features, its cost, and its first feature that is not among the
    # axes (or `NOWHERE`).
    facts: Floats
    key: Masks  # the set, as a mask of axes


class BlockLayout(NamedTuple):
    """Blocks of states and the steps between them, as `optimal.blocks` finds them."""

    first: Ints  # the steps of block b are first[b] ... first[b + 1]
    axis: Ints  # what each step acquires
    child: Ints  # the block that each step leads to
    kept: Masks  # K of each block
    start: Ints  # where the states of each block begin
    cells: Ints  # the number of states of each block
    sizes: Ints  # of each axis


class StateTables(NamedTuple):
    """P(e_K) and the risk at unit stakes of every state, and P(e_D | e_B) of every step."""

    mass: Floats
    risk: Floats
    at: Ints  # where the mass and risk of each block begin
    factor_of: Ints  # the P(e_D | e_B) of each step; -1: it forgets nothing
    factor_masks: Masks
    factor_starts: Ints
    factors: Floats


class Prices(NamedTuple):
    """What each step costs, and which steps can pay at all."""

    least: Floats  # the lowest price of each step, over all evidence
    surcharge: Floats  # the overhead of a group that is not paid for yet
    of: Ints  # the own price of each step
    masks: Masks  # what each own price depends on
    starts: Ints
    own: Floats
    gain: Floats  # of each block: the most that free information reduces the risk
    scale: float  # of the stakes, relative to unit stakes


class BeliefGrid(NamedTuple):
    """A triangulation of the beliefs over Y (`optimal.repeats`)."""

    knots: Floats  # of each coordinate of a belief, from 0 to 1
    buckets: Ints  # the last knot at or below k / (the number of buckets)
    rank: Ints  # [k, j]: what knot j of coordinate k adds to the number of a grid point
    points: Floats  # [g, y]: the beliefs


class RepeatTables(NamedTuple):
    """The bound "once or repeatedly" at every evidence (`optimal.repeats`).

    h is a value of the hub, y a class, i a feature of the problem, x one of its values.
    """

    prior: Floats  # [h, y]: P(y, h | e), e the problem's own evidence
    likelihood: Floats  # [i, x, h, y]: P(x | y, h); 1 if feature i tells nothing or is known
    stride: Ints  # [h, i]: what buying feature i adds to the number m of the counts
    start: Ints  # where the values of each h begin
    grid: BeliefGrid
    values: Floats  # W(m, b) at the grid points b of each m of each h


class RepeatSteps(NamedTuple):
    """What can be bought at one value of the hub, to solve W (`optimal.repeats`)."""

    prices: Floats  # the least price of each feature
    pools: Ints  # the pool of each feature; -1: it can be bought any number of times
    strides: Ints  # of each pool
    sizes: Ints  # of each pool: how often its members can be bought in all
    group_of: Ints  # the group with an overhead of each feature; -1: none
    overheads: Floats  # of each group
    group_pools: Ints  # [group, pool]: 1 if buying from the pool pays for the group
    n_corners: Ints  # of each feature: how many j there are
    # [i, j, g]: outcome x and corner k of the simplex around the next belief, together in j
    corners: NDArray[np.int32]
    weights: Floats  # [i, j, g]: P(x | b) times the weight of the corner
    risk: Floats  # rho at each grid point
