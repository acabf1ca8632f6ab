"""The policy of a classifier is ready in time, and never buys nothing for want of time."""

import pytest

from voilattice import emc, load_problem
from voilattice.budgets import Deadline
from voilattice.cases.completion import planner_around
from voilattice.cases.focus import FocusedSolver
from voilattice.errors import DataWarning
from voilattice.sklearn import planning
from voilattice.sklearn.planning import plan_policy


@pytest.mark.parametrize("name", ["heart", "diabetes"])
def test_a_policy_without_time_still_buys_what_pays(name):
    problem = load_problem(name)
    policy = plan_policy(problem, "optimal", Deadline(0))
    assert policy.open_share < 0.05
    assert policy.expected_total_cost < 0.9 * emc(problem)


def test_a_policy_that_is_not_worked_out_warns(monkeypatch):
    monkeypatch.setattr(planning, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(planning, "LEAST_COMPLETION", 0.0)
    with pytest.warns(DataWarning, match=r"^the policy is worked out for \d+\.\d% of the cases"):
        policy = plan_policy(load_problem("hepatitis"), "greedy-la", Deadline(0))
    assert policy.open_share > 0
    assert policy.is_complete


def test_large_problems_are_planned_again_by_quick_policies():
    heart, asia = load_problem("heart"), load_problem("asia")
    assert planner_around(plan_policy(heart, "none", Deadline(5))).name == "none"
    assert planner_around(plan_policy(asia, "batch", Deadline(5))).name == "batch"
    assert planner_around(plan_policy(heart, "batch", Deadline(2))).name == "greedy"
    planner = planner_around(plan_policy(heart, "optimal", Deadline(2)))
    assert isinstance(planner, FocusedSolver)


def test_the_optimum_does_not_depend_on_the_clock():
    problem = load_problem("hepatitis")
    one, other = (plan_policy(problem, "optimal", Deadline(s)) for s in (20, 40))
    assert one.nodes == other.nodes
