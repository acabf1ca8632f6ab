"""What is given away so that the tables fit: the least that is needed, and the cheapest first."""

import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.problems import noisy_bayes, structured

from voilattice import ConditionalCost, FeatureCosts, Group
from voilattice.budgets import Deadline
from voilattice.optimal.exact.plain_solution import feature_prices
from voilattice.optimal.search.bounds import screens
from voilattice.optimal.search.bounds.screens import entangled_features, own_prices, plan_reveal
from voilattice.policy.relevance import Relevance

PLENTY = 1 << 30


def prices_of(problem):
    return feature_prices(problem, Relevance(problem), range(len(problem.features)))


def plan_of(problem, max_states=PLENTY, max_bytes=PLENTY):
    features = range(len(problem.features))
    return plan_reveal(
        problem, features, prices_of(problem), max_states=max_states, max_bytes=max_bytes
    )


def names_of(problem, nodes):
    return [problem.network.names[node] for node in nodes]


def four_features(**costs):
    problem = noisy_bayes(4)  # two classes, and features of two values
    prices = dict(zip(problem.features, (3.0, 1.0, 4.0, 2.0), strict=True))
    return replace(problem, costs=FeatureCosts(prices, **costs))


@pytest.mark.parametrize(
    ("max_states", "revealed"),
    [
        (3**4, []),
        (3**4 - 1, ["X01"]),
        (2 * 3**3, ["X01"]),
        (2 * 3**3 - 1, ["X01", "X03"]),
        (2**2 * 3**2 - 1, ["X00", "X01", "X03"]),
        (2**4, ["X00", "X01", "X02", "X03"]),
    ],
)
def test_no_more_is_given_away_than_the_table_needs(max_states, revealed):
    problem = four_features()
    plan = plan_of(problem, max_states)
    assert sorted(names_of(problem, plan.revealed)) == revealed
    tabled = [problem.features[i] for i in plan.tabled]
    assert sorted([*tabled, *revealed]) == sorted(problem.features)
    assert plan.screens == {}


def test_there_is_no_plan_where_nothing_fits():
    assert plan_of(four_features(), max_states=2**4 - 1) is None


def test_the_joint_table_counts_in_bytes():
    problem = four_features()
    joint = 8 * 2**5
    assert plan_of(problem, max_bytes=3 * joint - 1) is None
    # Two tables of the joint size leave room for 32 states: 36 are too many, and 24 are not.
    assert len(plan_of(problem, max_bytes=3 * joint).revealed) == 3
    assert len(plan_of(problem, max_bytes=2 * joint + 8 * 3**4).revealed) == 0
    assert len(plan_of(problem, max_bytes=2 * joint + 8 * 3**4 - 1).revealed) == 1


@pytest.mark.parametrize(
    ("name", "enough"), [("MAX_TABLED", 3**4), ("MAX_VALUES", 1), ("MAX_AXES", 6)]
)
def test_limits_of_their_own_count_too(monkeypatch, name, enough):
    problem = four_features()
    for limit, is_whole in [(enough, True), (enough - 1, False)]:
        monkeypatch.setattr(screens, name, limit)
        plan = plan_of(problem)
        assert (plan is not None and plan.revealed == ()) == is_whole


def test_features_that_other_prices_depend_on_come_last():
    named = ConditionalCost("X00", {"X01": "T"}, 9.0)
    problem = four_features(conditional=(named,))
    assert entangled_features(prices_of(problem)) == {1}
    assert names_of(problem, plan_of(problem, 2 * 3**3).revealed) == ["X03"]
    problem = four_features(groups=(Group("visit", 5.0, ("X01", "X03")),))
    assert entangled_features(prices_of(problem)) == {1, 3}
    assert names_of(problem, plan_of(problem, 2 * 3**3).revealed) == ["X00"]
    for free in (Group("visit", 0.0, ("X01", "X03")), Group("visit", 5.0, ("X01",))):
        assert entangled_features(prices_of(four_features(groups=(free,)))) == set()


def test_the_own_prices_are_those_of_all_conditions():
    problem = four_features(conditional=(ConditionalCost("X00", {"X01": "T"}, 9.0),))
    own = [set(own_prices(prices_of(problem), i).tolist()) for i in range(4)]
    assert own == [{3.0, 9.0}, {1.0}, {4.0}, {2.0}]


def behind(n):
    """Y -> H -> n features, and a feature Z that tells of Y by itself."""
    names = [f"X{k}" for k in range(n)]
    parents = {"H": ["Y"], "Z": ["Y"], **{name: ["H"] for name in names}}
    return structured(parents, features=["Z", *names])


@pytest.mark.parametrize("n", [2, 6])
def test_a_hidden_node_is_given_away_for_the_features_behind_it(n):
    problem = behind(n)
    h = problem.network.index("H")
    plan = plan_of(problem, max_states=2 * 3)
    assert plan.revealed == (h,)
    assert plan.tabled == (0,)
    assert plan.screens == {(i,): (h,) for i in range(1, n + 1)}


def test_features_come_before_hidden_nodes():
    problem = behind(2)
    assert names_of(problem, plan_of(problem, 3**3).revealed) == []
    assert "H" not in names_of(problem, plan_of(problem, 3**3 - 1).revealed)
    assert names_of(problem, plan_of(problem, 2**3 - 1).revealed) == ["H"]
    assert names_of(problem, plan_of(problem, 2 * 3 - 1).revealed) == ["H", "Z"]
    assert plan_of(problem, 2 * 2 - 1) is None


def test_features_that_depend_on_each_other_are_dropped_together():
    parents = {"H": ["Y"], "Z": ["Y"], "X0": ["H"], "X1": ["H", "X0"], "X2": ["H", "X1"]}
    problem = structured(parents, features=["Z", "X0", "X1", "X2"])
    plan = plan_of(problem, max_states=2 * 3)
    assert names_of(problem, plan.revealed) == ["H"]
    assert plan.screens == {(1, 2, 3): plan.revealed}


def test_a_screen_may_have_several_nodes():
    parents = {"G": ["Y"], "H": ["Y"], "Z": ["Y"], **{f"X{k}": ["G", "H"] for k in range(4)}}
    problem = structured(parents, features=["Z", "X0", "X1", "X2", "X3"])
    plan = plan_of(problem, max_states=2 * 2 * 3)
    assert names_of(problem, plan.revealed) == ["G", "H"]
    assert plan.tabled == (0,)
    assert plan.screens == {(k,): plan.revealed for k in range(1, 5)}


def test_a_screen_counts_in_the_joint_table(monkeypatch):
    problem = behind(3)
    joint = 8 * 2 * 2 * 2  # of Y, H and Z
    assert plan_of(problem, max_states=6, max_bytes=3 * joint) is not None
    assert plan_of(problem, max_states=6, max_bytes=3 * joint - 1) is None
    for n_axes, is_found in [(4, True), (3, False)]:  # Y, H and Z are three
        monkeypatch.setattr(screens, "MAX_AXES", n_axes)
        assert (plan_of(problem, max_states=6) is not None) == is_found


def test_how_probable_dropped_features_are_needs_room(monkeypatch):
    problem = behind(3)  # of three dropped features, at two values of H each
    for limit, is_found in [(2 * 3 * 3, True), (2 * 3 * 3 - 1, False)]:
        monkeypatch.setattr(screens, "MAX_LIKELIHOODS", limit)
        assert (plan_of(problem, max_states=2 * 3) is not None) == is_found


def test_the_information_is_the_share_of_the_uncertainty_that_goes():
    assert screens._information(np.full((2, 3), 1 / 6)) == pytest.approx(0.0)
    assert screens._information(np.eye(3) / 3) == pytest.approx(1.0)
    assert screens._information(np.array([[0.4, 0.6]])) == 0.0
    entropy = -(0.8 * np.log2(0.8) + 0.2 * np.log2(0.2))
    found = screens._information(np.array([[0.4, 0.1], [0.1, 0.4]]))
    assert found == pytest.approx(1 - entropy)


def test_the_room_that_a_screen_saves():
    problem = structured({"H": ["Y"], "A": ["Y"], "B": ["A"], "C": ["H"], "D": ["H"]})
    problem = replace(
        problem, features=("A", "B", "C", "D"), costs=FeatureCosts(dict.fromkeys("ABCD", 1.0))
    )
    planner = screens._Planner(problem, range(4), prices_of(problem), 8, Deadline())

    def saved(*names):
        return planner._saved(sum(1 << problem.network.index(name) for name in names))

    assert saved("H") == pytest.approx(2 * math.log(3) - math.log(2))  # C and D go, and H comes
    assert saved("A") == pytest.approx(math.log(3) + math.log(3 / 2))  # B goes, and A shrinks
    assert saved("H", "A") == pytest.approx(saved("H") + saved("A"))
    assert saved("B") == 0.0  # it separates nothing


def test_a_cause_of_the_target_is_not_separated_from_it_by_another():
    problem = structured({"Y": ["A", "B"]})
    assert plan_of(problem, max_states=2 * 3).screens == {}
    assert plan_of(problem, max_states=2 * 2 - 1) is None
