import math
import random
import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.problems import SURE
from helpers.rich_worlds import Referee, rich_problem
from helpers.strategies import DATA, OwnCosts, needs_data
from helpers.ward import ward

from voilattice import Problem, load_problem, read_network
from voilattice.consultation.advice import advise
from voilattice.consultation.standing import standing_at
from voilattice.documents.consultations import Standing
from voilattice.errors import InputError
from voilattice.files.problems import parse_problem, parse_toml
from voilattice.model.acquisition import PathLimits


def possible_case(problem, referee, seed):
    """Some evidence of a case that can happen, in a random order, and its rounds."""
    rng = random.Random(seed)
    cases = [c for c, p in referee.cells if p > 0 and problem.evidence.items() <= c.items()]
    case = rng.choice(cases)
    others = [f for f in problem.features if f not in problem.evidence]
    order = rng.sample(others, rng.randint(0, len(others)))
    rounds = []
    while order:
        size = rng.randint(1, len(order))
        rounds.append(order[:size])
        order = order[size:]
    return {f: case[f] for features in rounds for f in features}, rounds


@pytest.mark.parametrize("seed", range(120))
def test_belief_bill_prices_and_obstacles_are_those_of_the_referee(seed):
    problem = rich_problem(seed)
    referee = Referee(problem)
    evidence, rounds = possible_case(problem, referee, seed)
    now = standing_at(problem, evidence, together=rounds)
    known = {**problem.evidence, **evidence}

    mass = referee.mass(known)
    assert list(now.posterior.values()) == pytest.approx(
        [p / mass for p in referee.joint(known)], abs=1e-9
    )
    assert now.emc == pytest.approx(referee.risk(known) / mass, abs=1e-7)
    assert now.decision_costs[now.decision] == pytest.approx(now.emc, abs=1e-6)

    before, spent, n_features = dict(problem.evidence), 0.0, 0
    for purchase, features in zip(now.bill, rounds, strict=True):
        assert sorted(purchase.features) == sorted(features)
        assert purchase.results == {f: evidence[f] for f in features}
        assert purchase.cost == pytest.approx(referee.price(features, before))
        assert math.fsum(amount for _, amount in purchase.items) == pytest.approx(purchase.cost)
        before |= purchase.results
        spent, n_features = spent + purchase.cost, n_features + len(features)
    assert now.spent == pytest.approx(spent)

    limits, left = problem.limits, now.left
    if limits.features is not None:
        assert left.features == max(limits.features - n_features, 0)
    if limits.rounds is not None:
        assert left.rounds == max(limits.rounds - len(rounds), 0)
    if limits.spend is not None:
        assert left.spend == pytest.approx(max(limits.spend - spent, 0), abs=1e-9)
    allowed = {
        tuple(features): price
        for features, price in referee.choices(known, spent, n_features, len(rounds))
        if len(features) == 1
    }
    assert set(now.costs) == set(problem.features) - set(known)
    for feature, price in now.costs.items():
        if (feature,) in allowed:
            assert price == pytest.approx(allowed[feature,])
            assert feature not in now.obstacles
        else:
            assert price is None
            assert now.obstacles[feature]


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_advice_has_the_same_bill_and_belief(seed):
    problem = rich_problem(seed)
    evidence, rounds = possible_case(problem, Referee(problem), seed)
    now = standing_at(problem, evidence, together=rounds)
    advice = advise(problem, "greedy", evidence, together=rounds)
    assert (advice.bill, advice.left) == (now.bill, now.left)
    assert advice.spent == now.spent
    assert advice.emc == pytest.approx(now.emc, abs=1e-7)
    assert advice.posterior == pytest.approx(now.posterior, abs=1e-9)


def test_the_bill_says_what_each_round_is_made_of():
    asia = load_problem("asia")
    first, second = standing_at(asia, {"smoke": "yes", "xray": "no"}).bill
    assert (first.cost, first.items) == (11, (("smoke", 1.0), ("consultation", 10.0)))
    assert (second.cost, second.items) == (8, (("xray", 8.0),))
    now = standing_at(ward(), {"consent": "given", "xray": "clear"}, together=[["consent", "xray"]])
    assert now.bill[0].items == (("consent", 1.0), ("X-ray", 20.0), ("the round", 5.0))
    assert now.left == PathLimits(94, 2, 2)


def test_a_discount_is_an_item_of_the_later_feature():
    problem = load_problem("car")
    discount = problem.costs.discounts[0]
    one, two = discount.features[:2]
    states = {f: problem.states(f)[0] for f in (one, two)}
    _, second = standing_at(problem, states).bill
    what, amount = second.items[-1]
    assert what == f"discount {discount.name}"
    assert amount == pytest.approx(-discount.off[two])


def test_what_is_given_is_free_and_what_is_unavailable_says_so():
    now = standing_at(ward(), {"age": "young"}, given={"blood": "low"}, unavailable=["xray"])
    assert [purchase.features for purchase in now.bill] == [("age",)]
    assert now.costs == {"xray": None, "consent": 6.0, "biopsy": None}
    assert now.obstacles == {
        "xray": ("X-ray is not available.",),
        "biopsy": ("biopsy needs X-ray, which cannot be had.",),
    }


def test_obstacles_say_what_would_open_a_feature():
    said = standing_at(ward()).obstacles["biopsy"]
    assert "biopsy comes after X-ray: acquire X-ray before or with it." in said
    assert "biopsy can be acquired only if consent = given: acquire consent first." in said


def test_prices_of_ones_own_are_one_item():
    problem = replace(load_problem("figure1"), costs=OwnCosts(3))
    (purchase,) = standing_at(problem, {"X1": "T"}).bill
    assert purchase.items == (("X1", purchase.cost),)

    class Free:
        def cost(self, features, evidence):
            return 0.0

    (purchase,) = standing_at(replace(problem, costs=Free()), {"X1": "T"}).bill
    assert purchase.items == (("X1", 0.0),)


def test_impossible_evidence_is_refused():
    problem = parse_problem(parse_toml(SURE), Path())
    with pytest.raises(InputError, match="A=T, B=F is impossible"):
        standing_at(problem, {"A": "T", "B": "F"})


def test_the_document_is_plain_json():
    document = Standing.json_of(standing_at(load_problem("asia"), {"smoke": "yes"}))
    assert document["bill"] == [
        {
            "features": ["smoke"],
            "results": {"smoke": "yes"},
            "cost": 11.0,
            "items": [
                {"what": "smoke", "amount": 1.0},
                {"what": "consultation", "amount": 10.0},
            ],
        }
    ]
    assert document["spent"] == 11.0
    assert document["left"] == {"spend": None, "features": None, "rounds": None}


@needs_data
def test_a_network_of_seventy_nodes_answers_at_once():
    network = read_network(DATA / "networks" / "hepar2.bif")
    prices = {name: 1.0 for name in network.names if name != "Cirrhosis"}
    problem = Problem.create(network, "Cirrhosis", prices, ("asymmetric", 100))
    evidence = {f: problem.states(f)[-1] for f in problem.features[:30]}
    standing_at(problem, evidence)
    start = time.perf_counter()
    now = standing_at(problem, evidence)
    assert time.perf_counter() - start < 0.1  # a millisecond on a quiet machine
    assert len(now.bill) == 30
    assert sum(now.posterior.values()) == pytest.approx(1)
