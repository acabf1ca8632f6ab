"""What if: other numbers in a comparison, and thresholds."""

import csv
import json

import pytest
from helpers.ward import WARD

from voilattice import build_policy, load_problem
from voilattice.cli.what_if import read_points
from voilattice.files.variants import load_variants


def test_other_prices_are_compared(run):
    status, out, err = run("compare", "asia", "--price", "xray=3", "--json")
    assert (status, err) == (0, "")
    (variant,) = load_variants("asia", {"costs.xray": 3})
    for row in json.loads(out):
        assert row["settings"] == {"costs.xray": 3}
        policy = build_policy(variant.problem, row["policy"])
        assert row["expected_total_cost"] == pytest.approx(policy.expected_total_cost)
    assert row["first"] == ["xray"]
    assert "expected total cost" in run("compare", "asia", "--set", "costs.xray=3")[1]


def test_a_sweep_of_a_price_says_what_changes(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    files = tmp_path / "c.csv", tmp_path / "c.svg"
    status, out, _ = run(
        *("compare", "asia", "--price", "xray=8,100,200", "--jobs", "1"),
        *("--csv", files[0], "--plot", files[1]),
    )
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["8", "110.00", "108.83", "110.00", "67.87", "79.65", "62.46*", "xray", "yes"] in lines
    assert lines[6][-2:] == ["-", "no"]
    with files[0].open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 6
    assert [row["costs.xray"] for row in rows if row["policy"] == "optimal"] == ["8", "100", "200"]
    assert "<svg" in files[1].read_text()


def test_two_sweeps_make_all_combinations(run):
    sweeps = ("--price", "xray=0:20:10", "--set", "costs.tub=1,2", "--jobs", "1")
    document = json.loads(run("compare", "asia", *sweeps, "--json")[1])
    points = {tuple(row["settings"].values()) for row in document}
    assert points == {(x, t) for x in (0, 10, 20) for t in (1, 2)}
    assert all(row["uses"] is None for row in document)
    assert run("compare", "asia", *sweeps)[1].count("buys first") <= 7


def test_settings_go_with_the_other_options(run):
    options = ("--price", "xray=3", "--evidence", "smoke=yes", "--expected", "50", "--json")
    row = json.loads(run("compare", "asia", *options)[1])[-1]
    (variant,) = load_variants("asia", {"costs.xray": 3})
    problem = variant.problem.with_expected("symmetric", 50).with_evidence({"smoke": "yes"})
    assert row["expected_total_cost"] == pytest.approx(
        build_policy(problem, "optimal").expected_total_cost
    )
    swept = json.loads(
        run("compare", "asia", "--price", "xray=3", "--emc", "50:50:1", "--jobs", "1", "--json")[1]
    )
    problem = variant.problem.with_expected("symmetric", 50)
    assert swept[5]["expected_total_cost"] == pytest.approx(
        build_policy(problem, "optimal").expected_total_cost
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--price", "xray"],
            "--price xray: must be NAME=VALUE, such as X=5 or X=5,10,20 or X=0:100:10",
        ),
        (
            ["--price", "xray=a"],
            "--price xray=a: must be numbers, such as 5 or 5,10,20 or 0:100:10, got 'a'",
        ),
        (["--price", "xray=1", "--set", "costs.xray=2"], "--set costs.xray=2: is given twice"),
        (["--price", "xrai=1"], "--price: costs.xrai: no feature 'xrai' (nearest: 'xray')"),
        (["--set", "costs.xray=-1"], "--set: costs.xray: must be >= 0, got -1"),
        (["--set", "costs.xray=nan"], "--set: costs.xray: must be finite, got nan"),
        (
            ["--set", "title=1"],
            "--set: title: only a number can be set, and this is "
            "'Asia: the chest clinic of Lauritzen and Spiegelhalter'",
        ),
        (
            ["--set", "misclassification.expected=100"],
            "--set: misclassification: the file has a matrix of costs, and no expected (--expected "
            "and --kind replace it)",
        ),
        (
            ["--set", 'costs."xray"=3'],
            '--set: costs: names are written without quotation marks, got "xray"',
        ),
        (
            ["--set", "costs.xray=0:1:0"],
            "--set costs.xray=0:1:0: must go from FROM >= 0 up to TO in steps above 0, got '0:1:0'",
        ),
        (
            ["--price", "xray=1,2", "--emc", "0:9:3"],
            "--emc: cannot be used together with several values of costs.xray",
        ),
        (
            ["--price", "xray=0:200:1", "--price", "tub=0:200:1"],
            "--price: 40,401 combinations of values; there may be at most 10,000",
        ),
        (
            ["--price", "xray=1", "--plot", "a.svg"],
            "--plot: needs one sweep, as in --emc 0:2000:50 or --price X=0:50:5",
        ),
    ],
)
def test_wrong_settings_are_refused_in_one_line(run, options, message):
    assert run("compare", "asia", *options, "--json") == (2, "", f"{message}\n")


def test_a_threshold_as_json_for_people_and_as_a_plot(run, tmp_path):
    plot = tmp_path / "t.svg"
    status, out, err = run("threshold", "figure1", "--feature", "X1", "--json", "--plot", plot)
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["feature"] == "X1"
    assert (found["price"], found["stake"]) == (5, pytest.approx(17.6))
    assert found["price_threshold"] == pytest.approx(1.2)
    assert found["stake_threshold"] == pytest.approx(35.85, abs=0.01)
    assert (found["exact"], found["used"], found["stake_end"]) == (True, False, None)
    assert "threshold 1.20" not in out
    assert "<svg" in plot.read_text()
    out = run("threshold", "figure1", "--feature", "X1")[1]
    assert "X1 is not used by the optimal policy." in out
    assert "X1 (now 5.00) is worth buying below 1.20." in out


def test_a_threshold_takes_the_options_of_every_problem(run):
    options = ("--evidence", "smoke=yes", "--expected", "50", "--json")
    found = json.loads(run("threshold", "asia", "--feature", "xray", *options)[1])
    assert found["stake"] == pytest.approx(50)
    assert found["price"] == load_problem("asia").costs.prices["xray"]
    assert run("threshold", "asia", "--feature", "xray", "--time-limit", "0")[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--feature", "xrai"], "--feature: no feature 'xrai' (nearest: 'xray')"),
        (["--feature", "lung"], "--feature: 'lung' is the target, not a feature"),
        (
            ["--feature", "xray", "--evidence", "xray=yes"],
            "--feature: 'xray' is known already ('yes')",
        ),
    ],
)
def test_a_feature_without_a_threshold_is_refused(run, options, message):
    assert run("threshold", "asia", *options, "--json") == (2, "", f"{message}\n")


@pytest.mark.parametrize(
    ("sweep", "points"),
    [
        ("0:100:50", [0, 50, 100]),
        ("5:5:1", [5]),
        ("0:0.3:0.1", [0, 0.1, 0.2, 0.3]),  # though 3 * 0.1 > 0.3 in floats
        ("0:99:50", [0, 50]),
    ],
)
def test_a_sweep_has_both_its_ends(sweep, points):
    assert read_points(sweep) == pytest.approx(points)


def test_the_words_below_a_table_speak_of_its_columns_only(run):
    swept = run("compare", "asia", "--set", "limits.rounds=1,2", "--jobs", "1")[1]
    assert '"buys first": what the optimal policy acquires first. "-": it decides at once.' in swept
    priced = run("compare", "asia", "--price", "xray=8,9", "--jobs", "1")[1]
    assert '"buys first", "uses": what the optimal policy does. "-": it decides at once.' in priced


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "discounts.toolbox.off.spark=2",
            "discounts.toolbox.off.spark: no discount 'toolbox' (nearest: 'tools')",
        ),
        ("discounts.x.off.spark=2", "discounts.x.off.spark: no discount 'x' (there are: tools)"),
        ("constraints[7].after=2", "constraints: has 5 entries, so there is no [7]"),
        ("groups.tools.overhead=2", "groups.tools.overhead: the file has no [[groups]]"),
        ("groups[0].overhead=2", "groups[0].overhead: the file has no [[groups]]"),
        ("conditional_costs.x=2", "conditional_costs.x: the file has no [[conditional_costs]]"),
    ],
)
def test_a_setting_of_an_entry_that_is_not_there_is_refused(run, setting, message):
    status, out, err = run("compare", "car", "--set", setting)
    assert (status, out) == (2, "")
    assert err.startswith(f"--set: {message}")
    assert len(err.splitlines()) == 1


def test_limits_can_be_swept(run):
    options = ("--set", "limits.rounds=1,2", "--jobs", "1", "--json")
    document = json.loads(run("compare", "asia", *options)[1])
    one, two = (row for row in document if row["policy"] == "optimal")
    (variant,) = load_variants("asia", {"limits.rounds": 1})
    assert one["first"] == sorted(build_policy(variant.problem, "batch").root.features)
    assert one["expected_total_cost"] > two["expected_total_cost"]


def test_the_output_says_which_numbers_were_changed(run, monkeypatch):
    _, out, _ = run("compare", "asia", "--price", "xray=10", "--set", "costs.tub=3")
    assert out.endswith("\nChanged: costs.xray = 10, costs.tub = 3.\n")
    sweep = ("compare", "asia", "--price", "xray=10,20", "--set", "costs.tub=3", "--jobs", "1")
    _, out, _ = run(*sweep)
    assert out.endswith("\nChanged: costs.tub = 3.\n")
    assert '"buys first", "uses": what the optimal policy does. "-": it decides at once.' in out
    monkeypatch.setenv("COLUMNS", "40")
    out = " ".join(run(*sweep)[1].split())
    assert '"buys first", "uses": what the optimal policy does. "-": it decides at once.' in out
    monkeypatch.undo()
    assert "Changed" not in run("compare", "asia")[1]


def test_threshold_tells_where_the_first_step_changes(run):
    command = ("threshold", "asia", "--feature", "xray", "--first-step")
    _, out, _ = run(*command)
    assert "From 15.90 on it begins with smoke." in " ".join(out.split())
    document = json.loads(run(*command, "--json")[1])
    assert document["price"]["above"]["first"] == ["smoke"]
    assert document["stakes"]["below"]["first"] == []
    status, _, err = run(*command, "--plot", "x.svg")
    assert status == 2
    assert "--plot: cannot be used together with --first-step" in err


LIMITS_FROM_HERE = (
    "Limits count from here: the evidence has used up nothing of them. advise counts what was "
    "acquired."
)


@pytest.mark.slow
def test_the_first_step_counts_no_evidence_as_a_round_and_the_output_says_so(run, tmp_path):
    path = tmp_path / "ward.toml"
    path.write_text(WARD.replace("rounds = 3", "rounds = 2"))
    known = ("--evidence", "consent=given", "--evidence", "age=young")
    asked = ("threshold", path, "--feature", "biopsy", *known)
    use = json.loads(run(*asked, "--json")[1])
    first = json.loads(run(*asked, "--first-step", "--json")[1])
    assert use["used"]
    assert first["price"]["first"] == ["biopsy", "xray"]  # not "decide": two rounds are left
    for command in (
        asked,
        (*asked, "--first-step"),
        ("policy", path, "--policy", "greedy", *known),
    ):
        assert LIMITS_FROM_HERE in " ".join(run(*command)[1].split())
    assert LIMITS_FROM_HERE not in " ".join(run("policy", path, "--policy", "greedy")[1].split())
    free = run("policy", "asia", "--policy", "greedy", "--evidence", "smoke=yes")[1]
    assert "Limits" not in free
