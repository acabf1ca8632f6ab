r"""AO*: the optimal policy where its states do not fit, by best-first search with bounds.

Every state has a lower and an upper bound on the least cost v(e) from there on. A state that has
not been looked into has

    lower = min( EMC(e),  c + EMC(e, R) ),        upper = EMC(e),

where c is the lowest price of any feature that can still matter and EMC(e, R) the expected EMC once
all of them are known. (A policy that acquires anything pays c at least; whatever it acquires, its
decisions cost no less on average than those made knowing all of R.) Where EMC(e, R) is too dear to
find, 0 stands for it. Looking into a state gives, for every feature of R, its outcomes and their
bounds, and then

    lower(e) = min( EMC(e), min_i C_i + Σ_x P(x | e) lower(e, x) ),

and the same for upper bounds. Both are admissible by induction, and tighten.

The search follows the feature of lowest lower bound, and of its outcomes the one that leaves the
widest gap, to a state not looked into; looks into it; and carries what changed back to the root. It
starts from policies that are quickly built, greedy-la first, whose costs are upper bounds. It can
be stopped at any time, for want of time or memory: the policy that the upper bounds stand for is at
hand, and the interval [lower, upper] of the root holds the optimum. When they meet, it is the
optimum.

A step acquires a feature, or a bundle of features that can be cheaper together (`bundles_of`).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from voilattice.budgets import Deadline, memory_budget
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.costs import FeatureCosts
from voilattice.model.network import Table
from voilattice.model.problem import Problem
from voilattice.policy.optimal.bundles import MAX_OWN_PRICES, bundles_of
from voilattice.policy.policy import Acquisition, Certificate, Policy
from voilattice.policy.relevance import StateKey
from voilattice.policy.situations import LAZY_CELLS, MAX_POLICY_STATES, PolicyBuilder, Situation
from voilattice.ties import tolerance
from voilattice.valuation.tables import max_table_cells, root_table
from voilattice.valuation.valuation import expected_emc

__all__ = ["Search"]

BYTES_PER_NODE = 16_000  # what a node and its steps take, by measurement
MAX_STREAMED = 1 << 28  # cells that a bound may cost
MAX_START_STATES = 20_000
SHARE_OF_START = 0.4  # of the time that is left, for each policy to start from


# A part of the table P(Y, R | e), and the features, by number, that are fixed in it.
_Part = tuple[Table, dict[int, int]]


@dataclass(slots=True)
class _Node:
    known: Mapping[str, str]
    n_left: int  # |R|: children have fewer
    lower: float
    upper: float
    emc: float
    action: int = 0  # the mask of what to acquire for `upper`; 0: decide
    steps: list[tuple[int, float, list[tuple[float, StateKey]]]] | None = None
    parents: set[StateKey] = field(default_factory=set)


class Search:
    """A search for the optimal policy of a problem, to be run for some time.

    Parameters
    ----------
    rules
        Those of the policies to start from, greedy-la's first.
    deadline
        When to stop; by default, when the bounds meet.
    max_expansions
        Look into no more states than this.
    """

    def __init__(
        self,
        problem: Problem,
        rules: Sequence[Callable[[Situation], int]],
        *,
        deadline: Deadline | None = None,
        max_states: int = MAX_POLICY_STATES,
        max_expansions: int | None = None,
        progress: Callable[[int, tuple[float, float]], None] | None = None,
    ) -> None:
        self.problem = problem
        self._deadline = deadline or Deadline()
        self._builder = PolicyBuilder(problem, max_states=max_states, lazy=True)
        self._key = self._builder.relevance.key
        self._bundles = bundles_of(problem)
        self._nodes: dict[StateKey, _Node] = {}
        self._start_cost: dict[StateKey, float] = {}
        self._start_action: dict[StateKey, int] = {}
        situation = self._builder.at(dict(problem.evidence))
        self._root = self._key(situation.known)
        (full,) = self._full(situation, [0])
        self._least = float(full)  # whatever is acquired, and for however little
        for rule in rules:
            self._start(rule)
        # Many prices of a user's own: not every set that could be cheap together is tried.
        self._tries_all = (
            isinstance(problem.costs, FeatureCosts) or len(problem.features) <= MAX_OWN_PRICES
        )
        self._add(self._root, situation.known, situation.emc, float(full))
        self.n_expanded = 0
        self._run(max_expansions, progress)

    @property
    def lower(self) -> float:
        """No policy costs less."""
        root = self._nodes[self._root]
        return min(root.lower if self._tries_all else self._least, root.upper)

    @property
    def upper(self) -> float:
        """The policy costs no more."""
        return self._nodes[self._root].upper

    @property
    def action(self) -> int:
        """What the policy acquires first, as a mask; 0: it decides."""
        return self._nodes[self._root].action

    @property
    def exact(self) -> bool:
        """Whether no policy at all costs less."""
        return self._tries_all and self._is_settled

    @property
    def _is_settled(self) -> bool:
        """Whether no policy made of the steps that are tried here costs less."""
        root = self._nodes[self._root]
        return root.upper - root.lower <= tolerance(root.emc)

    @property
    def certificate(self) -> Certificate:
        """What is known of the policy."""
        return Certificate(self.lower, self.exact, "ok" if self._is_settled else self._ended_by)

    def policy(self, name: str) -> Policy:
        """Return the best policy found."""
        policy = self._builder.build(name, self._choose)
        # The bound and the cost of the policy differ by rounding where they meet.
        lower = min(self.lower, policy.expected_total_cost)
        return replace(policy, certificate=replace(self.certificate, lower_bound=lower))

    def _choose(self, situation: Situation) -> int:
        key = self._key(situation.known)
        if key in self._nodes:
            return self._nodes[key].action
        return self._start_action.get(key, 0)

    def _start(self, rule: Callable[[Situation], int]) -> None:
        """Find what a first policy costs and does at each of its states; keep what is best."""
        deadline = self._deadline.share(SHARE_OF_START)

        def in_time(situation: Situation) -> int:
            return 0 if deadline.is_over else rule(situation)

        starter = PolicyBuilder(
            self.problem, max_states=MAX_START_STATES, lazy=True, deadline=deadline
        )
        try:
            policy, numbers = starter.build_keyed("start", in_time)
        except TooLargeError:
            return  # to write it down would take longer than there is time
        costs = policy.costs_to_go
        for key, number in numbers.items():
            if costs[number] < self._start_cost.get(key, np.inf):
                node = policy.nodes[number]
                features = node.features if isinstance(node, Acquisition) else ()
                self._start_cost[key] = costs[number]
                self._start_action[key] = self.problem.feature_mask(features)

    def _run(
        self,
        max_expansions: int | None,
        progress: Callable[[int, tuple[float, float]], None] | None,
    ) -> None:
        # A node keeps its place when memory ends: then the search ends, and says how far it came.
        max_nodes = max(memory_budget() // BYTES_PER_NODE, 1)
        while (
            not self._is_settled
            and not self._deadline.is_over
            and len(self._nodes) < max_nodes
            and (max_expansions is None or self.n_expanded < max_expansions)
        ):
            self._expand(self._most_promising())
            self.n_expanded += 1
            if progress is not None:
                progress(self.n_expanded, (self.lower, self.upper))
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
        situation = self._builder.at(node.known)
        steps = []
        left = mask_of(k for k in situation.axes)
        sets = [1 << k for k in situation.axes] + [s for s in self._bundles if not s & ~left]
        for chosen, full in zip(sets, self._full(situation, sets), strict=True):
            outcomes = []
            for p, known, emc, after in self._outlook(situation, chosen, full):
                child = self._key(known)
                self._add(child, known, emc, after)
                self._nodes[child].parents.add(key)
                outcomes.append((p, child))
            steps.append((chosen, self._builder.cost(chosen, situation.known), outcomes))
        node.steps = steps
        self._carry_back(key)

    def _outlook(
        self, situation: Situation, chosen: int, full: Table
    ) -> Iterator[tuple[float, Mapping[str, str], float, float]]:
        """Return P(x | e), what is known then, EMC(e, x) and EMC(e, x, R), for every x."""
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
        """Return P(s | e) EMC(e, s, R) for every s of each set; 0 where that is too much work.

        A table over R that does not fit is made in parts, one for each value of some features.
        """
        sizes = [len(self.problem.states(self.problem.features[k])) for k in situation.axes]
        totals = [
            np.zeros([n for k, n in zip(situation.axes, sizes, strict=True) if s >> k & 1])
            for s in sets
        ]
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
                # Of a part, the axes of what is fixed have length 1.
                rest = tuple(a for a, k in enumerate(situation.axes) if not s >> k & 1)
                here = tuple(fixed.get(k, slice(None)) for k in situation.axes if s >> k & 1)
                total[here] += risk.sum(axis=rest).reshape(total[here].shape)
        return totals

    def _parts(
        self, situation: Situation, sizes: Sequence[int]
    ) -> Iterator[tuple[Table, dict[int, int]]]:
        """Return the table P(Y, R | e) in parts that fit, and what each is a part for."""
        problem, n = self.problem, 0
        largest = min(max_table_cells(), LAZY_CELLS)
        while len(problem.classes) * math.prod(sizes[n:]) > largest:
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

    def _add(self, key: StateKey, known: Mapping[str, str], emc: float, full: float) -> None:
        if key in self._nodes:
            return
        relevant, _ = self._builder.relevance.what_matters(self.problem.feature_mask(known))
        sets = [1 << k for k in bits(relevant)]
        if not isinstance(self.problem.costs, FeatureCosts):  # a set may be cheaper than its parts
            sets += [s for s in self._bundles if not s & ~relevant]
        cheapest = min((self._builder.cost(s, known) for s in sets), default=np.inf)
        upper, action = emc, 0
        if key in self._start_cost and self._start_cost[key] < emc:
            upper, action = self._start_cost[key], self._start_action.get(key, 0)
        lower = min(emc, cheapest + full)
        self._nodes[key] = _Node(known, relevant.bit_count(), min(lower, upper), upper, emc, action)

    def _carry_back(self, key: StateKey) -> None:
        """Tighten the bounds of a node, and of those that lead to it, the nearest first."""
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
        """Tighten the bounds of a node by those of its steps; return whether they changed."""
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
