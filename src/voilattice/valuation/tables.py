r"""EVI of many sets at once, from shared tables (paper, Section 3.2.3).

The table of a set comes from the table of a superset by summing features out,

    P(Y, S, e) = sum_x P(Y, S ∪ {X}, e),

so one elimination serves many sets. The sets form a trie: the features are decided one by one, each
is kept or summed out, and all sets that agree so far share a table,

    [Y] [features kept] [features undecided]        the next to be decided in the slowest place,

so every sum runs over long stretches of memory. A set is a leaf of the trie, and its table gives
sum_s P(s, e) EMC(e, s) in one pass. Each sum on the way to a leaf at least halves the table, so all
sums together need no more memory than the first table.

The first table covers all features of the sets if it fits the memory budget and saves work.
Otherwise the sets are split by one feature into the sets with it and the sets without it, and each
*part* gets its own table. So memory is bounded by the budget and the largest set, never by the
joint distribution over all features.

Two engines walk the trie: a readable one in NumPy and a compiled one that uses several threads. The
parts and the results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from queue import SimpleQueue
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline, memory_budget, memory_limit
from voilattice.compiled.arrays import Leaves
from voilattice.engines import choose_engine, count_threads
from voilattice.errors import TooLargeError
from voilattice.feature_sets import Words, membership
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.network import MAX_AXES, Table
from voilattice.model.problem import Problem, impossible
from voilattice.model.stakes import CostMatrix

__all__ = [
    "Root",
    "cells_in_time",
    "expected_emcs",
    "expected_emcs_in",
    "largest_table",
    "max_table_cells",
    "risk_tables",
    "root_table",
]

# An elimination holds three tables. A walk of the trie holds the first table and one more of the
# same size for each thread.
TABLES_AT_ONCE = 4
MAX_THREADS = TABLES_AT_ONCE - 2

# One elimination costs about as much as summing this many cells.
CELLS_PER_ELIMINATION = 5_000_000

CELLS_PER_SECOND = 20_000_000  # a cautious estimate of how fast a table is computed
ELIMINATION_BYTES = 3 * 8  # for each cell of its largest table

CELLS_PER_SET = 20_000  # NumPy's fixed cost per set, in cells

# Below this size the walk finishes before a thread starts.
CELLS_PER_THREAD = 1 << 16

# The trie is cut into tasks that threads share. Between tasks, progress is shown and Ctrl-C is
# handled. Every task starts from the first table; there are so many tasks that these starts cost a
# twentieth of all the work.
MAX_TASK_DEPTH = 10
WORK_PER_TASK = 20


@dataclass(frozen=True, slots=True)
class Root:
    """A table P(Y, features, e) up to a power of two: Y slowest, then the features in order."""

    table: Table  # flat
    sizes: tuple[int, ...]  # the number of states of each feature
    probability: float  # P(e), on the same scale

    @property
    def shaped(self) -> Table:
        """The table with an axis for Y and one for each feature."""
        return self.table.reshape(-1, *self.sizes)

    def reorder(self, places: Sequence[int]) -> Root:
        """Return the same table with the features in another order: the i-th is `places[i]` now."""
        table = self.shaped.transpose([0, *(1 + place for place in places)])
        return Root(
            np.ascontiguousarray(table).reshape(-1),
            tuple(self.sizes[place] for place in places),
            self.probability,
        )


def expected_emcs(
    problem: Problem,
    known: Mapping[str, str],
    sets: Words,
    *,
    engine: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.float64]:
    """Return sum_s P(s | e) EMC(e, s) for each of the sets.

    Parameters
    ----------
    known
        e: all evidence, already checked.
    sets
        Sets of unknown features, one row of words each.
    engine
        ``"python"`` (NumPy), ``"compiled"``, or ``"auto"``: by the estimated work.
    progress
        Called repeatedly with the number of sets done and the number of all sets.

    Raises
    ------
    TooLargeError
        The table of a single set does not fit the memory budget.
    """
    member = membership(sets, len(problem.features))
    cells = np.full(len(sets), float(len(problem.classes)))
    for k, name in enumerate(problem.features):
        cells[member[:, k]] *= len(problem.states(name))
    engine = choose_engine(engine, "tables", float(cells.sum()) + CELLS_PER_SET * len(sets))
    result = np.empty(len(sets))
    done = 0

    def report(n: int) -> None:
        nonlocal done
        done += n
        if progress is not None:
            progress(done, len(sets))

    for part, axes, root in _parts(problem, known, member, cells):
        sums = _sums(len(part))
        _TWINS[engine](root, problem.misclassification, member[part][:, axes], sums, report)
        result[part] = sums.found / root.probability
    return result


def expected_emcs_in(
    root: Root,
    features: Sequence[int],
    cost: CostMatrix,
    sets: Words,
    *,
    engine: str = "auto",
    count_cells: Callable[[int], None] | None = None,
) -> NDArray[np.float64]:
    """Return sum_s P(s | e) EMC(e, s) for sets of `features`, from the table `root`.

    Parameters
    ----------
    engine
        As in `expected_emcs`.
    count_cells
        Called repeatedly with the number of cells summed since the last call. The engines sum in
        different orders, so their numbers differ.
    """
    n = max(features, default=-1) + 1
    member = membership(sets, n)[:, list(features)]
    counts = member.sum(axis=0)
    order = sorted(range(len(features)), key=lambda i: (counts[i], i))
    ordered = root.reorder(order)
    engine = choose_engine(engine, "tables", CELLS_PER_SET * len(sets) + len(root.table))
    sums, count = _sums(len(sets)), count_cells or _ignore
    _TWINS[engine](ordered, cost, member[:, order], sums, count=count)
    return sums.found / root.probability


def risk_tables(
    root: Root, cost: CostMatrix, member: NDArray[np.bool_], starts: NDArray[np.int64], engine: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(s, e) and min_i sum_j c_ij P(y_j, s, e), for every s of every set.

    Parameters
    ----------
    member
        The sets, all different, as rows of flags for the root's features.
    starts
        Where the tables of each set begin in the results.
    """
    cells = np.ones(len(member), dtype=np.int64)
    for axis, size in enumerate(root.sizes):
        cells[member[:, axis]] *= size
    mass, risk = (np.empty(int((starts + cells).max(initial=0))) for _ in range(2))
    _TWINS[engine](root, cost, member, Leaves(np.empty(0), starts, mass, risk))
    return mass, risk


def max_table_cells() -> int:
    """Return how many cells the first table may have within the memory budget."""
    return memory_budget() // (TABLES_AT_ONCE * np.dtype(np.float64).itemsize)


@contextmanager
def largest_table(cells: float) -> Iterator[None]:
    """Let no table of an elimination have more cells than this, inside a ``with`` block."""
    with memory_limit(int(min(memory_budget(), ELIMINATION_BYTES * cells))):
        yield


def cells_in_time(deadline: Deadline) -> float:
    """Return how many cells a table may have to be computed before a deadline."""
    left = deadline.seconds_left
    return math.inf if left is None else CELLS_PER_SECOND * left


def root_table(problem: Problem, known: Mapping[str, str], features: Sequence[int]) -> Root:
    """Return P(Y, features, e) for features given by their numbers."""
    network = problem.network
    names = [problem.target, *(problem.features[k] for k in features)]
    nodes = [network.index(name) for name in names]
    table = scaled_joint_table(network, nodes, problem.node_states(known)).table
    if not table.any():
        raise impossible(known)
    # Scale the largest entry to about 1, so that sums and products of entries stay in range.
    table = np.ascontiguousarray(np.ldexp(table, -math.frexp(table.max())[1]))
    return Root(table.reshape(-1), table.shape[1:], float(table.sum()))


def _parts(
    problem: Problem,
    known: Mapping[str, str],
    member: NDArray[np.bool_],
    cells: NDArray[np.float64],
) -> Iterator[tuple[NDArray[np.intp], list[int], Root]]:
    """Split the sets until the table of each part fits and saves work."""
    n_states = [len(problem.states(name)) for name in problem.features]
    max_cells = max_table_cells()
    stack = [np.arange(len(member))]
    while stack:
        part = stack.pop()
        counts = member[part].sum(axis=0)
        axes = _axes(counts, n_states)
        needed = len(problem.classes) * math.prod(n_states[k] for k in axes)
        pays = needed <= float(cells[part].sum()) + CELLS_PER_ELIMINATION
        if len(part) == 1:
            # If this table does not fit, elimination raises an error that says what to do.
            yield part, axes, root_table(problem, known, axes)
            continue
        if needed <= max_cells and len(axes) < MAX_AXES and pays:
            try:
                root = root_table(problem, known, axes)
            except TooLargeError:  # an intermediate table does not fit
                pass
            else:
                yield part, axes, root
                continue
        # Split by the feature that splits most evenly. The sets without it need one axis less, and
        # the sets with it need only the features that occur together with it.
        split = min(axes, key=lambda k: (abs(2 * counts[k] - len(part)), k))
        with_it = member[part, split]
        stack += [part[with_it], part[~with_it]]


def _axes(counts: NDArray[np.intp], n_states: Sequence[int]) -> list[int]:
    """Return the features that occur, the rarest first: most sets share their sums."""
    return sorted(np.flatnonzero(counts).tolist(), key=lambda k: (counts[k], -n_states[k], k))


def _keys(member: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return each row as a number, the first column in the highest place."""
    keys = np.zeros(len(member), dtype=np.uint64)
    for column in range(member.shape[1]):
        keys = keys << np.uint64(1) | member[:, column]
    return keys


_Report: TypeAlias = Callable[[int], None]


def _ignore(n: int) -> None:
    """Ignore a report."""


def _sums(n: int) -> Leaves:
    """Return the arrays into which a walk writes the sums of n sets."""
    return Leaves(np.empty(n), np.empty(0, np.int64), np.empty(0), np.empty(0))


def _walk_numpy(
    root: Root,
    cost: CostMatrix,
    member: NDArray[np.bool_],
    out: Leaves,
    report: _Report = _ignore,
    *,
    count: _Report = _ignore,
) -> None:
    """Walk the trie of the sets in `member` and write the results to `out`.

    `report` is called with the number of sets done, `count` with the number of cells summed.
    """
    n_classes = cost.shape[1]

    def leaf(table: Table, chosen: NDArray[np.intp]) -> None:
        parts = table.reshape(n_classes, -1)
        risk = (cost @ parts).min(axis=0)
        if len(out.starts):
            for start in out.starts[chosen]:
                out.mass[start : start + len(risk)] = parts.sum(axis=0)
                out.risk[start : start + len(risk)] = risk
        else:
            out.found[chosen] = risk.sum()
        report(len(chosen))

    _walk_trie(root, n_classes, member, leaf, count)


def _walk_trie(
    root: Root,
    n_classes: int,
    member: NDArray[np.bool_],
    leaf: Callable[[Table, NDArray[np.intp]], None],
    count: _Report = _ignore,
) -> None:
    """Call `leaf` with the table of each different row and the numbers of the equal rows."""
    order = np.argsort(_keys(member), kind="stable")

    def walk(table: Table, chosen: NDArray[np.intp], axis: int) -> None:
        # The axes of the table: [Y and the kept features, this axis, the undecided features].
        while axis < len(root.sizes):
            size = root.sizes[axis]
            keeps = member[chosen, axis]
            kept = table.reshape(len(table) * size, -1)
            if not keeps.all():
                dropped = kept if size == 1 else table.reshape(len(table), size, -1).sum(axis=1)
                count(0 if size == 1 else table.size)
                if not keeps.any():
                    table, axis = dropped, axis + 1
                    continue
                walk(dropped, chosen[~keeps], axis + 1)
            table, chosen, axis = kept, chosen[keeps], axis + 1
        leaf(table, chosen)

    if len(member):
        walk(root.table.reshape(n_classes, -1), order, 0)


def _walk_compiled(
    root: Root,
    cost: CostMatrix,
    member: NDArray[np.bool_],
    out: Leaves,
    report: _Report = _ignore,
    *,
    count: _Report = _ignore,
) -> None:
    """Do the same with the compiled kernel; threads share the tasks."""
    from voilattice.compiled import tables as compiled

    keys = _keys(member)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    found = np.empty(len(keys))
    starts = out.starts[order] if len(out.starts) else out.starts
    sizes = np.array(root.sizes, dtype=np.int64)
    prefix = keys >> np.uint64(len(sizes) - _task_depth(root, member))
    cuts = [0, *(np.flatnonzero(np.diff(prefix)) + 1).tolist(), len(keys)]
    tasks = [(lo, hi) for lo, hi in pairwise(cuts) if lo < hi]
    n_threads = 1 if len(root.table) < CELLS_PER_THREAD else min(count_threads(), MAX_THREADS)
    rooms: SimpleQueue[Table] = SimpleQueue()
    for _ in range(n_threads):
        rooms.put(np.empty(len(root.table)))

    def run(task: tuple[int, int]) -> tuple[int, int]:
        lo, hi = task
        room = rooms.get()
        leaves = Leaves(found[lo:hi], starts[lo:hi], out.mass, out.risk)
        n_cells = compiled.walk_trie(root.table, sizes, cost, keys[lo:hi], leaves, room)
        rooms.put(room)
        return hi - lo, n_cells

    pool = ThreadPoolExecutor(n_threads)
    try:
        for n_sets, n_cells in pool.map(run, tasks) if n_threads > 1 else map(run, tasks):
            report(n_sets)
            count(n_cells)
    finally:  # after Ctrl-C, no further task starts
        pool.shutdown(cancel_futures=True)
    if not len(starts):
        out.found[order] = found


_TWINS = {"python": _walk_numpy, "compiled": _walk_compiled}


def _task_depth(root: Root, member: NDArray[np.bool_]) -> int:
    """Return the depth, in features, at which the trie is cut into tasks."""
    cells = np.ones(len(member))
    for axis, size in enumerate(root.sizes):
        cells[member[:, axis]] *= size
    n_tasks = float(cells.sum()) / (WORK_PER_TASK * math.prod(root.sizes))
    return min(max(int(n_tasks).bit_length(), 0), MAX_TASK_DEPTH, len(root.sizes))
