"""What a policy does at any evidence, worked out as it is asked for.

A case that leaves the tree of its policy goes on as the solver of the policy says. The solver is
asked once for each state (`policy.relevance`), and only about the states that cases come to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from voilattice.budgets import Deadline
from voilattice.errors import InputError
from voilattice.feature_sets import bits
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import price_set
from voilattice.model.network import Table
from voilattice.model.problem import Problem
from voilattice.policy.policy import Acquisition, Leaf
from voilattice.policy.relevance import Relevance, StateKey
from voilattice.policy.solvers import Limits, OptimalSolver, RuleSolver, Solver

__all__ = ["Plan"]

SHARE_OF_STEP = 0.25  # of the time left, for one question to the solver


class Plan:
    """What a policy does at any evidence, worked out as it is asked for."""

    def __init__(self, problem: Problem, solver: Solver, deadline: Deadline) -> None:
        self._problem, self._solver, self._deadline = problem, solver, deadline
        # Only of the solvers here is it known that they forget what no longer matters.
        forgets = isinstance(self._solver, OptimalSolver) or (
            isinstance(self._solver, RuleSolver) and self._solver.forgets
        )
        self._relevance = Relevance(problem, forgets=forgets)
        self._nodes: dict[StateKey, Acquisition | Leaf] = {}
        self._start = problem

    def start_from(self, known: Mapping[str, str]) -> None:
        """Have the solver plan from some evidence on: it need not solve what lies before it."""
        self._start = self._problem
        with suppress(InputError):  # evidence that is impossible, as `node` says
            self._start = self._problem.with_evidence(self._problem.further(known))

    def what_matters(self, bought: Sequence[str]) -> list[str]:
        """Return which of the features that were bought still matter."""
        problem = self._problem
        known = problem.feature_mask(bought) | problem.feature_mask(problem.evidence)
        _, kept = self._relevance.what_matters(known)
        return [name for k in bits(kept) if (name := problem.features[k]) in bought]

    def node(self, known: Mapping[str, str], left: PathLimits) -> Acquisition | Leaf | None:
        """Return the acquisition or the decision at some evidence, the problem's own included.

        `left` is what is left of the limits there.

        An acquisition has no branches: its outcomes lead to evidence that is asked about next. A
        leaf is open where the time was over. None: the evidence is impossible.
        """
        key = self._relevance.key(known, left)
        if key not in self._nodes:
            joint = self._problem.joint(known)
            if not joint.any():
                return None
            self._nodes[key] = self._ask(known, left, joint / joint.sum())
        return self._nodes[key]

    def _ask(self, known: Mapping[str, str], left: PathLimits, belief: Table) -> Acquisition | Leaf:
        problem, start = self._problem, self._start
        if self._deadline.is_over:
            return Leaf.at(problem, belief, is_open=True)
        limits = Limits(time_limit=self._deadline.share(SHARE_OF_STEP))
        if problem.limits:
            start = replace(start, limits=left)
        step = self._solver.next_step(start, start.further(known), limits)
        features = tuple(name for name in problem.features if name in step.features)
        if not features:
            return Leaf.at(problem, belief)
        return Acquisition(features, price_set(problem.costs, step.features, known), ())
