"""The arrays that both twins of an engine take, as named tuples.

They are named tuples because numba can read the fields of a named tuple. They have their own module
because the readable twins import it and must not load numba.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BlockLayout",
    "DigitPrices",
    "Floats",
    "Flow",
    "Frames",
    "Growth",
    "Incumbent",
    "Ints",
    "Leaves",
    "Masks",
    "Offers",
    "PlainLayout",
    "Prices",
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


class DigitPrices(NamedTuple):
    """What acquiring a digit of a plain table costs (`optimal.plain`)."""

    own: Floats  # the tables of all own prices, one after the other
    starts: Ints  # where the table of each digit begins
    steps: Ints  # [i, d]: how far digit d moves in the table of i; 0: it does not matter
    group_of: Ints  # the group of each digit; -1: none
    overhead: Floats  # of each group; 0: paid for already


class PlainLayout(NamedTuple):
    """How a plain table is cut into tiles and rows (`optimal.plain`)."""

    sizes: Ints  # the number of values of each digit; the digit `size` means unknown
    n_slow: int  # the digits before this one are the same in a tile
    n_outer: int  # the digits before this one are the same in a row
    tile_states: int
    row_states: int
    # The steps inside a row: their digit and their state, states ascending.
    row_axis: Ints
    row_state: Ints
    # What the digits inside a tile say about each price, for each state of a tile:
    place: NDArray[np.int32]  # where its own price lies, from the place that the slow digits give
    is_open: Flags  # whether all members of its group inside the tile are unknown
    # Whether these differ from state to state; if not, `place` and `is_open` are not used.
    place_varies: Flags
    open_varies: Flags
