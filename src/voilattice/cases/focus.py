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
from functools import lru_cache

import numpy as np

from voilattice.budgets import Deadline
from voilattice.cases.replanning import QuickRule
from voilattice.cases.tables import draw_cases
from voilattice.errors import TooLargeError
from voilattice.model.costs import price_set
from voilattice.model.problem import Problem
from voilattice.optimal.exact.batch_solution import needs_batches
from voilattice.optimal.exact.interface import ExactSolution
from voilattice.optimal.exact.plain import count_states
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace
from voilattice.optimal.solver import OptimalSolver
from voilattice.policy.interface import Cost, Limits, Progress, Step
from voilattice.policy.policy import Certificate, Policy
from voilattice.policy.solvers import Solver, solver_of
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
MAX_STATES_OF_BATCHES = 20_000  # of a variant with limits or rounds, which take longer
N_CASES = 100  # that are drawn for a ranking
MAX_RANKINGS = 16  # that are kept
LEAST_PRICE = 1e-9  # of a feature that costs nothing, in a ratio


@lru_cache(maxsize=MAX_RANKINGS)
def rank_features(problem: Problem, seed: int = 0) -> tuple[str, ...]:
    """Return the features, those that matter most first.

    >>> import voilattice
    >>> rank_features(voilattice.load_problem("heart"))[:3]
    ('cp', 'thal', 'age')
    """
    free = replace(problem, evidence={})
    n_bought = _count_greedy(free, seed)
    worth = {
        name: evi(free, [name]) / max(price_set(free.costs, frozenset({name}), {}), LEAST_PRICE)
        for name in free.features
        if not n_bought[name]
    }
    order = {name: k for k, name in enumerate(free.features)}
    return tuple(
        sorted(order, key=lambda name: (-n_bought[name], -worth.get(name, 0.0), order[name]))
    )


def _count_greedy(problem: Problem, seed: int) -> Counter[str]:
    """Return how often the greedy policy acquires each feature, in cases that are drawn."""
    cases = draw_cases(problem.network, N_CASES, np.random.default_rng(seed))
    quick, n_bought = QuickRule(problem), Counter[str]()
    for row in range(N_CASES):
        known: dict[str, str] = {}
        left = problem.limits
        while features := quick.next_step(known, left):
            n_bought.update(features)
            left = left.after(price_set(problem.costs, features, known), len(features))
            known |= {name: cases[name][row] for name in features}
    return n_bought


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
        there may be many variants: one for each set of missing cells. With limits or rounds it has
        `MAX_STATES_OF_BATCHES`, and so has that of the whole problem if a step has no time limit.
    """

    def __init__(self, problem: Problem, max_states: int = MAX_STATES) -> None:
        super().__init__()
        self.max_states = max_states
        self._problem = problem
        # A problem, the most states of its table, and its focus.
        self._last: tuple[Problem, int, Problem] | None = None

    @property
    def ranking(self) -> tuple[str, ...]:
        """The features, those that matter most first."""
        return rank_features(self._problem)

    def focus(self, problem: Problem, known: Mapping[str, str] | None = None) -> Problem:
        """Return the problem with the features hidden that the table does not hold.

        Which ones does not depend on evidence, so that all cases in one state do the same. But what
        is known, in addition to the problem's own evidence, is not hidden.
        """
        return self._focus(problem, self._most_states(problem, is_timed=True), known)

    def _focus(
        self, problem: Problem, most: int, known: Mapping[str, str] | None = None
    ) -> Problem:
        last = self._last  # another thread may exchange it
        if not known and last is not None and last[0] is problem and last[1] == most:
            return last[-1]
        own, small = self._problem.evidence, problem
        sizes = {name: len(problem.states(name)) for name in problem.features if name not in own}
        if count_states(list(sizes.values())) > most:
            kept: list[str] = []
            for name in self.ranking:
                if name in sizes and count_states([sizes[f] for f in (*kept, name)]) <= most:
                    kept.append(name)
            seen = {*kept, *problem.evidence, *(known or {})}
            small = problem.without(sizes.keys() - seen)
        if not known:
            self._last = problem, most, small
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
        """Return what the policy acquires at some evidence.

        What a variant takes is counted in states: the clock is not looked at. The same holds for
        the whole problem if there is no time limit. If the optimum does not fit memory even so, the
        greedy rule takes the step.
        """
        is_timed = self._is_whole(problem) and limits.deadline.seconds_left is not None
        most = self._most_states(problem, is_timed=is_timed)
        small = self._focus(problem, most)
        if any(name not in small.features for name in evidence or {}):
            small = self._focus(problem, most, evidence)
        if not is_timed:
            limits = Limits(time_limit=None)
            if self.solution_at(small, evidence, limits)[-1] is None:
                return solver_of("greedy").next_step(problem, evidence, limits)
        step = super().next_step(small, evidence, limits)
        return step if small is problem else replace(step, certificate=Certificate(exact=False))

    def _is_whole(self, problem: Problem) -> bool:
        """Return whether this is the problem itself, and no variant of it."""
        own = self._problem
        return len(problem.features) == len(own.features) and problem.evidence == own.evidence

    def _most_states(self, problem: Problem, *, is_timed: bool) -> int:
        """Return how many states the table of a problem may have."""
        is_plain = _has_plain_table(problem)
        if self._is_whole(problem) and (is_plain or is_timed):
            return self.max_states
        return min(self.max_states, MAX_STATES_OF_VARIANT if is_plain else MAX_STATES_OF_BATCHES)

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
            if _has_plain_table(problem):
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


def _has_plain_table(problem: Problem) -> bool:
    """Return whether a plain table of all partial assignments gives the optimum."""
    return problem.pricing.is_sum and not (problem.limits or needs_batches(problem))
