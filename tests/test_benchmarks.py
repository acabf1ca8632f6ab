"""The benchmarks run: in small, with the code that `make bench` runs. No time is asserted."""

import importlib.util
import math
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from helpers.host_device import any_device

from voilattice import devices

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
    "gpu": ["a copy moves", "one core", "the whole policy of 6 features"],
    "learning": ["5% of the cells missing", "parameters"],
    "estimator": ["120 rows x 5 features", "the same, 5% of the cells missing"],
    "cluster": ["a task that does nothing", "tasks that learn and plan", "67,500"],
    "cold": [
        "cold    warm   ratio",
        "(a) advise asia",
        "(b) POST advise, asia",
        "(c) the page, asia",
        "(d) 3 clients at once, asia",
    ],
    "serving": ["(a) 5 people", "(b) without a pause", "(c) with workers that are killed", "(d) "],
    "load": ["(a) cold: 16 answers", "ready ", "(b) warm: 16 answers"],
    "under_load": ["naive Bayes, 30 features, beside 0 busy processes"],
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
    "gpu": [r"^ 7 +2,187 +64 .* +(\S+) +\S+$"],
    "learning": [r"^  all / structure search +(\S+)$"],
    "estimator": [r"^  fit, n_jobs=1 +(\S+) s$", r"^  predict 500 rows +(\S+) s$"],
    "cluster": [
        r"^ +Dask, two workers +(\S+) ms$",
        r"^ +two workers / one worker +(\S+)$",
        r"^ +100 workers, at least +(\S+) min$",
    ],
    "large": [r"^ +compiled +\S+ us +ratio +(\S+)$", r"^ +NumPy +\S+ ms +ratio +(\S+)$"],
    "cold": [
        r"^\(a\) .* (\S+)$",
        r"^\(b\) .* (\S+)$",
        r"^\(c\) .* (\S+)$",
        r"^\(d\) .* (0) errors$",
    ],
    "serving": [r"posterior  median (\S+) s", r"errors (\d+)$"],
    "load": [r"greedy +p50 \S+ s, p99 (\S+) s", r"in place of optimal (\d+)$", r"errors (0)$"],
    "under_load": [r"^ +0 +0\.5 .* in \[\S+, (\S+)\]$"],
}

pytestmark = pytest.mark.slow


def test_every_benchmark_of_the_makefile_is_tested():
    makefile = (BENCHMARKS.parent / "Makefile").read_text()
    assert set(re.findall(r"benchmarks/(\w+)\.py", makefile)) == set(HEADINGS) == set(RATIOS)


def load_script(name, monkeypatch):
    """Return a benchmark as a module."""
    monkeypatch.syspath_prepend(BENCHMARKS)  # they import each other
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, script)  # dataclasses look their module up
    spec.loader.exec_module(script)
    return script


# These compile everything anew, or keep servers busy.
LONG = {"cold", "load", "serving"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] * (name in LONG)) for name in HEADINGS],
)
def test_benchmarks_run_in_small_and_print_finite_ratios(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # they run from any directory
    device = any_device()
    monkeypatch.setattr(devices, "find_device", lambda: device)
    script = load_script(name, monkeypatch)
    # In a thread: the tests of the page leave a loop of asyncio in the main one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(script.main, small=True).result()
    printed = capsys.readouterr().out
    for heading in HEADINGS[name]:
        assert heading in printed
    for pattern in RATIOS[name]:
        ratio = re.search(pattern, printed, re.M)
        assert ratio, f"no {pattern!r} in\n{printed}"
        assert math.isfinite(float(ratio[1].replace(",", "")))
    assert not re.search(r"\b(nan|inf)\b", printed)


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("errors", [[], ["503 too many"]])
def test_an_error_under_load_is_a_failure_at_full_size(small, errors, monkeypatch):
    script = load_script("load", monkeypatch)

    async def ask_all(address, cases, sizes, part):
        return script.Answers(errors=errors if part else [])

    monkeypatch.setattr(script, "server", lambda **settings: nullcontext((None, "")))
    monkeypatch.setattr(script, "_busy", nullcontext)
    monkeypatch.setattr(script, "_wait_until_ready", lambda address: None)
    monkeypatch.setattr(script, "_ask_all", ask_all)
    monkeypatch.setattr(script, "draw", lambda name, n: [])
    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(script.main, small=small).exception()
    assert str(outcome) == ("errors: 1, there must be none" if errors and not small else "None")


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize(
    ("command", "page", "errors", "misses"),
    [
        (2.9, 7.9, [], []),
        (3.1, 7.9, [], ["(a) advise heart"]),
        (2.9, 8.1, [], ["(c) the page, heart, optimal"]),
        (3.1, 8.1, ["503"], ["(a) advise heart", "(c) the page, heart, optimal", "(d) 30 clients"]),
    ],
)
def test_a_cold_start_that_is_too_slow_is_a_failure_at_full_size(
    small, command, page, errors, misses, monkeypatch
):
    script = load_script("cold", monkeypatch)
    monkeypatch.setattr(script, "_run", lambda *command: None)
    monkeypatch.setattr(script, "_time_command", lambda asked, settings: command)
    monkeypatch.setattr(script, "_time_api", lambda problem, settings: 9.0)
    monkeypatch.setattr(script, "_time_page", lambda problem, settings: page)
    monkeypatch.setattr(script, "_time_browser", lambda browser, problem, settings: page)
    monkeypatch.setattr(script, "_ask_at_once", lambda problem, n, settings: ([1.0], errors))
    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(script.main, small=small).exception()
    assert (outcome is None) == (small or not misses)
    lines = [] if outcome is None else str(outcome).splitlines()
    assert [line.partition(":")[0] for line in lines] == ([] if small else misses)


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


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.name)
def test_benchmarks_use_no_private_names_and_call_no_kernels(path):
    source = path.read_text()
    assert not re.findall(r"\w\._[a-z]\w*|import _[a-z]\w*", source)
    assert "voilattice.compiled" not in source
