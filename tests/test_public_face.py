"""The names at the top of the package: all of them, documented, and light to import."""

import inspect
import subprocess
import sys

import pytest

import voilattice

NAMES = [
    *("load_problem", "write_problem", "read_network", "write_network", "Network", "Problem"),
    *("FeatureCosts", "Group", "Discount", "ConditionalCost", "emc", "evi", "cost", "benefit"),
    *("value", "Constraint"),
    *("Lattice", "explain", "best_set", "Policy", "build_policy", "load_policy", "save_policy"),
    *("advise", "apply_policy", "simulate", "compare", "learn_problem", "memory_limit"),
    "VoilatticeError",
]
HEAVY = ["numba", "pyagrum", "joblib", "matplotlib", "pandas", "networkx", "click", "rich"]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_there_and_says_what_it_is(name):
    assert name in voilattice.__all__
    assert name in dir(voilattice)
    found = getattr(voilattice, name)
    assert callable(found)
    own = vars(found).get("__doc__") if inspect.isclass(found) else found.__doc__
    assert own
    # What a dataclass writes for a class without a docstring is its signature.
    assert not own.startswith(f"{name}(")


def test_every_public_name_is_tested_here():
    assert sorted(voilattice.__all__) == sorted(NAMES)


def test_each_name_has_one_home_and_is_the_same_object_there():
    from importlib import import_module

    for name in NAMES:
        home = import_module(f"voilattice.{voilattice._HOME_OF[name]}")
        assert name in home.__all__
        assert getattr(voilattice, name) is getattr(home, name)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'voilattice' has no attribute 'nothing'"):
        voilattice.nothing  # noqa: B018


@pytest.mark.parametrize(
    "code", ["", "[getattr(voilattice, name) for name in voilattice.__all__]"], ids=["bare", "all"]
)
def test_the_import_loads_nothing_heavy(code):
    code = f"import sys, voilattice\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "voilattice" in loaded
    assert [module for module in HEAVY if module in loaded] == []
