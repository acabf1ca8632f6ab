import itertools
from contextlib import nullcontext
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from helpers.best_sets import FIXED, grouped, many_prices, small_tables
from helpers.brute_force import best_of_all_subsets
from helpers.problems import naive_bayes, noisy_bayes, opener, twins, varied
from helpers.strategies import (
    DATA,
    draw_evidence,
    needs_data,
    possible_evidence,
    problems,
    with_discounts,
    with_own_costs,
)
from helpers.worlds import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voilattice import FeatureCosts, Network, Problem, load_problem, read_network
from voilattice.budgets import Deadline, memory_limit
from voilattice.errors import InputError, UnknownNameError
from voilattice.model.costs import ConditionalCost, Discount, Group
from voilattice.ties import Offer, tolerance
from voilattice.valuation import best_set as best
from voilattice.valuation import set_search
from voilattice.valuation.best_set import best_set
from voilattice.valuation.lattice_values import value_lattice
from voilattice.valuation.tables import root_table
from voilattice.valuation.valuation import value

ENGINES = ["python", "compiled"]


def check(problem, evidence, found):
    expected = best_of_all_subsets(problem, evidence)
    assert found.features == expected.features
    assert found.benefit == pytest.approx(expected.benefit, abs=1e-9)
    assert found.evi == pytest.approx(expected.evi, abs=1e-9)
    assert found.cost == pytest.approx(expected.cost, abs=1e-9)
    assert found.exact
    assert found.short_of is None
    assert found.bound == found.benefit


@pytest.mark.parametrize("engine", ENGINES)
@examples(60)
@given(
    problem=problems(max_features=5), seed=st.integers(0, 2**32 - 1), cells=st.none() | st.just(8)
)
def test_with_discounts_a_set_is_bought_through_its_cheapest_superset(engine, problem, seed, cells):
    problem = with_discounts(problem, seed)
    evidence = possible_evidence(problem, seed, share=0.3)
    with small_tables(cells) if cells else nullcontext():
        check(problem, evidence, best_set(problem, evidence, engine=engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_feature_that_tells_nothing_is_bought_to_open_a_discount(engine):
    found = best_set(opener(), engine=engine)
    assert found.features == {"A", "X"}
    assert (found.evi, found.cost, found.benefit) == (20.0, 5.0, 15.0)
    assert best_set(opener(), {"A": "T"}, engine=engine).features == {"X"}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@examples(150)
@given(problem=problems(max_features=6, max_states=4), seed=st.integers(0, 2**32 - 1))
def test_the_best_set_is_that_of_all_subsets(engine, problem, seed):
    evidence = {}
    if not problem.evidence:
        rng = np.random.default_rng(seed)
        evidence = draw_evidence(problem.network, list(problem.features), rng)
    check(problem, evidence, best_set(problem, evidence, engine=engine))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@examples(100)
@given(problem=problems(max_features=6, max_states=3), cells=st.integers(1, 60))
def test_the_best_set_is_found_where_not_all_features_fit_into_a_table(engine, problem, cells):
    with small_tables(cells):
        check(problem, {}, best_set(problem, engine=engine))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@examples(150)
@given(order=st.permutations(range(6)), cells=st.sampled_from([2, 4, 8, 16, 32, 1000]))
def test_ties_are_broken_alike_with_and_without_a_table_over_all(engine, order, cells):
    # Y is the xor of X_0 and X_1, and so it is of the two other pairs: three sets tie.
    names = [f"X{k}" for k in range(6)]
    pairs = [(names[order[k]], names[order[k + 1]]) for k in (0, 2, 4)]
    parents = {second: ["Y", first] for first, second in pairs}
    flip = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    network = Network.from_tables(
        {name: ["T", "F"] for name in ["Y", *names]},
        parents,
        {name: flip if name in parents else [0.5, 0.5] for name in ["Y", *names]},
    )
    problem = Problem.create(network, "Y", dict.fromkeys(names, 1.0), [[0, 100], [100, 0]])
    with small_tables(cells):
        found = best_set(problem, engine=engine)
    assert found.exact
    assert found.features == min(map(frozenset, pairs), key=sorted)
    top = value_lattice(problem).top(3)
    assert [entry.features for entry in top] == sorted(map(frozenset, pairs), key=sorted)


@examples(60)
@given(problems(max_features=5), st.sampled_from([1e-6, 1e3, 1e9]))
def test_the_unit_of_money_does_not_matter(problem, factor):
    costs = problem.costs
    scaled = replace(
        problem,
        misclassification=factor * problem.misclassification,
        costs=FeatureCosts(
            {f: factor * price for f, price in costs.prices.items()},
            tuple(Group(g.name, factor * g.overhead, g.features) for g in costs.groups),
            tuple(ConditionalCost(c.feature, c.when, factor * c.cost) for c in costs.conditional),
            tuple(
                Discount(d.name, {f: factor * off for f, off in d.off.items()})
                for d in costs.discounts
            ),
        ),
    )
    if factor >= 1:  # below 1 the tolerance is absolute: a millionth of a cent
        assert best_set(scaled).features == best_set(problem).features
    assert best_set(scaled).benefit == pytest.approx(
        factor * best_set(problem).benefit, rel=1e-9, abs=1e-8
    )


@examples(60)
@given(problems(max_features=6, max_states=3))
def test_both_engines_take_the_same_way(problem):
    by_numpy, by_kernel = (best_set(problem, engine=engine) for engine in ENGINES)
    assert by_numpy.features == by_kernel.features
    # The kernel does not sum over features of one state.
    if min(len(problem.states(f)) for f in problem.features) > 1:
        assert by_numpy.n_evaluated == by_kernel.n_evaluated


@pytest.mark.slow
@examples(100)
@given(problems(max_features=5), st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_costs_that_are_not_monotone_are_searched_too(problem, seed, cells):
    odd = with_own_costs(problem, seed)
    check(odd, {}, best_set(odd))
    with small_tables(cells):
        check(odd, {}, best_set(odd))


@pytest.mark.slow
@examples(100)
@given(problems(min_features=4, max_features=7), st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_costs_that_are_not_monotone_at_the_evidence_alone_are_searched_too(problem, seed, cells):
    evidence = possible_evidence(problem, seed, share=0.6)
    assume(len(evidence) > 1)
    odd = with_own_costs(problem, seed, only_at=evidence)
    check(odd, evidence, best_set(odd, evidence))
    with small_tables(cells):
        check(odd, evidence, best_set(odd, evidence))


class CheapOnceKnown:
    """Thirty for each feature; two cost one together when just two others are known."""

    def cost(self, features, evidence):
        known = dict(evidence) == {"X06": "F", "X07": "T"}
        return 1.0 if known and features == {"X02", "X04"} else 30.0 * len(features)


@pytest.mark.parametrize("cells", [4, 1000])
def test_a_bundle_that_is_cheap_once_something_is_known_is_found(cells):
    problem = replace(noisy_bayes(8), misclassification=[[0, 60], [60, 0]], costs=CheapOnceKnown())
    evidence = {"X06": "F", "X07": "T"}
    assert problem.cost_check.monotone  # as far as random evidence shows
    with small_tables(cells):
        found = best_set(problem, evidence)
    check(problem, evidence, found)
    assert found.features == {"X02", "X04"}


class Bundle:
    """Four useless features bring a useful one along; each alone is dear."""

    def cost(self, features, evidence):
        return 1.0 if len(features) == 5 else 20.0 * len(features)


@pytest.mark.parametrize("cells", [2, 8, 1000])
def test_irrelevant_and_dear_features_are_not_dropped_where_they_make_a_set_cheap(cells):
    names = ["Y", *(f"X{k}" for k in range(5))]
    tables = {key: [0.5, 0.5] for key in names} | {"X0": [[0.9, 0.1], [0.2, 0.8]]}
    network = Network.from_tables({name: ["T", "F"] for name in names}, {"X0": ["Y"]}, tables)
    problem = Problem.create(network, "Y", Bundle(), [[0, 90], [50, 0]])
    assert value(problem, {"X0"}).evi > 1
    with small_tables(cells):
        found = best_set(problem)
    check(problem, {}, found)
    assert found.features == set(names[1:])


def test_prices_that_were_not_all_checked_are_not_called_proof():
    class Trap:
        """Additive, but for one set of seven features out of 32,768."""

        def cost(self, features, evidence):
            is_cheap = features == {f"X{k:02d}" for k in range(0, 14, 2)}
            return 0.1 if is_cheap else 2.0 * len(features)

    problem = replace(noisy_bayes(15), costs=Trap())
    found = best_set(problem)
    assert not found.exact
    assert found.short_of == "costs"
    assert found.bound >= value(problem, problem.features).evi - 1e-9


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=30)
@given(problem=problems(min_features=3, max_features=6), cells=st.integers(2, 30))
def test_a_search_that_is_stopped_has_an_honest_bound(engine, problem, cells):
    with small_tables(cells) as patch:
        patch.setattr(set_search, "CELLS_AT_ONCE", 1)
        found = best_set(problem, engine=engine, time_limit=0)
    exact = best_of_all_subsets(problem, {}).benefit
    tol = tolerance(value(problem, ()).emc)
    assert found.benefit <= exact + tol
    assert found.bound >= exact - tol
    assert found.bound >= found.benefit
    assert found.exact == (found.bound <= found.benefit + tol)
    assert found.short_of == (None if found.exact else "time")


def test_nothing_is_bought_for_nothing():
    problem = naive_bayes(4)  # no feature says anything
    assert best_set(problem).features == frozenset()
    free = Problem.create(
        problem.network, "Y", dict.fromkeys(problem.features, 0.0), [[0, 1], [1, 0]]
    )
    assert best_set(free).features == frozenset()


def test_a_set_that_does_not_fit_the_memory_is_told_apart_from_time():
    problem = load_problem("asia")
    with memory_limit(300):
        found = best_set(problem)
    assert not found.exact
    assert found.short_of == "memory"
    assert found.bound >= best_set(problem).benefit


def test_the_number_of_irreducible_sets_is_told_where_it_is_cheap_to_know():
    assert best_set(load_problem("figure3")).n_sets == 9
    assert best_set(naive_bayes(14)).n_sets is None


@pytest.mark.parametrize("limit", [float("nan"), -1.0])
def test_a_time_limit_that_is_none_is_refused(limit):
    with pytest.raises(InputError, match="time_limit: must be a number of seconds >= 0, got"):
        best_set(load_problem("asia"), time_limit=limit)


def test_progress_is_told():
    seen = []
    best_set(load_problem("asia"), progress=lambda *told: seen.append(told))
    assert seen
    assert all(gap >= 0 for _, gap in seen)


def test_an_unknown_engine_is_refused():
    with pytest.raises(UnknownNameError, match="engine must be one of"):
        best_set(load_problem("asia"), engine="fortran")


@pytest.mark.slow
@needs_data
def test_hepar2_with_40_findings_fits_a_small_memory_budget():
    network = read_network(DATA / "networks" / "hepar2.bif")
    inner = {parent for parents in network.parents for parent in parents}
    leaves = [name for k, name in enumerate(network.names) if k not in inner][:40]
    rng = np.random.default_rng(0)
    prices = {name: float(rng.integers(1, 101)) for name in leaves}
    problem = Problem.create(network, "Cirrhosis", prices, ("asymmetric", 200), features=leaves)
    with memory_limit(64 << 20):
        found = best_set(problem, time_limit=20)
    assert found.exact
    assert found.bound >= found.benefit > 0
    assert found.benefit == pytest.approx(value(problem, found.features).benefit, abs=1e-9)


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("cells", [1, 2, 4, 8, 16, 1 << 20])
def test_fixed_problems_have_the_best_of_all_subsets(name, cells):
    problem = FIXED[name]
    with small_tables(cells):
        check(problem, {}, best_set(problem, engine="python"))


@pytest.mark.parametrize("cells", [4, 1 << 20])
def test_with_evidence_the_best_set_is_that_of_all_other_subsets(cells):
    for problem, evidence in [
        (grouped(), {"A": "A1", "E": "E0"}),
        (grouped(), {"D": "D1"}),
        (varied(), {"A": "A1"}),
        (varied().with_evidence({"B": "B1"}), {"A": "A0"}),
    ]:
        with small_tables(cells):
            check(problem, evidence, best_set(problem, evidence, engine="python"))


def test_what_is_found_can_be_acquired_and_cannot_be_changed():
    found = best_set(twins(1.0))
    assert found.feasible
    with pytest.raises(FrozenInstanceError):
        found.cost = 0.0
    assert not hasattr(found, "__dict__")


@pytest.mark.parametrize("name", FIXED)
def test_the_best_set_of_a_table_is_that_of_all_subsets(name):
    problem = FIXED[name]
    features = list(range(len(problem.features)))
    for order in (features, features[::-1]):
        root = root_table(problem, {}, order)
        found, short_of = best.best_in_table(problem, {}, order, root)
        assert problem.feature_names(found) == best_of_all_subsets(problem, {}).features
        assert short_of is None
    some = features[::2]
    found, _ = best.best_in_table(problem, {}, some, root_table(problem, {}, some))
    names = [problem.features[k] for k in some]
    most = max(
        value(problem, s).benefit
        for size in range(len(names) + 1)
        for s in itertools.combinations(names, size)
    )
    assert value(problem, problem.feature_names(found)).benefit == pytest.approx(most, abs=1e-9)
    assert not found & ~sum(1 << k for k in some)


@pytest.mark.parametrize(
    "name", ["grouped", "varied", "asia", "dear stakes", "many prices", "twins"]
)
@pytest.mark.parametrize("cells", [4, 1 << 20])
def test_the_readable_search_evaluates_what_its_twin_does(name, cells):
    problem = FIXED[name]
    with small_tables(cells):
        first, second = (best_set(problem, engine=engine) for engine in ENGINES)
    assert first.n_evaluated == second.n_evaluated
    assert first.features == second.features


def test_fewer_sets_are_evaluated_than_there_are():
    found = best_set(replace(noisy_bayes(8), misclassification=[[0, 20], [12, 0]]), engine="python")
    assert found.exact
    assert found.n_evaluated < 2**8 / 2
    assert found.n_sets == 2**8


def test_the_lattice_is_counted_up_to_a_number_of_floods(monkeypatch):
    problem = naive_bayes(4)
    monkeypatch.setattr(best, "MAX_COUNTED_FLOODS", 4 << 4)
    assert best._count_sets(problem, {}) == 16
    assert best._count_sets(problem, {"X00": "T"}) == 8
    monkeypatch.setattr(best, "MAX_COUNTED_FLOODS", (4 << 4) - 1)
    assert best._count_sets(problem, {}) is None
    assert best._count_sets(problem, {"X00": "T"}) == 8


def test_a_search_that_is_stopped_tells_what_is_open():
    problem = replace(noisy_bayes(6), misclassification=[[0, 90], [50, 0]])
    for cells in (4, 1 << 20):
        with small_tables(cells):
            found = best_set(problem, engine="python", time_limit=0.0)
        exact = best_set(problem, engine="python")
        assert exact.exact
        assert (found.exact, found.short_of) == (False, "time")
        assert found.benefit <= exact.benefit <= found.bound
        assert found.evi - found.cost == pytest.approx(found.benefit)


def test_in_a_table_as_elsewhere_ties_are_those_of_what_is_at_stake(monkeypatch):
    stakes = []
    original = best.SetSearch

    def spy(problem, known, stake, *rest):
        stakes.append(stake)
        return original(problem, known, stake, *rest)

    monkeypatch.setattr(best, "SetSearch", spy)
    problem = load_problem("asia").with_evidence({"dysp": "yes"})
    features = [k for k, name in enumerate(problem.features) if name != "dysp"]
    root = root_table(problem, problem.evidence, features)
    assert root.probability != 1.0
    best.best_in_table(problem, problem.evidence, features, root)
    assert stakes == pytest.approx([value(problem, ()).emc])


@pytest.mark.parametrize("cells", [2, 4, 8, 16, 32, 1000])
@pytest.mark.parametrize("price", [0.0, 1.0])
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 0, 1, 2, 3, 4), (4, 5, 2, 3, 0, 1)])
def test_of_sets_that_tie_the_first_is_found_with_tables_of_any_size(order, price, cells):
    names = [f"X{k}" for k in range(6)]
    pairs = [(names[order[k]], names[order[k + 1]]) for k in (0, 2, 4)]
    parents = {second: ["Y", first] for first, second in pairs}
    flip = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    network = Network.from_tables(
        {name: ["T", "F"] for name in ["Y", *names]},
        parents,
        {name: flip if name in parents else [0.5, 0.5] for name in ["Y", *names]},
    )
    problem = Problem.create(network, "Y", dict.fromkeys(names, price), [[0, 100], [100, 0]])
    with small_tables(cells):
        found = best_set(problem, engine="python")
    assert found.exact
    assert found.features == min(map(frozenset, pairs), key=sorted)


@examples(40)
@given(problems(max_features=5), st.integers(1, 40))
def test_the_best_set_at_a_situation_is_that_of_the_command(problem, cells):
    known, now = problem.merge_evidence(None), value(problem, ()).emc
    singles = [
        Offer(found.benefit, found.cost, problem.feature_mask([name]))
        for name in problem.features
        if name not in known
        for found in [value(problem, {name})]
    ]
    with small_tables(cells):
        found, short_of = best.best_mask(problem, known, now, singles, deadline=Deadline())
    assert problem.feature_names(found) == best_of_all_subsets(problem, {}).features
    assert short_of is None


def test_without_time_the_best_single_feature_is_there():
    problem = many_prices()
    singles = [
        Offer(found.benefit, found.cost, problem.feature_mask([name]))
        for name in problem.features
        for found in [value(problem, {name})]
    ]
    now = value(problem, ()).emc
    found, short_of = best.best_mask(problem, {}, now, singles, deadline=Deadline(0.0))
    assert found == max(singles).mask
    assert short_of == "time"
