import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.problems import noisy_bayes
from helpers.rich_worlds import PARTS, Referee, rich_problem
from helpers.strategies import OwnCosts
from helpers.ward import ward

from voilattice import (
    ConditionalCost,
    Constraint,
    Discount,
    FeatureCosts,
    Network,
    Problem,
    load_problem,
)
from voilattice.budgets import Deadline
from voilattice.consultation.advice import advise, step_of_tree
from voilattice.consultation.continuations import SearchedContinuation
from voilattice.consultation.first_steps import BarredError, find_first_steps
from voilattice.consultation.step_reasons import reason_of_step, savings_after
from voilattice.consultation.steps import FirstStep
from voilattice.documents.consultations import FirstSteps
from voilattice.errors import InputError, UnknownNameError
from voilattice.model.acquisition import PathLimits
from voilattice.optimal.exact.choose import find_states
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace
from voilattice.optimal.solver import OptimalSolver, exact_step
from voilattice.policy.interface import Limits, Step
from voilattice.policy.policy import Certificate
from voilattice.policy.relevance import without_idle_limits
from voilattice.policy.situation import situation_at
from voilattice.policy.solvers import RuleSolver, build_policy, register, solver_of, unregister

# Parts that the exact solvers support together, and which one then solves.
KINDS = (
    (),
    ("groups", "discounts", "constraints", "decisions"),
    ("conditional", "decisions"),
    ("rounds", "groups", "constraints", "decisions"),
    ("limits", "decisions"),
    PARTS,
)


def cost_of(referee, known, features, price):
    """Q(S) by enumeration, times P(e), and the cost to go after each result."""
    after = {
        tuple(then.items()): referee._cheapest(then, price, len(features), 1)
        for then in referee.outcomes(features, known)
    }
    return price * referee.mass(known) + sum(after.values()), after


@pytest.mark.parametrize("parts", KINDS)
@pytest.mark.parametrize("seed", range(40))
def test_what_it_costs_to_begin_with_a_feature_is_what_enumeration_says(seed, parts):
    problem = rich_problem(seed, parts, n_features=3 + seed % 2)
    referee, known = Referee(problem), dict(problem.evidence)
    mass = referee.mass(known)
    found = find_first_steps(problem)
    allowed = dict(referee.choices(known, 0.0, 0, 0))
    assert found.decide == pytest.approx(referee.risk(known) / mass, abs=1e-7)
    costs = {}
    for step in found.steps:
        assert step.cost == pytest.approx(allowed[step.features])
        total, after = cost_of(referee, known, step.features, step.cost)
        if not found.exact:
            assert step.lower_bound - 1e-7 <= total / mass <= step.cost_to_go + 1e-7
            continue
        assert step.cost_to_go == pytest.approx(total / mass, abs=1e-6)
        costs[step.features] = total / mass
        assert sum(o.probability for o in step.outcomes) == pytest.approx(1)
        for outcome in step.outcomes:
            then = {**known, **outcome.result}
            share = referee.mass(then)
            assert outcome.probability == pytest.approx(share / mass)
            assert outcome.emc == pytest.approx(referee.risk(then) / share, abs=1e-6)
            wanted = next(v for k, v in after.items() if dict(k) == then) / share
            assert outcome.cost_to_go == pytest.approx(wanted, abs=1e-6)
            assert (outcome.decision is None) == bool(outcome.then)
    if found.exact:
        best = referee.optimum()
        chosen = costs[found.chosen] if found.chosen else found.decide
        assert chosen == pytest.approx(best, abs=1e-6)
        for step in found.steps:
            assert step.over == pytest.approx(step.cost_to_go - best, abs=1e-6)
        policy = build_policy(problem, "optimal")
        first = getattr(policy.root, "features", ())
        assert found.chosen == set(first)


@pytest.mark.parametrize("seed", range(40))
def test_each_feature_that_can_come_first_is_told_with_the_best_set_it_is_in(seed):
    problem = rich_problem(seed, ("rounds", "groups", "constraints", "decisions"))
    referee, known = Referee(problem), dict(problem.evidence)
    found = find_first_steps(problem)
    if not (found.exact and problem.counts_rounds):
        return
    told = {step.features: step.cost_to_go for step in found.steps}
    for features, price in referee.choices(known, 0.0, 0, 0):
        total = cost_of(referee, known, features, price)[0] / referee.mass(known)
        for feature in features:
            sets = [cost for names, cost in told.items() if feature in names]
            if sets:  # a feature that cannot matter is not told
                assert min(sets) <= total + 1e-6


@pytest.mark.parametrize("parts", [(), ("conditional",), ("groups", "discounts", "decisions")])
@pytest.mark.parametrize("seed", range(40))
def test_savings_after_both_orders_explain_the_difference(seed, parts):
    problem = rich_problem(seed, parts)
    found = find_first_steps(problem)
    if len(found.steps) < 2:
        return
    situation = situation_at(problem)
    solution = OptimalSolver.solve(problem, Deadline())
    one, two = found.steps[:2]

    def to_go(known, left, leaf):
        return solution.cost_to_go(known)

    mine = savings_after(situation, one, two, to_go)
    its = savings_after(situation, two, one, to_go)
    assert min(mine) >= -1e-7  # what is not forced on the optimum never costs more
    assert min(its) >= -1e-7
    order = two.cost_to_go - one.cost_to_go - (math.fsum(mine) - math.fsum(its))
    if not (problem.costs.conditional or problem.costs.discounts):
        assert order == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_a_plain_table_and_merged_blocks_tell_the_same(seed, monkeypatch):
    problem = rich_problem(seed, ("groups", "decisions"))
    merged = find_first_steps(problem)
    plain = PlainSolution(PlainSpace(problem), problem)
    monkeypatch.setattr(OptimalSolver, "_solve_once", lambda *_: plain)
    other = find_first_steps(problem)
    assert [step.features for step in other.steps] == [step.features for step in merged.steps]
    for one, two in zip(merged.steps, other.steps, strict=True):
        assert one.cost_to_go == pytest.approx(two.cost_to_go)
    assert not isinstance(find_states(problem), PlainSpace)


@pytest.mark.parametrize("seed", range(30))
def test_a_separated_feature_costs_its_price_and_what_its_place_under_the_limits_is_worth(seed):
    problem = rich_problem(seed, ("limits", "decisions"))
    referee, known = Referee(problem), dict(problem.evidence)
    for features, _ in referee.choices(known, 0.0, 0, 0):
        if len(features) > 1:
            continue
        found = find_first_steps(problem, features=[features])
        (step,) = (s for s in found.steps if features <= s.features)
        if found.exact:
            total, _ = cost_of(referee, known, step.features, step.cost)
            assert step.cost_to_go == pytest.approx(total / referee.mass(known), abs=1e-6)


def test_evidence_counts_against_the_limits_and_what_is_given_does_not():
    problem = ward()
    spent = find_first_steps(problem, {"xray": "shadow", "consent": "given"})
    free = find_first_steps(problem, given={"xray": "shadow", "consent": "given"})
    assert spent.decide == pytest.approx(free.decide)
    assert min(s.cost_to_go for s in spent.steps) >= min(s.cost_to_go for s in free.steps) - 1e-9
    gone = find_first_steps(problem, unavailable=["xray"])
    assert all("xray" not in s.features and "biopsy" not in s.features for s in gone.steps)


def test_the_text_names_the_outcome_that_makes_the_difference():
    steps = {tuple(s.features): s for s in find_first_steps(load_problem("asia")).steps}
    assert steps["tub",].text.startswith(
        "Beginning with tub costs 5.37 more than beginning with xray. "
        "Alone, tub would bring more: -6.00 against -8.00, prices deducted. "
        "But after xray = no (89 % of cases) tub is not needed: the decision is no. "
        "That saves 5.34 on average."
    )
    assert steps["xray",].text == (
        "The optimum begins with xray: 62.46 in all; deciding now costs 110.00."
    )


@pytest.mark.slow
def test_a_tie_is_called_a_tie():
    steps = {tuple(s.features): s for s in find_first_steps(load_problem("heart")).steps}
    assert steps["cp",].text == (
        "Beginning with cp costs as much as beginning with age, which is named first in the "
        "problem."
    )


def test_where_the_optimum_decides_each_step_says_what_would_change():
    found = find_first_steps(load_problem("figure1"))
    assert found.chosen == frozenset()
    assert found.steps[0].text == (
        "Beginning with X1 costs 3.80 more than deciding now. After X1 = T (60 % of cases) the "
        "decision would be T, but that is not worth the price."
    )
    sure = find_first_steps(load_problem("figure1").with_expected("symmetric", 0))
    assert sure.steps[0].text.endswith("No result of X1 changes the decision.")


def test_a_larger_first_round_says_what_is_not_needed():
    steps = find_first_steps(ward()).steps
    larger = next(s for s in steps if s.features == {"xray", "consent", "blood"})
    assert "biopsy comes next, and blood only if still needed" in larger.text


def test_a_step_says_what_it_has_to_do_with_what_was_asked():
    chosen, *others = find_first_steps(ward(), features=["blood", ["age", "blood"]]).steps
    texts = {step.features: step.text for step in others}
    assert chosen.features == {"xray", "consent"}
    assert chosen.text.startswith("The optimum begins with X-ray and consent: ")
    (larger,) = (features for features in texts if len(features) > 2)
    assert texts[larger].startswith("blood, best together with X-ray and consent: Beginning with ")
    literal = texts[frozenset({"age", "blood"})]
    assert literal.startswith("age and blood alone, as asked: Beginning with ")
    (chosen, *_) = find_first_steps(ward(), features=["xray"]).steps
    assert chosen.text.startswith("X-ray, best together with consent: The optimum begins with ")


def test_features_asked_one_by_one_are_not_a_set_that_was_asked():
    problem, both = rich_problem(48), {"N0", "N2"}

    def said(*features):
        steps = find_first_steps(problem, features=features).steps
        (text,) = (step.text for step in steps if step.features == both)
        return text.partition(": Beginning with ")[0]

    assert said("N0", "N2") == "N0, best together with N2; N2, best together with N0"
    assert said("N2", "N2") == "N2, best together with N0"
    assert said(["N2", "N0"]) == "N0 and N2 alone, as asked"
    assert said("N0", ["N0", "N2"]) == "N0 and N2 alone, as asked; N0, best together with N2"


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ([["biopsy"]], InputError, "features: biopsy cannot be acquired now. biopsy comes after"),
        (["xry"], UnknownNameError, r"features: no feature 'xry' \(nearest: 'xray'\)"),
        ([[]], InputError, "features: a first step has at least one feature"),
        ("xray", InputError, "features: must be a list of features or sets, got 'xray'"),
        (["age"], InputError, r"features: 'age' is known already"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused(features, error, message):
    with pytest.raises(error, match=message):
        find_first_steps(ward(), {"age": "young"}, features=features)


def test_prices_of_your_own_are_searched_for():
    problem = replace(load_problem("figure1"), costs=OwnCosts(1))
    found = find_first_steps(problem)
    assert found.exact
    cost = build_policy(problem, "optimal").expected_total_cost
    assert min(found.decide, *(s.cost_to_go for s in found.steps)) == pytest.approx(cost)


@pytest.mark.parametrize("large", [False, True])
def test_without_time_first_steps_are_enclosed(large):
    problem = noisy_bayes(40) if large else clinic()
    found = find_first_steps(problem, time_limit=0.0)
    assert not found.exact
    assert len(found.steps) == (8 if large else 5)
    assert found.chosen == found.steps[0].features
    exact = {} if large else {s.features: s.cost_to_go for s in find_first_steps(problem).steps}
    for step in found.steps:
        cost = exact.get(step.features, step.cost_to_go)
        assert step.lower_bound <= cost <= step.cost_to_go + 1e-9
        assert step.text.endswith(" There was not enough time to find the exact cost.")


def test_the_document_is_plain_json():
    document = FirstSteps.json_of(find_first_steps(load_problem("asia"), features=["tub"]))
    assert document["chosen"] == ["xray"]
    assert [step["features"] for step in document["steps"]] == [["xray"], ["tub"]]
    then = [outcome["then"] for outcome in document["steps"][0]["outcomes"]]
    assert {"action": "decide", "features": [], "decision": "no"} in then


def three_features(conditional, **problem):
    """A and B tell of Y, C does not."""
    states = {name: ["0", "1"] for name in "YABC"}
    tables = {"Y": [0.5, 0.5], "A": [[0.8, 0.2], [0.3, 0.7]], "B": [[0.9, 0.1], [0.2, 0.8]]}
    tables = {name: np.array(table) for name, table in {**tables, "C": [0.5, 0.5]}.items()}
    network = Network.from_tables(states, {"A": ["Y"], "B": ["Y"]}, tables)
    costs = FeatureCosts({"A": 1.0, "B": 5.0, "C": 7.0}, (), conditional)
    made = Problem.create(network, "Y", costs, [[0, 100], [100, 0]], features=["A", "B", "C"])
    return replace(made, **problem)


def test_a_step_that_tells_nothing_may_leave_what_the_exact_solver_does_not_support():
    problem = three_features((ConditionalCost("A", {"B": "0"}, 6.0),), limits=PathLimits(spend=12))
    referee = Referee(problem)
    found = find_first_steps(problem, features=["C"])
    (step,) = (step for step in found.steps if step.features == {"C"})
    expected, _ = cost_of(referee, {}, ("C",), 7.0)
    assert found.exact
    assert step.cost_to_go == pytest.approx(expected)
    # With no time left, the step is told with bounds, and the answer is not exact.
    late = _late_after_the_optimum(problem)
    (step,) = (step for step in late.steps if step.features == {"C"})
    assert not late.exact
    assert step.lower_bound <= expected <= step.cost_to_go + 1e-9


def _late_after_the_optimum(problem):
    """First steps where the time is up as soon as the problem itself is solved."""
    deadline = Deadline(1000.0)
    solution_at = OptimalSolver.solution_at

    def late(self, *arguments, **options):
        found = solution_at(self, *arguments, **options)
        deadline.stop()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OptimalSolver, "solution_at", late)
        return find_first_steps(problem, features=["C"], time_limit=deadline)


def test_a_step_that_tells_nothing_takes_a_place_under_the_limit():
    tables = {"A": [[0.8, 0.2], [0.3, 0.7]], "B": [[0.9, 0.1], [0.4, 0.6]]}
    tables |= {"Y": [0.5, 0.5], "D": [[0.6, 0.4], [0.1, 0.9]], "C": [0.5, 0.5]}
    network = Network.from_tables(
        {name: ["0", "1"] for name in tables}, {name: ["Y"] for name in "ABD"}, tables
    )
    prices = dict.fromkeys("ABDC", 1.0)
    problem = Problem.create(network, "Y", prices, [[0, 1000], [1000, 0]], features=[*prices])
    problem = replace(problem, limits=PathLimits(features=3))  # A, B and D, or C and two of them
    found = find_first_steps(problem, features=["C"])
    (step,) = (step for step in found.steps if step.features == {"C"})
    expected, _ = cost_of(Referee(problem), {}, ("C",), 1.0)
    assert found.exact
    assert step.cost_to_go == pytest.approx(expected)
    assert step.over > 1.0 + 1.0  # more than the price of C


def test_a_feature_that_is_too_dear_does_not_hide_the_features_after_it():
    prices = {"X00": 100.0, "X01": 1.0, "X02": 1.0, "X03": 30.0}
    problem = replace(
        noisy_bayes(4), costs=FeatureCosts(prices), limits=PathLimits(spend=40.0, rounds=2)
    )
    found = find_first_steps(replace(problem, misclassification=[[0, 90], [50, 0]]))
    told = {name for step in found.steps for name in step.features}
    assert "X03" not in found.chosen
    assert told == {"X01", "X02", "X03"}


@pytest.mark.parametrize("seed", range(0, 60, 5))
def test_first_steps_of_rich_problems_agree_with_the_referee(seed):
    problem = rich_problem(seed, PARTS)
    referee, known = Referee(problem), dict(problem.evidence)
    for feature in set(problem.features) - set(known):
        try:
            found = find_first_steps(problem, features=[feature])
        except BarredError:
            continue
        for step in found.steps:
            price = referee.price(step.features, known)
            total, _ = cost_of(referee, known, sorted(step.features), price)
            total /= referee.mass(known)
            assert step.lower_bound - 1e-7 <= total <= step.cost_to_go + 1e-7
            assert not found.exact or step.cost_to_go == pytest.approx(total)


def test_first_steps_are_those_of_the_optimum_whoever_is_registered_in_its_place():
    problem = load_problem("figure1")
    expected, optimal = find_first_steps(problem), solver_of("optimal")
    unregister("optimal")
    register(RuleSolver("optimal", lambda situation: 0))
    try:
        assert find_first_steps(problem) == expected
    finally:
        unregister("optimal")
        register(optimal)


def screening():
    """A limit on spending, and a test that is cheaper after one result of another test."""
    states = {"D": ["ill", "well"], "A": ["lo", "hi"], "E": ["neg", "pos"]}
    tables = {"D": [0.3, 0.7], "A": [[0.2, 0.8], [0.8, 0.2]], "E": [[0.1, 0.9], [0.9, 0.1]]}
    tables = {name: np.array(table) for name, table in tables.items()}
    network = Network.from_tables(states, {"A": ["D"], "E": ["D"]}, tables)
    costs = FeatureCosts({"A": 3.0, "E": 12.0}, (), (ConditionalCost("E", {"A": "hi"}, 6.0),))
    stakes = {"treat": {"ill": 0, "well": 120}, "wait": {"ill": 400, "well": 0}}
    problem = Problem.create(network, "D", costs, stakes, features=["A", "E"])
    return replace(problem, limits=PathLimits(spend=14))


def clinic():
    """The same with rounds, and with a discount that takes off different amounts."""
    states = {"D": ["ill", "well"], "A": ["lo", "mid", "hi"], "G": ["1", "2", "3"]}
    states |= {name: ["neg", "pos"] for name in "BCE"}
    by_a = [[[0.3, 0.7], [0.2, 0.8], [0.1, 0.9]], [[0.95, 0.05], [0.8, 0.2], [1.0, 0.0]]]
    tables = {
        "D": [0.3, 0.7],
        "A": [[0.1, 0.3, 0.6], [0.6, 0.3, 0.1]],
        "B": by_a,
        "C": [[0.2, 0.8], [0.9, 0.1]],
        "E": [[0.0, 1.0], [0.75, 0.25]],
        "G": [[0.2, 0.2, 0.6], [0.5, 0.3, 0.2]],
    }
    parents = {"A": ["D"], "B": ["D", "A"], "C": ["D"], "E": ["D"], "G": ["D"]}
    tables = {name: np.array(table) for name, table in tables.items()}
    costs = FeatureCosts(
        {"A": 3.0, "B": 9.0, "C": 10.0, "E": 12.0, "G": 2.0}, (),
        (ConditionalCost("E", {"A": "hi"}, 6.0),), (Discount("lab", {"B": 4.0, "C": 5.0}),), 4.0,
    )  # fmt: skip
    stakes = {
        "treat": {"ill": 10, "well": 120},
        "wait": {"ill": 400, "well": 0},
        "refer": {"ill": 70, "well": 70},
    }
    network = Network.from_tables(states, parents, tables)
    problem = Problem.create(network, "D", costs, stakes, features=list("ABCEG"))
    closed = Constraint("C", not_if={"G": "1"})
    return replace(problem, constraints=(closed,), limits=PathLimits(spend=40, rounds=3))


def test_what_a_search_proves_is_told_exactly():
    problem = screening()
    assert OptimalSolver.solve(problem, Deadline()) is None
    found = find_first_steps(problem, features=["E", "A"])
    assert found.exact
    assert found.chosen == {"E"}
    costs = {"".join(step.features): (step.cost_to_go, step.over) for step in found.steps}
    assert costs["E"] == pytest.approx((32.40, 0.0))
    assert costs["A"] == pytest.approx((40.56, 8.16))
    assert found.steps[0].text.startswith("The optimum begins with E: 32.40 in all; ")
    assert found.steps[1].text.startswith("Beginning with A costs 8.16 more than beginning with E.")


@pytest.mark.parametrize(
    ("evidence", "features", "first", "cost"),
    [({"B": "pos"}, ["E"], {"A"}, 28.81), ({}, ["E", ["A", "G"]], {"B", "C"}, 32.20)],
)
def test_what_is_advised_is_told_whatever_is_asked(evidence, features, first, cost):
    problem = clinic()
    advice = advise(problem, "optimal", evidence)
    found = find_first_steps(problem, evidence, features=features)
    assert found.exact
    assert found.chosen == advice.features == first
    assert found.steps[0].features == first
    assert found.steps[0].over == pytest.approx(0)
    assert found.steps[0].cost_to_go == pytest.approx(advice.emc - advice.benefit)
    assert found.steps[0].cost_to_go == pytest.approx(cost, abs=0.005)
    assert all(step.over > 1 for step in found.steps[1:])


def refused_problem(seed, parts):
    """A random problem with a limit on spending and prices that depend on the order."""

    def drawn(number):
        spend = float(np.random.default_rng(number).integers(5, 25))
        problem = rich_problem(number, parts, n_features=3 + seed % 2)
        return replace(problem, limits=replace(problem.limits, spend=spend))

    return next(
        problem
        for problem in map(drawn, itertools.count(1000 * seed))
        if OptimalSolver.solve(without_idle_limits(problem), Deadline()) is None
    )


@pytest.mark.parametrize(
    "parts",
    [
        ("conditional",),
        ("conditional", "groups", "constraints", "decisions"),
        ("discounts", "decisions"),
        PARTS,
    ],
)
@pytest.mark.parametrize("seed", range(25))
def test_where_the_exact_solver_refuses_first_steps_are_those_of_the_optimum(seed, parts):
    problem = refused_problem(seed, parts)
    referee, known = Referee(problem), dict(problem.evidence)
    found, best = find_first_steps(problem), referee.optimum()
    assert found.exact
    assert found.chosen == advise(problem, "optimal").features
    least = min([found.decide, *(step.cost_to_go for step in found.steps)])
    assert least == pytest.approx(best, abs=1e-6)
    told = {step.features: step for step in found.steps}
    if found.chosen:
        assert told[found.chosen].over == pytest.approx(0, abs=1e-9)
    else:
        assert found.decide == pytest.approx(best, abs=1e-6)
    for step in found.steps:
        total, _ = cost_of(referee, known, step.features, step.cost)
        assert step.cost_to_go == pytest.approx(total / referee.mass(known), abs=1e-6)
        assert step.over == pytest.approx(step.cost_to_go - best, abs=1e-6)
    policy = build_policy(problem, "optimal")
    assert policy.expected_total_cost == pytest.approx(best, abs=1e-6)
    first = step_of_tree(policy)
    again = find_first_steps(problem, advised=first)
    assert again.exact
    assert again.chosen == first.features


def test_what_is_advised_is_told_though_no_time_is_left():
    problem = clinic()
    advised = solver_of("optimal").next_step(problem, None, Limits())
    found = find_first_steps(problem, features=["E"], advised=advised, time_limit=0.0)
    chosen, other = found.steps
    assert not found.exact
    # The optimum is proved, so what it begins with is exact; the other one costs no less.
    assert chosen.features == found.chosen == advised.features
    assert chosen.cost_to_go == chosen.lower_bound == advised.cost_to_go
    assert chosen.text.startswith("The optimum begins with B and C: 32.20 in all; ")
    assert other.lower_bound == advised.cost_to_go < other.cost_to_go
    assert other.text.endswith(" There was not enough time to find the exact cost.")


def test_a_step_that_is_exact_does_not_claim_that_it_is_the_optimum():
    problem = load_problem("figure1")
    unproved = Step(frozenset({"X1"}), 21.4, Certificate(5.0, exact=False, status="time"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OptimalSolver, "solution_at", lambda self, *_, **__: (problem, {}, None))
        patch.setattr(SearchedContinuation, "at", _exactly(problem))
        found = find_first_steps(problem, advised=unproved)
    assert not found.exact
    assert found.chosen == {"X1"}
    assert found.steps[0].text == (
        "Beginning with X1 costs 21.40 in all. It is not proved which first step costs least."
    )


def _exactly(problem):
    solution = OptimalSolver.solve(problem, Deadline())
    return lambda self, known, left, leaf: exact_step(solution, known, left)


def test_a_first_step_with_very_many_outcomes_is_told_without_them(monkeypatch):
    monkeypatch.setattr("voilattice.consultation.first_steps.MAX_OUTCOMES", 3)
    found = find_first_steps(clinic(), features=["E"])
    assert found.exact  # the optimum is proved without these outcomes
    assert found.steps[0].features == {"B", "C"}
    assert found.steps[0].outcomes == ()
    assert found.steps[1].text == "Beginning with E costs 2.13 more than beginning with B and C."


def test_a_tie_that_a_search_broke_gives_no_reason():
    problem = three_features((), limits=PathLimits(spend=100))
    situation = situation_at(problem)
    one, two = (FirstStep(frozenset(f), 5.0, 9.0, 9.0, 0.0, (), "") for f in "AB")
    assert reason_of_step(situation, two, one, None) == (
        "Beginning with B costs as much as beginning with A, which is named first in the problem."
    )
    assert reason_of_step(situation, one, two, None) == (
        "Beginning with A costs as much as beginning with B."
    )
