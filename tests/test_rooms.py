"""The house: a reader finds every module from its room, and every room from the drawing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import voilattice

ROOT = Path(__file__).parents[1]
HOUSE = Path(voilattice.__file__).parent
ROOMS = sorted(path.parent for path in HOUSE.rglob("__init__.py") if path.parent != HOUSE)
DRAWING = re.search(r"^  ```\n(.*?)^  ```", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)


def modules_of(room):
    """The names of the modules and rooms inside a room."""
    names = {path.stem for path in room.glob("*.py")}
    names |= {path.parent.name for path in room.glob("*/__init__.py")}
    return {name for name in names if not name.startswith("__")}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(HOUSE)))
def test_a_room_names_every_module_in_it(room):
    words = set(re.findall(r"`(\w+)`", (room / "__init__.py").read_text()))
    assert modules_of(room) <= words


def test_the_drawing_names_every_room_and_what_stands_beside_them():
    drawn = set(re.findall(r"\w+/?", DRAWING.group(1)))
    rooms = {f"{room.name}/" for room in ROOMS if room.parent == HOUSE}
    beside = modules_of(HOUSE) - {room.name for room in ROOMS if room.parent == HOUSE}
    assert rooms | beside <= drawn


@pytest.mark.slow
def test_any_module_of_the_policies_can_be_imported_first():
    rooms = ("policy", "optimal", "consultation", "cases", "what_if")
    names = [
        "voilattice." + ".".join(path.relative_to(HOUSE).with_suffix("").parts)
        for room in rooms
        for path in (HOUSE / room).rglob("*.py")
        if path.name != "__init__.py"
    ]
    code = """
import importlib, sys
for name in sys.argv[1:]:
    for loaded in [n for n in sys.modules if n.split(".")[0] == "voilattice"]:
        del sys.modules[loaded]
    importlib.import_module(name)
"""
    subprocess.run([sys.executable, "-c", code, *names], check=True)
