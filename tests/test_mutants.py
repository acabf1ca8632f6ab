"""What mutants.toml lists is in the code, and docs/mutants.md says the same."""

import ast
import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
CONFIG = tomllib.loads((ROOT / "mutants.toml").read_text("utf-8"))


def source_of(module):
    return (ROOT / "src" / "voilattice" / f"{module.replace('.', '/')}.py").read_text("utf-8")


@pytest.mark.parametrize("module", CONFIG["modules"])
def test_a_module_has_the_tests_and_the_parts_that_are_named(module):
    settings = CONFIG["modules"][module]
    assert all((ROOT / test).exists() for test in settings["tests"])
    parts = {getattr(node, "name", "") for node in ast.walk(ast.parse(source_of(module)))}
    assert set(settings.get("skip", {})) <= parts


@pytest.mark.parametrize("entry", CONFIG["listed"], ids=lambda e: f"{e['module']}:{e['before']}")
def test_a_listed_line_is_in_its_module(entry):
    assert entry["module"] in CONFIG["modules"]
    lines = [line.strip() for line in source_of(entry["module"]).splitlines()]
    assert entry["before"] in lines
    assert entry["before"] not in entry.get("after", [])


def test_the_page_has_what_mutants_toml_lists(monkeypatch):
    # Cosmic Ray is installed for `make mutants` only; the report needs nothing of it.
    for name, wanted in {
        "cosmic_ray": (),
        "cosmic_ray.ast": ("ast_nodes", "get_ast"),
        "cosmic_ray.mutating": ("mutate_code",),
        "cosmic_ray.plugins": ("get_operator",),
    }.items():
        stub = ModuleType(name)
        stub.__dict__.update(dict.fromkeys(wanted))
        monkeypatch.setitem(sys.modules, name, stub)
    place = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    tool = importlib.util.module_from_spec(place)
    monkeypatch.setitem(sys.modules, "mutants", tool)  # dataclasses look their module up
    place.loader.exec_module(tool)
    page = (ROOT / "docs" / "mutants.md").read_text("utf-8")
    about, found, lists = page.partition("## Listed mutants")
    assert found + lists == "\n".join(tool.list_mutants(CONFIG)) + "\n"
    assert about.startswith(CONFIG["about"].strip())
