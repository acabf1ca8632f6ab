"""The nodes of a policy in arrays: what people see of them, and sums over them."""

import pickle

import numpy as np
import pytest

from voilattice import build_policy, load_problem
from voilattice.errors import InputError
from voilattice.policy.nodes import Acquisition, Branch, Leaf, Nodes, StepSet, decide
from voilattice.policy.policy import Policy

ASIA = load_problem("asia")
YES, NO = Leaf("yes", (0.75, 0.25), 2.0), Leaf("no", (0.125, 0.875), 1.0, is_open=True)
XRAY = Acquisition(("xray",), 8.0, (Branch(("yes",), 0.5, 0), Branch(("no",), 0.5, 1)))
BOTH = Acquisition(
    ("smoke", "tub"),
    4.0,
    (Branch(("yes", "no"), 0.25, 1), Branch(("no", "no"), 0.5, 2), Branch(("no", "yes"), 0.25, 0)),
)
MINE = (YES, NO, XRAY, BOTH)


def test_nodes_are_what_they_were_made_from():
    nodes = Nodes.of(ASIA, MINE)
    assert tuple(nodes) == nodes == MINE
    assert (nodes[0], nodes[-1], nodes[2]) == (YES, BOTH, XRAY)
    assert nodes[1:3] == (NO, XRAY)
    assert BOTH in nodes
    assert len(nodes) == 4
    with pytest.raises(IndexError):
        nodes[4]
    assert nodes != (YES,)
    assert nodes != "nodes"


def test_nodes_are_equal_if_they_look_equal():
    nodes, same = Nodes.of(ASIA, MINE), Nodes.of(ASIA, list(MINE))
    assert nodes == same
    assert hash(nodes) == hash(same)
    assert nodes != Nodes.of(ASIA, MINE[:3])
    with pytest.raises(ValueError, match="read-only"):
        nodes.amount[0] = 5.0


def test_what_was_computed_is_not_saved():
    nodes = Nodes.of(ASIA, MINE)
    before = pickle.dumps(nodes)
    assert nodes.reach.sum() > 1
    assert pickle.dumps(nodes) == before
    assert pickle.loads(before) == nodes


def test_sums_are_over_paths():
    policy = Policy(ASIA, "mine", MINE)
    assert policy.reach_probabilities == (0.25 + 0.25, 0.25 + 0.25, 0.5, 1.0)
    assert policy.costs_to_go == (2.0, 1.0, 9.5, 4 + 0.25 + 0.5 * 9.5 + 0.5)
    assert policy.expected_total_cost == policy.costs_to_go[-1]
    assert (policy.expected_feature_cost, policy.expected_features) == (8.0, 2.5)
    assert (policy.n_paths, policy.n_acquisitions, policy.depth) == (4, 2, 2)
    assert policy.open_share == 0.5
    assert policy.acquired_from(2) == {"xray"}
    assert policy.acquired_from(3) == {"smoke", "tub", "xray"}


def test_paths_are_counted_beyond_a_word():
    leaf = Leaf("0", (1.0, 0.0), 0.0)
    ways = [StepSet((f"X{k}",), (("a", "b"),)) for k in range(200)]
    nodes = Nodes(
        ("0", "1"), tuple(ways), np.arange(-1, 200), np.zeros(201),
        np.concatenate([[0], np.arange(0, 401, 2)]), np.tile([0, 1], 200), np.full(400, 0.5),
        np.repeat(np.arange(200), 2), np.array([leaf.posterior]), np.array([False]),
    )  # fmt: skip
    assert nodes.counts(nodes.is_leaf)[-1] == 2**200
    assert nodes.heights[-1] == 200


def test_nodes_in_any_order_are_put_in_order():
    nodes = Nodes.of(ASIA, MINE)
    turned = [3, 0, 2, 1]  # the node at each place
    place = np.argsort(turned)
    mine = [nodes[k] for k in turned]
    branches = [b for node in mine if isinstance(node, Acquisition) for b in node.branches]
    lengths = [len(getattr(node, "branches", ())) for node in mine]
    sets = (StepSet.of(ASIA, ("smoke", "tub")), StepSet.of(ASIA, ("xray",)))
    outcomes = [
        sets[0 if len(branch.states) == 2 else 1].number(branch.states) for branch in branches
    ]
    decisions = {name: k for k, name in enumerate(ASIA.decisions)}
    result = Nodes.in_order(
        ASIA.decisions, sets, np.array([0, -1 - decisions["yes"], 1, -1 - decisions["no"]]),
        np.array([4.0, 2.0, 8.0, 1.0]), np.concatenate([[0], np.cumsum(lengths)]),
        np.array(outcomes), np.array([b.probability for b in branches]),
        place[[b.child for b in branches]], np.array([YES.posterior, NO.posterior]),
        np.array([False, True]),
    )  # fmt: skip
    assert result == nodes


def test_an_outcome_has_a_number():
    step = StepSet(("A", "B"), (("a", "b"), ("x", "y", "z")))
    assert [step.outcome(k) for k in range(6)][1::2] == [("a", "y"), ("b", "x"), ("b", "z")]
    assert all(step.number(step.outcome(k)) == k for k in range(6))


def test_the_first_decision_wins_a_tie():
    cost = np.array([[0.0, 4.0], [4.0, 0.0]])
    decision, risk = decide(cost, np.array([[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]]))
    assert (decision.tolist(), risk.tolist()) == ([0, 1, 0], [2.0, 1.0, 1.0])


def test_an_outcome_of_other_features_is_refused():
    wrong = Acquisition(("xray",), 8.0, (Branch(("yes", "no"), 1.0, 0),))
    with pytest.raises(InputError, match=r"node 1: \('yes', 'no'\) is no outcome of \('xray',\)"):
        Policy(ASIA, "mine", (YES, wrong))


def test_nodes_are_read_again_only_for_other_names():
    policy = build_policy(ASIA, "greedy-la")
    assert policy.certify(policy.certificate).nodes is policy.nodes
    known = ASIA.with_evidence({"smoke": "yes"})
    assert Policy(ASIA, "mine", build_policy(known, "none").nodes).root.decision
    with pytest.raises(InputError, match="'tub' is known already"):
        Policy(ASIA.with_evidence({"tub": "no"}), "mine", policy.nodes)
