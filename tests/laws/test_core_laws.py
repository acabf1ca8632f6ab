"""What a core is worth, and what Proposition 1 says when it is read literally."""

import itertools

import pytest
from helpers.strategies import problems
from hypothesis import given

from voilattice import Network, Problem, evi
from voilattice.lattice.independence import acquirable_core, core, is_irreducible
from voilattice.lattice.lattice import Lattice


@pytest.mark.slow
@given(problems(max_features=5))
def test_a_set_is_worth_as_much_as_its_core(problem):
    free = [f for f in problem.features if f not in problem.evidence]
    for size in range(len(free) + 1):
        for s in itertools.combinations(free, size):
            assert evi(problem, s) == pytest.approx(evi(problem, core(problem, s)), abs=1e-9)


@given(problems(max_features=4))
def test_no_set_is_worth_more_than_the_acquirable_core(problem):
    most = evi(problem, acquirable_core(problem))
    assert all(evi(problem, s) <= most + 1e-9 for s in Lattice(problem))


@given(problems(max_features=4))
def test_a_set_that_separates_is_worth_no_less(problem):
    v = Lattice(problem)
    worth = {s: evi(problem, s) for s in v}
    for s, t in itertools.permutations(v, 2):
        if v.separates(s, t):
            assert worth[s] >= worth[t] - 1e-9  # Proposition 2


def test_proposition_1_is_false_when_read_literally():
    # Y -> X1 -> X2. {X2} is irreducible, and no larger irreducible subset of {X1, X2} contains it,
    # yet it is worth less than {X1, X2}: X1 says more about Y than its noisy copy.
    network = Network.from_tables(
        {name: ["T", "F"] for name in ("Y", "X1", "X2")},
        {"X1": ["Y"], "X2": ["X1"]},
        {"Y": [0.5, 0.5], "X1": [[0.9, 0.1], [0.1, 0.9]], "X2": [[0.8, 0.2], [0.2, 0.8]]},
    )
    problem = Problem.create(network, "Y", {"X1": 1, "X2": 1}, [[0, 100], [100, 0]])
    assert is_irreducible(problem, {"X2"})
    assert not is_irreducible(problem, {"X1", "X2"})
    assert evi(problem, {"X2"}) < evi(problem, {"X1", "X2"}) - 1
    assert core(problem, {"X1", "X2"}) == {"X1"}
    assert evi(problem, {"X1"}) == pytest.approx(evi(problem, {"X1", "X2"}), abs=1e-12)
