import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from strategies import problems

from voilattice import load_problem
from voilattice.errors import InputError, UnknownNameError
from voilattice.evaluation import apply_policy, compare, simulate
from voilattice.policies import POLICIES, build_policy, policy_from_rule

ASIA = load_problem("asia")


@settings(max_examples=25)
@given(problem=problems(max_features=4))
def test_every_path_applied_to_its_own_case_costs_what_it_says(problem):
    policy = build_policy(problem, "greedy-la")
    paths = list(policy.paths())
    cases = {name: [dict(path.evidence).get(name) for path in paths] for name in problem.features}
    applied = apply_policy(policy, cases)
    assert applied.feature_cost == pytest.approx([path.feature_cost for path in paths])
    assert applied.decision.tolist() == [path.leaf.decision for path in paths]
    assert [set(b) for b in applied.bought] == [set(dict(path.evidence)) for path in paths]


@pytest.mark.parametrize("name", POLICIES)
def test_simulation_agrees_with_the_exact_cost(name):
    policy = build_policy(ASIA, name)
    found = simulate(policy, 20_000, seed=1)
    # Three half-widths of a 95 % interval: one run in 10^8 would be outside.
    assert abs(found.expected_total_cost - policy.expected_total_cost) <= 3 * found.margin + 1e-9


def test_what_is_missing_is_done_without():
    policy = build_policy(ASIA, "greedy-la")
    cases = {"tub": [None, "no"], "xray": ["yes", "yes"], "smoke": ["yes", float("nan")]}
    cases |= {"dysp": ["yes", ""], "lung": ["yes", "no"], "bronc": ["no", "no"]}
    applied = apply_policy(policy, cases)
    assert "tub" not in applied.bought[0]
    assert applied.bought[1][:2] == ("tub", "xray")
    assert not {"smoke", "dysp"} & set(applied.bought[1])
    assert applied.total_cost == pytest.approx(
        applied.feature_cost + applied.misclassification_cost
    )
    everything_missing = apply_policy(policy, {"xray": [None]})
    assert everything_missing.bought[0] == ()
    assert everything_missing.total_cost is None


def test_a_hundred_thousand_rows_are_followed_together():
    rng = np.random.default_rng(0)
    cases = {name: rng.choice(["yes", "no"], 100_000) for name in ASIA.features}
    policy = build_policy(ASIA, "batch")
    applied = policy.apply(pd.DataFrame(cases))
    assert len(applied.decision) == 100_000
    first = {name: cases[name][0] for name in ASIA.features}
    assert policy.follow(first).decision == applied.decision[0]


def test_cases_that_make_no_sense_are_named():
    policy = build_policy(ASIA, "batch")
    with pytest.raises(UnknownNameError, match=r"xray, row 1: no state 'maybe'; its states are"):
        apply_policy(policy, {"xray": ["yes", "maybe"]})
    with pytest.raises(InputError, match="lung, row 0: the true class is missing"):
        apply_policy(build_policy(ASIA, "none"), {"lung": [None]})
    rule = policy_from_rule(ASIA, lambda e: set() if e else {"xray"})
    with pytest.raises(InputError, match="row 0: xray is missing, and policy 'rule' cannot be"):
        apply_policy(rule, {"xray": [None]})


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
