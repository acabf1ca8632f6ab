"""Why a set is, or is not, in the lattice, in words.

A member X of S that does not depend on Y given the rest of S is there for one of three reasons:
others of S stand between it and Y; nothing of S connects it with Y, but a further feature would;
or it has no bearing on Y at all. The dependency constraint of X (`voilattice.constraints`) says
which of these, in a formula; here the formula is turned into the sentence that fits this set.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from voilattice.constraints import Constraint, dependency_constraint
from voilattice.errors import TooLargeError
from voilattice.independence import Graph, bits, graph_of, masks
from voilattice.problem import Problem

__all__ = ["Explanation", "Member", "explain"]

# How many features an explanation adds at most, looking for a set that becomes irreducible.
MAX_COMPLETION = 4


@dataclass(frozen=True, slots=True)
class Member:
    """What one feature does in a set: whether it depends on the target there, and why not."""

    feature: str
    depends: bool
    constraint: Constraint | None  # None: too long to be of use
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a set is, or is not, in the lattice."""

    features: frozenset[str]
    evidence: frozenset[str]
    irreducible: bool
    core: frozenset[str]
    members: tuple[Member, ...]
    completions: tuple[frozenset[str], ...]  # smallest sets of features that make it irreducible

    def __str__(self) -> str:
        name = f"{{{', '.join(sorted(self.features))}}}"
        known = f" given {', '.join(sorted(self.evidence))}" if self.evidence else ""
        if self.irreducible:
            lines = [f"{name} is irreducible{known}: it is a node of the lattice."]
        else:
            lines = [f"{name} is not irreducible{known}: it is not in the lattice."]
        lines += [f"- {member.reason}" for member in self.members]
        if not self.irreducible:
            core = f"{{{', '.join(sorted(self.core))}}}"
            lines.append(f"Its core is {core}: worth exactly as much, and never dearer.")
            if self.completions:
                ways = [" and ".join(sorted(added)) for added in self.completions]
                lines.append(f"It becomes irreducible by adding {'; or '.join(ways)}.")
            else:
                lines.append("No further feature would make it irreducible.")
        return "\n".join(lines)


def explain(
    problem: Problem, features: Iterable[str], evidence: Collection[str] = ()
) -> Explanation:
    """Explain in words why S is, or is not, in the lattice given E.

    >>> import voilattice
    >>> print(explain(voilattice.load_problem("figure3"), {"X2", "X4"}))
    {X2, X4} is not irreducible: it is not in the lattice.
    - X2 depends on Y, and the others do not take its place.
    - X4 says nothing about Y unless X3 is known too.
    Its core is {X2}: worth exactly as much, and never dearer.
    It becomes irreducible by adding X3.
    """
    graph = graph_of(problem)
    s, e = masks(problem, features, evidence)
    names = problem.feature_names
    irreducible = graph.is_irreducible(s, e)
    return Explanation(
        names(s),
        names(e),
        irreducible,
        names(graph.core(s, e)),
        tuple(_member(problem, graph, k, s, e) for k in bits(s)),
        () if irreducible else tuple(map(names, _completions(graph, s, e))),
    )


def _member(problem: Problem, graph: Graph, k: int, s: int, e: int) -> Member:
    x, y = problem.features[k], problem.target
    others, free = s & ~(1 << k), graph.all & ~s & ~e

    def depends(rest: int) -> bool:
        return bool(graph.boundary(rest | e | 1 << k) >> k & 1)

    def known(mask: int, word: str) -> str:
        names = sorted(problem.feature_names(mask))
        verb = "are" if word == "and" and len(names) > 1 else "is"
        return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]])) + f" {verb} known"

    if depends(others):
        if not others:
            reason = f"{x} depends on {y}."
        elif depends(0):
            reason = f"{x} depends on {y}, and the others do not take its place."
        else:
            reason = f"{x} depends on {y} because {known(_minimal(others, depends), 'and')} too."
    elif depends(0):
        screen = _minimal(others, lambda rest: not depends(rest))
        reason = f"{x} adds nothing about {y} once {known(screen, 'and')}."
    elif helpers := sum(1 << h for h in bits(free) if depends(others | 1 << h)):
        reason = f"{x} says nothing about {y} unless {known(helpers, 'or')} too."
    elif graph.is_extendable(1 << k, e, others | free):
        reason = f"{x} says nothing about {y} beside the others of this set."
    else:
        reason = f"{x} has no bearing on {y} at all."
    try:
        constraint = dependency_constraint(
            problem, x, problem.feature_names(e) - {*problem.evidence}
        )
    except TooLargeError:
        constraint = None
    return Member(x, depends(others), constraint, reason)


def _minimal(s: int, holds: Callable[[int], bool]) -> int:
    """Return a subset of S for which `holds`, as it does for S, and for no smaller part of it."""
    for k in bits(s):
        if holds(s & ~(1 << k)):
            s &= ~(1 << k)
    return s


def _completions(graph: Graph, s: int, e: int) -> list[int]:
    """Return the smallest sets that make S irreducible when added, if there are small ones."""
    free = graph.relevant(e) & ~s
    if not graph.is_extendable(s, e, free):
        return []
    for size in range(1, MAX_COMPLETION + 1):
        added = (sum(1 << k for k in ks) for ks in itertools.combinations(list(bits(free)), size))
        if found := [mask for mask in added if graph.is_irreducible(s | mask, e)]:
            return found
    return []
