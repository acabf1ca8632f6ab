r"""Why a set is, or is not, irreducible: dependency constraints (paper, Section 3.3).

Definition 3. The dependency constraint DC(X) of a feature X is the condition on S ∪ E under which
X depends on Y. Algorithm 2 finds it on the paths between X and Y: every feature on a path must stay
unknown (¬X_k). At a v-structure, where two arrows meet, the node or one of its descendants must be
known instead. DC(X) is the disjunction over all paths.

In this module, a walk from Y carries its condition along, a pair (unknown, known) of feature sets.
Each node keeps only the conditions that imply no other condition there. So the work depends on the
number of different conditions, not on the number of paths. A walk may visit a node twice, which
changes nothing: an active walk exists iff an active path exists. The conditions that reach X are
reduced to prime implicants. DC(X) is a selection of these from which none can be removed: ``¬X1``,
``X3 ∨ X5``, ``(¬X1 ∧ X3) ∨ X4``.

The *positivity* of DC(X) is the set of features that DC(X) requires to be known: X_j is in it iff
for some Z, X depends on Y given Z ∪ {X_j} and not given Z.

Definition 4. S is *potentially irreducible* if S is not irreducible but some larger set is. The
test is exact (`Graph.is_extendable`). The lattice is grown without this test (`lattice.lattice`);
constraints only serve to explain.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from voilattice.errors import TooLargeError, within
from voilattice.feature_sets import bits, mask_of
from voilattice.lattice.independence import Graph, feature_masks, graph_of
from voilattice.model.problem import Problem

__all__ = [
    "Constraint",
    "Ordering",
    "dependency_constraint",
    "is_potentially_irreducible",
    "perfect_ordering",
]

# Nobody can read a formula with more alternatives than this.
MAX_TERMS = 2_000


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition on the known features: a disjunction of terms (known, unknown).

    A term holds if all features of its first set are known and none of its second set is. Without
    terms the condition never holds; the term (∅, ∅) always holds.
    """

    terms: tuple[tuple[frozenset[str], frozenset[str]], ...]

    def __call__(self, known: Collection[str]) -> bool:
        """Return whether the condition holds if exactly the features in `known` are known."""
        return any(
            needed <= set(known) and unknown.isdisjoint(known) for needed, unknown in self.terms
        )

    @property
    def positivity(self) -> frozenset[str]:
        """The features that some alternative requires to be known."""
        return frozenset().union(*(needed for needed, _ in self.terms))

    def __str__(self) -> str:
        return self.describe(str)

    def describe(self, label: Callable[[str], str]) -> str:
        """Return the formula, with the labels of features in place of their names."""
        if not self.terms:
            return "never"
        written = [
            " ∧ ".join(
                [
                    *(f"¬{name}" for name in sorted(map(label, unknown))),
                    *sorted(map(label, needed)),
                ]
            )
            for needed, unknown in self.terms
        ]
        if written == [""]:
            return "always"
        if len(written) == 1:
            return written[0]
        return " ∨ ".join(f"({term})" if "∧" in term else term for term in written)


def dependency_constraint(
    problem: Problem, feature: str, evidence: Collection[str] = (), *, max_terms: int = MAX_TERMS
) -> Constraint:
    """Return DC(X): when X depends on the target, as a condition on the other known features.

    >>> import voilattice
    >>> p = voilattice.load_problem("figure3")  # Y -> X1 -> X2, Y -> X3 <- X4
    >>> [str(dependency_constraint(p, x)) for x in ("X1", "X2", "X3", "X4")]
    ['always', '¬X1', 'always', 'X3']
    >>> sorted(dependency_constraint(p, "X4").positivity)
    ['X3']

    Parameters
    ----------
    evidence
        The known features. They do not appear in the condition.
    max_terms
        Raise `TooLargeError` if the condition has more alternatives than this, at X or at a node
        on a walk to X.
    """
    x, e = feature_masks(problem, [feature], evidence)
    with within(f"the dependency constraint of {feature!r}"):
        terms = _walk_terms(graph_of(problem), x.bit_length() - 1, e, max_terms)
        terms = _irredundant(_primes(terms, max_terms))
    names = problem.feature_names
    ordered = sorted(terms, key=lambda term: (term[0].bit_count() + term[1].bit_count(), term))
    return Constraint(tuple((names(needed), names(unknown)) for needed, unknown in ordered))


def is_potentially_irreducible(
    problem: Problem, features: Iterable[str], evidence: Collection[str] = ()
) -> bool:
    """Return whether S is not irreducible but some larger set is (Def. 4)."""
    s, e = feature_masks(problem, features, evidence)
    graph = graph_of(problem)
    return not graph.is_irreducible(s, e) and graph.is_extendable(s, e, graph.all & ~s & ~e)


@dataclass(frozen=True, slots=True)
class Ordering:
    """A perfect ordering of the features, or a cycle of features that prevents one."""

    features: tuple[str, ...] | None
    conflict: tuple[str, ...] | None


def perfect_ordering(problem: Problem, evidence: Collection[str] = ()) -> Ordering:
    """Return an order in which every feature comes after the positivity of its constraint.

    In such an order the paper's Algorithm 3 never meets a potentially irreducible set (3.3.1).

    >>> import voilattice
    >>> perfect_ordering(voilattice.load_problem("figure3")).features
    ('X1', 'X2', 'X3', 'X4')
    """
    _, e = feature_masks(problem, (), evidence)
    free = [name for k, name in enumerate(problem.features) if not e >> k & 1]
    before = {
        name: sorted(dependency_constraint(problem, name, evidence).positivity, key=free.index)
        for name in free
    }
    for first, second in itertools.combinations(free, 2):
        if first in before[second] and second in before[first]:
            return Ordering(None, (first, second))
    try:
        return Ordering(tuple(TopologicalSorter(before).static_order()), None)
    except CycleError as error:
        return Ordering(None, tuple(error.args[1][:-1]))


# -- private: formulas as terms (needed, unknown) of bitmasks

_Term = tuple[int, int]


def _walk_terms(graph: Graph, x: int, e: int, max_terms: int) -> Collection[_Term]:
    """Return the conditions under which a walk from Y to feature x is active given E."""
    children, ancestors = graph.moral.children, graph.moral.ancestors
    feature_of = {node: k for k, node in enumerate(graph.features)}
    end = graph.features[x]
    # Evidence below a collider opens it. Otherwise any feature below it can open it, except X: from
    # a collider above X, the walk can go down to X, so the collider does not have to be open.
    openers = []
    for node in range(len(graph.parents)):
        below = mask_of(k for k, f in enumerate(graph.features) if ancestors[f] >> node & 1) & ~(
            1 << x
        )
        openers.append([0] if below & e else [1 << k for k in bits(below)])
    useful = _leading_to(end, graph, openers)
    # A state is (node, whether the walk came down an arrow into it). A state keeps only the
    # conditions that imply no other condition of the state.
    start = (graph.target, False)
    kept: dict[tuple[int, bool], set[_Term]] = {start: {(0, 0)}}
    queue = [(start, (0, 0))]
    while queue:
        (node, came_down), term = queue.pop()
        if node == end or term not in kept[node, came_down]:
            continue
        steps: list[tuple[tuple[int, bool], _Term]] = []
        passing = _through(term, feature_of.get(node), e)
        if passing is not None:
            steps += [((child, True), passing) for child in children[node]]
        if came_down:
            opened = [(term[0] | bit, term[1]) for bit in openers[node] if not bit & term[1]]
        else:
            opened = [] if passing is None else [passing]
        steps += [((parent, False), after) for parent in graph.parents[node] for after in opened]
        for state, after in steps:
            if state in useful and _keep(kept.setdefault(state, set()), after, max_terms):
                queue.append((state, after))
    arrived: set[_Term] = set()
    for came_down in (False, True):
        for term in kept.get((end, came_down), ()):
            _keep(arrived, term, max_terms)
    return arrived


def _leading_to(end: int, graph: Graph, openers: Sequence[Sequence[int]]) -> set[tuple[int, bool]]:
    """Return the states from which a walk can reach `end` without returning to Y."""
    found = {(end, False), (end, True)}
    stack = list(found)
    while stack:
        node, came_down = stack.pop()
        if came_down:  # from a parent, which was reached upwards or downwards
            before = [(p, down) for p in graph.parents[node] for down in (False, True)]
        else:  # from a child, which was reached upwards, or downwards if it can be opened
            below = graph.moral.children[node]
            before = [(c, False) for c in below] + [(c, True) for c in below if openers[c]]
        for state in before:
            if state not in found and state[0] not in (graph.target, end):
                found.add(state)
                stack.append(state)
    return found


def _through(term: _Term, feature: int | None, e: int) -> _Term | None:
    """Return the condition of a walk that passes a non-collider, or None if it is blocked."""
    needed, unknown = term
    if feature is None:
        return term
    bit = 1 << feature
    if bit & (needed | e):
        return None
    return needed, unknown | bit


def _implies(term: _Term, other: _Term) -> bool:
    return not (other[0] & ~term[0] or other[1] & ~term[1])


def _keep(terms: set[_Term], new: _Term, max_terms: int) -> bool:
    """Add a term unless it implies one of `terms`; remove the terms that imply it."""
    if any(_implies(new, term) for term in terms):
        return False
    terms.difference_update([term for term in terms if _implies(term, new)])
    terms.add(new)
    if len(terms) > max_terms:
        raise TooLargeError(
            f"more than {max_terms} alternatives: choose fewer features, or give more evidence"
        )
    return True


def _primes(terms: Iterable[_Term], max_terms: int) -> set[_Term]:
    """Return all prime implicants, by iterated consensus."""
    primes: set[_Term] = set()
    queue = list(terms)
    while queue:
        new = queue.pop()
        if not _keep(primes, new, max_terms):
            continue
        for other in list(primes):
            clash = (new[0] & other[1]) | (new[1] & other[0])
            if clash.bit_count() == 1:  # they contradict in one feature: it can be dropped
                queue.append(((new[0] | other[0]) & ~clash, (new[1] | other[1]) & ~clash))
    return primes


def _irredundant(primes: Collection[_Term]) -> list[_Term]:
    """Return the primes without those that the others cover; the longest are dropped first."""
    kept = sorted(primes, key=lambda term: (-(term[0].bit_count() + term[1].bit_count()), term))
    for term in list(kept):
        others = [other for other in kept if other != term]
        if _covered(term, others):
            kept = others
    return kept


def _covered(term: _Term, others: list[_Term]) -> bool:
    """Return whether every assignment that satisfies `term` satisfies one of `others`."""
    needed, unknown = term
    open_terms = []
    for a, b in others:
        if a & unknown or b & needed:
            continue
        rest = (a & ~needed, b & ~unknown)
        if rest == (0, 0):
            return True
        open_terms.append(rest)
    if not open_terms:
        return False
    bit = (open_terms[0][0] | open_terms[0][1]) & -(open_terms[0][0] | open_terms[0][1])
    return _covered((needed | bit, unknown), others) and _covered((needed, unknown | bit), others)
