r"""The state space of the optimal policy, in blocks.

A state of a problem is (e_K, R, the groups paid for that have members in R), as `policy.relevance`
explains; discounts are groups here. A *block* is all states with the same K, R and paid groups: one
state for each value of K. All blocks that can be reached are found from the first one, K = ∅, by
acquiring each X_i of R,

    (K, R)  →  (K', R') = what still matters of K ∪ {i}, and of R \ {i}.

R shrinks at every step, so in descending order of |R| children come after their parents. There is
about one block for each irreducible set.

Forgetting. D = K ∪ {i} \ K' is what the step forgets. D is d-separated from Y and R' given K'. A
part B of K', the *screen*, d-separates D from the rest of K'. So P(e_D | e_K') = P(e_D | e_B), and
all steps of a problem share a few small tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Flow, Ints, Masks
from voilattice.engines import choose_engine
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.problem import Problem
from voilattice.policy.relevance import Relevance, screen

__all__ = [
    "Blocks",
    "cells_of",
    "find_blocks",
    "unique_rows",
]

STATES_PER_STEP = 8  # a step needs as much memory, and time to find it, as this many states
BLOCKS_AT_ONCE = 4096  # of the compiled engine; then the time is checked
MAX_WIDTH = 64  # axes and groups are bits of a word; in the compiled engine nodes are too


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a problem and the steps between them. Sets of features are masks of axes."""

    features: tuple[int, ...]  # the feature of each axis, the slowest first
    sizes: Ints  # of each axis
    relevant: Masks  # R of each block
    kept: Masks  # K
    paid: Masks  # one bit for each group
    first: Ints  # the steps of block b are first[b] ... first[b + 1]
    axis: Ints  # what each step acquires
    child: Ints  # the block that it leads to
    dropped: Masks  # D
    screen: Masks  # B

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def cells(self) -> Ints:
        """The number of states of each block."""
        return cells_of(self.kept, self.sizes)

    @property
    def n_states(self) -> int:
        return int(self.cells.sum())

    @property
    def parent(self) -> Ints:
        """The block of each step."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))


def cells_of(masks: Masks, sizes: Ints) -> Ints:
    """Return the number of joint values of the features of each set."""
    cells = np.ones(len(masks), dtype=np.int64)
    for a, size in enumerate(sizes.tolist()):
        cells[(masks >> np.uint64(a) & np.uint64(1)).astype(bool)] *= size
    return cells


def unique_rows(rows: Masks) -> tuple[Masks, Ints]:
    """Return the different rows in order, and the number of each row among them.

    Like `numpy.unique` with ``axis=0``, but several times faster.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])[: len(rows)]
    inverse = np.empty(len(rows), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return ordered[new], inverse


def find_blocks(
    problem: Problem,
    max_states: int,
    *,
    engine: str = "auto",
    deadline: Deadline | None = None,
) -> Blocks:
    """Return the blocks that can be reached from the problem's own evidence.

    Raises
    ------
    TooLargeError
        The blocks have more states than `max_states`, or are not found before the deadline.
    """
    relevance = Relevance(problem)
    e = problem.feature_mask(problem.evidence)
    relevant, _ = relevance.what_matters(e)
    features = list(bits(relevant))
    if max(len(features), len(relevance.groups)) > MAX_WIDTH:
        raise TooLargeError(
            f"{len(features)} features matter and there are {len(relevance.groups)} groups; "
            f"the exact solver supports at most {MAX_WIDTH} of each"
        )
    engine = choose_engine(engine, "blocks", len(features))
    if len(relevance.graph.parents) > MAX_WIDTH:
        engine = "python"
    steps = _TWINS[engine](relevance, features, e, deadline or Deadline())
    sizes = np.array([len(problem.states(problem.features[k])) for k in features], dtype=np.int64)
    paid = relevance.groups_paid(e, relevant)
    root = np.array([[(1 << len(features)) - 1, 0, paid]], dtype=np.uint64)
    return _in_layout(_search(root, steps, sizes, max_states), features, sizes)


class _Steps:
    """The steps from a block, in Python."""

    def __init__(
        self, relevance: Relevance, features: list[int], e: int, deadline: Deadline
    ) -> None:
        self._relevance, self._features, self._e = relevance, features, e
        self._deadline = deadline

    def __call__(self, blocks: Masks) -> Masks:
        """Return (R', K', paid', D, B) for each feature of each block's R, ascending."""
        relevance, e = self._relevance, self._e
        rows: list[tuple[int, int, int, int, int]] = []
        for block_r, block_k, paid in blocks.tolist():
            r, k = self._wide(block_r), self._wide(block_k)
            self.check_time()
            for i in bits(r):
                known = k | 1 << i
                bought = paid | relevance.groups_touched(1 << i)
                new_r, new_k = relevance.what_matters(known | e, r & ~(1 << i), bought)
                new_k &= known
                still = bought & relevance.groups_touched(new_r)
                dropped = known & ~new_k
                between = screen(relevance.graph, dropped, new_k | e) & new_k if dropped else 0
                r_k = self._narrow(new_r), self._narrow(new_k)
                rows.append((*r_k, still, self._narrow(dropped), self._narrow(between)))
        return np.array(rows, dtype=np.uint64).reshape(-1, 5)

    def check_time(self) -> None:
        if self._deadline.is_over:
            raise TooLargeError("the states were not found in time")

    def _wide(self, axes: int) -> int:
        return mask_of(self._features[a] for a in bits(axes))

    def _narrow(self, features: int) -> int:
        return mask_of(a for a, k in enumerate(self._features) if features >> k & 1)


class _CompiledSteps(_Steps):
    """The same, compiled. The axes are the first nodes, so masks of axes are masks of nodes."""

    def __call__(self, blocks: Masks) -> Masks:
        from voilattice.compiled import blocks as compiled

        ends = np.cumsum(np.bitwise_count(blocks[:, 0]), dtype=np.int64)
        out = np.empty((int(ends[-1]), 5), np.uint64)
        for first in range(0, len(blocks), BLOCKS_AT_ONCE):
            self.check_time()
            part = blocks[first : first + BLOCKS_AT_ONCE]
            relevant, kept, paid = (np.ascontiguousarray(column) for column in part.T)
            begin, end = int(ends[first - 1]) if first else 0, int(ends[first + len(part) - 1])
            compiled.expand(relevant, kept, paid, self._flow, out[begin:end])
        return out

    @cached_property
    def _flow(self) -> Flow:
        graph, moral, relevance = (
            self._relevance.graph,
            self._relevance.graph.moral,
            self._relevance,
        )
        n = len(graph.parents)
        front = [graph.features[k] for k in self._features]
        order = front + [node for node in range(n) if node not in set(front)]
        place = {node: k for k, node in enumerate(order)}

        def permute(mask: int) -> int:
            return mask_of(place[node] for node in bits(mask))

        def masks(values: Sequence[int]) -> Masks:
            return np.array([permute(values[node]) for node in order], dtype=np.uint64)

        conditions, group_of = np.zeros(n, np.uint64), np.full(n, -1)
        opens, unlockers, locks = (np.zeros(n, np.uint64) for _ in range(3))
        for a, k in enumerate(self._features):
            conditions[a] = self._narrow(relevance.conditions.get(k, 0))
            opens[a] = self._narrow(relevance.openers.get(k, 0))
            unlockers[a] = self._narrow(relevance.unlockers.get(k, 0))
            locks[a] = self._narrow(relevance.locking(1 << k))
            group_of[a] = next(bits(relevance.groups_touched(1 << k)), -1)
        return Flow(
            masks(moral.family),
            masks(moral.families_of),
            masks(moral.ancestors),
            masks([mask_of(moral.children[node]) for node in range(n)]),
            masks([mask_of(graph.parents[node]) for node in range(n)]),
            conditions,
            unlockers,
            locks,
            group_of,
            np.array([self._narrow(members) for members in relevance.groups], dtype=np.uint64),
            opens,
            np.uint64(self._narrow(mask_of(relevance.openers))),
            np.uint64(permute(graph.nodes(self._e))),
            place[graph.target],
        )


_TWINS = {"python": _Steps, "compiled": _CompiledSteps}


def _search(root: Masks, steps: _Steps, sizes: Ints, max_states: int) -> Blocks:
    """Find all blocks, those with larger R first; axes are in the problem's order."""
    blocks: list[Masks] = []
    rows: list[Masks] = []
    n_blocks = n_steps = n_states = 0
    # The numbers and children of the steps found so far, by the size of the child's R.
    waiting: dict[int, list[tuple[Ints, Masks]]] = {}
    found_at: list[Ints] = []  # the numbers of steps, and the blocks that the steps lead to
    for size in range(len(sizes), -1, -1):
        if size == len(sizes):
            here, inverse, numbers = root, np.empty(0, np.int64), np.empty(0, np.int64)
        elif size in waiting:
            parts = waiting.pop(size)
            numbers = np.concatenate([part[0] for part in parts])
            here, inverse = unique_rows(np.concatenate([part[1] for part in parts]))
        else:
            continue
        found_at.append(np.stack([numbers, n_blocks + inverse]))
        blocks.append(here)
        n_blocks += len(here)
        n_states += int(cells_of(here[:, 1], sizes).sum())
        if n_states + STATES_PER_STEP * n_steps > max_states:
            raise TooLargeError(f"more than {max_states:,} states")
        steps.check_time()
        found = steps(here)
        rows.append(found)
        lengths = np.bitwise_count(found[:, 0])
        for length in np.unique(lengths).tolist():
            chosen = np.flatnonzero(lengths == length)
            waiting.setdefault(length, []).append((n_steps + chosen, found[chosen, :3]))
        n_steps += len(found)
    to = np.empty(n_steps, dtype=np.int64)
    for numbers, block in found_at:
        to[numbers] = block
    every, row = np.concatenate(blocks), np.concatenate(rows)
    counts = np.bitwise_count(every[:, 0]).astype(np.int64)
    bit = np.arange(len(sizes), dtype=np.uint64)
    axis = np.nonzero(every[:, 0, None] >> bit & np.uint64(1))[1]
    return Blocks(
        tuple(range(len(sizes))),
        sizes,
        np.ascontiguousarray(every[:, 0]),
        np.ascontiguousarray(every[:, 1]),
        np.ascontiguousarray(every[:, 2]),
        np.concatenate([[0], np.cumsum(counts)]),
        axis,
        to,
        np.ascontiguousarray(row[:, 3]),
        np.ascontiguousarray(row[:, 4]),
    )


def _in_layout(found: Blocks, features: list[int], sizes: Ints) -> Blocks:
    """Reorder the axes: those that steps sum out, forget or condition on become the slowest.

    Steps then run over long stretches of memory.
    """
    weight = found.cells[found.parent].astype(float)
    touched = found.dropped | found.screen | np.uint64(1) << found.axis.astype(np.uint64)
    load = [
        float(weight[(touched >> np.uint64(a) & np.uint64(1)).astype(bool)].sum())
        for a in range(len(sizes))
    ]
    order = sorted(range(len(sizes)), key=lambda a: (-load[a], a))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))

    def permute(masks: Masks) -> Masks:
        result = np.zeros_like(masks)
        for new, old in enumerate(order):
            result |= (masks >> np.uint64(old) & np.uint64(1)) << np.uint64(new)
        return result

    return Blocks(
        tuple(features[a] for a in order),
        sizes[order],
        permute(found.relevant),
        permute(found.kept),
        found.paid,
        found.first,
        place[found.axis] if len(place) else found.axis,
        found.child,
        permute(found.dropped),
        permute(found.screen),
    )
