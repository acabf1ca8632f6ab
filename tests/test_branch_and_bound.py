from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems
from table_dp import optimal_cost

from voilattice import Network, Problem, load_problem
from voilattice.branch_and_bound import Search
from voilattice.inference import memory_limit
from voilattice.policies import RULES, build_optimal, build_policy

GREEDY_LA = RULES["greedy-la"]


def slack(cost):
    return 1e-9 * max(1.0, cost)


@settings(max_examples=100)
@given(problem=problems(max_features=4), n=st.integers(0, 25))
def test_stopped_at_any_moment_the_interval_holds_the_optimum(problem, n):
    want = optimal_cost(problem, largest=4)
    search = Search(problem, GREEDY_LA, max_expansions=n)
    assert search.n_expanded <= n
    assert search.lower - slack(want) <= want <= search.upper + slack(want)
    cost = search.policy("found").expected_total_cost
    assert want - slack(want) <= cost <= search.upper + slack(want)
    assert cost <= build_policy(problem, "greedy-la").expected_total_cost + slack(want)


@settings(max_examples=100)
@given(problem=problems(max_features=5))
def test_left_alone_it_ends_with_the_optimum(problem):
    search = Search(problem, GREEDY_LA)
    want = build_optimal(problem).lower_bound
    assert search.is_exact
    assert search.upper == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert search.policy("found").expected_total_cost == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["asia", "liver", "diabetes"])
def test_forced_on_problems_that_are_solved_exactly(name):
    problem = load_problem(name)
    search = Search(problem, GREEDY_LA)
    assert search.is_exact
    assert search.upper == pytest.approx(build_optimal(problem).lower_bound, abs=1e-7)


def test_bounds_tighten_and_are_told():
    told = []
    diabetes = load_problem("diabetes")
    Search(diabetes, GREEDY_LA, max_expansions=60, progress=lambda n, i: told.append((n, *i)))
    assert [n for n, _, _ in told] == list(range(1, len(told) + 1))
    for (_, low, high), (_, lower, upper) in pairwise(told):
        assert low - 1e-9 <= lower <= upper <= high + 1e-9


def test_prices_of_a_users_own():
    class Discount:
        def cost(self, features, evidence):
            return max(sum(3.0 for _ in features) - len(evidence), 0.5 * len(features))

    from dataclasses import replace

    problem = replace(load_problem("figure3"), costs=Discount())
    found = build_optimal(problem)
    assert found.exact
    assert found.policy.expected_total_cost == pytest.approx(optimal_cost(problem), abs=1e-9)


def weak_signs(n):
    """Naive Bayes with many weak and cheap features: its states are beyond any memory."""
    rng = np.random.default_rng(0)
    names = [f"X{k:02d}" for k in range(n)]
    tables = {"Y": [0.6, 0.4]}
    for name in names:
        p, shift = rng.uniform(0.2, 0.75), rng.uniform(0.05, 0.2)
        tables[name] = [[p, 1 - p], [p + shift, 1 - p - shift]]
    network = Network.from_tables(
        {name: ["a", "b"] for name in ("Y", *names)}, {name: ["Y"] for name in names}, tables
    )
    prices = {name: float(rng.integers(1, 5)) for name in names}
    return Problem.create(network, "Y", prices, ("symmetric", 200.0))


@pytest.mark.parametrize("make", [lambda: load_problem("hepatitis"), lambda: weak_signs(25)])
def test_with_little_memory_there_is_a_valid_policy_and_an_honest_interval(make):
    problem = make()
    with memory_limit(64 << 20):
        found = build_optimal(problem, time_limit=4.0)
    cost = found.policy.expected_total_cost
    assert found.lower_bound <= cost + slack(cost)
    assert found.lower_bound > 0
    assert cost <= build_policy(problem, "none").expected_total_cost + slack(cost)
    if problem.title:  # hepatitis can be solved where there is room
        exact = build_optimal(problem).lower_bound
        assert found.lower_bound - slack(cost) <= exact <= cost + slack(cost)
