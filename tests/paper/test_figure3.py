"""Figure 3 and the worked examples of Sections 3.1 to 3.3."""

from itertools import pairwise

import pytest

from voilattice import evi, load_problem
from voilattice.lattice.constraints import (
    dependency_constraint,
    is_potentially_irreducible,
    perfect_ordering,
)
from voilattice.lattice.lattice import Lattice

PROBLEM = load_problem("figure3")


@pytest.mark.parametrize("engine", ["python", "compiled"])
def test_figure_3b(engine):
    v = Lattice(PROBLEM, engine=engine)
    assert ["".join(sorted(s)) for s in v] == (
        ["", "X1", "X2", "X3", "X1X3", "X2X3", "X3X4", "X1X3X4", "X2X3X4"]
    )
    assert v.n_edges == 12
    assert [sorted(s) for s in v.roots] == [["X1", "X3", "X4"], ["X2", "X3", "X4"]]
    assert v.n_subsets == 16
    assert v.acquirable_core == {"X1", "X3", "X4"}


def test_x1_is_worth_more_than_x2():
    # Section 3.2.2: X1 separates Y from X2, an edge that Algorithm 1 can use.
    v = Lattice(PROBLEM)
    assert v.separates({"X1"}, {"X2"})
    assert not v.separates({"X2"}, {"X1"})
    assert evi(PROBLEM, {"X1"}) >= evi(PROBLEM, {"X2"})


def test_constraints_of_section_3_3():
    assert str(dependency_constraint(PROBLEM, "X2")) == "¬X1"
    assert str(dependency_constraint(PROBLEM, "X4")) == "X3"
    assert is_potentially_irreducible(PROBLEM, {"X4"})
    assert is_potentially_irreducible(PROBLEM, {"X2", "X4"})
    assert not is_potentially_irreducible(PROBLEM, {"X1", "X2"})


def test_x3_comes_before_x4_in_a_perfect_ordering():
    order = perfect_ordering(PROBLEM).features
    assert order.index("X3") < order.index("X4")


def test_every_arc_of_the_built_in_problem_matters():
    sets = [{"X3"}, {"X3", "X4"}, {"X2", "X3", "X4"}, {"X1", "X3", "X4"}]
    for smaller, larger in pairwise(sets):
        assert evi(PROBLEM, larger) > evi(PROBLEM, smaller) + 0.1
    assert evi(PROBLEM, {"X1"}) > evi(PROBLEM, {"X2"}) + 0.1
