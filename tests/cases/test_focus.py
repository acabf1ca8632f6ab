"""The optimum over fewer features is a policy of the whole problem, exact in the smaller one."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.problems import chain, noisy_bayes, weak_bayes
from helpers.strategies import possible_knowledge, problems
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Network, Problem, build_policy, load_problem, memory_limit
from voilattice.cases.application import apply_policy
from voilattice.cases.focus import MAX_STATES_OF_BATCHES, FocusedSolver, find_planner, rank_features
from voilattice.cases.tables import draw_cases
from voilattice.model.acquisition import PathLimits
from voilattice.optimal.exact.plain import count_states
from voilattice.optimal.exact.plain_solution import PlainSolution
from voilattice.policy.interface import Limits
from voilattice.policy.solvers import RuleSolver, solver_of
from voilattice.ties import tolerance

FOREVER = Limits(time_limit=None)


def n_states(problem):
    unknown = [name for name in problem.features if name not in problem.evidence]
    return count_states([len(problem.states(name)) for name in unknown])


@examples(60)
@given(problems(), st.sampled_from([1, 3, 10, 40]))
def test_a_focused_policy_costs_what_the_optimum_of_fewer_features_costs(problem, most):
    solver = FocusedSolver(problem, most)
    small = solver.focus(problem)
    assert n_states(small) <= max(most, 1)
    best = build_policy(small, "optimal").expected_total_cost
    whole = build_policy(problem, "optimal").expected_total_cost
    policy = solver.build(problem, FOREVER)
    assert policy.problem == problem
    assert policy.expected_total_cost == pytest.approx(best, abs=1e-9)
    assert policy.expected_total_cost >= whole - tolerance(whole)
    assert solver.cost(problem, FOREVER).expected_total_cost == pytest.approx(best, abs=1e-9)
    assert policy.exact == (small is problem)
    if small is problem:
        assert best == pytest.approx(whole, abs=1e-9)


@examples(40)
@given(problems(), st.sampled_from([3, 10]))
def test_steps_at_any_evidence_acquire_what_can_be_acquired(problem, most):
    solver = FocusedSolver(problem, most)
    for known in list(possible_knowledge(problem))[:20]:
        if not problem.joint(known).any():
            continue
        further = problem.further(known)
        step = solver.next_step(problem, further, FOREVER)
        assert step.features <= set(problem.features) - set(known)


def test_more_states_never_cost_more_than_fewer():
    problem = load_problem("heart")
    sizes = (1, 100, 10_000)
    costs = [
        FocusedSolver(problem, most).cost(problem, FOREVER).expected_total_cost for most in sizes
    ]
    assert all(more < fewer for fewer, more in pairwise(costs))


def test_features_that_greedy_acquires_most_often_come_first():
    heart = load_problem("heart")
    cases = draw_cases(heart.network, 100, np.random.default_rng(0))
    bought = [f for path in apply_policy("greedy", cases, problem=heart).bought for f in path]
    ranking = rank_features(heart)
    counts = [bought.count(name) for name in ranking]
    assert counts == sorted(counts, reverse=True)
    assert set(ranking) == set(heart.features)


def test_features_that_greedy_never_acquires_come_by_their_worth_for_each_unit_of_price():
    # Alone, A tells less than B, and B less than C; for its price A tells most, and C nothing.
    signs = {"A": 0.525, "B": 0.65, "C": 0.95, "D": 0.5}
    network = Network.from_tables(
        {name: ["T", "F"] for name in ("Y", *signs)},
        {name: ["Y"] for name in signs},
        {"Y": [0.5, 0.5], **{f: [[p, 1 - p], [1 - p, p]] for f, p in signs.items()}},
    )
    prices = {"D": 0.0, "C": 90.0, "B": 2.0, "A": 0.26}
    problem = Problem.create(network, "Y", prices, [[0, 10], [10, 0]], features=tuple("DCBA"))
    assert build_policy(problem, "greedy").n_acquisitions == 0
    assert rank_features(problem) == ("A", "B", "C", "D")
    assert rank_features(problem) is rank_features(problem)  # it is worked out once


def test_a_table_of_just_so_many_states_is_used():
    problem = noisy_bayes(4)  # two states each, or unknown
    for most, n_kept in [(81, 4), (80, 3), (27, 3), (26, 2), (9, 2), (8, 1), (3, 1), (2, 0)]:
        small = FocusedSolver(problem, most).focus(problem)
        assert len(small.features) == n_kept
        assert small.features == tuple(
            f for f in problem.features if f in rank_features(problem)[:n_kept]
        )


def test_what_fits_is_proved_and_what_is_hidden_is_not():
    problem = noisy_bayes(4)
    for most, is_exact in [(81, True), (9, False)]:
        solver = FocusedSolver(problem, most)
        assert solver.focus(problem) is solver.focus(problem)  # found once
        assert (solver.focus(problem) is problem) == is_exact
        assert solver.build(problem, FOREVER).exact == is_exact
        assert solver.cost(problem, FOREVER).certificate.exact == is_exact
        assert solver.next_step(problem, None, FOREVER).certificate.exact == is_exact


@pytest.mark.parametrize("limits", [{"features": 1}, {"rounds": 1}, {"spend": 1.5}, {}])
@pytest.mark.parametrize("round_cost", [0.0, 0.125])
def test_limits_and_rounds_are_kept(limits, round_cost):
    plain = replace(noisy_bayes(4), misclassification=[[0, 90], [50, 0]])
    costs = replace(plain.costs, round_cost=round_cost)
    problem = replace(plain, costs=costs, limits=PathLimits(**limits))
    want = build_policy(problem, "optimal").expected_total_cost
    found = FocusedSolver(problem).build(problem, FOREVER)
    assert found.expected_total_cost == pytest.approx(want, abs=1e-9)
    if limits or round_cost:
        assert want > build_policy(plain, "optimal").expected_total_cost + 1e-6


def test_where_a_plain_table_will_do_the_clock_is_not_looked_at():
    solution = FocusedSolver.solve(noisy_bayes(4), Limits(time_limit=0.0).deadline)
    assert isinstance(solution, PlainSolution)


def test_a_variant_with_a_limit_on_features_has_no_more_states_than_one_with_rounds():
    problem = replace(weak_bayes(10), limits=PathLimits(features=3))
    variant = problem.with_evidence({problem.features[0]: "low"})
    assert n_states(variant) > MAX_STATES_OF_BATCHES
    assert n_states(FocusedSolver(problem).focus(variant)) <= MAX_STATES_OF_BATCHES


def test_without_memory_for_a_plain_table_there_may_be_other_states():
    problem = chain(9)  # few states, and many partial assignments
    with memory_limit(40_000):
        solution = FocusedSolver.solve(problem, Limits().deadline)
    assert solution is not None
    assert not isinstance(solution, PlainSolution)


def test_other_policies_have_their_own_solvers():
    heart = load_problem("heart")
    assert find_planner(heart, "batch", 10) is solver_of("batch")
    assert isinstance(find_planner(heart, "greedy"), RuleSolver)


def test_cases_are_followed_around_missing_cells():
    problem = noisy_bayes(8)
    cases = draw_cases(problem.network, 50, np.random.default_rng(1))
    first = problem.features[0]
    cases[first] = np.where(np.arange(50) % 2, None, cases[first])
    planner = FocusedSolver(problem, 3**5)
    found = apply_policy("optimal", cases, problem=problem, planner=planner, time_limit=None)
    for row, path in enumerate(found.bought.tolist()):
        assert first not in path or cases[first][row] is not None
    assert not found.unfinished.any()


def test_a_step_of_the_whole_problem_without_a_time_limit_is_counted_in_states(monkeypatch):
    problem = replace(weak_bayes(10), limits=PathLimits(rounds=2))
    assert n_states(problem) > MAX_STATES_OF_BATCHES
    solved = []

    def solve(small, deadline, sweep=None, *, choices=True):
        solved.append(small)

    monkeypatch.setattr(FocusedSolver, "solve", staticmethod(solve))
    monkeypatch.setattr(FocusedSolver, "_search", None)  # a search without a deadline may not end
    solver = FocusedSolver(problem)
    assert solver.focus(problem) is problem  # which must not be taken for that of the step
    step = solver.next_step(problem, None, FOREVER)
    assert [n_states(small) <= MAX_STATES_OF_BATCHES for small in solved] == [True]
    assert step.features == solver_of("greedy").next_step(problem, None, FOREVER).features != set()
    monkeypatch.undo()
    assert FocusedSolver(problem).focus(problem) is problem  # with a time limit nothing is hidden
