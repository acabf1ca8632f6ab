"""The policy of a classifier: complete, and ready in time.

Building a policy gets a part of the time of `fit`. A search for the optimum also ends when it has
found nothing better for a while. Where the policy is not worked out, the greedy rule goes on
(`policy.completion`), for which there are some seconds even if the time is up. So whoever follows
the policy plans around missing cells, and in the few states where there was no time for greedy.
"""

from __future__ import annotations

import math
import time

from voilattice.budgets import Deadline
from voilattice.errors import warn_user
from voilattice.model.problem import Problem
from voilattice.policy.completion import complete_policy
from voilattice.policy.optimal.plain import count_states
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import build_policy
from voilattice.valuation.valuation import emc

__all__ = ["find_planner", "plan_policy"]

SHARE_OF_POLICY = 1 / 3  # of all the time, at most, to build the policy
SHARE_OF_COMPLETION = 0.2  # of the time left, to complete it
LEAST_SECONDS = 1.0  # to build it, even if the time is up
LEAST_COMPLETION = 5.0  # seconds to complete it: without this a policy might buy nothing
LEAST_GAIN = 1e-3  # of the cost of deciding at once: a search that gains less is at its end ...
PATIENCE = 2.0  # ... after this many seconds, and as long again as it took to come there
QUICK = ("none", "markov-blanket", "greedy")  # policies that take no time to plan again
MAX_REPLANNED = 20_000  # states; up to here, every policy is planned again


def plan_policy(problem: Problem, name: str, deadline: Deadline) -> Policy:
    """Return the policy of that name, completed, at the deadline or some seconds later."""
    left, seconds = deadline.seconds_left, deadline.seconds
    all_time = Deadline(None if left is None else max(left, LEAST_SECONDS))
    part = Deadline(
        None if seconds is None else max(SHARE_OF_POLICY * seconds, LEAST_SECONDS),
        all_time.share(1 - SHARE_OF_COMPLETION),
    )
    policy = build_policy(problem, name, time_limit=part, progress=_Patience(emc(problem)))
    left = all_time.seconds_left
    done = complete_policy(policy, time_limit=None if left is None else max(left, LEAST_COMPLETION))
    if done.open_share:
        warn_user(
            f"the policy is worked out for {1 - done.open_share:.1%} of the cases; others are "
            f"planned when they come, which takes longer; a larger time_limit helps"
        )
    return done


def find_planner(policy: Policy) -> str:
    """Return the policy that plans for the cases of this one in which cells are missing."""
    problem = policy.problem
    sizes = [len(problem.states(feature)) for feature in problem.features]
    is_quick = policy.name in QUICK or count_states(sizes) <= MAX_REPLANNED
    return policy.name if is_quick else "greedy"


class _Patience:
    """Ends a search that has found nothing better for a while."""

    def __init__(self, at_once: float) -> None:
        self._least_gain, self._best = LEAST_GAIN * at_once, math.inf
        self._began = self._gained = 0.0

    def __call__(self, n_states: int, interval: tuple[float, float] | None) -> bool:
        if interval is None:  # of a rule, which has nothing to search for
            return False
        now, (_, upper) = time.monotonic(), interval
        self._began = self._began or now
        if upper < self._best - self._least_gain:
            self._best, self._gained = upper, now
        return now - self._gained > PATIENCE + (self._gained - self._began)
