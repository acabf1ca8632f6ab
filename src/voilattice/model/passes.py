r"""The two passes over a join tree, in NumPy.

`cliques` writes P(x, y, e) as g(y) prod_C f_C(x_C, y) over a forest of cliques. For each class y:

*Upward*, children before parents. A clique C multiplies its table, restricted to the features that
are known, with the messages of its children D, and sums out what its parent does not share:

    t_C(x_C)  = f_C(x_C) [x_C agrees with e] prod_D up_D(x_S)
    up_C(x_S) = sum of t_C(x_C) over the nodes of C that are not in the separator S

At a root, S is empty and up is P(e | y) in its tree, so P(y, e) = g(y) prod_roots up_root.

*Downward*, parents before children. A root turns its table into a posterior, and every clique turns
the tables of its children into posteriors:

    P(x_C | y, e) = t_C(x_C) down_C(x_S)
    down_root     = 1 / up_root
    down_D(x_S)   = P(x_S | y, e) / up_D(x_S)

If up_D(x_S) is 0, then t_D is 0 there too, so 0 / 0 counts as 0. A sum over the clique in whose
residual X_i lies gives P(x_i | y, e).

When a feature becomes known or unknown, only the messages on the way from its clique to the root
change, and only its tree needs a downward pass. `State` keeps all other messages. The results do
not depend on what was asked before.

A product of many small numbers underflows. It cannot if the product of the least positive entries
of all f_C is a normal number, because every sum of products is at least that, or 0. Otherwise t_C
is stored as ``t_C * 2**exponent``, one exponent for each class, with the largest entry near 1 after
every product. Then an entry is exact unless it is below 1e-280 of the largest.

The compiled twin is `compiled.join_tree`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voilattice.model.cliques import Clique, Cliques
from voilattice.model.network import Table

__all__ = ["Plan", "State"]

# Where a product could underflow, a table is scaled if the largest entry of a class is below 2 to
# this power.
SAFE_EXPONENT = -40

SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


class _Step(NamedTuple):
    """The axes along which NumPy multiplies and sums a clique; axis 0 is for rows of evidence."""

    table: Table  # with axis 0
    is_unit: bool
    entries: list[tuple[int, Table, tuple[int, ...]]]  # feature, its indicators, their shape
    residual: tuple[int, ...]  # the axes summed out for the parent
    root_shape: tuple[int, ...]
    # Each child, the shape of its message among the axes of the clique, the axes that are summed
    # out for the child, and the shape of the message among the axes of the child.
    children: list[tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]]
    marginals: list[tuple[int, int, tuple[int, ...]]]  # feature, its states, axes summed out


class Plan:
    """Everything that the passes of the NumPy twin need to know of the cliques."""

    def __init__(self, cliques: Cliques, n_states: NDArray[np.int64]) -> None:
        self.cliques = cliques
        self.n_classes = len(cliques.mantissa)
        self.n_features, self.width = len(n_states), int(n_states.max(initial=1))
        self.largest = max((clique.table.size for clique in cliques.cliques), default=1)
        features: list[list[tuple[int, int]]] = [[] for _ in cliques.cliques]
        for feature, place in enumerate(cliques.places):
            if place.clique >= 0:
                features[place.clique].append((feature, place.axis))
        self.steps = [
            _step(clique, cliques.cliques, here)
            for clique, here in zip(cliques.cliques, features, strict=True)
        ]
        self.parents = [clique.parent for clique in cliques.cliques]
        self.place_of = [place.clique for place in cliques.places]
        self.roots = cliques.roots
        self.is_safe = cliques.is_safe
        self.fixed = [
            (f, place.state) for f, place in enumerate(cliques.places) if place.state >= 0
        ]


def _step(clique: Clique, cliques: Sequence[Clique], features: list[tuple[int, int]]) -> _Step:
    sizes = clique.table.shape
    n = len(clique.nodes)
    entries, marginals = [], []
    for feature, axis in features:
        size = sizes[axis]
        shape = (-1, *(size if a == axis else 1 for a in range(n + 1)))
        # One row for each state, and a last row, reached by -1, for "unknown".
        indicators = np.vstack([np.eye(size), np.ones(size)])
        entries.append((feature, indicators, shape))
        marginals.append((feature, size, tuple(a + 1 for a in range(n) if a != axis)))
    children = []
    for number in clique.children:
        child = cliques[number]
        shared = set(child.nodes[child.n_residual :])
        inside = [node in shared for node in clique.nodes]
        here = (-1, *(size if i else 1 for size, i in zip(sizes, inside, strict=False)), sizes[-1])
        summed = tuple(axis + 1 for axis in range(n) if not inside[axis])
        there = (-1, *[1] * child.n_residual, *child.table.shape[child.n_residual :])
        children.append((number, here, summed, there))
    return _Step(
        clique.table[None],
        clique.is_unit,
        entries,
        tuple(range(1, clique.n_residual + 1)),
        (-1, *[1] * n, sizes[-1]),
        children,
        marginals,
    )


@dataclass(slots=True)
class State:
    """The messages of the last evidence: the NumPy twin of `compiled.join_tree`.

    All rows of evidence are one array, so NumPy's fixed cost per clique is shared by the rows. A
    table or message that is the same for all rows has one row.
    """

    plan: Plan
    n_rows: int
    known: NDArray[np.int64]
    tables: list[Table]  # t_C
    messages: list[Table | None]  # up_C; None: 1 everywhere
    exponents: list[NDArray[np.int64] | None]  # of up_C; None: 0
    conditionals: Table  # P(x_i | y, e), [row, feature, state, class]
    is_fresh: bool

    def __init__(self, plan: Plan, n_rows: int) -> None:
        self.plan, self.n_rows = plan, n_rows
        self.known = np.full((n_rows, plan.n_features), -1)
        self.tables = [step.table for step in plan.steps]
        self.messages = [None] * len(plan.steps)
        self.exponents = [None] * len(plan.steps)
        self.conditionals = np.zeros((n_rows, plan.n_features, plan.width, plan.n_classes))
        self.is_fresh = True

    def propagate(self, known: NDArray[np.int64]) -> tuple[Table, Table, Table]:
        """Return P(Y | e), P(Y, X_i | e) and log P(e) of each row."""
        plan = self.plan
        changed = (known != self.known).any(axis=0)
        self.known = known.copy()
        is_dirty = [self.is_fresh and not step.is_unit for step in plan.steps]
        for feature in np.flatnonzero(changed).tolist():
            if plan.place_of[feature] >= 0:
                is_dirty[plan.place_of[feature]] = True
        dirty_roots = set(plan.roots) if self.is_fresh else set()
        self.is_fresh = False
        somewhere = _anywhere(known >= 0)
        for k, parent in enumerate(plan.parents):
            if is_dirty[k]:
                self._collect(k, somewhere)
                if parent >= 0:
                    is_dirty[parent] = True
                else:
                    dirty_roots.add(k)
        self._distribute(dirty_roots, _anywhere(known < 0))
        belief, log_probability = self._combine()
        pairs = self.conditionals * belief[:, None, None, :]
        for feature, is_known in enumerate(somewhere):
            if is_known:
                rows = np.flatnonzero(known[:, feature] >= 0)
                pairs[rows, feature] = 0.0
                pairs[rows, feature, known[rows, feature]] = belief[rows]
        for feature, state in plan.fixed:
            pairs[:, feature, state] = belief
        return belief, pairs, log_probability

    def _collect(self, k: int, somewhere: Sequence[bool]) -> None:
        """Compute t_C and up_C."""
        step = self.plan.steps[k]
        table, exponent = step.table, None
        factors = [
            indicators[self.known[:, feature]].reshape(shape)
            for feature, indicators, shape in step.entries
            if somewhere[feature]
        ]
        for child, shape, _, _ in step.children:
            message, below = self.messages[child], self.exponents[child]
            if message is not None:
                factors.append(message.reshape(shape))
            if below is not None:
                exponent = below if exponent is None else exponent + below
        if step.is_unit and not factors:
            self.tables[k], self.messages[k], self.exponents[k] = table, None, None
            return
        if not self.plan.is_safe:
            table, exponent = _rescale(table, exponent)
        for factor in factors:
            table = table * factor
            if not self.plan.is_safe:
                table, exponent = _rescale(table, exponent)
        self.tables[k] = table
        message = np.add.reduce(table, axis=step.residual)
        if not self.plan.is_safe:
            message[message < SMALLEST_NORMAL] = 0.0  # 1 / message would overflow
        self.messages[k], self.exponents[k] = message, exponent

    def _distribute(self, roots: set[int], somewhere: Sequence[bool]) -> None:
        """Compute P(x_i | y, e) of the features that some row does not know, in these trees."""
        steps, plan = self.plan.steps, self.plan
        wanted = [False] * len(steps)
        for k, parent in enumerate(plan.parents):
            wanted[k] |= any(somewhere[entry[0]] for entry in steps[k].entries)
            if parent >= 0:
                wanted[parent] |= wanted[k]
        down: dict[int, Table] = {}
        for k in reversed(range(len(steps))):
            if not wanted[k] or plan.roots[k] not in roots:
                continue
            step = steps[k]
            if plan.parents[k] < 0:
                mass = self.messages[k]
                posterior = self.tables[k]
                if mass is not None:
                    posterior = posterior * _divide(1.0, mass).reshape(step.root_shape)
            else:
                posterior = self.tables[k] * down.pop(k)
            for feature, size, summed in step.marginals:
                if somewhere[feature]:
                    self.conditionals[:, feature, :size] = np.add.reduce(posterior, axis=summed)
            for child, _, summed, there in step.children:
                if wanted[child]:
                    message = self.messages[child]
                    found = np.add.reduce(posterior, axis=summed)
                    if message is not None:
                        found = _divide(found, message)
                    down[child] = found.reshape(there)

    def _combine(self) -> tuple[Table, Table]:
        """Return P(Y | e) and log P(e) of each row."""
        cliques = self.plan.cliques
        mantissa = np.repeat(cliques.mantissa[None], self.n_rows, axis=0)
        exponent = np.repeat(cliques.exponent[None], self.n_rows, axis=0)
        for k, parent in enumerate(self.plan.parents):
            message, shift = self.messages[k], self.exponents[k]
            if parent < 0 and message is not None:
                mantissa, more = np.frexp(mantissa * message)
                exponent = exponent + more + (0 if shift is None else shift)
        for feature, state in self.plan.fixed:
            known = self.known[:, feature]
            mantissa[(known >= 0) & (known != state)] = 0.0
        is_possible = mantissa > 0
        top = np.max(exponent, axis=1, where=is_possible, initial=np.iinfo(np.int64).min // 2)
        scaled = np.ldexp(mantissa, np.where(is_possible, exponent - top[:, None], 0))
        total = scaled.sum(axis=1)
        with np.errstate(divide="ignore"):
            log_probability = np.log(total) + np.where(total > 0, top * math.log(2), 0.0)
        return _divide(scaled, total[:, None]), log_probability


def _anywhere(flags: NDArray[np.bool_]) -> list[bool]:
    """Return for each column whether a row has the flag."""
    found: list[bool] = np.any(flags, axis=0).tolist()
    return found


def _divide(numerator: Table | float, denominator: Table) -> Table:
    """Return numerator / denominator, with 0 / 0 = 0."""
    result = np.zeros(np.broadcast_shapes(np.shape(numerator), denominator.shape))
    return np.divide(numerator, denominator, out=result, where=denominator > 0)


def _rescale(
    table: Table, exponent: NDArray[np.int64] | None
) -> tuple[Table, NDArray[np.int64] | None]:
    """Scale a table, rows first and classes last, if an entry could underflow in a product."""
    inside = tuple(range(1, table.ndim - 1))
    shift = np.frexp(table.max(axis=inside))[1]
    if (shift > SAFE_EXPONENT).all():
        return table, exponent
    spread = (len(table), *[1] * len(inside), table.shape[-1])
    table = np.ldexp(table, -shift.reshape(spread))
    return table, shift.astype(np.int64) + (0 if exponent is None else exponent)
