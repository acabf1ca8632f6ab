"""Growing all irreducible sets, one feature at a time (replaces Algorithm 3 of the paper).

Level k holds the irreducible sets of k features. By the theorem of `lattice.lattice` every set
of level k + 1 contains one of level k, so

    level k + 1 = { S ∪ {X} : S in level k, X relevant given E, S ∪ {X} ⊆ ∂(S ∪ {X} ∪ E) }.

Two engines have the same interface: a readable one in Python and a compiled one. The number of
floods that a level needs decides between them. Sets are rows of 64-bit words, in ascending order.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import Growth
from voilattice.engines import choose_engine
from voilattice.errors import Remedy, TooLargeError
from voilattice.feature_sets import Words, bits, to_mask, to_words
from voilattice.lattice.independence import Graph
from voilattice.wording import count_noun

__all__ = [
    "MAX_NODES",
    "Progress",
    "grow_levels",
]

# Called during the growth with the size of the sets being grown and the number of sets so far.
Progress: TypeAlias = Callable[[int, int], None]

MAX_NODES = 5_000_000

# The compiled engine does about this many floods per call.
FLOODS_AT_ONCE = 500_000

CACHE_BYTES = 256 << 20


def grow_levels(
    graph: Graph,
    evidence: int,
    *,
    max_size: int | None = None,
    max_nodes: int = MAX_NODES,
    engine: str = "auto",
    progress: Progress | None = None,
) -> tuple[Words, ...]:
    """Return the irreducible sets given E by their number of features, each level in order.

    The levels are cached for each graph and evidence set, up to `CACHE_BYTES` in total.

    Raises
    ------
    TooLargeError
        There are more than `max_nodes` sets; the text says how many were found.
    """
    key = (graph, evidence, max_size)
    if engine == "auto" and (cached := _cache.get(key)) and sum(map(len, cached)) <= max_nodes:
        return cached
    n_candidates = graph.relevant(evidence).bit_count()
    levels = [to_words([0], max(-(-len(graph.features) // 64), 1))]
    total, work = 1, 0
    twin = "python" if engine == "auto" else engine
    grower = _TWINS[twin](graph, evidence)
    while max_size is None or len(levels) <= max_size:
        work += len(levels[-1]) * n_candidates * len(graph.parents)
        if (better := choose_engine(engine, "growth", work)) != twin:
            twin, grower = better, _TWINS[better](graph, evidence)
        found = grower.grow(levels[-1], _Reporter(len(levels), total, max_nodes, progress))
        if not len(found):
            break
        levels.append(found[np.lexsort(found.T)])
        total += len(found)
    for level in levels:
        level.setflags(write=False)
    return _cache.put(key, tuple(levels))


@dataclass(frozen=True, slots=True)
class _Reporter:
    """Is called with the number of sets of a level so far: checks the budget, shows progress."""

    size: int
    n_before: int
    max_nodes: int
    progress: Progress | None

    def __call__(self, n_found: int) -> None:
        if self.n_before + n_found > self.max_nodes:
            # Sets of at most 0 features would be no lattice to look at.
            fewer = Remedy(f"keep to sets of at most {self.size - 1}", "max_size")
            raise TooLargeError(
                f"more than {count_noun(self.max_nodes, 'irreducible set')}: {self.n_before:,} "
                f"have up to {count_noun(self.size - 1, 'feature')}, and at least {n_found:,} "
                f"have {self.size}",
                remedies=(
                    *((fewer,) if self.size > 1 else ()),
                    Remedy("raise the budget", "max_nodes"),
                    Remedy("choose fewer features"),
                    Remedy("give more evidence"),
                ),
            )
        if self.progress is not None:
            self.progress(self.size, self.n_before + n_found)


class _PythonGrower:
    """The readable engine: the reference in the tests, and faster for small lattices."""

    def __init__(self, graph: Graph, evidence: int) -> None:
        self._graph, self._evidence = graph, evidence
        self._relevant = graph.relevant(evidence)

    def grow(self, level: Words, report: _Reporter) -> Words:
        tried: set[int] = set()
        found: list[int] = []
        for s in map(to_mask, level):
            for k in bits(self._relevant & ~s):
                t = s | 1 << k
                if t not in tried:
                    tried.add(t)
                    if self._graph.is_irreducible(t, self._evidence):
                        found.append(t)
            report(len(found))
        return to_words(found, level.shape[1])


class _CompiledGrower:
    """The same with compiled floods (`compiled.growth`)."""

    def __init__(self, graph: Graph, evidence: int) -> None:
        n = len(graph.parents)
        families = [[c, *graph.parents[c]] for c in range(n)]
        containing = [list(bits(graph.moral.families_of[node])) for node in range(n)]
        known = [graph.features[k] for k in bits(evidence)]
        ancestors = np.zeros((n, n), dtype=np.uint8)
        for node in range(n):
            ancestors[node, list(bits(graph.moral.ancestors[node]))] = 1
        blocked = np.zeros(n, dtype=np.uint8)
        blocked[known] = 1
        self._candidates = np.array(list(bits(graph.relevant(evidence))), dtype=np.int64)
        self._prepared = Growth(
            self._candidates,
            np.array(graph.features, dtype=np.int64),
            graph.target,
            blocked,
            ancestors[[graph.target, *known]].max(axis=0),
            ancestors,
            _compress(containing),
            _compress(families),
        )

    def grow(self, level: Words, report: _Reporter) -> Words:
        from voilattice.compiled import growth as compiled

        slots = np.full(1 << (2 * len(level)).bit_length(), -1, dtype=np.int64)
        compiled.fill_hash_table(level, slots)
        portion = max(FLOODS_AT_ONCE // max(len(self._candidates), 1), 1)
        out = np.empty((portion * len(self._candidates), level.shape[1]), dtype=np.uint64)
        parts, total = [], 0
        for start in range(0, len(level), portion):
            stop = min(start + portion, len(level))
            n = compiled.grow(level, slots, start, stop, self._prepared, out)
            parts.append(out[:n].copy())
            total += n
            report(total)
        return np.concatenate(parts)


_TWINS: dict[str, type[_PythonGrower] | type[_CompiledGrower]] = {
    "python": _PythonGrower,
    "compiled": _CompiledGrower,
}


class _Cache:
    """The levels of recent lattices; the least recently used are dropped first.

    Threads share it.
    """

    def __init__(self, max_bytes: int) -> None:
        self._lock = Lock()
        self._max_bytes, self._bytes = max_bytes, 0
        self._entries: OrderedDict[Any, tuple[Words, ...]] = OrderedDict()

    def get(self, key: Any) -> tuple[Words, ...] | None:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: Any, levels: tuple[Words, ...]) -> tuple[Words, ...]:
        with self._lock:
            self._bytes -= self._size(self._entries.pop(key, ()))
            self._entries[key] = levels
            self._bytes += self._size(levels)
            while self._bytes > self._max_bytes:
                self._bytes -= self._size(self._entries.popitem(last=False)[1])
        return levels

    @staticmethod
    def _size(levels: tuple[Words, ...]) -> int:
        return sum(level.nbytes for level in levels)


_cache = _Cache(CACHE_BYTES)


def _compress(lists: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each list begins in one array of all lists, and that array."""
    starts = np.concatenate([[0], np.cumsum([len(entry) for entry in lists])])
    return starts.astype(np.int64), np.array(list(chain(*lists)), dtype=np.int64)
