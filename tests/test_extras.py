"""Extras: what each brings, and the one line where it is missing."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import voilattice as vl
from voilattice.errors import MissingPackageError, VoilatticeError
from voilattice.extras import EXTRAS, has_extra, need_extra

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = PROJECT["optional-dependencies"]
CORE = {"click", "cloudpickle", "jinja2", "joblib", "narwhals", "numba", "numpy", "rich", "tomli_w"}
# Of these, a test or a user brings their own; without them nothing is missing.
FOREIGN = {"pandas", "polars"}
# What is below these doors is behind a check at the door.
DOORS = ("learning/", "web/", "sklearn/", "baselines/", "arena/", "paper/")
TABLE = {"y": ["a", "b"] * 5, "x": [1, 2] * 5}


def packages_of(extra):
    found = set()
    for entry in DECLARED[extra]:
        name, inside = re.fullmatch(r"([\w-]+)(?:\[([\w,]+)\])?.*", entry).groups()
        if name == "voilattice":
            found |= {package for other in inside.split(",") for package in packages_of(other)}
        else:
            found.add(name.lower())
    return found


def test_the_core_is_light():
    names = {re.match(r"[\w-]+", entry)[0].replace("-", "_") for entry in PROJECT["dependencies"]}
    assert names == CORE


def test_the_extras_are_those_of_the_package():
    assert EXTRAS.keys() | {"all"} == DECLARED.keys()
    everything = {name for extra in EXTRAS if extra != "gpu" for name in packages_of(extra)}
    assert packages_of("all") == everything


def test_the_documentation_lists_every_extra_and_what_it_brings():
    text = (ROOT / "docs/reference/install.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", text, re.M))
    assert rows.keys() == EXTRAS.keys()
    for extra, modules in EXTRAS.items():
        names = {name.partition(" (")[0] for name in modules.values()} - {"threadpoolctl"}
        assert set(rows[extra].split(", ")) == names


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_the_modules_of_an_extra_are_those_of_its_packages(extra):
    known = metadata.packages_distributions()
    for module in EXTRAS[extra]:
        brought = {name.lower() for name in known.get(module, ())} or {"cupy-cuda13x"}
        assert brought & packages_of(extra), module
    assert len(EXTRAS[extra]) == len(packages_of(extra))


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_every_import_of_an_extra_is_behind_a_check():
    source = ROOT / "src/voilattice"
    modules = {module for extra in EXTRAS.values() for module in extra}
    web = {"h11", "pydantic", "starlette"}  # which FastAPI and Uvicorn bring
    for path in sorted(source.rglob("*.py")):
        text = path.read_text("utf-8")
        where = path.relative_to(source).as_posix()
        found = set(imported(ast.parse(text))) - set(sys.stdlib_module_names) - CORE - FOREIGN
        assert found - {"voilattice"} <= modules | web, where
        if found & modules and not where.startswith(DOORS):
            assert "need_extra(" in text or where == "files/pyagrum_reader.py", where


@pytest.mark.parametrize(
    ("arguments", "module", "said"),
    [
        (["serve"], "uvicorn", 'serve needs Uvicorn: pip install "voilattice[web]"'),
        (["serve"], "fastapi", 'serve needs FastAPI: pip install "voilattice[web]"'),
        (
            ["compare", "asia", "--emc", "0:1:1", "--plot", "{}/x.svg"],
            "matplotlib",
            '--plot: needs matplotlib: pip install "voilattice[plots]"',
        ),
        (
            ["threshold", "asia", "--feature", "xray", "--plot", "{}/x.svg"],
            "matplotlib",
            '--plot: needs matplotlib: pip install "voilattice[plots]"',
        ),
        (
            ["reproduce", "--out", "{}/out"],
            "matplotlib",
            'reproduce needs matplotlib: pip install "voilattice[arena]"',
        ),
        (
            ["compare", "asia", "--emc", "0:1:1", "--dask", "local:2"],
            "distributed",
            '--dask: needs Dask (the package distributed): pip install "voilattice[dask]"',
        ),
        (
            ["learn", "{}/t.csv", "--target", "y", "-o", "{}/out"],
            "sklearn",
            'learning from a table needs scikit-learn: pip install "voilattice[learn]"',
        ),
        (
            ["evaluate", "{}/t.csv", "--target", "y", "--costs", "{}/c.toml"],
            "pyagrum",
            'learning from a table needs pyAgrum: pip install "voilattice[learn]"',
        ),
        (
            ["arena", "--list"],
            "scipy",
            'the arena needs SciPy: pip install "voilattice[arena]"',
        ),
        (
            ["arena", "--data", "{}", "--out", "{}/out"],  # its report has plots
            "matplotlib",
            'the arena needs matplotlib: pip install "voilattice[arena]"',
        ),
    ],
)
def test_a_command_without_its_extra_says_what_to_install(
    tmp_path, monkeypatch, run, arguments, module, said
):
    monkeypatch.setitem(sys.modules, module, None)
    status, out, err = run(*(argument.format(tmp_path) for argument in arguments))
    assert (status, out, err) == (2, "", f"{said}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("work", "module", "extra"),
    [
        (lambda: vl.learn_problem(TABLE, "y", recipe="search"), "pyagrum", "learn"),
        (lambda: vl.Lattice(vl.load_problem("figure1")).to_networkx(), "networkx", "networkx"),
        (vl.load_problem("figure1").network.to_pyagrum, "pyagrum", "networks"),
    ],
)
def test_a_function_without_its_extra_says_what_to_install(monkeypatch, work, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=rf'pip install "voilattice\[{extra}\]"$'):
        work()


@pytest.mark.parametrize("extension", [".jgum", ".bgum"])
def test_another_format_without_its_extra_says_what_to_install(tmp_path, monkeypatch, extension):
    network = vl.load_problem("figure1").network
    file = tmp_path / f"network{extension}"
    vl.write_network(network, file)
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    said = rf'{extension} needs pyAgrum: pip install "voilattice\[networks\]"$'
    with pytest.raises(MissingPackageError, match=f"reading {said}"):
        vl.read_network(file)
    with pytest.raises(MissingPackageError, match=f"writing {said}"):
        vl.write_network(network, file)


@pytest.mark.parametrize("extension", [".bif", ".net", ".uai", ".xdsl", ".dsl", ".bifxml"])
def test_the_formats_of_other_tools_need_no_extra(tmp_path, monkeypatch, extension):
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    network, file = vl.load_problem("figure1").network, tmp_path / f"network{extension}"
    vl.write_network(network, file)
    assert vl.read_network(file).n_states == network.n_states


@pytest.mark.parametrize("room", ["arena", "baselines", "paper", "sklearn", "web"])
def test_a_room_without_its_extra_says_what_to_install(monkeypatch, room):
    module = "fastapi" if room == "web" else "sklearn"
    for name in [name for name in sys.modules if f"{name}.".startswith(f"voilattice.{room}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'needs .*: pip install "voilattice\[') as caught:
        __import__(f"voilattice.{room}")
    assert isinstance(caught.value, VoilatticeError)


def test_no_surface_loads_the_research_harness_or_the_templates_before_they_are_used():
    code = """
import importlib, sys, voilattice
from voilattice.cli.group import COMMANDS
for name in voilattice.__all__:
    getattr(voilattice, name)
for module in {f"voilattice.cli.{module}" for module, _ in COMMANDS.values()}:
    importlib.import_module(module)
import voilattice.drawing.report, voilattice.web.app, voilattice.web.tasks
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "voilattice.cli.arena" in loaded
    harness = {f"voilattice.{room}" for room in ("arena", "baselines", "paper")}
    assert loaded & (harness | {"jinja2"}) == set()


def test_an_extra_is_there_if_all_its_packages_are(monkeypatch):
    assert has_extra("learn")
    need_extra("learn")
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert not has_extra("learn")
    assert not has_extra("sklearn")
    assert has_extra("networks")
