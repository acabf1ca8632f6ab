import itertools
import random
from dataclasses import replace

import pytest
from helpers.brute_force import best_of_all_subsets
from helpers.problems import noisy_bayes, structured
from helpers.solving import POLICIES, RULES
from helpers.strategies import full_joint, problems
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voilattice import FeatureCosts, Network, Problem, load_problem
from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.files.policies import load_policy, save_policy
from voilattice.lattice.independence import acquirable_core
from voilattice.model.costs import ConditionalCost, Group
from voilattice.policy.policy import Acquisition, Branch, Leaf, Policy
from voilattice.policy.solvers import build_policy, policy_from_rule
from voilattice.policy.sweep import Sweep
from voilattice.ties import tolerance
from voilattice.valuation.valuation import posterior, value


def naive_choice(name, problem, evidence):
    """What a policy acquires at this evidence, word by word from its definition."""
    known = {**problem.evidence, **evidence}
    free = [f for f in problem.features if f not in known]
    tol = tolerance(value(problem, (), evidence).emc)

    def single(candidates):
        offers = [value(problem, [f], evidence) for f in candidates]
        highest = max(offer.benefit for offer in offers)
        tied = [offer for offer in offers if offer.benefit >= highest - tol]
        cheapest = min(offer.cost for offer in tied)
        return next(offer for offer in tied if offer.cost <= cheapest + tol)

    match name:
        case "none":
            return frozenset()
        case "markov-blanket":
            return frozenset() if evidence else acquirable_core(problem)
        case "greedy":
            offer = single(free) if free else None
            return offer.features if offer and offer.benefit > tol else frozenset()
        case "greedy-la":
            best = best_of_all_subsets(problem, evidence).features
            return single([f for f in free if f in best]).features if best else frozenset()
        case "batch":
            return best_of_all_subsets(problem, evidence).features


def naive_etc(name, problem, evidence):
    """The expected total cost by plain recursion, nothing shared."""
    chosen = naive_choice(name, problem, evidence)
    if not chosen:
        return value(problem, (), evidence).emc
    total = value(problem, chosen, evidence).cost
    ordered = sorted(chosen)
    for states in itertools.product(*(problem.states(f) for f in ordered)):
        found = {**evidence, **dict(zip(ordered, states, strict=True))}
        probability = chance(problem, found, evidence)
        if probability > 0:
            total += probability * naive_etc(name, problem, found)
    return total


def chance(problem, found, evidence):
    network, joint = problem.network, full_joint(problem.network)

    def mass(known):
        where = [slice(None)] * len(network)
        for f, v in {**problem.evidence, **known}.items():
            where[network.index(f)] = network.state_index(network.index(f), v)
        return joint[tuple(where)].sum()

    return float(mass(found) / mass(evidence))


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=6)
@given(problem=problems(min_features=6, max_features=6, max_states=2))
def test_a_policy_of_six_features_costs_what_its_definition_costs(name, problem):
    policy = build_policy(problem, name)
    assert policy.expected_total_cost == pytest.approx(naive_etc(name, problem, {}), abs=1e-9)


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=40)
@given(problem=problems(max_features=4, max_hidden=1))
def test_a_policy_costs_what_its_definition_costs(name, problem):
    policy = build_policy(problem, name)
    assert policy.expected_total_cost == pytest.approx(naive_etc(name, problem, {}), abs=1e-9)


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=60)
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


@pytest.mark.parametrize("name", ["batch", "greedy", "greedy-la", "optimal"])
@settings(max_examples=80)
@given(problem=problems(max_features=5))
def test_buying_is_never_worse_than_deciding_at_once(name, problem):
    if name == "greedy-la" and problem.costs.conditional:
        return  # with conditional prices a later price can spoil the plan
    none = build_policy(problem, "none").expected_total_cost
    assert build_policy(problem, name).expected_total_cost <= none + 1e-9


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=30)
@given(problem=problems(max_features=4))
def test_a_policy_is_the_tree_of_its_definition(name, problem):
    tree = policy_from_rule(problem, lambda evidence: naive_choice(name, problem, evidence))
    shared = build_policy(problem, name)
    assert len(shared.nodes) <= len(tree.nodes)
    ways = [
        {(frozenset(path.evidence), path.leaf.decision) for path in policy.paths()}
        for policy in (tree, shared)
    ]
    assert ways[0] == ways[1]
    assert (shared.n_acquisitions, shared.depth) == (tree.n_acquisitions, tree.depth)


@settings(max_examples=40)
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


def test_greedy_does_not_see_xor_and_the_lattice_does():
    states = {name: ["T", "F"] for name in ("X1", "X2", "Y")}
    xor = Network.from_joint(list(states), states, [0, 0.25, 0.25, 0, 0.25, 0, 0, 0.25])
    problem = Problem.create(xor, "Y", {"X1": 5, "X2": 10}, [[0, 100], [100, 0]])
    costs = {name: build_policy(problem, name).expected_total_cost for name in POLICIES}
    assert costs["greedy"] == costs["none"] == pytest.approx(50)
    assert costs["greedy-la"] == costs["batch"] == pytest.approx(15)


def test_greedy_is_reluctant_to_pay_an_overhead_and_the_lattice_is_not():
    # Three noisy copies of Y in one group. One is worth 30, all three 39.6; the first pays 33 + 1.
    names = ["X1", "X2", "X3"]
    network = Network.from_tables(
        {name: ["T", "F"] for name in ["Y", *names]},
        {name: ["Y"] for name in names},
        {"Y": [0.5, 0.5]} | {name: [[0.8, 0.2], [0.2, 0.8]] for name in names},
    )
    costs = FeatureCosts(dict.fromkeys(names, 1), (Group("draw", 33, tuple(names)),))
    problem = Problem.create(network, "Y", costs, [[0, 100], [100, 0]])
    assert value(problem, ["X1"]).benefit == pytest.approx(30 - 34)
    assert value(problem, names).benefit == pytest.approx(39.6 - 36)
    etc = {name: build_policy(problem, name).expected_total_cost for name in POLICIES}
    assert etc["greedy"] == etc["none"] == pytest.approx(50)
    assert etc["batch"] == pytest.approx(50 - 3.6)
    # One by one, the third copy is bought only when the first two disagree.
    assert etc["greedy-la"] == pytest.approx(10.4 + 33 + 2 + 0.32)


def test_look_ahead_can_lose_when_prices_rise_on_the_way():
    # Xor again: both together pay at 15. But once X1 is known, X2 costs 90: the plan breaks off
    # after the first step, and its price is lost. (The best set is priced at what is known now.)
    states = {name: ["T", "F"] for name in ("X1", "X2", "Y")}
    xor = Network.from_joint(list(states), states, [0, 0.25, 0.25, 0, 0.25, 0, 0, 0.25])
    dearer = tuple(ConditionalCost("X2", {"X1": state}, 90) for state in "TF")
    costs = FeatureCosts({"X1": 5, "X2": 10}, conditional=dearer)
    problem = Problem.create(xor, "Y", costs, [[0, 100], [100, 0]])
    etc = {name: build_policy(problem, name).expected_total_cost for name in POLICIES}
    assert etc["none"] == pytest.approx(50)
    assert etc["greedy-la"] == pytest.approx(50 + 5)
    assert etc["batch"] == pytest.approx(15)


@settings(max_examples=60)
@given(problem=problems(max_features=5), kind=st.sampled_from(["symmetric", "asymmetric"]))
def test_a_sweep_builds_the_policies_that_each_point_alone_builds(problem, kind):
    assume(len(problem.classes) > 1 and problem.prior.min() > 1e-6)
    sweep = Sweep(problem, kind)
    for expected in (0, 3, 10, 40):
        staked = problem.with_expected(kind, expected)
        for name in POLICIES:
            alone = build_policy(staked, name).expected_total_cost
            swept = build_policy(staked, name, sweep=sweep).expected_total_cost
            assert swept == pytest.approx(alone, abs=1e-9)


def test_a_case_is_followed_to_where_it_stands():
    policy = build_policy(load_problem("asia"), "greedy-la")
    assert policy.follow({}) == policy.root
    assert policy.follow({"smoke": "yes"}) == policy.root  # not asked for yet
    assert policy.follow({"tub": "yes"}).decision == "no"
    with pytest.raises(UnknownNameError, match="'tub' has no state 'maybe'"):
        policy.follow({"tub": "maybe"})


def test_figure_2():
    problem = load_problem("figure1")
    policy = policy_from_rule(
        problem, lambda e: {"X1"} if not e else {"X2"} if e == {"X1": "T"} else set()
    )
    assert policy.expected_total_cost == pytest.approx(23.2, abs=1e-9)
    assert policy.expected_feature_cost == pytest.approx(11, abs=1e-9)
    assert policy.expected_misclassification_cost == pytest.approx(12.2, abs=1e-9)
    assert (policy.n_acquisitions, policy.n_paths, policy.depth) == (2, 3, 2)


def test_every_policy_on_figure_1_by_hand():
    # Nothing pays (Benefit: X1 -3.8, X2 -10, both -9.6), so all but the blanket decide at once for
    # F at 50 * 0.352; the blanket buys both for 15 and is left with 50 * (0.036 + 0.168 + 0.04).
    expected = dict.fromkeys(POLICIES, 17.6) | {"markov-blanket": 15 + 12.2}
    for name, cost in expected.items():
        policy = build_policy(load_problem("figure1"), name)
        assert policy.expected_total_cost == pytest.approx(cost, abs=1e-9)


def test_asia_needs_to_look_ahead():
    asia = load_problem("asia")
    etc = {name: build_policy(asia, name).expected_total_cost for name in POLICIES}
    assert etc["greedy"] == etc["none"] == pytest.approx(110)
    assert etc["greedy-la"] < etc["batch"] < etc["markov-blanket"] < etc["none"]


def test_a_policy_begins_at_the_evidence_given():
    policy = build_policy(load_problem("asia"), "greedy", {"smoke": "yes"})
    assert policy.root.features == ("xray",)
    assert all("smoke" not in dict(path.evidence) for path in policy.paths())


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


def test_a_tied_decision_is_the_first_class():
    problem = structured({"X": ["Y"]})  # both classes are as likely, and cost the same
    assert build_policy(problem, "none").root.decision == "T"


@settings(max_examples=40)
@given(problem=problems(min_features=3, max_features=4), seed=st.integers(0, 2**32 - 1))
def test_a_sweep_with_costs_that_are_not_monotone_is_what_each_point_alone_is(problem, seed):
    class Odd:
        def cost(self, features, evidence):
            return random.Random(f"{seed}{sorted(features)}").random() * 9 if features else 0.0

    odd = replace(problem, costs=Odd())
    if len(odd.prior) < 2 or odd.prior.min() <= 0:
        return
    sweep, staked = Sweep(odd, "symmetric"), odd.with_expected("symmetric", 30)
    alone = build_policy(staked, "batch").expected_total_cost
    swept = build_policy(staked, "batch", sweep=sweep).expected_total_cost
    assert swept == pytest.approx(alone, abs=1e-9)


def test_a_sweep_of_another_network_is_refused():
    first, second = (
        replace(structured({"X": ["Y"]}), costs=FeatureCosts({"X": p})) for p in (5, 6)
    )
    sweep = Sweep(first, "symmetric")
    assert build_policy(second.with_expected("symmetric", 9), "batch", sweep=sweep)  # prices only
    names = {name: ["T", "F"] for name in "YXAB"}
    other = Network.from_tables(names, {}, {name: [0.5, 0.5] for name in names})
    third = replace(first, network=other).with_expected("symmetric", 9)
    with pytest.raises(InputError, match="the sweep belongs to another problem"):
        build_policy(third, "batch", sweep=sweep)


def test_a_sweep_of_other_stakes_is_refused():
    asia = load_problem("asia")
    with pytest.raises(InputError, match="are not a multiple of those of the sweep"):
        build_policy(asia.with_expected("asymmetric", 9), "batch", sweep=Sweep(asia, "symmetric"))


def test_nothing_is_decided_on_thirty_features_without_a_table_over_them():
    policy = build_policy(noisy_bayes(30), "none")
    assert policy.n_paths == 1
    with pytest.raises(InputError, match="name: 'greedy' is the name of a registered policy"):
        policy_from_rule(load_problem("asia"), lambda e: set(), name="greedy")


def test_mistakes_are_named():
    asia = load_problem("asia")
    with pytest.raises(UnknownNameError, match=r"no policy 'gredy' \(nearest: 'greedy'\)"):
        build_policy(asia, "gredy")
    with pytest.raises(TooLargeError, match=r"policy greedy-la: more than 3 states; .*max_states"):
        build_policy(asia, "greedy-la", max_states=3)
    leaf = Leaf("yes", (1.0, 0.0), 0.0)
    with pytest.raises(InputError, match="a policy needs at least one node"):
        Policy(asia, "mine", ())
    with pytest.raises(InputError, match="node 1: it leads to node 1, which must come before it"):
        Policy(asia, "mine", (leaf, Acquisition(("xray",), 8.0, (Branch(("yes",), 1.0, 1),))))


def test_small_stakes_of_another_shape_are_not_taken_for_those_of_a_sweep():
    asia = load_problem("asia")
    other = asia.with_expected("asymmetric", 1e-9)
    for name in ("greedy", "optimal"):
        with pytest.raises(InputError, match="not a multiple of those of the sweep"):
            build_policy(other, name, sweep=Sweep(asia, "symmetric"))


class Additive:
    def cost(self, features, evidence):
        return 30.0 * len(features)


class AllFive:
    def cost(self, features, evidence):
        return 1.0 if len(features) == 5 else 30.0 * len(features)


def test_a_sweep_asks_each_own_price_whether_it_is_monotone():
    names = ["Y", *(f"X{k}" for k in range(5))]
    tables = {name: [0.5, 0.5] for name in names} | {"X0": [[0.9, 0.1], [0.2, 0.8]]}
    network = Network.from_tables({name: ["T", "F"] for name in names}, {"X0": ["Y"]}, tables)
    first = Problem.create(network, "Y", Additive(), ("symmetric", 50.0))
    second, sweep = replace(first, costs=AllFive()), Sweep(first, "symmetric")
    build_policy(first, "batch", sweep=sweep)
    swept = build_policy(second, "batch", sweep=sweep).expected_total_cost
    assert swept == pytest.approx(build_policy(second, "batch").expected_total_cost)
