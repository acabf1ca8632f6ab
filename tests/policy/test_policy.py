"""A policy as a frozen tree: its costs, its paths, its checks."""

import pytest
from helpers.solving import POLICIES
from helpers.strategies import problems
from helpers.worlds import examples
from hypothesis import given

from voilattice import load_problem
from voilattice.errors import InputError, UnknownNameError
from voilattice.files.policies import load_policy, save_policy
from voilattice.policy.policy import Acquisition, Branch, Leaf, Policy, describe_excess
from voilattice.policy.solvers import build_policy
from voilattice.valuation.valuation import posterior, value


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
@examples(60)
@given(problem=problems(max_features=5))
def test_the_paths_add_up_to_the_costs(name, problem):
    policy = build_policy(problem, name)
    paths = list(policy.paths())
    assert len(paths) == policy.n_paths
    assert sum(path.probability for path in paths) == pytest.approx(1)
    total = sum(path.probability * path.total_cost for path in paths)
    assert policy.expected_total_cost == pytest.approx(total, abs=1e-9)
    assert policy.expected_total_cost == pytest.approx(
        policy.expected_feature_cost + policy.expected_misclassification_cost, abs=1e-9
    )
    bought = sum(path.probability * len(path.evidence) for path in paths)
    assert policy.expected_features == pytest.approx(bought, abs=1e-9)
    for path in paths:
        # Equation 2, path by path: posterior, decision and price from the reference.
        found = dict(path.evidence)
        assert path.leaf.posterior == pytest.approx(
            list(posterior(problem, found).values()), abs=1e-9
        )
        assert path.leaf.emc == pytest.approx(value(problem, (), found).emc, abs=1e-9)


@examples(40)
@given(problems(max_features=5))
def test_nodes_are_reached_as_often_as_their_paths_say(problem):
    policy = build_policy(problem, "greedy-la")
    reached = policy.reach_probabilities
    assert reached[-1] == 1
    leaves = [k for k, node in enumerate(policy.nodes) if isinstance(node, Leaf)]
    assert sum(reached[k] for k in leaves) == pytest.approx(1)
    bought = [
        reached[k] * len(node.features)
        for k, node in enumerate(policy.nodes)
        if isinstance(node, Acquisition)
    ]
    assert sum(bought) == pytest.approx(policy.expected_features, abs=1e-9)
    rounds = sum(reached) - sum(reached[k] for k in leaves)
    assert rounds == pytest.approx(policy.expected_rounds, abs=1e-9)


def test_a_case_is_followed_to_where_it_stands():
    policy = build_policy(load_problem("asia"), "greedy-la")
    assert policy.follow({}) == policy.root
    assert policy.follow({"smoke": "yes"}) == policy.root  # not asked for yet
    assert policy.follow({"tub": "yes"}).decision == "no"
    with pytest.raises(UnknownNameError, match="'tub' has no state 'maybe'"):
        policy.follow({"tub": "maybe"})


@pytest.mark.parametrize(
    ("leaf", "node", "message"),
    [
        ({"decision": "perhaps"}, {}, "node 0: the decision 'perhaps' is not one of"),
        ({"posterior": (0.5,)}, {}, "node 0: the posterior .* is not a distribution"),
        ({"emc": -1.0}, {}, "node 0: emc: must be >= 0"),
        ({}, {"features": ("nothing",)}, "node 1: no feature 'nothing'"),
        ({}, {"features": ("xray", "xray")}, "node 1: 'xray' is asked for twice"),
        ({}, {"price": float("nan")}, "node 1: price: must be finite"),
        ({}, {"branches": ()}, "node 1: an acquisition needs features and branches"),
        (
            {},
            {"branches": (Branch(("yes",), 0.7, 0),)},
            "node 1: the probabilities of its branches",
        ),
        ({}, {"branches": (Branch(("maybe",), 1.0, 0),)}, "node 1: 'xray' has no state 'maybe'"),
        ({}, {"branches": (Branch(("no",), 0.5, 0),) * 2}, "node 1: an outcome appears twice"),
    ],
)
def test_a_policy_written_by_hand_is_checked(leaf, node, message):
    first = Leaf(**({"decision": "no", "posterior": (0.1, 0.9), "emc": 1.0} | leaf))
    ways = tuple(Branch((state,), 0.5, 0) for state in ("yes", "no"))
    second = Acquisition(**({"features": ("xray",), "price": 8.0, "branches": ways} | node))
    with pytest.raises((InputError, UnknownNameError), match=message):
        Policy(load_problem("asia"), "mine", (first, second))


def test_evidence_is_located_on_the_tree():
    asia = load_problem("asia")
    policy = build_policy(asia, "greedy-la")  # tub, then xray
    root = len(policy.nodes) - 1
    assert policy.locate({}) == root
    assert policy.acquired_from(root) == {"tub", "xray", "smoke", "dysp", "bronc"}
    place = policy.locate({"xray": "no", "tub": "no"})  # in any order
    assert policy.nodes[place].decision == "no"
    assert policy.acquired_from(place) == set()
    for off in ({"xray": "no"}, {"tub": "no", "smoke": "yes"}):
        assert policy.locate(off) is None
    batch = build_policy(load_problem("heart"), "batch")  # age, cp and sex together
    assert batch.locate({"age": 46}) is None
    assert batch.locate({"age": 46, "cp": "typical", "sex": "male"}) is not None


def test_what_is_known_from_the_start_belongs_to_the_policy(tmp_path):
    asia = load_problem("asia")
    policy = build_policy(asia, "greedy", {"smoke": "yes"})
    assert policy.problem == asia.with_evidence({"smoke": "yes"})
    assert policy.follow({"smoke": "yes"}) == policy.root
    with pytest.raises(InputError, match="'smoke' is 'yes' by the problem's own evidence"):
        policy.follow({"smoke": "no"})
    save_policy(policy, tmp_path / "p.json")
    with pytest.raises(InputError, match="built for another problem"):
        load_policy(tmp_path / "p.json", asia)
    assert load_policy(tmp_path / "p.json", asia.with_evidence({"smoke": "yes"})) == policy


def test_an_excess_is_never_below_nothing():
    assert describe_excess(5, 4.5, "CAD") == "It costs at most 0.50 CAD (10.0%) too much."
    assert describe_excess(5, 5 + 1e-13) == "It costs at most 0.00 (0.0%) too much."
