from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.problems import noisy_bayes
from helpers.solving import RULES, cost_of, optimum
from helpers.strategies import problems, with_own_costs
from helpers.table_dp import optimal_cost
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice import Lattice, Network, Problem, emc, load_problem, value
from voilattice.budgets import memory_limit
from voilattice.errors import TooLargeError
from voilattice.policy import situations
from voilattice.policy.advice import advise
from voilattice.policy.optimal import ao_star
from voilattice.policy.optimal.ao_star import Search
from voilattice.policy.solvers import build_policy

STARTS = (RULES["greedy-la"], RULES["batch"])


def slack(cost):
    return 1e-9 * max(1.0, cost)


@pytest.mark.slow
@settings(max_examples=100)
@given(problem=problems(max_features=4), n=st.integers(0, 25))
def test_stopped_at_any_moment_the_interval_holds_the_optimum(problem, n):
    want = optimal_cost(problem, largest=4)
    search = Search(problem, STARTS, max_expansions=n)
    assert search.n_expanded <= n
    assert search.lower - slack(want) <= want <= search.upper + slack(want)
    cost = search.policy("found").expected_total_cost
    assert want - slack(want) <= cost <= search.upper + slack(want)
    assert cost <= build_policy(problem, "greedy-la").expected_total_cost + slack(want)


@pytest.mark.slow
@settings(max_examples=100)
@given(problem=problems(max_features=5))
def test_left_alone_it_ends_with_the_optimum(problem):
    search = Search(problem, STARTS)
    want = optimum(problem).lower_bound
    assert search.exact
    assert search.upper == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert search.policy("found").expected_total_cost == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["asia", "liver", "diabetes"])
def test_forced_on_problems_that_are_solved_exactly(name):
    problem = load_problem(name)
    search = Search(problem, STARTS)
    assert search.exact
    assert search.upper == pytest.approx(optimum(problem).lower_bound, abs=1e-7)


def test_bounds_tighten_and_are_told():
    told = []
    diabetes = load_problem("diabetes")
    Search(diabetes, STARTS, max_expansions=60, progress=lambda n, i: told.append((n, *i)))
    assert [n for n, _, _ in told] == list(range(1, len(told) + 1))
    for (_, low, high), (_, lower, upper) in pairwise(told):
        assert low - 1e-9 <= lower <= upper <= high + 1e-9


class Discount:
    """The more at once, the cheaper each."""

    def cost(self, features, evidence):
        return max(2.0 * len(features) ** 0.5 - 0.1 * len(evidence), 0.0) if features else 0.0


def test_prices_of_a_users_own_may_make_sets_cheap():
    problem = replace(load_problem("figure3"), costs=Discount())
    found = optimum(problem)
    assert found.exact
    want = optimal_cost(problem, largest=4)
    assert want < optimal_cost(problem) - 1e-6  # one by one is dearer
    assert found.expected_total_cost == pytest.approx(want, abs=1e-9)
    figure1 = replace(load_problem("figure1"), costs=Discount())
    for name in ("batch", "markov-blanket"):
        cost = build_policy(figure1, name).expected_total_cost
        assert optimum(figure1).expected_total_cost <= cost + 1e-9


@pytest.mark.slow
def test_with_many_prices_of_a_users_own_nothing_is_certified_but_what_holds():
    heart = replace(load_problem("heart"), costs=Discount())
    found = optimum(heart, time_limit=2.0)
    assert not found.exact
    # No policy can be cheaper than deciding with everything known, for nothing.
    blanket = value(heart, Lattice(heart).acquirable_core).expected_emc
    assert found.lower_bound == pytest.approx(blanket, rel=1e-9)
    assert found.expected_total_cost <= build_policy(heart, "batch").expected_total_cost


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


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: load_problem("hepatitis"), lambda: weak_signs(25)])
def test_with_little_memory_there_is_a_valid_policy_and_an_honest_interval(make):
    problem = make()
    with memory_limit(64 << 20):
        found = optimum(problem, time_limit=4.0)
    cost = found.expected_total_cost
    assert found.lower_bound <= cost + slack(cost)
    assert found.lower_bound > 0
    assert cost <= build_policy(problem, "none").expected_total_cost + slack(cost)
    if problem.title:  # hepatitis can be solved where there is room
        exact = optimum(problem).lower_bound
        assert found.lower_bound - slack(cost) <= exact <= cost + slack(cost)


def test_many_prices_of_a_users_own_end_the_search_when_nothing_is_left_to_look_into():
    problem = replace(noisy_bayes(9), costs=Discount(), misclassification=[[0, 90], [50, 0]])
    found = optimum(problem)
    assert not found.exact  # not every set of nine features is tried
    cheapest = min(build_policy(problem, name).expected_total_cost for name in RULES)
    assert found.lower_bound - 1e-9 <= found.expected_total_cost <= cheapest + 1e-9
    assert advise(problem, "optimal").features == set(found.root.features)
    assert cost_of(problem, "optimal").certificate.exact is False


@pytest.mark.slow
@settings(max_examples=40)
@given(problem=problems(max_features=3), seed=st.integers(0, 2**32 - 1))
def test_with_own_prices_the_optimum_may_buy_any_set(problem, seed):
    # A price that is low for a pair alone must count as the cheapest step.
    own = with_own_costs(problem, seed)
    want = optimal_cost(own, largest=3)
    found = optimum(own)
    assert found.exact
    assert found.expected_total_cost == pytest.approx(want, rel=1e-9, abs=1e-9)
    for n in (0, 1, 2):
        search = Search(own, STARTS, max_expansions=n)
        assert search.lower - slack(want) <= want <= search.upper + slack(want)


@pytest.mark.slow
@settings(max_examples=30)
@given(problem=problems(min_features=3, max_features=4), n=st.integers(0, 6))
def test_bounds_from_streamed_parts_hold(problem, n):
    # No table fits: EMC(e, R) is added up from parts, each with its weight.
    want = optimal_cost(problem, largest=4)
    whole = Search(problem, STARTS, max_expansions=n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(situations, "LAZY_CELLS", 0)
        patch.setattr(ao_star, "LAZY_CELLS", 3)
        search = Search(problem, STARTS, max_expansions=n)
    assert search.lower - slack(want) <= want <= search.upper + slack(want)
    assert search.lower == pytest.approx(whole.lower, rel=1e-9, abs=1e-9)


def rare_and_grave():
    """A sign that is seen once in 1e15 and then leaves much open, with stakes to match."""
    q = 1e-15
    tables = {
        "Y": [q, 1 - q],
        "X": [[0.5, 0.5], [q, 1 - q]],
        "Z": [[0.9, 0.1], [0.3, 0.7]],
        "W": [[0.6, 0.4], [0.5, 0.5]],
    }
    network = Network.from_tables(
        {name: ["a", "b"] for name in tables}, {name: ["Y"] for name in "XZW"}, tables
    )
    prices = {"X": 1.0, "Z": 30.0, "W": 40.0}
    return Problem.create(network, "Y", prices, [[0, 1e10], [1e18, 0]])


@pytest.mark.parametrize("cells", [None, 0])
def test_what_is_rare_and_grave_counts(cells):
    problem = rare_and_grave()
    want = optimal_cost(problem, exactly=True)
    with pytest.MonkeyPatch.context() as patch:
        if cells is not None:
            patch.setattr(situations, "LAZY_CELLS", cells)
            patch.setattr(ao_star, "LAZY_CELLS", 3)
        search = Search(problem, ())
        policy = search.policy("found")
        assert search.exact
        assert search.upper == pytest.approx(want, rel=1e-9)
        assert policy.expected_total_cost == pytest.approx(want, rel=1e-9)
        assert len(policy.root.branches) == 2
        start = Search(problem, (), max_expansions=0)
    whole = Search(problem, (), max_expansions=0)
    assert start.lower == pytest.approx(whole.lower, rel=1e-9)
    assert len(build_policy(problem, "greedy").root.branches) == 2


class OnlyTogether:
    """Forty each; any two or more together cost one."""

    def cost(self, features, evidence):
        return [0.0, 40.0, 1.0][min(len(features), 2)]


@pytest.mark.parametrize("n", [0, 1, None])
def test_a_set_cheaper_than_its_parts_counts_in_the_bound_of_a_state_not_looked_into(n):
    problem = replace(noisy_bayes(4), costs=OnlyTogether(), misclassification=[[0, 90], [50, 0]])
    want = optimal_cost(problem, largest=4)
    assert want < emc(problem) - 1
    search = Search(problem, (), max_expansions=n)  # no policy to start from hides the bound
    assert search.lower <= want + 1e-9 <= search.upper + 2e-9
    if n is None:
        assert search.exact
        assert search.upper == pytest.approx(want, abs=1e-9)


@pytest.mark.slow
def test_a_policy_that_is_searched_for_keeps_to_its_number_of_states():
    heart = load_problem("heart")
    with memory_limit(200_000):
        with pytest.raises(TooLargeError, match="more than 5 states"):
            build_policy(heart, "optimal", max_states=5, time_limit=2.0)
        assert len(build_policy(heart, "optimal", time_limit=2.0).nodes) > 5


@pytest.mark.slow
def test_what_ended_the_search_is_said():
    heart = load_problem("heart")
    with memory_limit(400_000):
        found = build_policy(heart, "optimal", time_limit=20.0)
        assert (found.exact, found.status) == (False, "memory")
        reasons = advise(heart, "optimal", time_limit=20.0).reasons
        assert reasons[-1].startswith("This is the best found in the memory budget.")
    own = replace(noisy_bayes(9), costs=Discount(), misclassification=[[0, 90], [50, 0]])
    assert build_policy(own, "optimal").status == "ok"
    assert advise(own, "optimal").reasons[-1].startswith("With prices of your own not every set")
