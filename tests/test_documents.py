"""JSON documents: the keys that people script against, and what they hold."""

import json
import subprocess
import sys

import numpy as np
import pytest
from helpers.problems import opener

from voilattice import Lattice, advise, best_set, build_policy, compare, explain, load_problem
from voilattice import value as value_of
from voilattice.documents import Document, key
from voilattice.documents.consultations import Advice
from voilattice.documents.policies import Policy, comparison_rows
from voilattice.documents.problems import Problem, ProblemEntry
from voilattice.documents.sets import BestSet, Explanation, SetEntry, SetValue
from voilattice.documents.sets import Lattice as LatticeDocument
from voilattice.documents.tables import Evaluation
from voilattice.learning.held_out_results import FoldResults, Result, summarize

ASIA, FIGURE3 = load_problem("asia"), load_problem("figure3")

# The keys that docs and scripts rely on; a document may have more.
WORTH = {"features", "evi", "cost", "benefit"}
CERTIFICATE = {"lower_bound", "exact"}
DOCUMENTS = {
    "value": (
        lambda: SetValue.json_of(value_of(ASIA, ["xray", "dysp"])),
        WORTH | {"emc", "expected_emc"},
    ),
    "best": (
        lambda: BestSet.json_of(best_set(ASIA)),
        WORTH | {"optimal", "bound", "evaluated", "sets"},
    ),
    "lattice": (
        lambda: LatticeDocument.json_of(Lattice(FIGURE3)),
        {"nodes", "subsets", "sets", "edges", "roots", "largest", "markov_blanket"},
    ),
    "advise": (
        lambda: Advice.json_of(advise(ASIA, "greedy-la")),
        {"action", "features", "target_set", "decision", "posterior", "emc", "spent", "benefit"}
        | {"candidates"},
    ),
    "policy": (
        lambda: Policy.json_of(build_policy(FIGURE3, "optimal")),
        {"policy", "expected_total_cost", "expected_feature_cost", "nodes", "paths", "depth"}
        | {"expected_misclassification_cost", "no_acquisition_cost", "savings"}
        | CERTIFICATE,
    ),
    "explain": (
        lambda: Explanation.json_of(explain(FIGURE3, {"X2", "X4"})),
        {"features", "irreducible", "core", "members", "completions"},
    ),
    "show": (
        lambda: Problem.json_of(ASIA),
        {"title", "target", "classes", "features", "costs", "groups", "conditional_costs"}
        | {"discounts"}
        | {"misclassification", "evidence", "emc", "hidden", "states", "prior"},
    ),
    "problems": (
        lambda: ProblemEntry.json_of(ASIA, name="asia"),
        {"name", "title", "target", "features"},
    ),
    "compare": (
        lambda: comparison_rows(compare(FIGURE3, policies=("none",)))[0],
        {"kind", "expected", "policy", "expected_total_cost", "savings"} | CERTIFICATE,
    ),
    "evaluate": (lambda: Evaluation.json_of(evaluated()), {"rows", "folds", "results"}),
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
    assert SetEntry.json_of(worth)["features"] == ["dysp", "smoke", "xray"]
    assert ProblemEntry.json_of(ASIA, name="asia")["features"] == sorted(ASIA.features)


def test_floats_are_not_rounded():
    worth = value_of(ASIA, ["xray", "dysp"])
    document = SetValue.json_of(worth)
    assert (document["evi"], document["emc"]) == (worth.evi, worth.emc)


def test_the_evidence_of_a_problem_is_that_of_the_file_and_what_is_given():
    known = ASIA.with_evidence({"smoke": "yes"}).with_evidence({"dysp": "no"})
    assert Problem.json_of(known)["evidence"] == {"smoke": "yes", "dysp": "no"}


def test_prices_of_ones_own_have_no_list():
    from dataclasses import replace

    class Flat:
        def cost(self, features, evidence):
            return 5.0 * len(features)

    document = Problem.json_of(replace(ASIA, costs=Flat()))
    assert not {"costs", "groups", "conditional_costs", "discounts"} & set(document)


def test_every_kind_of_price_has_its_key():
    from dataclasses import fields

    assert set(ASIA.pricing.documents()) <= {field.name for field in fields(Problem)}


def test_discounts_are_listed_with_what_they_take_off():
    document = Problem.json_of(opener())
    assert document["discounts"] == [{"name": "visit", "off": {"X": 28.0, "A": 1.0}}]
    assert document["groups"] == []


def test_the_sets_of_highest_benefit_stand_in_a_lattice_only_where_they_are_asked_for():
    lattice = Lattice(FIGURE3)
    assert "values" not in LatticeDocument.json_of(lattice)
    top = [value_of(FIGURE3, ["X4", "X3"])]
    assert LatticeDocument.json_of(lattice, values=top)["values"] == [SetEntry.json_of(top[0])]


def test_a_decision_has_no_target_set():
    document = Advice.json_of(advise(ASIA, "none"))
    assert (document["action"], document["features"]) == ("decide", [])
    assert document["target_set"] is None
    assert document["decision"] == "no"


def test_an_evaluation_has_calibrations_and_paired_differences():
    [result] = Evaluation.json_of(evaluated())["results"]
    assert (result["difference"], result["p_value"]) == (0.0, 1.0)
    assert result["calibration"] == [{"predicted": 0.9, "observed": 1.0, "count": 2}]


class Line(Document):
    """A part of a bill."""

    what: str = key("What it is.", lambda pair: pair[0])
    amount: float = key("How much it is.", lambda pair: pair[1])


class Bill(Document):
    """What was bought."""

    names: list[str] = key("What was bought.")
    total: float | None = key("What it cost; null: not known.", "sums.total")
    lines: list[Line] = key("The parts.")
    tip: float | None = key("What was added.", optional=True)


class PaidBill(Bill):
    """A bill that was paid."""

    tip: float | None = key("What was added, as it was paid.", optional=True)
    payer: str = key("Who paid it.")


def bought(total=3.0, **others):
    from types import SimpleNamespace

    sums = SimpleNamespace(total=total)
    return SimpleNamespace(names=frozenset("ba"), sums=sums, lines=(("x", 1.0),), **others)


def test_keys_are_read_from_the_result_and_stand_in_the_order_of_their_declaration():
    document = PaidBill.json_of(bought(tip=0.5), payer="me")
    assert list(document.items()) == [
        ("names", ["a", "b"]), ("total", 3.0), ("lines", [{"what": "x", "amount": 1.0}]),
        ("tip", 0.5), ("payer", "me"),
    ]  # fmt: skip


def test_only_an_optional_key_is_left_out_where_its_value_is_none():
    document = Bill.json_of(bought(total=None))
    assert "tip" not in document
    assert document["total"] is None
    with pytest.raises(AttributeError, match="payer"):
        PaidBill.json_of(bought())


def test_a_key_that_is_not_declared_cannot_be_given():
    with pytest.raises(TypeError, match="Bill has no key rebate"):
        Bill.json_of(bought(), rebate=1.0)


def test_a_declaration_is_a_schema_for_pydantic():
    pydantic = pytest.importorskip("pydantic")
    schema = pydantic.TypeAdapter(PaidBill).json_schema()
    assert (schema["description"], schema["additionalProperties"]) == (PaidBill.__doc__, False)
    assert schema["required"] == ["names", "total", "lines", "payer"]
    described = {name: entry["description"] for name, entry in schema["properties"].items()}
    assert described["tip"] == "What was added, as it was paid."
    assert set(described) == {"names", "total", "lines", "tip", "payer"}


def test_declarations_need_no_package_of_the_server():
    code = "import sys, voilattice.documents.printed; print('pydantic' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert printed.strip() == b"False"
