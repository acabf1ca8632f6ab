"""The policy of a classifier: complete, and ready in time.

Building a policy gets a part of the time of `fit`. The optimum is that over as many features as a
table of some states holds, those that matter most (`cases.focus`): so it does not depend on the
clock. The policy is complete (`cases.completion`): whatever was not worked out in time, each case
has one answer.
"""

from __future__ import annotations

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.cases.completion import SUCCESSOR, complete_policy
from voilattice.cases.focus import find_planner
from voilattice.errors import warn_user
from voilattice.model.problem import Problem
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import Limits

__all__ = ["plan_policy"]

LEAST_SECONDS = 1.0  # to build it, even if the time is up
LEAST_COMPLETION = 5.0  # seconds to complete it, because a tree is followed quickly


def plan_policy(problem: Problem, name: str, deadline: Deadline) -> Policy:
    """Return the policy of that name, completed, at the deadline or some seconds later."""
    left, seconds = deadline.seconds_left, deadline.seconds
    all_time = Deadline(None if left is None else max(left, LEAST_SECONDS))
    part = Deadline(
        None if seconds is None else max(time_plan.CLASSIFIER_POLICY * seconds, LEAST_SECONDS),
        all_time.share(1 - time_plan.COMPLETION),
    )
    solver = find_planner(problem, name)
    policy = solver.build(problem, Limits(time_limit=part))
    left = all_time.seconds_left
    done = complete_policy(policy, time_limit=None if left is None else max(left, LEAST_COMPLETION))
    if done.open_share:
        warn_user(
            f"the policy is worked out for {1 - done.open_share:.1%} of the cases; in the others "
            f"the {SUCCESSOR} policy goes on, step by step; a larger time_limit helps"
        )
    return done
