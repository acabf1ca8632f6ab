"""Labels of sets in a drawing."""

import xml.etree.ElementTree as ET

import pytest
from helpers.problems import naive_bayes, structured

from voilattice import Lattice, load_problem
from voilattice.drawing.labels import set_labels
from voilattice.drawing.lattice import MAX_DRAWN, lattice_svg

SVG = "{http://www.w3.org/2000/svg}"


ALIKE = {f"{'long' * 10}{k}{'name' * 10}": ["Y"] for k in range(4)}


@pytest.mark.parametrize(
    "problem",
    [
        load_problem("asia"),
        naive_bayes(8),
        load_problem("diabetes"),
        structured(ALIKE),
        structured({f"a_rather_long_name_{k}": ["Y"] for k in range(8)}),
        structured({"a": ["Y"], "b": ["Y"], "a, b": ["Y"]}),
    ],
)
def test_different_sets_have_different_labels(problem):
    v = Lattice(problem)
    assert len(v) <= MAX_DRAWN
    groups = list(ET.fromstring(lattice_svg(v)).iter(f"{SVG}g"))
    labels = [tuple(text.text for text in group.iter(f"{SVG}text")) for group in groups]
    assert len(set(labels)) == len(labels) == len(v)


def test_a_label_of_a_hundred_names_is_short_and_still_different():
    names = [f"feature_{k:03}" for k in range(100)]
    labels = set_labels([frozenset(names[:-1]), frozenset(names), frozenset(names[:-2])])
    assert len(set(labels.values())) == 3
    assert all(len(lines) <= 5 and len(max(lines, key=len)) <= 30 for lines in labels.values())
