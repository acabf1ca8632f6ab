import itertools

import networkx
import pytest
from helpers.brute_force import BruteForce, directed_graph
from helpers.strategies import DATA, needs_data, problems
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Network, Problem, load_problem, read_network
from voilattice.errors import InputError
from voilattice.lattice.independence import (
    acquirable_core,
    boundary,
    core,
    is_irreducible,
    is_separated,
    markov_blanket,
    relevant_features,
)

graphs = problems(min_features=2, max_features=6, max_hidden=2, max_states=2)


@pytest.mark.slow
@given(graphs)
def test_the_boundary_is_what_depends_given_the_rest(problem):
    brute = BruteForce(problem)
    for s in brute.subsets():
        expected = {
            x
            for x in s | brute.known
            if not networkx.is_d_separator(
                brute.graph, {x}, {problem.target}, (s | brute.known) - {x}
            )
        }
        assert boundary(problem, s) == expected
        assert is_irreducible(problem, s) == brute.is_irreducible(s)


@pytest.mark.slow
@given(graphs)
def test_the_core_is_the_one_irreducible_subset_that_separates(problem):
    brute = BruteForce(problem)
    for s in brute.subsets():
        assert [core(problem, s)] == brute.cores(s)
    assert [acquirable_core(problem)] == brute.cores(brute.free)


@given(graphs)
def test_relevant_features_are_those_of_irreducible_sets(problem):
    brute = BruteForce(problem)
    assert relevant_features(problem) == frozenset().union(*brute.irreducible_sets())


@pytest.mark.slow
@given(graphs, st.data())
def test_separation_is_d_separation(problem, data):
    names = problem.network.names
    roles = data.draw(st.lists(st.sampled_from("abz."), min_size=len(names), max_size=len(names)))
    a, b, z = ({n for n, role in zip(names, roles, strict=True) if role == r} for r in "abz")
    expected = not a or not b or networkx.is_d_separator(directed_graph(problem), a, b, z)
    assert is_separated(problem.network, a, b, z) == expected


@given(graphs)
def test_the_blanket_separates_and_nothing_less_does(problem):
    graph, y = directed_graph(problem), problem.target
    blanket = markov_blanket(problem)
    rest = set(graph) - blanket - {y}
    assert not rest or networkx.is_d_separator(graph, {y}, rest, set(blanket))
    for x in blanket:
        assert not networkx.is_d_separator(graph, {y}, {x}, set(blanket) - {x})


def test_a_node_is_never_separated_from_itself():
    network = load_problem("asia").network
    assert not is_separated(network, {"lung"}, {"lung", "xray"}, ())
    assert is_separated(network, {"lung"}, {"lung"}, {"lung"})


def test_evidence_may_be_names_or_a_mapping():
    problem = load_problem("figure3")
    assert is_irreducible(problem, {"X4"}, ["X3"])
    assert is_irreducible(problem, {"X4"}, {"X3": "T"})
    assert not is_irreducible(problem, {"X4"})
    with pytest.raises(InputError, match="X3: known already"):
        is_irreducible(problem, {"X3"}, ["X3"])


def test_the_blanket_equals_the_core_when_it_can_be_acquired():
    problem = load_problem("figure3")
    assert markov_blanket(problem) == acquirable_core(problem) == {"X1", "X3", "X4"}
    asia = load_problem("asia")
    assert "either" in markov_blanket(asia)  # hidden: its place is taken by what it connects
    assert acquirable_core(asia) == {"smoke", "dysp", "xray", "bronc", "tub"}


@needs_data
def test_more_than_64_nodes_work():
    network = read_network(DATA / "networks" / "hepar2.bif")
    features = [name for name in network.names if name != "Cirrhosis"]
    problem = Problem.create(
        network, "Cirrhosis", dict.fromkeys(features, 1.0), ("symmetric", 1), features=features
    )
    assert len(features) > 64
    assert acquirable_core(problem) == markov_blanket(problem)
    brute = BruteForce(problem)
    for s in itertools.combinations(features[60:], 2):
        assert is_irreducible(problem, s) == brute.is_irreducible(s)


def test_hidden_nodes_are_flooded_and_never_in_the_boundary():
    # Y <- H -> X: H hidden, so X is all there is.
    network = Network.from_tables(
        {name: ["T", "F"] for name in "HYX"},
        {"Y": ["H"], "X": ["H"]},
        {"H": [0.5, 0.5], "Y": [[0.9, 0.1], [0.1, 0.9]], "X": [[0.9, 0.1], [0.1, 0.9]]},
    )
    problem = Problem.create(network, "Y", {"X": 1}, ("symmetric", 1), features=["X"])
    assert boundary(problem, {"X"}) == {"X"}
    assert markov_blanket(problem) == {"H"}
