from dataclasses import replace

import pytest
from helpers.rich_worlds import rich_problem
from helpers.strategies import OwnCosts
from helpers.ward import ward

from voilattice import build_policy, load_problem
from voilattice.drawing.bill import expected_bill
from voilattice.model.costs import FeatureCosts


@pytest.mark.parametrize("seed", range(40))
def test_the_bill_to_expect_adds_up_and_has_the_shares_of_the_paths(seed):
    policy = build_policy(rich_problem(seed), "optimal")
    rows = expected_bill(policy)
    total = sum(row.amount for row in rows)
    assert total == pytest.approx(policy.expected_feature_cost, abs=1e-7)
    bought = {row.name: row.times for row in rows if row.kind == "feature"}
    assert set(bought) == set(policy.problem.features)
    for feature, times in bought.items():
        share = sum(path.probability for path in policy.paths() if feature in dict(path.evidence))
        assert times == pytest.approx(share)


@pytest.mark.parametrize("seed", range(40))
def test_shared_costs_are_those_of_the_paths(seed):
    policy = build_policy(rich_problem(seed), "optimal")
    costs, known = policy.problem.costs, set(policy.problem.evidence)
    rows = {(row.kind, row.name): row for row in expected_bill(policy)}
    assert isinstance(costs, FeatureCosts)
    for group in costs.groups:
        members = set(group.features)
        paid = sum(
            path.probability for path in policy.paths()
            if members & (set(dict(path.evidence)) - known) and not members & known
        )  # fmt: skip
        assert rows["group", group.name].times == pytest.approx(paid)
        assert rows["group", group.name].amount == pytest.approx(paid * group.overhead)
    if costs.round_cost:
        assert rows["round", ""].times == pytest.approx(policy.expected_rounds)


def test_a_problem_without_a_rest_has_no_row_for_it():
    kinds = [row.kind for row in expected_bill(build_policy(ward(), "optimal"))]
    assert kinds == ["feature"] * 5 + ["round"]


def test_prices_of_ones_own_are_one_row():
    problem = replace(load_problem("figure1").with_expected("symmetric", 400), costs=OwnCosts(2))
    policy = build_policy(problem, "greedy-la")
    *features, last = expected_bill(policy)
    assert last.kind == "rest"
    assert last.amount == pytest.approx(policy.expected_feature_cost)
    assert all(row.price is None for row in features)
