"""Figures 4 to 8."""

import re

import pytest
from helpers.points import GOOD, made_points

from voilattice.paper.summary import curves_of


@pytest.mark.slow
def test_a_figure_has_a_line_for_each_policy_where_its_savings_are():
    from voilattice.paper.figures import savings_svg

    points = [
        point
        for costs in ("real", "synthetic")
        for point in made_points(GOOD, costs=costs, seeds=(None,) if costs == "real" else (0,))
    ]
    first = savings_svg(curves_of(points))
    changed = {**GOOD, "greedy": lambda x, _: x / 3}
    points = [
        point
        for costs in ("real", "synthetic")
        for point in made_points(changed, costs=costs, seeds=(None,) if costs == "real" else (0,))
    ]
    second = savings_svg(curves_of(points))
    assert first.count("<svg") == 1
    assert first != second
    lines = re.findall(r'<path d="([^"]*)" clip-path[^>]*fill="none"', first)
    assert len(set(lines)) >= 2 * 3  # three policies differ, in two widths of axes at least
