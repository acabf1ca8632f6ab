"""From which price, and from which stakes, a feature is used."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import table_dp
from helpers.problems import bystander, noisy_bayes, opener, twins, varied
from helpers.solving import cost_of, optimum
from helpers.strategies import OwnCosts, problems, with_discounts
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Constraint, FeatureCosts, Network, Problem, build_policy, load_problem
from voilattice.budgets import Deadline
from voilattice.documents.policies import Threshold
from voilattice.errors import InputError
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import ConditionalCost
from voilattice.policy.certificate import Certificate
from voilattice.policy.interface import Cost
from voilattice.ties import tolerance
from voilattice.what_if import threshold
from voilattice.what_if.threshold import FACTORS, find_threshold

ASIA = load_problem("asia")


def at_price(problem, feature, price):
    prices = {**problem.costs.prices, feature: price}
    return replace(problem, costs=replace(problem.costs, prices=prices))


def at_factor(problem, factor):
    return replace(problem, misclassification=factor * problem.misclassification)


def gain(problem, feature):
    """What the feature takes off the cost of the optimal policy, and the tolerance of ties."""
    without = cost_of(problem.without({feature}), "optimal").expected_total_cost
    return without - cost_of(problem, "optimal").expected_total_cost, tolerance(without)


def brute_gain(problem, feature):
    """The same by brute force over all policies."""
    without = table_dp.optimal_cost(problem.without({feature}), largest=4)
    return without - table_dp.optimal_cost(problem, largest=4), tolerance(without)


def one_test(price):
    """X tells Y for sure: it is worth 20."""
    network = Network.from_tables(
        {"Y": ["T", "F"], "X": ["T", "F"]},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[1.0, 0.0], [0.0, 1.0]]},
    )
    return Problem.create(network, "Y", {"X": price}, [[0, 40], [40, 0]])


def test_one_sure_test_is_worth_the_cost_of_deciding_without_it():
    found = find_threshold(one_test(5.0), "X")
    assert found.prices.threshold == pytest.approx(20.0)
    assert (found.price, found.stake, found.is_used, found.exact) == (5.0, 20.0, True, True)
    assert found.stakes.threshold == found.stakes.at_most == pytest.approx(5.0)
    assert found.stakes.end is None
    assert str(found) == (
        "X (now 5.00) is worth buying below 20.00. It is used at stakes from 5.00 on (now 20.00)."
    )
    dear = find_threshold(one_test(30.0), "X")
    assert dear.prices.threshold == pytest.approx(20.0)
    assert (dear.stakes.threshold, dear.is_used) == (pytest.approx(30.0), False)


def test_the_stakes_of_a_scaled_kind_are_its_expected_cost():
    found = find_threshold(ASIA.with_expected("asymmetric", 70.0), "xray")
    assert found.stake == pytest.approx(70.0)
    start = found.stakes.threshold
    for stake, used in ((start - 0.01, False), (start + 0.01, True)):
        taken, tie = gain(ASIA.with_expected("asymmetric", stake), "xray")
        assert (taken > tie) is used


def test_a_feature_that_tells_nothing_is_never_used():
    found = find_threshold(ASIA, "asia")
    assert found.prices.verdict == "never"
    assert found.prices.threshold is found.stakes.threshold is None
    assert found.stakes.ranges == ()
    assert "not worth buying, even for 0.00. It is not used at any stakes up to" in str(found)


def test_a_twin_is_used_below_the_price_of_the_other():
    found = find_threshold(twins(3.0, 5.0), "B")
    assert found.prices.threshold == pytest.approx(3.0)
    assert found.stakes.ranges == ()  # the cheaper twin does as well, whatever is at stake


def test_a_feature_may_be_bought_only_because_it_makes_another_cheaper():
    found = find_threshold(opener(), "A")
    assert found.is_used
    assert found.prices.least == 1.0  # what its discount takes off
    for price, used in ((found.prices.threshold - 0.01, True), (found.prices.threshold, False)):
        taken, tie = gain(at_price(opener(), "A", price), "A")
        assert (taken > tie) is used
    assert find_threshold(bystander(), "A").prices.verdict == "never"


def test_with_conditional_prices_a_feature_may_be_used_at_any_price():
    problem = one_test(5.0)
    network = Network.from_tables(
        {"Y": ["T", "F"], "X": ["T", "F"], "A": ["T", "F"]},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[1.0, 0.0], [0.0, 1.0]], "A": [0.5, 0.5]},
    )
    costs = FeatureCosts({"X": 5.0, "A": 0.5}, (), (ConditionalCost("X", {"A": "T"}, 1.0),))
    problem = Problem.create(network, "Y", costs, [[0, 40], [40, 0]])
    found = find_threshold(problem, "X")
    assert (found.prices.verdict, found.prices.threshold, found.exact) == ("always", None, True)
    assert "at any price" in str(found)
    assert gain(at_price(problem, "X", 1e9), "X")[0] > 1


def test_a_dearer_better_test_replaces_a_feature_where_much_is_at_stake():
    network = Network.from_tables(
        {"Y": ["T", "F"], "X": ["T", "F"], "Z": ["T", "F"]},
        {"X": ["Y"], "Z": ["Y"]},
        {
            "Y": [0.5, 0.5],
            "X": [[0.8, 0.2], [0.2, 0.8]],
            "Z": [[1.0, 0.0], [0.0, 1.0]],
        },
    )
    problem = Problem.create(network, "Y", {"X": 1.0, "Z": 10.0}, [[0, 40], [40, 0]])
    found = find_threshold(problem, "X")
    # X takes 0.3 λ 40 off and Z 0.5 λ 40; Z after X pays while 40 λ 0.2 > 10.
    ((start, end),) = found.stakes.ranges
    assert start == pytest.approx(20 * 1 / 12)
    assert found.stakes.end == end < 50
    assert not find_threshold(at_factor(problem, 5), "X").is_used


def test_evidence_counts_and_known_features_are_refused():
    found = find_threshold(ASIA, "xray", {"smoke": "yes"})
    assert found.prices.threshold == pytest.approx(
        find_threshold(ASIA.with_evidence({"smoke": "yes"}), "xray").prices.threshold
    )
    with pytest.raises(InputError, match="'xray' is known already"):
        find_threshold(ASIA, "xray", {"xray": "yes"})
    with pytest.raises(InputError, match="^costs: must be prices that can be changed"):
        find_threshold(replace(ASIA, costs=OwnCosts(0)), "xray")


def check(problem, feature):
    """Compare a threshold with the optimal policies around it."""
    found = find_threshold(problem, feature, time_limit=None)
    assert found.exact
    taken, tie = brute_gain(problem, feature)
    assert found.is_used is (taken > tie) or abs(taken - tie) < tie
    least, at = found.prices.least, found.prices.threshold
    if found.prices.verdict == "below":
        assert at >= least
        for price in np.linspace(least, at, 5)[:-1]:
            taken, tie = brute_gain(at_price(problem, feature, float(price)), feature)
            assert taken > 0 or at - price < 1e-3
        for price in (at, at + 0.01, 2 * at + 1):
            taken, tie = brute_gain(at_price(problem, feature, float(price)), feature)
            assert taken <= 2 * tie
    else:
        for price in (least, least + 1, least + 100):
            taken, tie = brute_gain(at_price(problem, feature, price), feature)
            assert (taken > 0) if found.prices.verdict == "always" else (taken <= 2 * tie)
    assert found.stakes.limit == pytest.approx(FACTORS[-1] * found.stake)
    if found.stake:
        ends = [x for r in found.stakes.ranges for x in r]
        around = [x + d for x in ends for d in (-0.01, 0.01)]
        for stake in (*around, 0.01, found.stake / 3, found.stake, 7 * found.stake):
            if 0 < stake < found.stakes.limit:
                taken, tie = brute_gain(at_factor(problem, stake / found.stake), feature)
                inside = any(low < stake < high for low, high in found.stakes.ranges)
                assert (taken > tie) is inside or abs(taken) < 1e-6


@given(problems(max_features=4, max_hidden=1), st.integers(0, 9))
@examples(100)
def test_around_every_threshold_the_optimal_policy_changes(problem, place):
    free = [f for f in problem.features if f not in problem.evidence]
    if free:
        check(problem, free[place % len(free)])


@given(problems(max_features=3, max_hidden=0), st.integers(0, 2**32 - 1))
@examples(40)
def test_thresholds_with_openers(problem, seed):
    problem = with_discounts(replace(problem, evidence={}), seed)
    check(problem, problem.features[seed % len(problem.features)])


def test_the_policy_itself_buys_the_feature_just_below_the_threshold_and_not_above():
    for problem, feature in ((ASIA, "xray"), (ASIA, "dysp"), (varied(), "A"), (varied(), "C")):
        at = find_threshold(problem, feature).prices.threshold
        for price, used in ((at - 0.01, True), (at + 0.01, False)):
            policy = optimum(at_price(problem, feature, price))
            assert (feature in policy.acquired_from(len(policy.nodes) - 1)) is used


@pytest.mark.parametrize(("spend", "feature"), [(12.0, "xray"), (30.0, "dysp"), (9.0, "tub")])
def test_with_a_limit_on_spending_the_threshold_is_bracketed_to_a_cent(spend, feature):
    limited = replace(ASIA, limits=PathLimits(spend=spend))
    found = find_threshold(limited, feature)
    low, high = found.prices.bracket
    assert low < high <= low + 0.01
    assert (found.exact, found.prices.threshold) == (False, low)
    assert "is worth buying up to about" in str(found)
    assert found.prices.curve == ()
    for price, used in ((low - 0.01, True), (high + 0.01, False)):
        policy = build_policy(at_price(limited, feature, price), "optimal")
        assert policy.exact
        assert (feature in policy.acquired_from(len(policy.nodes) - 1)) is used


@pytest.mark.parametrize(("price", "used"), [(4.0, True), (4.001, False), (3.999, True)])
def test_with_a_limit_on_spending_the_present_price_is_in_its_place(price, used):
    """X00 is worth far more than the limit, so it is used up to the limit, the limit included."""
    problem = noisy_bayes(2)
    stakes, limits = 40 * problem.misclassification, PathLimits(spend=4.0)
    limited = at_price(replace(problem, misclassification=stakes, limits=limits), "X00", price)
    found = find_threshold(limited, "X00")
    low, high = found.prices.bracket
    assert found.is_used is used
    assert (low >= price) if used else (high <= price)
    assert low <= 4.0 < high
    assert found.prices.verdict == "below"
    said = found.describe_prices()
    assert said.endswith("is worth buying up to about 4.00." if used else "below 4.00.")


@pytest.mark.slow
def test_visits_have_exact_thresholds_around_the_present_stakes():
    visits = load_problem("heart-visits").with_evidence({"age": "<54.5"})
    found = find_threshold(visits, "thal", time_limit=40)
    at = found.prices.threshold
    assert found.prices.exact
    for price, used in ((at - 0.01, True), (at + 0.01, False)):
        taken, tie = gain(at_price(visits, "thal", price), "thal")
        assert (taken > tie) is used
    start = found.stakes.threshold
    assert start < found.stake < found.stakes.limit
    for stake, used in ((start - 0.01, False), (start + 0.01, True)):
        taken, tie = gain(at_factor(visits, stake / found.stake), "thal")
        assert (taken > tie) is used


@pytest.mark.parametrize("at", [0.3, 7.0, 4e6])
def test_where_the_cost_hardly_rises_bisection_finds_the_threshold(at):
    def cost(price):
        proved = 10.0 if price is None or price >= at else 9.0
        return Cost(proved, Certificate(proved))

    values = SimpleNamespace(
        at=lambda factor, deadline, price: cost(price), without=lambda *_: cost(None)
    )
    found = threshold._last_corner(values, 0.0, 1e7, Deadline())
    assert found == pytest.approx(at, rel=1e-8, abs=1e-8)


def test_few_costs_are_worked_out_for_a_threshold():
    told = []
    heart = load_problem("heart")
    found = find_threshold(heart, "thal", progress=lambda done, what: told.append(what))
    assert found.prices.exact
    assert told.index("stakes") < 25  # all corners of V would take 100


def test_without_a_feature_what_comes_after_it_cannot_be_had_either():
    locked = replace(ASIA, constraints=(Constraint("xray", after=["tub"]),))
    found = find_threshold(locked, "tub")
    assert found.prices.without == pytest.approx(
        build_policy(ASIA.without(["tub", "xray"]), "optimal").expected_total_cost
    )


def test_without_time_nothing_is_claimed_that_is_not_proved():
    diabetes = load_problem("diabetes")
    exact = find_threshold(diabetes, "glucose_tol")
    found = find_threshold(diabetes, "glucose_tol", time_limit=0)
    assert not found.exact
    assert found.stakes.ranges == ()
    assert found.prices.threshold is None
    low, high = found.prices.bracket
    assert low is None or low <= exact.prices.threshold
    assert high is None or high >= exact.prices.threshold
    assert "not proved" in str(found)
    json.dumps(Threshold.json_of(found), allow_nan=False)


def test_use_at_the_present_stakes_is_said_if_less_was_examined():
    found = find_threshold(one_test(5.0), "X")
    cut = replace(found.stakes, ranges=((5.0, 8.0),), limit=8.0, exact=False)
    assert replace(found, stakes=cut).describe_stakes() == (
        "It is used at stakes from 5.00 to 8.00 (now 20.00). More than 8.00 was not examined. "
        "It is used at the present stakes."
    )


@pytest.mark.parametrize(
    ("is_used", "at_most", "limit", "said"),
    [
        (True, 20.0, 0.0, "It is used at the present stakes, 20.00. "),
        (False, None, 0.0, "It is not used at the present stakes, 20.00. "),
        (None, None, 0.0, "It may be used at the present stakes, 20.00. "),
        (True, 20.0, 3.0,
         "It is used at the present stakes, 20.00. It is not used at any stakes up to 3.00. "),
    ],
)  # fmt: skip
def test_stakes_that_were_not_examined_are_not_denied(is_used, at_most, limit, said):
    found = find_threshold(one_test(5.0), "X")
    cut = replace(found.stakes, ranges=(), limit=limit, at_most=at_most, exact=False)
    assert replace(found, is_used=is_used, stakes=cut).describe_stakes() == (
        f"{said}There was no time to examine other stakes."
    )


def test_progress_is_told():
    told = []
    find_threshold(one_test(5.0), "X", progress=lambda done, what: told.append((done, what)))
    assert {what for _, what in told} == {"prices", "stakes"}
    assert [done for done, _ in told] == list(range(1, len(told) + 1))


def test_curves_are_the_optimal_costs():
    found = find_threshold(ASIA, "dysp")
    for price, cost in found.prices.curve:
        exact = cost_of(at_price(ASIA, "dysp", price), "optimal").expected_total_cost
        assert cost == pytest.approx(exact)
    for stake, cost in found.stakes.curve:
        exact = cost_of(at_factor(ASIA, stake / found.stake), "optimal").expected_total_cost
        assert cost == pytest.approx(exact)
    assert found.prices.without == pytest.approx(found.prices.curve[-1][1])


def test_the_share_of_cases_and_the_saving_are_those_of_the_optimal_policy():
    problem = load_problem("asia")
    found = find_threshold(problem, "smoke")
    policy = build_policy(problem, "optimal")
    without = build_policy(problem.without({"smoke"}), "optimal")
    saving = without.expected_total_cost - policy.expected_total_cost
    assert found.saving == pytest.approx(saving)
    assert found.share == pytest.approx(0.0627, abs=1e-4)  # the tree: after xray, dysp and tub
    assert found.describe_use() == (
        "At 1.00 it is acquired in 6 % of cases and saves 8.74 against not being able to have it."
    )


def test_nothing_is_said_of_the_use_of_a_feature_that_is_not_used():
    found = find_threshold(load_problem("figure1"), "X1")
    assert (found.share, found.describe_use()) == (None, "")


def test_with_conditional_prices_the_price_does_not_tell_the_share():
    problem = load_problem("asia")
    other = ConditionalCost("smoke", (("dysp", "yes"),), 2.0)
    costs = replace(problem.costs, conditional=(other,))
    found = find_threshold(replace(problem, costs=costs), "smoke")
    assert found.share is None
    assert found.describe_use().startswith("At its price now it saves ")
