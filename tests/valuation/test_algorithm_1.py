"""Algorithm 1: bounds that enclose, and values that need not be computed."""

import numpy as np
import pytest
from helpers.strategies import problems
from hypothesis import given

from voilattice import Network, Problem, evi, load_problem
from voilattice.ties import tolerance
from voilattice.valuation import algorithm_1 as module
from voilattice.valuation.algorithm_1 import algorithm_1
from voilattice.valuation.lattice_values import value_lattice


@given(problems(max_features=5, max_states=4))
def test_algorithm_1_equals_the_values_it_did_not_compute(problem):
    found, values = algorithm_1(problem), value_lattice(problem)
    # Bounds that meet within the one tolerance count as met.
    np.testing.assert_allclose(found.evi, values.evi, atol=tolerance(values.emc) + 1e-9, rtol=0)
    assert (found.lower <= found.upper + 1e-9).all()
    assert found.n_computed + found.n_saved == len(found.lattice)
    assert not found.computed[0]  # the empty set is worth nothing, without computing it


@given(problems(max_features=4, max_states=3))
def test_the_bounds_enclose_the_values_at_every_step(problem):
    exact = value_lattice(problem).evi
    n = 0
    for n, step in enumerate(module._steps(problem, None)):
        assert (step.lower <= exact + 1e-9).all()
        assert (step.upper >= exact - 1e-9).all()
        assert step.n_computed == n
    assert n == algorithm_1(problem).n_computed


def test_algorithm_1_saves_a_set_of_figure_3_by_a_pathway():
    # EVI({X3}) = EVI({X1, X3}), and X1 stands between Y and X2: {X2, X3} is settled.
    problem = load_problem("figure3")
    found = algorithm_1(problem)
    saved = [s for k, s in enumerate(found.lattice) if not found.computed[k]]
    assert saved == [frozenset(), frozenset({"X2", "X3"})]
    assert evi(problem, {"X3"}) == pytest.approx(evi(problem, {"X1", "X3"}), abs=1e-12)


def test_a_useless_feature_costs_algorithm_1_next_to_nothing():
    # X2 is a child of Y whose table does not depend on Y: in the graph, and worth nothing.
    network = Network.from_tables(
        {name: ["T", "F"] for name in ("Y", "X1", "X2", "X3")},
        {"X1": ["Y"], "X2": ["Y"], "X3": ["Y"]},
        {
            "Y": [0.5, 0.5],
            "X1": [[0.9, 0.1], [0.2, 0.8]],
            "X2": [[0.5, 0.5], [0.5, 0.5]],
            "X3": [[0.5, 0.5], [0.5, 0.5]],
        },
    )
    problem = Problem.create(network, "Y", dict.fromkeys(["X1", "X2", "X3"], 1), [[0, 9], [9, 0]])
    found = algorithm_1(problem)
    assert len(found.lattice) == 8
    # {X1} is worth what the core is worth: that settles all sets with X1. {X2, X3} is worth
    # nothing: that settles the others.
    assert found.n_computed == 3
    assert found.n_saved == 5
