import numpy as np
import pytest
from helpers.problems import structured
from helpers.strategies import draw_evidence, problems
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Lattice, Network, Problem, cost, emc, evi, load_problem
from voilattice.errors import InputError
from voilattice.ties import tolerance
from voilattice.valuation import lattice_values
from voilattice.valuation.lattice_values import algorithm_1, value_lattice


@pytest.mark.parametrize("engine", ["python", "compiled"])
@given(problem=problems(max_features=5, max_states=4), seed=st.integers(0, 2**32 - 1))
def test_values_of_the_lattice_equal_the_reference(engine, problem, seed):
    free = [f for f in problem.features if f not in problem.evidence]
    evidence = {}
    if not problem.evidence:
        evidence = draw_evidence(problem.network, free, np.random.default_rng(seed))
    values = value_lattice(problem, evidence, engine=engine)
    assert values.emc == pytest.approx(emc(problem, evidence), abs=1e-9)
    for k, s in enumerate(values.lattice):
        assert values.evi[k] == pytest.approx(evi(problem, s, evidence), abs=1e-9)
        assert values.cost[k] == pytest.approx(cost(problem, s, evidence), abs=1e-9)
    benefits = [entry.benefit for entry in values.top(4)]
    assert benefits == pytest.approx(sorted(values.benefit, reverse=True)[:4], abs=1e-8)


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
    for n, step in enumerate(lattice_values._steps(problem, None)):
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


def test_a_users_costs_are_asked_for_each_set():
    class Squared:
        def cost(self, features, evidence):
            return float(len(features) ** 2)

    problem = structured({"A": ["Y"], "B": ["Y"]})
    mine = Problem.create(problem.network, "Y", Squared(), problem.misclassification)
    assert value_lattice(mine).cost.tolist() == [0, 1, 1, 4]


def test_a_lattice_at_hand_is_used():
    problem = load_problem("asia")
    v = Lattice(problem, max_size=2)
    assert len(value_lattice(problem, lattice=v).evi) == len(v)


def test_a_lattice_of_something_else_is_refused():
    asia = load_problem("asia")
    for other, evidence in (
        (Lattice(load_problem("figure3")), {}),
        (Lattice(asia, ["smoke"]), {}),
        (Lattice(asia), {"smoke": "yes"}),
    ):
        with pytest.raises(InputError, match="another problem, or of other evidence"):
            value_lattice(asia, evidence, lattice=other)
