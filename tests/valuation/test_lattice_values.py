import numpy as np
import pytest
from helpers.problems import structured
from helpers.strategies import draw_evidence, problems
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Lattice, Problem, cost, emc, evi, load_problem
from voilattice.errors import InputError
from voilattice.valuation.lattice_values import value_lattice


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
        with pytest.raises(InputError, match="another problem or to other evidence"):
            value_lattice(asia, evidence, lattice=other)
