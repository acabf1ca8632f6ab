"""The Value of Information Lattice: all irreducible sets of features, and no others.

Definition 2 (paper). The lattice V has a node for each irreducible set given E, the empty set
included, and an edge from each set to its direct (maximal irreducible) subsets.

Theorem. If T ⊂ S are both irreducible and S has at least two features more than T, then some
irreducible set lies strictly between T and S. (The proof is in ``docs/lattice.md``.) It follows:

- Direct subsets are exactly one feature smaller: the edges of V join neighbouring levels.
- Every irreducible set is reached from ∅ by adding one feature at a time without leaving V. So V
  is grown level by level; the potentially irreducible sets of Algorithm 3 are not needed.

Testing a set costs one flood (`lattice.independence`). Only sets that are one feature larger than
an irreducible set are tested. So the whole lattice costs at most n floods per node, although there
are 2^n subsets.

The lattice depends on which features are known, not on their values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voilattice.engines import check_engine
from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.extras import need_extra
from voilattice.feature_sets import Words, bits, sort_keys, to_mask, to_words
from voilattice.lattice.growth import MAX_NODES, Progress, grow_levels
from voilattice.lattice.independence import feature_masks, graph_of, known_states
from voilattice.model.problem import Problem, check_problem
from voilattice.wording import quote

if TYPE_CHECKING:
    import networkx

__all__ = ["Lattice"]

MAX_NETWORKX = 200_000


class Lattice:
    """All irreducible sets of a problem's features given E, and which of them contain each other.

    Parameters
    ----------
    evidence
        The known features, in addition to the problem's own evidence: names, or a mapping of names
        to states. The states matter only to which sets are feasible.
    max_size
        Keep only the sets of at most this many features.
    max_nodes
        Raise `TooLargeError` if there are more sets than this.
    engine
        ``"python"``, ``"compiled"``, or ``"auto"``: by the estimated work.
    progress
        Called repeatedly with the size of the sets being grown and the number of sets so far.

    >>> import voilattice
    >>> v = Lattice(voilattice.load_problem("figure3"))
    >>> len(v), v.n_edges, [sorted(s) for s in v.roots]
    (9, 12, [['X1', 'X3', 'X4'], ['X2', 'X3', 'X4']])
    >>> {"X1", "X2"} in v, sorted(v.core_of({"X1", "X2"}))
    (False, ['X1'])
    """

    def __init__(
        self,
        problem: Problem,
        evidence: Collection[str] | None = None,
        *,
        max_size: int | None = None,
        max_nodes: int = MAX_NODES,
        engine: str = "auto",
        progress: Progress | None = None,
    ) -> None:
        check_problem(problem)
        check_engine(engine)
        if max_size is not None and (not isinstance(max_size, int) or max_size < 0):
            raise InputError(f"max_size must be a whole number >= 0, got {quote(max_size)}")
        self.problem = problem
        self.graph = graph_of(problem)
        _, self._evidence = feature_masks(problem, (), evidence or ())
        self._given = evidence or ()
        self.max_size = max_size
        self._levels = grow_levels(
            self.graph,
            self._evidence,
            max_size=max_size,
            max_nodes=max_nodes,
            engine=engine,
            progress=progress,
        )

    # -- the sets

    @property
    def evidence(self) -> frozenset[str]:
        """E: the features that are known."""
        return self.problem.feature_names(self._evidence)

    @property
    def acquirable(self) -> frozenset[str]:
        """The features that are not known."""
        return self.problem.feature_names(self.graph.all & ~self._evidence)

    @property
    def n_subsets(self) -> int:
        """The number of all sets of acquirable features."""
        return 1 << (self.graph.all & ~self._evidence).bit_count()

    @property
    def level_sizes(self) -> tuple[int, ...]:
        """The number of sets with 0, 1, 2, ... features."""
        return tuple(map(len, self._levels))

    @property
    def levels(self) -> tuple[Words, ...]:
        """The sets with 0, 1, 2, ... features, as rows of words."""
        return self._levels

    @property
    def rows(self) -> Words:
        """All sets in order, as rows of words."""
        return np.concatenate(self._levels)

    @property
    def nbytes(self) -> int:
        """The memory that the sets take."""
        return sum(level.nbytes for level in self._levels)

    @property
    def is_cut(self) -> bool:
        """Whether `max_size` stopped the growth: larger sets may exist."""
        return len(self._levels) - 1 == self.max_size

    def __len__(self) -> int:
        return sum(self.level_sizes)

    def _repr_html_(self) -> str:
        from voilattice.drawing.lattice import lattice_body

        return lattice_body(self)

    def __repr__(self) -> str:
        cut = f" of at most {self.max_size} features" if self.is_cut else ""
        return f"<Lattice: {len(self):,} irreducible sets{cut}>"

    def __iter__(self) -> Iterator[frozenset[str]]:
        return (s for size in range(len(self._levels)) for s in self.level(size))

    def level(self, size: int) -> Iterator[frozenset[str]]:
        """Return the sets with `size` features."""
        if not 0 <= size < len(self._levels):
            return iter(())
        return (self.problem.feature_names(to_mask(row)) for row in self._levels[size])

    def __contains__(self, features: object) -> bool:
        if not isinstance(features, Collection) or isinstance(features, str):
            return False
        if not all(name in self.problem.features for name in features):
            return False
        return self._place(self.problem.feature_mask(features)) is not None

    def core_of(self, features: Iterable[str]) -> frozenset[str]:
        """Return the core of S: the node that carries all information of S."""
        s, _ = feature_masks(self.problem, features, self.evidence)
        return self.problem.feature_names(self.graph.core(s, self._evidence))

    @property
    def acquirable_core(self) -> frozenset[str]:
        """The acquirable core: the node that separates Y from all other acquirable features."""
        return self.core_of(self.acquirable)

    @cached_property
    def feasible(self) -> NDArray[np.bool_] | None:
        """Whether each set can be acquired as it is, in the order of the lattice.

        The constraints of the problem say so, at the states that are known. Without states it is
        not known: None.

        >>> from dataclasses import replace
        >>> import voilattice
        >>> p = voilattice.load_problem("figure3")
        >>> p = replace(p, constraints=(voilattice.Constraint("X1", after=["X3"]),))
        >>> v = Lattice(p)
        >>> [sorted(s) for s, can in zip(v, v.feasible) if not can]
        [['X1']]
        """
        if (known := known_states(self.problem, self._given)) is None:
            return None
        return self.problem.feasibility.are_feasible(self.rows, known)

    # -- which sets contain each other

    @property
    def roots(self) -> list[frozenset[str]]:
        """The sets that no other set of the lattice contains.

        If `max_size` cut the lattice, its largest sets are left out, because they may have
        irreducible supersets.
        """
        found = []
        for size, level in enumerate(self._levels[: -1 if self.is_cut else None]):
            inner = np.zeros(len(level), dtype=bool)
            for _, below in self._edges_from(size + 1):
                inner[below] = True
            found += [self.problem.feature_names(to_mask(row)) for row in level[~inner]]
        return found

    @property
    def leaves(self) -> list[frozenset[str]]:
        """The sets that contain no other: by the theorem, the empty set alone."""
        return [frozenset()]

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return sum(
            len(below) for size in range(len(self._levels)) for _, below in self._edges_from(size)
        )

    def edges(self) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
        """Return the edges: each set with each of its direct subsets."""
        names = self.problem.feature_names
        for size in range(1, len(self._levels)):
            for above, below in self._edges_from(size):
                for a, b in zip(
                    self._levels[size][above], self._levels[size - 1][below], strict=True
                ):
                    yield names(to_mask(a)), names(to_mask(b))

    def direct_subsets(self, features: Iterable[str]) -> list[frozenset[str]]:
        """Return the sets that an edge leads to from S."""
        s = self._node(features)
        return self._named(s ^ 1 << k for k in bits(s))

    def direct_supersets(self, features: Iterable[str]) -> list[frozenset[str]]:
        """Return the sets from which an edge leads to S."""
        s = self._node(features)
        return self._named(s | 1 << k for k in bits(self.graph.all & ~self._evidence & ~s))

    def ancestors(self, features: Iterable[str]) -> list[frozenset[str]]:
        """Return all other sets of the lattice that contain S."""
        s = self._node(features)
        words = to_words([s], self._n_words)[0]
        return self._matching(
            range(s.bit_count() + 1, len(self._levels)),
            lambda level: ((level & words) == words).all(axis=1),
        )

    def descendants(self, features: Iterable[str]) -> list[frozenset[str]]:
        """Return all other sets of the lattice that S contains."""
        s = self._node(features)
        others = ~to_words([s], self._n_words)[0]
        return self._matching(
            range(s.bit_count()), lambda level: ((level & others) == 0).all(axis=1)
        )

    def separates(self, first: Iterable[str], second: Iterable[str]) -> bool:
        """Return whether `first` d-separates Y from `second` given E.

        Then EVI(first) >= EVI(second) (Proposition 2).
        """
        a, b = self._node(first), self._node(second)
        # A separates Y from B \\ A iff no member of B \\ A is in the core of A ∪ B.
        return not self.graph.core(a | b, self._evidence) & ~a

    def to_networkx(self) -> networkx.DiGraph:
        """Return the lattice as a networkx graph of frozensets, with edges to direct subsets."""
        need_extra("networkx", "to_networkx")
        import networkx

        if len(self) > MAX_NETWORKX:
            raise TooLargeError(
                f"{len(self):,} sets; networkx would need gigabytes for more than "
                f"{MAX_NETWORKX:,}. Cut the lattice (max_size), or write GraphML, which is streamed"
            )
        graph = networkx.DiGraph()
        graph.add_nodes_from((s, {"size": len(s)}) for s in self)
        graph.add_edges_from(self.edges())
        return graph

    # -- internal

    @property
    def _n_words(self) -> int:
        return int(self._levels[0].shape[1])

    def _place(self, mask: int) -> int | None:
        """Return the place of a set in its level, or None."""
        size = mask.bit_count()
        if size >= len(self._levels):
            return None
        level = self._levels[size]
        place = bisect_left(range(len(level)), mask, key=lambda i: to_mask(level[i]))
        return place if place < len(level) and to_mask(level[place]) == mask else None

    def _node(self, features: Iterable[str]) -> int:
        mask = self.problem.feature_mask(features)
        if self._place(mask) is None:
            names = ", ".join(sorted(self.problem.feature_names(mask)))
            known = ", ".join(sorted(self.problem.feature_names(mask & self._evidence)))
            if known:
                why = f"{known} is known"
            elif self.is_cut and mask.bit_count() > len(self._levels) - 1:
                why = f"it has more than {self.max_size} features"
            else:
                why = "it is not irreducible"
            raise UnknownNameError(f"{{{names}}} is not in the lattice: {why}")
        return mask

    def _named(self, found: Iterable[int]) -> list[frozenset[str]]:
        return [self.problem.feature_names(s) for s in found if self._place(s) is not None]

    def _matching(
        self, sizes: Iterable[int], condition: Callable[[Words], NDArray[np.bool_]]
    ) -> list[frozenset[str]]:
        names = self.problem.feature_names
        levels = (self._levels[size] for size in sizes)
        return [names(to_mask(row)) for level in levels for row in level[condition(level)]]

    def numbered_edges(self) -> Iterator[tuple[int, int]]:
        """Return the edges as pairs of set numbers, in the order of the lattice."""
        offset = 0
        for size in range(1, len(self._levels)):
            below_offset, offset = offset, offset + len(self._levels[size - 1])
            for above, below in self._edges_from(size):
                yield from zip(
                    (above + offset).tolist(), (below + below_offset).tolist(), strict=True
                )

    def _edges_from(self, size: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return, for each feature, the places of the sets with it and of the same without it."""
        if not 0 < size < len(self._levels):
            return
        level, below = self._levels[size], sort_keys(self._levels[size - 1])
        for k in range(len(self.graph.features)):
            bit = to_words([1 << k], self._n_words)[0]
            above = np.flatnonzero((level & bit).any(axis=1))
            smaller = sort_keys(level[above] ^ bit)
            places = np.searchsorted(below, smaller).clip(max=len(below) - 1)
            found = below[places] == smaller
            yield above[found], places[found]
