"""Policies side by side."""

import pytest
from helpers.solving import POLICIES

from voilattice import load_problem
from voilattice.errors import InputError
from voilattice.policy import solvers
from voilattice.policy.comparison import AS_GIVEN, compare
from voilattice.policy.solvers import (
    RuleSolver,
    build_policy,
    register,
    solver_of,
    unregister,
)

ASIA = load_problem("asia")


def test_a_comparison_is_what_its_policies_cost():
    rows = compare(ASIA, [0, 300], policies=("greedy", "greedy-la"), n_jobs=1)
    assert len(rows) == 2 * 2 * 2
    for row in rows:
        staked = ASIA.with_expected(row.kind, row.expected)
        exact = build_policy(staked, row.policy).expected_total_cost
        assert row.expected_total_cost == pytest.approx(exact)
        assert row.savings == pytest.approx(row.expected - exact)
    assert rows == compare(ASIA, [0, 300], policies=("greedy", "greedy-la"), n_jobs=2)
    with pytest.raises(InputError, match="^expected: must be >= 0, got -1"):
        compare(ASIA, [-1])


def test_without_a_sweep_the_stakes_are_the_problems_own():
    found = compare(ASIA)
    assert [row.policy for row in found] == list(POLICIES)
    assert {row.kind for row in found} == {AS_GIVEN}
    for row in found:
        policy = build_policy(ASIA, row.policy)
        assert row.expected_total_cost == pytest.approx(policy.expected_total_cost)
        assert row.certificate.exact
    assert found[-1].certificate.lower_bound == pytest.approx(found[-1].expected_total_cost)
    assert found[0].certificate.lower_bound is None


def first_feature(situation):
    return 1 << situation.axes[0] if situation.axes else 0


@pytest.mark.slow
def test_a_solver_of_ones_own_is_compared_in_other_processes_too():
    register(RuleSolver("first", first_feature))
    try:
        found = compare(ASIA, [50, 100], policies=["none", "first"], n_jobs=2)
        alone = compare(ASIA, [50, 100], policies=["none", "first"], n_jobs=1)
    finally:
        unregister("first")
    assert list(found) == list(alone)
    assert {row.policy for row in found} == {"none", "first"}


def test_savings_need_no_policy_called_none(monkeypatch):
    monkeypatch.setattr(solvers, "_registry", {"greedy-la": solver_of("greedy-la")})
    (row,) = compare(ASIA)
    assert row.savings == pytest.approx(110.0 - row.expected_total_cost)
