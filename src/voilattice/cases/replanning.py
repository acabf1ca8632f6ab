"""What a policy does from some evidence on, worked out as it is asked for.

A case that leaves the tree of its policy goes on as a solver says. The solver is asked once for
each evidence that cases come to. When the time is over, the greedy rule goes on: it is quick, and
it never acquires what is not worth its price. A policy that only decides needs no time, so the
greedy rule never goes on for it.

What a case does depends on its own evidence alone, never on the cases beside it. So cases that
differ only in what no longer matters are not merged here: the evidence of one may be impossible
where that of another is not, and sums in another order round differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import price_set
from voilattice.model.problem import Problem
from voilattice.policy import rules
from voilattice.policy.builder import PolicyBuilder
from voilattice.policy.policy import Acquisition, Leaf
from voilattice.policy.solvers import Limits, RuleSolver, Solver

__all__ = ["Move", "Plan", "QuickRule"]

MAX_CELLS = 1 << 12  # of a table for the greedy rule; two passes over a join tree take as long


class QuickRule:
    """The greedy rule at any evidence of a problem; what all evidence shares is computed once.

    `is_positive` says that no evidence is impossible.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.is_positive = all(table.all() for table in problem.network.tables)
        self._situations = PolicyBuilder(problem, max_cells=MAX_CELLS)

    def next_step(self, known: Mapping[str, str], left: PathLimits) -> frozenset[str]:
        """Return what to acquire at some evidence, the problem's own included; empty: decide.

        `left` is what is left of the limits there.
        """
        return self.problem.feature_names(rules.greedy(self._situations.at(known, left)))


class Move(NamedTuple):
    """What a case does next. An acquisition has no branches: its outcomes are asked about next."""

    node: Acquisition | Leaf
    is_late: bool  # the time was over, so the greedy rule chose it


class Plan:
    """What a policy does from some evidence on.

    Parameters
    ----------
    quick
        The greedy rule of the problem, which goes on when the time is over.
    known
        The evidence to start from, the problem's own included. The solver plans from there on, so
        it need not solve what lies before it.
    """

    def __init__(
        self, quick: QuickRule, solver: Solver, deadline: Deadline, known: Mapping[str, str]
    ) -> None:
        self._problem, self._quick, self._deadline = quick.problem, quick, deadline
        self._solver, self._known = solver, known
        self._is_greedy = isinstance(solver, RuleSolver) and solver.rule is rules.greedy
        self._moves: dict[tuple[frozenset[tuple[str, str]], PathLimits], Move] = {}

    def move(self, known: Mapping[str, str], left: PathLimits) -> Move | None:
        """Return what to do at some evidence, the problem's own included; None: it is impossible.

        `left` is what is left of the limits there.
        """
        key = frozenset(known.items()), left
        if key not in self._moves:
            if not (self._quick.is_positive or self._problem.joint(known).any()):
                return None
            step, is_late = self._ask(known, left)
            self._moves[key] = Move(self._node(step, known), is_late)
        return self._moves[key]

    def _node(self, step: frozenset[str], known: Mapping[str, str]) -> Acquisition | Leaf:
        problem = self._problem
        if step:
            features = tuple(name for name in problem.features if name in step)
            return Acquisition(features, price_set(problem.costs, step, known), ())
        joint = problem.joint(known)
        return Leaf.at(problem, joint / joint.sum())

    def _ask(self, known: Mapping[str, str], left: PathLimits) -> tuple[frozenset[str], bool]:
        """Return what to acquire, and whether the greedy rule said so because the time was over."""
        if self._deadline.is_over and self._only_decides:
            return frozenset(), False
        if self._is_greedy or self._deadline.is_over:
            return self._quick.next_step(known, left), not self._is_greedy
        limits = Limits(time_limit=self._deadline.share(time_plan.REPLANNED_STEP))
        start = replace(self._start, limits=left) if self._problem.limits else self._start
        step = self._solver.next_step(start, start.further(known), limits)
        if step.features or step.certificate.status != "time":
            return step.features, False
        # There was no time to look for anything. What the greedy rule acquires is worth its price.
        return self._quick.next_step(known, left), True

    @cached_property
    def _only_decides(self) -> bool:
        return isinstance(self._solver, RuleSolver) and self._solver.only_decides(self._problem)

    @cached_property
    def _start(self) -> Problem:
        return self._problem.with_evidence(self._problem.further(self._known))
