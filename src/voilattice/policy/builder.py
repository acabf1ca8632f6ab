"""A policy, built from its root: which situations follow which.

Situations with the same state key (`policy.relevance`) are one node of the policy. The most
probable situations come first (`policy.open_states`). At a limit of time or of states the rest is
left open: the policy decides there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.errors import InputError
from voilattice.feature_sets import bits
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.network import Table
from voilattice.model.problem import Problem
from voilattice.policy.interface import MAX_POLICY_STATES
from voilattice.policy.open_states import OpenStates
from voilattice.policy.policy import Branch, Certificate, Leaf, Policy
from voilattice.policy.relevance import StateKey
from voilattice.policy.situation import UNPROVED, Situation, SituationBuilder
from voilattice.policy.sweep import Sweep
from voilattice.wording import count_noun, quote

__all__ = ["BuildProgress", "PolicyBuilder"]

MAX_OUTCOMES = 1 << 17  # of a set that is acquired in one step
MERGED_OUTCOMES = 256  # that may all be states that there are already
LEAST_OUTCOMES = 64  # that are always written down
OUTCOMES_PER_SECOND = 20_000  # a cautious estimate
PARTS = "parts"  # a shortfall, as `UNPROVED`: a set is acquired in parts
_NOTES = {
    UNPROVED: "Some best sets are the best that were found and are not proved to be best.",
    PARTS: "A set with too many outcomes is acquired in parts.",
}

SECONDS_PER_NODE = 60e-6  # to check a policy and to add up its costs, once it is built

# Called while a policy is built with the number of its states so far.
BuildProgress: TypeAlias = Callable[[int], None]

Codes: TypeAlias = NDArray[np.int16]  # the state of each feature; -1: not known


class PolicyBuilder(SituationBuilder):
    """Builds the situations of a problem and the policy of a rule.

    Parameters
    ----------
    max_states
        Stop at this many different states; the states beyond are left open.
    sure_states
        Work out this many states even if the time is up.

    The other parameters are those of a `SituationBuilder`.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        max_states: int = MAX_POLICY_STATES,
        sure_states: int = 0,
        forgets: bool = True,
        sweep: Sweep | None = None,
        lazy: bool = True,
        deadline: Deadline | None = None,
        max_cells: int | None = None,
    ) -> None:
        super().__init__(
            problem, forgets=forgets, sweep=sweep, lazy=lazy, deadline=deadline, max_cells=max_cells
        )
        self._max_states, self._sure_states = max_states, sure_states
        self._last: tuple[int, int, list[int], int] = -1, 0, [], 0  # what matters at the last key
        self._states = [problem.states(name) for name in problem.features]
        self._numbers = [
            {state: code for code, state in enumerate(states)} for states in self._states
        ]

    def build(
        self,
        name: str,
        choose: Callable[[Situation], int],
        *,
        needs_table: bool = True,
        progress: BuildProgress | None = None,
    ) -> Policy:
        """Return the policy that acquires the mask that `choose` returns; 0 decides.

        `needs_table` is False for a rule that uses no feature.
        """
        states, certificate = self._grow(choose, needs_table, progress)
        nodes, _ = states.nodes(self._open_leaf)
        policy = Policy(self.problem, name, nodes, certificate)
        notes = [text for what, text in _NOTES.items() if what in self.shortfalls]
        return policy if certificate.exact else policy.admit_open(certificate.status, *notes)

    def build_keyed(
        self, name: str, choose: Callable[[Situation], int]
    ) -> tuple[Policy, dict[StateKey, int]]:
        """Return the policy, and the number of the node of each of its states."""
        states, certificate = self._grow(choose, needs_table=True, progress=None)
        nodes, numbers = states.nodes(self._open_leaf)
        keys = {self._state_key(key): number for key, number in numbers.items()}
        return Policy(self.problem, name, nodes, certificate), keys

    def _grow(
        self,
        choose: Callable[[Situation], int],
        needs_table: bool,
        progress: BuildProgress | None,
    ) -> tuple[OpenStates[_Key, _Waiting], Certificate]:
        """Expand states, the most probable first, until all are done or a limit is reached."""
        states: OpenStates[_Key, _Waiting] = OpenStates()
        start = self.start(None if needs_table else ())
        codes = self._encode(start.known)
        key = self._key(codes, self.problem.feature_mask(start.known), start.left)
        states.add(key, 1.0, _Waiting(codes, start.belief, start.table, start.left))
        stopped_by: set[str] = set()
        while (popped := states.pop()) is not None:
            number, reach, waiting = popped
            if self._is_late(len(states)):
                states.put_back(number, waiting)
                stopped_by.add("time")
                break
            situation = self._wake(waiting, reach)
            chosen = choose(situation)
            self._check_chosen(situation, chosen)
            if not chosen:
                states.decide(number, situation.leaf())
                continue
            part = self._part(situation, chosen)
            if not part or not self._expand(states, number, situation, part):
                states.put_back(number, waiting)
                stopped_by.add("memory")
            if progress is not None:
                progress(len(states))
        stopped_by = stopped_by or self.shortfalls  # what cut the tree comes first
        if not stopped_by:
            return states, Certificate()
        return states, Certificate(None, False, "time" if "time" in stopped_by else "memory")

    def _expand(
        self, states: OpenStates[_Key, _Waiting], number: int, situation: Situation, chosen: int
    ) -> bool:
        """Make a state an acquisition, unless there would be too many states."""
        problem = self.problem
        known = problem.feature_mask(situation.known)
        relevant, _ = self.relevance.what_matters(known)
        # What cannot matter does not change the key. Then the key does not lead to other states.
        is_merged = not chosen & ~relevant
        n_outcomes = math.prod(self._sizes[k] for k in bits(chosen))
        if n_outcomes > max(self._max_states - len(states), MERGED_OUTCOMES):
            return False  # not all of so many outcomes are states that there are already
        after, places = known | chosen, list(bits(chosen))
        price = self.cost(chosen, situation.known)
        left = situation.left.after(price, chosen.bit_count())
        before, found = self._encode(situation.known), []
        for probability, outcome, belief, table in self.children(situation, chosen):
            codes = before.copy()
            codes[places] = outcome
            key = self._key(codes, after, left)
            if not is_merged:
                key = key._replace(known=codes.tobytes())
            found.append((key, probability, outcome, _Waiting(codes, belief, table, left)))
        new = {key for key, _, _, _ in found if key not in states}
        if len(states) + len(new) > self._max_states:
            return False
        outcomes_of = [self._states[k] for k in places]
        branches = tuple(
            Branch(
                tuple([names[v] for names, v in zip(outcomes_of, outcome, strict=True)]),
                probability,
                states.add(key, situation.reach * probability, item),
            )
            for key, probability, outcome, item in found
        )
        names = tuple(problem.features[k] for k in places)
        states.acquire(number, names, price, branches)
        return True

    def _is_late(self, n_states: int) -> bool:
        """Return whether there is just the time to finish a policy of this many states."""
        left = self.deadline.seconds_left
        is_late = left is not None and left <= SECONDS_PER_NODE * n_states
        return is_late and n_states > self._sure_states

    def _part(self, situation: Situation, chosen: int) -> int:
        """Return the set if its outcomes can be written down, else the most useful part of it."""
        left = self.deadline.seconds_left
        in_time = math.inf
        if left is not None:
            in_time = max(time_plan.OUTCOMES * OUTCOMES_PER_SECOND * left, LEAST_OUTCOMES)
        limit = min(in_time, MAX_OUTCOMES)
        if math.prod(self._sizes[k] for k in bits(chosen)) <= limit:
            return chosen
        e, part = self.problem.feature_mask(situation.known), 0
        for k in sorted(bits(chosen), key=lambda k: (-situation.value(1 << k).evi, k)):
            more = part | self.problem.feasibility.closure(1 << k, e)
            if math.prod(self._sizes[j] for j in bits(more)) <= limit:
                part = more
        self.shortfalls |= {PARTS, "time"} if in_time < MAX_OUTCOMES else {PARTS}
        return part

    def _check_chosen(self, situation: Situation, chosen: object) -> None:
        """Raise `InputError` unless a rule has returned features that are not known yet."""
        if not isinstance(chosen, int) or isinstance(chosen, bool):
            raise InputError(
                f"a rule must return a mask of features (0 decides), got {quote(chosen)}"
            )
        if chosen < 0 or chosen & ~self.relevance.graph.all:
            raise InputError(
                f"a rule returned the mask {chosen}, but there are "
                f"{count_noun(len(self.problem.features), 'feature')}"
            )
        if known := self.problem.feature_names(chosen) & set(situation.known):
            raise InputError(f"a rule acquires {min(known)!r}, which is known already")
        if not self.problem.feasibility.is_feasible(chosen, situation.known):
            why = self.problem.feasibility.obstacles(chosen, situation.known)
            raise InputError(f"a rule acquires what it cannot: {why[0]}")
        if situation.left and not situation.left.allows(
            self.cost(chosen, situation.known), chosen.bit_count()
        ):
            raise InputError(
                f"a rule exceeds the limits with {sorted(self.problem.feature_names(chosen))}; "
                f"what is left is {situation.left.describe()}"
            )

    def _wake(self, waiting: _Waiting, reach: float) -> Situation:
        known = self._known(waiting.codes)
        relevant, _ = self.relevance.what_matters(self.problem.feature_mask(known))
        # Only slices of the first table are used, so all tables together are as large as that one.
        axes = tuple(bits(relevant))
        return Situation(self, known, axes, waiting.table, waiting.belief, reach, waiting.left)

    def _open_leaf(self, waiting: _Waiting) -> Leaf:
        belief = waiting.belief
        if belief is None and waiting.table is not None:
            belief = waiting.table.reshape(len(waiting.table), -1).sum(axis=1)
            belief = belief / belief.sum()
        if belief is None:
            belief = self.inference.at(self._known(waiting.codes)).belief
        return Leaf.at(self.problem, belief, is_open=True)

    # -- states in little memory

    def _encode(self, known: Mapping[str, str]) -> Codes:
        """Return the state of each feature; -1: not known."""
        codes = np.full(len(self._numbers), -1, dtype=np.int16)
        for place, (name, numbers) in enumerate(
            zip(self.problem.features, self._numbers, strict=True)
        ):
            if name in known:
                codes[place] = numbers[known[name]]
        return codes

    def _known(self, codes: Codes) -> dict[str, str]:
        problem = self.problem
        known = dict(problem.evidence)
        for place in np.flatnonzero(codes >= 0).tolist():
            known[problem.features[place]] = self._states[place][codes[place]]
        return known

    def _key(self, codes: Codes, known: int, left: PathLimits) -> _Key:
        """Return the state key (`relevance.StateKey`) in little memory."""
        if known != self._last[0]:
            relevant, kept = self.relevance.what_matters(known)
            paid = self.relevance.groups_paid(known, relevant)
            self._last = known, relevant, list(bits(known & ~kept)), paid
        _, relevant, forgotten, paid = self._last
        if forgotten:
            codes = codes.copy()
            codes[forgotten] = -1
        left = self.relevance.limits_that_bind(left, relevant)
        return _Key(relevant, codes.tobytes(), paid, left)

    def _state_key(self, key: _Key) -> StateKey:
        codes = np.frombuffer(key.kept, dtype=np.int16)
        values = tuple(
            (place, self.problem.states(self.problem.features[place])[codes[place]])
            for place in np.flatnonzero(codes >= 0).tolist()
        )
        return StateKey(key.relevant, values, key.paid, key.left)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A situation that is not expanded, in little memory."""

    codes: Codes
    belief: Table | None
    table: Table | None
    left: PathLimits


class _Key(NamedTuple):
    """The key of a state (`relevance.StateKey`), in little memory."""

    relevant: int
    kept: bytes  # the codes of what still matters
    paid: int
    left: PathLimits = NO_LIMITS
    known: bytes = b""  # the codes of all that is known, if that tells states apart
