r"""The nodes of a policy, in arrays.

A policy may have a million nodes, so its nodes are rows of arrays. Node n has an amount c(n): the
price of what it acquires, or the EMC of its decision. Its branches are rows first[n] ...
first[n + 1] of other arrays: an outcome, its probability, and the node that it leads to. A leaf
has no branches. Children come before their parents, and the root is the last node.

All sums over a policy are of two kinds, and each takes one pass over the branches:

    total(n) = c(n) + sum over branches of P(branch) total(child)           from the leaves up,
    reach(child) = sum over branches to it of P(branch) reach(node)         from the root down.

The expectation of c along the paths is total(root), and also sum_n reach(n) c(n). The *height* of a
node is the largest number of acquisitions on a path from it. Nodes of the same height do not lead
to each other, so a pass takes a few array operations for each height.

`Acquisition`, `Leaf` and `Branch` are what people see of a row. They are made when they are asked
for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from voilattice.compiled.arrays import Floats, Ints
from voilattice.errors import InputError, VoilatticeError, within
from voilattice.model.costs import MAX_AMOUNT, check_amount
from voilattice.model.network import Table
from voilattice.model.problem import Problem
from voilattice.model.stakes import CostMatrix
from voilattice.ties import TOLERANCE
from voilattice.wording import quote

__all__ = ["Acquisition", "Branch", "Leaf", "Node", "Nodes", "StepSet", "decide"]

PROBABILITY_TOLERANCE = 1e-6

_Scalar = TypeVar("_Scalar", np.float64, np.object_)


@dataclass(frozen=True, slots=True)
class Branch:
    """One joint outcome of what a node acquires."""

    states: tuple[str, ...]  # of the features, in their order
    probability: float  # given that the node is reached
    child: int  # the number of the node it leads to

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(self.states))


@dataclass(frozen=True, slots=True)
class Acquisition:
    """A node that acquires features together and branches on their values."""

    features: tuple[str, ...]
    price: float  # C(features | what is known there)
    branches: tuple[Branch, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "branches", tuple(self.branches))


@dataclass(frozen=True, slots=True)
class Leaf:
    """A node that decides."""

    decision: str
    posterior: tuple[float, ...]
    emc: float
    is_open: bool = False  # the work stopped here: the policy of that name may acquire more

    def __post_init__(self) -> None:
        object.__setattr__(self, "posterior", tuple(self.posterior))

    @classmethod
    def at(cls, problem: Problem, belief: Table, *, is_open: bool = False) -> Leaf:
        """Return the leaf of a belief: the decision of lowest risk, the first one in a tie."""
        (decision,), (emc,) = decide(problem.misclassification, belief[None])
        return cls(problem.decisions[decision], tuple(belief.tolist()), float(emc), is_open)


Node = Acquisition | Leaf


def decide(cost: CostMatrix, beliefs: Floats) -> tuple[Ints, Floats]:
    """Return the decision of lowest risk for each belief, a row, and its EMC.

    The first decision wins a tie (`ties`).
    """
    risk = beliefs @ cost.T
    least = risk.min(axis=1)
    near = least + TOLERANCE * np.maximum(1.0, least)
    return np.argmax(risk <= near[:, None], axis=1), least


class StepSet(NamedTuple):
    """Features that a node acquires together. An outcome is a number, the last state fastest."""

    features: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]  # of each feature

    @classmethod
    def of(cls, problem: Problem, features: tuple[str, ...]) -> StepSet:
        """Return features with their states."""
        return cls(features, tuple(problem.states(name) for name in features))

    def outcome(self, number: int) -> tuple[str, ...]:
        """Return the states of an outcome."""
        if len(self.states) == 1:
            return (self.states[0][number],)
        found = []
        for states in reversed(self.states):
            number, place = divmod(number, len(states))
            found.append(states[place])
        return tuple(reversed(found))

    def number(self, outcome: Sequence[str]) -> int:
        """Return the number of an outcome."""
        number = 0
        for states, state in zip(self.states, outcome, strict=True):
            number = number * len(states) + states.index(state)
        return number


class _Level(NamedTuple):
    """The acquisitions of one height, and their branches."""

    nodes: Ints
    branches: Ints
    starts: Ints  # where the branches of each node begin among the branches
    lengths: Ints  # how many it has


@dataclass(frozen=True, eq=False, repr=False)
class Nodes(Sequence[Node]):
    """The nodes of a policy, children first, the root last."""

    decisions: tuple[str, ...]
    sets: tuple[StepSet, ...]  # the different sets that nodes acquire, in the order of the nodes
    what: Ints  # of an acquisition: the number of its set; of a leaf: -1 - its decision's number
    amount: Floats  # the price of an acquisition, the EMC of a leaf
    first: Ints  # the branches of node n are first[n] ... first[n + 1]
    outcome: Ints  # of each branch
    probability: Floats
    child: Ints
    posterior: Floats  # of each leaf, a row
    is_open: NDArray[np.bool_]  # of each leaf

    @classmethod
    def of(cls, problem: Problem, nodes: Iterable[Node]) -> Nodes:
        """Return nodes in arrays, or raise `InputError` unless they are a policy for the problem.

        The nodes of another policy need not be read again if all their names mean the same.
        """
        if isinstance(nodes, cls) and nodes._fit(problem):
            return nodes
        reader = _Reader(problem)
        for node in nodes:
            reader.read(node)
        if not reader.what:
            raise InputError("a policy needs at least one node, found none")
        return reader.result()

    @classmethod
    def in_order(
        cls, decisions: tuple[str, ...], sets: tuple[StepSet, ...], what: Ints, *columns: Any
    ) -> Nodes:
        """Return nodes that are given in any order, each with its own number as in the result."""
        draft = cls(decisions, sets, what, *columns)
        order = np.argsort(draft.heights, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        lengths = np.diff(draft.first)[order]
        branches = _ranges(draft.first[order], lengths)
        what, row = what[order], draft._leaf_row[order][draft.is_leaf[order]]
        used, first, of = np.unique(what[what >= 0], return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first))
        what[what >= 0] = number[of]
        return cls(
            decisions,
            tuple(sets[k] for k in used[np.argsort(first)].tolist()),
            what,
            draft.amount[order],
            np.concatenate([[0], np.cumsum(lengths)]),
            draft.outcome[branches],
            draft.probability[branches],
            place[draft.child[branches]],
            draft.posterior[row],
            draft.is_open[row],
        )

    def _fit(self, problem: Problem) -> bool:
        known, features = problem.evidence, set(problem.features)
        return (
            self.decisions == problem.decisions
            and self.posterior.shape[1] == len(problem.classes)
            and all(f in features and f not in known for s in self.sets for f in s.features)
            and all(s == StepSet.of(problem, s.features) for s in self.sets)
        )

    def __post_init__(self) -> None:
        for column in self._columns:
            column.setflags(write=False)

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        return tuple(getattr(self, field.name) for field in fields(self)[2:])

    # -- as a sequence

    def __len__(self) -> int:
        return len(self.what)

    @overload
    def __getitem__(self, number: SupportsIndex) -> Node: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, number: SupportsIndex | slice) -> Node | tuple[Node, ...]:
        if isinstance(number, slice):
            return tuple(self)[number]
        place = range(len(self))[number]
        return next(self._views(place, place + 1))

    def __iter__(self) -> Iterator[Node]:
        return self._views(0, len(self))

    def _views(self, begin: int, end: int) -> Iterator[Node]:
        """Return the nodes from `begin` on, before `end`."""
        nodes, there = slice(begin, end), slice(self.first[begin], self.first[end])
        row = self._leaf_row[begin]
        rows = slice(row, row + np.count_nonzero(self.is_leaf[nodes]))
        leaves = zip(self.posterior[rows].tolist(), self.is_open[rows].tolist(), strict=True)
        columns = (self.outcome[there], self.probability[there], self.child[there])
        branches = zip(*(column.tolist() for column in columns), strict=True)
        lengths = np.diff(self.first[begin : end + 1]).tolist()
        for what, amount, n_branches in zip(
            self.what[nodes].tolist(), self.amount[nodes].tolist(), lengths, strict=True
        ):
            if what < 0:
                posterior, is_open = next(leaves)
                yield Leaf(self.decisions[-1 - what], posterior, amount, is_open)
                continue
            step = self.sets[what]
            mine = islice(branches, n_branches)
            yield Acquisition(
                step.features, amount, tuple(Branch(step.outcome(o), p, c) for o, p, c in mine)
            )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            return tuple(self) == other
        if not isinstance(other, Nodes):
            return NotImplemented
        same = (self.decisions, self.sets) == (other.decisions, other.sets)
        return same and all(map(np.array_equal, self._columns, other._columns))

    def __hash__(self) -> int:
        return hash((self.decisions, self.sets, self.what.tobytes(), self.child.tobytes()))

    def __reduce__(self) -> tuple[type[Nodes], tuple[Any, ...]]:
        return Nodes, (self.decisions, self.sets, *self._columns)  # not what was computed from them

    # -- sums

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.what < 0

    @cached_property
    def n_features(self) -> Floats:
        """How many features each node acquires."""
        sizes = np.array([*(len(s.features) for s in self.sets), 0], dtype=np.float64)
        return sizes[np.maximum(self.what, -1)]

    @cached_property
    def _leaf_row(self) -> Ints:
        """The row of each leaf; of any node, the number of leaves before it."""
        return np.cumsum(self.is_leaf) - self.is_leaf

    @cached_property
    def heights(self) -> Ints:
        """The largest number of acquisitions on a path from each node."""
        inner = np.flatnonzero(~self.is_leaf)
        heights = np.zeros(len(self), dtype=np.int64)
        while len(inner):  # in k rounds, all heights up to k are right
            above = 1 + np.maximum.reduceat(heights[self.child], self.first[inner])
            if np.array_equal(above, heights[inner]):
                break
            heights[inner] = above
        return heights

    @cached_property
    def _levels(self) -> list[_Level]:
        """The acquisitions by height, the lowest first."""
        inner = np.flatnonzero(~self.is_leaf)
        inner = inner[np.argsort(self.heights[inner], kind="stable")]
        cuts = np.flatnonzero(np.diff(self.heights[inner])) + 1
        lengths = np.diff(self.first)
        return [
            _Level(nodes, _ranges(self.first[nodes], n), np.cumsum(n) - n, n)
            for nodes in np.split(inner, cuts) if len(nodes)
            for n in [lengths[nodes]]
        ]  # fmt: skip

    @cached_property
    def reach(self) -> Floats:
        """The probability of reaching each node, over all paths."""
        reach = np.zeros(len(self))
        reach[-1] = 1.0
        for level in reversed(self._levels):
            share = np.repeat(reach[level.nodes], level.lengths) * self.probability[level.branches]
            np.add.at(reach, self.child[level.branches], share)
        return reach

    def totals(self, amounts: Floats) -> Floats:
        """Return the expected sum of amounts along the paths from each node on."""
        return self._add_up(amounts, self.probability)

    def counts(self, amounts: NDArray[np.bool_]) -> NDArray[np.object_]:
        """Return how many of some nodes the unfolded tree from each node on has."""
        # Numbers of paths are soon too large for a word.
        return self._add_up(amounts.astype(np.int64).astype(object), np.array(1, dtype=object))

    def _add_up(self, amounts: NDArray[_Scalar], weights: NDArray[_Scalar]) -> NDArray[_Scalar]:
        total = amounts.copy()
        weights = np.broadcast_to(weights, len(self.child))
        for level in self._levels:
            below = weights[level.branches] * total[self.child[level.branches]]
            total[level.nodes] += np.add.reduceat(below, level.starts)
        return total

    def below(self, number: int) -> Ints:
        """Return the nodes that paths from a node on reach, with the node itself."""
        is_reached = np.zeros(len(self), dtype=bool)
        is_reached[number] = True
        for level in reversed(self._levels):
            onward = np.repeat(is_reached[level.nodes], level.lengths)
            is_reached[self.child[level.branches[onward]]] = True
        return np.flatnonzero(is_reached)


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return starts[0], starts[0] + 1, ..., then those of the next range, and so on."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


class _Reader:
    """Reads nodes into columns, and checks them."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._masks = {name: 1 << k for k, name in enumerate(problem.features)}
        self._decisions = {name: k for k, name in enumerate(problem.decisions)}
        self._n_classes = len(problem.classes)
        self._sets: dict[tuple[str, ...], tuple[int, StepSet, int]] = {}
        self._below: list[int] = []  # the features acquired at a node or after it, as a mask
        self.what: list[int] = []
        self._amount: list[float] = []
        self._first = [0]
        self._branches: list[tuple[int, float, int]] = []
        self._posterior: list[tuple[float, ...]] = []
        self._is_open: list[bool] = []

    def read(self, node: Node) -> None:
        """Add a node, or raise `InputError` unless it fits the problem and the nodes before it."""
        try:
            if isinstance(node, Leaf):
                self._read_leaf(node)
            else:
                self._read_acquisition(node)
        except VoilatticeError as error:
            raise type(error)(f"node {len(self.what)}: {error.complaint}") from None
        self._first.append(len(self._branches))

    def _read_leaf(self, leaf: Leaf) -> None:
        if leaf.decision not in self._decisions:
            names = self._problem.decisions
            raise InputError(f"the decision {quote(leaf.decision)} is not one of {names}")
        if len(leaf.posterior) != self._n_classes or not _is_distribution(leaf.posterior):
            raise InputError(f"the posterior {quote(leaf.posterior)} is not a distribution")
        self._amount.append(_check_price("emc", leaf.emc))
        self.what.append(-1 - self._decisions[leaf.decision])
        self._posterior.append(leaf.posterior)
        self._is_open.append(leaf.is_open)
        self._below.append(0)

    def _read_acquisition(self, node: Acquisition) -> None:
        number, step, acquired = self._set(node.features)
        amount = _check_price("price", node.price)
        if not node.features or not node.branches:
            raise InputError("an acquisition needs features and branches")
        if len({branch.states for branch in node.branches}) < len(node.branches):
            raise InputError("an outcome appears twice")
        later, rows = 0, []
        for branch in node.branches:
            if not 0 <= branch.child < len(self.what):
                raise InputError(f"it leads to node {branch.child}, which must come before it")
            try:
                outcome = step.number(branch.states)
            except ValueError:
                for feature, state in zip(node.features, branch.states, strict=False):
                    self._problem.merge_evidence({feature: state})
                text = f"{quote(branch.states)} is no outcome of {quote(node.features)}"
                raise InputError(text) from None
            rows.append((outcome, branch.probability, branch.child))
            later |= self._below[branch.child]
        if not _is_distribution([branch.probability for branch in node.branches]):
            raise InputError("the probabilities of its branches must be >= 0 and sum to 1")
        if later & acquired:
            twice = min(self._problem.feature_names(later & acquired))
            raise InputError(f"{twice!r} is acquired again at a later node")
        self._sets[node.features] = number, step, acquired
        self.what.append(number)
        self._amount.append(amount)
        self._branches += rows
        self._below.append(later | acquired)

    def _set(self, features: tuple[str, ...]) -> tuple[int, StepSet, int]:
        """Return the number of a set, the set, and its mask."""
        if features in self._sets:
            return self._sets[features]
        self._problem.check_acquirable(features, self._problem.evidence)
        mask = self._problem.feature_mask(features)
        return len(self._sets), StepSet.of(self._problem, features), mask

    def result(self) -> Nodes:
        """Return the nodes."""
        outcome, probability, child = (
            zip(*self._branches, strict=True) if self._branches else [()] * 3
        )
        return Nodes(
            self._problem.decisions,
            tuple(step for _, step, _ in self._sets.values()),
            np.array(self.what, dtype=np.int64),
            np.array(self._amount, dtype=np.float64),
            np.array(self._first, dtype=np.int64),
            np.array(outcome, dtype=np.int64),
            np.array(probability, dtype=np.float64),
            np.array(child, dtype=np.int64),
            np.array(self._posterior, dtype=np.float64).reshape(-1, self._n_classes),
            np.array(self._is_open, dtype=bool),
        )


def _check_price(what: str, amount: object) -> float:
    if type(amount) is float and 0.0 <= amount <= MAX_AMOUNT:
        return amount  # a shortcut for the usual case, because a policy may have a million nodes
    with within(what):
        return check_amount(amount)


def _is_distribution(probabilities: Sequence[float]) -> bool:
    in_range = all(0 <= p <= 1 + PROBABILITY_TOLERANCE for p in probabilities)
    return in_range and abs(sum(probabilities) - 1) <= PROBABILITY_TOLERANCE
