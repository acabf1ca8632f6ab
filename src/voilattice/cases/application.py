"""Apply policies to tables of cases.

`apply_policy` follows a policy for many cases at once: all cases at one node move on together. A
missing cell means that the feature is not available for this case. Then the case goes on without
that feature: its policy is planned again from what is known.

Only the paths of the cases are followed. Where the work on a policy stopped early (an open leaf,
`policy.policy`), its solver is asked for the next step. So a policy that is too large to build can
be applied by its name alone. What plans beyond the tree of a complete policy is part of the policy
(`cases.completion`).

Beyond the tree, cases that lack the same features and know the same are followed together to their
ends (`cases.replanning`). So a solver that keeps what it solved last solves the problem from there
on, once. What a case does never depends on the cases beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline, TimeLimit
from voilattice.cases.completion import SUCCESSOR, planner_around
from voilattice.cases.replanning import Plan, QuickRule
from voilattice.cases.tables import Cases, read_cases
from voilattice.errors import InputError
from voilattice.model.acquisition import PathLimits
from voilattice.model.problem import Problem, check_problem
from voilattice.model.stakes import has_class_decision
from voilattice.policy.policy import Acquisition, Certificate, Leaf, Policy
from voilattice.policy.situation import situation_at
from voilattice.policy.solvers import TIME_LIMIT, Solver, policy_names, solver_of
from voilattice.samples import standard_error
from voilattice.wording import quote

__all__ = ["Applied", "apply_policy", "as_policy", "follow_cases"]

UNBUILT = Certificate(None, False, "ok", "Nothing of the policy is worked out yet.")

Rows = NDArray[np.intp]
Path = tuple[tuple[str, ...], ...]  # the acquisitions of a case, in order


@dataclass(frozen=True, slots=True)
class Applied:
    """What a policy bought, decided and paid, case by case."""

    decision: NDArray[np.object_]
    bought: NDArray[np.object_]  # tuples of features, in the order of their acquisition
    posterior: NDArray[np.float64]  # [case, class], when the case was decided
    feature_cost: NDArray[np.float64]
    misclassification_cost: NDArray[np.float64] | None  # None: the true class was not given
    truth: NDArray[np.object_] | None  # the true class; None: not given
    lacking: NDArray[np.object_]  # sets of features that were asked for, but missing
    impossible: NDArray[np.bool_]  # a result had probability 0 and was taken as missing
    unfinished: NDArray[np.bool_]  # the time was over, so the greedy policy went on
    unseen: Mapping[str, Mapping[str, int]]  # cells taken as missing, by column, and their number
    decides_on_classes: bool  # `model.stakes.has_class_decision`

    @property
    def replanned(self) -> NDArray[np.bool_]:
        """Whether a feature that was asked for was missing."""
        return self.lacking.astype(bool)

    @property
    def total_cost(self) -> NDArray[np.float64] | None:
        """The total cost of each case; None: the true class was not given."""
        if self.misclassification_cost is None:
            return None
        return self.feature_cost + self.misclassification_cost

    @property
    def accuracy(self) -> float | None:
        """The share of decisions that are the true class; None: it is not given, or none can be."""
        if self.truth is None or not self.decides_on_classes or not len(self.truth):
            return None
        return float((self.decision == self.truth).mean())

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean total cost; None: no true class, or not two cases."""
        total = self.total_cost
        return None if total is None else standard_error(total)


def apply_policy(
    policy: Policy | str,
    cases: Any,
    *,
    problem: Problem | None = None,
    strict: bool = True,
    planner: str | Solver | None = None,
    time_limit: TimeLimit = TIME_LIMIT,
    progress: Callable[[int, int], None] | None = None,
) -> Applied:
    """Follow a policy for each row of a table.

    Parameters
    ----------
    policy
        A policy, or the name of one: then `problem` says for what, and nothing is built.
    cases
        A data frame, or any mapping of column names to columns. Cells are raw values: states, or
        numbers for features with bins. Missing cells are None, NaN or empty. A column
        for the target gives the true class. Other columns are ignored, with a `DataWarning` if one
        has nearly the name of a feature without a column.
    strict
        Refuse a cell that stands for no state, and a result of probability 0. Otherwise such a cell
        is missing (`Applied.unseen`, `Applied.impossible`).
    planner
        The policy that plans for the cases that leave the tree, by its name or its solver; by
        default the policy itself, and for a complete policy what belongs to it
        (`cases.completion`). The optimum of a large problem takes long to plan again, and
        ``greedy`` does not.
    time_limit
        Seconds for all planning beyond the tree of the policy, for missing cells and at open
        leaves. At the limit the greedy policy goes on in the cases that are still under way
        (`Applied.unfinished`), which is quick. None: no limit.
    progress
        Called with the number of cases that are done, and of all cases.

    >>> import voilattice
    >>> asia = voilattice.load_problem("asia")
    >>> cases = {"xray": ["yes", "no"], "tub": ["yes", "no"], "lung": ["yes", "no"]}
    >>> apply_policy("greedy-la", cases, problem=asia).bought.tolist()
    [('tub',), ('tub', 'xray')]
    """
    policy = as_policy(policy, problem)
    read = read_cases(policy.problem, cases, strict=strict)
    return follow_cases(
        policy, read, strict=strict, planner=planner, time_limit=time_limit, progress=progress
    )


def follow_cases(
    policy: Policy,
    read: Cases,
    *,
    strict: bool = True,
    planner: str | Solver | None = None,
    time_limit: TimeLimit = TIME_LIMIT,
    progress: Callable[[int, int], None] | None = None,
) -> Applied:
    """Follow a policy for cases that are read already, or read as they are asked for.

    The codes of a feature are looked up when some case acquires it, and not before. The other
    parameters are those of `apply_policy`.
    """
    problem, solvers = policy.problem, _find_solvers(policy, planner)
    run = _Run(policy, solvers, read, strict, Deadline.of(time_limit), progress)
    run.follow_tree()
    run.follow_beyond()
    return Applied(
        np.array(problem.decisions, dtype=object)[run.decision],
        run.bought(),
        run.posterior,
        run.feature_cost,
        None if read.truth is None else problem.misclassification[run.decision, read.truth],
        None if read.truth is None else np.array(problem.classes, dtype=object)[read.truth],
        run.lacking(),
        run.impossible,
        run.unfinished,
        read.unseen,
        has_class_decision(problem.decisions, problem.classes),
    )


def as_policy(policy: Policy | str, problem: Problem | None) -> Policy:
    """Return a policy as it is, and a name as a policy of which nothing is worked out yet."""
    if isinstance(policy, Policy):
        if problem is not None and problem != policy.problem:
            raise InputError("the policy belongs to another problem", "problem")
        return policy
    if problem is None:
        raise InputError(f"is needed with the name of a policy, {quote(policy)}", "problem")
    check_problem(problem)
    name = solver_of(policy).name
    return Policy(problem, name, (situation_at(problem).leaf(is_open=True),), UNBUILT)


class _Solvers(NamedTuple):
    """What plans beyond the tree of a policy; None: nobody knows how it goes on."""

    at_open_leaves: Solver | None
    around_missing: Solver | None


def _find_solvers(policy: Policy, planner: str | Solver | None) -> _Solvers:
    if planner is None and policy.is_complete:
        return _Solvers(solver_of(SUCCESSOR), planner_around(policy))
    if planner is None and policy.name in policy_names():
        planner = policy.name
    solver = solver_of(planner) if isinstance(planner, str) else planner
    return _Solvers(solver, solver)


class _Run:
    """The cases of one call, where each of them is, and their results.

    Cases that have acquired the same features in the same order have the same *path*; those that
    lack the same features have the same *loss*. Both are kept as numbers, one for each case.
    """

    def __init__(
        self,
        policy: Policy,
        solvers: _Solvers,
        cases: Cases,
        strict: bool,
        deadline: Deadline,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._policy, self._problem, self._codes = policy, policy.problem, cases.codes
        self._solvers = solvers
        self._strict, self._deadline, self._progress = strict, deadline, progress
        self._n, self._n_done = cases.n_rows, 0
        self._decision_codes = {name: code for code, name in enumerate(policy.problem.decisions)}
        self._paths: _Numbered[Path] = _Numbered(())
        self._losses: _Numbered[frozenset[str]] = _Numbered(frozenset())
        self._path = np.zeros(self._n, dtype=np.intp)
        self._loss = np.zeros(self._n, dtype=np.intp)
        self._paid_before = np.zeros(self._n)  # before the last acquisition
        self._beyond: dict[int, list[Rows]] = {}  # by loss: the cases that have left the tree
        self.decision = np.zeros(self._n, dtype=np.intp)
        self.posterior = np.zeros((self._n, len(policy.problem.classes)))
        self.feature_cost = np.zeros(self._n)
        self.impossible = np.zeros(self._n, dtype=bool)
        self.unfinished = np.zeros(self._n, dtype=bool)

    def bought(self) -> NDArray[np.object_]:
        """Return the features of each case in the order of their acquisition."""
        tuples = np.empty(len(self._paths.items), dtype=object)
        for number, path in enumerate(self._paths.items):
            tuples[number] = tuple(feature for acquired in path for feature in acquired)
        return tuples[self._path]

    def lacking(self) -> NDArray[np.object_]:
        """Return the features that each case was asked for, but does not have."""
        sets = np.empty(len(self._losses.items), dtype=object)
        sets[:] = self._losses.items
        return sets[self._loss]

    # -- the tree

    def follow_tree(self) -> None:
        """Move all cases from the root to a decision, an open leaf, or a feature they lack."""
        nodes = self._policy.nodes
        root = len(nodes) - 1
        # Children come before their parents: a node is met when all its cases have come.
        waiting: dict[int, list[Rows]] = {root: [np.arange(self._n)]} if self._n else {}
        order = [-root] if self._n else []
        while order:
            number = -heappop(order)
            rows, node = np.concatenate(waiting.pop(number)), nodes[number]
            if isinstance(node, Leaf):
                if node.is_open and self._solvers.at_open_leaves is not None:
                    self._leave(rows)
                else:  # of a rule that is not registered nobody knows how it goes on
                    self._decide(rows, node)
                continue
            rows = self._split_lacking(rows, node.features)
            for child, there in self._branch(node, rows):
                if child not in waiting:
                    heappush(order, -child)
                waiting.setdefault(child, []).append(there)

    def _branch(self, node: Acquisition, rows: Rows) -> Iterator[tuple[int, Rows]]:
        """Yield the children of a node with their cases, which pay for what is acquired."""
        states = [self._problem.states(name) for name in node.features]
        children = {branch.states: branch.child for branch in node.branches}
        for there in self._groups(rows, node.features):
            first = there[0]
            codes = [self._codes[name][first] for name in node.features]
            outcome = tuple(names[code] for names, code in zip(states, codes, strict=True))
            if outcome in children:
                self._acquire(there, node.features, node.price)
                yield children[outcome], there
                continue
            given = ", ".join(f"{f}={v}" for f, v in zip(node.features, outcome, strict=True))
            self._refuse_impossible(f"{given} has probability 0 in the network there", first)
            self.impossible[there] = True
            self._leave(self._lose(there, node.features))

    # -- beyond the tree

    def follow_beyond(self) -> None:
        """Move the cases that have left the tree to their decisions, as the solver says."""
        while self._beyond:
            # A case only loses features, so no cases come later to those that lack the fewest.
            # Of several such losses the most frequent one comes first: the time may not do for all.
            loss = min(
                self._beyond,
                key=lambda k: (len(self._losses.items[k]), -sum(map(len, self._beyond[k]))),
            )
            rows = np.concatenate(self._beyond.pop(loss))
            lost = self._losses.items[loss]
            solver, quick = self._solver(lost, rows), QuickRule(self._problem.without(lost))
            for bought, group in self._alike(rows):
                plan = Plan(quick, solver, self._deadline, self._known(bought, group))
                onward = group
                while len(onward):
                    onward = self._step(plan, onward)

    def _alike(self, rows: Rows) -> Iterator[tuple[list[str], Rows]]:
        """Yield the cases that bought the same in the same order, with the same results."""
        for here in _split(rows, self._path[rows]):
            bought = self._bought(here)
            for group in self._groups(here, bought):
                yield bought, group

    def _left(self, rows: Rows) -> PathLimits:
        """Return what is left of the limits in these cases, which are alike."""
        path, first = self._path_of(rows), rows[0]
        n_features = sum(len(features) for features in path)
        return self._problem.limits.after(float(self.feature_cost[first]), n_features, len(path))

    def _solver(self, lost: frozenset[str], rows: Rows) -> Solver:
        """Return what plans for the cases that lack these features."""
        solver = self._solvers.around_missing if lost else self._solvers.at_open_leaves
        if solver is None:
            raise InputError(
                f"{', '.join(sorted(lost))} is missing, and policy {self._policy.name!r} "
                f"cannot be planned again without it",
                f"row {int(rows[0]) + 1}",
            )
        return solver

    def _step(self, plan: Plan, rows: Rows) -> Rows:
        """Do what the plan says for these cases; return those that go on."""
        onward: list[Rows] = []
        for bought, group in self._alike(rows):
            known = self._known(bought, group)
            if (move := plan.move(known, self._left(group))) is None:
                self._undo(group, known)
                continue
            self.unfinished[group] |= move.is_late
            onward += self._do(move.node, group)
        return np.concatenate(onward) if onward else np.zeros(0, dtype=np.intp)

    def _do(self, node: Acquisition | Leaf, rows: Rows) -> list[Rows]:
        """Decide, or acquire and return the cases that have what is acquired."""
        if isinstance(node, Leaf):
            self._decide(rows, node)
            return []
        rows = self._split_lacking(rows, node.features)
        if len(rows):
            self._acquire(rows, node.features, node.price)
        return [rows]

    def _undo(self, rows: Rows, known: Mapping[str, str]) -> None:
        """Take the last result of these cases as missing: with it, their evidence is impossible."""
        given = ", ".join(f"{name}={state}" for name, state in known.items())
        self._refuse_impossible(f"{given} is impossible: its probability is 0", rows[0])
        self.impossible[rows] = True
        *before, last = self._path_of(rows)
        self._path[rows] = self._paths.number(tuple(before))
        self.feature_cost[rows] = self._paid_before[rows]
        self._leave(self._lose(rows, last))

    # -- what happens to cases

    def _decide(self, rows: Rows, leaf: Leaf) -> None:
        self.decision[rows] = self._decision_codes[leaf.decision]
        self.posterior[rows] = leaf.posterior
        self._n_done += len(rows)
        if self._progress is not None:
            self._progress(self._n_done, self._n)

    def _acquire(self, rows: Rows, features: tuple[str, ...], price: float) -> None:
        self._paid_before[rows] = self.feature_cost[rows]
        self.feature_cost[rows] += price
        paths = self._paths
        before, places = np.unique(self._path[rows], return_inverse=True)
        after = [paths.number((*paths.items[path], features)) for path in before]
        self._path[rows] = np.array(after)[places]

    def _split_lacking(self, rows: Rows, features: tuple[str, ...]) -> Rows:
        """Return the cases that have all these features; the others leave the tree without them."""
        lacking = np.stack([self._codes[name][rows] < 0 for name in features])
        some = lacking.any(axis=0)
        for part in _split(np.flatnonzero(some), _combine(lacking[:, some])):
            lost = [f for f, lacks in zip(features, lacking[:, part[0]], strict=True) if lacks]
            self._leave(self._lose(rows[part], lost))
        return rows[~some]

    def _lose(self, rows: Rows, features: Sequence[str]) -> Rows:
        losses = self._losses
        before, places = np.unique(self._loss[rows], return_inverse=True)
        after = [losses.number(losses.items[loss].union(features)) for loss in before]
        self._loss[rows] = np.array(after)[places]
        return rows

    def _leave(self, rows: Rows) -> None:
        for part in _split(rows, self._loss[rows]):
            self._beyond.setdefault(int(self._loss[part[0]]), []).append(part)

    def _refuse_impossible(self, complaint: str, row: np.intp) -> None:
        if self._strict:
            raise InputError(complaint, f"row {int(row) + 1}")

    # -- cases that are alike

    def _groups(self, rows: Rows, features: Sequence[str]) -> Iterator[Rows]:
        """Yield the cases that agree in these features together."""
        if not features or not len(rows):
            return iter([rows] if len(rows) else [])
        return _split(rows, _combine([self._codes[name][rows] for name in features]))

    def _path_of(self, rows: Rows) -> Path:
        return self._paths.items[int(self._path[rows[0]])]

    def _bought(self, rows: Rows) -> list[str]:
        return [name for acquired in self._path_of(rows) for name in acquired]

    def _known(self, bought: Sequence[str], rows: Rows) -> dict[str, str]:
        """Return all that is known in the first of these cases."""
        states, first = self._problem.states, rows[0]
        return {
            **self._problem.evidence,
            **{name: states(name)[self._codes[name][first]] for name in bought},
        }


_Item = TypeVar("_Item", bound=Hashable)


class _Numbered(Generic[_Item]):
    """Items with a number each, in the order in which they first came; the first one has 0."""

    def __init__(self, first: _Item) -> None:
        self.items = [first]
        self._numbers = {first: 0}

    def number(self, item: _Item) -> int:
        if item not in self._numbers:
            self._numbers[item] = len(self.items)
            self.items.append(item)
        return self._numbers[item]


def _combine(columns: Sequence[NDArray[Any]] | NDArray[Any]) -> NDArray[np.intp]:
    """Return a number for each row of some columns of numbers >= 0: equal rows, equal numbers."""
    combined = np.asarray(columns[0], dtype=np.intp)
    for column in columns[1:]:
        if combined.size and combined.max() >= 1 << 32:  # the product must not overflow
            _, combined = np.unique(combined, return_inverse=True)
        combined = combined * (int(column.max(initial=0)) + 1) + column
    return combined


def _split(rows: Rows, keys: NDArray[np.intp]) -> Iterator[Rows]:
    """Yield the rows of each key together, in their order."""
    if not len(rows):
        return
    if (keys == keys[0]).all():
        yield rows
        return
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    yield from np.split(rows[order], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)
