"""Plots of sweeps and thresholds."""

import pytest

from voilattice import load_problem
from voilattice.drawing.what_if import plot_sweep, plot_threshold
from voilattice.files.variants import load_variants
from voilattice.policy.comparison import compare_variants
from voilattice.what_if.threshold import find_threshold


def test_a_threshold_is_marked_in_its_plot(tmp_path):
    figure1 = load_problem("figure1")
    for limit, marks in ((None, ["threshold 1.20", "now 5.00", "from 35.85"]), (0, ["now 5.00"])):
        found = find_threshold(figure1, "X1", time_limit=limit)
        plot_threshold(found, "Costs in $ and $", tmp_path / "t.svg")
        drawn = (tmp_path / "t.svg").read_text()
        for mark in marks:
            assert f"<!-- {mark} -->" in drawn


@pytest.mark.parametrize("feature", ["asia", "dysp"])
def test_any_feature_can_be_plotted(feature, tmp_path):
    plot_threshold(find_threshold(load_problem("asia"), feature), "", tmp_path / "t.png")
    assert (tmp_path / "t.png").stat().st_size > 1000


def test_a_sweep_has_a_line_for_each_policy(tmp_path):
    variants = load_variants("asia", {"costs.xray": [0, 10]})
    rows = compare_variants(variants, policies=["none", "greedy"], n_jobs=1)
    plot_sweep(rows, "costs.xray", "Asia", tmp_path / "s.svg")
    drawn = (tmp_path / "s.svg").read_text()
    for text in ("none", "greedy", "costs.xray"):
        assert f"<!-- {text} -->" in drawn
