"""Apply policies to tables of cases and to cases drawn from the network.

`apply_policy` follows a policy for many cases at once: all cases at one node move on together. A
missing cell means that the feature is not available for this case. Then a new policy is planned
from what is known, without that feature.

Only the paths of the cases are followed. Where the work on a policy stopped early (an open leaf,
`policy.policy`), its solver is asked for the next step. So a policy that is too large to build can
be applied by its name alone.

`simulate` draws cases from the network and applies the policy to them. Their mean cost estimates
the expected total cost, which `Policy.expected_total_cost` gives exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.model.costs import price_set
from voilattice.model.network import Network
from voilattice.model.problem import Problem, check_problem
from voilattice.policy.policy import Acquisition, Certificate, Leaf, Policy
from voilattice.policy.relevance import Relevance, StateKey
from voilattice.policy.situations import situation_at
from voilattice.policy.solvers import (
    TIME_LIMIT,
    Limits,
    OptimalSolver,
    RuleSolver,
    build_policy,
    policy_names,
    solver_of,
)
from voilattice.wording import quote

__all__ = ["Applied", "Simulated", "apply_policy", "draw_cases", "simulate"]

# Cases that contradict the evidence are drawn again, at most this many times.
MAX_DRAWS = 1_000

UNBUILT = Certificate(None, False, "ok", "Nothing of the policy is worked out yet.")


@dataclass(frozen=True, slots=True)
class Applied:
    """What a policy bought, decided and paid, case by case."""

    decision: NDArray[np.object_]
    bought: NDArray[np.object_]  # tuples of features, in the order of their acquisition
    feature_cost: NDArray[np.float64]
    misclassification_cost: NDArray[np.float64] | None  # None: the true class was not given

    @property
    def total_cost(self) -> NDArray[np.float64] | None:
        """The total cost of each case; None: the true class was not given."""
        if self.misclassification_cost is None:
            return None
        return self.feature_cost + self.misclassification_cost


def apply_policy(
    policy: Policy | str,
    cases: Any,
    *,
    problem: Problem | None = None,
    time_limit: float | None = TIME_LIMIT,
) -> Applied:
    """Follow a policy for each row of a table.

    Parameters
    ----------
    policy
        A policy, or the name of one: then `problem` says for what, and nothing is built.
    time_limit
        Seconds for each step beyond an open leaf; None: no limit.
    cases
        A data frame, or any mapping of column names to columns. Cells are names of states; missing
        cells are None, NaN or empty. A column for the target gives the true class. Other columns
        are ignored.

    >>> import voilattice
    >>> asia = voilattice.load_problem("asia")
    >>> cases = {"xray": ["yes", "no"], "tub": ["yes", "no"], "lung": ["yes", "no"]}
    >>> apply_policy("greedy-la", cases, problem=asia).bought.tolist()
    [('tub',), ('tub', 'xray')]
    """
    policy = _policy(policy, problem)
    problem = policy.problem
    lengths = {len(cases[name]) for name in cases}
    if len(lengths) > 1:
        raise InputError(f"the columns are of different lengths: {sorted(lengths)}")
    n = lengths.pop() if lengths else 0
    columns = {name: _encode(problem, name, cases) for name in problem.features if name in cases}
    for name, state in problem.evidence.items():
        codes = columns.get(name, np.zeros(0))
        wrong = np.flatnonzero((codes >= 0) & (codes != problem.states(name).index(state)))
        if len(wrong):
            raise InputError(
                f"must be {state!r}, the problem's own evidence", f"{name}, row {int(wrong[0]) + 1}"
            )
    missing = np.full(n, -1)
    known_columns = {name: columns.get(name, missing) for name in problem.features}
    run = _Run(policy, known_columns, n, time_limit)
    run.follow(policy, {}, frozenset(), np.arange(n))
    paid: NDArray[np.float64] | None = None
    if problem.target in cases:
        truth = _encode(problem, problem.target, cases)
        if (truth < 0).any():
            row = int(np.flatnonzero(truth < 0)[0])
            raise InputError("the true class is missing", f"{problem.target}, row {row + 1}")
        paid = problem.misclassification[run.decision, truth]
    classes = np.array(problem.classes, dtype=object)
    return Applied(classes[run.decision], run.bought, run.feature_cost, paid)


def _policy(policy: Policy | str, problem: Problem | None) -> Policy:
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


class _Run:
    """The cases of one call, and their results."""

    def __init__(
        self,
        policy: Policy,
        columns: Mapping[str, NDArray[np.intp]],
        n: int,
        time_limit: float | None,
    ) -> None:
        self._policy, self._columns, self._time_limit = policy, columns, time_limit
        self.decision = np.zeros(n, dtype=np.intp)
        self.feature_cost = np.zeros(n)
        self.bought = np.empty(n, dtype=object)
        self.bought[:] = [()] * n

    def follow(
        self,
        policy: Policy,
        evidence: Mapping[str, str],
        unavailable: frozenset[str],
        rows: NDArray[np.intp],
    ) -> None:
        """Move the cases `rows`, which share this evidence, from the root to their decisions."""
        ahead = _Ahead(policy, self._time_limit)
        stack: list[tuple[int | None, dict[str, str], NDArray[np.intp]]] = [
            (len(policy.nodes) - 1, dict(evidence), rows)
        ]
        while stack:
            number, known, rows = stack.pop()
            if not len(rows):
                continue
            node = None if number is None else policy.nodes[number]
            if node is None or (isinstance(node, Leaf) and node.is_open):
                # The tree ends here, or has ended before: its solver says how to go on.
                with self._impossible(known, rows):
                    node, number = ahead.node(known, node), None
            if isinstance(node, Leaf):
                self.decision[rows] = self._policy.problem.classes.index(node.decision)
                continue
            values = np.stack([self._columns[name][rows] for name in node.features], axis=1)
            lacking = values < 0
            for pattern in np.unique(lacking, axis=0):
                these = rows[(lacking == pattern).all(axis=1)]
                if pattern.any():
                    gone = {f for f, lacks in zip(node.features, pattern, strict=True) if lacks}
                    self._go_on_without(unavailable | gone, known, these)
                    continue
                self.feature_cost[these] += node.price
                for row in these:
                    self.bought[row] += node.features
                stack += self._branch(node, None if number is None else policy, known, these)

    def _branch(
        self,
        node: Acquisition,
        policy: Policy | None,
        known: dict[str, str],
        rows: NDArray[np.intp],
    ) -> list[tuple[int | None, dict[str, str], NDArray[np.intp]]]:
        """Return where the cases go from a node; without a policy, beyond its tree."""
        problem = self._policy.problem
        found = np.stack([self._columns[name][rows] for name in node.features], axis=1)
        ways: list[tuple[int | None, dict[str, str], NDArray[np.intp]]] = []
        if policy is None:
            for codes in np.unique(found, axis=0):
                more = {f: problem.states(f)[v] for f, v in zip(node.features, codes, strict=True)}
                ways.append((None, known | more, rows[(found == codes).all(axis=1)]))
            return ways
        for branch in node.branches:
            codes = [
                problem.states(name).index(state)
                for name, state in zip(node.features, branch.states, strict=True)
            ]
            match = (found == codes).all(axis=1)
            more = dict(zip(node.features, branch.states, strict=True))
            ways.append((branch.child, known | more, rows[match]))
            rows, found = rows[~match], found[~match]
        if len(rows):
            raise InputError(
                f"the outcome of {', '.join(node.features)} has probability 0 in the "
                f"network, given {known or 'nothing'}",
                f"row {int(rows[0]) + 1}",
            )
        return ways

    @contextmanager
    def _impossible(self, known: Mapping[str, str], rows: NDArray[np.intp]) -> Iterator[None]:
        """Name the row of evidence that turns out to be impossible."""
        try:
            yield
        except InputError as error:
            raise InputError(error.complaint, f"row {int(rows[0]) + 1}") from None

    def _go_on_without(
        self, unavailable: frozenset[str], known: Mapping[str, str], rows: NDArray[np.intp]
    ) -> None:
        if self._policy.name not in policy_names():
            raise InputError(
                f"{', '.join(sorted(unavailable))} is missing, and policy {self._policy.name!r} "
                f"cannot be planned again without it",
                f"row {int(rows[0]) + 1}",
            )
        reduced = self._policy.problem.without(unavailable)
        again = build_policy(reduced, self._policy.name, known, time_limit=self._time_limit)
        self.follow(again, known, unavailable, rows)


class _Ahead:
    """The nodes of a policy beyond its tree, as they are asked for."""

    def __init__(self, policy: Policy, time_limit: float | None) -> None:
        self._problem, self._time_limit = policy.problem, time_limit
        self._solver = solver_of(policy.name) if policy.name in policy_names() else None
        # Only of the solvers here is it known that they forget what no longer matters.
        forgets = isinstance(self._solver, OptimalSolver) or (
            isinstance(self._solver, RuleSolver) and self._solver.forgets
        )
        self._relevance = Relevance(policy.problem, forgets=forgets)
        self._nodes: dict[StateKey, Acquisition | Leaf] = {}

    def node(self, evidence: Mapping[str, str], leaf: Leaf | None) -> Acquisition | Leaf:
        """Return the acquisition or the decision at some evidence; `leaf` is the open leaf there.

        An acquisition has no branches: its outcomes lead to evidence that is asked about next.
        """
        problem = self._problem
        known = {**problem.evidence, **evidence}
        if self._solver is None:  # nobody knows how it goes on
            assert leaf is not None
            return leaf
        key = self._relevance.key(known)
        if key not in self._nodes:
            further = problem.further(known)
            step = self._solver.next_step(problem, further, Limits(time_limit=self._time_limit))
            features = tuple(name for name in problem.features if name in step.features)
            if features:
                price = price_set(problem.costs, step.features, known)
                self._nodes[key] = Acquisition(features, price, ())
            else:
                self._nodes[key] = leaf or situation_at(problem, further).leaf()
        return self._nodes[key]


def _encode(problem: Problem, name: str, cases: Any) -> NDArray[np.intp]:
    """Return a column as the numbers of its states, -1 where a cell is missing."""
    states = problem.states(name)
    codes = {state: code for code, state in enumerate(states)}
    column = np.asarray(cases[name], dtype=object)
    found = np.full(len(column), -1)
    for row, cell in enumerate(column.tolist()):
        if _is_missing(cell):
            continue
        # A missing cell turns a column of whole numbers into a column of floats.
        whole = isinstance(cell, float) and cell.is_integer() and str(cell) not in codes
        try:
            found[row] = codes[str(int(cell)) if whole else str(cell)]
        except KeyError:
            raise UnknownNameError(
                f"no state {quote(cell)}; its states are {', '.join(map(repr, states))}",
                f"{name}, row {row + 1}",
            ) from None
    return found


def _is_missing(cell: object) -> bool:
    if cell is None or isinstance(cell, str):
        return not cell
    try:
        return bool(cell != cell)  # noqa: PLR0124 (NaN differs from itself)
    except TypeError:  # pandas.NA has no truth value
        return True


@dataclass(frozen=True, slots=True)
class Simulated:
    """The mean cost of simulated cases, and half the width of its 95 % confidence interval."""

    expected_total_cost: float
    margin: float
    n: int


def simulate(
    policy: Policy | str,
    n: int = 10_000,
    *,
    seed: int = 0,
    problem: Problem | None = None,
    time_limit: float | None = TIME_LIMIT,
) -> Simulated:
    """Estimate the expected total cost on cases drawn from the network.

    Cases that contradict the problem's own evidence are drawn again. The policy, the problem and
    the time limit are as in `apply_policy`.
    """
    policy = _policy(policy, problem)
    problem = policy.problem
    if n < 2:
        raise InputError(f"must be at least 2 cases, got {n}", "n")
    rng = np.random.default_rng(seed)
    kept: list[dict[str, NDArray[np.object_]]] = []
    total = 0
    for _ in range(MAX_DRAWS):
        if total >= n:
            break
        cases = draw_cases(problem.network, n, rng)
        fits = np.ones(n, dtype=bool)
        for name, state in problem.evidence.items():
            fits &= cases[name] == state
        kept.append({name: column[fits] for name, column in cases.items()})
        total += int(fits.sum())
    if total < n:
        raise TooLargeError(
            f"the problem's own evidence is too rare to draw cases: {total} of {MAX_DRAWS * n} "
            f"agree with it"
        )
    cases = {name: np.concatenate([part[name] for part in kept])[:n] for name in kept[0]}
    costs = apply_policy(policy, cases, time_limit=time_limit).total_cost
    assert costs is not None  # the target is among the columns
    return Simulated(float(costs.mean()), 1.96 * float(costs.std(ddof=1)) / math.sqrt(n), n)


def draw_cases(
    network: Network, n: int, rng: np.random.Generator
) -> dict[str, NDArray[np.object_]]:
    """Return n cases drawn from a network: a column of states for each node."""
    codes: dict[int, NDArray[np.intp]] = {}
    while len(codes) < len(network):
        for node, parents in enumerate(network.parents):
            if node not in codes and all(parent in codes for parent in parents):
                rows = network.tables[node][tuple(codes[parent] for parent in parents)]
                rows = np.broadcast_to(rows, (n, rows.shape[-1]))
                below = np.cumsum(rows, axis=1) < rng.random((n, 1))
                codes[node] = np.minimum(below.sum(axis=1), rows.shape[-1] - 1)
    return {
        name: np.array(network.states[node], dtype=object)[codes[node]]
        for node, name in enumerate(network.names)
    }
