"""Curves, Table 3 and regret from the points of a run."""

import numpy as np
import pytest
from helpers.points import made_points

from voilattice.paper.experiment import QUICK, Point
from voilattice.paper.summary import curves_of, regret, table_3


def test_table_3_is_the_mean_over_intervals_the_last_one_closed():
    points = made_points(
        {"none": lambda x, _: x, "markov-blanket": lambda x, _: 100, "greedy": lambda x, _: x}
    )
    (panel, _) = curves_of(points)
    # points at 0, 250, ..., 2000; savings over the blanket are 100 - x
    expected = [np.mean([100, -150]), np.mean([-400, -650]), np.mean([-900, -1150]), -1650]
    assert table_3(panel, "greedy") == pytest.approx(expected)


def test_regret_is_a_share_of_the_optimum():
    points = made_points({"optimal": lambda x, _: x / 2, "greedy": lambda x, _: x * (x > 250) / 2})
    panel = curves_of(points)[0]
    # At 250 greedy has nothing, at the other 7 points it has the optimum's cost, at 0 nothing.
    mean, largest = regret(panel, "greedy")
    assert (mean, largest) == (pytest.approx(-1 / 8), pytest.approx(0))


def test_synthetic_seeds_are_averaged_or_kept_apart():
    points = [
        Point(p.scenario, p.expected, {"none": p.expected + p.scenario.seed})
        for p in made_points({"none": lambda x, _: x}, costs="synthetic", seeds=(0, 1))
    ]
    averaged, each = curves_of(points), curves_of(points, average=False)
    assert (len(averaged), len(each)) == (2, 4)
    assert averaged[0].total_cost["none"].tolist() == [x + 0.5 for x in QUICK.synthetic]
    assert each[1].scenario == "synthetic (seed 1)"
