"""The policy of a classifier is ready in time, and never buys nothing for want of time."""

from types import SimpleNamespace

import pytest

from voilattice import budgets, emc, load_problem, time_plan
from voilattice.budgets import Deadline
from voilattice.cases.completion import planner_around
from voilattice.cases.focus import FocusedSolver
from voilattice.errors import DataWarning
from voilattice.policy.solvers import build_policy
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
    with pytest.warns(DataWarning, match="^the policy is worked out for ") as told:
        policy = plan_policy(load_problem("hepatitis"), "greedy-la", Deadline(0))
    assert policy.open_share > 0
    assert f"worked out for {1 - policy.open_share:.1%} of the cases" in str(told[0].message)
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


@pytest.mark.parametrize(
    ("seconds", "to_build", "to_complete"),
    [
        (None, None, None),
        (60.0, 60.0 * time_plan.CLASSIFIER_POLICY, 60.0),
        (planning.LEAST_SECONDS, (1 - time_plan.COMPLETION) * planning.LEAST_SECONDS,
         planning.LEAST_COMPLETION),
        (0.0, (1 - time_plan.COMPLETION) * planning.LEAST_SECONDS, planning.LEAST_COMPLETION),
    ],
)  # fmt: skip
def test_building_leaves_time_to_complete(monkeypatch, seconds, to_build, to_complete):
    given, policy = [], build_policy(load_problem("figure1"), "none")

    def build(problem, limits):
        given.append(limits.time_limit.seconds_left)
        return policy

    def complete(policy, time_limit):
        given.append(time_limit)
        return policy

    monkeypatch.setattr(budgets, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(planning, "find_planner", lambda *_: SimpleNamespace(build=build))
    monkeypatch.setattr(planning, "complete_policy", complete)
    assert plan_policy(policy.problem, "optimal", Deadline(seconds)) is policy
    assert given == [to_build and pytest.approx(to_build), to_complete]
