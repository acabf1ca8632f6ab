"""Problem files with comments, to go on with."""

import re
import tomllib
from dataclasses import replace

import pytest
from helpers.strategies import problems
from helpers.worlds import examples
from hypothesis import assume, given

from voilattice import FeatureCosts, Network, Problem, load_problem
from voilattice.files.drafts import draft_problem


def car(**changes) -> Problem:
    network = Network.from_tables(
        {"fault": ["battery", "none"], "front lights": ["dim", "bright"], "horn": ["on", "off"]},
        {"front lights": ["fault"], "horn": ["fault", "front lights"]},
        {
            "fault": [0.3, 0.7],
            "front lights": [[0.9, 0.1], [0.05, 0.95]],
            "horn": [[[0.1, 0.9], [0.2, 0.8]], [[0.9, 0.1], [1.0, 0.0]]],
        },
    )
    costs = {"front lights": 5, "horn": 1.5}
    return Problem.create(network, "fault", costs, [[0, 90], [200, 0]], **changes)


def test_a_draft_loads_as_the_same_problem(tmp_path):
    path = tmp_path / "car.toml"
    path.write_text(draft_problem(car(title='A "car"', currency="CAD")))
    assert load_problem(path) == car(title='A "car"', currency="CAD")


def test_a_scaled_kind_stays_one(tmp_path):
    problem = car().with_expected("asymmetric", 120.5)
    path = tmp_path / "car.toml"
    path.write_text(draft_problem(problem, ("asymmetric", 120.5)))
    assert tomllib.loads(path.read_text())["misclassification"] == {
        "kind": "asymmetric",
        "expected": 120.5,
    }
    assert load_problem(path) == problem


@examples(40)
@given(problem=problems())
def test_any_problem_with_plain_prices_can_be_drafted(tmp_path_factory, problem):
    assume(problem.features)
    plain = replace(problem, costs=FeatureCosts(problem.costs.prices), evidence={})
    path = tmp_path_factory.mktemp("p") / "p.toml"
    path.write_text(draft_problem(plain))
    assert load_problem(path) == plain


def examples(text: str) -> list[str]:
    """Return what stands behind signs of comments, example by example."""
    more = text[text.index("# What else") :]
    found = (re.findall(r"^#([^ \n].*)$", block, re.M) for block in more.split("\n\n"))
    return ["".join(f"{line}\n" for line in lines) for lines in found if lines]


@pytest.mark.parametrize(
    "table",
    [
        "labels", "evidence", "groups", "discounts", "conditional_costs", "constraints", "limits",
        "rounds",
    ],
)  # fmt: skip
def test_an_example_can_be_used_as_it_stands(tmp_path, table):
    text = draft_problem(car())
    (example,) = (block for block in examples(text) if table in tomllib.loads(block))
    path = tmp_path / "car.toml"
    path.write_text(text + example)
    assert load_problem(path) != car()


def test_the_draft_explains_its_tables_and_shows_what_else_is_possible():
    text = draft_problem(car())
    assert max(map(len, text.splitlines())) <= 90
    shown = {key for block in examples(text) for key in tomllib.loads(block)}
    assert shown == {
        "labels", "state_labels", "evidence", "groups", "discounts", "conditional_costs",
        "constraints", "limits", "rounds",
    }  # fmt: skip
    assert '#currency = "CAD"' in text
    assert "    [0.2, 0.8],  # fault = battery, front lights = bright\n" in text


def test_with_four_features_all_examples_can_be_used_at_once(tmp_path):
    names = ["front lights", "horn", "fuel", "smell"]
    network = Network.from_tables(
        {"fault": ["battery", "none"]} | {name: ["on", "off"] for name in names},
        {name: ["fault"] for name in names},
        {"fault": [0.3, 0.7]} | {name: [[0.9, 0.1], [0.2, 0.8]] for name in names},
    )
    problem = Problem.create(network, "fault", dict.fromkeys(names, 4.0), [[0, 90], [200, 0]])
    text = draft_problem(problem)
    path = tmp_path / "car.toml"
    path.write_text(text + "".join(examples(text)))
    costs = load_problem(path).costs
    assert costs.groups[0].features == ("front lights", "horn")
    assert costs.discounts[0].features == ("fuel", "smell")
    assert "# A feature may be in a group or in a discount, not in both.\n" in text


def test_one_feature_has_no_examples_with_two():
    problem = car().without(["horn"])
    shown = {key for block in examples(draft_problem(problem)) for key in tomllib.loads(block)}
    assert shown.isdisjoint({"conditional_costs", "constraints"})
    assert {"groups", "limits"} <= shown
