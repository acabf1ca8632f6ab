"""Whatever stops the search for the optimum, greedy's policy is kept, and the bound holds."""

import numpy as np
import pytest
from helpers.problems import weak_bayes
from helpers.rich_worlds import PARTS, Referee, rich_problem

from voilattice import build_policy, emc, load_problem
from voilattice.budgets import Deadline
from voilattice.optimal import solver
from voilattice.optimal.exact.swept import SweptStates
from voilattice.optimal.search import anytime
from voilattice.optimal.search.anytime import quick_start, search_optimum
from voilattice.optimal.search.trials import Search
from voilattice.optimal.solver import OptimalSolver
from voilattice.policy.interface import Limits
from voilattice.policy.policy import Acquisition
from voilattice.policy.rules import batch, greedy_la
from voilattice.policy.solvers import solver_of
from voilattice.policy.sweep import Sweep


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
    result = search_optimum(
        problem, (greedy_la, batch), first=first, deadline=deadline, max_states=1000
    )
    policy = result.policy("optimal")
    assert result.upper <= first.expected_total_cost + 1e-9
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


@pytest.fixture(scope="module")
def large():
    """A problem whose states do not fit, and whose greedy policy has thousands of nodes."""
    problem = weak_bayes(40)
    greedy = build_policy(problem, "greedy", max_states=2000, time_limit=None)
    assert len(greedy.nodes) > 1990
    assert greedy.status == "memory"
    return problem


# A state takes one check. The exact solver and the bounds take some, so from some hundred checks on
# greedy alone has more states than are its part here.
@pytest.mark.parametrize(
    ("n_checks", "of_greedy"), [(0, 0), (5, 5), (20, 20), (100, 80), (900, 300)]
)
def test_a_large_problem_under_load_costs_no_more_than_greedy(large, n_checks, of_greedy):
    greedy = build_policy(large, "greedy", time_limit=Expiring(of_greedy))
    assert greedy.status == "time"
    assert of_greedy == 0 or greedy.expected_total_cost < emc(large)
    policy = build(large, Expiring(n_checks))
    assert policy.expected_total_cost <= greedy.expected_total_cost + 1e-9
    assert policy.expected_total_cost < emc(large)
    assert (policy.status, policy.exact) == ("time", False)
    step = solver_of("optimal").next_step(large, None, Limits(time_limit=Expiring(n_checks)))
    assert step.features
    assert step.cost_to_go <= greedy.expected_total_cost + 1e-9


def test_in_a_sweep_too_greedy_comes_before_the_exact_solver(large, monkeypatch):
    order, solve, deadline = [], SweptStates.solve, Deadline(1000.0)

    def quick(*args, **options):
        order.append("quick")
        return quick_start(*args, **options)

    def exact(states, problem, **options):
        order.append("exact")
        if problem is large:
            deadline.stop()
        return solve(states, problem, **options)

    monkeypatch.setattr(solver, "quick_start", quick)
    monkeypatch.setattr(SweptStates, "solve", exact)
    OptimalSolver().cost(large, Limits(100, deadline), sweep=Sweep(large))
    assert order == ["quick", "exact"]
    # Once the states are found, or without a limit, nothing is done before.
    heart = load_problem("heart")
    sweep, order[:] = Sweep(heart), []
    OptimalSolver().cost(heart, Limits(time_limit=None), sweep=sweep)
    OptimalSolver().cost(heart, Limits(time_limit=1000.0), sweep=sweep)
    assert order == ["exact", "exact"]


def test_greedy_la_comes_before_the_bounds_and_is_kept(monkeypatch):
    problem, deadline = load_problem("asia"), Deadline(1000.0)
    first = quick_start(problem, deadline=deadline, max_states=1000)
    ahead = build_policy(problem, "greedy-la").expected_total_cost
    assert ahead < 0.7 * first.expected_total_cost
    monkeypatch.setattr(Search, "reveal", lambda self, part: deadline.stop())
    policy = search_optimum(
        problem, (greedy_la,), first=first, deadline=deadline, max_states=1000
    ).policy("optimal")
    assert policy.status == "time"
    assert policy.expected_total_cost == pytest.approx(ahead)


def test_with_no_time_at_all_greedys_first_states_are_there(large):
    policy = build_policy(large, "optimal", time_limit=0)
    assert policy.expected_total_cost < build_policy(large, "none").expected_total_cost
    assert policy.lower_bound <= policy.expected_total_cost
    assert "no time for a search" in policy.certificate.note


@pytest.mark.parametrize("name", ["heart", "asia", "hepatitis"])
def test_a_limit_of_states_keeps_the_top_of_the_optimum(name):
    problem, optimal = load_problem(name), OptimalSolver()
    optimal.next_step(problem, None, Limits())  # the optimum is kept
    optimum = optimal.build(problem, Limits())
    for max_states in (1, 3, 8):
        policy = optimal.build(problem, Limits(max_states))
        assert policy.status == "memory"
        assert len(policy.nodes) <= max_states
        assert policy.lower_bound == pytest.approx(optimum.expected_total_cost)
        pairs = [(policy.root, optimum.root)]
        for mine, whole in pairs:
            if isinstance(mine, Acquisition):
                assert mine.features == whole.features
                pairs += [
                    (policy.nodes[a.child], optimum.nodes[b.child])
                    for a, b in zip(mine.branches, whole.branches, strict=True)
                ]
            else:
                assert mine.is_open or mine == whole


def test_a_search_that_must_be_compiled_begins_only_if_there_is_time(monkeypatch):
    monkeypatch.setattr(anytime, "are_ready", lambda loop: False)
    problem = load_problem("asia")
    assert anytime._new_search(problem, Deadline(anytime.SECONDS_TO_COMPILE / 2)) is None
    monkeypatch.setattr(anytime, "are_ready", lambda loop: True)
    monkeypatch.setattr(anytime, "is_loaded", lambda: True)
    assert anytime._new_search(problem, Deadline(anytime.SECONDS_TO_COMPILE / 2)) is not None
