from dataclasses import replace

import numpy as np
import pytest
from helpers.problems import noisy_bayes, structured
from helpers.solving import RULES, optimum
from helpers.strategies import possible_evidence, problems, with_discounts
from helpers.table_dp import optimal_cost
from helpers.worlds import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voilattice import FeatureCosts, build_policy, load_problem
from voilattice.budgets import Deadline, memory_limit
from voilattice.errors import TooLargeError
from voilattice.optimal.search.anytime import search_optimum
from voilattice.optimal.search.trials import Search
from voilattice.policy.builder import PolicyBuilder

FOREVER = Deadline()


def searched(problem, *, table=None, expansions=None, starts=()):
    """A search with a table of so many states, left alone or stopped early."""
    search = Search(problem)
    if table is not None:
        search.reveal(FOREVER, max_states=table)
    for name in starts:
        search.start_from(build_policy(problem, name))
    search.run(FOREVER, max_expansions=expansions)
    return search


def is_supported(problem):
    try:
        Search(problem)
    except TooLargeError:  # bundles, or probabilities that are too extreme
        return False
    return True


def slack(cost):
    return 1e-9 * max(1.0, cost)


def cost_of_choices(search):
    """What the policy of the upper bounds costs, by building it."""
    builder = PolicyBuilder(search.problem)
    return builder.build("found", lambda s: search.choose(s.known)).expected_total_cost


tables = st.sampled_from([None, 1, 8, 30, 100, 10**6])


@pytest.mark.slow
@examples(300)
@given(problem=problems(max_features=5), table=tables, seed=st.none() | st.integers(0, 2**32 - 1))
def test_left_alone_it_ends_with_the_optimum(problem, table, seed):
    problem = problem if seed is None else with_discounts(problem, seed)
    assume(is_supported(problem))
    search = searched(problem, table=table)
    want = optimum(problem).lower_bound
    assert search.is_settled
    assert search.lower == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert search.upper == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert cost_of_choices(search) == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@examples(300)
@given(problem=problems(max_features=4), table=tables, n=st.integers(0, 25), seed=st.integers(0))
def test_stopped_at_any_moment_the_interval_holds_the_optimum(problem, table, n, seed):
    problem = problem.with_evidence(possible_evidence(problem, seed, 0.2))
    assume(is_supported(problem))
    want = optimal_cost(problem)
    search = searched(problem, table=table, expansions=n)
    assert search.lower - slack(want) <= want <= search.upper + slack(want)
    cost = cost_of_choices(search)
    assert want - slack(want) <= cost <= search.upper + slack(want)


def states_of(search):
    """The evidence of every state of a search, with its probability and its two bounds."""
    space, rows = search._space, search._rows
    for at in np.flatnonzero(rows.amounts[:, 0]).tolist():
        key = [int(word) for word in rows.words[at, 3:]]
        known = {}
        for i, feature in enumerate(search.features):
            size = int(space.sizes[i])
            digit = key[space.word[i]] // int(space.radix[i]) % (size + 1)
            if digit < size:
                name = search.problem.features[feature]
                known[name] = search.problem.states(name)[digit]
        yield known, *rows.amounts[at, :3].tolist()


@pytest.mark.slow
@examples(200)
@given(problem=problems(max_features=4), table=tables, repeats=st.booleans(), n=st.integers(1, 30))
def test_the_bounds_hold_in_every_state(problem, table, repeats, n):
    assume(is_supported(problem))
    search = Search(problem)
    if table is not None:
        search.reveal(FOREVER, max_states=table)
    if repeats:
        search.repeat(Deadline(2.0))
    search.run(FOREVER, max_expansions=n)
    for known, mass, lower, upper in states_of(search):
        # Evidence of the problem does not pay for a group a second time.
        here = problem.with_evidence(known)
        want = mass * optimal_cost(here)
        assert lower <= want + slack(want)
        assert want <= upper + slack(want)


@pytest.mark.slow
@examples(150)
@given(problem=problems(max_features=5), n=st.integers(1, 12))
def test_only_an_optimal_policy_is_called_exact(problem, n):
    assume(is_supported(problem))
    best = optimum(problem).expected_total_cost
    rules = (RULES["greedy"], RULES["greedy-la"])
    search = search_optimum(problem, rules, first=None, deadline=FOREVER, max_states=n)
    found = search.policy("found")
    assert len(found.nodes) <= n
    assert found.lower_bound <= best + slack(best)
    assert best <= found.expected_total_cost + slack(best)
    if found.exact:
        assert found.expected_total_cost == pytest.approx(best, rel=1e-9, abs=1e-9)
    else:
        assert found.status != "ok"


def test_states_are_packed_into_several_words():
    problem = noisy_bayes(45)
    search = searched(problem, expansions=50)
    assert search._rows.words.shape[1] == 3 + 2
    known = [frozenset(known.items()) for known, *_ in states_of(search)]
    assert len(set(known)) == len(known) == search.n_states


@pytest.mark.slow
@examples(100)
@given(problem=problems(max_features=5), table=tables)
def test_it_never_costs_more_than_the_policies_it_starts_from(problem, table):
    assume(is_supported(problem))
    names = ("greedy", "greedy-la", "batch")
    search = searched(problem, table=table, expansions=0, starts=names)
    costs = [build_policy(problem, name).expected_total_cost for name in names]
    assert search.upper <= min(costs) + slack(min(costs))


@pytest.mark.parametrize("name", ["asia", "liver", "diabetes"])
@pytest.mark.parametrize("table", [None, 1_000])
def test_forced_on_problems_that_are_solved_exactly(name, table):
    problem = load_problem(name)
    search = searched(problem, table=table)
    assert search.is_settled
    assert search.upper == pytest.approx(optimum(problem).lower_bound, abs=1e-7)


def test_what_is_revealed_is_cheap():
    problem = noisy_bayes(8)
    costs = FeatureCosts({f: 1.0 + k * 5 % 8 for k, f in enumerate(problem.features)})
    problem = replace(problem, costs=costs)
    search = Search(problem)
    search.reveal(FOREVER, max_states=1_000)
    prices = problem.costs.prices
    assert 0 < len(search.revealed) < 8
    others = set(problem.features) - search.revealed
    assert max(prices[f] for f in search.revealed) <= min(prices[f] for f in others)


def test_a_hidden_screen_is_revealed_and_its_features_are_dropped():
    parents = {"H": ["Y"], "Z": ["Y"], **{f"X{i}": ["H"] for i in range(6)}}
    problem = structured(parents, features=["Z", *(f"X{i}" for i in range(6))])
    search = Search(problem)
    search.reveal(FOREVER, max_states=12)
    assert search.revealed == {"H"}
    assert search.lower <= optimum(problem).lower_bound + 1e-9
    search.run(FOREVER)
    assert search.upper == pytest.approx(optimum(problem).lower_bound, rel=1e-9)


@settings(max_examples=30)
@given(problem=problems(max_features=5), table=st.integers(1, 200))
def test_the_gap_is_at_most_the_price_of_what_is_revealed(problem, table):
    assume(is_supported(problem))
    search = Search(problem)
    search.reveal(FOREVER, max_states=table)
    want = optimum(problem).lower_bound
    assert search.lower <= want + slack(want)
    if search._table.is_exact:
        price = problem.costs.cost(search.revealed, problem.evidence)
        assert want <= search.lower + price + slack(want)


def test_a_small_memory_budget_ends_the_search_with_its_bounds():
    problem = load_problem("heart")
    want = optimum(problem).lower_bound
    with memory_limit(4 << 20):
        search = searched(problem)
    assert search.is_full
    assert not search.is_settled
    assert search.lower <= want <= search.upper
    assert search.certificate.status == "memory"
    assert search.certificate.note


def test_bounds_tighten_and_are_told():
    told = []
    search = Search(load_problem("diabetes"))
    search.run(Deadline(), progress=lambda n, i: told.append((n, *i)))
    assert told
    assert all(np.diff([low for _, low, _ in told]) >= 0)
    assert all(np.diff([high for _, _, high in told]) <= 0)
