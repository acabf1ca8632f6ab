"""Policies side by side."""

from dataclasses import replace

import pytest
from helpers.solving import POLICIES, Refuses, first_feature
from helpers.ward import ward

from voilattice import load_problem
from voilattice.budgets import Deadline
from voilattice.documents.policies import comparison_rows
from voilattice.errors import InputError, VoilatticeError
from voilattice.files.variants import load_variants
from voilattice.model.what_if import change_problem
from voilattice.policy import comparison, solvers
from voilattice.policy.comparison import AS_GIVEN, compare, compare_variants
from voilattice.policy.policy import Acquisition, Certificate
from voilattice.policy.solvers import (
    Cost,
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


def test_the_problems_own_costs_can_be_swept():
    problem = replace(ward(), evidence={"age": "young"})
    stake = float((problem.misclassification @ problem.prior).min())
    rows = compare(problem, [0, stake, 2 * stake], kinds=[AS_GIVEN], policies=POLICIES, n_jobs=1)
    for row in rows:
        scaled = change_problem(problem, stakes={"scale": row.expected / stake})
        assert row.kind == AS_GIVEN
        assert row.expected_total_cost == pytest.approx(
            build_policy(scaled, row.policy).expected_total_cost
        )
    free = replace(problem, misclassification=problem.misclassification * 0)
    with pytest.raises(InputError, match="kinds: the problem's own costs have no multiple"):
        compare(free, [100], kinds=[AS_GIVEN])


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


@pytest.fixture
def refuses():
    register(Refuses())
    yield
    unregister("refuses")


def test_a_policy_that_does_not_fit_has_a_row_that_says_what_stopped_it(refuses):
    rows = {row.policy: row for row in compare(ASIA)}
    assert list(rows) == [*POLICIES, "refuses"]
    stopped = rows["refuses"]
    assert stopped.expected_total_cost is stopped.savings is None
    assert (stopped.exact, stopped.status) == (False, "memory")
    assert stopped.certificate.note == "it would need a table of 9 GB."
    assert stopped.cost_text == "?"
    assert rows["greedy-la"].exact
    found = compare(ASIA)
    assert "?  not all worked out" in str(found)
    assert ">?</td>" in found._repr_html_()
    assert comparison_rows(found)[-1]["expected_total_cost"] is None


def test_an_interval_is_shown_as_one():
    class Rough(Refuses):
        name = "rough"

        def cost(self, problem, limits, *, sweep=None):
            return Cost(None, Certificate(None, False, "time"), 1.5, 20.0)

    register(Rough())
    try:
        (row,) = compare(ASIA, policies=["rough"])
    finally:
        unregister("rough")
    assert (row.cost_text, row.at_least, row.at_most) == ("1.50 to 20.00", 1.5, 20.0)


def test_without_time_every_policy_still_has_a_row():
    rows = compare(load_problem("heart"), time_limit=0)
    assert [row.policy for row in rows] == list(POLICIES)
    assert rows[0].exact
    for row in rows[2:]:
        assert (row.exact, row.status) == (False, "time")
    for row in rows[2:-1]:
        assert row.expected_total_cost == pytest.approx(row.expected)  # they decide at once
    assert rows[-1].expected_total_cost <= rows[-1].expected + 1e-9
    assert rows[-1].certificate.lower_bound <= rows[-1].expected_total_cost


def test_rules_come_first_and_leave_their_time_to_the_optimum(monkeypatch):
    asked = []

    class Notes(Refuses):
        def __init__(self, name):
            self.name = name

        def cost(self, problem, limits, *, sweep=None):
            asked.append((self.name, limits.deadline.seconds_left))
            return Cost(1.0, Certificate())

    rule = RuleSolver("rule", lambda situation: 0)
    monkeypatch.setattr(solvers, "_registry", {"slow": Notes("slow"), "rule": rule})
    monkeypatch.setattr(
        RuleSolver, "cost", lambda self, problem, limits, sweep=None: Notes.cost(self, 0, limits)
    )
    rows = compare(ASIA, time_limit=100)
    assert [row.policy for row in rows] == ["slow", "rule"]
    (first, early), (second, late) = asked
    assert (first, second) == ("rule", "slow")
    assert early == pytest.approx(100 / 9, abs=2)
    assert late == pytest.approx(100, abs=2)


def test_parts_of_a_sweep_that_wait_have_time_too():
    ends = comparison._deadlines(Deadline(100.0), 4, 2)
    assert [round(end.seconds_left) for end in ends] == [50, 50, 100, 100]
    assert comparison._deadlines(Deadline(), 2, 1)[1].seconds_left is None


@pytest.mark.parametrize(
    ("cost", "least", "other", "other_least", "beats"),
    [
        (5.0, 5.0, 6.0, 6.0, True),
        (6.0, 6.0, 6.0, 6.0, False),
        (6.0 - 1e-12, 6.0 - 1e-12, 6.0, 6.0, False),  # a tie
        (5.0, 4.0, 6.0, 5.5, True),
        (5.0, 4.0, 6.0, 4.5, None),
        (None, None, 6.0, 6.0, None),
    ],
)
def test_an_optimum_beats_another_only_if_that_is_proved(cost, least, other, other_least, beats):
    mine, theirs = Cost(cost, Certificate(least)), Cost(other, Certificate(other_least))
    assert mine.beats(theirs) is beats


def test_variants_share_work_and_cost_what_their_policies_cost():
    settings = {"costs.xray": [0, 30], "misclassification.yes.no": [50, 500]}
    variants = load_variants("asia", settings)
    rows = compare_variants(variants, feature="xray", n_jobs=1)
    assert len(rows) == 4 * len(POLICIES)
    for k, variant in enumerate(variants):
        for row in rows[k * len(POLICIES) : (k + 1) * len(POLICIES)]:
            policy = build_policy(variant.problem, row.policy)
            assert row.settings == variant.settings
            assert row.expected_total_cost == pytest.approx(policy.expected_total_cost)
        root = policy.root  # of the optimal policy, the last one
        assert row.first == frozenset(root.features if isinstance(root, Acquisition) else ())
        assert row.uses is ("xray" in policy.acquired_from(len(policy.nodes) - 1))
    with pytest.raises(VoilatticeError, match="no feature 'xrai'"):
        compare_variants(variants, feature="xrai")


@pytest.mark.parametrize(
    "settings",
    [
        {"rounds.cost": [0, 5, 0]},
        {"rounds.cost": [5, 0]},
        {"limits.rounds": [1, 2], "costs.xray": [0, 30]},
        {"limits.spend": [30], "rounds.cost": [0, 3]},
        {"limits.spend": [4, 30], "limits.features": [1, 3]},
    ],
)
def test_variants_with_rounds_and_limits_cost_what_their_policies_cost(settings):
    variants = load_variants("asia", settings)
    rows = compare_variants(variants, policies=["optimal"], n_jobs=1)
    for row, variant in zip(rows, variants, strict=True):
        policy = build_policy(variant.problem, "optimal")
        assert row.expected_total_cost == pytest.approx(policy.expected_total_cost)
        assert row.exact
        root = policy.root
        assert row.first == frozenset(root.features if isinstance(root, Acquisition) else ())
