"""Why a set is, or is not, in the lattice, in words.

A member X of S can depend on Y given the rest of S, by itself or because other members of S are
known too. If X does not depend on Y, there are four possible reasons: other members of S separate X
from Y; further features would have to be known too; no further feature helps while the rest of S is
known; or X never depends on Y. Floods and walks (`lattice.independence`) find the reason quickly on
any network. The dependency constraint (`lattice.constraints`) is added if it is short.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.lattice.constraints import Constraint, dependency_constraint
from voilattice.lattice.independence import Graph, feature_masks, graph_of, known_states
from voilattice.model.acquisition import Feasibility
from voilattice.model.problem import Problem
from voilattice.wording import join_names

__all__ = ["Explanation", "Member", "explain"]

# A formula with more alternatives is not shown.
MAX_SHOWN_TERMS = 40

# All smallest completions are found within this many floods; beyond that, only one minimal one.
MAX_FLOODS = 3_000
MAX_PRINTED = 5


@dataclass(frozen=True, slots=True)
class Member:
    """What one feature does in a set, and why.

    If the feature depends on the target, `why` is ``"alone"`` (by itself) or ``"through"`` (because
    `named` are known too). If not, `why` is ``"screened"`` (because `named` are known), ``"one"``
    (it would depend if one of `named` were known too), ``"all"`` (it would depend if all of `named`
    were known too), ``"blocked"`` (no further feature helps while the others are known) or
    ``"never"``.
    """

    feature: str
    why: str
    named: frozenset[str]
    constraint: Constraint | None  # None: too long to show

    @property
    def depends(self) -> bool:
        """Whether the feature depends on the target given the rest of the set."""
        return self.why in ("alone", "through")


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a set is, or is not, in the lattice."""

    problem: Problem
    features: frozenset[str]
    evidence: frozenset[str]
    irreducible: bool
    core: frozenset[str]
    members: tuple[Member, ...]
    completions: tuple[frozenset[str], ...]  # sets of features that make it irreducible
    feasible: bool | None = True  # whether it can be acquired as it is; None: not known
    obstacles: tuple[str, ...] = ()  # why it cannot be acquired as it is, in sentences
    closure: frozenset[str] = frozenset()  # the set, and all that must come before its members
    closure_is_feasible: bool = True

    @property
    def target(self) -> str:
        """The target of the problem."""
        return self.problem.target

    def reason(self, member: Member) -> str:
        """Return a sentence on what a member does."""
        x, y = self.problem.label(member.feature), self.problem.label(self.target)
        word = "or" if member.why == "one" else "and"
        verb = "are" if word == "and" and len(member.named) > 1 else "is"
        known = f"{join_names(self._labels(member.named), word)} {verb} known"
        alone = f"{x} depends on {y}" + (
            ", and the others do not take its place." if len(self.features) > 1 else "."
        )
        return {
            "alone": alone,
            "through": f"{x} depends on {y} because {known} too.",
            "screened": f"{x} adds nothing about {y} once {known}.",
            "one": f"{x} says nothing about {y} here; it would once {known} too.",
            "all": f"{x} says nothing about {y} here; it would once {known} too.",
            "blocked": f"{x} says nothing about {y} while the others of this set are known.",
            "never": f"{x} says nothing about {y}, whatever else is known.",
        }[member.why]

    def __str__(self) -> str:
        name = f"{{{', '.join(self._labels(self.features))}}}"
        known = f" given {', '.join(self._labels(self.evidence))}" if self.evidence else ""
        if self.irreducible:
            lines = [f"{name} is irreducible{known}: it is a node of the lattice."]
        else:
            lines = [f"{name} is not irreducible{known}: it is not in the lattice."]
        lines += [f"- {self.reason(member)}" for member in self.members]
        if not self.irreducible:
            if self.core:
                core = ", ".join(self._labels(self.core))
                lines.append(f"Its core is {{{core}}}: worth as much.")
            else:
                target = self.problem.label(self.target)
                lines.append(f"It says nothing about {target}: its core is empty.")
            ways = [
                join_names(self._labels(added), "and") for added in self.completions[:MAX_PRINTED]
            ]
            more = len(self.completions) - len(ways)
            if ways:
                others = f"; or in {more} more ways" if more else ""
                lines.append(f"It becomes irreducible by adding {'; or '.join(ways)}{others}.")
            else:
                lines.append("No further feature would make it irreducible.")
        return "\n".join([*lines, *self._feasibility_lines()])

    def _feasibility_lines(self) -> list[str]:
        """Return whether the set can be acquired as it is, and what would make it so."""
        if not self.problem.constraints:
            return []
        if self.feasible is None:
            return ["Give the states of the evidence to see whether it can be acquired as it is."]
        if self.feasible:
            return ["It can be acquired as it is."]
        lines = ["It cannot be acquired as it is.", *(f"- {line}" for line in self.obstacles)]
        added = join_names(self._labels(self.closure - self.features), "and")
        if added and self.closure_is_feasible:
            lines.append(f"It becomes feasible by adding {added}.")
        return lines

    def _labels(self, features: Iterable[str]) -> list[str]:
        return sorted(map(self.problem.label, features))


def explain(
    problem: Problem, features: Iterable[str], evidence: Collection[str] | Mapping[str, Any] = ()
) -> Explanation:
    """Explain in words why S is, or is not, in the lattice given E, and whether it is feasible.

    With constraints, whether S can be acquired as it is depends on states: give a mapping then.

    >>> import voilattice
    >>> print(explain(voilattice.load_problem("figure3"), {"X2", "X4"}))
    {X2, X4} is not irreducible: it is not in the lattice.
    - X2 depends on Y, and the others do not take its place.
    - X4 says nothing about Y here; it would once X3 is known too.
    Its core is {X2}: worth as much.
    It becomes irreducible by adding X3.
    """
    graph = graph_of(problem)
    s, e = feature_masks(problem, features, evidence)
    names = problem.feature_names
    irreducible = graph.is_irreducible(s, e)
    known, rules = known_states(problem, evidence), problem.feasibility
    closure = rules.closure(s, e)
    return Explanation(
        problem,
        names(s),
        names(e),
        irreducible,
        names(graph.core(s, e)),
        tuple(_member(problem, graph, k, s, e) for k in bits(s)),
        () if irreducible else tuple(map(names, _completions(graph, s, e))),
        None if known is None else rules.is_feasible(s, known),
        () if known is None else _obstacles(rules, (s, closure), known),
        names(closure),
        known is not None and rules.is_feasible(closure, known),
    )


def _obstacles(
    rules: Feasibility, sets: Iterable[int], known: Mapping[str, str]
) -> tuple[str, ...]:
    """Return what keeps the sets from being acquired, each sentence once."""
    return tuple(dict.fromkeys(said for mask in sets for said in rules.obstacles(mask, known)))


def _member(problem: Problem, graph: Graph, k: int, s: int, e: int) -> Member:
    others, free = s & ~(1 << k), graph.all & ~s & ~e

    def depends(rest: int) -> bool:
        return bool(graph.boundary(rest | e | 1 << k) >> k & 1)

    def could_depend(undecided: int) -> bool:
        return bool(graph.reachable(others | e | 1 << k, undecided) >> k & 1)

    if depends(others):
        why, named = ("alone", 0) if depends(0) else ("through", _minimal(others, depends))
    elif depends(0):
        why, named = "screened", _minimal(others, lambda rest: not depends(rest))
    elif helpers := mask_of(h for h in bits(free) if depends(others | 1 << h)):
        why, named = "one", helpers
    elif could_depend(free):
        why, named = "all", _minimal(free, could_depend)
    elif graph.relevant(e) >> k & 1:
        why, named = "blocked", 0
    else:
        why, named = "never", 0
    feature, known = problem.features[k], problem.feature_names(e) - {*problem.evidence}
    try:
        constraint = dependency_constraint(problem, feature, known, max_terms=MAX_SHOWN_TERMS)
    except TooLargeError:
        constraint = None
    return Member(feature, why, problem.feature_names(named), constraint)


def _minimal(s: int, holds: Callable[[int], bool]) -> int:
    """Return a minimal subset of S for which `holds`; it must hold for S."""
    for k in bits(s):
        if holds(s & ~(1 << k)):
            s &= ~(1 << k)
    return s


def _completions(graph: Graph, s: int, e: int) -> list[int]:
    """Return the smallest sets that make S irreducible when added, or one that is minimal."""
    free = graph.relevant(e) & ~s
    if not graph.is_extendable(s, e, free):
        return []
    n, floods = free.bit_count(), 0
    for size in range(1, n + 1):
        floods += math.comb(n, size)
        if floods > MAX_FLOODS:
            break
        added = (mask_of(k for k in ks) for ks in itertools.combinations(list(bits(free)), size))
        if found := [mask for mask in added if graph.is_irreducible(s | mask, e)]:
            return found
    # By the proof of Theorem 2 (docs/lattice.md), a minimal set of features with which walks reach
    # all of S makes S irreducible.
    return [_minimal(free, lambda rest: graph.is_extendable(s, e, rest))]
