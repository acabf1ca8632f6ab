import itertools

import pytest
from helpers.brute_force import BruteForce
from helpers.problems import structured
from helpers.strategies import problems
from hypothesis import assume, given

from voilattice import load_problem
from voilattice.errors import TooLargeError
from voilattice.lattice import constraints
from voilattice.lattice.constraints import (
    dependency_constraint,
    is_potentially_irreducible,
    perfect_ordering,
)
from voilattice.lattice.independence import graph_of
from voilattice.lattice.lattice import Lattice

graphs = problems(min_features=2, max_features=5, max_hidden=2, max_states=2)


@pytest.mark.slow
@given(graphs)
def test_a_constraint_holds_exactly_where_the_feature_depends(problem):
    brute = BruteForce(problem)
    for x in brute.free:
        constraint = dependency_constraint(problem, x)
        for z in brute.subsets([f for f in brute.free if f != x]):
            assert constraint(z) == brute.depends(x, z)
        assert constraint.positivity == brute.positivity(x)


@given(graphs)
def test_no_term_and_no_literal_of_a_constraint_can_be_left_out(problem):
    brute = BruteForce(problem)
    for x in brute.free:
        constraint = dependency_constraint(problem, x)
        others = brute.subsets([f for f in brute.free if f != x])
        meaning = [constraint(z) for z in others]
        for i, (needed, unknown) in enumerate(constraint.terms):
            rest = constraint.terms[:i] + constraint.terms[i + 1 :]
            shorter = [(needed - {f}, unknown - {f}) for f in needed | unknown]
            for terms in (rest, *((*rest, term) for term in shorter)):
                assert [constraints.Constraint(tuple(terms))(z) for z in others] != meaning


@pytest.mark.slow
@given(graphs)
def test_potential_irreducibility_is_definition_4(problem):
    brute = BruteForce(problem)
    nodes = brute.irreducible_sets()
    for s in brute.subsets():
        expected = s not in nodes and any(s < t for t in nodes)
        assert is_potentially_irreducible(problem, s) == expected


@given(graphs)
def test_extension_by_undecided_features_exact(problem):
    brute, graph = BruteForce(problem), graph_of(problem)
    nodes = brute.irreducible_sets()
    mask = problem.feature_mask
    for s in brute.subsets():
        for undecided in brute.subsets([f for f in brute.free if f not in s]):
            expected = any(s <= t <= s | undecided for t in nodes)
            found = graph.is_extendable(mask(s), mask(problem.evidence), mask(undecided))
            assert found == expected


def is_perfect(order, positivity):
    return all(order.index(y) < place for place, x in enumerate(order) for y in positivity[x])


@pytest.mark.slow
@given(graphs)
def test_perfect_orderings_are_found_whenever_there_is_one(problem):
    brute = BruteForce(problem)
    positivity = {x: brute.positivity(x) for x in brute.free}
    ordering = perfect_ordering(problem)
    exists = any(is_perfect(order, positivity) for order in itertools.permutations(brute.free))
    if exists:
        assert sorted(ordering.features) == sorted(brute.free)
        assert is_perfect(ordering.features, positivity)
        assert ordering.conflict is None
    else:
        assert ordering.features is None
        waits = ordering.conflict
        for first, second in zip(waits, (*waits[1:], waits[0]), strict=True):
            assert first in positivity[second]


@given(graphs)
def test_in_a_perfect_ordering_algorithm_3_meets_no_potentially_irreducible_set(problem):
    order = perfect_ordering(problem).features
    assume(order is not None)
    graph, e = graph_of(problem), problem.feature_mask(problem.evidence)
    found = [0]
    for place, x in enumerate(order):
        later = problem.feature_mask(order[place + 1 :])
        for s in [s | problem.feature_mask([x]) for s in found]:
            if graph.is_irreducible(s, e):
                found.append(s)
            else:
                assert not graph.is_extendable(s, e, later)
    assert {problem.feature_names(s) for s in found} == set(Lattice(problem))


def test_two_v_structures_in_a_loop_forbid_a_perfect_ordering():
    # Y -> M -> A <- U -> B <- N <- Y: with M and N known, A and B wait for each other.
    problem = structured({"M": ["Y"], "N": ["Y"], "A": ["M", "U"], "B": ["N", "U"]})
    assert str(dependency_constraint(problem, "A")) == "¬M ∨ (¬N ∧ ¬U ∧ B)"
    assert perfect_ordering(problem) == constraints.Ordering(None, ("A", "B"))


@pytest.mark.parametrize(
    ("parents", "feature", "text"),
    [
        ({"X": ["Y"]}, "X", "always"),
        ({"X": [], "Y": []}, "X", "never"),
        ({"A": ["Y"], "X": ["A"]}, "X", "¬A"),
        ({"A": ["Y", "X"]}, "X", "A"),
        ({"A": ["Y", "X"], "B": ["A"]}, "X", "A ∨ B"),
        ({"A": ["Y"], "B": ["Y"], "X": ["A", "B"]}, "X", "¬A ∨ ¬B"),
        ({"A": ["Y", "P"], "X": ["P"]}, "X", "¬P ∧ A"),
        ({"A": ["Y", "X"], "B": ["Y"], "C": ["B", "X"]}, "X", "A ∨ (¬B ∧ C)"),
    ],
)
def test_constraints_are_printed_simply(parents, feature, text):
    problem = structured(parents | {"Y": parents.get("Y", [])})
    assert str(dependency_constraint(problem, feature)) == text


def test_a_feature_that_is_known_leaves_the_formula():
    problem = load_problem("figure3")
    assert str(dependency_constraint(problem, "X4", ["X3"])) == "always"
    assert str(dependency_constraint(problem, "X2", ["X1"])) == "never"


def test_a_ladder_with_exponentially_many_paths_is_no_trouble():
    # Y -> {A0, B0} -> {A1, B1} -> ... : 2^30 paths, all through the same two rungs.
    parents = {"A00": ["Y"], "B00": ["Y"]}
    for k in range(1, 30):
        parents |= {f"{side}{k:02d}": [f"A{k - 1:02d}", f"B{k - 1:02d}"] for side in "AB"}
    parents["X"] = ["A29", "B29"]
    hidden_between = structured(parents, features=["A00", "B00", "X"])
    assert str(dependency_constraint(hidden_between, "X")) == "¬A00 ∨ ¬B00"


def test_a_formula_that_nobody_could_read_is_refused():
    problem = structured({f"A{k}": ["Y", "X"] for k in range(5)})
    with pytest.raises(TooLargeError, match="constraint of 'X': more than 3 alternatives: choose"):
        dependency_constraint(problem, "X", max_terms=3)
