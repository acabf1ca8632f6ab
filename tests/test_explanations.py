import pytest
from brute_force import BruteForce
from hypothesis import given
from strategies import problems
from test_lattice import structured

from voilattice import load_problem
from voilattice.explanations import explain

graphs = problems(min_features=2, max_features=5, max_hidden=2, max_states=2)


@given(graphs)
def test_explanations_are_true(problem):
    brute = BruteForce(problem)
    nodes = brute.irreducible_sets()
    for s in brute.subsets():
        found = explain(problem, s)
        assert found.irreducible == (s in nodes)
        assert found.core == brute.cores(s)[0]
        for member in found.members:
            assert member.depends == brute.depends(member.feature, s - {member.feature})
            assert member.constraint(s - {member.feature}) == member.depends
        larger = [t for t in nodes if s < t]
        if s in nodes or not larger:
            assert not found.completions
        else:
            least = min(map(len, larger))
            assert {s | added for added in found.completions} == (
                {t for t in larger if len(t) == least}
            )


@pytest.mark.parametrize(
    ("features", "evidence", "sentences"),
    [
        ({"X1"}, (), ["{X1} is irreducible: it is a node of the lattice.", "- X1 depends on Y."]),
        (
            {"X1", "X2"},
            (),
            [
                "{X1, X2} is not irreducible: it is not in the lattice.",
                "- X2 adds nothing about Y once X1 is known.",
                "Its core is {X1}: worth exactly as much, and never dearer.",
                "No further feature would make it irreducible.",
            ],
        ),
        (
            {"X4"},
            (),
            [
                "- X4 says nothing about Y unless X3 is known too.",
                "It becomes irreducible by adding X3.",
            ],
        ),
        ({"X3", "X4"}, (), ["- X4 depends on Y because X3 is known too."]),
        ({"X4"}, ["X3"], ["{X4} is irreducible given X3: it is a node of the lattice."]),
    ],
)
def test_the_sentences_for_figure_3(features, evidence, sentences):
    text = str(explain(load_problem("figure3"), features, evidence))
    for sentence in sentences:
        assert sentence in text.split("\n")


def test_a_feature_without_bearing_is_said_so():
    problem = structured({"A": ["Y"], "Z": []})
    assert "- Z has no bearing on Y at all." in str(explain(problem, {"Z"}))
