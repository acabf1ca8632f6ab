"""The optimum over the features that matter most: exact, quick, and the same on every machine.

The exact optimum over all features may have too many states. A search then finds a policy that
depends on the clock. `FocusedSolver` does something plainer. It ranks the features once, hides the
last ones until a table of at most `max_states` states holds the rest, and solves that problem
exactly. The policy never acquires a hidden feature, so it is a policy of the whole problem, and
it costs there what it costs in the smaller one. If nothing has to be hidden, it is the optimum.

*The ranking.* Cases are drawn from the network, and the greedy policy is followed for them. The
features that it acquires most often come first. Features that it never acquires are ranked by what
they are worth alone for each unit of their price.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.model.costs import FeatureCosts, price_set
from voilattice.model.problem import Problem
from voilattice.policy.application import apply_policy
from voilattice.policy.interface import Cost, Limits, Progress, Step
from voilattice.policy.optimal.batch_solution import needs_batches
from voilattice.policy.optimal.exact import ExactSolution
from voilattice.policy.optimal.plain import count_states
from voilattice.policy.optimal.plain_solution import PlainSolution, PlainSpace
from voilattice.policy.policy import Certificate, Policy
from voilattice.policy.simulation import draw_cases
from voilattice.policy.solvers import OptimalSolver, Solver, solver_of
from voilattice.policy.sweep import Sweep
from voilattice.valuation.valuation import evi

__all__ = [
    "MAX_STATES",
    "MAX_STATES_OF_VARIANT",
    "FocusedSolver",
    "find_planner",
    "rank_features",
]

MAX_STATES = 30_000_000  # a table of this size takes a second
MAX_STATES_OF_VARIANT = 1_000_000
N_CASES = 100  # that are drawn for a ranking
LEAST_PRICE = 1e-9  # of a feature that costs nothing, in a ratio


def rank_features(problem: Problem, seed: int = 0) -> tuple[str, ...]:
    """Return the features, those that matter most first.

    >>> import voilattice
    >>> rank_features(voilattice.load_problem("heart"))[:3]
    ('cp', 'thal', 'age')
    """
    cases = draw_cases(problem.network, N_CASES, np.random.default_rng(seed))
    free = replace(problem, evidence={})
    found = apply_policy("greedy", cases, problem=free, strict=False, time_limit=None)
    n_bought = Counter(name for path in found.bought for name in path)
    worth = {
        name: evi(free, [name]) / max(price_set(free.costs, frozenset({name}), {}), LEAST_PRICE)
        for name in free.features
        if not n_bought[name]
    }
    order = {name: k for k, name in enumerate(free.features)}
    return tuple(
        sorted(order, key=lambda name: (-n_bought[name], -worth.get(name, 0.0), order[name]))
    )


def find_planner(problem: Problem, policy: str, max_states: int = MAX_STATES) -> Solver:
    """Return the solver of a policy; for the optimum, one that needs at most so many states."""
    return FocusedSolver(problem, max_states) if policy == FocusedSolver.name else solver_of(policy)


class FocusedSolver(OptimalSolver):
    """The optimal policy over as many features as a table of some states holds.

    Parameters
    ----------
    problem
        The features are ranked for this problem. Those of its variants, with other evidence or
        without some features, have the same ranks.
    max_states
        The states of the table. That of a variant has `MAX_STATES_OF_VARIANT` at most, because
        there may be many of them: one for each set of missing cells.
    """

    def __init__(self, problem: Problem, max_states: int = MAX_STATES) -> None:
        super().__init__()
        self.max_states = max_states
        self._problem = problem
        self._last: tuple[Problem, Problem] | None = None  # a problem, and its focus

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """The features, those that matter most first."""
        return rank_features(self._problem)

    def focus(self, problem: Problem, known: Mapping[str, str] | None = None) -> Problem:
        """Return the problem with the features hidden that the table does not hold.

        Which ones does not depend on evidence, so that all cases in one state do the same. But what
        is known, in addition to the problem's own evidence, is not hidden.
        """
        last = self._last  # another thread may exchange it
        if not known and last is not None and last[0] is problem:
            return last[1]
        own = self._problem.evidence
        sizes = {name: len(problem.states(name)) for name in problem.features if name not in own}
        is_whole = len(problem.features) == len(self._problem.features) and problem.evidence == own
        most = self.max_states if is_whole else min(self.max_states, MAX_STATES_OF_VARIANT)
        small = problem
        if count_states(list(sizes.values())) > most:
            kept: list[str] = []
            for name in self.ranking:
                if name in sizes and count_states([sizes[f] for f in (*kept, name)]) <= most:
                    kept.append(name)
            seen = {*kept, *problem.evidence, *(known or {})}
            small = problem.without(sizes.keys() - seen)
        if not known:
            self._last = problem, small
        return small

    def build(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        progress: Progress | None = None,
    ) -> Policy:
        """Return the policy; its certificate says whether it is the optimum."""
        small = self.focus(problem)
        policy = super().build(small, limits, progress=progress)
        if small is problem:
            return policy
        certificate = self._admit(problem, small, policy.certificate)
        return Policy(problem, self.name, policy.nodes, certificate)

    def cost(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        with_first: bool = False,
    ) -> Cost:
        """Return what the policy costs."""
        small = self.focus(problem)
        found = super().cost(small, limits, with_first=with_first)
        if small is problem:
            return found
        return replace(found, certificate=self._admit(problem, small, found.certificate))

    def next_step(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> Step:
        """Return what the policy acquires at some evidence."""
        small = self.focus(problem)
        if any(name not in small.features for name in evidence or {}):
            small = self.focus(problem, evidence)
        step = super().next_step(small, evidence, limits)
        return step if small is problem else replace(step, certificate=Certificate(exact=False))

    @staticmethod
    def solve(
        problem: Problem,
        deadline: Deadline,
        sweep: Sweep | None = None,
        *,
        choices: bool = True,
    ) -> ExactSolution | None:
        """Return the exact optimum; the clock is not looked at where a plain table will do."""
        try:
            if isinstance(problem.costs, FeatureCosts) and not (
                problem.limits or needs_batches(problem)
            ):
                return PlainSolution(PlainSpace(problem, engine="compiled"), problem)
        except TooLargeError:
            pass
        return OptimalSolver.solve(problem, deadline, sweep, choices=choices)

    @staticmethod
    def _admit(problem: Problem, small: Problem, certificate: Certificate) -> Certificate:
        """Return a certificate of the whole problem: nothing is proved of the hidden features."""
        n, n_all = len(small.features), len(problem.features)
        note = f"The optimum over the {n} of {n_all} features that matter most. {certificate.note}"
        return Certificate(None, exact=False, status="memory", note=note.strip())
