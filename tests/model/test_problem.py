import pickle
from copy import deepcopy

import numpy as np
import pytest
from helpers.strategies import problems
from hypothesis import given

from voilattice import Constraint, FeatureCosts, Network, Problem, evi
from voilattice.errors import InputError, UnknownNameError
from voilattice.model.costs import ConditionalCost, Group

NETWORK = Network.from_tables(
    {"Y": ["T", "F"], "A": ["T", "F"], "B": ["T", "F"], "H": ["T", "F"]},
    {"A": ["Y"], "B": ["H"]},
    {
        "Y": [0.5, 0.5],
        "A": [[0.9, 0.1], [0.3, 0.7]],
        "B": [[1, 0], [0.3, 0.7]],
        "H": [0.2, 0.8],
    },
)


def make(**changes):
    given = {
        "network": NETWORK,
        "target": "Y",
        "costs": {"A": 1, "B": 2},
        "misclassification": [[0, 50], [50, 0]],
        "features": ["A", "B"],
    }
    return Problem.create(**(given | changes))


def test_nodes_that_are_neither_target_nor_feature_are_hidden():
    assert make().hidden == ("H",)
    default = make(features=None, costs={"A": 1, "B": 2, "H": 3})
    assert default.features == ("A", "B", "H")
    assert default.hidden == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "X"}, "network.target: the network has no node 'X'"),
        ({"features": ["A", "Y"]}, "network.features: 'Y' is the target"),
        ({"features": ["A", "A"]}, "network.features: 'A' appears twice"),
        ({"features": ["A", "Bb"]}, r"network.features: the network has no node 'Bb' \(nearest"),
        ({"costs": {"A": 1}}, "costs.B: every feature needs a price >= 0, found none"),
        ({"costs": {}}, "costs.A: every feature needs a price >= 0, found none, and none for B"),
        ({"costs": {"A": 1, "B": 1, "H": 1}}, "costs.H: 'H' is hidden: it is not one of the feat"),
        ({"costs": {"A": 1, "B": 1, "Y": 1}}, "costs.Y: 'Y' is the target, not a feature"),
        ({"costs": {"A": 1, "B": 1, "Q": 1}}, "costs.Q: no feature 'Q'"),
        (
            {"costs": FeatureCosts({"A": 1, "B": 1}, (Group("g", 1, ("A", "Z")),))},
            r"groups\[0\].features: no feature 'Z'",
        ),
        (
            {
                "costs": FeatureCosts(
                    {"A": 1, "B": 1}, conditional=(ConditionalCost("A", (("B", "x"),), 1),)
                )
            },
            r"conditional_costs\[0\].when.B: 'B' has no state 'x'",
        ),
        (
            {
                "costs": FeatureCosts(
                    {"A": 1, "B": 1}, conditional=(ConditionalCost("A", (("H", "T"),), 1),)
                )
            },
            r"conditional_costs\[0\].when.H: 'H' is hidden",
        ),
        ({"misclassification": [[0, 1]]}, r"misclassification: must be a 2 x 2 matrix, a row for"),
        ({"misclassification": [[0, np.nan], [1, 0]]}, "misclassification.T.F: must be finite"),
        ({"misclassification": [[0, 5], [-1, 0]]}, "misclassification.F.T: must be >= 0, got -1"),
        ({"misclassification": "cheap"}, "misclassification: must be a matrix of numbers"),
        ({"misclassification": {}}, "misclassification: at least one decision is needed, found no"),
        ({"misclassification": []}, r"misclassification: must be a 2 x 2 matrix, .* shape \(0,\)"),
        (
            {"misclassification": [[0, 1]] * 3},
            r"2 x 2 matrix, .* got the shape \(3, 2\) \(decisions= names",
        ),
        ({"decisions": ["act", "wait", "go"]}, r"must be a 3 x 2 matrix, .* the shape \(2, 2\)"),
        ({"decisions": ["act", "act"]}, "misclassification: the decision 'act' appears twice"),
        ({"decisions": ["act", ""]}, "misclassification: the name of a decision must be a text"),
        ({"decisions": ["act", " "]}, "the name of a decision must be a text, got ' '"),
        ({"decisions": ["act", 3]}, "misclassification: the name of a decision must be a text, g"),
        (
            {"decisions": ["act", "wait"], "misclassification": [[0, 1], [2, np.inf]]},
            "misclassification.wait.F: must be finite, got inf",
        ),
        (
            {"misclassification": {"T": {"T": 0, "F": 1}}, "decisions": ["act"]},
            "decisions: names the rows of an array; these costs name theirs",
        ),
        (
            {"misclassification": ("symmetric", 5), "decisions": ["act", "wait"]},
            "decisions: names the rows of an array; these costs name theirs",
        ),
        ({"misclassification": {"": {"T": 0, "F": 1}}}, "the name of a decision must be a text"),
        (
            {"misclassification": {"T": {"T": 0}, "F": {"T": 1, "F": 0}}},
            "misclassification.T: the cost for the class 'F' is missing",
        ),
        (
            {"misclassification": {"refer": {"T": 1, "F": 1, "G": 1}}},
            "misclassification.refer.G: this is not a class; the classes are 'T', 'F'",
        ),
        (
            {"misclassification": ("symmetric", -5)},
            "misclassification.expected: must be >= 0, got -5",
        ),
        ({"network": "asia"}, "network: must be a voilattice.Network, got 'asia'; Network.from_py"),
        ({"constraints": Constraint("A", after=["B"])}, "constraints: must be a list, got Constr"),
        ({"title": "a\nb"}, "title: must be printable text in one line, got"),
        ({"title": 3}, "title: must be text, got 3"),
        ({"decisions": 3}, "decisions: must be a list, got 3"),
        ({"features": "AB"}, "features: must be a list, got 'AB'"),
        ({"evidence": 3}, "evidence: must be a mapping such as {'X1': 'T'}, got 3"),
        ({"costs": 5}, "costs: must be prices or an object with a method cost"),
        ({"evidence": {"A": "x"}}, "evidence.A: 'A' has no state 'x'; its states are 'T', 'F'"),
        ({"evidence": {"Y": "T"}}, "evidence.Y: 'Y' is the target, not a feature"),
        ({"evidence": {"H": "T"}}, "evidence.H: 'H' is hidden"),
        ({"evidence": {"Q": "T"}}, "evidence.Q: no feature 'Q'"),
        ({"bins": {"Q": [1]}}, "bins.Q: no feature 'Q'"),
        ({"bins": {"A": 1}}, "bins.A: must be a list of numbers, got 1"),
        ({"bins": [1]}, r"bins: must be a mapping of features to cuts, got \[1\]"),
        ({"bins": {"A": [1, 2]}}, "bins.A: 2 states need 1 cut between them, got 2"),
        ({"bins": {"A": [np.inf]}}, "bins.A: a cut must be a finite number, got inf"),
        ({"bins": {"A": [1]}, "evidence": {"A": np.inf}}, "evidence.A: 'A' must be a finite numb"),
    ],
)
def test_a_bad_problem_is_refused_with_its_place(changes, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        make(**changes)


def test_impossible_evidence_is_refused():
    sure = Network.from_tables({"Y": ["T", "F"], "A": ["T", "F"]}, {}, {"Y": [1, 0], "A": [1, 0]})
    with pytest.raises(InputError, match="evidence: A=F is impossible: its probability is 0"):
        Problem.create(sure, "Y", {"A": 1}, [[0, 1], [1, 0]], evidence={"A": "F"})


def test_a_problem_is_frozen_and_hashable():
    problem = make(evidence={"A": "T"})
    with pytest.raises(AttributeError):
        problem.target = "A"
    with pytest.raises(TypeError):
        problem.evidence["B"] = "T"
    with pytest.raises(ValueError, match="read-only"):
        problem.misclassification[0, 1] = 3
    assert problem == make(evidence={"A": "T"})
    assert hash(problem) == hash(make(evidence={"A": "T"}))
    assert len({problem, make(evidence={"A": "T"}), make()}) == 2
    assert problem != make(costs={"A": 1, "B": 3}, evidence={"A": "T"})


def test_a_problem_can_be_copied_to_another_process():
    problem = make(evidence={"A": "T"}, misclassification=[[-0.0, 50], [50, 0]])
    for copy in (pickle.loads(pickle.dumps(problem)), deepcopy(problem)):
        assert copy == problem
        assert hash(copy) == hash(problem) == hash(make(evidence={"A": "T"}))


@pytest.mark.parametrize(
    ("features", "evidence", "message"),
    [
        ("AB", {}, "expected a set of features, got the text 'AB'"),
        ([1], {}, r"no feature 1 \(there are: A, B\)"),
        (None, {}, "expected a set of features, got None"),
        (["B"], ["A"], r"evidence must be a mapping such as {'X1': 'T'}, got \['A'\]"),
        (["B"], {1: "T"}, "no feature 1"),
        (["B"], {"A": 1}, "'A' has no state 1; its states are 'T', 'F'"),
    ],
)
def test_questions_of_the_wrong_kind_are_refused(features, evidence, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        evi(make(), features, evidence)


def test_bins_are_part_of_the_problem():
    problem = make(bins={"A": [36.6]}, evidence={"A": 40.0})
    assert problem.evidence == {"A": "F"}
    assert problem == make(bins={"A": (36.6,)}, evidence={"A": "F"})
    assert problem != make(evidence={"A": "F"})
    assert hash(problem) == hash(make(bins={"A": (36.6,)}, evidence={"A": 99}))
    with pytest.raises(TypeError):
        problem.bins["B"] = (1.0,)
    for copy in (
        pickle.loads(pickle.dumps(problem)),
        deepcopy(problem),
        problem.with_expected("symmetric", 25),
    ):
        assert copy == problem
    assert make(bins={"A": [36.6]}).with_evidence({"A": 40}) == problem
    assert problem.without({"B"}).bins == {"A": (36.6,)}
    assert make(bins={"A": [36.6]}).without({"A"}).bins == {}


def test_evidence_takes_raw_values_wherever_it_is_given():
    problem = make(bins={"A": [36.6]})
    assert evi(problem, {"B"}, {"A": 36.6}) == evi(problem, {"B"}, {"A": "F"})
    assert problem.merge_evidence({"A": "36.5"}) == {"A": "T"}
    with pytest.raises(InputError, match="'A' must be a finite number or one of its states, got n"):
        evi(problem, {"B"}, {"A": float("nan")})


def test_a_users_cost_object_is_taken_and_its_check_is_said():
    class PerFeature:
        def cost(self, features, evidence):
            return 2.0 * len(features)

    problem = make(costs=PerFeature())
    assert problem.cost_check.monotone
    assert "monotone on all 4 pairs" in str(problem)


def test_scaled_costs_replace_the_matrix():
    problem = make().with_expected("asymmetric", 10)
    assert problem.misclassification.tolist() == [[0, 20], [20, 0]]
    assert make(misclassification=("asymmetric", 10)) == problem


@given(problems())
def test_printing_names_target_and_features(problem):
    text = str(problem)
    assert problem.target in text
    assert all(feature in text for feature in problem.features)
    assert repr(problem).startswith("<Problem")


LABELS = {
    "labels": {"A": "Age", "Y": "Illness", "H": "Habit"},
    "state_labels": {"A": {"T": "old"}, "Y": {"T": "ill", "F": "well"}},
    "currency": "CAD",
}


def test_a_label_stands_for_a_name_where_there_is_one():
    problem = make(**LABELS)
    assert [problem.label(name) for name in ("A", "B", "Y")] == ["Age", "B", "Illness"]
    assert [problem.state_label("A", state) for state in ("T", "F")] == ["old", "F"]
    assert problem.state_label("Y", "refer") == "refer"  # a decision that is no class
    assert make().label("A") == "A"
    assert make().currency == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda problem: problem.with_evidence({"A": "T"}),
        lambda problem: problem.without(["A"]),
        lambda problem: problem.with_expected("symmetric", 3),
        lambda problem: pickle.loads(pickle.dumps(problem)),
        deepcopy,
    ],
)
def test_labels_and_currency_are_kept(change):
    changed = change(make(**LABELS))
    assert changed.labels == LABELS["labels"]
    assert changed.state_labels == LABELS["state_labels"]
    assert changed.currency == "CAD"


@pytest.mark.parametrize("part", LABELS)
def test_problems_that_people_read_differently_are_not_equal(part):
    assert make(**{part: LABELS[part]}) != make()
    assert make(**LABELS) == make(**LABELS)
    assert hash(make(**LABELS)) == hash(make(**LABELS))


def test_labels_cannot_be_changed():
    problem = make(**LABELS)
    with pytest.raises(TypeError):
        problem.labels["A"] = "B"
    with pytest.raises(TypeError):
        problem.state_labels["A"]["T"] = "B"


def test_a_label_that_is_the_name_of_another_node_is_refused():
    with pytest.raises(InputError, match="labels.A: 'B' is what people read for 'B' too"):
        make(labels={"A": "B"})
    swapped = make(labels={"A": "B", "B": "A"})  # odd, but the two can be told apart
    assert swapped.label("A") == "B"
    with pytest.raises(InputError, match=r"state_labels.A.T: 'F' is what people read for 'F' too"):
        make(state_labels={"A": {"T": "F"}})
    with pytest.raises(InputError, match=r"labels: must be a table of labels, got \['A'\]"):
        make(labels=["A"])
