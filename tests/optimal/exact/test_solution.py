"""The optimal policy: against brute force, a plain table DP, and every other policy."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers.budget_solver import BudgetSolver
from helpers.problems import bystander, chain, noisy_bayes, opener, rare_findings, twins, varied
from helpers.rich_worlds import Referee
from helpers.solving import POLICIES, cost_of, optimal_step, optimum
from helpers.strategies import possible_evidence, problems, with_discounts
from helpers.table_dp import optimal_cost
from helpers.worlds import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from voilattice import (
    Constraint,
    FeatureCosts,
    Network,
    Problem,
    VoilatticeError,
    compare,
    load_problem,
)
from voilattice.budgets import memory_limit
from voilattice.consultation.advice import advise
from voilattice.lattice.lattice import Lattice
from voilattice.model.costs import ConditionalCost, Discount, Group
from voilattice.optimal.exact import solution as module
from voilattice.optimal.exact.blocks import find_blocks
from voilattice.optimal.exact.bundles import bundles_of
from voilattice.optimal.exact.solution import Solution, solve
from voilattice.optimal.exact.space import StateSpace
from voilattice.policy import solvers
from voilattice.policy.relevance import Relevance
from voilattice.policy.solvers import build_policy
from voilattice.policy.sweep import Sweep
from voilattice.valuation.valuation import posterior

ENGINES = ("python", "compiled")


def close(amount):
    return pytest.approx(amount, rel=1e-9, abs=1e-9)


def all_policies(problem, known):
    """The costs of every policy from some evidence on, tree by tree."""
    belief = list(posterior(problem, known).values())
    yield float((problem.misclassification @ belief).min())
    for feature in problem.features:
        if feature in known or feature in problem.evidence:
            continue
        price = problem.costs.cost(frozenset({feature}), {**problem.evidence, **known})
        outcomes = []
        for state in problem.states(feature):
            p = probability(problem, known, feature, state)
            if p > 0:
                costs = list(all_policies(problem, {**known, feature: state}))
                outcomes.append([p * cost for cost in costs])
        for chosen in itertools.product(*outcomes):
            yield price + sum(chosen)


def probability(problem, known, feature, state):
    from voilattice.model.elimination import joint_table

    network = problem.network
    table = joint_table(
        network, [network.index(feature)], problem.node_states({**problem.evidence, **known})
    )
    return float(table[problem.states(feature).index(state)] / table.sum())


@examples(40)
@given(problems(max_features=2, max_states=2))
def test_no_policy_of_all_costs_less(problem):
    assume(not bundles_of(problem))  # with bundles, some policies acquire two at once
    costs = list(all_policies(problem, {}))
    assert optimum(problem).expected_total_cost == close(min(costs))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@examples(150)
@given(problem=problems(max_features=5))
def test_the_solver_equals_a_table_over_all_partial_assignments(engine, problem):
    assume(not bundles_of(problem))
    solution = solve(StateSpace(problem, engine=engine))
    assert solution.expected_total_cost == close(optimal_cost(problem))


@examples(60)
@given(problem=problems(max_features=4))
def test_nothing_is_saved_by_acquiring_several_at_once(problem):
    found = optimum(problem)
    assert found.exact
    assert found.expected_total_cost == close(optimal_cost(problem, largest=4))


@examples(80)
@given(problem=problems(max_features=4), seed=st.integers(0, 2**32 - 1))
def test_with_openers_no_policy_costs_less(problem, seed):
    problem = with_discounts(problem, seed)
    want = optimal_cost(problem, largest=4)
    found = optimum(problem)
    assert found.exact
    assert found.expected_total_cost == close(want)
    if not bundles_of(problem):
        assert optimal_cost(problem) == close(want)
        for engine in ENGINES:
            assert solve(StateSpace(problem, engine=engine)).expected_total_cost == close(want)


@examples(40)
@given(problem=problems(max_features=4), seed=st.integers(0, 2**32 - 1))
def test_with_openers_the_cost_to_go_is_that_of_the_problem_with_that_evidence(problem, seed):
    problem = with_discounts(problem, seed)
    assume(not bundles_of(problem))
    known = possible_evidence(problem, seed)
    solution = solve(StateSpace(problem))
    assert solution.cost_to_go(known) == close(optimal_cost(problem.with_evidence(known)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_larger_problems(seed):
    problem = random_problem(seed, n_features=int(6 + seed % 4))
    want = optimal_cost(problem)
    for engine in ENGINES:
        assert solve(StateSpace(problem, engine=engine)).expected_total_cost == close(want)
    found = optimum(problem)
    assert found.expected_total_cost == close(want)
    assert found.lower_bound == close(want)


def random_problem(seed, n_features):
    """Hidden nodes, evidence, groups, conditional prices, zeros, two to four classes."""
    rng = np.random.default_rng(seed)
    n = n_features + 2
    names = [f"N{k}" for k in range(n)]
    counts = np.where(rng.random(n) < 0.8, 2, 3)
    counts[0] = 2 + seed % 3
    order = [int(k) for k in rng.permutation(n)]
    parents, tables = {}, {}
    for place, node in enumerate(order):
        above = [p for p in order[:place] if rng.random() < 0.35][:3]
        shape = (*(counts[p] for p in above), counts[node])
        rows = rng.dirichlet(np.ones(counts[node]), shape[:-1])
        rows = np.where(rng.random(shape) < 0.1, 0.0, rows)
        rows = np.where(rows.sum(-1, keepdims=True) == 0, np.eye(counts[node])[0], rows)
        parents[names[node]] = [names[p] for p in above]
        tables[names[node]] = rows / rows.sum(axis=-1, keepdims=True)
    states = {a: [f"s{k}" for k in range(c)] for a, c in zip(names, counts, strict=True)}
    network = Network.from_tables(states, parents, tables)
    features = names[1 : 1 + n_features]
    costs = FeatureCosts(
        {f: float(rng.integers(0, 6)) for f in features},
        (Group("g", 4.0, tuple(features[:3])), Group("h", 2.0, tuple(features[3:5]))),
        (ConditionalCost(features[0], {features[4]: "s0"}, float(rng.integers(0, 9))),),
    )
    m = counts[0]
    cost = rng.integers(1, 80, (m, m)).astype(float) * (1 - np.eye(m))
    problem = Problem.create(network, "N0", costs, cost, features=features)
    if seed % 4 == 3:
        for state in problem.states(features[5]):
            try:
                return problem.with_evidence({features[5]: state})
            except VoilatticeError:
                continue
    return problem


@pytest.mark.slow
@examples(200)
@given(problem=problems(max_features=5))
def test_no_other_policy_costs_less_and_the_policy_costs_what_the_solver_says(problem):
    found = optimum(problem)
    cost = found.expected_total_cost
    assert found.lower_bound == close(cost)
    for name in POLICIES:
        assert build_policy(problem, name).expected_total_cost >= cost - 1e-9 * max(1, cost)


@pytest.mark.slow
@examples(100)
@given(problem=problems(max_features=5), data=st.data())
def test_at_any_evidence_the_action_is_that_of_the_optimum_from_there_on(problem, data):
    known = {}
    for feature in data.draw(st.permutations(problem.features)):
        if feature not in problem.evidence and data.draw(st.booleans()):
            possible = [
                s for s in problem.states(feature) if is_possible(problem, {**known, feature: s})
            ]
            known[feature] = data.draw(st.sampled_from(possible))
    action = optimal_step(problem, known)
    fresh = optimum(problem.with_evidence(known))
    assert action.certificate.exact
    assert action.cost_to_go == close(fresh.expected_total_cost)
    assert action.features == frozenset(getattr(fresh.root, "features", ()))


def is_possible(problem, known):
    try:
        problem.with_evidence(problem.further(known))
    except VoilatticeError:
        return False
    return True


def test_a_feature_may_be_bought_only_because_it_makes_another_cheaper():
    network = Network.from_tables(
        {name: ["T", "F"] for name in ("Y", "X", "A")},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[1, 0], [0, 1]], "A": [0.5, 0.5]},
    )
    costs = FeatureCosts({"X": 30, "A": 1}, conditional=(ConditionalCost("X", {"A": "T"}, 2),))
    problem = Problem.create(network, "Y", costs, [[0, 40], [40, 0]])
    found = optimum(problem)
    assert found.root.features == ("A",)
    # A = T: X for 2; A = F: X would cost 30 and save 20.
    assert found.expected_total_cost == close(1 + 0.5 * 2 + 0.5 * 20)


def test_what_tells_about_a_price_is_worth_buying_too():
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YXAB"},
        {"X": ["Y"], "B": ["A"]},
        {"Y": [0.5, 0.5], "X": [[1, 0], [0, 1]], "A": [0.5, 0.5], "B": [[1, 0], [0, 1]]},
    )
    costs = FeatureCosts(
        {"X": 30, "A": 5, "B": 0.1}, conditional=(ConditionalCost("X", {"A": "T"}, 2),)
    )
    problem = Problem.create(network, "Y", costs, [[0, 40], [40, 0]])
    # B for 0.1 tells what A would say: A is bought only where X will be cheap.
    for engine in ENGINES:
        solution = solve(StateSpace(problem, engine=engine))
        assert solution.expected_total_cost == close(0.1 + 0.5 * 20 + 0.5 * (5 + 2))
    assert optimal_cost(problem) == close(13.6)
    assert optimum(problem).root.features == ("B",)


@pytest.mark.parametrize("seed", range(60))
def test_prices_that_hang_on_bystanders(seed):
    """Signs of Y whose prices depend on features that have proxies of their own."""
    rng = np.random.default_rng(seed)
    names = ["Y", "X1", "X2", "A", "B", "C"]
    above = {"X1": ["Y"], "X2": ["Y"], "B": ["A"], "C": ["B"] if seed % 2 else ["A"]}
    if seed % 3 == 0:
        above["A"] = ["X2"]
    shape = {name: (2,) * len(above.get(name, ())) for name in names}
    tables = {name: rng.dirichlet([0.4, 0.4], shape[name]) for name in names}
    for proxy in "BC":
        p = rng.uniform(0.8, 1.0)
        tables[proxy] = [[p, 1 - p], [1 - p, p]]
    network = Network.from_tables({name: ["T", "F"] for name in names}, above, tables)
    conditional = tuple(
        ConditionalCost(x, {"A": str(rng.choice(["T", "F"]))}, low)
        for x, low in (("X1", 1.0), ("X2", 2.0))
    )
    prices = {"A": float(rng.uniform(1, 5)), "B": 0.1, "C": 0.05, "X1": 28.0, "X2": 24.0}
    problem = Problem.create(
        network, "Y", FeatureCosts(prices, conditional=conditional), ("symmetric", 20.0)
    )
    want = optimal_cost(problem)
    for engine in ENGINES:
        assert solve(StateSpace(problem, engine=engine)).expected_total_cost == close(want)
    assert optimum(problem).expected_total_cost == close(want)


def test_features_that_make_each_other_dearer_are_bought_together():
    network = Network.from_tables(
        {name: ["T", "F"] for name in ("Y", "A", "B")},
        {"Y": ["A", "B"]},
        {"A": [0.5, 0.5], "B": [0.5, 0.5], "Y": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]},
    )
    dearer = tuple(
        ConditionalCost(x, {other: state}, 100) for x, other in ("AB", "BA") for state in "TF"
    )
    problem = Problem.create(
        network, "Y", FeatureCosts({"A": 1, "B": 1}, conditional=dearer), [[0, 40], [40, 0]]
    )
    found = optimum(problem)
    assert (found.root.features, found.expected_total_cost) == (("A", "B"), 2.0)
    assert found.exact


def test_blocks_are_about_as_many_as_irreducible_sets_and_the_same_in_both_engines():
    for name in ("asia", "diabetes", "heart"):
        problem = load_problem(name)
        first, second = (find_blocks(problem, 10**9, engine=engine) for engine in ENGINES)
        assert len(first) <= 1.5 * len(Lattice(problem))
        for field in ("features", "relevant", "kept", "paid", "first", "axis", "child", "dropped"):
            assert np.array_equal(getattr(first, field), getattr(second, field))
        assert np.array_equal(first.screen, second.screen)


@examples(60)
@given(problem=problems(max_features=4))
def test_blocks_are_the_states_that_policies_meet(problem):
    assume(not bundles_of(problem))
    space, relevance = StateSpace(problem), Relevance(problem)
    solution = solve(space)
    places = {}
    todo, seen = [dict(problem.evidence)], set()
    while todo:  # every evidence that some policy can meet
        known = todo.pop()
        key, place = relevance.key(known), solution._locate(known)
        if place is not None:  # otherwise it is too rare for the tables of the space
            assert places.setdefault(key, place) == place
        for feature in problem.feature_names(key.relevant):
            for state in problem.states(feature):
                after = {**known, feature: state}
                if frozenset(after.items()) not in seen and is_possible(problem, after):
                    seen.add(frozenset(after.items()))
                    todo.append(after)
    assert len(set(places.values())) == len(places)  # what differs stands at different places
    assert {block for block, _ in places.values()} == set(range(len(space.blocks)))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_sweep_solves_each_point_as_if_alone(engine):
    heart = load_problem("heart")
    space = StateSpace(heart.with_expected("asymmetric", 1.0), engine=engine)
    for x in (0.0, 30.0, 700.0):
        staked = heart.with_expected("asymmetric", x)
        alone = optimum(staked)
        assert solve(space, staked).expected_total_cost == close(alone.lower_bound)
        swept = cost_of(staked, "optimal", sweep=Sweep(heart, "asymmetric"))
        assert (swept.certificate.exact, swept.expected_total_cost) == (
            True,
            close(alone.lower_bound),
        )


def test_a_space_is_for_one_problem_and_one_shape_of_stakes():
    asia = load_problem("asia")
    space = StateSpace(asia)
    with pytest.raises(VoilatticeError, match="belong to another problem"):
        solve(space, asia.with_evidence({"smoke": "yes"}))
    with pytest.raises(VoilatticeError, match="not a multiple of those of the sweep"):
        solve(space, asia.with_expected("asymmetric", 100))
    with pytest.raises(VoilatticeError, match="belong to another problem"):
        solve(space, asia.without({"tub"}))


def test_states_beyond_the_memory_budget_are_searched():
    problem = noisy_bayes(9)
    exact = optimum(problem)
    assert exact.exact
    with memory_limit(200_000):
        with pytest.raises(VoilatticeError, match="states"):
            StateSpace(problem)
        found = optimum(problem, time_limit=2.0)
    assert found.lower_bound <= exact.lower_bound + 1e-9
    assert found.expected_total_cost >= exact.lower_bound - 1e-9


@pytest.mark.parametrize("wrong", [-1, float("nan"), "x", True])
def test_the_time_limit_is_checked(wrong):
    with pytest.raises(VoilatticeError, match="time_limit: must be a number of seconds"):
        optimum(load_problem("asia"), time_limit=wrong)


@pytest.mark.slow
@examples(60)
@given(problem=problems(max_features=4))
def test_what_a_policy_costs_needs_no_policy(problem):
    for name in POLICIES:
        built = build_policy(problem, name).expected_total_cost
        assert cost_of(problem, name).expected_total_cost == close(built)


def test_a_bound_is_not_above_what_it_bounds():
    for name in ("asia", "diabetes", "heart"):
        found = optimum(load_problem(name))
        assert found.lower_bound <= found.expected_total_cost


@pytest.mark.slow
def test_an_optimum_that_is_not_proved_says_so_everywhere(run):
    heart = load_problem("heart")
    found = cost_of(heart, "optimal", time_limit=0.0)
    assert not found.certificate.exact
    advice = advise(heart, "optimal", time_limit=0.0)
    assert any(reason.endswith("It is not proved to be optimal.") for reason in advice.reasons)
    assert any(reason.startswith("It costs at most ") for reason in advice.reasons)
    assert advice.reasons[-1].startswith("The bound ")
    status, out, _ = run("compare", "heart", "--time-limit", "0")
    assert status == 0
    assert "The optimum was not proved: its row is the best" in out


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_budget_reaches_other_processes(jobs):
    solvers.register(BudgetSolver())
    try:
        with memory_limit(12_345):
            rows = compare(load_problem("figure1"), [10, 20], policies=["budget"], n_jobs=jobs)
    finally:
        solvers.unregister("budget")
    assert [row.expected_total_cost for row in rows] == [12_345.0] * 4


@pytest.mark.slow
def test_where_no_table_fits_the_optimum_is_still_proved():
    for name in ("heart", "hepatitis"):
        problem = load_problem(name)
        want = optimum(problem).expected_total_cost
        with memory_limit(4 << 20):
            advice = advise(problem, "optimal", time_limit=60.0)
        assert advice.certificate.exact
        assert advice.emc - advice.benefit == pytest.approx(want, rel=1e-9)


@pytest.mark.slow
def test_the_built_in_problems():
    costs = {}
    for name in ("figure1", "figure3", "asia", "liver", "diabetes", "heart"):
        problem = load_problem(name)
        found = optimum(problem)
        assert found.exact
        costs[name] = found.expected_total_cost
        assert costs[name] <= build_policy(problem, "greedy-la").expected_total_cost + 1e-9
        if name in {"figure1", "figure3", "asia", "liver"}:
            assert costs[name] == close(optimal_cost(problem))
    assert costs["figure1"] == close(17.6)


def test_a_price_may_depend_on_what_is_known_from_the_start():
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YXA"},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[1, 0], [0, 1]], "A": [0.5, 0.5]},
    )
    costs = FeatureCosts({"X": 30, "A": 1}, conditional=(ConditionalCost("X", {"A": "T"}, 2),))
    problem = Problem.create(network, "Y", costs, [[0, 40], [40, 0]])
    for state, cost in (("T", 2.0), ("F", 20.0)):
        known = problem.with_evidence({"A": state})
        for engine in ENGINES:
            assert solve(StateSpace(known, engine=engine)).expected_total_cost == close(cost)
        assert optimal_step(problem, {"A": state}).cost_to_go == close(cost)


def test_a_bystander_that_was_bought_has_paid_the_overhead():
    problem = bystander()
    assert optimal_step(problem).cost_to_go == close(20.0)  # X would cost 23
    action = optimal_step(problem, {"A": "T"})  # which tells nothing, but the draw is paid
    assert action.features == {"X"}
    assert action.cost_to_go == close(5.0)
    assert advise(problem, "optimal", {"A": "T"}).benefit == close(15.0)


def test_a_feature_that_tells_nothing_is_bought_to_open_a_discount():
    problem = opener()
    action = optimal_step(problem)
    assert action.features == {"A"}
    assert action.cost_to_go == close(3.0 + 2.0)  # X alone would cost 30, and deciding 20
    for state in "TF":
        assert optimal_step(problem, {"A": state}).features == {"X"}
    policy = optimum(problem)
    assert (policy.n_acquisitions, policy.depth) == (3, 2)
    assert len(policy.nodes) == 4  # what A says is forgotten: one state, and two decisions
    assert optimum(problem.without({"A"})).expected_total_cost == close(20.0)


def test_a_discount_and_a_price_that_rises_are_bought_at_once():
    # A first costs 1 and X then 9 + 90; X first costs 30; both at once cost 1 + 9.
    problem = opener()
    dearer = tuple(ConditionalCost("X", {"A": state}, 99 + 9) for state in "TF")
    costs = FeatureCosts({"X": 30, "A": 1}, (), dearer, (Discount("visit", {"X": 21, "A": 1}),))
    found = optimum(replace(problem, costs=costs))
    assert found.exact
    assert found.expected_total_cost == close(10.0)
    assert set(found.root.features) == {"A", "X"}


def test_three_that_make_each_other_dearer_are_bought_together():
    names = ["A", "B", "C"]
    parity = np.zeros((2, 2, 2, 2))
    for a, b, c in np.ndindex(2, 2, 2):
        parity[a, b, c, (a + b + c) % 2] = 1
    network = Network.from_tables(
        {name: ["T", "F"] for name in ("Y", *names)},
        {"Y": names},
        {**{name: [0.5, 0.5] for name in names}, "Y": parity},
    )
    circle = tuple(
        ConditionalCost(x, {other: state}, 100)
        for x, other in zip("ABC", "BCA", strict=True)
        for state in "TF"
    )
    problem = Problem.create(
        network, "Y", FeatureCosts(dict.fromkeys(names, 1), conditional=circle), [[0, 40], [40, 0]]
    )
    # A alone, then C, then B: A before B, C before A, B before C cannot all be.
    found = optimum(problem)
    assert found.exact
    assert found.expected_total_cost == close(optimal_cost(problem, largest=3))
    assert found.expected_total_cost == close(3.0)
    assert len(found.root.features) == 3


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@examples(60)
@given(problem=problems(max_features=4, max_hidden=1), seed=st.integers(0, 2**32 - 1))
def test_rare_evidence_is_solved_as_exactly_as_any_other(engine, problem, seed):
    evidence = possible_evidence(problem, seed)
    here = problem.with_evidence(evidence)
    want = optimal_cost(here, largest=4, exactly=True)
    assert optimum(problem, evidence).expected_total_cost == close(want)
    assert optimal_step(problem, evidence).cost_to_go == close(want)
    if not bundles_of(problem):
        known = problem.merge_evidence(evidence)
        assert solve(StateSpace(problem, engine=engine)).cost_to_go(known) == close(want)
        assert solve(StateSpace(here, engine=engine)).expected_total_cost == close(want)


@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("q", [1e-40, 1e-76, 1e-107, 1e-108, 1e-150, 1e-200, 1e-300])
def test_findings_of_tiny_probability(q, n, chain):
    problem = rare_findings(q, chain=chain)
    evidence = {f"X{k}": "a" for k in range(n)}
    here = problem.with_evidence(evidence)
    want = optimal_cost(here, exactly=True)
    assert want > 1
    assert optimum(here).lower_bound == close(want)
    advice = advise(problem, "optimal", evidence)
    assert advice.emc - advice.benefit == close(want)
    known = problem.merge_evidence(evidence)
    for engine in ENGINES:
        assert solve(StateSpace(problem, engine=engine)).cost_to_go(known) == close(want)
        assert solve(StateSpace(here, engine=engine)).expected_total_cost == close(want)
    for name in ("greedy", "greedy-la", "batch"):
        assert build_policy(problem, name, evidence).expected_total_cost >= want - 1e-9
        assert advise(problem, name, evidence).emc == close(advice.emc)


@pytest.mark.slow
@examples(100)
@given(problem=problems(min_features=3, max_features=5, max_hidden=3), seed=st.integers(0, 10**6))
def test_evidence_from_the_start_is_part_of_every_screen(problem, seed):
    here = problem.with_evidence(possible_evidence(problem, seed, share=0.4))
    assume(not bundles_of(here))
    for engine in ENGINES:
        solution = solve(StateSpace(here, engine=engine))
        assert solution.expected_total_cost == close(optimal_cost(here))


@pytest.mark.parametrize("engine", ["python", "compiled"])
def test_a_screen_goes_through_a_collider_that_is_known_from_the_start(engine):
    # D -> C <- K -> Y -> Z with C known: once K is known D is forgotten, and P(D | K) is not P(D).
    tables = {
        "D": [0.7, 0.3],
        "K": [0.4, 0.6],
        "C": [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.95, 0.05]]],
        "Y": [[0.8, 0.2], [0.25, 0.75]],
        "Z": [[0.85, 0.15], [0.3, 0.7]],
    }
    parents = {"C": ["D", "K"], "Y": ["K"], "Z": ["Y"]}
    network = Network.from_tables({name: ["a", "b"] for name in tables}, parents, tables)
    prices = {"C": 1.0, "D": 0.5, "K": 6.0, "Z": 2.0}
    problem = Problem.create(network, "Y", prices, [[0, 100], [60, 0]], evidence={"C": "a"})
    solution = solve(StateSpace(problem, engine=engine))
    assert solution.expected_total_cost == pytest.approx(optimal_cost(problem), abs=1e-9)
    free = replace(problem, costs=replace(problem.costs, prices=dict.fromkeys(prices, 0.0)))
    solution = solve(StateSpace(free, engine=engine))
    assert solution.expected_total_cost == pytest.approx(optimal_cost(free), abs=1e-9)


def python_space(problem):
    return StateSpace(problem, engine="python")


def test_what_to_do_is_kept_unless_only_costs_are_asked_for():
    problem = twins(1.0, 2.0)
    space = python_space(problem)
    for made in (solve(space), Solution(space, problem)):
        assert made.choose({}) == 0b01
        assert made.choose({"A": "T"}) == 0  # Y is known
        assert made.choose({"B": "F"}) == 0
    assert solve(space, choices=False)._choice is None
    assert solve(space, choices=False).expected_total_cost == close(1.0)


def test_a_problem_is_solved_at_its_own_prices_over_the_states_of_another():
    space = python_space(twins(1.0, 2.0))
    assert solve(space, twins(4.0, 3.0)).expected_total_cost == close(3.0)
    assert solve(space, twins(4.0, 3.0)).choose({}) == 0b10
    assert solve(space).expected_total_cost == close(1.0)


@pytest.mark.parametrize("make", [varied, lambda: noisy_bayes(3), lambda: twins(1.0, 30.0)])
def test_every_block_is_solved_once_and_only_when_it_is_asked_for(monkeypatch, make):
    problem, space = make(), python_space(make())
    solved = []
    original = module.cost_to_go

    def spy(blocks, todo, *rest, **options):
        if blocks is space.blocks:  # and not those of evidence that has no state here
            solved.append(todo.tolist())
        original(blocks, todo, *rest, **options)

    monkeypatch.setattr(module, "cost_to_go", spy)
    solution = solve(space)
    marked = np.zeros(len(space.blocks), np.uint8)
    marked[0] = 1
    module.twin_of("python").mark(marked, space.layout, space.prices(problem))
    assert solved == [np.flatnonzero(marked).tolist()]
    for known in all_evidence(problem):
        if is_possible(problem, known):
            solution.cost_to_go(known)
    every = list(itertools.chain(*solved))
    assert len(every) == len(set(every))
    assert set(every) == set(range(len(space.blocks)))


def all_evidence(problem):
    """Every assignment to some of the features, in the problem's order and in the other."""
    for values in itertools.product(*((None, *problem.states(f)) for f in problem.features)):
        known = [(f, v) for f, v in zip(problem.features, values, strict=True) if v is not None]
        yield dict(known)
        yield dict(reversed(known))


@pytest.mark.parametrize(
    "make",
    [
        varied,
        lambda: chain(3),
        lambda: varied().with_evidence({"B": "B1"}),
        lambda: varied().with_evidence({"C": "C0"}),
    ],
)
def test_at_all_evidence_the_cost_to_go_is_that_of_the_problem_with_that_evidence(make):
    problem = make()
    solution = solve(python_space(problem))
    for known in all_evidence(problem):
        if set(known) & set(problem.evidence):
            continue
        there = solve(python_space(problem.with_evidence(known)))
        assert solution.cost_to_go(known) == close(there.expected_total_cost)
        assert solution.choose(known) == there.choose({})


def test_evidence_of_no_state_is_solved_once_for_all_that_follows():
    # B says nothing, but has paid the overhead of A's group: no policy would buy it.
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YABC"},
        {"A": ["Y"], "C": ["Y"]},
        {
            "Y": [0.5, 0.5],
            "A": [[0.9, 0.1], [0.2, 0.8]],
            "B": [0.5, 0.5],
            "C": [[0.8, 0.2], [0.3, 0.7]],
        },
    )
    costs = FeatureCosts({"A": 1, "B": 1, "C": 1}, (Group("g", 5.0, ("A", "B")),))
    problem = Problem.create(network, "Y", costs, [[0, 40], [40, 0]])
    solution = solve(python_space(problem), choices=False)
    for known in ({"B": "T"}, {"B": "T"}, {"B": "T", "C": "F"}, {"B": "T", "A": "F"}):
        there = solve(python_space(problem.with_evidence(known)))
        assert solution.cost_to_go(known) == close(there.expected_total_cost)
    assert [dict(known) for known, _, _ in solution._deeper.solved] == [{"B": "T"}]
    assert solution._deeper.solved[0][2]._choice is None
    solution.cost_to_go({"B": "F"})
    assert [dict(known) for known, _, _ in solution._deeper.solved] == [{"B": "T"}, {"B": "F"}]
    chosen = solve(python_space(problem))
    assert chosen.choose({"B": "T"}) == solve(
        python_space(problem.with_evidence({"B": "T"}))
    ).choose({})


@pytest.mark.parametrize("features", ["UXZ", "XZU"])
def test_evidence_that_locks_a_feature_is_no_state_where_it_is_open(features):
    # U says nothing, and no policy buys it; but X is not acquired if U is bad.
    network = Network.from_tables(
        {"Y": ["a", "b"], **{name: ["ok", "bad"] for name in "UXZ"}},
        {"X": ["Y"], "Z": ["Y"]},
        {
            "Y": [0.5, 0.5],
            "U": [0.5, 0.5],
            "X": [[0.9, 0.1], [0.1, 0.9]],
            "Z": [[0.7, 0.3], [0.3, 0.7]],
        },
    )
    problem = Problem.create(
        network, "Y", dict.fromkeys("UXZ", 1.0), [[0, 40], [40, 0]],
        features=tuple(features), constraints=(Constraint("X", not_if={"U": "bad"}),),
    )  # fmt: skip
    solution = solve(python_space(problem))
    for known in all_evidence(problem):
        want = Referee(problem.with_evidence(known)).optimum()
        assert solution.cost_to_go(known) == close(want)
    assert solution.choose({"U": "ok"}) == problem.feature_mask({"X"})
    assert solution.choose({"U": "bad"}) == problem.feature_mask({"Z"})


def test_values_of_64_bits_have_no_error_to_speak_of():
    assert solve(python_space(twins(1.0))).error({}) == 0.0


def test_evidence_is_lost_only_below_the_least_mass():
    # The evidence has the probability q; the tables of the space keep it while q is no less than
    # the least mass, whatever the probability of the evidence from the start.
    for q, is_kept in [(1e-60, True), (1e-300, False)]:
        problem = rare_findings(q, chain=False)
        solution = solve(python_space(problem))
        found = solution._locate({"X0": "a"})
        assert (found is not None) == is_kept
        start = problem.with_evidence({"X1": "a"})
        deeper = solve(python_space(start))
        assert (deeper._locate({"X0": "a"}) is not None) == is_kept


def test_a_value_is_rare_by_its_own_mass_and_not_by_that_of_another():
    q = 1e-280
    network = Network.from_tables(
        {name: ["a", "b"] for name in "YXZ"},
        {"X": ["Y"], "Z": ["Y"]},
        {"Y": [0.4, 0.6], "X": [[1, q], [1, 2 * q]], "Z": [[0.8, 0.2], [0.3, 0.7]]},
    )
    problem = Problem.create(network, "Y", {"X": 1.0, "Z": 1.0}, [[0, 100], [90, 0]])
    solution = solve(python_space(problem))
    assert solution._locate({"X": "b"}) is None
    assert solution._locate({"X": "a"}) is not None
    assert solution._locate({"Z": "b"}) is not None


def test_the_place_of_values_counts_the_last_axis_fastest():
    sizes = np.array([2, 3, 4])
    cells = [
        module._cell({0: i, 1: j, 2: k}, 0b111, sizes)
        for i, j, k in itertools.product(range(2), range(3), range(4))
    ]
    assert cells == list(range(24))
    assert module._cell({0: 1, 2: 3}, 0b101, sizes) == 7
    assert module._cell({}, 0, sizes) == 0
