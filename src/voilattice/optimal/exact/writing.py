r"""The optimal policy, written from the tables of its solution.

A policy is a graph of states (`policy.relevance`). It grows from its root in rounds. In a round the
solution says for many states at once what to acquire, all states with the same known features
together (`ExactSolution.choose_at`). With S what is acquired at evidence e, and K the evidence that
still matters, the outcomes have the probabilities

    P(s | e) = P(e_K, s) / P(e_K),      and      P(Y | e, s) = P(Y, e_K, s) / P(e_K, s).

All of these come from one walk over the sets K ∪ S of the round (`valuation.tables`), and a state
is translated once, when it is found. Its *key* is a number: states with the same R, the same K, the
same groups paid and the same limits left are a *kind*. A kind has a range of numbers, one for each
value of K.

A round expands all states that wait, if there is ample room and time, and else the most probable
ones. At a limit of states or of time the states that wait become open leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Floats, Ints
from voilattice.feature_sets import bits, mask_of
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import price_set
from voilattice.model.elimination import may_underflow
from voilattice.optimal.exact.interface import ExactSolution, KnownStates, cell_steps
from voilattice.policy.certificate import Certificate
from voilattice.policy.interface import Limits
from voilattice.policy.nodes import Nodes, StepSet, decide
from voilattice.policy.policy import Policy
from voilattice.policy.relevance import Relevance, price_conditions
from voilattice.valuation.tables import joints_at

__all__ = ["RareEvidence", "write_policy"]

AMPLE = 8  # there is ample room if it is this many times what waits
PARTS = 64  # else a round takes this part of the room
SECONDS_PER_STATE = 20e-6  # to expand a state: a cautious estimate
SECONDS_PER_NODE = 5e-6  # to put the nodes in order, once all are found


class RareEvidence(Exception):
    """A state of the policy is so rare that the tables have no value for it."""


def write_policy(solution: ExactSolution, name: str, limits: Limits) -> Policy:
    """Return the policy of a solution; its certificate says whether all of it was written.

    Raises
    ------
    RareEvidence
        The tables do not have all states of the policy.
    """
    writer = _Writer(solution, limits.max_states)
    stopped_by = writer.grow(limits.deadline)
    certificate = Certificate() if not stopped_by else Certificate(None, False, stopped_by)
    policy = Policy(solution.problem, name, writer.nodes(), certificate)
    return policy.admit_open(stopped_by) if stopped_by else policy


@dataclass(frozen=True, slots=True)
class _Group:
    """What states share in which the same features are known."""

    number: int
    known: int  # axes, as all masks here
    block: int
    left: PathLimits
    kept: int  # K
    steps: Ints  # by how much each digit counts in the key
    start: int  # the first key of the kind


@dataclass(frozen=True, slots=True)
class _States:
    """States, a row of each array."""

    number: Ints  # of the node
    group: Ints
    digits: Ints  # [state, axis]: the evidence that it was first found with
    belief: Floats  # [state, class]: P(Y | e)
    mass: Floats  # P(e), on the scale of the root

    def __len__(self) -> int:
        return len(self.number)

    def take(self, rows: Ints | NDArray[np.bool_]) -> _States:
        return _States(*(column[rows] for column in self._columns))

    def join(self, other: _States) -> _States:
        pairs = zip(self._columns, other._columns, strict=True)
        return _States(*(np.concatenate(pair) for pair in pairs))

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        return self.number, self.group, self.digits, self.belief, self.mass


@dataclass(frozen=True, slots=True)
class _Step:
    """States that acquire the same set for the same price."""

    rows: Ints
    after: _Group
    table: int  # K ∪ S
    cells: Ints  # [state, outcome]: the place of its values in a table over K ∪ S
    keys: Ints  # [state, outcome]: the key of the state that follows
    acquired: tuple[int, ...]  # S, in the order of the features
    step_set: int  # the number of S
    price: float


class _Writer:
    """Finds the states of a policy, and writes their nodes."""

    def __init__(self, solution: ExactSolution, max_states: int) -> None:
        self._solution, self._problem, space = solution, solution.problem, solution.space
        self._features, self._sizes, self._root = space.features, tuple(space.sizes), space.root
        self._max_states = max_states
        self._relevance = Relevance(self._problem)
        self._own = self._problem.feature_mask(self._problem.evidence)
        self._conditions = price_conditions(self._problem)
        self._may_underflow = may_underflow(self._problem.network)
        self._groups: list[_Group] = []
        self._group_of: dict[tuple[int, int, PathLimits], _Group] = {}
        self._kinds: dict[tuple[object, ...], int] = {}  # the first key of each kind
        self._n_keys = 0
        self._keys = np.empty(0, np.int64)  # of all states, in ascending order
        self._numbers = np.empty(0, np.int64)  # of the states with these keys
        self._reach = np.ones(1)  # of each state, over the paths found so far
        self._sets: dict[int, int] = {}
        # What is written: nodes by number, as in `Nodes`.
        self._acquisitions: list[tuple[Ints, int, float]] = []
        self._branches: list[tuple[Ints, Ints, Floats, Ints]] = []  # the parent, and as in `Nodes`
        self._leaves: list[tuple[Ints, Floats, bool]] = []

    # -- growth

    def grow(self, deadline: Deadline) -> str:
        """Find the states of the policy; return the limit that stopped the work, or nothing."""
        waiting, is_full = self._start(), False
        while len(waiting):
            n_rows = self._round_length(len(waiting), deadline)
            if n_rows <= 0:
                self._leaves.append((waiting.number, waiting.belief, True))
                return "time"
            order = np.arange(len(waiting))
            if n_rows < len(waiting):
                order = np.argsort(-self._reach[waiting.number], kind="stable")
            found, refused = self._expand(waiting.take(order[:n_rows]))
            self._leaves.append((refused.number, refused.belief, True))
            is_full |= len(refused) > 0
            waiting = waiting.take(order[n_rows:]).join(found)
        return "memory" if is_full else ""

    def _round_length(self, n_waiting: int, deadline: Deadline) -> int:
        """Return how many of the states that wait come next; 0: there is no time."""
        n_states, left = len(self._reach), deadline.seconds_left
        room = self._max_states - n_states
        n_rows = max(room // PARTS, 1) if 0 < room < AMPLE * n_waiting else n_waiting
        if left is None:
            return n_rows
        return min(n_rows, int((left - SECONDS_PER_NODE * n_states) / SECONDS_PER_STATE))

    def _start(self) -> _States:
        joint = self._root.shaped.reshape(len(self._problem.classes), -1).sum(axis=1)
        group, first = self._group(0, 0, self._problem.limits), np.zeros(1, np.int64)
        self._keys, self._numbers = np.array([group.start]), first
        digits = np.array([self._sizes], dtype=np.int64)
        return _States(first, first, digits, joint[None] / joint.sum(), joint.sum(keepdims=True))

    def _expand(self, states: _States) -> tuple[_States, _States]:
        """Write the nodes of some states; return the new states, and those that found no room."""
        steps: list[_Step] = []
        for rows in _alike(states.group):
            here = self._groups[int(states.group[rows[0]])]
            joint = states.mass[rows, None] * states.belief[rows]
            known = KnownStates(here.known, here.block, here.left, states.digits[rows], joint)
            chosen = self._solution.choose_at(known)
            leaves = rows[chosen == 0]
            self._leaves.append((states.number[leaves], states.belief[leaves], False))
            for mask in np.unique(chosen[chosen != 0]).tolist():
                steps += self._steps(here, known, rows, mask, chosen == mask)
        none = states.take(np.empty(0, np.int64))
        return self._follow(states, steps) if steps else (none, none)

    def _steps(
        self, here: _Group, known: KnownStates, rows: Ints, mask: int, is_chosen: NDArray[np.bool_]
    ) -> Iterator[_Step]:
        """Yield the steps that acquire a set in some states of a group, by their prices."""
        problem, features = self._problem, self._features
        acquired = tuple(sorted(bits(mask), key=features.__getitem__))
        names = frozenset(problem.features[features[a]] for a in acquired)
        named = 0
        for a in acquired:
            named |= self._conditions.get(features[a], 0)
        outcomes = np.indices([self._sizes[a] for a in acquired]).reshape(len(acquired), -1)
        block, table = self._solution.block_after(here.block, mask), here.kept | mask

        def cells(digits: Ints, steps: Ints) -> Ints:
            """Return places in a table that counts digits so: those of S become known."""
            before = [a for a in bits(here.known) if steps[a]]
            now: Ints = steps[list(acquired)] @ outcomes
            return (digits[:, before] @ steps[before])[:, None] + now

        for part in known.alike([a for a in bits(here.known) if named >> features[a] & 1]):
            mine = part[is_chosen[part]]
            if not len(mine):
                continue
            evidence = known.evidence_at(problem, features, int(mine[0]))
            price = price_set(problem.costs, names, evidence)
            left = here.left.after(price, len(acquired))
            after, digits = self._group(here.known | mask, block, left), known.digits[mine]
            yield _Step(
                rows[mine],
                after,
                table,
                cells(digits, cell_steps(table, self._sizes)),
                after.start + cells(digits, after.steps),
                acquired,
                self._sets.setdefault(mask, len(self._sets)),
                price,
            )

    def _follow(self, states: _States, steps: list[_Step]) -> tuple[_States, _States]:
        """Write acquisitions and their branches; return as `_expand` does."""
        joint = self._joints(steps)
        mass = joint.sum(axis=1)
        lengths = np.concatenate([np.full(len(s.rows), s.cells.shape[1]) for s in steps])
        first = np.cumsum(lengths) - lengths
        sums = np.add.reduceat(mass, first)
        parent = np.repeat(np.concatenate([s.rows for s in steps]), lengths)
        outcome = np.arange(len(mass)) - np.repeat(first, lengths)
        step = np.repeat(np.arange(len(steps)), [s.cells.size for s in steps])
        probability = mass / np.repeat(sums, lengths)
        reached = states.mass[parent] * probability
        is_possible = mass > 0
        if (reached[is_possible] < self._solution.least_mass).any() or (
            self._may_underflow and not is_possible.all()
        ):
            raise RareEvidence
        key = np.concatenate([s.keys.reshape(-1) for s in steps])
        rows, refused = self._fit(states, parent, key, is_possible)
        for s in steps:
            mine = s.rows[~np.isin(s.rows, refused)] if len(refused) else s.rows
            self._acquisitions.append((states.number[mine], s.step_set, s.price))
        child, new = self._number(key[rows])
        before = states.number[parent[rows]]
        np.add.at(self._reach, child, self._reach[before] * probability[rows])
        self._branches.append((before, outcome[rows], probability[rows], child))
        new = rows[new]
        digits = states.digits[parent[new]]
        for there in _alike(step[new]):
            s = steps[int(step[new[there[0]]])]
            shape = [self._sizes[a] for a in s.acquired]
            values = np.unravel_index(outcome[new[there]], shape)
            digits[there[:, None], list(s.acquired)] = np.stack(values, axis=1)
        group = np.array([s.after.number for s in steps])[step[new]]
        numbers = np.arange(len(self._reach) - len(new), len(self._reach))
        belief = joint[new] / mass[new, None]
        return _States(numbers, group, digits, belief, reached[new]), states.take(refused)

    def _joints(self, steps: list[_Step]) -> Floats:
        """Return P(Y, e_K, s) of all outcomes of all steps."""
        tables = np.array([s.table for s in steps], dtype=np.uint64)
        alike = _alike(tables)
        axes = np.arange(len(self._sizes), dtype=np.uint64)
        member = tables[[rows[0] for rows in alike], None] >> axes & np.uint64(1)
        cells = [np.concatenate([steps[k].cells.reshape(-1) for k in rows]) for rows in alike]
        found: dict[int, Floats] = {}
        for rows, joint in zip(
            alike, joints_at(self._root, member.astype(bool), cells), strict=True
        ):
            ends = np.cumsum([steps[k].cells.size for k in rows])[:-1]
            found |= zip(rows.tolist(), np.split(joint, ends), strict=True)
        return np.concatenate([found[k] for k in range(len(steps))])

    # -- states

    def _group(self, known: int, block: int, left: PathLimits) -> _Group:
        """Return the group of the states with these features known and these limits left."""
        if (known, block, left) not in self._group_of:
            features = mask_of(self._features[a] for a in bits(known)) | self._own
            relevant, kept = self._relevance.what_matters(features)
            axes = mask_of(a for a in bits(known) if kept >> self._features[a] & 1)
            paid = self._relevance.groups_paid(features, relevant)
            kind = relevant, axes, paid, self._relevance.limits_that_bind(left, relevant)
            if kind not in self._kinds:
                self._kinds[kind] = self._n_keys
                self._n_keys += math.prod(self._sizes[a] for a in bits(axes))
            group = _Group(
                len(self._groups), known, block, left, axes, cell_steps(axes, self._sizes),
                self._kinds[kind],
            )  # fmt: skip
            self._groups.append(group)
            self._group_of[known, block, left] = group
        return self._group_of[known, block, left]

    def _fit(
        self, states: _States, parent: Ints, key: Ints, is_possible: NDArray[np.bool_]
    ) -> tuple[Ints, Ints]:
        """Return the branches that there is room for, and the states whose branches find none."""
        rows = np.flatnonzero(is_possible)
        different, of = np.unique(key[rows], return_inverse=True)
        is_new = ~np.isin(different, self._keys, assume_unique=True)
        room = self._max_states - len(self._reach)
        if int(is_new.sum()) <= room:
            return rows, np.empty(0, np.int64)
        # The most probable states come first. What follows them is there for the others too.
        rank = np.empty(len(states), np.int64)
        rank[np.argsort(-self._reach[states.number], kind="stable")] = np.arange(len(states))
        brought_by = np.full(len(different), len(states))
        np.minimum.at(brought_by, of, rank[parent[rows]])
        n_new = np.cumsum(np.bincount(brought_by[is_new], minlength=len(states)))
        last = int(np.searchsorted(n_new, room, side="right"))
        fits = np.ones(len(states), dtype=bool)
        np.logical_and.at(fits, parent[rows], (~is_new | (brought_by < last))[of])
        return rows[fits[parent[rows]]], np.flatnonzero(~fits)

    def _number(self, key: Ints) -> tuple[Ints, Ints]:
        """Return the number of the state of each key, and the places of the first new keys."""
        different, first, of = np.unique(key, return_index=True, return_inverse=True)
        place = np.searchsorted(self._keys, different)
        is_new = np.append(self._keys, -1)[place] != different
        n_states, n_new = len(self._reach), int(is_new.sum())
        numbers = np.empty(len(different), np.int64)
        numbers[is_new] = np.arange(n_states, n_states + n_new)
        numbers[~is_new] = self._numbers[place[~is_new]]
        self._keys = np.insert(self._keys, place[is_new], different[is_new])
        self._numbers = np.insert(self._numbers, place[is_new], numbers[is_new])
        self._reach = np.append(self._reach, np.zeros(n_new))
        return numbers[of], first[is_new]

    # -- what is written

    def nodes(self) -> Nodes:
        """Return the nodes of the policy."""
        problem, n = self._problem, len(self._reach)
        what, amount = np.empty(n, np.int64), np.empty(n)
        for numbers, step_set, price in self._acquisitions:
            what[numbers], amount[numbers] = step_set, price
        leaves = np.concatenate([numbers for numbers, _, _ in self._leaves])
        posterior = np.concatenate([beliefs for _, beliefs, _ in self._leaves])
        is_open = np.concatenate([np.full(len(k), is_open) for k, _, is_open in self._leaves])
        decision, amount[leaves] = decide(problem.misclassification, posterior)
        what[leaves] = -1 - decision
        branches = zip(*self._branches, strict=True) if self._branches else [[leaves[:0]]] * 4
        parent, outcome, probability, child = map(np.concatenate, branches)
        order, row = np.argsort(parent, kind="stable"), np.argsort(leaves)
        sets = [
            tuple(problem.features[k] for k in sorted(self._features[a] for a in bits(mask)))
            for mask in self._sets
        ]
        return Nodes.in_order(
            problem.decisions,
            tuple(StepSet.of(problem, names) for names in sets),
            what,
            amount,
            np.concatenate([[0], np.cumsum(np.bincount(parent.astype(np.int64), minlength=n))]),
            outcome[order].astype(np.int64),
            probability[order].astype(np.float64),
            child[order].astype(np.int64),
            posterior[row],
            is_open[row],
        )


def _alike(values: NDArray[np.generic]) -> list[Ints]:
    """Return the places of equal values, together."""
    order = np.argsort(values, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(values[order])) + 1) if len(order) else []
