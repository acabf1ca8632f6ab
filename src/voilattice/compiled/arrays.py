"""The arrays that both twins of an engine take, as named tuples.

They are named tuples because numba can read the fields of a named tuple. They have their own module
because the readable twins import it and must not load numba.

A group in these arrays is a group or a discount of the problem file. Its first member that is
acquired pays a surcharge, each member its own.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AXIS",
    "CLIQUE",
    "FEATURE",
    "LEAST_BRANCH",
    "LEAST_GAIN",
    "PRUNING_SLACK",
    "SAME_SCORE",
    "STATUS",
    "TOO_MUCH",
    "BeliefGrid",
    "BlockLayout",
    "CliqueTree",
    "CodedCases",
    "DigitPrices",
    "Floats",
    "Flow",
    "Frames",
    "GrownTree",
    "Growth",
    "Incumbent",
    "Ints",
    "Leaves",
    "Masks",
    "Messages",
    "Offers",
    "Places",
    "PlainLayout",
    "Prices",
    "Records",
    "RepeatSteps",
    "RepeatTables",
    "SetSteps",
    "StateTables",
    "TreeBias",
    "TreeStakes",
]

# Prices from here on are of steps that are not feasible (`acquisition.INFEASIBLE`).
TOO_MUCH = 1e140

# Of the trees of C4.5: two branches have so many cases; what a gain must exceed; scores that differ
# by less are equal; so many errors more are expected of a leaf that replaces a subtree.
LEAST_BRANCH = 2
LEAST_GAIN = 1e-9
SAME_SCORE = 1.0 + 1e-9
PRUNING_SLACK = 0.1

Masks: TypeAlias = NDArray[np.uint64]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.uint8]
Places: TypeAlias = NDArray[np.int32]
Records: TypeAlias = NDArray[np.void]


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
    conditions: Masks  # what the price of each axis, or `only_if`, depends on
    unlockers: Masks  # what comes before each axis
    locks: Masks  # what `not_if` of each axis names
    group_of: Ints  # the group of each axis; -1: none
    groups: Masks  # the members of each group
    opens: Masks  # the mates that each axis can make cheaper than it costs
    openers: np.uint64  # the axes that can make mates cheaper
    evidence: np.uint64
    target: int


class Leaves(NamedTuple):
    """The arrays into which a walk of the trie of sets writes its results (`valuation.tables`)."""

    found: Floats  # sum_s P(s, e) EMC(e, s) of each set, if `starts` is empty
    starts: Ints  # where each set begins in `mass` and `risk`; empty: these two are not written
    mass: Floats  # P(s, e)
    risk: Floats  # min_i sum_j c_ij P(y_j, s, e)


class Offers(NamedTuple):
    """What the features of a table cost, to search the best set (`valuation.set_search`)."""

    sizes: Ints  # of each axis
    places: Ints  # the position of each axis in the problem's order of features
    prices: Floats  # the own price of each axis
    groups: Ints  # the group of each axis that is not paid for; -1: none
    surcharges: Floats  # of each axis, if it is the first of its group
    least: Floats  # the same, if the cheapest opener may pay for the group
    due: Floats  # room for a number for each group
    cost: Floats  # c_ij
    now: float  # EMC, on the scale of the table
    scale: float  # amounts of money per amount on the scale of the table
    tolerance: float
    round_cost: float  # of a set that is not empty
    needs: Masks  # the axes that must come before each axis, or with it
    closed: np.uint64  # the axes that cannot be acquired
    n_features: int  # the most that a set may have
    spend: float  # the most that a set may cost


class Frames(NamedTuple):
    """The stack of a branch and bound: a node (K, U) in each place (`valuation.set_search`)."""

    # The next axis, where the table begins (-1: the root), its outer and its inner size, and from
    # where on the room is free.
    places: Ints
    keeps: Masks  # K
    amounts: Floats  # what K costs, and the expected EMC of K ∪ U


class Incumbent(NamedTuple):
    """The best set so far, to be written over (`valuation.set_search`)."""

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


class SetSteps(NamedTuple):
    """The sets that can be acquired once an evidence set is known (`optimal.batches`)."""

    fixed: Ints  # the digits of the evidence set, ascending
    free: Ints  # the other digits
    masks: Ints  # each set of unknown digits; the first is empty
    low: Ints  # a digit of each set; -1: none
    rest: Ints  # the place of the set without this digit
    offset: Ints  # from the entry of the evidence to the entry with the set asked


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
    surcharge: Floats  # of each step, if its group is not paid for yet
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
    surcharge: Floats  # of each digit, if it is the first of its group; 0: paid for already


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


class RevealTable(NamedTuple):
    """V of all states in which some nodes are known for nothing (`optimal.reveal`)."""

    value: Floats  # the values of these nodes are the fastest; empty: there is no such table
    digit_step: Ints  # of each feature in the table; else 0
    value_step: Ints  # of each revealed feature; else 0
    hidden: Ints  # the step and the size of each revealed node that is not a feature
    part_of: Ints  # the dropped part that each feature belongs to; -1: none
    part_step: Ints  # of each dropped feature in the table of its part
    part_start: Ints  # where the table of each part begins
    likelihoods: Floats  # P(e_d | values): these tables, the values of the nodes the fastest
    is_exact: int  # are the values exact, or only lower bounds?


MASS, LOWER, UPPER, KEY = 0, 1, 2, 3  # the columns of `StateRows`; the key has one for each word


class StateRows(NamedTuple):
    """A hash table of states (`optimal.search`). Both arrays are views of the same memory."""

    amounts: Floats  # [row, column]: P(e), lower, upper
    words: Masks  # [row, column]: the key, after three columns that hold the amounts
    is_expanded: Flags
    counts: Ints  # of states, expansions and trials


class SearchSpace(NamedTuple):
    """What a search knows of its problem (`optimal.search`)."""

    sizes: Ints  # the number of values of each feature
    word: Ints  # the word of the key that holds each feature's digit
    radix: Masks  # what the digit counts in that word
    cost: Floats  # c_dj
    prices: DigitPrices
    is_conditional: Flags  # does the own price of each feature depend on others?
    least_price: float  # of all features: whoever does not decide pays at least this
    least_mass: float  # a state of lower probability is left out: it adds nothing
    slack: float  # bounds this close are equal, on the scale of v
    upper_every: int  # every how many trials the upper bound is followed


class SearchRoom(NamedTuple):
    """The current state of a search and room to work, to be written over."""

    digits: Ints
    known: Ints  # the digits, with -1 for "unknown"
    key: Masks
    path: Ints  # [depth]: the row of each state on the path, and the feature taken there
    price: Floats
    is_paid: Flags  # of each group
    belief: Floats
    pairs: Floats
    odometer: Ints
    hub: Floats  # P(y, h, e), for the bound of `optimal.repeats`
    bought: Ints  # the number of the counts, for each h


# The records of a join tree. numba passes an array as seven numbers, at every call, so one array of
# records compiles in far less time than an array for each field.
CLIQUE: np.dtype[np.void] = np.dtype(
    [
        ("parent", np.int64),  # -1: none
        ("root", np.int64),
        ("first_child", np.int64),  # where its list of `children` begins and ends
        ("last_child", np.int64),
        ("first_axis", np.int64),  # where its list of `axes` begins and ends
        ("last_axis", np.int64),
        ("hidden", np.int64),  # how many values its hidden nodes have
        ("separators", np.int64),  # how many values its separator has
        ("table_at", np.int64),  # where its table begins
        ("message_at", np.int64),  # where its message begins
        ("is_unit", np.int64),  # is the message 1 if nothing is known in the clique and below?
        ("least", np.float64),  # the least positive entry of the table
        # How its message lies in the parent's table. A row of the parent is `n_blocks` blocks. A
        # block is a stretch of the message, `repeats` times. `offsets` says where the stretch
        # begins, for each row and block.
        ("n_blocks", np.int64),
        ("repeats", np.int64),
        ("stretch", np.int64),
        ("offsets_at", np.int64),
    ],
    align=True,
)
FEATURE: np.dtype[np.void] = np.dtype(
    [
        ("clique", np.int64),  # -1: it has a fixed state
        ("fixed", np.int64),  # the fixed state; -1: none
        ("n_states", np.int64),
    ],
    align=True,
)
AXIS: np.dtype[np.void] = np.dtype(
    [
        ("feature", np.int64),
        ("n_states", np.int64),
        ("digits_at", np.int64),  # where its `digits` begin
    ],
    align=True,
)
STATUS: np.dtype[np.void] = np.dtype(
    [
        ("is_dirty", np.int64),  # has the evidence changed in the clique or below? At first: yes
        ("is_wanted", np.int64),  # is a feature unknown in the clique or below?
        ("is_plain", np.int64),  # is t_C the table of the tree?
        ("is_one", np.int64),  # is the upward message 1 everywhere? Then it is not written
        ("least", np.float64),  # the least positive entry of the upward message
    ],
    align=True,
)


class CliqueTree(NamedTuple):
    """A join tree, children before parents (`model.join_tree`).

    The table of a clique is [row, hidden, separator, class]. A row is a value of its residual
    features, the first feature slowest. A message is [separator, class].
    """

    cliques: Records  # CLIQUE
    children: Ints  # of all cliques
    axes: Records  # AXIS: the residual features of all cliques
    features: Records  # FEATURE
    tables: Floats
    digits: Places  # the state of a feature in each row
    offsets: Places
    mantissa: Floats  # g(y) = mantissa * 2**exponent
    exponent: Ints
    is_safe: int  # can no product underflow?


class Messages(NamedTuple):
    """What a join tree knows of the last evidence, to be written over (`model.join_tree`)."""

    known: Ints  # the state of each feature; -1: unknown
    cliques: Records  # STATUS
    tables: Floats  # t_C, where `is_plain` is not set; otherwise t_C is the table of the tree
    up: Floats
    exponents: Ints  # [clique, class]
    down: Floats
    conditionals: Floats  # P(x_i | y, e), [feature, state, class]; of known features too
    active: Places  # room for the numbers of rows
    room: Floats  # room for a row
    sums: Floats  # room for a number for each class
    shifts: Ints


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
    group_of: Ints  # the group of each feature whose surcharge counts; -1: none
    surcharges: Floats  # of each feature, if it is the first of its group
    group_pools: Ints  # [group, pool]: 1 if buying from the pool pays for the group
    n_corners: Ints  # of each feature: how many j there are
    # [i, j, g]: outcome x and corner k of the simplex around the next belief, together in j
    corners: NDArray[np.int32]
    weights: Floats  # [i, j, g]: P(x | b) times the weight of the corner
    risk: Floats  # rho at each grid point


class CodedCases(NamedTuple):
    """A table of cases as numbers (`baselines.tree_growth`)."""

    codes: Places  # [feature, case]: a rank or the number of a category; -1: missing
    classes: Places  # of each case
    n_values: Ints  # how many codes each feature has
    is_number: NDArray[np.bool_]  # its codes are ranks
    n_log_n: Floats  # n log2 n for every number of cases
    n_classes: int


class TreeBias(NamedTuple):
    """By what a tree is grown and pruned (`baselines.tree_growth`)."""

    kind: int  # EG2, CS-ID3 or IDX
    strength: float  # ω of EG2
    prices: Floats  # of each feature while nothing is known
    after: Floats  # [feature, known]: its price once another one is known, if that is lower
    least: float  # the price that stands for 0 where one divides by it
    confidence: float  # CF, of pruning
    deviation: float  # the deviation of the normal distribution that belongs to CF
    is_corrected: bool  # gains of thresholds pay for the number of thresholds


class GrownTree(NamedTuple):
    """A tree; nodes are numbered before the nodes below them (`baselines.tree_growth`)."""

    feature: Places  # tested at each node; -1: a leaf
    rank: Places  # codes up to this go to the first of two branches; -1: a branch for each code
    first: Places  # where the branches of each node begin
    usual: Places  # the node below to which a missing cell goes; -1: the case is decided here
    branches: Places  # nodes; -1: no case came here, and the case is decided above
    counts: Ints  # [node, class]


class TreeStakes(NamedTuple):
    """What a case pays on its way through a tree, and for its decision."""

    prices: Floats  # as those of a bias, but always the real ones
    after: Floats
    cost: Floats  # c_ij: [decision, class]
    shares: Floats  # of the classes
