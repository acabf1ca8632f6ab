r"""AO*: a best-first search with bounds, for problems whose states do not fit.

Every state has a lower and an upper bound on the least cost v(e) from there on. A state that is not
yet expanded has

    lower = min( EMC(e),  c + EMC(e, R) ),        upper = EMC(e),

where c is the lowest price of any feature that can still matter and can be acquired now, and
EMC(e, R) the expected EMC once all features that can still matter are known. (A policy that
acquires anything pays at least c. Its decisions cost on average at least as much as decisions that
know all of R.) If EMC(e, R) is too expensive to compute, 0 is used instead. Expanding a state finds
the outcomes of every step that is tried and their bounds, and then

    lower(e) = min( EMC(e), min_i C_i + Σ_x P(x | e) lower(e, x) ),

and the same for upper bounds. Both bounds are admissible by induction, and they only tighten.

Starting at the root, the search follows the feature with the lowest lower bound and its outcome
with the widest gap, until it reaches a state that is not yet expanded. It expands this state and
updates the bounds back to the root. It starts from policies that are quick to build, greedy-la
first, whose costs are upper bounds. It can stop at any time, when time or memory runs out: there is
always a policy that reaches the upper bounds, and the interval [lower, upper] of the root contains
the optimum. When the two bounds meet, this policy is optimal.

A step acquires a feature, or a bundle of features that can be cheaper together (`bundles_of`).
Where rounds count, a step may acquire any set. Steps are feasible and keep to the limits. With many
features not all sets are tried: then the lower bound of the search holds only for the steps that
it tries, and the bound for all policies is the one that is given to it (`at_least`).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from voilattice import time_plan
from voilattice.budgets import Deadline, memory_budget
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.acquisition import PathLimits
from voilattice.model.network import Table
from voilattice.model.problem import Problem
from voilattice.optimal.exact.bundles import MAX_OWN_PRICES, bundles_of
from voilattice.policy.builder import PolicyBuilder
from voilattice.policy.interface import MAX_POLICY_STATES
from voilattice.policy.policy import Acquisition, Certificate, Policy
from voilattice.policy.relevance import StateKey
from voilattice.policy.situation import LAZY_CELLS, Situation
from voilattice.ties import tolerance
from voilattice.valuation.tables import max_table_cells, root_table
from voilattice.valuation.valuation import expected_emc

__all__ = ["Search"]

BYTES_PER_NODE = 16_000  # of a node and its steps, measured
MAX_STREAMED = 1 << 28  # the most cells to compute for one bound
MAX_START_STATES = 20_000
MAX_SHALLOW = 20_000  # states that a limit on features leaves, counted as if all were binary
SOURCE = "The bound is the lowest price and the cost of deciding once everything is known."
GIVEN_SOURCE = "The bound is the optimum without limits, or a bound on it, and the cost of a round."


# A part of the table P(Y, R | e), and the features, by number, that are fixed in it.
_Part = tuple[Table, dict[int, int]]


@dataclass(slots=True)
class _Node:
    known: Mapping[str, str]
    left: PathLimits
    n_left: int  # |R|; children have fewer
    lower: float
    upper: float
    emc: float
    action: int = 0  # the mask to acquire to reach `upper`; 0: decide
    steps: list[tuple[int, float, list[tuple[float, StateKey]]]] | None = None
    parents: set[StateKey] = field(default_factory=set)


class Search:
    """A search for the optimal policy of a problem, with a deadline.

    Parameters
    ----------
    rules
        The rules of the policies to start from, greedy-la first.
    first
        A policy that is there already: what is found costs no more.
    deadline
        When to stop; by default, when the bounds meet.
    until
        When to stop the search, so that there is time to write the policy down.
    max_expansions
        Expand no more states than this.
    at_least
        What every policy costs at least, where that is known.
    """

    def __init__(
        self,
        problem: Problem,
        rules: Sequence[Callable[[Situation], int]],
        *,
        first: Policy | None = None,
        deadline: Deadline | None = None,
        until: Deadline | None = None,
        max_states: int = MAX_POLICY_STATES,
        max_expansions: int | None = None,
        progress: Callable[[int, tuple[float, float]], bool | None] | None = None,
        at_least: float = 0.0,
    ) -> None:
        self.problem = problem
        self._writing = deadline or Deadline()
        self._deadline = until or self._writing
        self._max_states = max_states
        self._builder = PolicyBuilder(problem, lazy=True, deadline=self._deadline)
        self._key = self._builder.relevance.key
        self._sets = _sets_to_try(problem)
        self._nodes: dict[StateKey, _Node] = {}
        self._start_cost: dict[StateKey, float] = {}
        self._start_action: dict[StateKey, int] = {}
        situation = self._builder.at(dict(problem.evidence), problem.limits)
        self._root = self._key(situation.known, problem.limits)
        (full,) = self._full(situation, [0])
        self._first = first
        self._least = float(full)  # no policy costs less, even if all features are free
        self._at_least = at_least
        for rule in rules:
            self._start(rule)
        self._tries_all = self._sets is not None
        self._add(self._root, situation.known, problem.limits, situation.emc, float(full))
        if first is not None:
            self._keep(first)
        self.n_expanded = 0
        self._run(max_expansions, progress)

    @property
    def lower(self) -> float:
        """No policy costs less."""
        root = self._nodes[self._root]
        tried = root.lower if self._tries_all else self._least
        return min(max(tried, self._at_least), root.upper)

    @property
    def upper(self) -> float:
        """The policy found costs no more."""
        return self._nodes[self._root].upper

    @property
    def action(self) -> int:
        """What the policy acquires first, as a mask; 0: it decides."""
        return self._nodes[self._root].action

    @property
    def exact(self) -> bool:
        """Whether no policy at all costs less."""
        return self.upper - self.lower <= tolerance(self._nodes[self._root].emc)

    @property
    def _is_settled(self) -> bool:
        """Whether no policy made of the steps that the search tries costs less."""
        root = self._nodes[self._root]
        return self.exact or root.upper - root.lower <= tolerance(root.emc)

    @property
    def certificate(self) -> Certificate:
        """What is known about the policy."""
        status = "ok" if self._is_settled else self._ended_by
        is_given = 0 < self.lower <= self._at_least  # 0: nothing is given
        note = "" if self.exact else GIVEN_SOURCE if is_given else SOURCE
        return Certificate(self.lower, self.exact, status, note)

    def policy(self, name: str) -> Policy:
        """Return the best policy found."""
        builder = PolicyBuilder(
            self.problem, max_states=self._max_states, lazy=True, deadline=self._writing
        )
        try:
            policy = builder.build(name, self._choose)
        except TooLargeError:
            if self._first is None:
                raise
            policy = self._first
        first = self._first
        if first is not None and first.expected_total_cost < policy.expected_total_cost:
            policy = first
        policy = replace(policy, name=name)
        # When the bounds meet, rounding can put the bound above the cost of the policy.
        lower = min(self.lower, policy.expected_total_cost)
        certificate = replace(self.certificate, lower_bound=lower)
        if policy.expected_total_cost > self.upper + tolerance(self._nodes[self._root].emc):
            # A policy that was not written to its end costs more than the one that was found.
            status = policy.status if self.certificate.status == "ok" else self.certificate.status
            certificate = replace(certificate, exact=False, status=status)
        return policy.certify(certificate)

    def _keep(self, policy: Policy) -> None:
        """Let the bounds of the root know of a policy."""
        root, node = self._nodes[self._root], policy.root
        if policy.expected_total_cost < root.upper:
            features = node.features if isinstance(node, Acquisition) else ()
            root.upper, root.action = (
                policy.expected_total_cost,
                self.problem.feature_mask(features),
            )
            root.lower = min(root.lower, root.upper)

    def _choose(self, situation: Situation) -> int:
        key = self._key(situation.known, situation.left)
        if key in self._nodes:
            return self._nodes[key].action
        return self._start_action.get(key, 0)

    def _start(self, rule: Callable[[Situation], int]) -> None:
        """Build a first policy; keep its cost and action at each state where it is the best."""
        deadline = self._deadline.share(time_plan.START_AO_STAR)
        starter = PolicyBuilder(
            self.problem, max_states=MAX_START_STATES, lazy=True, deadline=deadline
        )
        try:
            policy, numbers = starter.build_keyed("start", rule)
        except TooLargeError:
            return  # the policy is too large to build in the given time
        costs, first = policy.costs_to_go, self._first
        if len(policy.nodes) <= self._max_states and (
            first is None or policy.expected_total_cost < first.expected_total_cost
        ):
            self._first = policy
        for key, number in numbers.items():
            if costs[number] < self._start_cost.get(key, np.inf):
                node = policy.nodes[number]
                features = node.features if isinstance(node, Acquisition) else ()
                self._start_cost[key] = costs[number]
                self._start_action[key] = self.problem.feature_mask(features)

    def _run(
        self,
        max_expansions: int | None,
        progress: Callable[[int, tuple[float, float]], bool | None] | None,
    ) -> None:
        # Nodes are never removed: when the memory is full, the search stops with its bounds.
        max_nodes = max(memory_budget() // BYTES_PER_NODE, 1)
        while (
            not self._is_settled
            and not self._deadline.is_over
            and len(self._nodes) < max_nodes
            and (max_expansions is None or self.n_expanded < max_expansions)
        ):
            self._expand(self._most_promising())
            self.n_expanded += 1
            if progress is not None and progress(self.n_expanded, (self.lower, self.upper)):
                break
        self._ended_by = "memory" if len(self._nodes) >= max_nodes else "time"

    def _most_promising(self) -> StateKey:
        key = self._root
        while (steps := self._nodes[key].steps) is not None:
            _, _, outcomes = min(steps, key=lambda step: self._step_bounds(step)[0])
            key = max(outcomes, key=lambda outcome: outcome[0] * self._gap(outcome[1]))[1]
        return key

    def _gap(self, key: StateKey) -> float:
        return self._nodes[key].upper - self._nodes[key].lower

    def _step_bounds(
        self, step: tuple[int, float, list[tuple[float, StateKey]]]
    ) -> tuple[float, float]:
        _, price, outcomes = step
        lower = price + sum(p * self._nodes[key].lower for p, key in outcomes)
        upper = price + sum(p * self._nodes[key].upper for p, key in outcomes)
        return lower, upper

    def _expand(self, key: StateKey) -> None:
        node = self._nodes[key]
        situation = self._builder.at(node.known, node.left)
        steps = []
        sets = self._steps_from(situation)
        for chosen, full in zip(sets, self._full(situation, sets), strict=True):
            outcomes = []
            price = self._builder.cost(chosen, situation.known)
            left = node.left.after(price, chosen.bit_count())
            for p, known, emc, after in self._outlook(situation, chosen, full):
                child = self._key(known, left)
                self._add(child, known, left, emc, after)
                self._nodes[child].parents.add(key)
                outcomes.append((p, child))
            steps.append((chosen, price, outcomes))
        node.steps = steps
        self._carry_back(key)

    def _steps_from(self, situation: Situation) -> list[int]:
        """Return the sets that a step from here may acquire."""
        singles = [1 << k for k in bits(situation.alone)]
        if self._sets is None:
            best = situation.best()
            return [*singles, best] if best & (best - 1) else singles
        axes, feasibility = mask_of(situation.axes), self.problem.feasibility
        return singles + [
            s
            for s in self._sets
            if not s & ~axes
            and feasibility.is_feasible(s, situation.known)
            and situation.left.allows(self._builder.cost(s, situation.known), s.bit_count())
        ]

    def _outlook(
        self, situation: Situation, chosen: int, full: Table
    ) -> Iterator[tuple[float, Mapping[str, str], float, float]]:
        """Return P(x | e), the new evidence, EMC(e, x) and EMC(e, x, R), for every x."""
        problem, cost = self.problem, self.problem.misclassification
        names = [problem.features[k] for k in bits(chosen)]
        joint = situation.joint(chosen)
        for x in np.ndindex(joint.shape[1:]):
            p = float(joint[:, *x].sum())
            if p > 0:
                found = {f: problem.states(f)[v] for f, v in zip(names, x, strict=True)}
                emc = expected_emc(joint[:, *x] / p, cost)
                yield p, {**situation.known, **found}, emc, float(full[x]) / p

    def _full(self, situation: Situation, sets: Sequence[int]) -> list[Table]:
        """Return P(s | e) EMC(e, s, R) for every s of each set; 0 if that is too much work.

        It is also 0 where a limit allows so few features that all states can be expanded sooner.

        A table over R that does not fit is computed in parts, one for each value of some features.
        """
        sizes = [len(self.problem.states(self.problem.features[k])) for k in situation.axes]
        totals = [
            np.zeros([n for k, n in zip(situation.axes, sizes, strict=True) if s >> k & 1])
            for s in sets
        ]
        most = self.problem.limits.features
        if most is not None and _n_sets_of(most, len(sizes)) << most <= MAX_SHALLOW:
            return totals
        if situation.table is not None:
            parts: Iterable[tuple[Table, dict[int, int]]] = [
                (situation.table / situation.probability, {})
            ]
        elif math.prod(sizes) * len(self.problem.classes) > MAX_STREAMED:
            return totals
        else:
            parts = self._parts(situation, sizes)
        for table, fixed in parts:
            if fixed and self._deadline.is_over:
                return [np.zeros_like(total) for total in totals]
            risk = np.tensordot(self.problem.misclassification, table, axes=1).min(axis=0)
            for s, total in zip(sets, totals, strict=True):
                # In a part, the axes of the fixed features have length 1.
                rest = tuple(a for a, k in enumerate(situation.axes) if not s >> k & 1)
                here = tuple(fixed.get(k, slice(None)) for k in situation.axes if s >> k & 1)
                total[here] += risk.sum(axis=rest).reshape(total[here].shape)
        return totals

    def _parts(
        self, situation: Situation, sizes: Sequence[int]
    ) -> Iterator[tuple[Table, dict[int, int]]]:
        """Return the table P(Y, R | e) in parts that fit, and the features fixed in each part."""
        problem, n = self.problem, 0
        largest = min(max_table_cells(), LAZY_CELLS)
        while n < len(sizes) and len(problem.classes) * math.prod(sizes[n:]) > largest:
            n += 1
        first = situation.axes[:n]
        weights = situation.joint(mask_of(k for k in first)).sum(axis=0)
        for values in np.ndindex(weights.shape):
            if weights[values] > 0:
                found = {
                    problem.features[k]: problem.states(problem.features[k])[v]
                    for k, v in zip(first, values, strict=True)
                }
                root = root_table(problem, {**situation.known, **found}, situation.axes[n:])
                table = root.shaped * (weights[values] / root.probability)
                shape = (len(table), *(1 for _ in first), *root.sizes)
                yield table.reshape(shape), dict(zip(first, values, strict=True))

    def _add(
        self, key: StateKey, known: Mapping[str, str], left: PathLimits, emc: float, full: float
    ) -> None:
        if key in self._nodes:
            return
        relevant, _ = self._builder.relevance.what_matters(self.problem.feature_mask(known))
        sets = [1 << k for k in bits(relevant & self.problem.feasibility.alone(known))]
        # A set costs at least as much as what comes first in it. That is feasible by itself.
        if not self.problem.pricing.is_sum:  # a set may be cheaper than its parts
            sets += [s for s in self._sets or () if not s & ~relevant]
        prices = {s: self._builder.cost(s, known) for s in sets}
        allowed = (price for s, price in prices.items() if left.allows(price, s.bit_count()))
        cheapest = min(allowed, default=np.inf)
        upper, action = emc, 0
        if key in self._start_cost and self._start_cost[key] < emc:
            upper, action = self._start_cost[key], self._start_action.get(key, 0)
        lower = min(emc, cheapest + full)
        lower, n_left = min(lower, upper), relevant.bit_count()
        self._nodes[key] = _Node(known, left, n_left, lower, upper, emc, action)

    def _carry_back(self, key: StateKey) -> None:
        """Tighten the bounds of a node and of its ancestors, the nearest first."""
        numbered = 0
        queue: list[tuple[int, int, StateKey]] = [(self._nodes[key].n_left, 0, key)]
        waiting = {key}
        while queue:
            _, _, key = heapq.heappop(queue)
            waiting.discard(key)
            if self._tighten(self._nodes[key]):
                for parent in self._nodes[key].parents:
                    if parent not in waiting:
                        waiting.add(parent)
                        numbered += 1
                        heapq.heappush(queue, (self._nodes[parent].n_left, numbered, parent))

    def _tighten(self, node: _Node) -> bool:
        """Tighten the bounds of a node with those of its steps; return whether they changed."""
        assert node.steps is not None
        lower = node.emc
        upper, action = node.upper, node.action
        for step in node.steps:
            low, high = self._step_bounds(step)
            lower = min(lower, low)
            if high < upper:
                upper, action = high, step[0]
        lower = min(max(lower, node.lower), upper)
        changed = (lower, upper) != (node.lower, node.upper)
        node.lower, node.upper, node.action = lower, upper, action
        return changed


def _n_sets_of(most: int, n: int) -> int:
    """Return how many sets of up to `most` of n features there are."""
    return sum(math.comb(n, size) for size in range(most + 1))


def _sets_to_try(problem: Problem) -> list[int] | None:
    """Return the sets of several features that a step may have to acquire; None: too many."""
    if problem.pricing.is_sum and not problem.counts_rounds:
        return bundles_of(problem)
    n = len(problem.features)
    if n > MAX_OWN_PRICES:
        return None
    return [s for s in range(1 << n) if s.bit_count() > 1]
