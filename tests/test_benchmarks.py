"""The benchmarks run: in small, with the code that `make bench` runs. No time is asserted."""

import importlib.util
import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

# What each script prints: its headings, and its ratios as patterns with one number.
HEADINGS = {
    "lattice": ["irreducible sets", "growth: time in proportion to nodes x features"],
    "valuation": [f"({part})" for part in "abcdef"],
    "policies": [
        "irreducible sets",
        "greedy-la by brute force with pyAgrum",
        "a sweep of 3 points",
        "rows of 13 raw columns",
    ],
    "optimal": [
        "states    ",
        "time of the optimum / time of one valuation of the lattice",
        "state-actions",
        "pyAgrum's influence diagram / our optimum",
        "features   irreducible sets",
        "a plain table, all features matter",
        "pystreed on heart",
    ],
    "large": [
        "P(Y, X_i | e) of all features",
        "after compilation",
        "from nothing",
        "search: states expanded",
        "lower bounds at the root",
        "gap of the optimum",
    ],
    "rounds": [
        "rounds that cost something",
        "time / that without limits",
        "asia: the cost of a round",
    ],
    "learning": ["5% of the cells missing", "parameters"],
    "estimator": ["120 rows x 5 features", "the same, 5% of the cells missing"],
    "cluster": ["a task that does nothing", "tasks that learn and plan", "67,500"],
}
RATIOS = {
    "lattice": [
        r"^  ratio +(\S+)$",
        r"Python engine / compiled engine, +\d+ sets +(\S+)$",
        r"^ +8 +85 .* (\S+)$",
    ],
    "valuation": [
        r"ratio to the compiled engine +(\S+)$",
        r"ratio to the NumPy engine +(\S+)$",
        r"^    ratio +(\S+)$",
        r"^ +10 .* (\S+)$",
    ],
    "policies": [r"optimal .* = +(\S+) roots;", r"^  ratio +(\S+)$"],
    "optimal": [
        r"^  heart +\S+ +\S+ +(\S+) ",
        r"^  heart +(\S+) +\S+ +\(",
        r"numpy\.add .* ratio (\S+)$",
        r"2 values each: (\S+) from nothing",
        r"^ +6 +36 +\d+ +(\S+)",
        r"^ +5 +243 +\S+ +\S+ +\S+ +\S+ +(\S+)",
        r"a cold process: .* = (\S+) bytes a state",
        r"depth 1: +(\S+) times our time",
    ],
    "rounds": [
        r"^ +4 +256 +\S+ +\S+ +(\S+)",
        r"^  rounds +2 +(\S+)$",
        r"^search / table in NumPy, 3 features +(\S+)$",
    ],
    "learning": [r"^  all / structure search +(\S+)$"],
    "estimator": [r"^  fit, n_jobs=1 +(\S+) s$", r"^  predict 500 rows +(\S+) s$"],
    "cluster": [
        r"^ +Dask, two workers +(\S+) ms$",
        r"^ +two workers / one worker +(\S+)$",
        r"^ +100 workers, at least +(\S+) min$",
    ],
    "large": [r"^ +compiled +\S+ us +ratio +(\S+)$", r"^ +NumPy +\S+ ms +ratio +(\S+)$"],
}

pytestmark = pytest.mark.slow


def test_every_benchmark_of_the_makefile_is_tested():
    makefile = (BENCHMARKS.parent / "Makefile").read_text()
    assert set(re.findall(r"benchmarks/(\w+)\.py", makefile)) == set(HEADINGS) == set(RATIOS)


@pytest.mark.parametrize("name", HEADINGS)
def test_benchmarks_run_in_small_and_print_finite_ratios(name, tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(BENCHMARKS)  # they import each other
    monkeypatch.chdir(tmp_path)  # they run from any directory
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, script)  # dataclasses look their module up
    spec.loader.exec_module(script)
    script.main(small=True)
    printed = capsys.readouterr().out
    for heading in HEADINGS[name]:
        assert heading in printed
    for pattern in RATIOS[name]:
        ratio = re.search(pattern, printed, re.M)
        assert ratio, f"no {pattern!r} in\n{printed}"
        assert math.isfinite(float(ratio[1].replace(",", "")))
    assert not re.search(r"\b(nan|inf)\b", printed)


@pytest.mark.parametrize("small", [False, True])
def test_the_command_line_chooses_the_sizes(small, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import arguments

    monkeypatch.setattr(sys, "argv", ["lattice.py", *["--small"] * small])
    chosen = []
    arguments.run(chosen.append, "A benchmark.")
    assert chosen == [small]


def test_a_benchmark_may_have_a_large_part(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import arguments

    monkeypatch.setattr(sys, "argv", ["optimal.py", "--large"])
    chosen = []
    arguments.run(lambda *sizes: chosen.append(sizes), "A benchmark.", large="more of it")
    assert chosen == [(False, True)]


def test_a_benchmark_may_take_a_file(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import arguments

    monkeypatch.setattr(sys, "argv", ["cluster.py", "--small", "--task-seconds", "some.jsonl"])
    chosen = []
    files = {"--task-seconds": "seconds"}
    arguments.run(lambda *given: chosen.append(given), "A benchmark.", files=files)
    assert chosen == [(True, "some.jsonl")]


def test_the_seconds_of_tasks_are_means_by_method(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from cluster import read_seconds

    lines = [
        '{"heading": 1}', '{"method": "EG2", "seconds": 1}', '{"method": "EG2", "seconds": 3}',
        '{"method": "ICET", "seconds": 7.5}', '{"method": "ICET", "sec',
    ]  # fmt: skip
    assert read_seconds(lines) == {"EG2": 2.0, "ICET": 7.5}


def write_held_out_data(folder):
    """Write a small table as one of Turney's data sets, and as one of Lomax's."""
    rng = np.random.default_rng(0)
    ill = rng.random(90) < 0.4
    cells = {
        "mcv": rng.normal(ill, 1.0).round(2), "sgpt": rng.normal(2 * ill, 1.0).round(2),
        "class": ill.astype(int),
    }  # fmt: skip
    rows = [
        ",".join(cells),
        *(",".join(map(str, row)) for row in zip(*cells.values(), strict=True)),
    ]
    (folder / "liver.csv").write_text("\n".join(rows))
    entry = {"cost": 7.27, "group": "A", "discounted": 5.17}
    costs = {"liver": {"mcv": entry, "sgpt": entry, "groups": {"A": 2.1}, "source": ""}}
    (folder / "costs.json").write_text(json.dumps(costs))
    lomax = folder / "lomax" / "iris"
    lomax.mkdir(parents=True)
    for part, first in (("train", 0), ("test", 60)):
        lines = [
            f"b{int(a > 0)},{'b10' if b > 1 else 'b01'},c{int(y)}"
            for a, b, y in list(zip(*cells.values(), strict=True))[first : first + 60]
        ]
        (lomax / f"{part}-1.csv").write_text("\n".join(["a,b,class", *lines]))
    for level in ("low", "middle", "high"):
        (lomax / f"{level}.toml").write_text(
            "[costs]\na = 1\nb = 2\n[[discounts]]\nname = 'g'\noff = { a = 0.5, b = 1 }\n"
            "[misclassification]\nc0 = { c0 = 0, c1 = 20 }\nc1 = { c0 = 10, c1 = 0 }\n"
        )


@pytest.fixture
def held_out(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setenv("VOILATTICE_DATA", str(tmp_path))
    import held_out

    # The choice of a recipe is tested elsewhere, and takes long.
    monkeypatch.setattr(held_out, "fit_and_pay", held_out.rival_methods()["at once"])
    return held_out


@pytest.mark.parametrize(
    ("suite", "name", "n", "verdict"),
    [
        ("turney", "liver", 54, "cells in which voilattice is lowest: "),
        ("lomax", "iris", 6, "mean ratio to pystreed over 3 cells: "),
    ],
)
def test_held_out_costs_go_on_where_they_stopped(
    held_out, tmp_path, capsys, suite, name, n, verdict
):
    write_held_out_data(tmp_path)
    out = tmp_path / "results.jsonl"
    arguments = [suite, "--splits", "1", "--only", name, "--out", str(out)]
    held_out.main(arguments)
    first = capsys.readouterr().out
    assert f"0 of {n} pieces of work are done" in first
    assert verdict in first
    lines = out.read_text().splitlines()
    assert len(lines) == n
    out.write_text("\n".join([*lines[:-1], lines[-1][:20]]))  # cut off in the middle of a line
    held_out.main(arguments)
    again = capsys.readouterr().out
    assert f"{n - 1} of {n} pieces of work are done" in again
    assert verdict in again
    assert first.splitlines()[-1] == again.splitlines()[-1]
    held_out.main([*arguments, "--report", "--label", "another"])
    assert "no cell is done yet" in capsys.readouterr().out


@pytest.mark.parametrize("suite", ["turney", "lomax"])
def test_held_out_costs_say_why_they_are_skipped(held_out, capsys, suite):
    held_out.main([suite])
    assert re.match(r"skipped: .* is not there; VOILATTICE_DATA names", capsys.readouterr().out)


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.name)
def test_benchmarks_use_no_private_names_and_call_no_kernels(path):
    source = path.read_text()
    assert not re.findall(r"\w\._[a-z]\w*|import _[a-z]\w*", source)
    assert "voilattice.compiled" not in source
