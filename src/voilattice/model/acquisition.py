r"""What can be acquired, and when: constraints, and limits on a path (paper, Section 6).

A set S is *feasible* at evidence e over E if every member X of S can be acquired with the others.
For each constraint of X that means

    after    ⊆ E ∪ S              these are known, or come in the same batch
    only_if  ⊆ e                  all of these are known with these values
    not_if   ∩ e = ∅              none of these is known with its value

`only_if` and `not_if` look at e, not at S. The members that meet both are *open* at e. So the
feasible sets are the sets of open features that are closed under `after`:

    S ⊆ open(e)   and   after(S) ⊆ E ∪ S.

Unions of feasible sets are feasible, so there is a largest one (`Feasibility.largest`), and every
member of it has a smallest feasible set around it (`Feasibility.closure`).

Limits bound what a path acquires: its price, the number of its features, the number of its rounds.
A round is one acquisition, whatever it brings. What is left of the limits after a step is again a
set of limits (`PathLimits.after`): so a problem with limits, some steps later, is a problem with
other limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, UnknownNameError, located
from voilattice.feature_sets import Words, bits, find_circle, mask_of, to_words
from voilattice.model.network import check_list, check_pairs
from voilattice.ties import tolerance
from voilattice.wording import count_noun, format_amount, join_names, nearest, quote

if TYPE_CHECKING:
    from voilattice.model.problem import Problem

__all__ = ["INFEASIBLE", "NO_LIMITS", "Constraint", "Feasibility", "PathLimits", "check_order"]

# The price of a step that is not feasible. It is finite, because infinity times the probability 0
# of an impossible state is not a number. It is far above every amount of money (`MAX_AMOUNT`), so
# that nobody ever pays it.
INFEASIBLE = 1e150

Values = tuple[tuple[str, str], ...]  # features and their states


@dataclass(frozen=True, slots=True)
class Constraint:
    """When a feature can be acquired.

    At least one of `after`, `only_if` and `not_if` must be given. Several constraints of one
    feature must all hold. Evidence that the user gives is never refused. In a problem file:
    ``[[constraints]]``.

    Parameters
    ----------
    feature
        The feature that the constraint is about.
    after
        Features that are known before, or come in the same round.
    only_if
        Features and their states, as a mapping or as pairs: all of them are known with these states
        before the round.
    not_if
        Features and their states: none of them is known with this state before the round.

    >>> Constraint("biopsy", after=["xray"], only_if={"xray": "shadow"}).only_if
    (('xray', 'shadow'),)
    """

    feature: str
    after: tuple[str, ...] = ()
    only_if: Values = ()
    not_if: Values = ()

    def __post_init__(self) -> None:
        if not isinstance(self.feature, str):
            raise InputError(f"must be a feature, got {quote(self.feature)}", "feature")
        after = check_list(self.after, "a list of features", "after", str)
        object.__setattr__(self, "after", after)
        for place, feature in enumerate(self.after):
            if feature in self.after[:place]:
                raise InputError(f"{quote(feature)} appears twice", "after")
        for name in ("only_if", "not_if"):
            with located(name):
                object.__setattr__(self, name, _values(getattr(self, name)))
        if not (self.after or self.only_if or self.not_if):
            raise InputError(
                f"needs at least one of after, only_if and not_if to constrain {self.feature!r}"
            )
        for name, features in (
            ("after", self.after),
            ("only_if", [f for f, _ in self.only_if]),
            ("not_if", [f for f, _ in self.not_if]),
        ):
            if self.feature in features:
                raise InputError(f"{self.feature!r} cannot be known before it is acquired", name)

    @property
    def needs(self) -> tuple[str, ...]:
        """The features that must be known, or come in the same batch."""
        return (*self.after, *(feature for feature, _ in self.only_if))

    def is_open(self, evidence: Mapping[str, str]) -> bool:
        """Return whether the evidence meets `only_if` and `not_if`."""
        return all(evidence.get(f) == state for f, state in self.only_if) and not any(
            evidence.get(f) == state for f, state in self.not_if
        )


def _values(given: object) -> Values:
    """Return features and their states from a mapping, or from pairs."""
    pairs = given.items() if isinstance(given, Mapping) else given
    return check_pairs(pairs, "a table of features and states")


@dataclass(frozen=True, slots=True)
class PathLimits:
    """What any path may acquire at most; None: no limit.

    >>> left = PathLimits(spend=20, features=3).after(12.5, 2)
    >>> left.spend, left.features, left.allows(8, 1)
    (7.5, 1, False)
    """

    spend: float | None = None
    features: int | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.spend is not None:
            with located("spend"):
                if isinstance(self.spend, bool) or not isinstance(self.spend, int | float):
                    raise InputError(f"must be a number >= 0, got {quote(self.spend)}")
                if not (math.isfinite(self.spend) and self.spend >= 0):
                    raise InputError(f"must be a number >= 0, got {quote(self.spend)}")
                object.__setattr__(self, "spend", float(self.spend))
        for name in ("features", "rounds"):
            count = getattr(self, name)
            if count is None:
                continue
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise InputError(f"must be a whole number >= 0, got {quote(count)}", name)

    @classmethod
    def of(cls, limits: Mapping[str, Any]) -> PathLimits:
        """Return the limits of a table: ``{"spend": 100, "features": 3, "rounds": 2}``."""
        with located("limits"):
            if not isinstance(limits, Mapping):
                raise InputError(
                    f"must be a table with spend, features or rounds, got {quote(limits)}"
                )
            for key in limits:
                if key not in (names := ("spend", "features", "rounds")):
                    raise UnknownNameError(f"unknown key{nearest(key, names)}", str(key))
            return cls(**limits)

    def __bool__(self) -> bool:
        return not (self.spend is None and self.features is None and self.rounds is None)

    def allows(self, cost: float, n_features: int) -> bool:
        """Return whether one more acquisition, with this price, keeps to the limits."""
        if not n_features:
            return True
        return (
            (self.spend is None or cost <= self.spend + tolerance(self.spend))
            and (self.features is None or n_features <= self.features)
            and (self.rounds is None or self.rounds >= 1)
        )

    def after(self, cost: float, n_features: int, n_rounds: int = 1) -> PathLimits:
        """Return what is left of the limits after an acquisition."""
        if not self:
            return self
        spend, features, rounds = self.spend, self.features, self.rounds
        if spend is not None:
            # Sums in another order differ in their last bits. Equal states must have equal limits.
            spend = float(f"{max(spend - cost, 0.0):.12g}")
        if features is not None:
            features = max(features - n_features, 0)
        if rounds is not None:
            rounds = max(rounds - n_rounds, 0)
        return PathLimits(spend, features, rounds)

    def that_bind(self, n_features: int, most_spent: float) -> PathLimits:
        """Return the limits without those that this many features at this price cannot exceed."""
        return PathLimits(
            None if self.spend is None or most_spent <= self.spend else self.spend,
            None if self.features is None or n_features <= self.features else self.features,
            None if self.rounds is None or n_features <= self.rounds else self.rounds,
        )

    def describe(self, currency: str = "") -> str:
        """Return the limits in words; empty: none.

        >>> PathLimits(spend=20, features=3, rounds=1).describe("CAD")
        '20.00 CAD to spend, 3 features and 1 round'
        """
        said = []
        if self.spend is not None:
            said.append(f"{format_amount(self.spend, currency)} to spend")
        if self.features is not None:
            said.append(count_noun(self.features, "feature"))
        if self.rounds is not None:
            said.append(count_noun(self.rounds, "round"))
        return " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:])))

    def obstacles(self, cost: float, n_features: int, currency: str = "") -> list[str]:
        """Return which limits one more acquisition, with this price, would exceed, in sentences."""
        said: list[str] = []
        if self.allows(cost, n_features):
            return said
        if self.rounds == 0:
            said.append("The limits leave no round.")
        if self.features is not None and n_features > self.features:
            left = count_noun(self.features, "feature") if self.features else "no feature"
            said.append(f"The limits leave {left}.")
        if not replace(self, features=None, rounds=None).allows(cost, n_features):
            price, left = (format_amount(x, currency) for x in (cost, self.spend or 0.0))
            said.append(f"The price is {price}, and the limits leave {left} to spend.")
        return said


NO_LIMITS = PathLimits()


def check_order(constraints: Iterable[Constraint]) -> None:
    """Raise `InputError` if constraints go round in a circle that no order can meet."""
    needs: dict[str, set[str]] = {}
    for constraint in constraints:
        needs.setdefault(constraint.feature, set()).update(constraint.needs)
    if (circle := find_circle(needs)) is not None:
        raise InputError(
            f"go round in a circle that no order can meet: {' needs '.join(circle)}", "constraints"
        )


class Feasibility:
    """Which sets can be acquired at some evidence, in a problem. Sets of features are masks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.after: dict[int, int] = {}  # what comes before each feature that is constrained so
        self.only_if: dict[int, int] = {}  # the features whose values open it
        self.not_if: dict[int, int] = {}  # the features whose values close it
        self._entries = [(problem.features.index(c.feature), c) for c in problem.constraints]
        for k, c in self._entries:
            for masks, features in (
                (self.after, c.after),
                (self.only_if, [f for f, _ in c.only_if]),
                (self.not_if, [f for f, _ in c.not_if]),
            ):
                if features:
                    masks[k] = masks.get(k, 0) | problem.feature_mask(features)
        self._every = (1 << len(problem.features)) - 1

    def open_features(self, known: Mapping[str, str]) -> int:
        """Return the unknown features whose `only_if` and `not_if` are met."""
        free = self._every & ~self.problem.feature_mask(known)
        if not self._entries:
            return free
        return free & ~mask_of({k for k, c in self._entries if not c.is_open(known)})

    def largest(self, known: Mapping[str, str]) -> int:
        """Return the largest feasible set: everything that can be acquired in one batch."""
        found = self.open_features(known)
        if not self.after:
            return found
        e = self.problem.feature_mask(known)
        before = -1
        while found != before:
            before = found
            found = mask_of(k for k in bits(found) if not self.after.get(k, 0) & ~(e | found))
        return found

    def alone(self, known: Mapping[str, str]) -> int:
        """Return the features that can be acquired by themselves."""
        found = self.open_features(known)
        if not self.after:
            return found
        e = self.problem.feature_mask(known)
        return mask_of(k for k in bits(found) if not self.after.get(k, 0) & ~e)

    def closure(self, features: int, e: int) -> int:
        """Return the features and all that must come before them, E left out."""
        before = 0
        while features != before:
            before = features
            for k in bits(features):
                features |= self.after.get(k, 0) & ~e
        return features

    def is_feasible(self, features: int, known: Mapping[str, str]) -> bool:
        """Return whether a set of unknown features can be acquired together."""
        if not self._entries:
            return True
        e = self.problem.feature_mask(known)
        return not features & ~self.open_features(known) and not (
            self.closure(features, e) & ~features
        )

    def are_feasible(self, rows: Words, known: Mapping[str, str]) -> NDArray[np.bool_]:
        """Return whether each of many sets of unknown features can be acquired together."""
        n_words, e = rows.shape[1], self.problem.feature_mask(known)
        closed = to_words([self._every & ~self.open_features(known)], n_words)
        found: NDArray[np.bool_] = np.logical_not((rows & closed).any(axis=1))
        for k, after in self.after.items():
            member, needed = to_words([1 << k, after & ~e], n_words)
            found &= ~(rows & member).any(axis=1) | ((rows & needed) == needed).all(axis=1)
        return found

    def firsts(self, features: int, e: int) -> int:
        """Return the members of a set that need no other member before them."""
        return mask_of(k for k in bits(features) if not self.after.get(k, 0) & features & ~e)

    def describe(self) -> list[str]:
        """Return the constraints in sentences, and which features they never open."""
        label, said = self.problem.label, []
        for c in self.problem.constraints:
            parts = [f"after {join_names([label(f) for f in c.after], 'and')}"] if c.after else []
            for word, values, between in (("only", c.only_if, " and "), ("not", c.not_if, " or ")):
                found = between.join(self._finding(f, state) for f, state in values)
                parts += [f"{word} if {found}"] if found else []
            said.append(f"{label(c.feature)} can be acquired {', '.join(parts)}.")
        return said + list(self.dead_ends(self.problem.evidence).values())

    def obstacles(self, features: int, known: Mapping[str, str]) -> list[str]:
        """Return why a set cannot be acquired together, and what would make it so, in sentences."""
        problem, said = self.problem, []
        e, dead_ends = problem.feature_mask(known), self.dead_ends(known)
        for k in bits(features):
            name = problem.label(problem.features[k])
            if k in dead_ends:
                said.append(dead_ends[k])
                continue
            missing = self.after.get(k, 0) & ~(e | features)
            if missing:
                others = join_names(
                    [problem.label(f) for f in problem.feature_names(missing)], "and"
                )
                said.append(f"{name} comes after {others}: acquire {others} before or with it.")
            for f, state in self._values(k, "only_if"):
                if f not in known:
                    wanted, first = self._finding(f, state), problem.label(f)
                    said.append(f"{name} can be acquired only if {wanted}: acquire {first} first.")
            said += self._closed(k, known)
        return said

    def dead_ends(self, known: Mapping[str, str]) -> dict[int, str]:
        """Return the unknown features that no further acquisition can open, and why.

        Features whose own conditions contradict the evidence (`_closed`) are not among them. To
        acquire X, the values in its `only_if` must be known, and so must those that its unknown
        needs had to wait for.
        """
        problem, said = self.problem, dict[int, str]()
        needs = {k: self.after.get(k, 0) | self.only_if.get(k, 0) for k in dict(self._entries)}
        wanted: dict[int, frozenset[tuple[str, str]]] = {}
        order = TopologicalSorter({k: tuple(bits(mask)) for k, mask in needs.items()})
        for k in order.static_order():
            if problem.features[k] in known:
                continue
            unknown = [j for j in bits(needs.get(k, 0)) if problem.features[j] not in known]
            values = frozenset(self._values(k, "only_if")).union(*(wanted[j] for j in unknown))
            wanted[k] = values
            why = [
                f"it needs {problem.label(problem.features[j])}, which cannot be acquired"
                for j in unknown
                if j in said or self._closed(j, known)
            ] or self._contradictions(values, frozenset(self._values(k, "not_if")), known)
            if why and not self._closed(k, known):
                name = problem.label(problem.features[k])
                said[k] = f"{name} can never be acquired: {'; '.join(why)}."
        return dict(sorted(said.items()))

    def _contradictions(
        self,
        wanted: frozenset[tuple[str, str]],
        unwanted: frozenset[tuple[str, str]],
        known: Mapping[str, str],
    ) -> list[str]:
        """Return why no evidence beyond `known` has all the wanted values and no unwanted one."""
        why = []
        for f in sorted({f for f, _ in wanted}):
            states = sorted(
                {*(state for g, state in wanted if g == f), *filter(None, [known.get(f)])}
            )
            if len(states) > 1:
                why.append(f"it needs {' and '.join(self._finding(f, state) for state in states)}")
        for f, state in sorted(wanted & unwanted):
            found = self._finding(f, state)
            why.append(f"it needs {found}, and is not acquired if {found}")
        return why

    def _closed(self, k: int, known: Mapping[str, str]) -> list[str]:
        """Return which conditions of a feature the known values contradict."""
        problem, name, said = self.problem, self.problem.label(self.problem.features[k]), []
        for f, state in self._values(k, "only_if"):
            if known.get(f, state) != state:
                wanted, found = self._finding(f, state), problem.state_label(f, known[f])
                said.append(f"{name} can be acquired only if {wanted}, and it is {found}.")
        for f, state in self._values(k, "not_if"):
            if known.get(f) == state:
                said.append(f"{name} is not acquired if {self._finding(f, state)}.")
        return said

    def _values(self, k: int, condition: str) -> list[tuple[str, str]]:
        """Return the features and states in all conditions of one kind on a feature."""
        return [
            value for place, c in self._entries if place == k for value in getattr(c, condition)
        ]

    def _finding(self, feature: str, state: str) -> str:
        return f"{self.problem.label(feature)} = {self.problem.state_label(feature, state)}"
