r"""The state space of the optimal policy, in blocks.

A state of a problem is (e_K, R, the groups paid for that still have members in R), as `states.py`
explains. A *block* is all states with the same K, R and paid groups: one for each value of K. The
blocks that can be met are found from the first one, K = ∅, by acquiring every X_i of R in turn,

    (K, R)  →  (K', R') = what still matters of K ∪ {i}, and of R \ {i}.

R shrinks at every step, so the blocks in descending order of |R| have their children behind them.
There is about one block for each irreducible set.

Forgetting. D = K ∪ {i} \ K' is what the step forgets. It is d-separated from Y and R' given K', and
from all of K' but a *screen* B by B itself. So P(e_D | e_K') = P(e_D | e_B), and all the steps of a
problem share a few small tables.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from voilattice.engines import choose_engine
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits
from voilattice.lattice.independence import Graph, graph_of
from voilattice.model.costs import FeatureCosts
from voilattice.model.problem import Problem

__all__ = [
    "MAX_OWN_PRICES",
    "Blocks",
    "bundles_of",
    "cells_of",
    "conditions_of",
    "find_blocks",
    "unique_rows",
]

Masks = NDArray[np.uint64]
Ints = NDArray[np.int64]

STATES_PER_STEP = 8  # a step takes the memory, and the time to be found, of so many states
MAX_CIRCLE = 12
MAX_OWN_PRICES = 8  # features with prices of a user's own, all of whose sets are tried
MAX_WIDTH = 64  # axes, groups and, in the compiled engine, nodes are bits of a word


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
    """Return how many values the features of each set have together."""
    cells = np.ones(len(masks), dtype=np.int64)
    for a, size in enumerate(sizes.tolist()):
        cells[(masks >> np.uint64(a) & np.uint64(1)).astype(bool)] *= size
    return cells


def unique_rows(rows: Masks) -> tuple[Masks, Ints]:
    """Return the different rows, in order, and which of them each row is.

    As `numpy.unique` with ``axis=0``, which takes several times as long.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])[: len(rows)]
    inverse = np.empty(len(rows), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return ordered[new], inverse


def conditions_of(problem: Problem) -> dict[int, int]:
    """Return the features in the conditions of each feature's prices, by number and mask."""
    assert isinstance(problem.costs, FeatureCosts)
    found: dict[int, int] = {}
    for entry in problem.costs.conditional:
        k = problem.features.index(entry.feature)
        found[k] = found.get(k, 0) | problem.feature_mask(f for f, _ in entry.when)
    return found


def bundles_of(problem: Problem) -> list[int]:
    """Return the sets of features that can be cheaper together than in any order, as masks.

    These are the sets in which the price of each depends on another, in a circle. With prices of
    a user's own any set can be one.
    """
    if not isinstance(problem.costs, FeatureCosts):
        n = len(problem.features)
        return [s for s in range(1 << n) if s.bit_count() > 1] if n <= MAX_OWN_PRICES else []
    named = conditions_of(problem)
    every = sum(1 << k for k in named)
    reached = {k: _reached(k, named, every) for k in named}
    circles = {
        frozenset(j for j in named if reached[k] >> j & 1 and reached[j] >> k & 1) for k in named
    }
    found = []
    for circle in circles:
        if len(circle) > MAX_CIRCLE:
            names = ", ".join(problem.features[k] for k in sorted(circle))
            raise TooLargeError(f"the prices of {names} depend on each other; too many for a proof")
        for size in range(2, len(circle) + 1):
            for members in combinations(sorted(circle), size):
                inside = sum(1 << k for k in members)
                if all(_reached(k, named, inside) == inside for k in members):
                    found.append(inside)
    return sorted(found)


def _reached(k: int, named: Mapping[int, int], inside: int) -> int:
    """Return what the price of a feature depends on, directly or not, within a set."""
    found, stack = 0, [k]
    while stack:
        more = named[stack.pop()] & inside & ~found
        found |= more
        stack += bits(more)
    return found


def find_blocks(
    problem: Problem, max_states: int, *, engine: str = "auto", until: float = math.inf
) -> Blocks:
    """Return the blocks that can be met from the problem's own evidence on.

    Raises
    ------
    TooLargeError
        They have more states than `max_states`, or are not found `until` then (`time.monotonic`).
    """
    graph, conditions = graph_of(problem), conditions_of(problem)
    e = problem.feature_mask(problem.evidence)
    relevant, _ = graph.what_matters(e, conditions)
    features = list(bits(relevant))
    assert isinstance(problem.costs, FeatureCosts)
    groups = [problem.feature_mask(group.features) for group in problem.costs.groups]
    if max(len(features), len(groups)) > MAX_WIDTH:
        raise TooLargeError(f"{len(features)} features matter; at most {MAX_WIDTH} can be solved")
    engine = choose_engine(engine, "blocks", len(features))
    if engine == "compiled" and len(graph.parents) > MAX_WIDTH:
        engine = "python"
    maker = _CompiledSteps if engine == "compiled" else _Steps
    steps = maker(graph, features, e, conditions, groups, until)
    sizes = np.array([len(problem.states(problem.features[k])) for k in features], dtype=np.int64)
    paid = sum(1 << g for g, members in enumerate(groups) if members & e and members & relevant)
    root = np.array([[(1 << len(features)) - 1, 0, paid]], dtype=np.uint64)
    return _in_layout(_search(root, steps, sizes, max_states), features, sizes)


class _Steps:
    """What follows from a block, in Python."""

    def __init__(
        self,
        graph: Graph,
        features: list[int],
        e: int,
        conditions: Mapping[int, int],
        groups: list[int],
        until: float,
    ) -> None:
        self._graph, self._features, self._e, self._until = graph, features, e, until
        self._conditions, self._groups = conditions, groups

    def __call__(self, blocks: Masks) -> Masks:
        """Return (R', K', paid', D, B) for each feature of each block's R, ascending."""
        rows: list[tuple[int, int, int, int, int]] = []
        for block_r, block_k, paid in blocks.tolist():
            r, k = self._wide(block_r), self._wide(block_k)
            self.check_time()
            for i in bits(r):
                known = k | 1 << i
                new_r, new_k = self._graph.what_matters(
                    known | self._e, self._conditions, r & ~(1 << i)
                )
                new_k &= known
                groups = list(enumerate(self._groups))
                bought = paid | sum(1 << g for g, mates in groups if mates >> i & 1)
                still = sum(1 << g for g, mates in groups if mates & new_r)
                dropped = known & ~new_k
                screen = self._graph.screen(dropped, new_k | self._e) & new_k if dropped else 0
                narrow = (self._narrow(s) for s in (new_r, new_k))
                rows.append((*narrow, bought & still, self._narrow(dropped), self._narrow(screen)))
        return np.array(rows, dtype=np.uint64).reshape(-1, 5)

    def check_time(self) -> None:
        if time.monotonic() > self._until:
            raise TooLargeError("the states are not found in time")

    def _wide(self, axes: int) -> int:
        return sum(1 << self._features[a] for a in bits(axes))

    def _narrow(self, features: int) -> int:
        return sum(1 << a for a, k in enumerate(self._features) if features >> k & 1)


class _CompiledSteps(_Steps):
    """The same, compiled. The axes are the first nodes, so that their masks are masks of nodes."""

    def __call__(self, blocks: Masks) -> Masks:
        from voilattice.compiled import blocks as compiled

        graph, moral = self._graph, self._graph.moral
        n = len(graph.parents)
        front = [graph.features[k] for k in self._features]
        order = front + [node for node in range(n) if node not in set(front)]
        place = {node: k for k, node in enumerate(order)}

        def moved(mask: int) -> int:
            return sum(1 << place[node] for node in bits(mask))

        def masks(values: list[int]) -> Masks:
            return np.array([moved(values[node]) for node in order], dtype=np.uint64)

        children = [sum(1 << c for c in moral.children[node]) for node in range(n)]
        parents = [sum(1 << p for p in graph.parents[node]) for node in range(n)]
        links = (
            masks(list(moral.family)),
            masks(list(moral.families_of)),
            masks(list(moral.ancestors)),
            masks(children),
            masks(parents),
        )
        conditions, group_of = np.zeros(n, np.uint64), np.full(n, -1)
        for a, k in enumerate(self._features):
            conditions[a] = self._narrow(self._conditions.get(k, 0))
            group_of[a] = next((g for g, m in enumerate(self._groups) if m >> k & 1), -1)
        out = np.empty((int(np.bitwise_count(blocks[:, 0]).sum()), 5), np.uint64)
        compiled.expand(
            *(np.ascontiguousarray(column) for column in blocks.T),
            np.uint64(moved(sum(1 << graph.features[k] for k in bits(self._e)))),
            place[graph.target],
            links,
            conditions,
            group_of,
            np.array([self._narrow(g) for g in self._groups], dtype=np.uint64),
            out,
        )
        return out


def _search(root: Masks, steps: _Steps, sizes: Ints, max_states: int) -> Blocks:
    """Find all blocks, those of larger R first; axes are in the problem's order."""
    blocks: list[Masks] = []
    rows: list[Masks] = []
    n_blocks = n_steps = n_states = 0
    # Of the steps found so far: their numbers and children, by the size of the child's R.
    waiting: dict[int, list[tuple[Ints, Masks]]] = {}
    found_at: list[Ints] = []  # the numbers of steps, and the blocks that they lead to
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
    """Reorder the axes: those that steps sum out, forget or look at become the slowest.

    The steps then run over long stretches of memory.
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

    def moved(masks: Masks) -> Masks:
        result = np.zeros_like(masks)
        for new, old in enumerate(order):
            result |= (masks >> np.uint64(old) & np.uint64(1)) << np.uint64(new)
        return result

    return Blocks(
        tuple(features[a] for a in order),
        sizes[order],
        moved(found.relevant),
        moved(found.kept),
        found.paid,
        found.first,
        place[found.axis] if len(place) else found.axis,
        found.child,
        moved(found.dropped),
        moved(found.screen),
    )
