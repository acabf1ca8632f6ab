"""What still matters: R, K, and the state key."""

from dataclasses import replace

import pytest
from helpers.problems import chain
from helpers.rich_worlds import Referee
from helpers.strategies import problems, with_discounts
from hypothesis import given
from hypothesis import strategies as st

from voilattice import (
    ConditionalCost,
    Constraint,
    Discount,
    FeatureCosts,
    Group,
    Network,
    Problem,
    build_policy,
)
from voilattice.feature_sets import bits, mask_of
from voilattice.lattice.independence import graph_of, is_separated
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.policy.relevance import (
    Relevance,
    price_conditions,
    price_openers,
    screen,
    step_conditions,
    without_idle_limits,
)


def unconditional(problem):
    """The problem with own prices and groups only."""
    return replace(problem, costs=FeatureCosts(problem.costs.prices, problem.costs.groups))


def keys_at(problem, *evidences):
    """Return the keys of the states that a builder meets at these evidences."""
    relevance = Relevance(problem)
    return [relevance.key(problem.merge_evidence(evidence)) for evidence in evidences]


def two_bystanders(costs):
    """X says something about Y; A and B say nothing about anything."""
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YXAB"},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[0.9, 0.1], [0.2, 0.8]], "A": [0.5, 0.5], "B": [0.5, 0.5]},
    )
    return Problem.create(network, "Y", costs, [[0, 100], [100, 0]])


def test_states_are_told_apart_by_what_still_matters_and_by_nothing_else():
    prices = {"X": 5, "A": 1, "B": 1}
    at = ({"A": "T"}, {"A": "F"}, {"B": "T"}, {"A": "T", "B": "F"})
    assert len(set(keys_at(two_bystanders(FeatureCosts(prices)), *at))) == 1
    # A has paid the overhead of X's group, B has not.
    grouped = FeatureCosts(prices, (Group("draw", 9, ("A", "X")),))
    first, second, third, fourth = keys_at(two_bystanders(grouped), *at)
    assert first == second == fourth != third
    # The price of X depends on A: its value is kept, and A can matter while it is unknown.
    priced = FeatureCosts(prices, conditional=(ConditionalCost("X", {"A": "T"}, 2),))
    first, second, third, fourth = keys_at(two_bystanders(priced), *at)
    assert first == fourth != second
    assert third not in (first, second)


@given(problems(min_features=2, max_features=6, max_hidden=2, max_states=2))
def test_what_is_forgotten_is_separated_from_all_that_matters(problem):
    relevance, names = Relevance(unconditional(problem)), problem.feature_names
    graph = relevance.graph
    for e in range(1 << len(problem.features)):
        relevant, kept = relevance.what_matters(e)
        assert relevant == graph.relevant(e)
        assert not kept & ~e
        rest = names(e & ~kept)
        assert is_separated(problem.network, rest, {problem.target, *names(relevant)}, names(kept))
        for k in bits(kept):  # and nothing of what is kept could be forgotten too
            assert not is_separated(
                problem.network,
                names(1 << k),
                {problem.target, *names(relevant)},
                names(kept & ~(1 << k)),
            )


@given(problems(min_features=2, max_features=5, max_states=2))
def test_what_prices_depend_on_matters_as_long_as_they_do(problem):
    relevance = Relevance(problem)
    for e in range(1 << len(problem.features)):
        relevant, kept = relevance.what_matters(e)
        for k in bits(relevant):
            named = relevance.conditions.get(k, 0)
            assert not named & ~e & ~relevant  # still to be bought
            assert not named & e & ~kept  # known, and not forgotten


def test_an_opener_matters_while_its_discount_is_not_open():
    prices, off = {"X": 30, "A": 3, "B": 9}, {"X": 28, "A": 1, "B": 9}
    problem = two_bystanders(FeatureCosts(prices, discounts=(Discount("visit", off),)))
    assert problem.features == ("X", "A", "B")
    assert price_openers(problem) == {1: 0b101, 2: 0b001}  # A also costs less than it takes off B
    relevance = Relevance(problem)
    assert relevance.what_matters(0b000) == (0b111, 0)
    assert relevance.what_matters(0b010) == (0b001, 0)  # what A says is forgotten
    assert relevance.what_matters(0b001) == (0, 0b001)
    assert relevance.what_matters(0b000, 0b111, paid=0b1) == (0b001, 0)
    first, second, third = keys_at(problem, {}, {"A": "T"}, {"B": "F"})
    assert first != second == third


def test_an_opener_of_what_does_not_matter_does_not_matter():
    prices, off = {"X": 5, "A": 3, "B": 30}, {"A": 1, "B": 28}
    problem = two_bystanders(FeatureCosts(prices, discounts=(Discount("visit", off),)))
    assert price_openers(problem) == {1: 0b100}  # A opens B, which says nothing
    assert Relevance(problem).what_matters(0) == (0b001, 0)


def test_what_costs_as_much_as_it_saves_is_no_opener():
    prices = {"X": 30, "A": 28, "B": 1}
    discounts = (Discount("visit", {"X": 28, "A": 1}), Discount("other", {"B": 1}))
    assert price_openers(two_bystanders(FeatureCosts(prices, (), (), discounts))) == {}
    cheaper = (ConditionalCost("A", {"B": "T"}, 27),)
    problem = two_bystanders(FeatureCosts(prices, (), cheaper, discounts))
    assert price_openers(problem) == {1: 0b001}
    # The price of the opener A depends on B, so B matters too.
    assert Relevance(problem).what_matters(0)[0] == 0b111
    assert price_openers(problem.with_evidence({"B": "F"})) == {}


@given(problems(min_features=2, max_features=5, max_states=2), st.integers(0, 2**32 - 1))
def test_an_opener_that_tells_nothing_is_separated_from_all_that_does(problem, seed):
    problem = with_discounts(problem, seed)
    relevance, names = Relevance(problem), problem.feature_names
    for e in range(1 << len(problem.features)):
        relevant, kept = relevance.what_matters(e)
        named = mask_of(j for k in bits(relevant) for j in bits(relevance.conditions.get(k, 0)))
        sources = 1 << relevance.graph.target | relevance.graph.nodes(named & ~e)
        telling = relevant & relevance.graph.reachable(e, relevance.graph.all & ~e, sources)
        told = {problem.target, *names(telling)}
        assert is_separated(problem.network, names(e & ~kept), told, names(kept))
        for k in bits(relevant & ~telling):
            assert relevance.openers[k] & telling
            assert not relevance.groups_touched(1 << k) & relevance.groups_touched(e)
            assert is_separated(problem.network, names(1 << k), told, names(e))


@given(problems(min_features=2, max_features=5, max_states=2))
def test_a_rule_of_ones_own_forgets_nothing(problem):
    relevance = Relevance(problem, forgets=False)
    for e in range(1 << len(problem.features)):
        assert relevance.what_matters(e) == (relevance.graph.all & ~e, e)


def test_what_each_price_depends_on_is_all_that_its_conditions_name():
    prices = {"X": 5, "A": 1, "B": 1}
    conditional = (ConditionalCost("B", {"A": "T"}, 2), ConditionalCost("A", {"B": "F"}, 3))
    problem = two_bystanders(FeatureCosts(prices, conditional=conditional))
    assert problem.features == ("X", "A", "B")
    assert price_conditions(problem) == {2: 0b010, 1: 0b100}
    conditional += (ConditionalCost("A", {"X": "T"}, 4),)
    problem = two_bystanders(FeatureCosts(prices, conditional=conditional))
    assert price_conditions(problem) == {2: 0b010, 1: 0b101}


def test_what_a_step_depends_on_is_what_its_price_and_only_if_name():
    prices = {"X": 5, "A": 1, "B": 1}
    priced = FeatureCosts(prices, conditional=(ConditionalCost("X", {"A": "T"}, 2),))
    rules = (Constraint("X", only_if={"B": "T"}), Constraint("B", only_if={"A": "T"}))
    problem = replace(two_bystanders(priced), constraints=rules)
    assert step_conditions(problem) == {0: 0b110, 2: 0b010}
    assert price_conditions(problem) == {0: 0b010}


def test_the_screen_of_a_chain_is_the_nearest_evidence():
    # Y → X00 → X01 → X02 → X03: from X03 all of X00 ... X02 is seen through X02.
    graph = graph_of(chain(4))
    assert screen(graph, 0b1000, 0b0111) == 0b0100
    assert screen(graph, 0b0010, 0b1101) == 0b0101
    assert screen(graph, 0b0001, 0b1100) == 0b0100
    assert screen(graph, 0b0001, 0) == 0


def gate(constraints, costs):
    """K and I tell Y; U tells nothing about Y, but may be needed; W tells U."""
    network = Network.from_tables(
        {"Y": ["a", "b"], **{name: ["ok", "bad"] for name in "KIUW"}},
        {"K": ["Y"], "I": ["Y"], "W": ["U"]},
        {
            "Y": [0.5, 0.5],
            "K": [[0.99, 0.01], [0.3, 0.7]],
            "I": [[0.97, 0.03], [0.03, 0.97]],
            "U": [0.5, 0.5],
            "W": [[0.99, 0.01], [0.01, 0.99]],
        },
    )
    stakes = [[0, 100], [100, 0]]
    return Problem.create(network, "Y", costs, stakes, constraints=constraints)


CLOSES = {"U": "bad"}
GATES = [
    gate(
        [Constraint("K", after=["U"]), Constraint("I", after=["U"], not_if=CLOSES)],
        FeatureCosts({"K": 1, "I": 12, "U": 1, "W": 0.01}),
    ),
    gate(
        [Constraint("I", not_if=CLOSES)],
        FeatureCosts(
            {"K": 10, "I": 21, "U": 1, "W": 0.01},
            discounts=(Discount("visit", {"U": 0, "K": 9, "I": 9}),),
        ),
    ),
]


@pytest.mark.parametrize("problem", GATES, ids=["unlocker", "opener"])
def test_what_tells_the_value_of_a_helper_matters_if_that_value_can_close_a_feature(problem):
    relevance = Relevance(problem)
    relevant, _ = relevance.what_matters(0)
    assert problem.feature_names(relevant) == set("KIUW")
    known = problem.feature_mask({"U"})
    relevant, kept = relevance.what_matters(known)
    assert problem.feature_names(relevant) == set("KI")
    assert kept == known
    for engine in ("python", "compiled"):
        space = find_states(problem, engine=engine)
        optimum = solve_exactly(space, problem).expected_total_cost
        assert optimum == pytest.approx(Referee(problem).optimum(), abs=1e-9)


def test_what_tells_the_value_of_a_helper_does_not_matter_otherwise():
    problem = replace(GATES[0], constraints=(Constraint("K", after=["U"]),))
    relevant, _ = Relevance(problem).what_matters(0)
    assert problem.feature_names(relevant) == set("KIU")
    relevant, kept = Relevance(problem).what_matters(problem.feature_mask({"U"}))
    assert (problem.feature_names(relevant), kept) == (set("KI"), 0)


def test_a_feature_that_only_closes_others_is_not_bought_but_counts_once_it_is_known():
    problem = replace(GATES[0], constraints=(Constraint("I", not_if=CLOSES),))
    relevant, _ = Relevance(problem).what_matters(0)
    assert problem.feature_names(relevant) == set("KI")
    known = problem.feature_mask({"U"})
    assert Relevance(problem).what_matters(known)[1] == known


def test_the_features_that_lock_a_set_are_those_that_not_if_of_its_members_names():
    rules = (Constraint("I", not_if=CLOSES), Constraint("W", not_if={"K": "bad"}))
    problem = replace(GATES[0], constraints=rules)
    relevance, mask = Relevance(problem), problem.feature_mask
    assert relevance.locking(mask({"K", "U"})) == 0
    assert relevance.locking(mask({"K", "I"})) == mask({"U"})
    assert relevance.locking(mask({"I", "W"})) == mask({"K", "U"})


def test_evidence_that_gives_a_helper_other_probabilities_is_another_state():
    """U only unlocks X. If V is bad, U is never bad: that is no state with V ok."""
    network = Network.from_tables(
        {"Y": ["a", "b"], **{name: ["ok", "bad"] for name in "XUV"}},
        {"X": ["Y"], "U": ["V"]},
        {
            "Y": [0.5, 0.5],
            "X": [[0.9, 0.1], [0.1, 0.9]],
            "V": [0.5, 0.5],
            "U": [[0.5, 0.5], [1.0, 0.0]],
        },
    )
    rules = [Constraint("U", after=["V"]), Constraint("X", after=["U"])]
    problem = Problem.create(
        network, "Y", dict.fromkeys("XUV", 1.0), [[0, 99], [99, 0]], constraints=rules
    )
    policy = build_policy(problem, "optimal")
    assert policy.follow({"V": "ok", "U": "bad"}).features == ("X",)
    assert sum(path.probability for path in policy.paths()) == pytest.approx(1.0)
    assert Referee(problem).follow(policy) == pytest.approx(policy.expected_total_cost)
    known = problem.feature_mask({"V"})
    assert Relevance(problem).what_matters(known)[1] == known


def shared_prices():
    """X, of 5 or 7, and A share an overhead of 9; B and A do not matter; a round costs 2."""
    prices, conditional = {"X": 5, "A": 1, "B": 1}, (ConditionalCost("X", {"B": "T"}, 7),)
    group = Group("draw", 9, ("X", "A"))
    return two_bystanders(FeatureCosts(prices, (group,), conditional, round_cost=2.0))


@pytest.mark.parametrize(
    ("names", "most"),
    [
        ("X", 7 + 2 + 9),
        ("B", 1 + 2),  # not the overhead of a group without members here
        ("XB", 7 + 2 + 9 + 1 + 2),  # each in a round of its own
        ("XAB", 7 + 2 + 9 + 1 + 2 + 1 + 2),  # the overhead once
    ],
)
def test_a_limit_on_spending_binds_if_the_dearest_way_to_all_that_matters_exceeds_it(names, most):
    problem = shared_prices()
    relevance, relevant = Relevance(problem), problem.feature_mask(set(names))
    assert relevance.limits_that_bind(PathLimits(spend=most), relevant) == NO_LIMITS
    short = PathLimits(spend=most - 0.5)
    assert relevance.limits_that_bind(short, relevant) == short


def test_limits_on_counts_bind_if_more_features_matter():
    relevance = Relevance(shared_prices())
    for kind in ("features", "rounds"):
        assert relevance.limits_that_bind(PathLimits(**{kind: 2}), 0b101) == NO_LIMITS
        assert relevance.limits_that_bind(PathLimits(**{kind: 1}), 0b101)
    both = PathLimits(features=1, rounds=9)
    assert relevance.limits_that_bind(both, 0b101) == PathLimits(features=1)


def test_with_prices_of_ones_own_any_limit_on_spending_may_bind():
    class Own:
        def cost(self, features, evidence):
            return float(len(features))

    problem = two_bystanders(Own())
    limits = PathLimits(spend=1e9, features=3)
    assert Relevance(problem).limits_that_bind(limits, 0b111) == PathLimits(spend=1e9)


def test_a_problem_keeps_only_the_limits_that_some_policy_could_exceed():
    problem = two_bystanders(FeatureCosts({"X": 5, "A": 1, "B": 1}))  # only X matters
    limited = replace(problem, limits=PathLimits(spend=4.0, features=1, rounds=1))
    assert without_idle_limits(limited).limits == PathLimits(spend=4.0)
    assert without_idle_limits(problem) is problem
    free = replace(problem, limits=PathLimits(spend=5.0))
    assert without_idle_limits(free).limits == NO_LIMITS
