"""Rules: each policy acquires what its definition says."""

import itertools
from dataclasses import replace

import pytest
from helpers.brute_force import best_of_all_subsets
from helpers.problems import opener
from helpers.solving import POLICIES, RULES, all_loops
from helpers.strategies import full_joint, problems, with_decisions, with_discounts
from helpers.worlds import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice import FeatureCosts, Network, Problem, load_problem
from voilattice.consultation.advice import advise
from voilattice.lattice.independence import acquirable_core
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import ConditionalCost, Discount, Group
from voilattice.policy.solvers import build_policy, policy_from_rule
from voilattice.ties import tolerance
from voilattice.valuation.valuation import value


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
            dearer = {
                f
                for discount in problem.costs.discounts
                if not any(mate in known for mate in discount.features)
                for f in discount.features
                if any(
                    discount.off[mate] < discount.off[f] for mate in discount.off if mate in best
                )
            }
            first = [f for f in free if f in best and f not in dearer]
            return single(first).features if best else frozenset()
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
@examples(40)
@given(problem=problems(max_features=4, max_hidden=1))
def test_a_policy_costs_what_its_definition_costs(name, problem):
    policy = build_policy(problem, name)
    assert policy.expected_total_cost == pytest.approx(naive_etc(name, problem, {}), abs=1e-9)


@pytest.mark.parametrize("engine", ["python", "compiled"])
@pytest.mark.parametrize("name", RULES)
@settings(max_examples=20)
@given(problem=problems(max_features=3, max_hidden=1), seed=st.integers(0, 2**32 - 1))
def test_a_policy_with_own_decisions_costs_what_its_definition_costs(name, engine, problem, seed):
    problem = with_decisions(problem, seed)
    with all_loops(engine):
        policy = build_policy(problem, name)
    assert policy.expected_total_cost == pytest.approx(naive_etc(name, problem, {}), abs=1e-9)


@pytest.mark.parametrize("name", ["batch", "greedy", "greedy-la", "optimal"])
@examples(80)
@given(problem=problems(max_features=5), seed=st.none() | st.integers(0, 2**32 - 1))
def test_buying_is_never_worse_than_deciding_at_once(name, problem, seed):
    problem = problem if seed is None else with_discounts(problem, seed)
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


def test_a_set_is_bought_with_its_opener_at_once_or_one_by_one():
    etc = {name: build_policy(opener(), name).expected_total_cost for name in POLICIES}
    assert etc["greedy"] == etc["none"] == pytest.approx(20)
    assert etc["markov-blanket"] == pytest.approx(30)  # X alone
    assert etc["batch"] == pytest.approx(3 + 2)
    # Of A and X, A has the higher benefit by itself: -3 against 20 - 30.
    assert etc["greedy-la"] == etc["optimal"] == pytest.approx(3 + 2)


def test_look_ahead_does_not_begin_with_a_feature_that_its_mates_make_cheaper():
    # By itself, X (worth 20, for 22) has a higher benefit than A (worth 0, for 3). But A and X
    # together cost 5, and that only if A comes first.
    costs = FeatureCosts({"X": 22, "A": 3}, discounts=(Discount("visit", {"X": 20, "A": 1}),))
    problem = replace(opener(), costs=costs)
    policy = build_policy(problem, "greedy-la")
    assert policy.root.features == ("A",)
    assert policy.expected_total_cost == pytest.approx(5)
    said = advise(problem, "greedy-la").reasons[-1]
    assert said.startswith("Of those that can come first at no extra cost, A has the highest")
    assert said.endswith("benefit by itself (-3.00).")


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


@pytest.mark.parametrize(
    ("round_cost", "limits", "look_ahead", "batch"),
    [
        (32, PathLimits(), 5 + 32 + 10 + 32, 5 + 10 + 32),  # two rounds in place of one
        (0, PathLimits(rounds=1), 5 + 50, 5 + 10),  # no round is left for X2
    ],
)
def test_look_ahead_can_lose_where_rounds_count(round_cost, limits, look_ahead, batch):
    # Xor once more. The best set is priced as one round, but its features are bought one by one.
    states = {name: ["T", "F"] for name in ("X1", "X2", "Y")}
    xor = Network.from_joint(list(states), states, [0, 0.25, 0.25, 0, 0.25, 0, 0, 0.25])
    costs = FeatureCosts({"X1": 5, "X2": 10}, round_cost=round_cost)
    problem = replace(Problem.create(xor, "Y", costs, [[0, 100], [100, 0]]), limits=limits)
    etc = {name: build_policy(problem, name).expected_total_cost for name in POLICIES}
    assert etc["none"] == pytest.approx(50)
    assert etc["greedy-la"] == pytest.approx(look_ahead)
    assert etc["batch"] == etc["optimal"] == pytest.approx(batch)


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
