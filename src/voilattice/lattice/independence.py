r"""Which features can tell something about the target: boundary, core, irreducible sets.

Vocabulary. S is a set of features, E the set of features that are known (their values do not
matter here), Y the target, and Z = S ∪ E. "Depends" means: not d-separated in the network.

Definition 1 (paper). S is *irreducible* given E if every X in S depends on Y given E and the rest
of S.

One flood answers this for all of S. Let A be {Y} ∪ Z and all ancestors of these. In A, join all
parents of a common child and drop the directions of the arcs; this is the moral graph of A. Delete
Z and flood from Y. The members of Z that touch the flooded part are the *boundary* of Z,

    ∂(Z) = { X in Z : X depends on Y given Z \ {X} },

so S is irreducible given E iff S ⊆ ∂(S ∪ E). The *core* of S is what remains of S under

    S ← S ∩ ∂(S ∪ E)        until nothing changes.

The core is the only irreducible subset of S that carries all information of S: S \ core(S) is
d-separated from Y given core(S) and E, hence EVI(S) = EVI(core(S)). This is what Proposition 1
means. Read literally, for any inclusion-maximal irreducible subset instead of the core, the
proposition is false (``docs/lattice.md``). The core of *all* acquirable features has the highest
EVI of all sets. It is the Markov blanket of Y if the whole blanket can be acquired. This package
uses this core wherever the paper says Markov blanket.

Hidden nodes need no special case: the flood enters them, and they are never part of Z.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from voilattice.errors import InputError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.network import Network
from voilattice.model.problem import Problem

__all__ = [
    "Graph",
    "Moral",
    "acquirable_core",
    "boundary",
    "core",
    "graph_of",
    "is_irreducible",
    "is_separated",
    "markov_blanket",
    "relevant_features",
    "separator",
]


# -- public: features by name


def boundary(
    problem: Problem, features: Iterable[str], evidence: Collection[str] = ()
) -> frozenset[str]:
    """Return ∂(S ∪ E): the members of S and E that depend on the target given the others.

    >>> import voilattice
    >>> p = voilattice.load_problem("figure3")  # Y -> X1 -> X2, Y -> X3 <- X4
    >>> sorted(boundary(p, {"X1", "X2", "X4"}))
    ['X1']
    """
    s, e = feature_masks(problem, features, evidence)
    return problem.feature_names(graph_of(problem).boundary(s | e))


def core(
    problem: Problem, features: Iterable[str], evidence: Collection[str] = ()
) -> frozenset[str]:
    """Return the irreducible subset of S that carries all information of S.

    >>> import voilattice
    >>> p = voilattice.load_problem("figure3")
    >>> sorted(core(p, {"X1", "X2", "X3", "X4"}))
    ['X1', 'X3', 'X4']
    """
    return problem.feature_names(
        graph_of(problem).core(*feature_masks(problem, features, evidence))
    )


def is_irreducible(
    problem: Problem, features: Iterable[str], evidence: Collection[str] = ()
) -> bool:
    """Return whether every member of S depends on the target given E and the rest of S (Def. 1)."""
    return graph_of(problem).is_irreducible(*feature_masks(problem, features, evidence))


def acquirable_core(problem: Problem, evidence: Collection[str] = ()) -> frozenset[str]:
    """Return the core of all features that are not known: the set of highest EVI."""
    unknown = [f for f in problem.features if f not in {*problem.evidence, *evidence}]
    return core(problem, unknown, evidence)


def relevant_features(problem: Problem, evidence: Collection[str] = ()) -> frozenset[str]:
    """Return the features that can still matter: the members of irreducible sets given E."""
    _, e = feature_masks(problem, (), evidence)
    return problem.feature_names(graph_of(problem).relevant(e))


def markov_blanket(problem: Problem) -> frozenset[str]:
    """Return the target's parents, children and its children's other parents in the network."""
    network, y = problem.network, problem.network.index(problem.target)
    children = [node for node, parents in enumerate(network.parents) if y in parents]
    blanket = {*network.parents[y], *children, *(p for c in children for p in network.parents[c])}
    return frozenset(network.names[node] for node in blanket - {y})


def is_separated(
    network: Network, first: Collection[str], second: Collection[str], given: Collection[str]
) -> bool:
    """Return whether `given` d-separates every node of `first` from every node of `second`.

    Nodes of `first` and `second` that are also `given` do not count.
    """
    nodes = [
        mask_of(network.index(name) for name in set(names)) for names in (first, second, given)
    ]
    first_nodes, second_nodes = nodes[0] & ~nodes[2], nodes[1] & ~nodes[2]
    if first_nodes & second_nodes:
        return False
    moral = _moral(network.parents)
    return not moral.flood(first_nodes, nodes[2], second_nodes) & second_nodes


def separator(
    network: Network,
    target: int,
    features: Collection[int],
    candidates: Collection[int],
    given: Collection[int],
) -> list[int]:
    """Return a minimal subset of `candidates` that separates the target from the features.

    All `candidates` together must separate them. All arguments are nodes; `given` is known.
    """
    moral = _moral(network.parents)
    ends, known = (mask_of(node for node in set(nodes)) for nodes in (features, given))
    chosen = mask_of(node for node in set(candidates)) & ~known

    def separates(nodes: int) -> bool:
        outside = ends & ~nodes & ~known
        return not moral.flood(1 << target, nodes | known, outside) & outside

    for node in bits(chosen):
        if separates(chosen & ~(1 << node)):
            chosen &= ~(1 << node)
    return list(bits(chosen))


def feature_masks(
    problem: Problem, features: Iterable[str], evidence: Collection[str]
) -> tuple[int, int]:
    """Return S and E as bitmasks of features; E includes the problem's own evidence."""
    known = problem.feature_mask(evidence) | problem.feature_mask(problem.evidence)
    chosen = problem.feature_mask(features)
    if both := chosen & known:
        names = ", ".join(sorted(problem.feature_names(both)))
        raise InputError(f"{names}: known already")
    return chosen, known


def known_states(
    problem: Problem, evidence: Collection[str] | Mapping[str, Any]
) -> dict[str, str] | None:
    """Return the state of each known feature; None: some are given by name alone.

    Irreducible sets depend on names only. Which sets are feasible depends on states, if there are
    constraints.
    """
    if not problem.constraints:
        return dict(problem.evidence)
    if not isinstance(evidence, Mapping):
        return None if set(evidence) - set(problem.evidence) else dict(problem.evidence)
    further = problem.further(evidence)
    return {**problem.evidence, **{f: problem.state_of(f, v) for f, v in further.items()}}


# -- internal: sets as bitmasks


@dataclass(frozen=True, slots=True)
class Moral:
    """A directed graph, prepared for floods in the moral graph of any ancestral part of it.

    Two nodes are joined in the moral graph of A iff some node c of A has both in its *family*,
    {c} and the parents of c. All sets are bitmasks of nodes.
    """

    family: tuple[int, ...]  # family[c] = {c} and its parents
    families_of: tuple[int, ...]  # the c whose family contains a node: the node and its children
    ancestors: tuple[int, ...]  # of each node, with the node itself
    children: tuple[tuple[int, ...], ...]

    def ancestral(self, nodes: int) -> int:
        found = 0
        for node in bits(nodes):
            found |= self.ancestors[node]
        return found

    def flood(self, sources: int, blocked: int, others: int = 0) -> int:
        """Return the nodes that touch the flood from `sources`, blocked ones included.

        The flood runs in the moral graph of the ancestors of all three sets and stops at `blocked`.
        """
        families_left = self.ancestral(sources | blocked | others)
        touched = sources
        frontier = sources & ~blocked
        while frontier:
            node = frontier.bit_length() - 1
            frontier ^= 1 << node
            families = self.families_of[node] & families_left
            families_left ^= families
            for c in bits(families):
                frontier |= self.family[c] & ~touched & ~blocked
                touched |= self.family[c]
        return touched


@lru_cache(maxsize=64)
def _moral(parents: tuple[tuple[int, ...], ...]) -> Moral:
    n = len(parents)
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    family = [1 << c | mask_of(p for p in parents[c]) for c in range(n)]
    families_of = [0] * n
    ancestors = [0] * n
    for c in range(n):
        for node in bits(family[c]):
            families_of[node] |= 1 << c
        stack = [c]
        while stack:
            node = stack.pop()
            if not ancestors[c] >> node & 1:
                ancestors[c] |= 1 << node
                stack.extend(parents[node])
    return Moral(tuple(family), tuple(families_of), tuple(ancestors), tuple(map(tuple, children)))


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of a problem: its network's arcs, its target, and which nodes are features.

    All sets are bitmasks of features: bit k stands for the k-th feature of the problem.
    """

    parents: tuple[tuple[int, ...], ...]
    target: int
    features: tuple[int, ...]  # the node of each feature
    moral: Moral = field(compare=False, repr=False)

    @property
    def all(self) -> int:
        """All features."""
        return (1 << len(self.features)) - 1

    def boundary(self, z: int) -> int:
        """Return ∂(Z)."""
        touched = self.moral.flood(1 << self.target, self.nodes(z))
        return mask_of(k for k in bits(z) if touched >> self.features[k] & 1)

    def is_irreducible(self, s: int, e: int) -> bool:
        """Return whether S ⊆ ∂(S ∪ E)."""
        return not s & ~self.boundary(s | e)

    def core(self, s: int, e: int) -> int:
        """Return the core of S given E."""
        while inner := s & ~self.boundary(s | e):
            s ^= inner
        return s

    def relevant(self, e: int) -> int:
        """Return the features outside E that can matter given E."""
        return self.reachable(e, self.all & ~e) & ~e

    def is_extendable(self, s: int, e: int, undecided: int) -> bool:
        """Return whether S, or S with some of `undecided` added, is irreducible."""
        return not s & ~self.reachable(s | e, undecided)

    def reachable(self, b: int, u: int, sources: int | None = None) -> int:
        """Return the features that a walk from Y reaches when B is known and U may become known.

        `sources` are the nodes to walk from, if not Y.

        A non-collider on the walk blocks the walk if the node is in B. A collider, where two arrows
        meet, lets the walk pass if the node or one of its descendants is in B or U.

        By Theorem 2 of ``docs/lattice.md``, S can be extended by some of U to a set that is
        irreducible given E iff all of S is reached with B = S ∪ E.
        """
        blocked = self.nodes(b)
        open_colliders = self.moral.ancestral(blocked | self.nodes(u))
        # A state is (node, whether the walk came down an arrow into it).
        begin = bits(1 << self.target if sources is None else sources)
        stack = [(node, False) for node in begin]
        seen = set(stack)
        while stack:
            node, came_down = stack.pop()
            blocks = blocked >> node & 1
            steps: list[tuple[int, bool]] = []
            if not blocks:
                steps += [(child, True) for child in self.moral.children[node]]
            if (open_colliders >> node & 1) if came_down else not blocks:
                steps += [(parent, False) for parent in self.parents[node]]
            for step in steps:
                if step not in seen:
                    seen.add(step)
                    stack.append(step)
        reached = {node for node, _ in seen}
        return mask_of(k for k, node in enumerate(self.features) if node in reached)

    def nodes(self, features: int) -> int:
        """Return the nodes of some features."""
        return mask_of(self.features[k] for k in bits(features))


def graph_of(problem: Problem) -> Graph:
    """Return the graph of a problem."""
    network = problem.network
    return Graph(
        network.parents,
        network.index(problem.target),
        tuple(network.index(feature) for feature in problem.features),
        _moral(network.parents),
    )
