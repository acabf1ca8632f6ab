"""Variants of a problem file."""

import pytest

from voilattice import load_problem
from voilattice.errors import VoilatticeError
from voilattice.files.variants import change_number, load_variants

PROBLEM = """
title = "Odd names"
[network]
target = "Y"
[network.joint]
variables = ["A.b", "C=d", "Y"]
states = { "A.b" = ["T", "F"], "C=d" = ["T", "F"], Y = ["T", "F"] }
probabilities = [0.2, 0.05, 0.1, 0.15, 0.1, 0.15, 0.05, 0.2]
[costs]
"A.b" = 5
"C=d" = 10
[[groups]]
name = "blood"
overhead = 2.10
features = ["A.b"]
[[discounts]]
name = "visit.1"
off = { "C=d" = 3 }
[[conditional_costs]]
feature = "A.b"
when = { "C=d" = "T" }
cost = 1
[misclassification]
T = { T = 0, F = 50 }
F = { T = 40, F = 0 }
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "p.toml").write_text(PROBLEM)
    return tmp_path / "p.toml"


@pytest.mark.parametrize(
    ("key", "place", "found"),
    [
        ("costs.A.b", "costs.A.b", lambda p: p.costs.prices["A.b"]),
        ("costs.C=d", "costs.C=d", lambda p: p.costs.prices["C=d"]),
        ("groups[0].overhead", "groups[0].overhead", lambda p: p.costs.groups[0].overhead),
        ("groups.blood.overhead", "groups[0].overhead", lambda p: p.costs.groups[0].overhead),
        (
            "discounts.visit.1.off.C=d",
            "discounts[0].off.C=d",
            lambda p: p.costs.discounts[0].off["C=d"],
        ),
        (
            "conditional_costs[0].cost",
            "conditional_costs[0].cost",
            lambda p: p.costs.conditional[0].cost,
        ),
        ("misclassification.T.F", "misclassification.T.F", lambda p: p.misclassification[0, 1]),
    ],
)
def test_any_number_of_the_file_has_a_place(path, key, place, found):
    (variant,) = load_variants(path, {key: 7})
    assert found(variant.problem) == 7
    assert variant.settings == ((key, 7),)
    with find(path) as (_, document, _):
        assert change_number(document, key, 7) == place
    assert found(load_problem(path)) != 7


def find(path):
    from voilattice.files.problems import find_problem

    return find_problem(path).opened()


def test_several_lists_make_all_combinations_and_the_network_is_read_once(path):
    found = load_variants(path, {"costs.A.b": [1, 2], "misclassification.T.F": [10, 20, 30]})
    assert [dict(v.settings)["costs.A.b"] for v in found] == [1, 1, 1, 2, 2, 2]
    assert [v.problem.misclassification[0, 1] for v in found] == [10, 20, 30] * 2
    assert len({id(v.problem.network) for v in found}) == 1


def test_numbers_of_the_network_can_be_changed_too(path):
    places = [f"network.joint.probabilities[{k}]" for k in (0, 1)]
    (kept,) = load_variants(path, dict(zip(places, (0.2, 0.05), strict=True)))
    assert kept.problem == load_problem(path)
    (moved,) = load_variants(path, dict(zip(places, (0.1, 0.15), strict=True)))
    assert moved.problem.network != kept.problem.network
    with pytest.raises(VoilatticeError, match=r"^network\.joint: the joint table sums to 1.1"):
        load_variants(path, {places[0]: 0.3})


def test_built_in_problems_have_variants_too():
    heart = load_problem("heart")
    (variant,) = load_variants("heart", {"misclassification.expected": 50})
    assert variant.problem.misclassification == pytest.approx(heart.misclassification / 10)
    assert variant.problem.costs == heart.costs


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"costs.A.c": 1}, "costs.A: must be a number >= 0, got {'c': 1}"),
        ({"costs.E": 1}, "costs.E: no feature 'E' (there are: A.b, C=d)"),
        ({"cost.E": 1}, "cost: unknown key (nearest: 'costs')"),
        ({"costs.A.b": -3}, "costs.A.b: must be >= 0, got -3"),
        (
            {"discounts.visit.1.off.C=d": 11},
            "discounts[0].off.C=d: must be at most the price 10, got 11",
        ),
        ({"title": 3}, "title: only a number can be set, and this is 'Odd names'"),
        ({"costs": 3}, "costs: only a number can be set, and this is {'A.b': 5, 'C=d': 10}"),
        ({"costs.A.b.c": 3}, "costs.A.b: is 5, so there is no 'c' in it"),
        ({"groups[1].overhead": 3}, "groups: has 1 entries, so there is no [1]"),
        (
            {"groups.blod.overhead": 3},
            "groups.blod.overhead: no group 'blod' (nearest: 'blood')",
        ),
        (
            {"conditional_costs.x.cost": 3},
            "conditional_costs: needs the number of an entry, such as conditional_costs[0]",
        ),
        ({"constraints[0].after": 2}, "constraints[0].after: the file has no [[constraints]]"),
        ({"constraint[0].after": 2}, "constraint[0]: unknown key (nearest: 'constraints')"),
        ({"": 3}, "must be a place in the problem file, got ''"),
        ({"costs.": 3}, "must be a place in the problem file, got 'costs.'"),
        ({"groups[0].overhead": 1, "groups.blood.overhead": 2}, "groups[0].overhead: is set twice"),
        (
            {"costs.A.b": range(200), "costs.C=d": range(200)},
            "40,000 combinations of values; there may be at most 10,000",
        ),
    ],
)
def test_a_wrong_setting_is_an_error_in_one_line(path, settings, message):
    with pytest.raises(VoilatticeError) as error:
        load_variants(path, settings)
    assert str(error.value) == message
