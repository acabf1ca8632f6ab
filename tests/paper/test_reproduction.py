"""The sweep of Section 4: resumable, deterministic; its tables and verdicts."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from helpers.solving import POLICIES

from voilattice import FeatureCosts, VoilatticeError, load_problem
from voilattice.paper.claims import (
    Case,
    Claim,
    _count_turns,
    _starts,
    _starts_earlier,
    _thyroid_never,
    _thyroid_start,
    measure_claims,
)
from voilattice.paper.experiment import QUICK, Grid, Point, Scenario, price_problem, run
from voilattice.paper.published import INTERVALS, PRIORS, TABLE_1, TABLE_2, TABLE_3
from voilattice.paper.report import check_folder, write_report
from voilattice.paper.summary import curves_of, regret, table_3
from voilattice.policy.solvers import build_policy

SMALL = Grid((0.0, 400.0), (0.0, 700.0))


def command(out, *options):
    return [
        sys.executable, "-c", "from voilattice.cli import main; main()",
        "reproduce", "--out", str(out), "--quick", "--jobs", "2", *options,
    ]  # fmt: skip


def results(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def n_points(folder):
    return sum(file.read_bytes().count(b"\n") for file in folder.glob("points/*.jsonl"))


def test_killed_and_started_again_it_ends_with_identical_files(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    options = ("--only", "heart", "--only", "liver")
    subprocess.run(command(whole, *options), check=True, capture_output=True)
    for wanted in (4, 30):
        process = subprocess.Popen(command(broken, *options), stderr=subprocess.DEVNULL)
        while n_points(broken) < wanted and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    left = n_points(broken)
    assert left < n_points(whole)
    subprocess.run(command(broken, *options), check=True, capture_output=True)
    assert results(broken) == results(whole)
    assert {"report.html", "points.csv", "table-3.csv", "figure-6.svg"} <= set(results(whole))


def test_points_are_policies_at_their_costs(tmp_path):
    points = run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1)
    assert len(points) == 2 * 4 * 2
    liver = load_problem("liver")
    for point in points:
        problem = price_problem(liver, point.scenario.seed)
        staked = problem.with_expected(point.scenario.kind, point.expected)
        for policy in POLICIES:
            fresh = build_policy(staked, policy).expected_total_cost
            assert point.total_cost[policy] == pytest.approx(fresh, abs=1e-9)


def test_what_is_there_is_not_computed_again_and_what_is_broken_is(tmp_path):
    first = run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1)
    file = tmp_path / "liver-symmetric.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    row = json.loads(lines[1])
    row["total_cost"]["greedy"] = 123.0
    marked = f"{json.dumps(row)}\n".encode()
    bad = json.dumps({**row, "total_cost": {**row["total_cost"], "batch": float("nan")}}).encode()
    for damage in (b"", lines[5][:20], b"\0" * 30 + b"\n", b"\xff\n", b"[]\n", b"7\n", bad + b"\n"):
        file.write_bytes(b"".join([lines[0], marked, *lines[2:5], damage]))
        second = run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1)
        assert second[0].total_cost["greedy"] == 123.0
        assert second[1:] == first[1:]
        assert file.read_bytes() == b"".join([lines[0], marked, *lines[2:]])
    file.write_bytes(b"".join([b"{}\n", *lines[1:]]))  # of other code, or another problem
    assert run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1) == first


def test_two_runs_at_once_end_with_the_same_points(tmp_path):
    options = ("--only", "liver")
    runs = [subprocess.Popen(command(tmp_path, *options), stdout=subprocess.DEVNULL) for _ in "ab"]
    assert [process.wait() for process in runs] == [0, 0]
    for file in tmp_path.glob("points/*.jsonl"):
        lines = file.read_bytes().splitlines()
        assert len(lines) == len(set(lines)) == 1 + 4 * len(QUICK.real)


def test_a_finer_grid_keeps_the_points_of_a_coarser_one(tmp_path):
    run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1)
    told = []
    finer = Grid((0.0, 200.0, 400.0), (0.0, 700.0))
    run(tmp_path, names=["liver"], grid=finer, n_jobs=1, progress=lambda *t: told.append(t))
    assert told[0] == (16, 18)
    assert told[-1] == (18, 18)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(VoilatticeError, match="file: cannot be used: "):
        run(tmp_path / "file", names=["liver"], grid=SMALL)


def test_synthetic_costs_are_in_their_ranges_and_differ_by_seed():
    heart = load_problem("heart")
    costs = [price_problem(heart, seed).costs for seed in (0, 1, 2)]
    for cost in costs:
        assert all(1 <= price <= 100 for price in cost.prices.values())
        assert all(100 <= group.overhead <= 200 for group in cost.groups)
        assert [g.features for g in cost.groups] == [g.features for g in heart.costs.groups]
    assert len({tuple(cost.prices.values()) for cost in costs}) == 3
    assert price_problem(heart, None) is heart


def made_points(curves, name="liver", costs="real", seeds=(None,), grid=QUICK):
    """Points of made-up costs: a function of the EMC and the kind for each policy."""
    return [
        Point(
            Scenario(name, costs, seed, kind), x, {p: float(c(x, kind)) for p, c in curves.items()}
        )
        for kind in ("symmetric", "asymmetric")
        for seed in seeds
        for x in grid.points(costs)
    ]


def test_table_3_is_the_mean_over_intervals_the_last_one_closed():
    points = made_points(
        {"none": lambda x, _: x, "markov-blanket": lambda x, _: 100, "greedy": lambda x, _: x}
    )
    (panel, _) = curves_of(points)
    # points at 0, 250, ..., 2000; savings over the blanket are 100 - x
    expected = [np.mean([100, -150]), np.mean([-400, -650]), np.mean([-900, -1150]), -1650]
    assert table_3(panel, "greedy") == pytest.approx(expected)


def test_regret_is_a_share_of_the_optimum():
    points = made_points({"optimal": lambda x, _: x / 2, "greedy": lambda x, _: x * (x > 250) / 2})
    panel = curves_of(points)[0]
    # At 250 greedy has nothing, at the other 7 points it has the optimum's cost, at 0 nothing.
    mean, largest = regret(panel, "greedy")
    assert (mean, largest) == (pytest.approx(-1 / 8), pytest.approx(0))


def test_synthetic_seeds_are_averaged_or_kept_apart():
    points = [
        Point(p.scenario, p.expected, {"none": p.expected + p.scenario.seed})
        for p in made_points({"none": lambda x, _: x}, costs="synthetic", seeds=(0, 1))
    ]
    averaged, each = curves_of(points), curves_of(points, average=False)
    assert (len(averaged), len(each)) == (2, 4)
    assert averaged[0].total_cost["none"].tolist() == [x + 0.5 for x in QUICK.synthetic]
    assert each[1].scenario == "synthetic (seed 1)"


GOOD = {
    "none": lambda x, _: x,
    "markov-blanket": lambda x, _: 50 + x / 2,
    "greedy": lambda x, _: min(x, 20 + 0.6 * x),
    "greedy-la": lambda x, _: min(x, 10 + x / 2),
}


def verdict(begin, points, problems=None):
    """The claim that begins so, measured."""
    names = {point.scenario.name for point in points}
    problems = problems or {name: load_problem(name) for name in names}
    (found,) = [c for c in measure_claims(problems, points) if c.text.startswith(begin)]
    return found


@pytest.mark.parametrize(
    ("begin", "good", "bad"),
    [
        ("Greedy often", GOOD, {**GOOD, "greedy": lambda x, _: min(x, 10 + x / 2)}),
        ("Greedy-LA never performs", GOOD, {**GOOD, "greedy-la": lambda x, _: x + 1}),
        ("Greedy-LA never loses", GOOD, {**GOOD, "greedy-la": lambda x, _: 51 + x / 2}),
        ("Greedy-LA wins", GOOD, {**GOOD, "greedy": GOOD["greedy-la"]}),
        ("... and it never", GOOD, {**GOOD, "greedy": lambda x, _: GOOD["greedy-la"](x, _) - 1}),
    ],
)
def test_verdicts_on_policies_follow_the_numbers(begin, good, bad):
    assert verdict(begin, made_points(good)).verdict == "holds"
    assert verdict(begin, made_points(bad)).verdict == "does not hold"


def by_kind(symmetric, asymmetric):
    return lambda x, kind: symmetric(x) if kind == "symmetric" else asymmetric(x)


def losing(symmetric, asymmetric):
    """Greedy loses that share of the EMC to greedy-la."""
    return {
        **GOOD,
        "greedy-la": lambda x, _: x / 2,
        "greedy": by_kind(lambda x: x / 2 + symmetric * x, lambda x: x / 2 + asymmetric * x),
    }


def test_verdicts_on_kinds_of_costs_follow_the_numbers():
    more_symmetric, more_asymmetric = losing(0.2, 0.1), losing(0.1, 0.2)
    for name, good, bad in (
        ("diabetes", more_symmetric, more_asymmetric),
        ("hepatitis", more_asymmetric, more_symmetric),
    ):
        begin = f"For {name.capitalize()}, Greedy performs worse"
        assert verdict(begin, made_points(good, name)).verdict == "holds"
        assert verdict(begin, made_points(bad, name)).verdict == "does not hold"


@pytest.mark.parametrize(("ratio", "holds"), [(1.3, "holds"), (1.2, "does not hold")])
def test_a_slope_is_much_higher_from_a_quarter_on(ratio, holds):
    saved = by_kind(lambda x: 0.7 * x, lambda x: x - 0.3 * ratio * x)
    points = made_points({**GOOD, "greedy": saved, "greedy-la": saved}, "diabetes")
    assert verdict("The slope", points).verdict == holds


@pytest.mark.parametrize(("share", "holds"), [(0.5, "holds"), (0.1, "does not hold")])
def test_differences_on_imbalanced_classes_are_compared_with_the_others(share, holds):
    def points(name, difference):
        saved = by_kind(lambda x: 0.5 * x, lambda x: x - 0.5 * x / (1 - difference))
        return made_points({**GOOD, "greedy-la": saved}, name)

    every = points("liver", 0.2) + points("diabetes", share)
    assert verdict("Differences", every).verdict == holds


@pytest.mark.parametrize(
    ("loss", "holds"), [([0, 90, 10, 90], "holds"), ([0, 90, 90, 10], "does not hold")]
)
def test_erratic_curves_rise_fall_and_rise(loss, holds):
    steps = {x: loss[k * 4 // 9] for k, x in enumerate(QUICK.real)}
    curves = {**GOOD, "greedy-la": lambda x, _: 0, "greedy": lambda x, _: steps[x]}
    assert verdict("Greedy is sometimes", made_points(curves, "heart")).verdict == holds


def test_verdicts_on_the_problems_follow_the_problems():
    points = made_points(GOOD)
    liver, figure3 = load_problem("liver"), load_problem("figure3")
    assert verdict("The lattice leaves out", points, {"liver": liver}).verdict == "holds"
    # The four features of figure3: 9 of 16 sets, 44 % left out; Table 1 has 88 % for heart.
    assert verdict("The lattice", points, {"heart": figure3}).verdict == "does not hold"
    assert verdict("Most features", points, {"liver": liver}).verdict == "holds"
    other = replace(liver, costs=FeatureCosts(dict.fromkeys(liver.features, 1.0)))
    assert verdict("Most features", points, {"liver": other}).verdict == "does not hold"
    assert verdict("The irreducible", points, {"thyroid": figure3}).verdict == "holds"
    assert verdict("A perfect", points, {"liver": liver}).verdict == "not measured"
    five = dict.fromkeys(TABLE_1, figure3)  # which has one
    assert verdict("A perfect", points, five).verdict == "does not hold"
    waiting = load_problem("thyroid")
    assert verdict("A perfect", points, {**five, "thyroid": waiting}).verdict == "holds"


def test_starts_are_where_a_set_begins_to_pay():
    diabetes = load_problem("diabetes")
    starts = _starts(diabetes, "symmetric")
    for policy in ("greedy", "greedy-la"):
        (start,) = starts["real", policy]
        assert build_policy(diabetes.with_expected("symmetric", 0.999 * start), policy).depth == 0
        assert build_policy(diabetes.with_expected("symmetric", 1.001 * start), policy).depth > 0
    for seed, start in enumerate(starts["synthetic", "greedy"]):
        priced = price_problem(diabetes, seed)
        assert build_policy(priced.with_expected("symmetric", 0.999 * start), "greedy").depth == 0
        assert build_policy(priced.with_expected("symmetric", 1.001 * start), "greedy").depth > 0


def test_verdicts_on_starts():
    real, synthetic = ("real", "greedy"), ("synthetic", "greedy")
    both = {synthetic: [5000.0, 6000.0], ("synthetic", "greedy-la"): [4500.0, 7000.0]}
    starts = {("thyroid", "symmetric"): {real: [500.0], **both}}
    assert [c.holds for c in _thyroid_never(starts)] == [True, True]
    starts["thyroid", "symmetric"][synthetic] = [100.0, 20000.0]  # one seed does start
    assert [c.holds for c in _thyroid_never(starts)] == [False, True]
    for printed, holds in ((600, True), (2000, False), (200, False)):
        (case,) = _thyroid_start(starts, "real", "symmetric", "greedy", printed)
        assert case.holds is holds
    starts["thyroid", "asymmetric"] = {real: [499.0], synthetic: [99999.0], **{
        ("synthetic", "greedy-la"): [1.0]}}  # fmt: skip
    assert [c.holds for c in _starts_earlier(starts)] == [True, False, True]


def test_a_verdict_is_a_count():
    cases = [Case("a", "", True), Case("b", "", False), Case("c", "", True)]
    assert Claim("", "", "", tuple(cases)).verdict == "holds in 2 of 3"
    assert Claim("", "", "", ()).verdict == "not measured"
    assert Claim("", "", "", (cases[1],)).verdict == "does not hold"


@pytest.mark.parametrize(
    ("amounts", "turns"),
    [([0, 1, 2, 3], 0), ([0, 5, 1], 1), ([0, 5, 1, 6], 2), ([0, 5, 4.5, 6], 0), ([3, 2, 1], 0)],
)
def test_turns_of_a_curve(amounts, turns):
    assert _count_turns(amounts, [1.0] * len(amounts)) == turns


def test_printed_tables_are_whole():
    assert [round(row.reduction, 2) for row in TABLE_1.values()] == [0.19, 0.46, 0.88, 0.97, 0.97]
    assert all(row.n_subsets == 2**row.n_features for row in TABLE_1.values())
    for (costs, _), rows in TABLE_3.items():
        assert len(rows) == len(INTERVALS[costs]) - 1
    assert TABLE_3["real", "symmetric"][0][2] == (240.59, 243.31)
    assert TABLE_3["synthetic", "asymmetric"][-1][4] == (-18.10, 9.50)
    assert all(abs(sum(prior) - 1) < 1e-9 for prior in PRIORS.values())
    # As printed, the asymmetric costs do not have the expectation of 1 that the text claims.
    p, cost = PRIORS["diabetes"], TABLE_2["asymmetric"]
    assert [round(p[0] * row[0] + p[1] * row[1], 2) for row in cost] == [0.54, 1.87]


def test_the_report_names_every_table_and_figure(tmp_path):
    points = run(tmp_path / "points", names=["liver", "diabetes"], grid=QUICK, n_jobs=1)
    (tmp_path / "figure-8.svg").write_text("of an earlier run")
    files, claims = write_report(tmp_path, points)
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {f.name for f in files}
    page = (tmp_path / "report.html").read_text()
    for heading in (*(f"Table {k}" for k in (1, 2, 3)), *(f"Figure {k}" for k in range(1, 6))):
        assert f"<h2>{heading}:" in page
    # Addresses are names of XML only: nothing is fetched.
    assert not re.search(r'(?:src|href)="(?!#)', page.replace('xlink:href="#', ""))
    assert "@import" not in page
    assert "url(http" not in page
    rows = table(tmp_path / "points.csv")
    assert len(rows) == 2 * 8 * 9 * len(POLICIES)
    assert len(claims) == 19
    assert "6.77" in page  # Table 3's first number, for greedy on liver
    printed = {
        (r["data_set"], r["policy"], r["from"]): r["savings_paper"]
        for r in table(tmp_path / "table-3.csv")
        if (r["costs"], r["kind"]) == ("real", "symmetric")
    }
    assert printed["liver", "greedy", "0.0"] == "6.77"
    assert printed["liver", "greedy-la", "1500.0"] == "2.85"
    assert printed["diabetes", "greedy", "500.0"] == "-18.28"
    assert printed["diabetes", "batch", "500.0"] == ""


def table(file):
    with file.open() as lines:
        return list(csv.DictReader(lines))


def test_a_figure_has_a_line_for_each_policy_where_its_savings_are():
    from voilattice.paper.figures import savings_svg

    points = [
        point
        for costs in ("real", "synthetic")
        for point in made_points(GOOD, costs=costs, seeds=(None,) if costs == "real" else (0,))
    ]
    first = savings_svg(curves_of(points))
    changed = {**GOOD, "greedy": lambda x, _: x / 3}
    points = [
        point
        for costs in ("real", "synthetic")
        for point in made_points(changed, costs=costs, seeds=(None,) if costs == "real" else (0,))
    ]
    second = savings_svg(curves_of(points))
    assert first.count("<svg") == 1
    assert first != second
    lines = re.findall(r'<path d="([^"]*)" clip-path[^>]*style="fill: none', first)
    assert len(set(lines)) >= 2 * 3  # three policies differ, in two widths of axes at least


def test_results_of_someone_else_are_not_overwritten(tmp_path):
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(VoilatticeError, match="report.html is there already"):
        check_folder(tmp_path, "points")
    (tmp_path / "points").mkdir()
    check_folder(tmp_path, "points")
