"""The optimal policy that is written from tables, beside the one that is built state by state."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.problems import noisy_bayes, weak_bayes
from helpers.rich_worlds import PARTS, rich_problem

from voilattice import Network, Problem, build_policy, load_problem
from voilattice.errors import TooLargeError
from voilattice.model.acquisition import PathLimits
from voilattice.optimal.exact import writing
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace
from voilattice.optimal.exact.writing import RareEvidence, write_policy
from voilattice.policy.builder import PolicyBuilder
from voilattice.policy.policy import Acquisition
from voilattice.policy.solvers import Limits

SINGLE_STEPS = ("groups", "discounts", "conditional", "constraints", "decisions")
close = pytest.approx


def staked(problem, factor=40.0):
    return replace(problem, misclassification=factor * problem.misclassification)


def assert_same(mine, other):
    """Both policies have the same nodes, in any order."""
    pairs = {(len(mine.nodes) - 1, len(other.nodes) - 1)}
    stack = list(pairs)
    while stack:
        a, b = (policy.nodes[k] for policy, k in zip((mine, other), stack.pop(), strict=True))
        assert type(a) is type(b)
        if not isinstance(a, Acquisition):
            assert (a.decision, a.is_open) == (b.decision, b.is_open)
            assert (a.emc, *a.posterior) == close((b.emc, *b.posterior), rel=1e-12, abs=1e-12)
            continue
        assert (a.features, a.price) == (b.features, b.price)
        assert [x.states for x in a.branches] == [x.states for x in b.branches]
        for x, y in zip(a.branches, b.branches, strict=True):
            assert x.probability == close(y.probability, rel=1e-12, abs=1e-12)
            if (x.child, y.child) not in pairs:
                pairs.add((x.child, y.child))
                stack.append((x.child, y.child))
    assert len(pairs) == len(mine.nodes) == len(other.nodes)


def both(solution, max_states=10**6):
    """The policy written from the tables, and the one that is built from the same choices."""
    written = write_policy(solution, "optimal", Limits(max_states, None))
    builder = PolicyBuilder(solution.problem, max_states=max_states)
    return written, builder.build("optimal", lambda s: solution.choose(s.known, s.left))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("parts", [PARTS, SINGLE_STEPS, ("limits", "groups")])
def test_the_written_policy_is_the_built_one(seed, parts):
    problem = staked(rich_problem(seed, parts, n_features=5, max_states=3))
    try:
        solution = solve_exactly(find_states(problem), problem)
    except TooLargeError:
        return
    assert_same(*both(solution))


@pytest.mark.parametrize("seed", range(40))
def test_a_plain_table_gives_the_same_policy(seed):
    problem = staked(rich_problem(seed, SINGLE_STEPS, n_features=5, max_states=3))
    try:
        solution = PlainSolution(PlainSpace(problem), problem)
    except TooLargeError:
        return
    assert_same(*both(solution))


@pytest.mark.parametrize("limits", [{"features": 3}, {"rounds": 2}, {"spend": 4.0}, {}])
def test_limits_are_counted_along_the_paths(limits):
    problem = replace(staked(noisy_bayes(6), 300.0), limits=PathLimits(**limits))
    written, built = both(solve_exactly(find_states(problem), problem))
    assert_same(written, built)
    assert written.n_acquisitions > 1


@pytest.mark.parametrize("name", ["asia", "heart", "thyroid"])
@pytest.mark.parametrize("max_states", [1, 2, 3, 7, 30])
def test_a_small_policy_is_cut_where_the_builder_cuts_it(name, max_states):
    problem = load_problem(name)
    written, built = both(solve_exactly(find_states(problem), problem), max_states)
    assert len(written.nodes) <= max_states
    assert_same(written, built)
    assert (written.status, written.certificate.note) == (built.status, built.certificate.note)


def test_a_larger_policy_is_cut_about_where_the_builder_cuts_it():
    problem = weak_bayes(7)
    solution = solve_exactly(find_states(problem), problem)
    whole = write_policy(solution, "optimal", Limits(10**6, None))
    n = len(whole.nodes)
    assert n > 200
    for max_states in (n // 8, n // 2, n - 1):
        written, built = both(solution, max_states)
        assert max_states - 5 < len(written.nodes) <= max_states
        assert written.open_share == close(built.open_share, abs=0.05)
    exactly, _ = both(solution, n)
    assert exactly.status == "ok"


def test_without_time_the_root_is_open():
    problem = load_problem("asia")
    solution = solve_exactly(find_states(problem), problem)
    policy = write_policy(solution, "optimal", Limits(time_limit=0))
    assert (len(policy.nodes), policy.root.is_open, policy.status) == (1, True, "time")


def test_a_little_time_is_for_the_most_probable_states(monkeypatch):
    problem = weak_bayes(5)
    solution = solve_exactly(find_states(problem), problem)
    whole = write_policy(solution, "optimal", Limits(time_limit=None))
    monkeypatch.setattr(writing, "SECONDS_PER_STATE", 20.0)  # three states a round
    assert_same(write_policy(solution, "optimal", Limits(time_limit=70.0)), whole)
    monkeypatch.setattr(writing, "SECONDS_PER_NODE", 10.0)  # until there are seven states
    policy = write_policy(solution, "optimal", Limits(time_limit=70.0))
    assert (policy.status, policy.root.features) == ("time", whole.root.features)
    assert 0 < policy.open_share < 1 or len(policy.nodes) <= 7


@pytest.mark.parametrize(("q", "is_rare"), [(1e-240, False), (1e-260, True), (0.0, False)])
def test_evidence_that_is_too_rare_for_the_tables_is_left_to_the_builder(q, is_rare):
    network = Network.from_tables(
        {"Y": ["a", "b"], "X": ["low", "high", "rare"], "Z": ["a", "b"]},
        {"X": ["Y"], "Z": ["Y"]},
        {"Y": [0.4, 0.6], "X": [[0.8, 0.2, q], [0.3, 0.7, 2 * q]], "Z": [[0.8, 0.2], [0.3, 0.7]]},
    )
    problem = Problem.create(network, "Y", {"X": 1.0, "Z": 1.0}, ("symmetric", 100.0))
    solution = solve_exactly(find_states(problem), problem)
    if is_rare:
        with pytest.raises(RareEvidence):
            write_policy(solution, "optimal", Limits())
    else:
        assert_same(*both(solution))
    policy = build_policy(problem, "optimal")
    assert policy.exact
    assert policy.expected_total_cost == close(solution.expected_total_cost)
    rare = [n for n in policy.nodes if isinstance(n, Acquisition) and n.features == ("X",)]
    assert {len(node.branches) for node in rare} == {2 if q == 0 else 3}


def test_probabilities_add_up():
    policy = build_policy(load_problem("heart"), "optimal")
    for node in policy.nodes:
        if isinstance(node, Acquisition):
            assert sum(b.probability for b in node.branches) == close(1.0, abs=1e-14)
    assert np.isclose(sum(path.probability for path in policy.paths()), 1.0)
