"""The policy of a classifier is ready in time, and never buys nothing for want of time."""

import pytest

from voilattice import emc, load_problem
from voilattice.budgets import Deadline
from voilattice.sklearn.planning import find_planner, plan_policy


@pytest.mark.parametrize("name", ["heart", "diabetes"])
def test_a_policy_without_time_still_buys_what_pays(name):
    problem = load_problem(name)
    policy = plan_policy(problem, "optimal", Deadline(0))
    assert policy.open_share < 0.05
    assert policy.expected_total_cost < 0.9 * emc(problem)


def test_large_problems_are_planned_again_by_greedy():
    heart, asia = load_problem("heart"), load_problem("asia")
    assert find_planner(plan_policy(heart, "none", Deadline(5))) == "none"
    assert find_planner(plan_policy(asia, "optimal", Deadline(5))) == "optimal"
    assert find_planner(plan_policy(heart, "optimal", Deadline(2))) == "greedy"
