"""Everything that a problem file can say, against a referee that reads the file literally.

Each part of the file alone, every pair of parts, and all parts together: the cost of every policy
is that of its paths, none of which does what it must not; the optimum is the least cost of all
policies; and the best set is the best of all sets. Both engines.
"""

import itertools

import pytest
from helpers.rich_worlds import PARTS, Referee, rich_problem
from helpers.solving import all_loops
from helpers.worlds import some

from voilattice import best_set, build_policy, value
from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.optimal.exact.batch_solution import needs_batches
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace
from voilattice.optimal.search import anytime, ao_star
from voilattice.optimal.search.trials import Search
from voilattice.policy.rules import batch, greedy_la

ALONE = [(part,) for part in PARTS]
PAIRS = list(itertools.combinations(PARTS, 2))
RULES = ("none", "markov-blanket", "greedy", "greedy-la", "batch")


def check(problem):
    referee = Referee(problem)
    optimum = referee.optimum()
    for name in RULES:
        costs = []
        for engine in ("python", "compiled"):
            with all_loops(engine):
                policy = build_policy(problem, name)
            costs.append(policy.expected_total_cost)
            assert costs[-1] == pytest.approx(referee.follow(policy), abs=1e-7)
        assert costs[0] == pytest.approx(costs[1], abs=1e-7)
        assert costs[0] >= optimum - 1e-7
    policy = build_policy(problem, "optimal")
    assert policy.exact
    assert policy.expected_total_cost == pytest.approx(optimum, abs=1e-7)
    assert policy.lower_bound == pytest.approx(optimum, abs=1e-7)
    assert referee.follow(policy) == pytest.approx(optimum, abs=1e-7)
    for engine in ("python", "compiled"):
        check_engine(problem, engine, optimum, referee.best(dict(problem.evidence)))


def has_prices_by_order(costs):
    """Whether what is paid in all can depend on what comes first."""
    uneven = any(len(set(discount.off.values())) > 1 for discount in costs.discounts)
    return uneven or bool(costs.conditional)


def check_engine(problem, engine, optimum, best):
    highest, winners = best
    found = best_set(problem, engine=engine)
    assert found.benefit == pytest.approx(highest, abs=1e-7)
    assert found.features in winners
    try:
        space = find_states(problem, engine=engine)
    except TooLargeError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:  # only problems of this kind are left to the search
        assert "the order of acquisitions" in refusal
        assert problem.limits.spend is not None
        assert has_prices_by_order(problem.costs)
        return
    assert solve_exactly(space, problem).expected_total_cost == pytest.approx(optimum, abs=1e-7)
    if not needs_batches(problem) and not problem.limits:
        plain = PlainSolution(PlainSpace(problem, engine=engine), problem)
        assert plain.expected_total_cost == pytest.approx(optimum, abs=1e-7)


@pytest.mark.parametrize("parts", [*ALONE, *PAIRS, PARTS], ids="+".join)
@pytest.mark.parametrize("seed", range(4))
def test_policies_and_the_optimum_are_those_of_the_referee(parts, seed):
    check(rich_problem(seed, parts))


@pytest.mark.slow
@pytest.mark.parametrize("parts", [*ALONE, *PAIRS], ids="+".join)
def test_each_part_and_each_pair_of_parts_on_many_problems(parts):
    for seed in some(range(1000, 1060)):
        check(rich_problem(seed, parts))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 11_000, 100))
def test_all_parts_together_on_many_problems(first):
    for seed in some(range(first, first + 100)):
        check(rich_problem(seed, PARTS))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20_000, 20_100, 20))
def test_all_parts_together_with_more_values(first):
    for seed in some(range(first, first + 20)):
        check(rich_problem(seed, PARTS, n_features=3, max_states=4))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(30_000, 30_200, 40))
def test_both_searches_enclose_the_optimum_and_find_it(first):
    """With constraints and all that a search can do; the bounds hold at every moment."""
    for seed in some(range(first, first + 40)):
        problem = rich_problem(seed, ("groups", "discounts", "conditional", "constraints"))
        optimum = Referee(problem).optimum()
        found = ao_star.Search(problem, (greedy_la, batch), max_expansions=seed % 3)
        assert found.lower - 1e-7 <= optimum <= found.upper + 1e-7
        if needs_batches(problem):
            continue
        search = Search(problem)
        assert search.lower - 1e-7 <= optimum <= search.upper + 1e-7
        search.reveal(Deadline(), max_states=20)
        assert search.lower - 1e-7 <= optimum
        search.repeat(Deadline())
        assert search.lower - 1e-7 <= optimum
        search.run(Deadline(), max_expansions=2)
        assert search.lower - 1e-7 <= optimum <= search.upper + 1e-7
        search.run(Deadline())
        assert search.is_settled
        assert search.upper == pytest.approx(optimum, abs=1e-7)
        policy = search.policy("optimal", Deadline(), 10_000)
        assert Referee(problem).follow(policy) == pytest.approx(optimum, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(40_000, 40_200, 40))
def test_a_search_with_limits_and_rounds_encloses_the_optimum(first):
    for seed in some(range(first, first + 40)):
        problem = rich_problem(seed, PARTS)
        optimum = Referee(problem).optimum()
        for most in (0, 2, None):
            found = ao_star.Search(problem, (greedy_la, batch), max_expansions=most)
            assert found.lower - 1e-7 <= optimum <= found.upper + 1e-7
        assert found.exact
        bound = anytime._bound_without_limits(problem, Deadline())
        assert bound <= optimum + 1e-7


@pytest.mark.parametrize("seed", range(40))
def test_prices_and_feasibility_of_all_sets_are_those_of_the_referee(seed):
    problem = rich_problem(seed, PARTS)
    referee, known = Referee(problem), dict(problem.evidence)
    free = [f for f in problem.features if f not in known]
    for size in range(1, len(free) + 1):
        for features in itertools.combinations(free, size):
            found = value(problem, features)
            assert found.cost == pytest.approx(referee.price(features, known), abs=1e-9)
            assert found.feasible == referee.is_feasible(features, known)


def test_the_parts_do_occur():
    """Each part makes a difference in some problem: otherwise the tests above would say nothing."""
    seen = set()
    for seed in range(60):
        problem = rich_problem(seed)
        costs, limits = problem.costs, problem.limits
        seen |= {name for name in ("groups", "discounts", "conditional") if getattr(costs, name)}
        seen |= {"constraints"} if problem.constraints else set()
        seen |= {"limits"} if limits else set()
        seen |= {"rounds"} if costs.round_cost else set()
        seen |= {"decisions"} if problem.decisions != problem.classes else set()
    assert seen == set(PARTS)
