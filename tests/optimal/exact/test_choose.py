"""The choice between blocks and a plain table, and that nobody sees which one was taken."""

import pytest
from helpers.problems import chain, noisy_bayes, varied
from helpers.solving import cost_of, optimal_step, optimum
from helpers.strategies import possible_evidence, problems
from helpers.worlds import examples
from hypothesis import assume, given

from voilattice import load_problem
from voilattice.budgets import Deadline, memory_limit
from voilattice.errors import TooLargeError
from voilattice.optimal.exact import choose as exact
from voilattice.optimal.exact import plain_solution
from voilattice.optimal.exact.bundles import bundles_of
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace, plain_bytes
from voilattice.optimal.exact.solution import Solution
from voilattice.optimal.exact.space import StateSpace
from voilattice.policy.sweep import Sweep


@pytest.fixture
def tables_only(monkeypatch):
    """Take a plain table wherever it fits."""
    _take_tables(monkeypatch)


def _take_tables(patch):
    patch.setattr(exact, "PLAIN_FROM", 0)
    patch.setattr(exact, "BYTES_PER_STATE", 10**9)


def test_where_nothing_merges_the_table_is_plain():
    assert isinstance(find_states(noisy_bayes(13)), PlainSpace)


@pytest.mark.slow
def test_where_states_merge_they_are_in_blocks():
    for problem in (chain(14), load_problem("heart"), load_problem("hepatitis")):
        assert isinstance(find_states(problem), StateSpace)


def test_small_problems_are_solved_in_blocks():
    assert isinstance(find_states(noisy_bayes(5)), StateSpace)


def test_the_smaller_one_is_taken(monkeypatch):
    monkeypatch.setattr(exact, "PLAIN_FROM", 0)
    problem = noisy_bayes(4)  # 81 states, in blocks and in the table
    table = plain_bytes([2] * 4, 2)
    monkeypatch.setattr(exact, "BYTES_PER_STATE", table // 81 + 1)
    assert isinstance(find_states(problem), PlainSpace)
    monkeypatch.setattr(exact, "BYTES_PER_STATE", table // 810)
    assert isinstance(find_states(problem), StateSpace)


def test_blocks_are_found_only_if_some_states_merge(monkeypatch):
    found = []
    monkeypatch.setattr(exact, "StateSpace", lambda *args, **options: found.append(options))
    find_states(noisy_bayes(13))
    assert not found
    find_states(chain(14))
    (options,) = found
    assert options["max_states"] == plain_bytes([2] * 14, 2) // 25


def test_how_many_states_stay_apart_is_estimated():
    problem = noisy_bayes(9)
    assert exact._count_apart(problem, exact.Relevance(problem)) == exact.N_DRAWN
    problem = chain(9)  # of all that is known only the nearest matters
    assert exact._count_apart(problem, exact.Relevance(problem)) < 0.05 * exact.N_DRAWN


def test_where_blocks_do_not_fit_the_table_is_taken():
    problem = noisy_bayes(11)
    with memory_limit(plain_bytes([2] * 11, 2)):
        with pytest.raises(TooLargeError):
            StateSpace(problem)
        assert isinstance(find_states(problem), PlainSpace)
    with memory_limit(plain_bytes([2] * 11, 2) - 1), pytest.raises(TooLargeError):
        find_states(problem)


def test_a_table_that_would_take_too_long_is_not_begun(monkeypatch):
    problem = noisy_bayes(13)
    with pytest.raises(TooLargeError):
        find_states(problem, deadline=Deadline(0))
    monkeypatch.setattr(exact, "PLAIN_NANOSECONDS", (1e9, 1e9))
    assert isinstance(find_states(problem, deadline=Deadline(60)), StateSpace)


def test_each_space_has_its_solution():
    problem = varied()
    spaces = StateSpace(problem), PlainSpace(problem)
    blocks, table = (solve_exactly(space, problem) for space in spaces)
    assert isinstance(blocks, Solution)
    assert isinstance(table, PlainSolution)
    assert table.expected_total_cost == pytest.approx(blocks.expected_total_cost, rel=1e-12)


@pytest.mark.slow
@examples(60)
@given(problem=problems(max_features=4))
def test_the_policy_does_not_depend_on_how_it_is_solved(problem):
    assume(not bundles_of(problem))
    blocks = optimum(problem)
    with pytest.MonkeyPatch.context() as patch:
        _take_tables(patch)
        table = optimum(problem)
    assert table.nodes == blocks.nodes
    assert table.certificate.lower_bound == pytest.approx(blocks.lower_bound, abs=1e-9)


@pytest.mark.parametrize("name", ["figure1", "figure3", "asia", "liver", "diabetes"])
def test_built_in_policies_do_not_depend_on_how_they_are_solved(name, monkeypatch):
    problem = load_problem(name)
    blocks = optimum(problem)
    steps = [optimal_step(problem, possible_evidence(problem, seed)) for seed in range(5)]
    _take_tables(monkeypatch)
    assert isinstance(find_states(problem), PlainSpace)
    assert optimum(problem).nodes == blocks.nodes
    for seed, step in enumerate(steps):
        optimal = optimal_step(problem.with_expected("symmetric", 1.0))  # forget what was solved
        assert optimal.certificate.exact
        again = optimal_step(problem, possible_evidence(problem, seed))
        assert again.features == step.features
        assert again.cost_to_go == pytest.approx(step.cost_to_go, abs=1e-9)


def test_a_sweep_over_a_plain_table(tables_only):
    asia = load_problem("asia")
    sweep = Sweep(asia, "symmetric")
    for x in (0.0, 5.0, 300.0):
        staked = asia.with_expected("symmetric", x)
        want = solve_exactly(StateSpace(staked), staked).expected_total_cost
        found = cost_of(staked, "optimal", sweep=sweep)
        assert found.expected_total_cost == pytest.approx(want, abs=1e-9)


def test_a_table_that_is_stopped_gives_way_to_the_search(tables_only, monkeypatch):
    def stopped(*args, **options):
        raise TooLargeError("the states were not solved in time")

    monkeypatch.setattr(plain_solution, "solve_plain", stopped)
    found = optimum(load_problem("asia"), time_limit=60.0)
    assert found.exact  # the search needs no table
    assert found.expected_total_cost == pytest.approx(62.46, abs=0.01)
