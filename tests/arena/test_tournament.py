"""The tournament gives the same results wherever it runs and however often it is stopped."""

import os
import signal
import subprocess
import sys
import time

import pytest
from helpers.arena_data import COSTS, QUICK, write_data

from voilattice.arena import load_suite, read_standings, run_arena
from voilattice.arena import methods as methods_module
from voilattice.arena.methods import OURS, entries_of, method_names
from voilattice.arena.results import Result
from voilattice.baselines import BASELINES, Baseline
from voilattice.errors import InputError, UnknownNameError
from voilattice.parallel import Workers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


def numbers(standings):
    """Return the results without their times."""
    return {
        key: tuple(getattr(result, name) for name in Result.__slots__ if name != "seconds")
        for key, result in standings.results.items()
    }


def test_every_method_has_a_result_in_every_cell(folder, tmp_path):
    suite = load_suite(str(folder), n_splits=2)
    told = []
    found = run_arena(suite, tmp_path, methods=QUICK, progress=lambda *n: told.append(n))
    assert len(found.results) == found.n_wanted == 2 * 2 * len(QUICK)
    assert not found.failures
    assert told[0] == (0, 16)
    assert told[-1] == (16, 16)


def test_nothing_is_done_twice(folder, tmp_path, monkeypatch):
    suite = load_suite(str(folder), n_splits=1)
    first = run_arena(suite, tmp_path, methods=QUICK)
    monkeypatch.setattr("voilattice.arena.tournament.play", None)  # would fail
    assert run_arena(suite, tmp_path, methods=QUICK) == first


def test_more_splits_and_methods_are_added(folder, tmp_path):
    one = run_arena(load_suite(str(folder), n_splits=1), tmp_path, methods=QUICK[:1])
    suite = load_suite(str(folder), n_splits=2)
    more = run_arena(suite, tmp_path, methods=QUICK[:2])
    assert numbers(one).items() <= numbers(more).items()
    fresh = run_arena(suite, tmp_path / "fresh", methods=QUICK[:2])
    assert numbers(fresh) == numbers(more)


def test_more_of_the_splits_that_come_with_the_data_are_added(folder, tmp_path):
    header, *rows = (folder / "one.csv").read_text().splitlines()
    place = tmp_path / "data" / "one"
    place.mkdir(parents=True)
    (place / "low.toml").write_text(COSTS)
    for k in (1, 2):
        (place / f"train-{k}.csv").write_text("\n".join([header, *rows[k::2]]))
        (place / f"test-{k}.csv").write_text("\n".join([header, *rows[k - 1 :: 2]]))
    source, out = str(place.parent), tmp_path / "out"
    run_arena(load_suite(source, n_splits=1), out, methods=QUICK)
    more = run_arena(load_suite(source, n_splits=2), out, methods=QUICK)
    assert len(more.results) == 2 * len(QUICK)
    (place / "test-1.csv").write_text("\n".join([header, *rows[:40]]))
    with pytest.raises(InputError, match="results on other one split 1 data"):
        run_arena(load_suite(source, n_splits=2), out, methods=QUICK)


class Breaks(Baseline):
    name = "breaks"

    def learn(self, table, question, seed):
        raise ValueError("no\nluck")


def test_a_method_that_fails_costs_its_own_cells_only(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(BASELINES, "breaks", Breaks)
    suite = load_suite(str(folder), n_splits=1)
    found = run_arena(suite, tmp_path, methods=["EG2", "breaks"])
    assert {key.method for key in found.results} == {"EG2"}
    assert {f.failure for f in found.failures.values()} == {"ValueError: no luck"}
    monkeypatch.setitem(BASELINES, "breaks", BASELINES["at once"])
    again = run_arena(suite, tmp_path, methods=["EG2", "breaks"])
    assert again.failures == found.failures  # not tried again unless asked


def test_what_failed_is_tried_again_if_asked(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(BASELINES, "IDX", Breaks)
    suite = load_suite(str(folder), n_splits=1)
    assert run_arena(suite, tmp_path, methods=["IDX"]).failures
    monkeypatch.undo()
    again = run_arena(suite, tmp_path, methods=["IDX"], retry=True)
    assert not again.failures
    assert len(again.results) == 2


def test_unknown_methods_are_refused():
    with pytest.raises(UnknownNameError, match="no method 'EG3'.*'EG2'"):
        entries_of(["EG3"])
    with pytest.raises(UnknownNameError, match="no method 'zzz'; there are ") as refused:
        entries_of(["zzz"])
    assert str(refused.value).count("there are") == 1
    assert method_names()[0] == OURS
    assert set(entries_of(method_names())) == {"voilattice", *BASELINES}


@pytest.mark.slow
def test_our_policies_share_a_model_and_the_optimum_is_best_in_it(folder, tmp_path):
    suite = load_suite(str(folder), n_splits=1)
    ours = [m for m in method_names() if m.startswith("voilattice")]
    found = run_arena(suite, tmp_path, methods=ours)
    for name in ("one", "two"):
        cell = {key.method: r for key, r in found.results.items() if key.data_set == name}
        assert len({r.recipe for r in cell.values()}) == 1
        best = cell[OURS].model_cost
        # On drawn cases another policy may be lucky, but not by much.
        assert all(r.model_cost is None or r.model_cost >= 0.9 * best for r in cell.values())


@pytest.mark.slow
def test_processes_and_a_cluster_give_the_same_results(folder, tmp_path):
    suite = load_suite(str(folder), n_splits=1)
    here = run_arena(suite, tmp_path / "a", methods=QUICK)
    assert not here.failures
    for name, workers in (("b", Workers.of(n_jobs=2)), ("c", Workers.of(dask="local:2"))):
        there = run_arena(suite, tmp_path / name, methods=QUICK, workers=workers)
        assert numbers(there) == numbers(here)


@pytest.mark.slow
def test_a_killed_run_loses_nothing_and_repeats_nothing(folder, tmp_path):
    command = [
        sys.executable, "-m", "voilattice", "arena", "--data", str(folder),
        "--out", str(tmp_path / "a"), "--methods", ",".join([*QUICK, "greedy information"]),
        "--splits", "3", "--jobs", "2",
    ]  # fmt: skip
    journal = tmp_path / "a" / "journal.jsonl"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    kept = journal.read_bytes()
    suite = load_suite(str(folder), n_splits=3)
    methods = [*QUICK, "greedy information"]
    done = run_arena(suite, tmp_path / "a", methods=methods)
    assert journal.read_bytes().startswith(kept[: kept.rindex(b"\n")])
    assert journal.read_bytes().count(b"\n") <= 2 + 30
    assert numbers(done) == numbers(run_arena(suite, tmp_path / "b", methods=methods))
    assert read_standings(suite, tmp_path / "a", methods) == done
    assert methods_module.ENTRY not in {key.method for key in done.results}
