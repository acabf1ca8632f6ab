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
    "CliqueTree",
    "Floats",
    "Flow",
    "Frames",
    "Growth",
    "Incumbent",
    "Ints",
    "Leaves",
    "Masks",
    "Messages",
    "Offers",
    "Places",
    "Prices",
    "StateTables",
]

Masks: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.uint8]
Places: TypeAlias = NDArray[np.int32]


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


class CliqueTree(NamedTuple):
    """A join tree, children before parents (`model.join_tree`).

    The table of a clique is [row, hidden, separator, class]. A row is a value of its residual
    features, the first feature slowest. A message is [separator, class].
    """

    parent: Ints  # of each clique; -1: none
    root: Ints  # of each clique
    children: tuple[Ints, Ints]  # of each clique: where its list begins, all lists
    rows: Ints  # how many rows, hidden values and separator values each clique has
    hidden: Ints
    separators: Ints
    tables: Floats
    table_at: Ints  # where each clique's table begins
    message_at: Ints  # where each clique's message begins
    is_unit: Flags  # is the message 1 if nothing is known in the clique and below?
    least: Floats  # the least positive entry of each table
    features: tuple[Ints, Ints]  # the residual features of each clique, in the form of `children`
    digits_at: Ints  # for each entry of these lists: where its digits begin
    digits: Places  # the state of the feature in each row
    # How the message of each clique lies in its parent's table. A row of the parent is `n_blocks`
    # blocks of `block` cells. A block is a stretch of the message or, if `is_constant`, the same
    # cell of it again and again. `offsets` says where, for each row and block.
    n_blocks: Ints
    block: Ints
    is_constant: Flags
    offsets_at: Ints
    offsets: Places
    clique_of: Ints  # of each feature; -1: it has a fixed state
    fixed: Ints  # the fixed state of each feature; -1: none
    n_states: Ints  # of each feature
    mantissa: Floats  # g(y) = mantissa * 2**exponent
    exponent: Ints
    is_safe: int  # can no product underflow?


class Messages(NamedTuple):
    """What a join tree knows of the last evidence, to be written over (`model.join_tree`)."""

    is_started: Flags  # one flag
    known: Ints  # the state of each feature; -1: unknown
    tables: Floats  # t_C, where `is_plain` is not set; otherwise t_C is the table of the tree
    is_plain: Flags
    up: Floats
    is_one: Flags  # is the message of a clique 1 everywhere? Then it is not written
    exponents: Ints  # [clique, class]
    least: Floats  # the least positive entry of each message
    down: Floats
    is_dirty: Flags
    is_wanted: Flags
    conditionals: Floats  # P(x_i | y, e), [feature, state, class]
    active: Places  # room for the numbers of rows
    room: Floats  # room for a row
    sums: Floats  # room for a number for each class
    mantissas: Floats
    shifts: Ints
