"""The sweep of Section 4.2: resumable and deterministic."""

import json
import signal
import subprocess
import sys

import pytest
from helpers.solving import POLICIES

from voilattice import VoilatticeError, load_problem
from voilattice.errors import ClusterError
from voilattice.paper import experiment
from voilattice.paper.experiment import QUICK, Grid, _point, price_problem, run
from voilattice.parallel import Died
from voilattice.policy.solvers import build_policy

SMALL = Grid((0.0, 400.0), (0.0, 700.0))


# The command line, which kills itself when it has so many new points.
DYING = """
import os, signal
from voilattice.cli import main
from voilattice.paper import experiment

usual = experiment.run_tasks

def run_tasks(*arguments, **options):
    for n_found, found in enumerate(usual(*arguments, **options)):
        if n_found == {n_points}:
            os.kill(os.getpid(), signal.SIGKILL)
        yield found

experiment.run_tasks = run_tasks
main()
"""


def command(out, *options, code="from voilattice.cli import main; main()"):
    return [
        sys.executable, "-c", code, "reproduce", "--out", str(out), "--quick", "--jobs", "2",
        *options,
    ]  # fmt: skip


def results(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def n_points(folder):
    return sum(file.read_bytes().count(b"\n") for file in folder.glob("points/*.jsonl"))


@pytest.mark.slow
def test_killed_and_started_again_it_ends_with_identical_files(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    options = ("--only", "liver")
    subprocess.run(command(whole, *options), check=True, capture_output=True)
    for n_new in (4, 30):
        dying = command(broken, *options, code=DYING.format(n_points=n_new))
        before = n_points(broken)
        killed = subprocess.run(dying, check=False, stderr=subprocess.DEVNULL)
        assert killed.returncode == -signal.SIGKILL
        assert before < n_points(broken) < n_points(whole)
    subprocess.run(command(broken, *options), check=True, capture_output=True)
    assert results(broken) == results(whole)
    assert n_points(broken) == n_points(whole)
    assert {"report.html", "points.csv", "table-3.csv", "figure-3.svg"} <= set(results(whole))


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


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_a_point_that_ends_its_worker_is_named_and_the_others_are_kept(tmp_path, monkeypatch):
    usual = experiment.run_tasks

    def unlucky(*arguments, **options):
        for number, found in usual(*arguments, **options):
            yield number, Died("gone") if number == 2 else found

    monkeypatch.setattr(experiment, "run_tasks", unlucky)
    said = "1 point cannot be computed: liver, asymmetric, synthetic costs, EMC 0: gone"
    with pytest.raises(ClusterError, match=said):
        run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1)
    monkeypatch.undo()
    told = []
    run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1, progress=lambda *t: told.append(t))
    assert told == [(15, 16), (16, 16)]


def test_a_file_is_in_the_order_of_points_whatever_ended_first(tmp_path):
    first = run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1)
    file = tmp_path / "liver-symmetric.jsonl"
    content = file.read_bytes()
    heading, *lines = content.splitlines(keepends=True)
    file.write_bytes(heading + b"".join(reversed(lines)))
    assert run(tmp_path, names=["liver"], grid=SMALL, n_jobs=1) == first
    assert file.read_bytes() == content


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


def test_a_line_without_its_end_may_be_cut_off_and_is_not_taken():
    costs = dict.fromkeys(POLICIES, 1.5)
    row = {"costs": "real", "seed": None, "expected": 100, "total_cost": costs}
    line = json.dumps(row).encode()
    assert _point(line + b"\n") == (("real", None, 100.0), costs)
    assert _point(line) is None
