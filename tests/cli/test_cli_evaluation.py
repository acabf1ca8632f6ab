"""The command that measures costs on new cases."""

import csv
import json
import os
import signal
import time

import numpy as np
import psutil
import pytest
from helpers.clinic import draw_clinic
from helpers.processes import process

from voilattice.learning.held_out_results import FoldResults, Result

PRICES = """
[costs]
age = 1
ward = 2
fever = 4
scan = 9
gene = 3
[[discounts]]
name = "laboratory"
off = { scan = 2, gene = 1 }
"""
STAKES = """
[misclassification]
kind = "asymmetric"
expected = 30
"""
KEYS = {
    "method", "recipe", "policy", "mean_total_cost", "standard_error", "mean_feature_cost",
    "mean_misclassification_cost", "accuracy", "seconds",
}  # fmt: skip


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    table = draw_clinic(60)
    columns = {name: column.raw().tolist() for name, column in table.columns.items()}
    with (folder / "clinic.csv").open("w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    (folder / "costs.toml").write_text(PRICES + STAKES)
    (folder / "prices.toml").write_text(PRICES)
    return folder


@pytest.fixture
def evaluate(run, clinic):
    def evaluate(*options, costs="costs.toml", folds=2):
        return run(
            "evaluate", clinic / "clinic.csv", "--target", "ill", "--costs", clinic / costs,
            "--folds", folds, "--jobs", 1, *options,
        )  # fmt: skip

    return evaluate


QUICK = ("--recipes", "naive", "--policies", "none,greedy")


def test_decisions_of_ones_own(evaluate, clinic):
    (clinic / "own.toml").write_text(
        PRICES + "[misclassification]\nrefer = { yes = 3, no = 3 }\nno = { yes = 90, no = 0 }\n"
    )
    code, out, _ = evaluate(*QUICK, "--json", "--csv", clinic / "rows.csv", costs="own.toml")
    assert code == 0
    none = next(r for r in json.loads(out)["results"] if r["policy"] == "none")
    assert (none["mean_total_cost"], none["accuracy"], none["calibration"]) == (3, 0, [])
    with (clinic / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["decision"] for row in rows} <= {"refer", "no"}
    assert all((row["probability"] == "") == (row["decision"] == "refer") for row in rows)


def test_the_json_is_that_of_the_contract(evaluate):
    status, out, err = evaluate(*QUICK, "--json")
    assert status == 0, err
    document = json.loads(out)
    assert (document["rows"], document["folds"]) == (60, 2)
    totals = [result["mean_total_cost"] for result in document["results"]]
    assert totals == sorted(totals)
    for result in document["results"]:
        assert result.keys() >= KEYS
        parts = result["mean_feature_cost"] + result["mean_misclassification_cost"]
        assert result["mean_total_cost"] == pytest.approx(parts)
        assert sum(b["count"] for b in result["calibration"]) == 60
    named = {(r["method"], r["recipe"], r["policy"]) for r in document["results"]}
    assert ("voilattice greedy (naive)", "naive", "greedy") in named
    assert ("pruned decision tree", None, None) in named
    assert document["results"][0]["difference"] == 0


@pytest.mark.parametrize("width", ["80", "40"])
def test_the_table_fits_the_terminal(evaluate, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    status, out, _ = evaluate(*QUICK)
    assert status == 0
    lines = [line for line in out.splitlines() if not line.startswith("  voilattice ")]
    assert max(map(len, lines)) <= int(width)
    assert "lowest" in out
    said = " ".join(out.split())
    assert "Measured on 60 rows that were not learned from (2 folds)" in said
    assert "A policy is exact only in its learned network" in said


def test_every_case_and_method_has_a_row_in_the_file(evaluate, tmp_path):
    evaluate(*QUICK, "--no-rivals", "--csv", tmp_path / "out.csv", "--json")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert len(rows) == 2 * 60
    assert [row["row"] for row in rows[:60]] == [str(k) for k in range(1, 61)]
    for row in rows:
        total = float(row["feature_cost"]) + float(row["misclassification_cost"])
        assert float(row["total_cost"]) == pytest.approx(total)
        assert (row["truth"] == row["decision"]) == (float(row["misclassification_cost"]) == 0)


def test_pictures_are_written(evaluate, tmp_path):
    status, _, err = evaluate(
        *QUICK, "--plot", tmp_path / "costs.svg", "--calibration", tmp_path / "calibration.pdf"
    )
    assert status == 0, err
    assert "<svg" in (tmp_path / "costs.svg").read_text()
    assert (tmp_path / "calibration.pdf").read_bytes().startswith(b"%PDF")


def test_a_budget_may_be_given_and_rivals_left_out(evaluate):
    _, out, _ = evaluate(*QUICK, "--budget", "3", "--budget", "6.5", "--json")
    methods = [result["method"] for result in json.loads(out)["results"]]
    assert "logistic regression, budget 3.00" in methods
    assert "gradient boosting, budget 6.50" in methods
    _, out, _ = evaluate(*QUICK, "--no-rivals", "--json")
    assert len(json.loads(out)["results"]) == 2


def test_columns_may_be_left_out(evaluate, clinic, tmp_path):
    lines = PRICES.replace("ward = 2\n", "") + STAKES
    (tmp_path / "less.toml").write_text(lines)
    costs = tmp_path / "less.toml"
    _, _, err = evaluate(*QUICK, costs=costs)
    assert (
        f"{costs}: costs: no price for 'ward'; give one, or leave the column out (--ignore)" in err
    )
    assert evaluate(*QUICK, "--ignore", "ward", costs=costs)[0] == 0
    # The prices of columns that are left out are not used.
    assert evaluate(*QUICK, "--ignore", "ward,gene", "--no-rivals")[0] == 0


def test_the_command_that_gets_the_policy_of_lowest_cost_comes_last(evaluate, clinic):
    options = ("--recipes", "naive", "--policies", "greedy", "--ignore", "ward", "--missing", "n a")
    _, out, _ = evaluate(*options, "--no-rivals")
    assert out.splitlines()[-3:] == [
        "To get greedy (naive), the policy that cost least:",
        f"  voilattice learn {clinic / 'clinic.csv'} --target ill --costs {clinic / 'costs.toml'} "
        f"--ignore ward --missing 'n a' --recipe naive -o FOLDER",
        "  voilattice apply FOLDER NEW_CASES --policy greedy",
    ]
    assert "voilattice learn" not in evaluate(*options, "--no-rivals", "--json")[1]


def test_no_feature_was_worth_its_price_only_if_some_policy_could_buy_one(evaluate, clinic):
    prices = "".join(f"{name} = 1000\n" for name in ("age", "ward", "fever", "scan", "gene"))
    (clinic / "dear.toml").write_text(f"[costs]\n{prices}{STAKES}")
    said = "Of the policies, deciding at once cost least: no feature was worth its price."
    options = ("--recipes", "naive", "--no-rivals")
    _, out, _ = evaluate(*options, "--policies", "none,markov-blanket", costs="dear.toml")
    assert " ".join(out.split()).endswith(said)
    _, out, _ = evaluate(*options, "--policies", "none", costs="dear.toml")
    assert "worth" not in out


@pytest.mark.parametrize(
    ("asked", "policy"), [("none,greedy", "--policy greedy "), ("greedy,optimal", "")]
)
def test_the_recipe_is_learned_for_the_policy_it_was_chosen_for(
    evaluate, clinic, monkeypatch, asked, policy
):
    names, nothing = np.full(2, "yes", dtype=object), np.zeros(2)
    cheap = Result(
        "m", names, names, *(nothing,) * 4, 0.0, recipe="auto", policy="greedy", chosen=("tree",)
    )
    monkeypatch.setattr(
        "voilattice.learning.evaluation.evaluate_folds",
        lambda *_, **__: [FoldResults("ill", np.arange(2), (cheap,))],
    )
    _, out, _ = evaluate("--policies", asked, "--seed", "4")
    assert out.splitlines()[-2] == (
        f"  voilattice learn {clinic / 'clinic.csv'} --target ill --costs {clinic / 'costs.toml'} "
        f"--seed 4 --recipe auto {policy}-o FOLDER"
    )


def test_amounts_are_named_and_have_their_currency(evaluate, clinic, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    (clinic / "cad.toml").write_text(f'currency = "CAD"\n{PRICES}{STAKES}[labels]\nage = "Age"\n')
    heading = evaluate(*QUICK, "--no-rivals", costs="cad.toml")[1].splitlines()[0]
    assert heading.split("  ")[0] == "method"
    assert "total cost (CAD)" in heading
    assert heading.split()[-3:] == ["features", "decisions", "right"]


def test_decisions_that_are_no_classes_have_no_share_of_right_ones(evaluate, clinic):
    (clinic / "go.toml").write_text(
        PRICES + "[misclassification]\ngo = { yes = 9, no = 0 }\nrefer = { yes = 3, no = 3 }\n"
    )
    _, out, _ = evaluate(*QUICK, "--no-rivals", costs="go.toml")
    assert [line.split()[-1] for line in out.splitlines()[2:4]] == ["–", "–"]
    _, out, _ = evaluate(*QUICK, "--no-rivals", "--json", costs="go.toml")
    assert [result["accuracy"] for result in json.loads(out)["results"]] == [None, None]


def test_referring_every_row_is_right_in_none_where_some_decision_is_a_class(evaluate, clinic):
    (clinic / "all.toml").write_text(
        PRICES + "[misclassification]\nyes = { yes = 9, no = 99 }\nrefer = { yes = 1, no = 1 }\n"
    )
    _, out, _ = evaluate(*QUICK, "--no-rivals", costs="all.toml")
    assert [line.split()[-1] for line in out.splitlines()[2:4]] == ["0.0%", "0.0%"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--folds", "1"], "--folds: must be 2 to 60, the number of rows, got 1"),
        (["--policies", "best"], "--policies: no policy 'best'; there are none, markov-blanket"),
        (["--recipes", "soup"], "--recipes: no recipe 'soup'; there are auto, search"),
        (["--budget", "-1"], "--budget: must be >= 0, got -1"),
        (["--budget", "nan"], "--budget: must be finite"),
        (["--target", "il"], "--target: no column 'il' (nearest: 'ill')"),
        (["--jobs", "0"], "--jobs: must be a number of processes"),
        (["--ignore", "agee"], "--ignore: no column 'agee'"),
        (["--states", "ward"], "--states: must be COLUMN=a,b,c, got 'ward'"),
        (["--separator", "ab"], "--separator: must be one character"),
        (["--plot", "a.doc"], "--plot: a.doc: must end in .svg, .png or .pdf"),
    ],
)
def test_errors_name_the_option(evaluate, options, said):
    status, out, err = evaluate(*QUICK, "--json", *options)
    assert (status, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_misspelled_price_is_named_before_the_column_without_one(evaluate, tmp_path):
    costs = tmp_path / "typo.toml"
    costs.write_text(PRICES.replace("ward = 2", "wrad = 2") + STAKES)
    _, _, err = evaluate(*QUICK, costs=costs)
    assert err == f"{costs}: costs.wrad: no such feature (nearest: 'ward')\n"


def test_a_price_that_depends_on_an_unknown_feature_is_one_line(evaluate, tmp_path):
    costs = tmp_path / "when.toml"
    entry = '[[conditional_costs]]\nfeature = "gene"\nwhen = { wardd = "north" }\ncost = 8\n'
    costs.write_text(PRICES + entry + STAKES)
    status, out, err = evaluate(*QUICK, costs=costs)
    place = f"{costs}: conditional_costs[0].when.wardd"
    assert (status, out, err) == (2, "", f"{place}: no feature 'wardd' (nearest: 'ward')\n")


def test_without_costs_of_wrong_decisions_nothing_can_be_measured(evaluate):
    status, _, err = evaluate(*QUICK, costs="prices.toml")
    assert status == 2
    assert "prices.toml: misclassification: is missing" in err


@pytest.mark.parametrize("n_done", [0, 1])
def test_an_interrupt_prints_the_folds_that_are_done(evaluate, monkeypatch, n_done):
    from voilattice.learning import evaluation

    whole = evaluation.evaluate_folds

    def interrupted(*arguments, **settings):
        for k, fold in enumerate(whole(*arguments, **settings)):
            if k == n_done:
                raise KeyboardInterrupt
            yield fold

    monkeypatch.setattr(evaluation, "evaluate_folds", interrupted)
    status, out, err = evaluate(*QUICK, "--no-rivals", folds=3)
    if n_done:
        assert status == 0
        assert "Measured on 20 rows that were not learned from (1 fold)" in out
        assert "Interrupted: 1 of 3 folds are done." in err
    else:
        assert (status, out) == (130, "")
        assert err.splitlines()[-1] == "interrupted"


@pytest.mark.slow
def test_workers_end_with_the_command(clinic):
    started = process(
        "evaluate", clinic / "clinic.csv", "--target", "ill", "--costs", clinic / "costs.toml",
        "--jobs", "2", start_new_session=True,
    )  # fmt: skip
    # Its workers run: two, beside the process that cleans up after them.
    while started.poll() is None and len(psutil.Process(started.pid).children()) < 2:
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=30)
    said = [line for line in err.splitlines() if line and not line.startswith("[")]
    assert said in (["interrupted"], [line for line in said if line.startswith("Interrupted: ")])
    assert (started.returncode == 130) == (out == "")
