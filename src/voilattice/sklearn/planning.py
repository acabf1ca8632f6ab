"""The policy of a classifier: complete, and ready in time.

Building a policy gets a part of the time of `fit`. The optimum is that over as many features as a
table of some states holds, those that matter most (`policy.focus`): so it does not depend on the
clock. Where the policy is not worked out, the greedy rule goes on (`policy.completion`), for
which there are some seconds even if the time is up. So whoever follows the policy plans around
missing cells, with a smaller table, and in the few states where there was no time for greedy.
"""

from __future__ import annotations

from voilattice.budgets import Deadline
from voilattice.errors import warn_user
from voilattice.model.problem import Problem
from voilattice.policy.completion import complete_policy
from voilattice.policy.focus import MAX_STATES_OF_VARIANT, find_planner
from voilattice.policy.optimal.plain import count_states
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import Limits, Solver

__all__ = ["plan_policy", "planner_around"]

SHARE_OF_POLICY = 1 / 3  # of all the time, at most, to build the policy
SHARE_OF_COMPLETION = 0.2  # of the time left, to complete it
LEAST_SECONDS = 1.0  # to build it, even if the time is up
LEAST_COMPLETION = 5.0  # seconds to complete it: without this a policy might buy nothing
QUICK = ("none", "markov-blanket", "greedy", "optimal")  # policies that take no time to plan again
MAX_REPLANNED = 20_000  # states; up to here, every policy is planned again


def plan_policy(problem: Problem, name: str, deadline: Deadline) -> Policy:
    """Return the policy of that name, completed, at the deadline or some seconds later."""
    left, seconds = deadline.seconds_left, deadline.seconds
    all_time = Deadline(None if left is None else max(left, LEAST_SECONDS))
    part = Deadline(
        None if seconds is None else max(SHARE_OF_POLICY * seconds, LEAST_SECONDS),
        all_time.share(1 - SHARE_OF_COMPLETION),
    )
    solver = find_planner(problem, name)
    policy = solver.build(problem, Limits(time_limit=part))
    left = all_time.seconds_left
    done = complete_policy(policy, time_limit=None if left is None else max(left, LEAST_COMPLETION))
    if done.open_share:
        warn_user(
            f"the policy is worked out for {1 - done.open_share:.1%} of the cases; others are "
            f"planned when they come, which takes longer; a larger time_limit helps"
        )
    return done


def planner_around(policy: Policy) -> Solver:
    """Return what plans for the cases of a policy in which cells are missing."""
    problem = policy.problem
    sizes = [len(problem.states(feature)) for feature in problem.features]
    is_quick = policy.name in QUICK or count_states(sizes) <= MAX_REPLANNED
    return find_planner(problem, policy.name if is_quick else "greedy", MAX_STATES_OF_VARIANT)
