"""The commands that show problems."""

import json

from helpers.problems import opener

from voilattice import write_problem


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
    assert "The first feature of discount visit pays its full price." in out
    document = json.loads(run("show", str(tmp_path), "--json")[1])
    assert document["discounts"] == [{"name": "visit", "off": {"X": 28.0, "A": 1.0}}]


def test_show_says_where_numbers_are_cut(run):
    assert "Numbers are evidence too for age (cut at 54.5), trestbps" in run("show", "heart")[1]
    assert "Numbers" not in run("show", "asia")[1]
    assert json.loads(run("show", "heart", "--json")[1])["bins"]["age"] == [54.5]


def test_problems_lists_the_built_in_ones(run):
    assert "figure1" in run("problems")[1]
    names = [entry["name"] for entry in json.loads(run("problems", "--json")[1])]
    assert {"asia", "figure1", "figure3"} <= set(names)
