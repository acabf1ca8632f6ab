"""What a worker does: the documents of the command line."""

import json
import re

import pytest
from helpers.serving import waited_for
from helpers.solving import POLICIES


@pytest.mark.parametrize("policy", POLICIES)
def test_advice_is_what_the_command_line_says(api, run, policy):
    answer = api.post("/api/advise", json={
        "problem": "asia", "policy": policy, "evidence": {"smoke": "yes"},
    })  # fmt: skip
    printed = run("advise", "asia", "--policy", policy, "--evidence", "smoke=yes", "--json")[1]
    assert answer.json() == json.loads(printed)


def test_value_best_and_lattice_are_what_the_command_line_says(api, run):
    asked = {"problem": "figure3", "stakes": {"kind": "asymmetric", "expected": 70}}
    options = ("--kind", "asymmetric", "--expected", "70", "--json")
    value = api.post("/api/value", json={**asked, "features": ["X3", "X1"]}).json()
    assert value == json.loads(run("value", "figure3", "--features", "X1,X3", *options)[1])
    best = api.post("/api/best", json=asked).json()
    assert best == json.loads(run("best", "figure3", *options)[1])
    lattice = api.post("/api/lattice", json=asked).json()
    printed = json.loads(run("lattice", "figure3", "--values", *options)[1])
    svg = lattice.pop("svg")
    assert lattice == printed
    assert "EVI" in svg
    assert len(re.findall(r'<g class="node[^"]* best"', svg)) == 1


def test_a_policy_is_built_in_the_background(api, run):
    begun = api.post("/api/policy", json={"problem": "heart", "policy": "optimal"})
    assert begun.status_code == 202
    found = waited_for(api, begun.json())
    result = found["result"]
    assert "<details" in result.pop("tree")
    assert result == json.loads(run("policy", "heart", "--policy", "optimal", "--json")[1])


def test_a_comparison_is_built_in_the_background(api, run):
    begun = api.post("/api/compare", json={"problem": "asia", "points": [0, 50, 100]}).json()
    result = waited_for(api, begun)["result"]
    assert result["rows"] == json.loads(run("compare", "asia", "--emc", "0:100:50", "--json")[1])
    assert result["svg"].startswith("<svg")


def test_features_that_are_not_available(api):
    asked = {"problem": "heart", "policy": "greedy-la", "unavailable": ["cp", "thal"]}
    offered = {f for c in api.post("/api/advise", json=asked).json()["candidates"]
               for f in c["features"]}  # fmt: skip
    assert offered
    assert not offered & {"cp", "thal"}
