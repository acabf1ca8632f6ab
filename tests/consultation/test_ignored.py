import itertools
from dataclasses import replace

import pytest
from helpers.problems import chain, noisy_bayes
from helpers.rich_worlds import Referee, rich_problem
from helpers.solving import POLICIES
from helpers.strategies import OwnCosts, problems
from helpers.ward import ward
from helpers.worlds import examples
from hypothesis import given

from voilattice import load_problem
from voilattice.consultation.advice import advise
from voilattice.policy import situation
from voilattice.valuation.valuation import evi


def check_nothing_is_missing(problem, advice, known):
    considered = frozenset().union(*(value.features for value in advice.candidates))
    ignored = [entry.feature for entry in advice.ignored]
    assert len(ignored) == len(set(ignored))
    assert considered.isdisjoint(ignored)
    assert considered.isdisjoint(known)
    assert {*considered, *ignored, *problem.evidence, *known} == set(problem.features)
    assert advice.features <= considered
    assert all(entry.why.endswith(".") for entry in advice.ignored)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", range(25))
def test_every_unknown_feature_is_a_candidate_or_ignored(name, seed):
    problem = rich_problem(seed)
    check_nothing_is_missing(problem, advise(problem, name), {})
    referee = Referee(problem)
    case = next(c for c, p in referee.cells if p > 0 and problem.evidence.items() <= c.items())
    free = [f for f in problem.features if f not in problem.evidence]
    known = {f: case[f] for f in free[: seed % 3]}
    gone = free[2:3]
    advice = advise(problem, name, known, unavailable=gone)
    check_nothing_is_missing(problem, advice, known)
    assert {i.feature for i in advice.ignored if i.reason == "unavailable"} >= set(gone)


@examples(60)
@given(problem=problems(max_features=4))
def test_nothing_is_missing_with_groups_and_discounts(problem):
    for name in ("greedy", "optimal"):
        check_nothing_is_missing(problem, advise(problem, name), {})


@pytest.mark.parametrize("has_table", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_acquiring_what_is_too_dear_never_pays(seed, has_table, monkeypatch):
    if not has_table:
        monkeypatch.setattr(situation, "STEP_CELLS", 0)
    problem = rich_problem(seed)
    referee, known = Referee(problem), dict(problem.evidence)
    mass = referee.mass(known)
    dear = {i.feature for i in advise(problem, "none").ignored if i.reason == "price"}
    for features, price in referee.choices(known, 0.0, 0, 0):
        if features & dear:
            after = sum(
                referee._cheapest(then, price, len(features), 1)
                for then in referee.outcomes(features, known)
            )
            assert price * mass + after >= referee.risk(known) - 1e-7


@examples(80)
@given(problem=problems(max_features=4))
def test_what_is_separated_adds_nothing_to_any_set(problem):
    advice = advise(problem, "none")
    separated = [i.feature for i in advice.ignored if i.reason == "separated"]
    others = [f for f in problem.features if f not in problem.evidence]
    for feature in separated:
        rest = [f for f in others if f != feature]
        for size in range(len(rest) + 1):
            for features in itertools.combinations(rest, size):
                without = evi(problem, features)
                assert evi(problem, {*features, feature}) == pytest.approx(without, abs=1e-7)


def test_what_is_known_separates_what_lies_behind_it():
    said = advise(chain(3), "greedy", {"X00": "T"}).ignored
    assert [(i.feature, i.reason) for i in said] == [("X01", "separated"), ("X02", "separated")]
    assert said[0].why == "Given what is known, X01 says nothing more about Y."
    heart = advise(load_problem("heart"), "greedy").ignored
    assert {i.feature for i in heart} == {"chol", "fbs", "restecg"}
    assert heart[0].why.endswith("says nothing about class, alone or with other features.")


def test_a_feature_whose_price_exceeds_all_gains_says_so():
    heart = load_problem("heart").with_expected("symmetric", 20)
    dear = {i.feature: i.why for i in advise(heart, "greedy").ignored if i.reason == "price"}
    assert dear["ca"].startswith(
        "ca costs 100.90 now. That is no less than what all features together could take off"
    )
    assert "cp" not in dear


def test_without_a_table_the_bound_is_that_of_knowing_the_class():
    problem = noisy_bayes(24)
    dear = replace(
        problem, costs=replace(problem.costs, prices=dict.fromkeys(problem.features, 1e6))
    )
    advice = advise(dear, "greedy")
    assert {i.reason for i in advice.ignored} == {"price"}
    assert "knowing Y for certain" in advice.ignored[0].why
    assert advice.candidates == ()


def test_barred_and_unavailable_features_have_their_sentences():
    reasons = {i.feature: i for i in advise(ward(), "greedy").ignored}
    assert reasons["biopsy"].reason == "barred"
    assert "comes after X-ray" in reasons["biopsy"].why
    reasons = {i.feature: i for i in advise(ward(), "greedy", unavailable=["xray"]).ignored}
    assert (reasons["xray"].reason, reasons["xray"].why) == (
        "unavailable",
        "X-ray is not available.",
    )
    assert reasons["biopsy"].why == "biopsy needs X-ray, which cannot be had."


def test_with_prices_of_ones_own_no_feature_is_too_dear():
    problem = replace(load_problem("figure1"), costs=OwnCosts(0, most=1e6))
    assert advise(problem, "greedy").ignored == ()


def test_a_policy_that_buys_whatever_it_costs_keeps_its_features_among_the_candidates():
    heart = load_problem("heart").with_expected("symmetric", 1)
    advice = advise(heart, "markov-blanket")
    check_nothing_is_missing(heart, advice, {})
    assert len(advice.features) > 3
    assert {f for value in advice.candidates for f in value.features} >= advice.features
