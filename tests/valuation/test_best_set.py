import itertools
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from helpers.brute_force import best_of_all_subsets
from helpers.problems import naive_bayes, noisy_bayes
from helpers.strategies import (
    DATA,
    draw_evidence,
    needs_data,
    possible_evidence,
    problems,
    with_own_costs,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voilattice import FeatureCosts, Network, Problem, load_problem, read_network
from voilattice.budgets import Deadline, memory_limit
from voilattice.errors import InputError, UnknownNameError
from voilattice.model.costs import ConditionalCost, Group
from voilattice.ties import tolerance
from voilattice.valuation import best_set as best
from voilattice.valuation.best_set import best_set
from voilattice.valuation.lattice_values import value_lattice
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


@contextmanager
def small_tables(cells):
    """Let only tables of so many cells be made, so that the nodes on top have none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best, "WHOLE_CELLS", cells)
        patch.setattr(best, "SPLIT_CELLS", cells)
        yield patch


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150)
@given(problem=problems(max_features=6, max_states=4), seed=st.integers(0, 2**32 - 1))
def test_the_best_set_is_that_of_all_subsets(engine, problem, seed):
    evidence = {}
    if not problem.evidence:
        rng = np.random.default_rng(seed)
        evidence = draw_evidence(problem.network, list(problem.features), rng)
    check(problem, evidence, best_set(problem, evidence, engine=engine))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=100)
@given(problem=problems(max_features=6, max_states=3), cells=st.integers(1, 60))
def test_the_best_set_is_found_where_not_all_features_fit_into_a_table(engine, problem, cells):
    with small_tables(cells):
        check(problem, {}, best_set(problem, engine=engine))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150)
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


@settings(max_examples=60)
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
        ),
    )
    if factor >= 1:  # below 1 the tolerance is absolute: a millionth of a cent
        assert best_set(scaled).features == best_set(problem).features
    assert best_set(scaled).benefit == pytest.approx(
        factor * best_set(problem).benefit, rel=1e-9, abs=1e-8
    )


@settings(max_examples=60)
@given(problems(max_features=6, max_states=3))
def test_both_engines_take_the_same_way(problem):
    by_numpy, by_kernel = (best_set(problem, engine=engine) for engine in ENGINES)
    assert by_numpy.features == by_kernel.features
    # The kernel does not sum over features of one state.
    if min(len(problem.states(f)) for f in problem.features) > 1:
        assert by_numpy.n_evaluated == by_kernel.n_evaluated


@pytest.mark.slow
@settings(max_examples=100)
@given(problems(max_features=5), st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_costs_that_are_not_monotone_are_searched_too(problem, seed, cells):
    odd = with_own_costs(problem, seed)
    check(odd, {}, best_set(odd))
    with small_tables(cells):
        check(odd, {}, best_set(odd))


@pytest.mark.slow
@settings(max_examples=100)
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
        patch.setattr(best, "CELLS_AT_ONCE", 1)
        found = best_set(problem, engine=engine, time_limit=0)
    exact = best_of_all_subsets(problem, {}).benefit
    tol = tolerance(value(problem, ()).emc)
    assert found.benefit <= exact + tol
    assert found.bound >= exact - tol
    assert found.bound >= found.benefit
    assert found.exact == (found.bound <= found.benefit + tol)
    assert found.short_of == (None if found.exact else "time")


def test_a_bound_from_hidden_causes_is_used_where_tables_do_not_fit():
    problem = load_problem("asia")
    search = best._Search(problem, {}, 110.0, Deadline(), "python", None)
    bound = search.worth_bound()
    most = max(
        value(problem, s).evi
        for size in range(7)
        for s in itertools.combinations(problem.features, size)
    )
    assert most <= bound + 1e-9
    assert bound < value(problem, ()).emc - 1  # less than knowing the target


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


def test_the_set_behind_the_bound_is_a_candidate():
    # The set that separates the target from all features is valued for the bound. It is offered
    # as a candidate there and then: nothing else is looked at.
    problem = noisy_bayes(8)
    free = replace(problem, costs=FeatureCosts(dict.fromkeys(problem.features, 0.0)))
    search = best._Search(free, {}, value(free, ()).emc, Deadline(), "python", None)
    bound = search.worth_bound()
    assert search.n_evaluated == 1
    assert free.feature_names(search.best.mask) == set(free.features)
    assert search.best.benefit == pytest.approx(bound, abs=1e-12)


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


@pytest.mark.parametrize(
    "cost", [[[10, 95], [40, 20]], [[30, 5], [70, 60]], [[0, 100], [80, 0]], [[7, 30], [9, 90]]]
)
def test_without_time_for_a_table_the_bound_is_the_worth_of_knowing_the_target(cost):
    problem = replace(load_problem("asia"), misclassification=cost)
    matrix, prior = np.array(cost, dtype=float), problem.prior
    search = best._Search(problem, {}, 110.0, Deadline(0.0), "python", None)
    perfect = sum(p * min(column) for p, column in zip(prior, matrix.T, strict=True))
    assert search.worth_bound() == pytest.approx((matrix @ prior).min() - perfect, abs=1e-12)
