r"""Algorithm 1 of the paper: the EVI of every set of a lattice, with as few computed as possible.

Bounds give the EVI of some sets; only the others are computed. (`value_lattice` computes all sets
and is faster, because valuing a whole lattice costs little more than reading its tables once.)

Write cl(S) for S and all features that S separates from Y (given E). Then, by Proposition 2,
EVI(S) >= EVI(T) for every T ⊆ cl(S). This covers both subsets and information pathways (3.2.1 and
3.2.2). Each computed value tightens

    upper(T) ← min(upper(T), EVI(S))     for T ⊆ cl(S)
    lower(T) ← max(lower(T), EVI(S))     for S ⊆ cl(T)

and a set whose bounds meet is never computed. The first values are the empty set's, which is 0, and
the acquirable core's, which is an upper bound for all sets. Each next set is the open set whose
value bounds the most open sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.feature_sets import Words, to_mask, to_words
from voilattice.lattice.lattice import Lattice
from voilattice.model.problem import Evidence, Problem
from voilattice.ties import tolerance
from voilattice.valuation.valuation import emc, evi

__all__ = ["Bounded", "algorithm_1"]


@dataclass(frozen=True, slots=True)
class Bounded:
    """The result of Algorithm 1: bounds that meet for every set, and which sets were computed."""

    lattice: Lattice
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    computed: NDArray[np.bool_]

    @property
    def evi(self) -> NDArray[np.float64]:
        """The EVI of each set, in the order of the lattice."""
        return self.upper

    @property
    def n_computed(self) -> int:
        """The number of sets whose EVI was computed."""
        return int(self.computed.sum())

    @property
    def n_saved(self) -> int:
        """The number of sets that bounds settled, including the empty set."""
        return len(self.computed) - self.n_computed


def algorithm_1(problem: Problem, evidence: Evidence | None = None) -> Bounded:
    """Return the EVI of every irreducible set; compute it only where bounds do not give it.

    >>> import voilattice
    >>> found = algorithm_1(voilattice.load_problem("figure3"))
    >>> found.n_computed, found.n_saved
    (7, 2)
    """
    *_, last = _steps(problem, evidence)
    return last


def _steps(problem: Problem, evidence: Evidence | None) -> Iterator[Bounded]:
    """Return the bounds after each value that Algorithm 1 computes."""
    lattice = Lattice(problem, evidence)
    rows, closures = lattice.rows, _closures(lattice)
    tol = tolerance(emc(problem, evidence))
    lower, upper = np.zeros(len(rows)), np.full(len(rows), np.inf)
    upper[0] = 0.0  # the empty set, the only leaf
    computed = np.zeros(len(rows), dtype=bool)
    relations = sum(
        (_inside(rows, closure).astype(np.int64) for closure in closures),
        start=np.array([int(_inside(rows, closure).sum()) for closure in closures]),
    )
    core = to_words([problem.feature_mask(lattice.acquirable_core)], rows.shape[1])
    place = int(np.flatnonzero((rows == core).all(axis=1))[0])
    is_open = upper - lower > tol
    yield Bounded(lattice, lower.copy(), upper.copy(), computed.copy())
    while is_open.any():
        if not is_open[place]:
            # The open set that is above or below the most other open sets.
            place = int(np.argmax(np.where(is_open, relations, -1)))
        exact = evi(problem, problem.feature_names(to_mask(rows[place])), evidence)  # lines 2, 8
        computed[place] = True
        below, above = _inside(rows, closures[place]), _inside(rows[place], closures)
        lower[above] = np.maximum(lower[above], exact)  # line 9
        upper[below] = np.minimum(upper[below], exact)  # line 10
        lower[place] = upper[place] = exact
        closed = is_open & (upper - lower <= tol)
        is_open &= ~closed
        for gone in np.flatnonzero(closed):
            relations -= _inside(rows, closures[gone])
            relations -= _inside(rows[gone], closures)
        yield Bounded(lattice, lower.copy(), upper.copy(), computed.copy())


def _closures(lattice: Lattice) -> Words:
    """Return, for each set, the set with all features that it separates from Y."""
    graph, e = lattice.graph, lattice.problem.feature_mask(lattice.evidence)
    n_words = lattice.rows.shape[1]
    found = [s | graph.all & ~e & ~graph.reachable(s | e, 0) for s in map(to_mask, lattice.rows)]
    return to_words(found, n_words)


def _inside(inner: Words, outer: Words) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = ((inner & ~outer) == 0).all(axis=-1)
    return found
