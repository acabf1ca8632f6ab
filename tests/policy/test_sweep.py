"""What the policies of one problem share along a sweep."""

import random
from dataclasses import replace

import pytest
from helpers.problems import opener, structured
from helpers.solving import POLICIES
from helpers.strategies import problems
from helpers.worlds import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from voilattice import FeatureCosts, Network, Problem, load_problem
from voilattice.errors import InputError
from voilattice.policy.solvers import build_policy
from voilattice.policy.sweep import Sweep


@pytest.mark.slow
@examples(60)
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


@examples(40)
@given(problem=problems(min_features=3, max_features=4), seed=st.integers(0, 2**32 - 1))
def test_a_sweep_with_costs_that_are_not_monotone_is_what_each_point_alone_is(problem, seed):
    class Odd:
        def cost(self, features, evidence):
            return random.Random(f"{seed}{sorted(features)}").random() * 9 if features else 0.0

    odd = replace(problem, costs=Odd())
    assume(len(odd.classes) > 1 and odd.prior.min() > 1e-6)
    sweep, staked = Sweep(odd, "symmetric"), odd.with_expected("symmetric", 30)
    alone = build_policy(staked, "batch").expected_total_cost
    swept = build_policy(staked, "batch", sweep=sweep).expected_total_cost
    assert swept == pytest.approx(alone, abs=1e-9)


def test_a_sweep_finds_the_states_again_where_prices_make_another_opener():
    problem = opener().with_expected("symmetric", 20)
    dearer = replace(problem.costs, prices={"X": 30, "A": 29})
    sweep = Sweep(problem, "symmetric")
    for costs, cost in ((problem.costs, 5), (dearer, 20), (problem.costs, 5)):
        policy = build_policy(replace(problem, costs=costs), "optimal", sweep=sweep)
        assert policy.expected_total_cost == pytest.approx(cost)


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


def test_a_sweep_covers_other_prices_and_scaled_stakes_and_nothing_else():
    asia = load_problem("asia")
    sweep = Sweep(asia)
    assert sweep.covers(replace(asia, misclassification=3 * asia.misclassification))
    assert sweep.covers(replace(asia, costs=FeatureCosts(dict.fromkeys(asia.features, 2.0))))
    assert not sweep.covers(asia.with_evidence({"smoke": "yes"}))
    assert not sweep.covers(asia.without({"smoke"}))
    assert not sweep.covers(replace(asia, misclassification=asia.misclassification + 1))
    assert not sweep.covers(load_problem("heart"))
