from dataclasses import replace

import pytest
from helpers.brute_force import BruteForce
from helpers.problems import structured
from helpers.strategies import DATA, needs_data, problems
from helpers.ward import ward
from hypothesis import given

from voilattice import Constraint, Problem, load_problem, read_network
from voilattice.lattice.explanations import explain

graphs = problems(min_features=2, max_features=5, max_hidden=2, max_states=2)


@given(graphs)
def test_explanations_are_true(problem):
    brute = BruteForce(problem)
    nodes = brute.irreducible_sets()
    for s in brute.subsets():
        found = explain(problem, s)
        assert found.irreducible == (s in nodes)
        assert found.core == brute.cores(s)[0]
        larger = [t for t in nodes if s < t]
        if s in nodes or not larger:
            assert not found.completions
        else:
            least = min(map(len, larger))
            assert {s | added for added in found.completions} == (
                {t for t in larger if len(t) == least}
            )


@pytest.mark.slow
@given(graphs)
def test_the_reasons_are_true(problem):
    brute = BruteForce(problem)
    nodes = brute.irreducible_sets()
    for s in brute.subsets():
        for member in explain(problem, s).members:
            x, named = member.feature, member.named
            others = s - {x}
            further = brute.subsets(set(brute.free) - s)

            def depends(*parts, x=x):
                return brute.depends(x, frozenset().union(*parts))

            assert member.depends == depends(others)
            assert member.constraint(others) == member.depends
            match member.why:
                case "alone":
                    assert depends()
                case "through":
                    assert not depends()
                    assert depends(named)
                    assert named <= others
                case "screened":
                    assert depends()
                    assert not depends(named)
                    assert named <= others
                case "one":
                    assert not depends()
                    assert named == {h for h in set(brute.free) - s if depends(others, {h})}
                    assert named
                case "all":
                    assert depends(others, named)
                    assert len(named) > 1
                    assert not named & s
                    assert not any(depends(others, {h}) for h in set(brute.free) - s)
                case "blocked":
                    assert others
                    assert not any(depends(others, f) for f in further)
                    assert any(x in t for t in nodes)
                case "never":
                    assert not any(x in t for t in nodes)


def collider_chain(n, extra=0):
    """Y -> C0 <- H0 -> C1 <- H1 -> ..., the H hidden, and children of Y beside it."""
    parents = {"C0": ["Y", "H0"]}
    for k in range(1, n):
        parents[f"C{k}"] = [f"H{k - 1}", f"H{k}"]
    parents |= {f"E{k}": ["Y"] for k in range(extra)}
    features = [f"C{k}" for k in range(n)] + [f"E{k}" for k in range(extra)]
    return structured(parents, features=features)


@pytest.mark.parametrize(("n", "extra"), [(3, 0), (6, 0), (6, 60)])
def test_a_feature_behind_many_colliders_names_them_all(n, extra):
    last = f"C{n - 1}"
    found = explain(collider_chain(n, extra), {last})
    needed = frozenset(f"C{k}" for k in range(n - 1))
    assert found.completions == (needed,)
    assert found.members[0].why == "all"
    assert found.members[0].named == needed
    assert "No further feature" not in str(found)
    assert str(found).split("\n")[2] == "It says nothing about Y: its core is empty."


@needs_data
def test_an_explanation_on_a_large_network_shows_no_endless_formula():
    network = read_network(DATA / "networks" / "hepar2.bif")
    features = [name for name in network.names if name != "carcinoma"]
    prices = dict.fromkeys(features, 1.0)
    problem = Problem.create(network, "carcinoma", prices, ("symmetric", 1), features=features)
    found = explain(problem, {"alcohol", "jaundice"})
    assert all(m.constraint is None or len(m.constraint.terms) <= 40 for m in found.members)
    assert len(str(found)) < 2000


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
                "Its core is {X1}: worth as much.",
                "No further feature would make it irreducible.",
            ],
        ),
        (
            {"X4"},
            (),
            [
                "- X4 says nothing about Y here; it would once X3 is known too.",
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
    assert "- Z says nothing about Y, whatever else is known." in str(explain(problem, {"Z"}))


def test_what_makes_a_set_feasible_is_said():
    problem = ward()
    declined = explain(problem, {"biopsy"}, {"consent": "declined"})
    assert not declined.feasible
    assert str(declined).endswith(
        "It cannot be acquired as it is.\n"
        "- biopsy comes after X-ray: acquire X-ray before or with it.\n"
        "- biopsy can be acquired only if consent = given, and it is declined."
    )
    given = explain(problem, {"biopsy"}, {"consent": "given"})
    assert str(given).endswith("It becomes feasible by adding X-ray.")
    both = explain(problem, {"biopsy", "xray"}, {"consent": "given"})
    assert both.feasible
    assert str(both).endswith("It can be acquired as it is.")


def test_what_must_come_before_has_its_own_conditions():
    problem = ward()
    rule = Constraint("xray", only_if={"age": "old"})
    found = explain(replace(problem, constraints=(*problem.constraints, rule)), {"biopsy"})
    assert found.closure == {"biopsy", "xray"}
    assert "X-ray can be acquired only if age = old: acquire age first." in found.obstacles
    assert "becomes feasible" not in str(found)


def test_names_alone_do_not_tell_whether_a_set_is_feasible():
    found = explain(ward(), {"biopsy"}, ["consent"])
    assert found.feasible is None
    assert str(found).endswith("to see whether it can be acquired as it is.")
    assert "acquired" not in str(explain(load_problem("figure3"), {"X1"}))
