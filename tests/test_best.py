import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DATA, draw_evidence, needs_data, problems
from test_lattice import naive_bayes

from voilattice import Problem, best, load_problem, read_network
from voilattice.best import best_set
from voilattice.costs import TOLERANCE
from voilattice.errors import UnknownNameError
from voilattice.inference import memory_limit
from voilattice.valuation import value

ENGINES = ["python", "compiled"]


def brute_force(problem, evidence):
    """Equation 7 over all subsets, ties broken as documented."""
    known = {**problem.evidence, **evidence}
    free = [f for f in problem.features if f not in known]
    everything = [
        value(problem, s, evidence)
        for size in range(len(free) + 1)
        for s in itertools.combinations(free, size)
    ]
    highest = max(entry.benefit for entry in everything)
    tied = [entry for entry in everything if entry.benefit >= highest - TOLERANCE]
    fewest = min(len(entry.features) for entry in tied)
    tied = [entry for entry in tied if len(entry.features) == fewest]
    cheapest = min(entry.cost for entry in tied)
    tied = [entry for entry in tied if entry.cost <= cheapest + TOLERANCE]
    return min(tied, key=lambda entry: sorted(map(problem.features.index, entry.features)))


def check(problem, evidence, found):
    expected = brute_force(problem, evidence)
    assert found.features == expected.features
    assert found.benefit == pytest.approx(expected.benefit, abs=1e-9)
    assert found.evi == pytest.approx(expected.evi, abs=1e-9)
    assert found.cost == pytest.approx(expected.cost, abs=1e-9)
    assert found.optimal
    assert found.bound == found.benefit


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150)
@given(problem=problems(max_features=6, max_states=4), seed=st.integers(0, 2**32 - 1))
def test_the_best_set_is_that_of_all_subsets(engine, problem, seed):
    evidence = {}
    if not problem.evidence:
        rng = np.random.default_rng(seed)
        evidence = draw_evidence(problem.network, list(problem.features), rng)
    check(problem, evidence, best_set(problem, evidence, engine=engine))


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=100)
@given(problem=problems(max_features=6, max_states=3), cells=st.integers(1, 60))
def test_the_best_set_is_found_where_not_all_features_fit_into_a_table(engine, problem, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best, "SPLIT_CELLS", cells)
        patch.setattr(best, "WHOLE_CELLS", 0)
        check(problem, {}, best_set(problem, engine=engine))


@settings(max_examples=60)
@given(problems(max_features=6, max_states=3))
def test_both_engines_take_the_same_way(problem):
    by_numpy, by_kernel = (best_set(problem, engine=engine) for engine in ENGINES)
    assert by_numpy.features == by_kernel.features
    # The kernel does not sum over features of one state.
    if min(len(problem.states(f)) for f in problem.features) > 1:
        assert by_numpy.n_evaluated == by_kernel.n_evaluated


@settings(max_examples=60)
@given(problems(max_features=5), st.integers(0, 2**32 - 1))
def test_costs_that_are_not_monotone_are_searched_too(problem, seed):
    class Odd:
        """Any price for any set, the empty one excepted."""

        def cost(self, features, evidence):
            return random.Random(f"{seed}{sorted(features)}").random() * 40 if features else 0.0

    odd = Problem.create(
        problem.network,
        problem.target,
        Odd(),
        problem.misclassification,
        features=problem.features,
        evidence=problem.evidence,
    )
    check(odd, {}, best_set(odd))


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=30)
@given(problem=problems(min_features=3, max_features=6), cells=st.integers(2, 30))
def test_a_search_that_is_stopped_has_an_honest_bound(engine, problem, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best, "SPLIT_CELLS", cells)
        patch.setattr(best, "WHOLE_CELLS", 0)
        patch.setattr(best, "CELLS_AT_ONCE", 1)
        found = best_set(problem, engine=engine, time_limit=0)
    exact = brute_force(problem, {}).benefit
    assert found.benefit <= exact + TOLERANCE
    assert found.bound >= exact - TOLERANCE
    assert found.bound >= found.benefit
    if found.optimal:
        assert found.benefit == pytest.approx(exact, abs=1e-9)


def test_a_bound_from_hidden_causes_is_used_where_tables_do_not_fit():
    problem = load_problem("asia")
    search = best._Search(problem, {}, None, "python", None)
    bound = search._worth_bound()
    most = max(
        value(problem, s).evi
        for size in range(7)
        for s in itertools.combinations(problem.features, size)
    )
    assert most <= bound + 1e-9
    assert bound < value(problem, ()).emc - 1  # less than knowing the target


def test_ties_go_to_fewer_features_then_to_the_problems_order():
    problem = naive_bayes(4)  # nothing is worth anything, and everything costs 1
    assert best_set(problem).features == frozenset()
    free = Problem.create(
        problem.network, "Y", dict.fromkeys(problem.features, 0.0), [[0, 1], [1, 0]]
    )
    assert best_set(free).features == frozenset()


def test_the_number_of_irreducible_sets_is_told_where_it_is_cheap_to_know():
    assert best_set(load_problem("figure3")).n_sets == 9
    assert best_set(naive_bayes(14)).n_sets is None


def test_progress_is_told_and_an_unknown_engine_refused(monkeypatch):
    seen = []
    best_set(load_problem("asia"), progress=lambda *told: seen.append(told))
    assert seen
    with pytest.raises(UnknownNameError, match="engine must be one of"):
        best_set(load_problem("asia"), engine="fortran")


@needs_data
def test_hepar2_with_40_findings_keeps_to_time_and_memory():
    network = read_network(DATA / "networks" / "hepar2.bif")
    inner = {parent for parents in network.parents for parent in parents}
    leaves = [name for k, name in enumerate(network.names) if k not in inner][:40]
    rng = np.random.default_rng(0)
    prices = {name: float(rng.integers(1, 101)) for name in leaves}
    problem = Problem.create(network, "Cirrhosis", prices, ("asymmetric", 200), features=leaves)
    with memory_limit(256 << 20):
        found = best_set(problem, time_limit=20)
    assert found.bound >= found.benefit > 0
    assert found.benefit == pytest.approx(value(problem, found.features).benefit, abs=1e-9)
