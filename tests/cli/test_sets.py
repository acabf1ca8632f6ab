"""The commands about sets of features: value, lattice, best, explain."""

import json
import re

import pytest
from helpers.ward import WARD


@pytest.mark.parametrize(
    ("features", "evi", "cost", "benefit"),
    [("X1,X2", 5.4, 15, -9.6), ("X1", 1.2, 5, -3.8), ("X2", 0, 10, -10)],
)
def test_value_of_figure_1_as_json(run, features, evi, cost, benefit):
    status, out, err = run("value", "figure1", "--features", features, "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["features"] == sorted(features.split(","))
    expected = {"emc": 17.6, "expected_emc": 17.6 - evi, "evi": evi, "cost": cost}
    for key, number in (expected | {"benefit": benefit}).items():
        assert document[key] == pytest.approx(number, abs=1e-9)


def test_value_for_people(run):
    status, out, _ = run("value", "figure1", "--features", "X1")
    assert status == 0
    assert "EVI" in out
    assert "it does not pay." in " ".join(out.split())


def test_the_lattice_of_figure_3_as_json(run):
    status, out, err = run("lattice", "figure3", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["nodes"] == 9
    assert document["subsets"] == 16
    assert document["sets"][0] == []
    assert document["sets"][-1] == ["X2", "X3", "X4"]
    assert document["edges"] == 12
    assert document["roots"] == [["X1", "X3", "X4"], ["X2", "X3", "X4"]]
    assert document["largest"] == 3
    assert document["markov_blanket"] == ["X1", "X3", "X4"]


def test_the_lattice_for_people(run):
    out = run("lattice", "figure3", "--evidence", "X3=T")[1]
    assert "Known: X3" in out
    assert "irreducible sets" in out
    assert "Acquirable core (the set of highest EVI): X1, X4" in out
    assert "of at most 1 feature" in run("lattice", "figure3", "--max-size", "1")[1]


def test_a_large_lattice_leaves_its_sets_out(run, monkeypatch):
    monkeypatch.setattr("voilattice.documents.sets.MAX_SETS", 8)
    document = json.loads(run("lattice", "figure3", "--json")[1])
    assert "sets" not in document
    assert document["nodes"] == 9


def test_a_lattice_beyond_the_budget_names_the_options(run):
    status, out, err = run("lattice", "figure3", "--max-nodes", "5", "--json")
    assert (status, out) == (2, "")
    assert err == (
        "more than 5 irreducible sets: 4 have up to 1 feature, and at least 2 have 2; keep to "
        "sets of at most 1 (--max-size), raise the budget (--max-nodes), choose fewer features, "
        "or give more evidence\n"
    )


def test_no_lattice_of_the_empty_set_alone_is_proposed(run):
    err = run("lattice", "heart", "--max-nodes", "10")[2]
    assert "; raise the budget (--max-nodes), choose" in err
    assert "--max-size" not in err


def test_drawings_are_written_beside_the_statistics(run, tmp_path):
    files = [tmp_path / name for name in ("a.svg", "a.html", "a.graphml")]
    status, out, _ = run(
        *("lattice", "figure3", "--json", "--svg", files[0]),
        *("--html", files[1], "--graphml", files[2]),
    )
    assert status == 0
    assert json.loads(out)["nodes"] == 9
    assert all(file.stat().st_size > 500 for file in files)
    status, out, err = run("lattice", "figure3", "--svg", tmp_path / "none" / "a.svg")
    assert (status, out) == (2, "")
    assert err == f"{tmp_path / 'none' / 'a.svg'}: cannot be written: No such file or directory\n"


def test_explain_in_words_and_as_json(run):
    status, out, _ = run("explain", "figure3", "--features", "X2,X4")
    assert status == 0
    assert "X4 says nothing about Y here; it would once X3 is known too." in out
    assert "¬X1" in out
    document = json.loads(run("explain", "figure3", "--features", "X2,X4", "--json")[1])
    assert document["irreducible"] is False
    assert document["core"] == ["X2"]
    assert document["completions"] == [["X3"]]
    assert [member["constraint"] for member in document["members"]] == ["¬X1", "X3"]
    status, out, err = run("explain", "figure3", "--features", "X2", "--evidence", "X2=T")
    assert (status, out, err) == (2, "", "--features: 'X2' is known already ('T')\n")


def test_the_best_set_as_json_and_for_people(run, monkeypatch):
    document = json.loads(run("best", "asia", "--json")[1])
    assert document["features"] == ["dysp", "smoke", "tub", "xray"]
    assert document["benefit"] == pytest.approx(document["evi"] - document["cost"])
    assert document["optimal"] is True
    assert document["bound"] == document["benefit"]
    assert document["sets"] == 36
    assert document["evaluated"] > 0
    assert "No set of features has a higher benefit." in run("best", "asia")[1]
    monkeypatch.setattr("voilattice.valuation.set_search.WHOLE_CELLS", 4)
    monkeypatch.setattr("voilattice.valuation.set_search.SPLIT_CELLS", 4)
    monkeypatch.setattr("voilattice.valuation.best_set.MAX_COUNTED_FLOODS", 1)
    document = json.loads(run("best", "asia", "--time-limit", "0", "--json")[1])
    assert document["optimal"] is False
    assert document["bound"] > document["benefit"]
    assert document["sets"] is None
    assert "Time is up (--time-limit)" in run("best", "asia", "--time-limit", "0")[1]


def test_the_values_of_a_lattice_as_json(run):
    document = json.loads(run("lattice", "figure3", "--values", "--json")[1])
    assert document["values"][0]["features"] == ["X3", "X4"]
    assert document["values"][0]["benefit"] == pytest.approx(8.9)
    assert len(document["values"]) == 9


def test_the_lattice_is_valued_before_it_is_drawn(run, tmp_path):
    files = tmp_path / "a.svg", tmp_path / "a.html"
    run("lattice", "figure3", "--values", "--svg", files[0], "--html", files[1])
    for file in files:
        drawn = file.read_text()
        assert len(re.findall(r'<g class="node[^"]* best"', drawn)) == 1
        assert "13.90 − 5.00 = 8.90" in drawn
    run("lattice", "figure3", "--svg", files[0])
    assert "8.90" not in files[0].read_text()


@pytest.fixture
def rules(tmp_path):
    """A problem with constraints, limits and rounds, in a file."""
    path = tmp_path / "ward.toml"
    path.write_text(WARD)
    return path


AFTER_XRAY = "biopsy comes after X-ray: acquire X-ray before or with it."
AFTER_CONSENT = "biopsy can be acquired only if consent = given: acquire consent first."


def test_value_says_why_a_set_is_not_feasible(run, rules):
    status, out, _ = run("value", rules, "--features", "biopsy,blood")
    assert status == 0
    assert f"It is not feasible: {AFTER_XRAY} {AFTER_CONSENT}" in " ".join(out.split())
    document = json.loads(run("value", rules, "--features", "biopsy,blood", "--json")[1])
    assert (document["feasible"], document["within_limits"]) == (False, True)
    assert document["obstacles"] == [AFTER_XRAY, AFTER_CONSENT]


def test_value_says_which_limit_a_set_exceeds(run, rules):
    every = "age,xray,blood,consent,biopsy"
    document = json.loads(run("value", rules, "--features", every, "--json")[1])
    assert not document["within_limits"]
    assert document["obstacles"][-1] == "The limits leave 4 features."
    _, out, _ = run("value", rules, "--features", every)
    assert "It is not feasible and beyond the limits: " in " ".join(out.split())


def test_a_feasible_set_has_no_obstacles(run, rules):
    given = ["--evidence", "consent=given"]
    document = json.loads(run("value", rules, "--features", "biopsy,xray", *given, "--json")[1])
    assert document["feasible"]
    assert document["obstacles"] == []
    assert "feasible" not in run("value", rules, "--features", "biopsy,xray", *given)[1]


def test_the_lattice_says_which_sets_are_feasible(run, rules):
    document = json.loads(run("lattice", rules, "--json")[1])
    feasible = dict(zip(map(tuple, document["sets"]), document["feasible"], strict=True))
    assert feasible[("xray",)]
    assert not feasible[("biopsy", "xray")]
    assert document["feasible_nodes"] == sum(feasible.values()) == 8
    given = ["--evidence", "consent=given", "--evidence", "age=young"]
    document = json.loads(run("lattice", rules, *given, "--json")[1])
    feasible = dict(zip(map(tuple, document["sets"]), document["feasible"], strict=True))
    assert feasible[("biopsy", "xray")]
    assert not feasible[("biopsy",)]


def test_a_lattice_without_constraints_does_not_speak_of_feasible_sets(run):
    document = json.loads(run("lattice", "figure3", "--json")[1])
    assert document.keys().isdisjoint({"feasible", "feasible_nodes"})
    assert "acquired as they are" not in run("lattice", "figure3")[1]


def test_values_of_a_lattice_are_marked_where_a_set_is_not_feasible(run, rules):
    _, out, _ = run("lattice", rules, "--values")
    assert "biopsy, blood (not feasible)" in out
    assert "of these, can be acquired as they are" in out
    document = json.loads(run("lattice", rules, "--values", "--json")[1])
    assert [entry["feasible"] for entry in document["values"]] == [False] * 8 + [True] * 2


def test_explain_says_what_would_make_a_set_feasible(run, rules):
    arguments = ["explain", rules, "--features", "biopsy", "--evidence", "consent=given"]
    _, out, _ = run(*arguments)
    assert f"It cannot be acquired as it is.\n- {AFTER_XRAY}\n" in out
    assert "It becomes feasible by adding X-ray." in out
    document = json.loads(run(*arguments, "--json")[1])
    assert document["feasible"] is False
    assert document["obstacles"] == [AFTER_XRAY]
    assert document["closure"] == ["biopsy", "xray"]


def test_the_best_set_is_one_that_can_be_acquired(run, rules):
    assert json.loads(run("best", rules, "--json")[1])["feasible"] is True
    assert "No set that can be acquired has a higher benefit." in run("best", rules)[1]
