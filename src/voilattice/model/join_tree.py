"""P(Y | e) and all P(Y, X_i | e) together, whatever the number of features.

    P(y | e)      = P(y, e) / sum_y P(y, e)
    P(y, x_i | e) = P(y | e) P(x_i | y, e)

For each class y, one upward pass over a join tree gives P(y, e), and one downward pass gives every
P(x_i | y, e) (`passes`). Both need tables over the cliques of the network only (`cliques`), never a
table over the features. What the last evidence and the next have in common is not computed again.

Where probabilities are so extreme that products of a few underflow, a class of probability 0 is
checked by elimination.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from queue import SimpleQueue
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voilattice.budgets import memory_budget
from voilattice.compiled.arrays import CliqueTree, Messages
from voilattice.engines import check_engine, choose_engine, count_threads
from voilattice.errors import InputError
from voilattice.model.clique_arrays import clique_tree, new_messages
from voilattice.model.cliques import build_cliques
from voilattice.model.elimination import ancestors, scaled_joint_table
from voilattice.model.network import Network, Table
from voilattice.model.passes import Plan, State
from voilattice.wording import quote

__all__ = ["JoinTree", "Posteriors"]

# A table with a positive entry below this is extreme: the product of a few such entries underflows.
EXTREME = 1e-60

# Rows of evidence that the NumPy twin takes at once: cells of the largest table times rows.
CELLS_AT_ONCE = 1 << 18

CELLS_PER_CLIQUE = 1000  # NumPy's fixed cost per clique, in cells

# Threads share rows in tasks of about so many cells. Between tasks, Ctrl-C is handled.
CELLS_PER_TASK = 1 << 20
MAX_THREADS = 2


class Posteriors(NamedTuple):
    """What evidence e says. `JoinTree.posteriors_of` puts an axis for the rows first."""

    belief: Table  # P(Y | e), [class]; zeros if e is impossible
    pairs: Table  # P(Y, X_i | e), [feature, state, class]; zeros beyond a feature's last state
    log_probability: Table  # the natural logarithm of P(e), a scalar; -inf if e is impossible


class JoinTree:
    """The posteriors of a target and of all features, given any of the features.

    Threads may share a tree: its tables never change, and the last evidence is each thread's own.

    Parameters
    ----------
    target
        The node Y.
    features
        The nodes that can become known, all different.
    evidence
        The known state of each node that is known from the start; Y is not known.
    engine
        ``"python"`` (NumPy), ``"compiled"``, or ``"auto"``: by the work so far.

    Attributes
    ----------
    is_extreme
        Whether probabilities are so small that a kernel, which cannot eliminate instead, may take
        a possible class for impossible.

    Raises
    ------
    TooLargeError
        The tables would not fit the budget (`memory_limit`).

    >>> from voilattice import load_problem
    >>> network = load_problem("asia").network
    >>> tree = JoinTree(network, network.index("lung"), [network.index("xray")])
    >>> tree.posteriors([0]).belief.round(3).tolist()
    [0.489, 0.511]
    """

    def __init__(
        self,
        network: Network,
        target: int,
        features: Sequence[int],
        evidence: Mapping[int, int] | None = None,
        *,
        engine: str = "auto",
    ) -> None:
        check_engine(engine)
        evidence = dict(evidence or {})
        if len(set(features)) < len(features):
            raise InputError("the features of a join tree must be different nodes")
        if target in features or target in evidence:
            raise InputError("the target of a join tree is neither a feature nor known")
        self._engine = engine
        self._network, self._target = network, target
        self._features, self._evidence = tuple(features), evidence
        self._n_states = np.array([network.n_states[node] for node in features], dtype=np.int64)
        self._cliques = build_cliques(network, target, features, evidence)
        self.is_extreme = _is_extreme(network, ancestors(network, {target, *features, *evidence}))
        self._n_passes = 0  # of all threads, about: it only chooses between equal engines
        self._own = local()  # the passes of each thread, with its last evidence

    def __repr__(self) -> str:
        cliques, cells = len(self._cliques.cliques), self.n_cells
        return f"<JoinTree: {cliques} clique{'s'[: cliques != 1]}, {cells:,} cells>"

    @property
    def n_cells(self) -> int:
        """The number of cells of all tables, those of all classes counted."""
        return len(self._cliques.flat)

    @property
    def clique_sizes(self) -> list[int]:
        """The number of cells of each clique's table, without the axis of the classes."""
        return [clique.table.size // clique.table.shape[-1] for clique in self._cliques.cliques]

    @cached_property
    def plan(self) -> Plan:
        """The tree for the NumPy twin."""
        return Plan(self._cliques, self._n_states)

    @cached_property
    def arrays(self) -> CliqueTree:
        """The tree for kernels that call `compiled.join_tree.propagate`."""
        return clique_tree(self._cliques, self._n_states)

    def new_messages(self) -> Messages:
        """Return the room that `compiled.join_tree.propagate` needs, for one thread."""
        return new_messages(self.arrays)

    def posteriors(self, known: ArrayLike) -> Posteriors:
        """Return what evidence says; what agrees with the last evidence is not computed again.

        Parameters
        ----------
        known
            The state of each feature, in the order of `features`; -1: unknown.
        """
        row = self._check(known, 1)[None]
        found = self._choose(1).propagate(row)
        self._check_zeros(row, found)
        return Posteriors(*(array[0] for array in found))

    def posteriors_of(self, rows: ArrayLike) -> Posteriors:
        """Return what each row of evidence says: the same, with an axis for the rows first."""
        known = self._check(rows, 2)
        found = self._choose(len(known)).propagate_rows(known)
        self._check_zeros(known, found)
        return found

    def _choose(self, n_rows: int) -> _NumpyPasses | _CompiledPasses:
        """Return the engine for so many more rows of evidence."""
        self._n_passes += n_rows
        work = self._n_passes * (self.n_cells + CELLS_PER_CLIQUE * len(self._cliques.cliques))
        engine = choose_engine(self._engine, "join_tree", work)
        last: tuple[str, _NumpyPasses | _CompiledPasses] | None
        if (last := getattr(self._own, "passes", None)) is None or last[0] != engine:
            last = self._own.passes = engine, _TWINS[engine](self)
        return last[1]

    def _check_zeros(self, known: NDArray[np.int64], found: Posteriors) -> None:
        """Where a class seems impossible only because numbers underflowed, eliminate instead."""
        if not self.is_extreme:
            return
        for row in np.flatnonzero((found.belief == 0).any(axis=1)).tolist():
            states = zip(self._features, known[row].tolist(), strict=True)
            told = {node: state for node, state in states if state >= 0}
            e = {**told, **self._evidence}
            if any(e[node] != state for node, state in told.items()):
                continue
            table, exponent = scaled_joint_table(self._network, [self._target], e)
            if ((table > 0) == (found.belief[row] > 0)).all():
                continue
            total = table.sum()
            found.belief[row] = table / total
            found.log_probability[row] = math.log(total) + exponent * math.log(2)
            found.pairs[row] = 0.0
            for k, node in enumerate(self._features):
                if node in e:
                    found.pairs[row, k, e[node]] = found.belief[row]
                else:
                    joint = scaled_joint_table(self._network, [self._target, node], e).table.T
                    found.pairs[row, k, : len(joint)] = joint / joint.sum()

    def _check(self, known: ArrayLike, n_axes: int) -> NDArray[np.int64]:
        """Return the evidence as an array of integers, if every state exists."""
        given = np.asarray(known)
        n = len(self._n_states)
        if given.size == 0:
            given = given.astype(np.int64)
        if given.ndim != n_axes or given.shape[-1] != n or given.dtype.kind not in "iu":
            raise InputError(
                f"known must hold a state, or -1, for each of the {n} features; got an array of "
                f"shape {given.shape} and type {given.dtype}"
            )
        bad = (given < -1) | (given >= self._n_states)
        if bad.any():
            place = tuple(np.argwhere(bad)[0])
            raise InputError(
                f"{quote(self._network.names[self._features[place[-1]]])} has the states 0 to "
                f"{self._n_states[place[-1]] - 1}, got {given[place]}"
            )
        return given.astype(np.int64)


class _NumpyPasses:
    """The passes of the NumPy twin."""

    def __init__(self, tree: JoinTree) -> None:
        self._plan = tree.plan
        self._state = State(self._plan, 1)

    def propagate(self, known: NDArray[np.int64]) -> Posteriors:
        """Return what the one row of evidence says."""
        return Posteriors(*self._state.propagate(known))

    def propagate_rows(self, known: NDArray[np.int64]) -> Posteriors:
        """Return what each row says. NumPy's fixed cost is shared by many rows at once."""
        step = max(CELLS_AT_ONCE // self._plan.largest, 1)
        parts = [
            State(self._plan, len(part)).propagate(part)
            for part in (known[at : at + step] for at in range(0, max(len(known), 1), step))
        ]
        return Posteriors(*map(np.concatenate, zip(*parts, strict=True)))


class _CompiledPasses:
    """The passes of the compiled twin."""

    def __init__(self, tree: JoinTree) -> None:
        self._tree = tree.arrays
        self._messages = new_messages(self._tree)

    def propagate(self, known: NDArray[np.int64]) -> Posteriors:
        """Return what the one row of evidence says."""
        from voilattice.compiled import join_tree as compiled

        found = self._empty(1)
        found.log_probability[0] = compiled.propagate(
            self._tree, self._messages, known[0], found.belief[0], found.pairs[0]
        )
        return found

    def propagate_rows(self, known: NDArray[np.int64]) -> Posteriors:
        """Return what each row says. Threads share the rows."""
        from voilattice.compiled import join_tree as compiled

        found = self._empty(len(known))
        cells = len(self._tree.tables)
        # Neighbouring rows often agree, so each task takes a stretch of rows.
        step = max(CELLS_PER_TASK // max(cells, 1), 1)
        tasks = range(0, len(known), step)
        fits = (2 + MAX_THREADS) * cells * np.dtype(np.float64).itemsize <= memory_budget()
        n_threads = min(len(tasks), count_threads(), MAX_THREADS) if fits else 1
        rooms: SimpleQueue[Messages] = SimpleQueue()
        for messages in [self._messages, *(new_messages(self._tree) for _ in range(n_threads - 1))]:
            rooms.put(messages)

        def run(start: int) -> None:
            messages = rooms.get()
            part = slice(start, start + step)
            compiled.propagate_rows(
                self._tree, messages, known[part], *(array[part] for array in found)
            )
            rooms.put(messages)

        pool = ThreadPoolExecutor(max(n_threads, 1))
        try:
            list(pool.map(run, tasks) if n_threads > 1 else map(run, tasks))
        finally:  # after Ctrl-C, no further task starts
            pool.shutdown(cancel_futures=True)
        return found

    def _empty(self, n_rows: int) -> Posteriors:
        shape = self._messages.conditionals.shape
        return Posteriors(
            np.empty((n_rows, shape[-1])), np.empty((n_rows, *shape)), np.empty(n_rows)
        )


_TWINS: dict[str, Callable[[JoinTree], _NumpyPasses | _CompiledPasses]] = {
    "python": _NumpyPasses,
    "compiled": _CompiledPasses,
}


def _is_extreme(network: Network, nodes: Iterable[int]) -> bool:
    """Return whether a table of these nodes has a positive entry so small that few underflow."""
    entries = np.concatenate([network.tables[node].reshape(-1) for node in nodes])
    return bool((entries < EXTREME)[entries > 0].any())
