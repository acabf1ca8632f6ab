"""Simulate policies: cases drawn from the network, and what a policy costs on them.

The mean cost estimates the expected total cost, which `Policy.expected_total_cost` gives exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import TimeLimit
from voilattice.cases.application import apply_policy, as_policy
from voilattice.cases.tables import draw_cases
from voilattice.errors import InputError, TooLargeError
from voilattice.model.problem import Problem
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import TIME_LIMIT
from voilattice.samples import standard_error

__all__ = ["Simulated", "simulate"]

# Cases that contradict the evidence are drawn again, at most this many times.
MAX_DRAWS = 1_000


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
    time_limit: TimeLimit = TIME_LIMIT,
) -> Simulated:
    """Estimate the expected total cost on cases drawn from the network.

    Cases that contradict the problem's own evidence are drawn again. The policy, the problem and
    the time limit are as in `apply_policy`.
    """
    policy = as_policy(policy, problem)
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
    error = standard_error(costs)
    assert error is not None  # there are two cases or more
    return Simulated(float(costs.mean()), 1.96 * error, n)
