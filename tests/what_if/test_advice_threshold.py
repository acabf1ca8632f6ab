from dataclasses import replace

import numpy as np
import pytest
from helpers.problems import noisy_bayes
from helpers.rich_worlds import rich_problem
from helpers.strategies import OwnCosts
from helpers.ward import ward

from voilattice import load_problem
from voilattice.consultation.advice import advise
from voilattice.consultation.first_steps import find_first_steps
from voilattice.documents.policies import AdviceThreshold
from voilattice.errors import InputError
from voilattice.model.what_if import change_problem
from voilattice.what_if.advice_threshold import find_advice_threshold

ASIA = load_problem("asia")


def at(problem, feature, x):
    """The problem at a price of the feature, or with the stakes times a factor."""
    if feature is None:
        return change_problem(problem, stakes={"scale": x})
    return change_problem(problem, prices={feature: x})


def is_optimal(problem, first):
    """Whether some optimum begins with these features, or decides if there are none."""
    found = find_first_steps(problem, features=[first] if first else None)
    best = min([found.decide, *(step.cost_to_go for step in found.steps)])
    if not first:
        return found.decide <= best + 1e-6
    return min(s.cost_to_go for s in found.steps if s.features == first) <= best + 1e-6


@pytest.mark.parametrize("parts", [(), ("groups", "discounts", "decisions"), ("conditional",)])
@pytest.mark.parametrize("seed", range(14))
def test_the_first_step_stays_up_to_the_threshold_and_not_beyond(seed, parts):
    problem = rich_problem(seed, parts, n_features=3)
    rng = np.random.default_rng(seed)
    free = [f for f in problem.features if f not in problem.evidence]
    for feature in (free[0], None):
        found = find_advice_threshold(problem, feature=feature)
        assert found.exact
        assert found.first == advise(problem, "optimal").features
        assert found.low <= found.now <= found.high
        for x in rng.uniform(found.low, min(found.high, 4 * found.now + 1), 4):
            assert is_optimal(at(problem, feature, x), found.first)
        for change in filter(None, (found.below, found.above)):
            assert change.first != found.first
            assert is_optimal(at(problem, feature, change.at), change.first)
            assert is_optimal(at(problem, feature, change.at), found.first)


def test_the_threshold_of_the_advice_is_where_the_advice_changes():
    found = find_advice_threshold(ASIA, feature="xray")
    assert found.first == {"xray"}
    assert found.above.first == {"smoke"}
    for price, first in ((found.above.at - 0.01, {"xray"}), (found.above.at + 0.01, {"smoke"})):
        assert advise(at(ASIA, "xray", price), "optimal").features == first
    assert found.text == (
        "At the price of xray now, 8.00, the optimum begins with xray. "
        "From 15.90 on it begins with smoke."
    )


def test_stakes_are_told_as_what_deciding_costs_at_first():
    found = find_advice_threshold(ASIA)
    assert (found.along, found.feature, found.now) == ("stakes", None, 1.0)
    assert found.stake == pytest.approx(110)
    assert found.below.first == frozenset()
    assert "Below 18.93 it decides at once." in found.text
    assert found.below.at == pytest.approx(18.93 / 110, abs=1e-4)


def test_evidence_counts():
    known = find_advice_threshold(ASIA, {"smoke": "yes"}, feature="xray")
    assert known.first == advise(ASIA, "optimal", {"smoke": "yes"}).features
    gone = find_advice_threshold(ASIA, feature="tub", unavailable=["xray"], given={"smoke": "yes"})
    assert "xray" not in gone.first
    with pytest.raises(InputError, match="'smoke' is known already"):
        find_advice_threshold(ASIA, {"smoke": "yes"}, feature="smoke")


@pytest.mark.slow
def test_with_a_limit_on_spending_the_price_is_a_bracket():
    found = find_advice_threshold(ward(), feature="xray")
    assert not found.exact
    assert "From about" in found.text
    price = found.above.at
    assert advise(at(ward(), "xray", price), "optimal").features == found.above.first
    assert advise(at(ward(), "xray", price - 0.02), "optimal").features == found.first


def test_what_is_too_large_or_not_a_price_is_refused():
    with pytest.raises(InputError, match="too large for the exact optimum"):
        find_advice_threshold(noisy_bayes(40), feature="X00", time_limit=0)
    with pytest.raises(InputError, match="costs: must be prices that can be changed"):
        find_advice_threshold(replace(ASIA, costs=OwnCosts(0)), feature="xray")


def test_the_document_is_plain_json():
    document = AdviceThreshold.json_of(find_advice_threshold(ASIA, feature="xray"))
    assert document["above"]["first"] == ["smoke"]
    assert document["below"] is None
    assert (document["along"], document["exact"]) == ("price", True)
