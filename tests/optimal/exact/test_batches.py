"""The optimum where rounds and limits count: its laws, and what it does with ties and rare states.

That it is the optimum is tested against a literal referee in tests/oracles/test_rich_worlds.py.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers.problems import bystander, naive_bayes, noisy_bayes, rare_findings
from helpers.rich_worlds import Referee, rich_problem

from voilattice import (
    Constraint,
    Discount,
    FeatureCosts,
    Network,
    Problem,
    best_set,
    build_policy,
    emc,
    memory_limit,
)
from voilattice.errors import TooLargeError
from voilattice.model.acquisition import PathLimits
from voilattice.optimal.exact.batch_solution import BatchSolution, BatchSpace, depends_on_order
from voilattice.policy.policy import Acquisition
from voilattice.policy.relevance import Relevance

SEQUENTIAL = ("groups", "discounts", "conditional", "constraints", "decisions")


def optimum(problem, *, round_cost=0.0, **limits):
    costs = replace(problem.costs, round_cost=round_cost)
    policy = build_policy(replace(problem, costs=costs, limits=PathLimits(**limits)), "optimal")
    assert policy.exact
    return policy


@pytest.mark.parametrize("seed", range(25))
def test_the_optimum_falls_to_the_sequential_one_as_the_cost_of_a_round_goes_to_0(seed):
    problem = rich_problem(seed, SEQUENTIAL)
    costs = [optimum(problem, round_cost=c).expected_total_cost for c in (8, 2, 0.5, 1e-3, 1e-9)]
    sequential = optimum(problem).expected_total_cost
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(costs))
    assert costs[-1] == pytest.approx(sequential, abs=1e-7)
    assert costs[0] >= sequential - 1e-9


@pytest.mark.parametrize("seed", range(25))
def test_one_round_is_the_best_set_and_then_the_decision(seed):
    problem = rich_problem(seed, SEQUENTIAL)
    for round_cost in (0.0, 3.0):
        costs = replace(problem.costs, round_cost=round_cost)
        batch = best_set(replace(problem, costs=costs)).benefit
        policy = optimum(problem, round_cost=round_cost, rounds=1)
        assert policy.expected_total_cost == pytest.approx(emc(problem) - batch, abs=1e-7)
        assert policy.depth <= 1


def high_stakes(n, seed=0, **limits):
    """Features that pay, alone and together."""
    problem = replace(noisy_bayes(n, seed), limits=PathLimits(**limits))
    return replace(problem, misclassification=50 * problem.misclassification)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("engine", ["python", "compiled"])
def test_one_round_of_several_features_is_the_best_set(seed, engine):
    problem = high_stakes(4, seed, rounds=1)
    best = best_set(problem)
    assert len(best.features) > 1
    solution = BatchSolution(BatchSpace(problem, engine=engine), problem)
    assert solution.expected_total_cost == pytest.approx(emc(problem) - best.benefit)


@pytest.mark.parametrize(
    "limits",
    [{"features": 2}, {"spend": 2.5}, {"rounds": 2}, {"rounds": 2, "features": 3}],
    ids="-".join,
)
@pytest.mark.parametrize("engine", ["python", "compiled"])
def test_limits_that_bind_cost_what_enumeration_says(limits, engine):
    problem = high_stakes(4, 1, **limits)
    space = BatchSpace(problem, engine=engine)
    assert space.asks == ("rounds" in limits)
    found = BatchSolution(space, problem).expected_total_cost
    assert found == pytest.approx(Referee(problem).optimum())
    assert found > optimum(problem).expected_total_cost + 1e-3
    assert found < emc(problem) - 1


@pytest.mark.parametrize("seed", range(25))
def test_the_optimum_grows_to_the_best_single_batch_as_the_cost_of_a_round_grows(seed):
    """With high stakes a batch pays whatever a round costs here, and a second round does not."""
    problem = rich_problem(seed, ("groups", "conditional"))
    problem = replace(problem, misclassification=1000 * problem.misclassification)
    gaps = []
    for round_cost in (1.0, 100.0, 1e4, 1e5):
        costs = replace(problem.costs, round_cost=round_cost)
        single = emc(problem) - best_set(replace(problem, costs=costs)).benefit
        gaps.append(single - optimum(problem, round_cost=round_cost).expected_total_cost)
    assert all(gap >= -1e-6 for gap in gaps)
    assert gaps[-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("limit", ["spend", "features", "rounds"])
def test_a_higher_limit_never_costs_more_and_a_high_one_nothing(seed, limit):
    problem = rich_problem(seed, SEQUENTIAL)
    costs = [optimum(problem, **{limit: most}).expected_total_cost for most in (0, 1, 2, 4, 90)]
    if limit != "spend":  # some features are free
        assert costs[0] == pytest.approx(emc(problem), abs=1e-9)
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(costs))
    assert costs[-1] == pytest.approx(optimum(problem).expected_total_cost, abs=1e-7)


def test_a_set_is_asked_for_only_where_single_features_cost_more():
    problem = noisy_bayes(4)
    problem = replace(problem, misclassification=50 * problem.misclassification)
    assert all(len(n.features) == 1 for n in acquisitions(optimum(problem)))
    assert any(len(n.features) > 1 for n in acquisitions(optimum(problem, round_cost=3.0)))
    # A limit that does not bind leaves the sequential optimum as it is.
    assert all(len(n.features) == 1 for n in acquisitions(optimum(problem, rounds=4)))


def acquisitions(policy):
    return [node for node in policy.nodes if isinstance(node, Acquisition)]


def test_a_feature_that_says_nothing_is_not_asked_for_in_a_tie():
    problem = naive_bayes(3)  # all features say nothing
    assert optimum(problem, rounds=2).n_acquisitions == 0


@pytest.mark.parametrize("chain", [False, True])
def test_findings_too_rare_for_the_table_are_solved_from_their_own_evidence(chain):
    problem = rare_findings(1e-70, chain=chain)
    policy = optimum(problem, round_cost=0.5)
    known = {f"X{k}": "a" for k in range(4)}
    space = BatchSpace(policy.problem)
    there = BatchSolution(space, policy.problem).cost_to_go(known)
    from_there = optimum(problem.with_evidence(known), round_cost=0.5)
    assert there == pytest.approx(from_there.expected_total_cost, rel=1e-9)


def test_prices_that_depend_on_the_order_are_told_from_others():
    rng, found = np.random.default_rng(0), []
    for seed in rng.integers(0, 10_000, 80).tolist():
        problem = rich_problem(seed, ("groups", "discounts", "conditional"))
        relevant, _ = Relevance(problem).what_matters(problem.feature_mask(problem.evidence))
        found.append(depends_on_order(problem, relevant))
        if found[-1]:
            with pytest.raises(TooLargeError, match="depend on the order"):
                BatchSpace(replace(problem, limits=PathLimits(spend=0.5)))
            break
    assert True in found
    assert False in found


def test_a_table_beyond_the_memory_budget_is_refused_and_the_search_takes_over():
    problem = replace(noisy_bayes(9), limits=PathLimits(rounds=2))
    with memory_limit(100_000), pytest.raises(TooLargeError, match="need"):
        BatchSpace(problem)
    with memory_limit(5_000_000):
        policy = build_policy(problem, "optimal", time_limit=3)
    proved = build_policy(problem, "optimal")
    assert proved.exact
    assert policy.lower_bound <= proved.expected_total_cost + 1e-9
    assert policy.expected_total_cost >= proved.expected_total_cost - 1e-9


def test_an_unlocker_that_says_nothing_is_bought_for_what_it_unlocks():
    problem = bystander()  # X tells Y for sure, A tells nothing
    costs = FeatureCosts({"X": 5, "A": 1})
    locked = replace(problem, costs=costs, constraints=(Constraint("X", after=["A"]),))
    policy = optimum(locked)
    assert policy.root.features == ("A",)
    assert policy.expected_total_cost == 1 + 5
    at_once = optimum(locked, round_cost=0.25)
    assert at_once.root.features == ("X", "A")
    assert at_once.expected_total_cost == 1 + 5 + 0.25
    assert best_set(locked).features == {"X", "A"}
    assert build_policy(locked, "greedy").n_acquisitions == 0  # A alone is worth nothing
    assert build_policy(locked, "greedy-la").root.features == ("A",)
    assert build_policy(locked, "batch").root.features == ("X", "A")
    assert build_policy(locked, "markov-blanket").root.features == ("X", "A")


@pytest.mark.parametrize(("spend", "round_cost"), [(1e15, 0.5), (50, 1e-12), (50, 1e-320)])
def test_rounds_that_are_nothing_beside_the_limit_do_not_confuse_the_policy(spend, round_cost):
    problem = noisy_bayes(4)
    problem = replace(problem, misclassification=50 * problem.misclassification)
    free = optimum(problem, round_cost=round_cost)
    limited = optimum(problem, round_cost=round_cost, spend=spend)
    assert limited.expected_total_cost == pytest.approx(free.expected_total_cost, abs=1e-9)


def test_other_discounts_are_refused_if_they_make_the_order_count_against_the_limit():
    def at(*off):
        problem = noisy_bayes(3)
        discount = Discount("both", {"X00": off[0], "X01": off[1]})
        costs = FeatureCosts(dict.fromkeys(problem.features, 5.0), discounts=(discount,))
        return replace(problem, costs=costs, limits=PathLimits(spend=8.0))

    space = BatchSpace(at(2.0, 2.0))
    assert BatchSolution(space, at(3.0, 3.0)).expected_total_cost > 0
    with pytest.raises(TooLargeError, match="depend on the order of acquisitions"):
        BatchSolution(space, at(3.0, 2.0))


def test_the_cheapest_opener_that_its_constraints_allow_opens_a_discount():
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YXAB"},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[1, 0], [0, 1]], "A": [0.5, 0.5], "B": [0.5, 0.5]},
    )
    off = {"X": 28.0, "A": 1.0, "B": 1.0}
    costs = FeatureCosts({"X": 30, "A": 2, "B": 3}, discounts=(Discount("visit", off),))
    free = Problem.create(network, "Y", costs, [[0, 80], [80, 0]])
    assert best_set(free).features == {"X", "A"}
    late = replace(free, constraints=(Constraint("A", after=("X",)),))
    for engine in ("python", "compiled"):
        found = best_set(late, engine=engine)
        assert (found.features, found.cost) == ({"X", "B"}, 5.0)
    assert build_policy(late, "optimal").root.features == ("B",)


def test_an_opener_can_make_an_unlocker_cheaper():
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YXUA"},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[1, 0], [0, 1]], "U": [0.5, 0.5], "A": [0.5, 0.5]},
    )
    costs = FeatureCosts({"X": 1, "U": 30, "A": 2}, discounts=(Discount("d", {"U": 28, "A": 0}),))
    rule = Constraint("X", after=("U",))
    problem = Problem.create(network, "Y", costs, [[0, 80], [80, 0]], constraints=(rule,))
    for engine in ("python", "compiled"):
        found = best_set(problem, engine=engine)
        assert (found.features, found.cost) == ({"X", "U", "A"}, 5.0)
    policy = build_policy(problem, "optimal")
    assert policy.expected_total_cost == pytest.approx(5.0)
    assert policy.root.features == ("A",)


@pytest.mark.parametrize("limits", [{}, {"rounds": 5}], ids=["free", "limited"])
def test_a_rare_state_and_the_states_after_it_are_not_confused(limits):
    problem = rare_findings(1e-70, chain=False)
    costs = replace(problem.costs, round_cost=0.5)
    problem = replace(problem, costs=costs, limits=PathLimits(**limits))
    solution = BatchSolution(BatchSpace(problem), problem)
    known = {f"X{k}": "a" for k in range(4)}
    for state in (None, "a", "b"):
        here = known if state is None else {**known, "Z": state}
        left = problem.limits.after(0.0, 1, 1 if state else 0)
        alone = replace(problem.with_evidence(here), limits=left)
        wanted = build_policy(alone, "optimal")
        assert solution.cost_to_go(here, left) == pytest.approx(wanted.expected_total_cost)
        chosen = problem.feature_names(solution.choose(here, left))
        assert chosen == set(getattr(wanted.root, "features", ()))
