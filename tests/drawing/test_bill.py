from dataclasses import replace

import pytest
from helpers.rich_worlds import rich_problem
from helpers.strategies import OwnCosts
from helpers.ward import ward

from voilattice import Constraint, build_policy, load_problem
from voilattice.drawing.bill import expected_bill
from voilattice.model.costs import Discount, FeatureCosts
from voilattice.policy.policy import Acquisition
from voilattice.policy.solvers import policy_from_rule


@pytest.mark.parametrize("seed", range(40))
def test_the_bill_to_expect_adds_up_and_has_the_shares_of_the_paths(seed):
    policy = build_policy(rich_problem(seed), "optimal")
    rows = expected_bill(policy)
    assert all(row.kind != "rest" for row in rows)  # which would make any sum right
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


SHARING = ("groups", "discounts", "conditional", "rounds")


def rounds(policy, path):
    """What a path acquires at each of its nodes, and what is known there."""
    found, known = dict(path.evidence), dict(policy.problem.evidence)
    while isinstance(node := policy.follow(known), Acquisition):
        yield node.features, dict(known)
        known |= {feature: found[feature] for feature in node.features}


def price_of(costs, feature, known):
    """What the first condition that holds says, or else the price."""
    for entry in costs.conditional:
        if entry.feature == feature and set(entry.when) <= set(known.items()):
            return entry.cost
    return costs.prices[feature]


def buy_all(problem, first):
    """A policy that acquires every feature, one or two at a time."""

    def rule(known):
        left = [f for f in problem.features if f not in {**problem.evidence, **known}]
        return set(left[: 1 + (first + len(left)) // 2 % 2])

    return policy_from_rule(problem, rule)


@pytest.mark.parametrize("parts", [("discounts",), ("conditional",), SHARING])
@pytest.mark.parametrize("seed", range(40))
def test_discounts_and_conditional_prices_are_those_of_the_paths(seed, parts):
    policy = buy_all(rich_problem(seed, parts), seed)
    costs = policy.problem.costs
    saved = {("discount", discount.name): 0.0 for discount in costs.discounts}
    saved |= {("condition", entry.feature): 0.0 for entry in costs.conditional}
    for path in policy.paths():
        for features, known in rounds(policy, path):
            for discount in costs.discounts:
                off = sorted(discount.off[f] for f in features if f in discount.off)
                if not known.keys() & discount.off.keys():
                    off = off[1:]  # the first one has its full price
                saved["discount", discount.name] += path.probability * sum(off)
            for feature in features:
                less = costs.prices[feature] - price_of(costs, feature, known)
                if less:
                    saved["condition", feature] += path.probability * less
    rows = {(row.kind, row.name): row.amount for row in expected_bill(policy)}
    assert ("rest", "") not in rows
    for key, amount in saved.items():
        assert rows[key] == pytest.approx(-amount, abs=1e-9), key


def test_what_the_order_of_constraints_takes_from_a_discount_is_the_rest():
    asia = load_problem("asia")
    costs = FeatureCosts(
        dict.fromkeys(asia.features, 10.0), discounts=(Discount("lab", {"xray": 7, "dysp": 1}),)
    )
    ordered = replace(asia, costs=costs, constraints=(Constraint("dysp", after=("xray",)),))
    policy = policy_from_rule(ordered, lambda known: set() if known else {"xray", "dysp"})
    rows = {row.kind: row for row in expected_bill(policy)}
    # By themselves dysp would come first, and xray would cost 7 less. Now xray comes first.
    assert rows["discount"].amount == pytest.approx(-7)
    assert rows["rest"].amount == pytest.approx(6)
    assert policy.expected_feature_cost == pytest.approx(19)


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
