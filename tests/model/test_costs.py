import math

import numpy as np
import pytest
from helpers.strategies import problems
from hypothesis import given
from hypothesis import strategies as st

from voilattice import FeatureCosts
from voilattice.errors import InputError
from voilattice.model.costs import (
    ConditionalCost,
    Group,
    check_monotone,
    check_monotone_at,
    cost_matrix,
    scaled_costs,
    stakes_scale,
)

STATES = {"A": ["T", "F"], "B": ["T", "F"], "C": ["T", "F"]}


def brute_force_cost(problem, chosen, known):
    """C(S | e), read word by word from the description of the problem file."""
    total = 0.0
    for feature in chosen:
        price = problem.costs.prices[feature]
        for entry in problem.costs.conditional:
            if entry.feature == feature and set(entry.when) <= set(known.items()):
                price = entry.cost
                break
        total += price
    for group in problem.costs.groups:
        touched_by_set = len(set(group.features) & set(chosen)) > 0
        touched_by_evidence = len(set(group.features) & set(known)) > 0
        if touched_by_set and not touched_by_evidence:
            total += group.overhead
    return total


@given(problems(max_features=6), st.data())
def test_cost_is_what_the_problem_file_says(problem, data):
    known = dict(problem.evidence)
    chosen = set()
    for feature in problem.features:
        if feature not in known:
            role = data.draw(st.sampled_from("ke."))
            if role == "k":
                chosen.add(feature)
            elif role == "e":
                known[feature] = data.draw(st.sampled_from(problem.states(feature)))
    expected = brute_force_cost(problem, chosen, known)
    assert problem.costs.cost(frozenset(chosen), known) == pytest.approx(expected, abs=1e-9)


@given(problems(max_features=4), st.data())
def test_subsets_never_cost_more(problem, data):
    free = [f for f in problem.features if f not in problem.evidence]
    larger = frozenset(data.draw(st.lists(st.sampled_from(free), unique=True)) if free else [])
    smaller = frozenset(f for f in larger if data.draw(st.booleans()))
    cost = problem.costs.cost
    assert cost(smaller, problem.evidence) <= cost(larger, problem.evidence) + 1e-9


def test_the_first_conditional_price_that_applies_wins():
    costs = FeatureCosts(
        {"A": 1, "B": 2, "C": 9},
        conditional=(
            ConditionalCost("C", (("A", "T"), ("B", "T")), 3),
            ConditionalCost("C", (("A", "T"),), 4),
            ConditionalCost("C", (("B", "T"),), 5),
        ),
    )
    price = [costs.price("C", e) for e in ({}, {"A": "T", "B": "T"}, {"A": "T"}, {"A": "F"})]
    assert price == [9, 3, 4, 9]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FeatureCosts({"A": -3}), "costs.A: must be >= 0, got -3"),
        (lambda: FeatureCosts({"A": math.nan}), "costs.A: must be finite, got nan"),
        (lambda: FeatureCosts({"A": "3"}), "costs.A: must be a number >= 0, got '3'"),
        (lambda: FeatureCosts({"A": True}), "costs.A: must be a number >= 0, got True"),
        (lambda: FeatureCosts({"A": 10**400}), r"costs.A: must be at most 1e\+100, got 1000"),
        (lambda: FeatureCosts({"A": 1e101}), r"costs.A: must be at most 1e\+100, got 1e\+101"),
        (lambda: FeatureCosts({"A": 1 + 2j}), "costs.A: must be a number >= 0"),
        (lambda: Group("", 1, ("A",)), "name: must not be empty"),
        (lambda: Group("g", -1, ("A",)), "overhead: must be >= 0, got -1"),
        (lambda: Group("g", 1, ()), "features: at least one is needed"),
        (
            lambda: FeatureCosts({"A": 1}, (Group("g", 1, ("A",)), Group("h", 1, ("A",)))),
            r"groups\[1\].features: 'A' is in group 'g' already",
        ),
        (
            lambda: FeatureCosts({"A": 1, "B": 1}, (Group("g", 1, ("A",)), Group("g", 1, ("B",)))),
            r"groups\[1\].name: two groups are called 'g'",
        ),
        (lambda: ConditionalCost("A", (), 1), "when: at least one known feature is needed"),
        (lambda: ConditionalCost("A", (("A", "T"),), 1), "when: 'A' cannot be known before it is"),
        (lambda: ConditionalCost("A", (("B", "T"),), math.inf), "cost: must be finite, got inf"),
    ],
)
def test_bad_costs_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


class Discounted:
    """Two features cost less together than one alone: not monotone."""

    def cost(self, features, evidence):
        return [0.0, 10.0, 4.0, 12.0][len(features)]


class Additive:
    def __init__(self, price=1.0):
        self.price = price

    def cost(self, features, evidence):
        return self.price * len(features)


def test_costs_of_a_problem_file_are_monotone_by_construction():
    check = check_monotone(FeatureCosts({"A": 1, "B": 1, "C": 1}), STATES, {})
    assert check.monotone
    assert str(check) == "monotone by construction"


def test_a_users_costs_are_checked_and_what_was_checked_is_said():
    check = check_monotone(Additive(), STATES, {})
    assert check.monotone
    assert str(check) == (
        "monotone on all 12 pairs of sets at the initial evidence and 12 at random evidence"
    )
    many = {f"X{k}": ["T", "F"] for k in range(20)}
    assert "10000 of 10485760 pairs of sets" in str(check_monotone(Additive(), many, {}))


def test_costs_that_are_not_monotone_are_found_and_named():
    check = check_monotone(Discounted(), STATES, {})
    assert not check.monotone
    assert "not monotone: {B} costs 10 and {A, B} only 4" in str(check)


def test_costs_that_depend_on_evidence_in_a_wrong_way_are_found():
    class Surprise(Additive):
        def cost(self, features, evidence):
            return 10.0 - len(features) if evidence.get("A") == "T" else float(len(features))

    check = check_monotone(Surprise(), STATES, {})
    assert not check.monotone
    assert "'A': 'T'" in str(check)


def test_a_users_negative_price_is_an_error():
    with pytest.raises(InputError, match=r"the cost of \{A\}: must be >= 0, got -1"):
        check_monotone(Additive(-1.0), {"A": ["T"]}, {})


def test_the_empty_set_must_cost_nothing():
    class Entrance(Additive):
        def cost(self, features, evidence):
            return 3.0 + len(features)

    with pytest.raises(InputError, match="the cost of the empty set must be 0"):
        check_monotone(Entrance(), STATES, {})


@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.floats(0, 1e4))
def test_scaled_costs_have_the_expected_prior_cost(m, seed, expected):
    prior = np.random.default_rng(seed).dirichlet(np.ones(m)) * 0.9 + 0.1 / m
    for kind in ("symmetric", "asymmetric"):
        risk = scaled_costs(kind, expected, prior) @ prior
        assert risk.min() == pytest.approx(expected, abs=1e-9 * max(1, expected))
        if kind == "asymmetric":  # every constant decision costs the same
            np.testing.assert_allclose(risk, expected, atol=1e-9 * max(1, expected))


@pytest.mark.parametrize(
    ("kind", "expected", "prior", "message"),
    [
        ("symetric", 1, [0.5, 0.5], "kind: must be symmetric or asymmetric, got 'symetric'"),
        ("symmetric", -1, [0.5, 0.5], "expected: must be >= 0, got -1"),
        ("symmetric", math.inf, [0.5, 0.5], "expected: must be finite, got inf"),
        ("symmetric", "5", [0.5, 0.5], "expected: must be a number >= 0, got '5'"),
        ("symmetric", 1, [1.0, 0.0], "every class to have a prior probability between 0 and 1"),
        ("asymmetric", 1, [0.5, 0.5, 0.0], "every class to have a prior probability between"),
        ("asymmetric", 1e100, [1e-9, 1 - 1e-9], "expected: makes a misclassification cost of 1e"),
        ("symmetric", 1, [1.0], "every class to have a prior probability between"),
    ],
)
def test_scaled_costs_that_make_no_sense_are_refused(kind, expected, prior, message):
    with pytest.raises(InputError, match=message):
        scaled_costs(kind, expected, prior)


def test_a_matrix_is_read_predicted_first():
    rows = {"F": {"T": 7, "F": 0}, "T": {"F": 5, "T": 0}}
    assert cost_matrix(rows, ["T", "F"]).tolist() == [[0, 5], [7, 0]]


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1.0, 1e9])
def test_stakes_of_another_shape_are_refused_however_small(size):
    unit = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert stakes_scale(size * unit, unit) == pytest.approx(size)
    with pytest.raises(InputError, match="not a multiple of those of the sweep"):
        stakes_scale(size * np.array([[0.0, 2.0], [2.0, 0.0]]), unit)
    with pytest.raises(InputError, match="not a multiple of those of the sweep"):
        stakes_scale(size * np.array([[0.0, 1.0], [2.0, 1e-5]]), unit)


def test_no_stakes_are_once_no_stakes():
    assert stakes_scale(np.zeros((2, 2)), np.zeros((2, 2))) == 1.0


def test_a_set_that_costs_a_little_more_than_a_superset_is_found():
    class Odd:
        def cost(self, features, evidence):
            return [0.0, 2.0, 1.5][len(features)]

    check = check_monotone_at(Odd(), ("A", "B"), {})
    assert not check.monotone
    assert "costs 2 and" in check.checked
    assert check_monotone_at(Odd(), ("A", "B"), {"A": "a"}).monotone
