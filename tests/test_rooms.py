"""The house: a reader finds every module from its room, and every room from the drawing."""

import re
from pathlib import Path

import pytest

import voilattice

HOUSE = Path(voilattice.__file__).parent
ROOMS = sorted(path.parent for path in HOUSE.rglob("__init__.py") if path.parent != HOUSE)
DRAWING = re.search(
    r"^  ```\n(.*?)^  ```", (HOUSE.parents[1] / "CONTRIBUTING.md").read_text(), re.M | re.S
)


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
    drawn = set(re.findall(r"\w+", DRAWING.group(1)))
    assert modules_of(HOUSE) - {"problems"} <= drawn
