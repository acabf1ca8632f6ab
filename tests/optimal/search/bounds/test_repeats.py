"""Once or repeatedly: never above the optimum, equal to it where nothing is repeated."""

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.problems import chain, naive_bayes, noisy_bayes
from helpers.strategies import (
    _random_rows,
    draw_evidence,
    own_decisions,
    possible_evidence,
    problems,
    with_discounts,
    with_own_costs,
)
from helpers.table_dp import optimal_cost
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import (
    ConditionalCost,
    Discount,
    FeatureCosts,
    Group,
    Network,
    Problem,
    load_problem,
)
from voilattice.budgets import Deadline, memory_limit
from voilattice.optimal.search.bounds import repeats
from voilattice.optimal.search.bounds.beliefs import angular_knots, locate, make_grid
from voilattice.optimal.search.bounds.hubs import find_hub, least_prices, rank_features, reveal
from voilattice.optimal.search.bounds.pools import Shape, make_pools, n_counts
from voilattice.optimal.search.bounds.repeats import empty_tables, repeat_bound

SHAPES = [Shape(0, 0), Shape(1, 0), Shape(2, 0), Shape(0, 1), Shape(1, 1), Shape(0, 2), Shape(9, 0)]


@st.composite
def hub_problems(draw, *, max_classes=3, max_hub=2, max_features=4):
    """Features that depend on the target and on a hub, whose nodes are hidden or features."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_hub, n = draw(st.integers(0, max_hub)), draw(st.integers(1, max_features))
    hub, names = [f"H{k}" for k in range(n_hub)], [f"X{k}" for k in range(n)]
    counts = {"Y": draw(st.integers(2, max_classes))} | {
        name: int(rng.integers(2, 4)) for name in hub + names
    }
    parents = {name: ["Y"] if rng.random() < 0.5 else [] for name in hub}
    for name in names:
        parents[name] = [p for p in ("Y", *hub) if rng.random() < 0.7]
    tables = {
        name: _random_rows(rng, (*(counts[p] for p in parents.get(name, ())), count))
        for name, count in counts.items()
    }
    states = {name: [f"s{k}" for k in range(count)] for name, count in counts.items()}
    network = Network.from_tables(states, parents, tables)
    features = names + [name for name in hub if rng.random() < 0.4]
    prices = {f: float(rng.choice([0.0, 1e-7, 1.0, 2.0, 5.0, 9.0])) for f in features}
    shuffled = [str(f) for f in rng.permutation(features)]
    size = int(rng.integers(1, len(features) + 1))
    groups = (Group("g", float(rng.integers(0, 9)), tuple(shuffled[:size])),) * draw(st.booleans())
    conditional = ()
    if len(features) > 1 and draw(st.booleans()):
        one, other = shuffled[0], shuffled[1]
        conditional = (ConditionalCost(one, ((other, "s0"),), float(rng.integers(0, 9))),)
    evidence = draw_evidence(network, features, rng) if rng.random() < 0.3 else {}
    m, decisions = counts["Y"], None
    cost = rng.integers(0, 100, (m, m)) * float(1 - 0.9 * draw(st.booleans()))
    if rng.random() < 0.7:
        np.fill_diagonal(cost, 0)
    if rng.random() < 0.3:
        decisions, cost = own_decisions(network.states[network.index("Y")], rng)
    return Problem.create(
        network, "Y", FeatureCosts(prices, groups, conditional), cost,
        features=features, evidence=evidence, decisions=decisions,
    )  # fmt: skip


def check_below(problem, seed, shape):
    bound = repeat_bound(problem, engine="python", shape=shape, max_hub_states=64)
    if bound is None:
        return
    for share in (0.0, 0.3, 0.7):
        known = possible_evidence(problem, seed, share)
        want = optimal_cost(problem.with_evidence(known), largest=len(problem.features))
        assert bound.lower(known) <= want + 1e-9 * max(want, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@examples(300)
@given(problem=hub_problems(), seed=st.integers(0, 2**32 - 1))
def test_it_is_never_above_the_optimum(shape, problem, seed):
    check_below(problem, seed, shape)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@examples(100)
@given(problem=hub_problems(), seed=st.integers(0, 2**32 - 1))
def test_it_is_never_above_the_optimum_with_discounts(shape, problem, seed):
    check_below(with_discounts(problem, seed), seed, shape)


@pytest.mark.slow
@pytest.mark.parametrize("n_rounds", [1, 2, 3])
@examples(100)
@given(problem=hub_problems(max_hub=1), seed=st.integers(0, 2**32 - 1))
def test_a_grid_that_is_not_solved_is_still_a_bound(n_rounds, problem, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "MAX_ROUNDS", n_rounds)
        patch.setattr(repeats, "N_SWEEPS", n_rounds - 1)
        check_below(problem, seed, Shape(1, 0))


@pytest.mark.slow
@examples(40)
@given(
    problem=hub_problems(max_classes=4, max_hub=1, max_features=3), seed=st.integers(0, 2**32 - 1)
)
def test_it_is_never_above_the_optimum_of_four_classes(problem, seed):
    for shape in SHAPES[::3]:
        check_below(problem, seed, shape)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES[::2])
@examples(300)
@given(problem=problems(max_features=5, max_hidden=3), seed=st.integers(0, 2**32 - 1))
def test_it_is_never_above_the_optimum_in_any_network(shape, problem, seed):
    check_below(problem, seed, shape)


@pytest.mark.parametrize("seed", range(6))
def test_where_nothing_is_repeated_only_the_grid_is_lost(seed):
    problem = replace(noisy_bayes(5, seed), misclassification=[[0, 90], [50, 0]])
    bound = repeat_bound(problem, engine="python", shape=Shape(5, 0))
    for known in ({}, possible_evidence(problem, seed)):
        want = optimal_cost(problem.with_evidence(known))
        assert bound.lower(known) <= want + 1e-9
        assert bound.lower(known) == pytest.approx(want, rel=2e-3)


def test_a_finer_grid_is_nearer(monkeypatch):
    problem = replace(noisy_bayes(4, 1), misclassification=[[0, 90], [50, 0]])
    found = []
    for n_knots in (3, 9, 33, 129):
        monkeypatch.setitem(repeats.N_KNOTS, 2, n_knots)
        found.append(repeat_bound(problem, engine="python", shape=Shape(4, 0)).lower())
    assert found == sorted(found)
    assert found[0] < found[-1] - 0.1


@pytest.mark.parametrize("seed", range(4))
def test_fewer_ways_to_repeat_never_lower_it(seed):
    problem = replace(noisy_bayes(5, seed), misclassification=[[0, 90], [50, 0]])
    shapes = [Shape(0, 0), Shape(0, 1), Shape(2, 1), Shape(5, 0)]
    found = [repeat_bound(problem, engine="python", shape=shape).lower() for shape in shapes]
    for less, more in pairwise(found):
        assert less <= more * (1 + 1e-3)  # a grid with repetition is solved to a tolerance


def test_an_overhead_counts_if_the_counts_tell_whether_it_is_paid():
    problem = replace(noisy_bayes(3, 1), misclassification=[[0, 90], [50, 0]])
    prices = dict.fromkeys(problem.features, 1.0)
    costs = FeatureCosts(prices, (Group("all", 4.0, problem.features),))
    with_group = replace(problem, costs=costs)
    once, repeated = (
        repeat_bound(with_group, engine="python", shape=shape)
        for shape in (Shape(3, 0), Shape(1, 0))
    )
    assert once.lower() == pytest.approx(optimal_cost(with_group), rel=2e-3)
    plain = repeat_bound(problem, engine="python", shape=Shape(1, 0))
    assert repeated.lower() == pytest.approx(plain.lower(), rel=1e-9)
    known = {problem.features[0]: "T"}  # it is paid for
    want = optimal_cost(with_group.with_evidence(known))
    assert once.lower(known) == pytest.approx(want, rel=2e-3)


def test_a_discount_counts_if_the_counts_tell_whether_it_is_open():
    problem = replace(noisy_bayes(3, 1), misclassification=[[0, 90], [50, 0]])
    off = dict(zip(problem.features, (4.0, 2.0, 3.0), strict=True))
    discount = Discount("all", off)
    prices = {name: 1.0 + amount for name, amount in off.items()}
    shared = replace(problem, costs=FeatureCosts(prices, discounts=(discount,)))
    once, repeated = (
        repeat_bound(shared, engine="python", shape=shape) for shape in (Shape(3, 0), Shape(1, 0))
    )
    assert once.lower() == pytest.approx(optimal_cost(shared), rel=2e-3)
    plain = repeat_bound(problem, engine="python", shape=Shape(1, 0))  # each feature costs 1
    assert repeated.lower() == pytest.approx(plain.lower(), rel=1e-9)


def test_the_least_price_is_over_all_that_can_still_become_known():
    names = ("A", "B", "C")
    conditional = (
        ConditionalCost("X", (("A", "T"),), 2.0),
        ConditionalCost("X", (("B", "T"),), 4.0),
    )
    tables = {name: [0.5, 0.5] for name in (*names, "X", "Y")}
    network = Network.from_tables({n: ["T", "F"] for n in tables}, {}, tables)
    costs = FeatureCosts(dict.fromkeys((*names, "X"), 9.0), (), conditional)
    problem = Problem.create(network, "Y", costs, [[0, 1], [1, 0]])
    x = problem.features.index("X")
    assert least_prices(problem)[x] == 2.0
    assert least_prices(problem.with_evidence({"A": "F"}))[x] == 4.0
    assert least_prices(problem.with_evidence({"A": "F", "B": "T"}))[x] == 4.0
    assert least_prices(problem.with_evidence({"A": "F", "B": "F"}))[x] == 9.0
    assert least_prices(problem.with_evidence({"A": "T"}))[x] == 2.0


def names_of(problem, nodes):
    return {problem.network.names[v] for v in nodes}


def two_level(hidden=("D1", "D2")):
    """Y and two causes, and signs with two causes each."""
    parents = {"A": ["Y", "D1"], "B": ["D1", "D2"], "C": ["Y", "D2"], "D": ["D2"]}
    names = ["Y", "D1", "D2", *parents]
    rng = np.random.default_rng(3)
    tables = {name: rng.dirichlet([1, 1], (2,) * len(parents.get(name, ()))) for name in names}
    network = Network.from_tables({name: ["T", "F"] for name in names}, parents, tables)
    features = [name for name in names[1:] if name not in hidden]
    prices = dict.fromkeys(features, 2.0)
    return Problem.create(network, "Y", prices, [[0, 90], [60, 0]], features=features)


def test_the_hub_makes_features_independent():
    assert find_hub(naive_bayes(5), 1) == ()
    assert names_of(two_level(), find_hub(two_level(), 4)) == {"D1", "D2"}
    assert find_hub(two_level(), 3) is None
    problem = chain(4)  # Y -> X00 -> X01 -> X02 -> X03: neighbours depend on each other
    assert len(find_hub(problem, 4)) == 2
    assert find_hub(problem, 3) is None


@pytest.mark.parametrize("hidden", [("D1", "D2"), ("D1",), ()])
def test_a_revealed_hub_costs_what_it_tells(hidden):
    problem = two_level(hidden)
    bound = repeat_bound(problem, engine="python", shape=Shape(9, 0))
    known = {f: "T" for f in ("D1", "D2") if f not in hidden}
    want = optimal_cost(problem)
    assert 0.3 * want < bound.lower() < want
    if not hidden:  # once the hub is known, nothing is given away
        after = optimal_cost(problem.with_evidence(known))
        assert bound.lower(known) == pytest.approx(after, rel=2e-3)
        assert bound.lower(known) <= after


def test_where_it_does_not_apply_there_is_none():
    problem = noisy_bayes(3)
    assert repeat_bound(with_own_costs(problem, 1)) is None
    assert repeat_bound(two_level(), max_hub_states=3) is None
    one_class = Network.from_tables({"Y": ["a"], "X": ["T", "F"]}, {}, {"Y": [1], "X": [0.5, 0.5]})
    assert repeat_bound(Problem.create(one_class, "Y", {"X": 1.0}, [[0.0]])) is None


def test_impossible_evidence_is_bounded_by_zero():
    network = Network.from_tables(
        {"Y": ["a", "b"], "X": ["u", "v", "w"]},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]]},
    )
    problem = Problem.create(network, "Y", {"X": 1.0}, [[0, 9], [9, 0]])
    bound = repeat_bound(problem, engine="python")
    assert bound.lower({"X": "w"}) == 0.0
    assert bound.lower({"X": "v"}) == pytest.approx(9 * 0.15 / 0.55, rel=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
@pytest.mark.parametrize("knots", [np.array([0, 0.1, 0.15, 0.5, 0.9, 1]), angular_knots(9)])
def test_a_belief_is_the_mean_of_the_corners_around_it(n_classes, knots):
    grid = make_grid(knots, n_classes)
    rng = np.random.default_rng(0)
    beliefs = rng.dirichlet(np.full(n_classes, 0.5), 500)
    beliefs[:n_classes] = np.eye(n_classes)
    corners, weights = locate(grid, beliefs)
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    assert weights.min() >= 0.0
    mean = (weights[..., None] * grid.points[corners]).sum(axis=0)
    np.testing.assert_allclose(mean, beliefs, atol=1e-12)
    np.testing.assert_allclose(grid.points.sum(axis=1), 1.0)
    assert grid.points.min() >= -1e-15


@pytest.mark.slow
def test_tables_are_ready_before_the_deadline_and_more_time_gives_more():
    problem = replace(noisy_bayes(22, 3), misclassification=[[0, 500], [400, 0]])
    repeat_bound(noisy_bayes(3), engine="compiled")  # loads the compiled engine
    bounds = []
    for seconds in (0.0, 2.0):
        begin = time.monotonic()
        bounds.append(repeat_bound(problem, engine="compiled", deadline=Deadline(seconds)))
        assert time.monotonic() - begin < seconds + 2.0
    small = repeat_bound(problem, engine="compiled", shape=Shape(0, 1))
    assert bounds[0] is None
    assert small.lower() < bounds[1].lower()


@pytest.mark.slow
def test_empty_tables_say_nothing_in_a_kernel():
    from numba import njit

    from voilattice.compiled import repeats as compiled

    @njit
    def kernel(tables, known, q, at):
        compiled.belief_at(tables, known, q, at)
        return compiled.lower_at(tables, q, at), compiled.lower_after(tables, q, at, 0, 0)

    bound = repeat_bound(noisy_bayes(3), engine="compiled", shape=Shape(1, 0))
    known = np.full(3, -1)
    for tables in (bound.tables, empty_tables(3)):
        q, at = np.empty(tables.prior.shape), np.empty(len(tables.prior), np.int64)
        now, after = kernel(tables, known, q, at)
        if len(tables.prior):
            assert now == (pytest.approx(bound.lower()), pytest.approx(1.0))
            assert 0 < after[1] < 1
        else:
            assert now == after == (0.0, 0.0)
    assert len(kernel.signatures) == 1  # one compilation serves both


def test_a_learned_network_has_a_hub_of_features():
    bound = repeat_bound(load_problem("heart"), deadline=Deadline(5.0))
    assert set(bound.hub) == {"age", "sex", "thalach", "exang", "oldpeak"}
    assert 170 < bound.lower() <= 253.11  # the optimum


def builder_of(problem):
    hub = reveal(problem, find_hub(problem, 64, Deadline()), Deadline())
    ranked = [rank_features(hub, h) for h in range(len(hub.prior))]
    return repeats._Builder(problem, hub, repeats._make_grid(hub), ranked, 0.0, "python")


@pytest.mark.parametrize("shape", [*SHAPES[:-1], Shape(2, 3), Shape(6, 0)])
def test_as_many_grids_are_counted_as_there_are(shape):
    builder = builder_of(noisy_bayes(6))
    (ranked,) = builder.ranked
    assert len(ranked) == 6
    assert builder.counts(0, shape) == n_counts(make_pools(builder.hub, ranked, shape))


def test_every_number_of_classes_has_its_knots():
    every = set(range(2, repeats.MAX_CLASSES + 1))
    assert set(repeats.N_KNOTS) == set(repeats.FEW_KNOTS) == every
    assert all(repeats.FEW_KNOTS[n] < repeats.N_KNOTS[n] for n in every)


@pytest.mark.parametrize("pooled", [True, False])
def test_more_work_is_planned_where_there_is_room_for_it(pooled):
    builder, weight = builder_of(noisy_bayes(6)), np.ones(1)
    least, most = (builder.plan(work, weight, pooled) for work in (0.0, 1e12))
    assert least == [Shape(0, int(pooled))]
    assert most == [Shape(6, int(pooled))]
    before = 0.0
    for work in np.geomspace(1e3, 1e9, 30):
        shapes = builder.plan(work, weight, pooled)
        total = builder.total_work(shapes)
        assert total <= max(work, builder.total_work(least))
        assert total >= before
        before = total
    with memory_limit(0):
        assert builder.plan(1e12, weight, pooled) == least


def test_the_next_larger_shape():
    builder = builder_of(noisy_bayes(6))
    shape, found = Shape(0, 1), []
    while shape.n_once < 6:
        shape = builder._next(0, shape)
        found.append(shape)
    pools, once = [Shape(0, 2), Shape(0, 3)], [Shape(k, 1) for k in (3, 4, 5, 6)]
    assert found == pools + once  # three pools have 27 grids, and a pool of two is the first of 32
    every = builder.work(0, Shape(6, 0))
    for k in range(5):
        more = Shape(k + 1, 0)
        is_all = every <= builder.work(0, more)
        assert builder._next(0, Shape(k, 0)) == (Shape(6, 0) if is_all else more)
