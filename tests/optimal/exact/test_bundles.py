"""Bundles: the sets of features that can be cheaper together."""

from dataclasses import replace

import pytest
from helpers.problems import naive_bayes

from voilattice import ConditionalCost, Constraint, Discount, FeatureCosts, Problem
from voilattice.errors import TooLargeError
from voilattice.optimal.exact.bundles import bundles_of


class Flat:
    """Prices of a user's own."""

    def cost(self, features, evidence):
        return float(len(features) > 0)


def priced_by(n, *pairs):
    """n features; of each pair, the price of the first depends on the second."""
    names = naive_bayes(n).features
    conditional = tuple(ConditionalCost(names[a], {names[b]: "T"}, 9) for a, b in pairs)
    costs = FeatureCosts(dict.fromkeys(names, 1.0), conditional=conditional)
    return Problem.create(naive_bayes(n).network, "Y", costs, [[0, 9], [9, 0]])


def with_own_prices(n):
    return Problem.create(naive_bayes(n).network, "Y", Flat(), [[0, 9], [9, 0]])


def test_prices_without_a_circle_make_no_bundle():
    assert bundles_of(priced_by(4)) == []
    assert bundles_of(priced_by(4, (0, 1), (1, 2), (2, 3))) == []
    assert bundles_of(priced_by(4, (3, 0), (3, 1), (2, 0))) == []


def test_two_that_name_each_other_are_a_bundle():
    assert bundles_of(priced_by(4, (1, 3), (3, 1))) == [0b1010]


def test_a_feature_that_only_hangs_on_a_circle_is_in_no_bundle():
    # 0 depends on the circle of 1 and 2, which depends on 3; neither 0 nor 3 is in a circle.
    assert bundles_of(priced_by(4, (0, 1), (1, 2), (2, 1), (2, 3))) == [0b0110]


def test_a_circle_of_three_is_one_bundle():
    assert bundles_of(priced_by(3, (0, 1), (1, 2), (2, 0))) == [0b111]


def test_circles_that_share_a_feature_are_bundles_alone_and_together():
    assert bundles_of(priced_by(3, (0, 1), (1, 0), (1, 2), (2, 1))) == [0b011, 0b110, 0b111]


def test_circles_that_share_nothing_are_not_joined():
    assert bundles_of(priced_by(4, (0, 1), (1, 0), (2, 3), (3, 2))) == [0b0011, 0b1100]


def test_a_circle_that_depends_on_another_is_not_joined_with_it():
    linked = priced_by(4, (0, 1), (1, 0), (2, 3), (3, 2), (0, 2))
    assert bundles_of(linked) == [0b0011, 0b1100]


def test_a_circle_of_twelve_is_solved_and_one_of_thirteen_is_not():
    def ring(n):
        return priced_by(n, *((k, (k + 1) % n) for k in range(n)))

    assert bundles_of(ring(12)) == [(1 << 12) - 1]
    with pytest.raises(TooLargeError, match="the prices of X00, X01, .* depend on each other"):
        bundles_of(ring(13))


def shares(problem, *discounts):
    """The problem with these discounts: {number of a feature: what is taken off}."""
    costs, names = problem.costs, problem.features
    made = tuple(
        Discount(f"d{place}", {names[k]: off for k, off in each.items()})
        for place, each in enumerate(discounts)
    )
    return replace(problem, costs=FeatureCosts(costs.prices, (), costs.conditional, made))


def test_a_discount_makes_a_bundle_if_its_cheapest_first_must_not_come_first():
    # 1 should come first, because its discount is lower; but knowing it makes 0 more expensive.
    assert bundles_of(shares(priced_by(3, (0, 1)), {0: 1.0, 1: 0.5})) == [0b011]
    assert bundles_of(shares(priced_by(3, (0, 1)), {0: 0.5, 1: 1.0})) == []
    assert bundles_of(shares(priced_by(3, (0, 1)), {0: 0.5, 1: 0.5})) == []
    assert bundles_of(shares(priced_by(3), {0: 1.0, 1: 0.5, 2: 0.7})) == []
    opened = shares(priced_by(3, (0, 1)), {0: 1.0, 1: 0.5, 2: 0.7}).with_evidence({"X02": "T"})
    assert bundles_of(opened) == []


def test_only_the_cheapest_first_of_a_set_must_come_before_its_mates():
    # 0 depends on 1. Without 2 in the set, 1 comes first of all; with it, 2 does.
    problem = shares(priced_by(3, (0, 1)), {0: 1.0, 1: 0.5, 2: 0.25})
    assert bundles_of(problem) == [0b011]


def test_the_cheapest_first_must_come_before_its_mates_whatever_its_number():
    # 0 should come first, but knowing it makes 1 more expensive.
    assert bundles_of(shares(priced_by(3, (1, 0)), {0: 0.5, 1: 1.0})) == [0b011]


def test_the_first_of_a_discount_comes_before_its_mates_only():
    # 0 comes before 1, which comes before 2: there is no circle.
    assert bundles_of(shares(priced_by(3, (0, 1)), {1: 0.5, 2: 1.0})) == []


def test_a_mate_that_is_not_first_need_not_come_before_a_third():
    # 0 comes before 2, and 2 should be the first of all. Then 1 need not come before 0.
    problem = shares(priced_by(3, (0, 2)), {0: 1.0, 1: 0.5, 2: 0.25})
    assert bundles_of(problem) == [0b101]


def test_mates_with_one_discount_can_each_be_the_first():
    # 2 comes before 0 and 1, which make each other more expensive; but 0 or 1 should open.
    problem = shares(priced_by(3, (2, 0), (2, 1), (0, 1), (1, 0)), {0: 0.5, 1: 0.5, 2: 1.0})
    assert bundles_of(problem) == [0b011, 0b101, 0b110, 0b111]


def test_circles_among_features_before_one_that_is_known_are_still_bundles():
    problem = priced_by(4, (0, 1), (1, 0), (1, 2), (2, 1))
    assert bundles_of(problem.with_evidence({"X02": "T"})) == [0b0011]
    assert bundles_of(problem.with_evidence({"X00": "T"})) == [0b0110]
    assert bundles_of(problem.with_evidence({"X01": "T"})) == []


def constrained(n, *rules):
    """n features; a rule is (feature, what it comes after, what closes it), by numbers."""
    names = naive_bayes(n).features
    made = [
        Constraint(names[k], [names[j] for j in after], (), {names[j]: "T" for j in closes})
        for k, after, closes in rules
    ]
    return replace(priced_by(n), constraints=tuple(made))


def test_two_that_may_close_each_other_are_a_bundle():
    assert bundles_of(constrained(3, (0, [], [1]), (1, [], [0]))) == [0b011]
    assert bundles_of(constrained(3, (0, [], [1]), (1, [], [2]))) == []
    assert bundles_of(constrained(3, (0, [], [1, 2]), (2, [], [0]))) == [0b101]


@pytest.mark.parametrize(("first", "last"), [(0, 1), (1, 0), (2, 1)])
def test_a_feature_that_comes_after_one_that_may_close_it_is_in_a_bundle_with_it(first, last):
    problem = constrained(3, (last, [first], [first]))
    assert bundles_of(problem) == [1 << first | 1 << last]


def test_constraints_in_one_order_make_no_bundle():
    assert bundles_of(constrained(3, (2, [1], []))) == []
    assert bundles_of(constrained(3, (2, [1], []), (0, [], [1]))) == []  # 0, 1, 2
    assert bundles_of(constrained(3, (2, [1], []), (1, [0], []))) == []


def test_constraints_and_prices_make_a_bundle_together():
    # Knowing 1 makes 0 more expensive, and 0 comes after 1; 0 also comes before 2.
    rules = (0, [1], [2])
    problem = replace(priced_by(3, (0, 1)), constraints=constrained(3, rules).constraints)
    assert bundles_of(problem) == [0b011]


def test_with_own_prices_any_set_of_several_is_a_bundle():
    assert bundles_of(with_own_prices(3)) == [0b011, 0b101, 0b110, 0b111]


def test_with_own_prices_the_sets_of_up_to_eight_features_are_tried():
    assert len(bundles_of(with_own_prices(8))) == 2**8 - 1 - 8
    assert bundles_of(with_own_prices(9)) == []
