"""The commands that show problems."""

import json
import re
from dataclasses import replace

from helpers.labels import LABELLED
from helpers.problems import opener
from helpers.ward import WARD

from voilattice import load_problem, write_problem


def test_show_names_everything(run):
    status, out, _ = run("show", "asia")
    assert status == 0
    for word in ("xray", "consultation", "either", "2,000", "0.055"):
        assert word in out
    document = json.loads(run("show", "asia", "--evidence", "smoke=yes", "--json")[1])
    assert document["hidden"] == ["either"]
    assert document["evidence"] == {"smoke": "yes"}
    assert document["groups"][0]["overhead"] == 10


def test_show_names_discounts(run, tmp_path):
    write_problem(opener(), tmp_path)
    status, out, _ = run("show", str(tmp_path))
    assert status == 0
    assert "visit: 28.00 off" in out
    assert "Discount visit: the first of A and X has its full price. After it, A costs" in out
    document = json.loads(run("show", str(tmp_path), "--json")[1])
    assert document["discounts"] == [{"name": "visit", "off": {"X": 28.0, "A": 1.0}}]


def own_decisions(tmp_path):
    problem = load_problem("figure1")
    costs = [[0, 80], [10, 10], [150, 0]]
    own = replace(problem, decisions=("treat", "refer", "wait"), misclassification=costs)
    return str(write_problem(own, tmp_path))


def test_show_names_decisions(run, tmp_path):
    path = own_decisions(tmp_path)
    status, out, _ = run("show", path)
    assert status == 0
    assert re.search(r"cost of deciding refer +10.00 +10.00\n", out)
    document = json.loads(run("show", path, "--json")[1])
    assert document["classes"] == ["T", "F"]
    assert document["decisions"] == ["treat", "refer", "wait"]
    assert document["misclassification"]["wait"] == {"T": 150, "F": 0}
    scaled = json.loads(run("show", path, "--json", "--expected", "5", "--kind", "symmetric")[1])
    assert scaled["decisions"] == scaled["classes"]


def test_advice_lists_what_could_be_decided(run, tmp_path):
    path = own_decisions(tmp_path)
    status, out, _ = run("advise", path, "--policy", "none")
    assert status == 0
    assert "Decide: refer." in out
    assert re.search(r"could be decided now +expected cost\n.*\ntreat +51.84\nrefer +10.00\n", out)
    document = json.loads(run("advise", path, "--policy", "none", "--json")[1])
    assert document["decision"] == "refer"
    assert list(document["decision_costs"]) == ["treat", "refer", "wait"]
    assert list(document["posterior"]) == ["T", "F"]
    assert "could be decided now" not in run("advise", "figure1", "--policy", "none")[1]


def test_show_says_where_numbers_are_cut(run):
    assert "Numbers are evidence too for age (cut at 54.5), trestbps" in run("show", "heart")[1]
    assert "Numbers" not in run("show", "asia")[1]
    assert json.loads(run("show", "heart", "--json")[1])["bins"]["age"] == [54.5]


def test_problems_lists_the_built_in_ones(run):
    assert "figure1" in run("problems")[1]
    names = [entry["name"] for entry in json.loads(run("problems", "--json")[1])]
    assert {"asia", "figure1", "figure3"} <= set(names)


def test_show_says_constraints_limits_and_the_cost_of_a_round(run, tmp_path):
    path = tmp_path / "ward.toml"
    path.write_text(WARD)
    _, out, _ = run("show", path)
    rules = json.loads(run("show", path, "--json")[1])["rules"]
    assert len(rules) == 3
    assert "\n".join(rules) in out
    assert json.loads(run("show", "figure1", "--json")[1])["rules"] == []


def test_show_tells_the_tables_in_words(run, tmp_path, monkeypatch):
    (tmp_path / "p.toml").write_text(LABELLED)
    assert "Chest pain if" not in run("show", tmp_path / "p.toml")[1]
    status, out, _ = run("show", tmp_path / "p.toml", "--tables")
    assert status == 0
    assert "Heart disease: diseased 40 %, healthy 60 %\n" in out
    line = "Chest pain if Heart disease = diseased: typical angina 80 %, no pain at all 20 %\n"
    assert line in out
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = run("show", tmp_path / "p.toml", "--tables")
    assert max(map(len, out.splitlines())) <= 60
    assert "Chest pain if Heart disease = diseased: typical angina 80 %,\n  no" in out
    document = json.loads(run("show", tmp_path / "p.toml", "--tables", "--json")[1])
    assert document["tables"][1]["node"] == "cp"
    assert document["tables"][1]["rows"][0] == {
        "given": {"ill": "yes"},
        "probabilities": {"typ": 0.8, "asym": 0.2},
    }


def test_the_order_of_parents_is_seen_in_the_tables(run):
    _, out, _ = run("show", "asia", "--tables")
    assert "dysp if bronc = yes, either = no: yes 80 %, no 20 %\n" in out
    assert "dysp if bronc = no, either = yes: yes 70 %, no 30 %\n" in out


def test_of_large_tables_a_part_is_shown(run, monkeypatch):
    monkeypatch.setattr("voilattice.cli.distributions.MAX_ROWS", 3)
    monkeypatch.setattr("voilattice.cli.distributions.MAX_NODES", 6)
    _, out, _ = run("show", "asia", "--tables")
    assert "either if tub = no, lung = yes: " in out
    assert "either if tub = no, lung = no: " not in out
    assert "Left out: 1 more row of either. --json has them all.\n" in out
    assert out.endswith("Left out: the tables of 2 more nodes. --json has them all.\n")
