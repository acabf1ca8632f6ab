"""The optimal policy, behind the interface of a solver.

The problem is solved exactly if its states fit memory and a part of the time (`optimal.exact`).
Otherwise a search finds a policy and a bound (`optimal.anytime`).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

from voilattice.budgets import Deadline, memory_budget
from voilattice.engines import preferred_engine
from voilattice.errors import TooLargeError
from voilattice.model.costs import FeatureCosts
from voilattice.model.problem import Problem
from voilattice.policy import rules
from voilattice.policy.interface import Cost, Limits, Progress, Step
from voilattice.policy.optimal.anytime import Found, search_optimum
from voilattice.policy.optimal.batch_solution import needs_batches
from voilattice.policy.optimal.exact import ExactSolution, find_states, solve_exactly
from voilattice.policy.policy import Certificate, Policy
from voilattice.policy.relevance import without_idle_limits
from voilattice.policy.situations import PolicyBuilder
from voilattice.policy.sweep import Sweep

__all__ = ["OptimalSolver"]

# Of the time, for the exact solver; after that the search begins. The search for rounds and limits
# is weak, so the exact solver gets more of the time there.
SHARE_OF_EXACT = 0.25
SHARE_OF_BATCHES = 0.6

# Optima that are kept for other evidence: a server answers about several problems in turn.
MAX_KEPT = 8
MAX_KEPT_STATES = 2_000_000


class OptimalSolver:
    """The policy of least expected total cost."""

    name = "optimal"
    looks_ahead = False
    why_acquire = ""
    why_decide = "No further acquisitions are worth their price."

    # A search starts from these policies, which are quick to build.
    starts = (rules.greedy_la, rules.batch)

    def __init__(self) -> None:
        # By problem: its optimum, or None if the seconds there were for it did not suffice.
        self._kept: OrderedDict[object, tuple[ExactSolution | None, float]] = OrderedDict()

    def build(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        progress: Progress | None = None,
    ) -> Policy:
        """Return the policy, with its certificate."""
        deadline, limited = limits.deadline, without_idle_limits(problem)
        if (solution := self._solve(limited, deadline, sweep)) is None:
            found = self._search(limited, limits, progress).policy(self.name)
            found = replace(found, problem=problem)
            ended_by = "time" if found.status == "time" else "memory"
            return found.admit_open(ended_by) if found.open_share else found
        builder = PolicyBuilder(problem, max_states=limits.max_states, deadline=deadline)
        policy = builder.build(
            self.name, lambda situation: solution.choose(situation.known, situation.left)
        )
        least, mine = _certificate(solution, {}), policy.certificate
        # The two costs differ only by rounding, but a bound must not exceed the cost.
        bound = min(least.lower_bound or 0.0, policy.expected_total_cost)
        note = " ".join(filter(None, [mine.note, least.note]))
        exact = mine.exact and least.exact
        return policy.certify(replace(mine, lower_bound=bound, exact=exact, note=note))

    def cost(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        with_first: bool = False,
    ) -> Cost:
        """Return what the policy costs; the exact solver does not build the policy for this.

        Parameters
        ----------
        with_first
            Whether to say what the policy acquires first (`Cost.first`), which takes longer.
        """
        deadline, problem = limits.deadline, without_idle_limits(problem)
        solution = self._solve(problem, deadline, sweep, choices=with_first)
        if solution is not None:
            found = solution.expected_total_cost
            step = solution.choose({}, problem.limits) if with_first else None
            first = None if step is None else problem.feature_names(step)
            return Cost(found, _certificate(solution, {}), first=first)
        search = self._search(problem, limits, writes=False)
        first = problem.feature_names(search.action) if with_first else None
        return Cost(search.upper, search.certificate, first=first)

    def next_step(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> Step:
        """Return what the policy acquires at some evidence.

        The exact solver solves the problem once and uses the solution for other evidence too. A
        search begins at the evidence.
        """
        problem, known, solution = self.solution_at(problem, evidence, limits)
        if solution is not None:
            to_go = solution.cost_to_go(known, problem.limits)
            chosen = problem.feature_names(solution.choose(known, problem.limits))
            return Step(chosen, to_go, _certificate(solution, known))
        search = self._search(replace(problem, evidence=known), limits, writes=False)
        return Step(problem.feature_names(search.action), search.upper, search.certificate)

    def solution_at(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> tuple[Problem, dict[str, str], ExactSolution | None]:
        """Return the exact optimum, or None: too large, with all that is known at the evidence.

        The problem that comes with it is the one that is solved: without limits that cannot bind.
        """
        if problem.limits:  # they are what is left at the evidence
            problem, evidence = without_idle_limits(problem.with_evidence(evidence)), {}
        known = problem.merge_evidence(evidence)
        return problem, known, self._solve_once(problem, limits, limits.deadline)

    def _search(
        self,
        problem: Problem,
        limits: Limits,
        progress: Progress | None = None,
        *,
        writes: bool = True,
    ) -> Found:
        return search_optimum(
            problem, self.starts, deadline=limits.deadline, max_states=limits.max_states,
            writes=writes, progress=progress,
        )  # fmt: skip

    def _solve_once(
        self, problem: Problem, limits: Limits, deadline: Deadline
    ) -> ExactSolution | None:
        """Return the exact optimum; those of the problems asked about last are kept."""
        # Where the time was too short, a little more is too short as well.
        left = deadline.seconds_left
        seconds = math.inf if left is None else left
        key = _key(problem)
        solution, tried = self._kept.pop(key, (None, 0.0))
        if solution is None and seconds > 2 * tried:
            self._make_room()  # before the next one is solved
            solution, tried = self.solve(problem, deadline), seconds
        self._kept[key] = solution, tried
        return solution

    def _solve(
        self, problem: Problem, deadline: Deadline, sweep: Sweep | None, *, choices: bool = True
    ) -> ExactSolution | None:
        """Return the exact optimum: one that is kept, or a new one that is not kept."""
        kept, _ = self._kept.get(_key(problem), (None, 0.0))
        if sweep is None and kept is not None:
            return kept
        self._make_room()
        return self.solve(problem, deadline, sweep, choices=choices)

    def _make_room(self) -> None:
        """Drop the optima that were asked for longest ago, if they have many states."""
        n_states = sum(s.space.n_states for s, _ in self._kept.values() if s is not None)
        while self._kept and (len(self._kept) >= MAX_KEPT or n_states > MAX_KEPT_STATES):
            _, (dropped, _) = self._kept.popitem(last=False)
            n_states -= 0 if dropped is None else dropped.space.n_states

    @staticmethod
    def solve(
        problem: Problem,
        deadline: Deadline,
        sweep: Sweep | None = None,
        *,
        choices: bool = True,
    ) -> ExactSolution | None:
        """Return the exact optimum, or None if there are too many states for memory or time."""
        try:
            is_priced = isinstance(problem.costs, FeatureCosts)
            is_richer = is_priced and (bool(problem.limits) or needs_batches(problem))
            part = deadline.share(SHARE_OF_BATCHES if is_richer else SHARE_OF_EXACT)
            if sweep is not None:
                return sweep.solve(problem, deadline=part, choices=choices)
            space = find_states(problem, deadline=part)
            return solve_exactly(space, problem, choices=choices, deadline=part)
        except TooLargeError:
            return None


def _key(problem: Problem) -> object:
    """Return what an optimum depends on: what one budget cannot hold, another one may."""
    return problem, memory_budget(), preferred_engine()


def _certificate(solution: ExactSolution, known: Mapping[str, str]) -> Certificate:
    """Return what is known about the optimum from some evidence on."""
    to_go = solution.cost_to_go(known, solution.problem.limits) if known else None
    least = solution.expected_total_cost if to_go is None else to_go
    if not (error := solution.error(known)):
        return Certificate(least)
    note = "The GPU stores values in 32 bits, which rounds them."
    return Certificate(max(least - error, 0.0), exact=False, note=note)
