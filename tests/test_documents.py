"""JSON documents: the keys that people script against, and what they hold."""

import json

import numpy as np
import pytest
from helpers.problems import opener

from voilattice import Lattice, advise, best_set, build_policy, compare, explain, load_problem
from voilattice import value as value_of
from voilattice.documents import (
    advice_document,
    best_document,
    comparison_document,
    evaluation_document,
    explanation_document,
    lattice_document,
    policy_document,
    problem_document,
    problem_entry,
    set_document,
    value_document,
)
from voilattice.learning.held_out_results import FoldResults, Result, summarize

ASIA, FIGURE3 = load_problem("asia"), load_problem("figure3")

# The keys that docs and scripts rely on; a document may have more.
WORTH = {"features", "evi", "cost", "benefit"}
CERTIFICATE = {"lower_bound", "exact"}
DOCUMENTS = {
    "value": (
        lambda: value_document(value_of(ASIA, ["xray", "dysp"])),
        WORTH | {"emc", "expected_emc"},
    ),
    "best": (
        lambda: best_document(best_set(ASIA)),
        WORTH | {"optimal", "bound", "evaluated", "sets"},
    ),
    "lattice": (
        lambda: lattice_document(Lattice(FIGURE3)),
        {"nodes", "subsets", "sets", "edges", "roots", "largest", "markov_blanket"},
    ),
    "advise": (
        lambda: advice_document(advise(ASIA, "greedy-la")),
        {"action", "features", "target_set", "decision", "posterior", "emc", "spent", "benefit"}
        | {"candidates"},
    ),
    "policy": (
        lambda: policy_document(build_policy(FIGURE3, "optimal"), 20.0),
        {"policy", "expected_total_cost", "expected_feature_cost", "nodes", "paths", "depth"}
        | {"expected_misclassification_cost", "no_acquisition_cost", "savings"}
        | CERTIFICATE,
    ),
    "explain": (
        lambda: explanation_document(explain(FIGURE3, {"X2", "X4"})),
        {"features", "irreducible", "core", "members", "completions"},
    ),
    "show": (
        lambda: problem_document(ASIA, {}),
        {"title", "target", "classes", "features", "costs", "groups", "conditional_costs"}
        | {"discounts"}
        | {"misclassification", "evidence", "emc", "hidden", "states", "prior"},
    ),
    "problems": (lambda: problem_entry("asia", ASIA), {"name", "title", "target", "features"}),
    "compare": (
        lambda: comparison_document(compare(FIGURE3, policies=("none",)))[0],
        {"kind", "expected", "policy", "expected_total_cost", "savings"} | CERTIFICATE,
    ),
    "evaluate": (lambda: evaluation_document(evaluated()), {"rows", "folds", "results"}),
}


def evaluated():
    names = np.full(2, "a", dtype=object)
    result = Result("m", names, names, np.ones(2), np.zeros(2), np.full(2, 0.9), np.ones(2), 0.1)
    return summarize([FoldResults("y", np.arange(2), (result,))])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_key_is_missing_and_all_is_json(name):
    make, keys = DOCUMENTS[name]
    document = make()
    assert keys <= set(document)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_features_of_a_set_are_sorted_by_name():
    worth = value_of(ASIA, ["xray", "smoke", "dysp"])
    assert set_document(worth)["features"] == ["dysp", "smoke", "xray"]
    assert problem_entry("asia", ASIA)["features"] == sorted(ASIA.features)


def test_floats_are_not_rounded():
    worth = value_of(ASIA, ["xray", "dysp"])
    document = value_document(worth)
    assert (document["evi"], document["emc"]) == (worth.evi, worth.emc)


def test_the_evidence_of_a_problem_is_that_of_the_file_and_what_is_given():
    known = ASIA.with_evidence({"smoke": "yes"})
    assert problem_document(known, {"dysp": "no"})["evidence"] == {"smoke": "yes", "dysp": "no"}


def test_prices_of_ones_own_have_no_list():
    from dataclasses import replace

    class Flat:
        def cost(self, features, evidence):
            return 5.0 * len(features)

    document = problem_document(replace(ASIA, costs=Flat()), {})
    assert not {"costs", "groups", "conditional_costs", "discounts"} & set(document)


def test_discounts_are_listed_with_what_they_take_off():
    document = problem_document(opener(), {})
    assert document["discounts"] == [{"name": "visit", "off": {"X": 28.0, "A": 1.0}}]
    assert document["groups"] == []


def test_the_sets_of_highest_benefit_stand_in_a_lattice_only_where_they_are_asked_for():
    lattice = Lattice(FIGURE3)
    assert "values" not in lattice_document(lattice)
    top = [value_of(FIGURE3, ["X4", "X3"])]
    assert lattice_document(lattice, top)["values"] == [set_document(top[0])]


def test_a_decision_has_no_target_set():
    document = advice_document(advise(ASIA, "none"))
    assert (document["action"], document["features"]) == ("decide", [])
    assert document["target_set"] is None
    assert document["decision"] == "no"


def test_an_evaluation_has_calibrations_and_paired_differences():
    [result] = evaluation_document(evaluated())["results"]
    assert (result["difference"], result["p_value"]) == (0.0, 1.0)
    assert result["calibration"] == [{"predicted": 0.9, "observed": 1.0, "count": 2}]
