"""Labels of sets in a drawing."""

import random
import xml.etree.ElementTree as ET

import pytest
from helpers.problems import naive_bayes, structured

from voilattice import Lattice, load_problem
from voilattice.drawing.labels import set_labels
from voilattice.drawing.lattice import MAX_DRAWN, lattice_svg
from voilattice.drawing.network import network_svg
from voilattice.valuation.lattice_values import value_lattice

SVG = "{http://www.w3.org/2000/svg}"


ALIKE = {f"{'long' * 10}{k}{'name' * 10}": ["Y"] for k in range(4)}


@pytest.mark.parametrize(
    "problem",
    [
        load_problem("asia"),
        naive_bayes(7),
        load_problem("diabetes"),
        structured(ALIKE),
        structured({f"a_rather_long_name_{k}": ["Y"] for k in range(7)}),
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


@pytest.mark.parametrize("seed", range(12))
def test_no_two_boxes_of_a_picture_have_the_same_text(seed):
    # Long names that differ at one place, and some that differ only in what is cut away.
    rng = random.Random(seed)
    stem = "".join(rng.choice("abcd ") for _ in range(40))
    names = {f"{stem[:k]}{letter}{stem[k:]}x" for k in (0, 20, 40) for letter in "PQR"}
    names = sorted(names)[: rng.randint(3, 9)]
    problem = structured({name: ["Y"] for name in names})
    lattice = Lattice(problem)
    values = value_lattice(problem, lattice=lattice)
    for svg in (lattice_svg(lattice), lattice_svg(lattice, values), network_svg(problem)):
        groups = list(ET.fromstring(svg).iter(f"{SVG}g"))
        texts = [
            tuple(t.text for t in group.iter(f"{SVG}text") if t.get("class") != "worth")
            for group in groups
        ]
        assert len(set(texts)) == len(texts)
