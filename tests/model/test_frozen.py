"""What is frozen stays as it is when the lists, tables and arrays that it was made from change."""

import copy
import pickle

import numpy as np
import pytest

from voilattice import (
    ConditionalCost,
    Constraint,
    Discount,
    FeatureCosts,
    Group,
    Network,
    Policy,
    Problem,
)
from voilattice.errors import InputError
from voilattice.learning.recipes import Recipe
from voilattice.policy.policy import Acquisition, Branch, Leaf


def spoil(given):
    """Change a list, a table or an array, and all that is in it."""
    if isinstance(given, dict):
        for value in given.values():
            spoil(value)
        given["other"] = "other"
    elif isinstance(given, list):
        for value in given:
            spoil(value)
        given.append("other")
    elif isinstance(given, np.ndarray):
        given[...] = 0.125
    elif isinstance(given, set):
        given.add("other")


def parts():
    """Return each class with what it is made from, in types that can be changed."""
    group = Group("g", 1.0, ("A", "B"))
    discount = Discount("d", {"C": 1.0, "D": 1.0})
    cheaper = ConditionalCost("A", {"B": "0"}, 1.0)
    states = {name: ["0", "1"] for name in "YABCD"}
    tables = {name: np.array([[0.9, 0.1], [0.2, 0.8]]) for name in "ABCD"}
    tables["Y"] = np.array([0.5, 0.5])
    network = Network.from_tables(states, {name: ["Y"] for name in "ABCD"}, tables)
    prices = dict.fromkeys("ABCD", 2.0)
    leaves = [Leaf("0", (1.0, 0.0), 0.0), Leaf("1", (0.0, 1.0), 0.0)]
    return {
        "Group": (Group, ["g", 1.0, ["A", "B"]]),
        "Discount": (Discount, ["d", {"A": 1.0}]),
        "ConditionalCost of a mapping": (ConditionalCost, ["A", {"B": "0"}, 1.0]),
        "ConditionalCost of pairs": (ConditionalCost, ["A", [["B", "0"]], 1.0]),
        "Constraint": (Constraint, ["A", ["B"], {"C": "0"}, [["D", "1"]]]),
        "FeatureCosts": (
            FeatureCosts, [prices, [group], [cheaper], [discount], 0.0, {"A": {"B"}}],
        ),
        "Network": (
            Network,
            [["Y", "A"], [["0", "1"], ["a", "b"]], [[], [0]],
             [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])]],
        ),
        "Problem": (
            Problem,
            [network, "Y", ["A", "B"], FeatureCosts({"A": 1.0, "B": 1.0}),
             np.array([[0.0, 5.0], [5.0, 0.0]]), {"A": "0"}, "", {"B": [1.5]}, ["0", "1"],
             {"A": "a"}, {"A": {"0": "low"}}, "", [Constraint("B", after=["A"])]],
        ),
        "Branch": (Branch, [["0"], 1.0, 0]),
        "Acquisition": (Acquisition, [["A"], 1.0, [Branch(("0",), 1.0, 0)]]),
        "Leaf": (Leaf, ["0", [0.5, 0.5], 2.5]),
        "Policy": (
            Policy,
            [Problem(network, "Y", ("A",), FeatureCosts({"A": 1.0}), [[0, 5], [5, 0]]), "p",
             [*leaves, Acquisition(("A",), 1.0, (Branch(("0",), 0.5, 0), Branch(("1",), 0.5, 1)))]],
        ),
        "Recipe": (Recipe, {"forbidden": [["A", "B"]], "required": [["B", "A"]]}),
    }  # fmt: skip


def make(kind, given):
    return kind(**given) if isinstance(given, dict) else kind(*given)


@pytest.mark.parametrize("name", parts())
def test_a_frozen_object_does_not_change_with_what_it_was_made_from(name):
    kind, given = parts()[name]
    mine, same = make(kind, given), make(*parts()[name])
    before = pickle.dumps(same)
    for value in given.values() if isinstance(given, dict) else given:
        spoil(value)
    assert mine == same
    assert hash(mine) == hash(same)
    assert pickle.dumps(mine) == before


@pytest.mark.parametrize("name", parts())
def test_a_frozen_object_can_be_copied_and_pickled(name):
    mine = make(*parts()[name])
    for other in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert other == mine
        assert hash(other) == hash(mine)


@pytest.mark.parametrize("features", ["AB", 3, None, ["A", 3]])
def test_a_group_is_a_list_of_features(features):
    with pytest.raises(InputError, match="features: must be a list of features"):
        Group("g", 1.0, features)


@pytest.mark.parametrize("when", ["B", 3, [("B",)], [("B", "0", "1")], ["X1"], [("B", 1)]])
def test_a_condition_is_a_table_of_features_and_states(when):
    with pytest.raises(InputError, match="when: must be a table of features and states"):
        ConditionalCost("A", when, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prices": 5}, r"costs: must be a mapping of features and prices, got 5"),
        ({"groups": 5}, "groups: must be a list of groups, got 5"),
        ({"groups": [5]}, "groups: must be a list of groups, got 5 in it"),
        ({"conditional": "x"}, "conditional_costs: must be a list of conditional prices, got 'x'"),
        ({"discounts": Group("g", 1.0, ("A",))}, "discounts: must be a list of discounts, got Gro"),
        ({"order": ["A"]}, r"order: must be a mapping of features and lists, got \['A'\]"),
        ({"order": {"A": "B"}}, r"order.A: must be a list of features, got 'B'"),
    ],
)
def test_costs_are_made_of_lists(arguments, message):
    with pytest.raises(InputError, match=message):
        FeatureCosts(**{"prices": {"A": 1.0, "B": 1.0}} | arguments)


@pytest.mark.parametrize("off", [5, ["A"], "A"])
def test_a_discount_is_a_mapping(off):
    with pytest.raises(InputError, match="off: must be a mapping of features and amounts, got"):
        Discount("d", off)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [], [], []), "names: must be a list of texts, got 3"),
        (("A", [["a", "b"]], [[]], [[0.5, 0.5]]), "names: must be a list of texts, got 'A'"),
        ((["A"], ["ab"], [[]], [[0.5, 0.5]]), r"states\[0\]: must be a list of texts, got 'ab'"),
        ((["A"], [["a", "b"]], [3], [[0.5, 0.5]]), r"parents\[0\]: must be a list of numbers, got"),
        ((["A"], [["a", "b"]], [["B"]], [[0.5, 0.5]]), r"parents\[0\]: .* numbers, got 'B' in it"),
        ((["A"], [["a", "b"]], [[]], 3), "tables: must be a list of tables, got 3"),
    ],
)
def test_a_network_is_made_of_lists(arguments, message):
    with pytest.raises(InputError, match=message):
        Network(*arguments)


@pytest.mark.parametrize("option", ["forbidden", "required"])
@pytest.mark.parametrize("arcs", [3, "ab", ["ab"], [("a",)], [("a", 1)], {"a": "b"}])
def test_arcs_are_a_list_of_pairs(option, arcs):
    with pytest.raises(InputError, match=f"{option}: must be a list of pairs of names, got "):
        Recipe(**{option: arcs})
