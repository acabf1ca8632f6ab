from dataclasses import replace

import numpy as np
import pytest
from helpers.rich_worlds import rich_problem
from helpers.strategies import OwnCosts
from helpers.ward import ward

from voilattice import load_problem
from voilattice.errors import InputError, UnknownNameError
from voilattice.model.what_if import change_problem


def test_no_change_gives_the_problem_itself():
    heart = load_problem("heart")
    assert change_problem(heart) is heart
    assert change_problem(heart, prices={}, misclassification={}, stakes=None) is heart


def test_prices_cells_and_the_scale_are_changed_in_this_order():
    problem = ward()
    changed = change_problem(
        problem,
        prices={"xray": 7},
        misclassification={"refer": {"no": 100}},
        stakes={"scale": 0.5},
    )
    assert changed.costs.prices == {**problem.costs.prices, "xray": 7.0}
    wanted = problem.misclassification.copy()
    wanted[problem.decisions.index("refer"), problem.classes.index("no")] = 100
    np.testing.assert_array_equal(changed.misclassification, 0.5 * wanted)
    assert changed.decisions == problem.decisions
    assert (changed.constraints, changed.limits) == (problem.constraints, problem.limits)
    assert changed.round_cost == problem.round_cost


def test_a_scaled_kind_replaces_the_matrix_and_decides_on_classes():
    problem = ward()
    changed = change_problem(problem, stakes={"kind": "asymmetric", "expected": 30})
    assert changed == problem.with_expected("asymmetric", 30)


@pytest.mark.parametrize("seed", range(30))
def test_a_change_and_its_opposite_give_the_problem_back(seed):
    problem = rich_problem(seed)
    feature, decision, actual = problem.features[0], problem.decisions[-1], problem.classes[0]
    cell = float(problem.misclassification[-1, 0])
    price = problem.costs.prices[feature]
    there = change_problem(
        problem,
        prices={feature: price + 3},
        misclassification={decision: {actual: cell + 1}},
    )
    assert there != problem
    back = change_problem(
        there, prices={feature: price}, misclassification={decision: {actual: cell}}
    )
    assert back == problem
    assert change_problem(problem, stakes={"scale": 1}) == problem


def test_what_is_unavailable_is_hidden_and_so_is_what_needs_it():
    problem = ward()
    assert change_problem(problem, unavailable=["xray"]).features == ("age", "blood", "consent")
    kept = change_problem(problem, unavailable=["xray"], known=["biopsy"])
    assert kept.features == ("age", "blood", "consent", "biopsy")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prices": {"xry": 1}}, r"prices\.xry: no feature 'xry' \(nearest: 'xray'\)"),
        ({"prices": {"ill": 1}}, r"prices\.ill: 'ill' is the target, not a feature"),
        ({"prices": {"xray": -1}}, r"prices\.xray: must be >= 0, got -1"),
        ({"prices": {"xray": "1"}}, r"prices\.xray: must be a number >= 0, got '1'"),
        ({"prices": [1]}, r"prices: must be \{feature: price\}, got \[1\]"),
        (
            {"misclassification": {"trat": {"no": 1}}},
            r"misclassification\.trat: no decision 'trat'",
        ),
        (
            {"misclassification": {"treat": {"nope": 1}}},
            r"misclassification\.treat\.nope: no class",
        ),
        ({"misclassification": {"treat": 3}}, r"misclassification\.treat: must be \{class: cost\}"),
        ({"misclassification": {"treat": {"no": -3}}}, r"misclassification\.treat\.no: must be >="),
        ({"stakes": {"scale": -1}}, r"stakes\.scale: must be >= 0, got -1"),
        ({"stakes": {"scale": 1e99}}, r"misclassification\.treat\.no: must be at most 1e\+100"),
        ({"stakes": {"kind": "symmetric"}}, r"stakes: must have the key scale alone, or kind and"),
        (
            {"stakes": {"scale": 1, "kind": "symmetric", "expected": 1}},
            r"stakes: must have the key",
        ),
        ({"stakes": {"kind": "odd", "expected": 1}}, r"stakes\.kind: must be symmetric or asym"),
        ({"stakes": 3}, r"stakes: must be \{.*got 3"),
        (
            {
                "stakes": {"kind": "symmetric", "expected": 1},
                "misclassification": {"treat": {"no": 1}},
            },
            "stakes: a scaled kind replaces the matrix, so its cells cannot be set too",
        ),
        ({"unavailable": ["xry"]}, r"unavailable: no feature 'xry'"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(change, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        change_problem(ward(), **change)


def test_a_price_below_what_its_discount_takes_off_is_refused():
    problem = next(p for p in map(rich_problem, range(99)) if p.costs.discounts)
    feature, off = max(problem.costs.discounts[0].off.items(), key=lambda item: item[1])
    assert off > 0
    with pytest.raises(InputError, match=rf"prices\.{feature}: must be at least .* takes off"):
        change_problem(problem, prices={feature: off / 2})


def test_prices_that_are_computed_cannot_be_changed_one_by_one():
    problem = replace(load_problem("figure1"), costs=OwnCosts(0))
    with pytest.raises(InputError, match="prices: the prices of this problem cannot be changed"):
        change_problem(problem, prices={"X1": 1})
