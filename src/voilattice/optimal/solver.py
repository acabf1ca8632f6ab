"""The optimal policy, behind the interface of a solver.

The problem is solved exactly if its states fit memory and a part of the time (`optimal.exact`).
Otherwise a search finds a policy and a bound (`optimal.anytime`). Whatever the clock does, the
policy costs no more than greedy's, as far as that was built (`anytime.quick_start`). A limit of
states is another matter: it cuts the optimum off, and the states beyond are left open. They are
planned when a case comes to them, but until then they count as decisions, so such a policy may
seem to cost more than greedy's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.model.acquisition import PathLimits
from voilattice.model.problem import Problem
from voilattice.optimal.exact.batch_solution import needs_batches
from voilattice.optimal.exact.choose import find_states, may_take_long, solve_exactly
from voilattice.optimal.exact.interface import ExactSolution
from voilattice.optimal.exact.swept import SweptStates
from voilattice.optimal.kept import KeptOptima
from voilattice.optimal.search.anytime import Found, quick_start, search_optimum
from voilattice.policy import rules
from voilattice.policy.builder import PolicyBuilder
from voilattice.policy.interface import Cost, Limits, Progress, Step
from voilattice.policy.policy import Certificate, Policy
from voilattice.policy.relevance import without_idle_limits
from voilattice.policy.sweep import Sweep

__all__ = ["OptimalSolver", "exact_step"]


class OptimalSolver:
    """The policy of least expected total cost."""

    name = "optimal"
    proves = True
    looks_ahead = False
    why_acquire = ""
    why_decide = "No further acquisitions are worth their price."

    # A search starts from these policies, which are quick to build.
    starts = (rules.greedy_la, rules.batch)

    def __init__(self) -> None:
        self._kept = KeptOptima()

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
        first = self._first(limited, limits, sweep)
        if (solution := self._solve(limited, deadline, sweep)) is None:
            policy = self._search(limited, limits, first, progress).policy(self.name)
            policy = replace(policy, problem=problem)
            ended_by = "time" if policy.status == "time" else "memory"
            return policy.admit_open(ended_by) if policy.open_share else policy
        builder = PolicyBuilder(problem, max_states=limits.max_states, deadline=deadline)
        policy = builder.build(
            self.name, lambda situation: solution.choose(situation.known, situation.left)
        )
        least, mine = _certificate(solution), policy.certificate
        # The two costs differ only by rounding, but a bound must not exceed the cost.
        bound = min(least.lower_bound or 0.0, policy.expected_total_cost)
        note = " ".join(filter(None, [mine.note, least.note]))
        exact = mine.exact and least.exact
        policy = policy.certify(replace(mine, lower_bound=bound, exact=exact, note=note))
        if (
            mine.status != "time"
        ):  # a limit of states leaves the optimum's open leaves to be planned
            return policy
        # There was no time to write the optimum to its end: then greedy may cost less.
        first = first or _quick_start(limited, limits)
        if first.expected_total_cost >= policy.expected_total_cost:
            return policy
        certificate = Certificate(bound, False, mine.status, least.note)
        quick = replace(first, problem=problem, name=self.name).certify(certificate)
        return quick.admit_open(mine.status)

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
        quick = self._first(problem, limits, sweep)
        solution = self._solve(problem, deadline, sweep, choices=with_first)
        if solution is not None:
            step = solution.choose({}, problem.limits) if with_first else None
            first = None if step is None else problem.feature_names(step)
            return Cost(solution.expected_total_cost, _certificate(solution), first=first)
        search = self._search(problem, limits, quick, writes=False)
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
            return exact_step(solution, known, problem.limits)
        search = self._search(replace(problem, evidence=known), limits, None, writes=False)
        return Step(problem.feature_names(search.action), search.upper, search.certificate)

    def solution_at(
        self,
        problem: Problem,
        evidence: Mapping[str, str] | None,
        limits: Limits,
        *,
        share: float | None = None,
    ) -> tuple[Problem, dict[str, str], ExactSolution | None]:
        """Return the exact optimum, or None: too large, with all that is known at the evidence.

        The problem that comes with it is the one that is solved: without limits that cannot bind.

        Parameters
        ----------
        share
            Of the time, for the exact solver; by default a search may follow.
        """
        if problem.limits:  # they are what is left at the evidence
            problem, evidence = without_idle_limits(problem.with_evidence(evidence)), {}
        known = problem.merge_evidence(evidence)
        return problem, known, self._solve_once(problem, limits.deadline, share)

    def _search(
        self,
        problem: Problem,
        limits: Limits,
        first: Policy | None,
        progress: Progress | None = None,
        *,
        writes: bool = True,
    ) -> Found:
        return search_optimum(
            problem, self.starts, first=first or _quick_start(problem, limits),
            deadline=limits.deadline, max_states=limits.max_states, writes=writes,
            progress=progress,
        )  # fmt: skip

    def _first(self, problem: Problem, limits: Limits, sweep: Sweep | None) -> Policy | None:
        """Return greedy's policy before the exact solver begins; None: there is no hurry."""
        is_timed = limits.deadline.seconds_left is not None
        # Where the states are found, what takes longest is done.
        is_found = sweep is not None and sweep.shared(SweptStates).are_found
        if is_found or not is_timed or not may_take_long(problem):
            return None
        kept, _ = self._kept.find(problem)
        return _quick_start(problem, limits) if kept is None else None

    def _solve_once(
        self, problem: Problem, deadline: Deadline, share: float | None
    ) -> ExactSolution | None:
        """Return the exact optimum; those of the problems asked about last are kept."""
        part = deadline.share(share or _share_of_exact(problem))
        left = part.seconds_left
        seconds = math.inf if left is None else left
        solution, tried = self._kept.find(problem)
        # Where the time was too short, a little more is too short as well.
        if solution is None and seconds > 2 * tried:
            self._kept.make_room()  # before the next one is solved
            begun = time.process_time()
            solution = self.solve(problem, part)
            # On a busy machine the time was shorter than the clock says.
            used = time.process_time() - begun
            self._kept.keep(problem, solution, min(seconds, used) if part.is_over else seconds)
        return solution

    def _solve(
        self, problem: Problem, deadline: Deadline, sweep: Sweep | None, *, choices: bool = True
    ) -> ExactSolution | None:
        """Return the exact optimum: one that is kept, or a new one that is not kept."""
        kept, _ = self._kept.find(problem)
        if sweep is None and kept is not None:
            return kept
        self._kept.make_room()
        part = deadline.share(_share_of_exact(problem))
        return self.solve(problem, part, sweep, choices=choices)

    @staticmethod
    def solve(
        problem: Problem,
        deadline: Deadline,
        sweep: Sweep | None = None,
        *,
        choices: bool = True,
    ) -> ExactSolution | None:
        """Return the exact optimum, or None if there are too many states for memory or time."""
        if deadline.is_over:
            return None
        try:
            if sweep is not None:
                states = sweep.shared(SweptStates)
                return states.solve(problem, deadline=deadline, choices=choices)
            space = find_states(problem, deadline=deadline)
            return solve_exactly(space, problem, choices=choices, deadline=deadline)
        except TooLargeError:
            return None


def exact_step(solution: ExactSolution, known: Mapping[str, str], left: PathLimits) -> Step:
    """Return what the exact optimum does at some evidence, with what is left of the limits."""
    to_go = solution.cost_to_go(known, left)
    chosen = solution.problem.feature_names(solution.choose(known, left))
    return Step(chosen, to_go, _rounded(to_go, solution.error(known)))


def _share_of_exact(problem: Problem) -> float:
    is_richer = bool(problem.limits) or needs_batches(problem)
    return time_plan.EXACT_BATCHES if is_richer else time_plan.EXACT


def _quick_start(problem: Problem, limits: Limits) -> Policy:
    return quick_start(problem, deadline=limits.deadline, max_states=limits.max_states)


def _certificate(solution: ExactSolution) -> Certificate:
    """Return what is known about the optimum from the start on."""
    return _rounded(solution.expected_total_cost, solution.error({}))


def _rounded(cost: float, error: float) -> Certificate:
    """Return the certificate of an optimum whose cost may be wrong by an error."""
    if not error:
        return Certificate(cost)
    note = "The GPU stores values in 32 bits, which rounds them."
    return Certificate(max(cost - error, 0.0), exact=False, note=note)
