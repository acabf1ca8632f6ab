"""Reasons: that they are true of problems with constraints, limits and discounts."""

from dataclasses import replace

import pytest
from helpers.problems import noisy_bayes

from voilattice import Constraint, Discount, FeatureCosts, advise
from voilattice.model.acquisition import PathLimits


def dear(n=4, *, costs=None, **changes):
    """A problem in which every feature is worth much more than it costs."""
    problem = noisy_bayes(n)
    costs = FeatureCosts(dict(problem.costs.prices) | (costs or {}))
    stakes = 200 * problem.misclassification
    return replace(problem, costs=costs, misclassification=stakes, **changes)


def test_what_is_acquired_now_is_not_said_to_be_barred():
    """X00 comes after X01 and is acquired with it, in one round."""
    problem = dear(2, constraints=(Constraint("X00", after=["X01"]),), limits=PathLimits(rounds=1))
    for name in ("optimal", "batch"):
        advice = advise(problem, name)
        assert advice.features == {"X00", "X01"}
        assert not any(reason.startswith("Not now") for reason in advice.reasons)


def test_a_set_that_pays_is_said_to_pay_together():
    (said,) = (
        r for r in advise(dear(2, limits=PathLimits(rounds=1)), "optimal").reasons if "pay" in r
    )
    assert said.startswith("X00 and X01 together pay already: worth ")


def discounted(order):
    problem = dear(2, costs={"X00": 5.0, "X01": 12.0}, limits=PathLimits(rounds=1))
    costs = replace(problem.costs, discounts=(Discount("lab", {"X00": 3.0, "X01": 10.0}),))
    return replace(problem, costs=costs, constraints=order)


@pytest.mark.parametrize(
    ("order", "off", "price"),
    [((), "10.00", "7.00"), ((Constraint("X00", after=["X01"]),), "3.00", "14.00")],
)
def test_what_a_discount_takes_off_is_that_of_the_cheapest_order_allowed(order, off, price):
    reasons = advise(discounted(order), "optimal").reasons
    assert f"Discount lab takes {off} off." in reasons
    assert any(f"acquiring X00 and X01 for {price}" in reason for reason in reasons)


def test_two_discounts_that_one_order_cannot_both_use_best_are_said_together():
    """A discount alone would let the cheap one come first, but an order for both does not."""
    off = (Discount("a", {"X00": 1.0, "X01": 4.0}), Discount("b", {"X02": 4.0, "X03": 1.0}))
    problem = dear(4, costs=dict.fromkeys(noisy_bayes(4).features, 5.0))
    order = (Constraint("X00", after=["X02"]), Constraint("X03", after=["X01"]))
    rounds = PathLimits(rounds=1)
    costs = replace(problem.costs, discounts=off)
    reasons = advise(replace(problem, costs=costs, constraints=order, limits=rounds), "batch")
    assert reasons.features == {"X00", "X01", "X02", "X03"}
    # All pay 20 - 10 and the first of each discount: 1 and 4, not 1 and 1.
    assert reasons.candidates[0].cost == 15.0
    assert "Discounts a and b take 5.00 off." in reasons.reasons


def test_what_is_not_proved_is_said_with_its_real_cause():
    """With rounds, every set is a step, and there are too many sets of nine features."""
    problem = dear(9, limits=PathLimits(spend=6.5, rounds=3))
    lab = Discount("lab", {"X00": 0.5, "X01": 0.25})
    costs = replace(problem.costs, discounts=(lab,), round_cost=0.5)
    advice = advise(replace(problem, costs=costs), "optimal", time_limit=20)
    assert (advice.certificate.exact, advice.certificate.status) == (False, "ok")
    assert not any("prices of your own" in reason for reason in advice.reasons)
    assert any(reason.startswith("With rounds or limits and so many") for reason in advice.reasons)
