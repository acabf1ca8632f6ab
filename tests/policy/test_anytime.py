"""Whatever stops the search for the optimum, greedy's policy is kept, and the bound holds."""

import numpy as np
import pytest
from helpers.problems import noisy_bayes
from helpers.rich_worlds import PARTS, Referee, rich_problem

from voilattice import build_policy
from voilattice.budgets import Deadline
from voilattice.policy.interface import Limits
from voilattice.policy.optimal.anytime import quick_start, search_optimum
from voilattice.policy.optimal.solver import OptimalSolver
from voilattice.policy.rules import batch, greedy_la
from voilattice.policy.solvers import solver_of


class Expiring(Deadline):
    """A deadline that is over from its n-th check on."""

    def __init__(self, n_checks):
        super().__init__(1000.0)
        self.n_checks = n_checks

    @property
    def end(self):
        self.n_checks -= 1
        return super().end if self.n_checks >= 0 else -np.inf


def count_checks(problem, run):
    deadline = Expiring(10**9)
    run(problem, deadline)
    return 10**9 - deadline.n_checks


def build(problem, deadline):
    return OptimalSolver().build(problem, Limits(time_limit=deadline))


def search(problem, deadline):
    first = quick_start(problem, deadline=deadline, max_states=1000)
    found = search_optimum(
        problem, (greedy_la, batch), first=first, deadline=deadline, max_states=1000
    )
    policy = found.policy("optimal")
    assert found.upper <= first.expected_total_cost + 1e-9
    return policy


# Single prices are for the search over a join tree, all parts together for AO*.
@pytest.mark.parametrize("run", [build, search])
@pytest.mark.parametrize(
    "parts", [(), ("groups", "discounts"), PARTS], ids=["plain", "shared", "all"]
)
@pytest.mark.parametrize("seed", range(4))
def test_a_policy_that_was_stopped_at_any_check_costs_no_more_than_greedy(seed, parts, run):
    problem = rich_problem(seed, parts)
    referee = Referee(problem)
    optimum = referee.optimum()
    greedy = build_policy(problem, "greedy").expected_total_cost
    none = build_policy(problem, "none").expected_total_cost
    n_checks = count_checks(problem, run)
    rng = np.random.default_rng(seed)
    for n in {0, 1, 2, n_checks - 1, *rng.integers(3, max(n_checks, 4), 6).tolist()}:
        policy = run(problem, Expiring(n))
        assert policy.expected_total_cost <= min(greedy, none) + 1e-9
        assert policy.lower_bound - 1e-9 <= optimum <= policy.expected_total_cost + 1e-9
        assert referee.follow(policy) == pytest.approx(policy.expected_total_cost)
        assert not policy.exact or policy.expected_total_cost == pytest.approx(optimum)


@pytest.mark.parametrize("n_checks", [0, 1, 5, 20, 100])
def test_a_large_problem_under_load_is_never_decided_at_once(n_checks):
    problem = noisy_bayes(40)
    greedy = build_policy(problem, "greedy")
    assert greedy.exact
    policy = build(problem, Expiring(n_checks))
    assert policy.expected_total_cost <= greedy.expected_total_cost + 1e-9
    assert not policy.exact
    assert policy.status == "time"
    step = solver_of("optimal").next_step(problem, None, Limits(time_limit=Expiring(n_checks)))
    assert step.features
    assert step.cost_to_go <= greedy.expected_total_cost + 1e-9


def test_with_no_time_at_all_greedys_first_states_are_there():
    problem = noisy_bayes(40)
    policy = build_policy(problem, "optimal", time_limit=0)
    assert policy.expected_total_cost < build_policy(problem, "none").expected_total_cost
    assert policy.lower_bound <= policy.expected_total_cost
    assert "no time for a search" in policy.certificate.note


@pytest.mark.parametrize("max_states", [1, 5, 30])
def test_a_limit_of_states_does_not_make_the_optimum_dearer_than_greedy(max_states):
    for seed in range(6):
        problem = rich_problem(seed, ("groups",))
        greedy = build_policy(problem, "greedy", max_states=max_states)
        optimal = build_policy(problem, "optimal", max_states=max_states)
        assert optimal.expected_total_cost <= greedy.expected_total_cost + 1e-9
        assert len(optimal.nodes) <= max_states
