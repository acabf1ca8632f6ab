"""The optimum over a plain table: what blocks say, at any evidence, ties included."""

import gc
from dataclasses import replace

import numpy as np
import pytest
from helpers.host_device import any_device
from helpers.problems import bystander, chain, noisy_bayes, rare_findings, twins, varied
from helpers.strategies import possible_evidence, problems
from helpers.table_dp import optimal_cost
from helpers.worlds import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from voilattice import ConditionalCost, Network, Problem, devices, load_problem
from voilattice.budgets import Deadline, memory_limit
from voilattice.errors import InputError, TooLargeError
from voilattice.optimal.exact import plain_solution
from voilattice.optimal.exact.bundles import bundles_of
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace, plain_bytes
from voilattice.optimal.exact.solution import solve
from voilattice.optimal.exact.space import StateSpace

ENGINES = ("python", "compiled", "cuda")


@pytest.fixture(autouse=True, scope="module")
def a_device():
    """A GPU, or the host in its place."""
    with pytest.MonkeyPatch.context() as patch:
        device = any_device()
        patch.setattr(devices, "find_device", lambda: device)
        yield


def close(amount):
    return pytest.approx(amount, rel=1e-9, abs=1e-9)


def solved(problem, engine="python"):
    return PlainSolution(PlainSpace(problem, engine=engine), problem)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@examples(150)
@given(problem=problems(max_features=5, max_states=4), seed=st.integers(0, 2**32 - 1))
def test_a_plain_table_says_what_blocks_say(engine, problem, seed):
    assume(not bundles_of(problem))
    blocks, table = solve(StateSpace(problem, engine="python")), solved(problem, engine)
    assert table.expected_total_cost == close(blocks.expected_total_cost)
    for share in (0.0, 0.3, 0.6):
        known = possible_evidence(problem, seed, share)
        assert table.cost_to_go(known) == close(blocks.cost_to_go(known))
        assert table.choose(known) == blocks.choose(known)


@examples(60)
@given(problem=problems(max_features=4))
def test_a_plain_table_equals_the_referee(problem):
    assume(not bundles_of(problem))
    assert solved(problem).expected_total_cost == close(optimal_cost(problem))


@pytest.mark.parametrize("name", ["figure1", "figure3", "asia", "liver", "diabetes"])
def test_the_built_in_problems(name):
    problem = load_problem(name)
    blocks, table = solve(StateSpace(problem)), solved(problem)
    assert table.expected_total_cost == close(blocks.expected_total_cost)
    for seed in range(20):
        known = possible_evidence(problem, seed, share=seed / 20)
        assert table.choose(known) == blocks.choose(known)


@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("q", [1e-40, 1e-108, 1e-200, 1e-300])
def test_findings_of_tiny_probability(q, n, chain):
    problem = rare_findings(q, chain=chain)
    evidence = {f"X{k}": "a" for k in range(n)}
    want = optimal_cost(problem.with_evidence(evidence), exactly=True)
    assert solved(problem).cost_to_go(problem.merge_evidence(evidence)) == close(want)


def test_a_feature_that_says_nothing_wins_no_tie():
    # C is free, but once A is known it says nothing more; A and B tell Y outright.
    tables = {
        "Y": [0.5, 0.5],
        "A": [[0.9, 0.1], [0.1, 0.9]],
        "B": [[1.0, 0.0], [0.0, 1.0]],
        "C": [[0.8, 0.2], [0.2, 0.8]],
    }
    parents = {"A": ["Y"], "B": ["Y"], "C": ["A"]}
    network = Network.from_tables({name: ["T", "F"] for name in tables}, parents, tables)
    problem = Problem.create(network, "Y", {"C": 0, "A": 1, "B": 2}, [[0, 40], [40, 0]])
    for made in (solved(problem), solve(StateSpace(problem))):
        assert problem.feature_names(made.choose({"A": "T"})) == {"B"}


def test_deciding_wins_a_tie_then_the_cheaper_then_the_first():
    for prices, want in [
        ((20.0, 20.0), 0),
        ((2.0, 1.0), 0b10),
        ((1.0, 1.0), 0b01),
        ((0.0, 0.0), 0b01),
    ]:
        assert solved(twins(*prices)).choose({}) == want
    assert solved(twins(1.0, 2.0)).choose({"A": "T"}) == 0


def test_a_bystander_that_was_bought_has_paid_the_overhead():
    problem = bystander()
    solution = solved(problem)
    assert (solution.choose({}), solution.cost_to_go({})) == (0, close(20.0))
    for state in "TF":
        known = {"A": state}
        assert problem.feature_names(solution.choose(known)) == {"X"}
        assert solution.cost_to_go(known) == close(5.0)
    assert solution.cost_to_go({"A": "T", "X": "F"}) == close(0.0)


def test_evidence_has_paid_its_group_and_settled_its_prices():
    for evidence in ({"B": "B1"}, {"A": "A1"}, {"A": "A0", "D": "D0"}):
        here = varied().with_evidence(evidence)
        assert solved(here).expected_total_cost == close(optimal_cost(here))


def test_features_that_prices_depend_on_come_first():
    space = PlainSpace(varied())
    names = [varied().features[k] for k in space.features]
    assert set(names[:3]) == {"A", "B", "D"}  # D's price depends on A; B and D share a group
    assert names[3:] == ["C"]


def test_a_space_serves_all_prices_and_stakes_of_its_problem():
    space = PlainSpace(twins(1.0, 2.0), engine="python")
    assert PlainSolution(space, twins(4.0, 3.0)).expected_total_cost == close(3.0)
    assert PlainSolution(space, twins(4.0, 3.0)).choose({}) == 0b10
    asia = load_problem("asia")
    space = PlainSpace(asia, asia.with_expected("symmetric", 1.0).misclassification)
    for x in (0.0, 3.0, 70.0):
        staked = asia.with_expected("symmetric", x)
        want = solve(StateSpace(staked)).expected_total_cost
        assert PlainSolution(space, staked).expected_total_cost == close(want)
    with pytest.raises(InputError, match="not a multiple of those of the sweep"):
        PlainSolution(space, asia.with_expected("asymmetric", 100))
    with pytest.raises(InputError, match="the states belong to another problem"):
        PlainSolution(space, asia.with_evidence({"smoke": "yes"}))


def test_room_for_values_is_lent_again_when_a_solution_dies():
    space = PlainSpace(noisy_bayes(3), engine="python")
    first = PlainSolution(space, space.problem)
    room = first._values
    del first
    gc.collect()
    assert PlainSolution(space, space.problem)._values is room


def test_the_memory_budget_counts_all_that_is_there_at_once():
    problem = noisy_bayes(4)
    needed = plain_bytes([2] * 4, 2)
    assert needed > 8 * 3**4 + 8 * 2 * 2**4
    with memory_limit(needed):
        assert PlainSpace(problem).n_states == 81
    with memory_limit(needed - 1), pytest.raises(TooLargeError, match="81 states need .* KiB"):
        PlainSpace(problem)


def test_a_state_takes_little_more_than_eight_bytes():
    for n in (14, 18, 20):
        assert plain_bytes([2] * n, 2) < 9.5 * 3**n


def test_prices_that_the_solver_does_not_support_are_refused(monkeypatch):
    problem = noisy_bayes(3)
    circle = (ConditionalCost("X00", {"X01": "T"}, 9), ConditionalCost("X01", {"X00": "T"}, 9))
    with pytest.raises(TooLargeError, match="does not support cyclic conditional prices"):
        PlainSpace(replace(problem, costs=replace(problem.costs, conditional=circle)))
    monkeypatch.setattr(plain_solution, "MAX_PRICES", 3)
    dearer = (ConditionalCost("X00", {"X01": "T", "X02": "T"}, 9),)
    costly = replace(problem, costs=replace(problem.costs, conditional=dearer))
    with pytest.raises(TooLargeError, match="the price of 'X00' depends on too many features"):
        PlainSolution(PlainSpace(costly), costly)


def test_a_deadline_stops_the_solution():
    space = PlainSpace(chain(3))
    with pytest.raises(TooLargeError, match="not solved in time"):
        PlainSolution(space, space.problem, deadline=Deadline(0))


def test_no_state_is_found_for_impossible_evidence():
    with pytest.raises(InputError, match="impossible"):
        solved(twins(1.0, 1.0)).choose({"A": "T", "B": "F"})


def test_what_to_do_follows_from_the_table_alone():
    problem = noisy_bayes(5)
    solution, table = solved(problem), solve(StateSpace(problem))
    values = solution._values.copy()
    for seed in range(30):
        known = possible_evidence(problem, seed, share=seed / 30)
        assert solution.choose(known) == table.choose(known)
    assert np.array_equal(values, solution._values)
