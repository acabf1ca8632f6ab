import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voilattice.errors import InputError, UnknownNameError
from voilattice.model.stakes import (
    as_matrix,
    check_decisions,
    check_matrix,
    cost_matrix,
    has_class_decision,
    named_classes,
    scaled_costs,
    stakes_scale,
)


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
        ("symmetric", 1, [0.5], "every class to have a prior probability between"),
    ],
)
def test_scaled_costs_that_make_no_sense_are_refused(kind, expected, prior, message):
    with pytest.raises(InputError, match=message):
        scaled_costs(kind, expected, prior)


def test_a_row_is_a_decision_and_a_column_a_class():
    decisions, cost = cost_matrix({"F": {"T": 7, "F": 0}, "T": {"F": 5, "T": 0}}, ["T", "F"])
    assert (decisions, cost.tolist()) == (("T", "F"), [[0, 5], [7, 0]])  # as the classes stand
    decisions, cost = cost_matrix({"refer": {"F": 6, "T": 5}}, ["T", "F"])
    assert (decisions, cost.tolist()) == (("refer",), [[5, 6]])


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1.0, 1e9])
def test_stakes_of_another_shape_are_refused_however_small(size):
    unit = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert stakes_scale(size * unit, unit) == pytest.approx(size)
    with pytest.raises(InputError, match="not a multiple of those of the sweep"):
        stakes_scale(size * np.array([[0.0, 2.0], [2.0, 0.0]]), unit)
    with pytest.raises(InputError, match="not a multiple of those of the sweep"):
        stakes_scale(size * np.array([[0.0, 1.0], [2.0, 1e-5]]), unit)


def test_stakes_of_other_decisions_are_refused():
    with pytest.raises(InputError, match="not a multiple of those of the sweep"):
        stakes_scale(np.ones((1, 2)), np.ones((2, 2)))


def test_no_stakes_are_once_no_stakes():
    assert stakes_scale(np.zeros((2, 2)), np.zeros((2, 2))) == 1.0


def test_the_classes_are_the_columns_that_all_rows_have():
    assert named_classes({}) == []
    assert named_classes({"a": 3}) == []
    assert named_classes({"go": {"a": 1, "b": 2}, "a": {"b": 3, "c": 4, "a": 0}}) == ["a", "b"]


def test_decisions_have_names_of_their_own():
    check_decisions(("refer",))
    for names, message in [
        ((), "at least one decision is needed, found none"),
        (("a", "b", "a"), "the decision 'a' appears twice"),
        (("a", ""), "the name of a decision must be a text, got ''"),
        ((1,), "the name of a decision must be a text, got 1"),
        (("a\x1b[31m",), "^the name of a decision: must be printable text in one line, got"),
        (("a\nb",), "^the name of a decision: must be printable text in one line, got"),
    ]:
        with pytest.raises(InputError, match=message):
            check_decisions(names)


def test_every_row_must_name_every_class_and_no_other():
    good = {"T": {"T": 0, "F": 1}, "F": {"T": 1, "F": 0}}
    for rows, message in [
        ({**good, "U": {}}, "U: the cost for the class 'T' is missing"),
        ({**good, "F": {"T": 1, "F": 0, "U": 1}}, "F.U: this is not a class; the classes are"),
        ({**good, "F": {"T": 1}}, "F: the cost for the class 'F' is missing"),
        ({**good, "F": 3}, "F: must be a table"),
        ({**good, "F": {"T": -1, "F": 0}}, "F.T: must be >= 0, got -1"),
    ]:
        with pytest.raises((InputError, UnknownNameError), match=message):
            cost_matrix(rows, ["T", "F"])


def test_scaled_costs_are_those_of_the_paper():
    assert scaled_costs("symmetric", 10, [0.2, 0.3, 0.5]) == pytest.approx(
        np.array([[0, 20, 20], [20, 0, 20], [20, 20, 0]])
    )
    assert scaled_costs("asymmetric", 10, [0.2, 0.3, 0.5]) == pytest.approx(
        np.array([[0, 50 / 3, 10], [25, 0, 10], [25, 50 / 3, 0]])
    )


def test_scaled_costs_up_to_the_largest_amount_are_accepted():
    assert scaled_costs("symmetric", 0.5e100, [0.5, 0.5]).max() == 1e100


def test_the_scale_of_stakes_is_that_of_their_largest():
    small = np.array([[0.0, 0.25], [0.5, 0.0]])
    assert stakes_scale(3 * small, small) == 3.0
    unit = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert stakes_scale(0 * unit, unit) == 0.0
    assert stakes_scale(unit * (1 + 1e-12), unit) == pytest.approx(1.0)
    assert stakes_scale(np.array([[0.0, 1.0 + 1e-12], [2.0, 0.0]]), unit) == 1.0  # rounded
    with pytest.raises(InputError):
        stakes_scale(unit, np.zeros((2, 2)))
    with pytest.raises(InputError):
        stakes_scale(np.array([[0.0, 1.0 + 1e-8], [2.0, 0.0]]), unit)


def test_a_class_that_is_certain_up_to_rounding_has_no_scaled_costs():
    for kind in ("symmetric", "asymmetric"):
        with pytest.raises(InputError, match="between 0 and 1, got 1, 1e-20"):
            scaled_costs(kind, 1, [1.0, 1e-20])


def test_the_rows_of_a_matrix_are_the_classes_unless_decisions_are_named():
    decisions, cost = check_matrix([[0, 1], [2, 0]], (), ("T", "F"))
    assert (decisions, cost.tolist()) == (("T", "F"), [[0, 1], [2, 0]])
    # The classes in another order are put in theirs; other decisions stay as they are.
    decisions, cost = check_matrix([[0, 1], [2, 0]], ["F", "T"], ("T", "F"))
    assert (decisions, cost.tolist()) == (("T", "F"), [[2, 0], [0, 1]])
    decisions, cost = check_matrix([[3, 4]], ["refer"], ("T", "F"))
    assert (decisions, cost.tolist()) == (("refer",), [[3, 4]])


def test_a_checked_matrix_cannot_be_changed_and_has_no_negative_zero():
    given = np.array([[-0.0, 1.0], [2.0, 0.0]])
    _, cost = check_matrix(given, (), ("T", "F"))
    assert not np.signbit(cost).any()  # equal matrices have equal bytes
    with pytest.raises(ValueError, match="read-only"):
        cost[0, 1] = 5.0
    given[0, 1] = 9.0  # the user's own array stays the user's
    assert cost[0, 1] == 1.0


HINT = r"\(decisions= names the rows, if they are not the classes\)"


@pytest.mark.parametrize(
    ("given", "decisions", "message"),
    [
        # The hint is for a matrix with a column for each class.
        ([[0, 1], [1, 0], [5, 5]], (), rf"a 2 x 2 matrix, .* the shape \(3, 2\) {HINT}$"),
        ([[0, 1]], (), rf"a 2 x 2 matrix, .* the shape \(1, 2\) {HINT}$"),
        ([[0, 1, 2], [1, 0, 2]], (), r"a 2 x 2 matrix, .* the shape \(2, 3\)$"),
        ([[0], [1]], (), r"a 2 x 2 matrix, .* the shape \(2, 1\)$"),
        ([0, 1], (), r"a 2 x 2 matrix, .* the shape \(2,\)$"),
        ([[[0, 1], [1, 0]]], (), r"a 2 x 2 matrix, .* the shape \(1, 2, 2\)$"),
        ([[0, 1]], ("a", "b", "c"), r"a 3 x 2 matrix, .* the shape \(1, 2\)"),
        ([[0, -1], [1, 0]], (), r"^misclassification.T.F: must be >= 0"),
        ([[0, 1], [math.inf, 0]], (), r"^misclassification.F.T: must be finite"),
        ([[1, 2], [3, math.nan]], ("go", "wait"), r"^misclassification.wait.F: must be finite"),
        ([[0, 1], [1, 0]], ("a", "a"), r"^misclassification: the decision 'a' appears twice"),
    ],
)
def test_a_matrix_that_makes_no_sense_is_refused(given, decisions, message):
    with pytest.raises(InputError, match=message):
        check_matrix(given, decisions, ("T", "F"))


@pytest.mark.parametrize("given", [[[0, 1], [1]], {"T": 1}, "cost", [[0, 10**400]], object()])
def test_what_is_no_matrix_of_numbers_is_refused(given):
    with pytest.raises(InputError, match=r"^misclassification: must be a matrix of numbers"):
        as_matrix(given)


def test_decisions_can_be_right_if_one_of_them_is_a_class():
    assert has_class_decision(("ill", "refer"), ("ill", "well"))
    assert not has_class_decision(("treat", "refer"), ("ill", "well"))
