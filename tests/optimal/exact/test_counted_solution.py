"""The optimum with a limit on features, counted down over merged states.

That it is the optimum is tested against a literal referee in tests/oracles/test_rich_worlds.py.
"""

from dataclasses import replace

import pytest
from helpers.problems import chain, noisy_bayes, rare_findings
from helpers.rich_worlds import rich_problem

from voilattice import build_policy, emc, load_problem, memory_limit
from voilattice.model.acquisition import PathLimits
from voilattice.optimal.exact.batch_solution import BatchSolution, BatchSpace
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.optimal.exact.counted_solution import CountedSolution
from voilattice.optimal.exact.space import StateSpace


def limited(problem, n_features):
    return replace(problem, limits=PathLimits(features=n_features))


@pytest.mark.parametrize("engine", ["python", "compiled"])
@pytest.mark.parametrize("seed", range(20))
def test_merged_states_and_all_states_give_the_same_optimum(seed, engine):
    problem = rich_problem(seed, ("groups", "discounts", "constraints", "decisions"))
    for n_features in range(4):
        here = limited(problem, n_features)
        every = BatchSolution(BatchSpace(here, engine=engine), here)
        space = find_states(here, engine=engine)
        found = solve_exactly(space, here)
        assert found.expected_total_cost == pytest.approx(every.expected_total_cost, abs=1e-9)


def test_states_are_merged():
    """In a chain only the last value matters: the states are few, whatever was acquired before."""
    problem = limited(chain(12), 5)
    space = find_states(problem)
    assert isinstance(space, StateSpace)
    assert isinstance(solve_exactly(space, problem), CountedSolution)
    assert space.n_states < 100


@pytest.mark.slow
def test_a_limit_on_hepatitis_is_solved_exactly():
    hepatitis = load_problem("hepatitis")
    costs = []
    for n_features in (0, 2, 5):
        policy = build_policy(limited(hepatitis, n_features), "optimal")
        assert policy.exact
        assert policy.depth <= n_features
        costs.append(policy.expected_total_cost)
    assert costs[0] == pytest.approx(emc(hepatitis))
    assert costs[0] > costs[1] > costs[2]


def test_findings_too_rare_for_the_tables_are_solved_from_their_own_evidence():
    problem = limited(rare_findings(1e-70, chain=False), 5)
    known = {f"X{k}": "a" for k in range(4)}
    solution = solve_exactly(find_states(problem), problem)
    there = solution.cost_to_go(known, PathLimits(features=1))
    alone = build_policy(limited(problem.with_evidence(known), 1), "optimal")
    assert there == pytest.approx(alone.expected_total_cost, rel=1e-9)
    none = solution.cost_to_go(known, PathLimits(features=0))
    assert none == pytest.approx(emc(problem, known), rel=1e-9)
    assert solution.choose(known, PathLimits(features=0)) == 0


def test_a_problem_that_does_not_fit_is_left_to_others():
    problem = limited(noisy_bayes(9), 3)
    proved = build_policy(problem, "optimal")
    assert proved.exact
    with memory_limit(2_000_000):
        policy = build_policy(problem, "optimal", time_limit=5)
    assert policy.lower_bound <= proved.expected_total_cost + 1e-9
    assert policy.expected_total_cost >= proved.expected_total_cost - 1e-9
