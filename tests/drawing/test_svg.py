"""Drawings that the server sends need no inline styles."""

import pytest
from helpers.ward import ward

from voilattice import Lattice, build_policy, compare, load_problem
from voilattice.drawing.flow import flow_svg
from voilattice.drawing.lattice import lattice_svg
from voilattice.drawing.network import network_svg
from voilattice.drawing.plots import savings_svg
from voilattice.drawing.policy import policy_svg, policy_tree
from voilattice.valuation.lattice_values import value_lattice


def drawings():
    heart, asia = load_problem("heart"), load_problem("asia")
    policy = build_policy(asia, "optimal")
    yield lattice_svg(Lattice(asia), value_lattice(asia))
    yield lattice_svg(Lattice(heart))
    yield lattice_svg(Lattice(heart), value_lattice(heart))
    yield policy_svg(policy)
    yield policy_tree(policy)
    yield flow_svg(policy)
    yield network_svg(ward())
    yield savings_svg(compare(asia, [0, 100], policies=["greedy", "batch"]), "Asia")


@pytest.mark.slow
def test_no_drawing_of_the_server_has_inline_styles():
    for drawn in drawings():
        assert "<style" not in drawn
        assert "style=" not in drawn
        assert "<script" not in drawn
