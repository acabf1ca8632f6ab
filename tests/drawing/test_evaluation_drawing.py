"""Pictures of an evaluation."""

import numpy as np
import pytest

from voilattice.drawing.evaluations import plot_calibration, plot_costs
from voilattice.errors import InputError
from voilattice.learning.held_out_results import FoldResults, Result, summarize


def evaluation(n_methods=3, name="method"):
    rng = np.random.default_rng(0)
    results = []
    for k in range(n_methods):
        right = rng.random(50) < 0.7
        results.append(
            Result(
                f"{name} {k}", np.full(50, "a", dtype=object),
                np.where(right, "a", "b").astype(object), np.full(50, 1.0 * k),
                np.where(right, 0.0, 20.0), rng.uniform(0.5, 1, 50), np.ones(50), 0.1,
                *(("naive", f"policy {k}") if k % 2 else ()),
            )
        )  # fmt: skip
    return summarize([FoldResults("y", np.arange(50), tuple(results))])


@pytest.mark.parametrize("draw", [plot_costs, plot_calibration])
def test_the_same_results_give_the_same_picture(draw, tmp_path):
    for name in ("a.svg", "b.svg"):
        draw(evaluation(), "a title for $5 and $6", tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("n_methods", [1, 5, 20])
@pytest.mark.parametrize("draw", [plot_costs, plot_calibration])
def test_any_number_of_methods_can_be_drawn(draw, n_methods, tmp_path):
    draw(evaluation(n_methods, "costs $x^$"), "t", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_costs_have_two_panels_and_calibrations_one_for_each_method(tmp_path):
    plot_costs(evaluation(4), "t", tmp_path / "costs.svg")
    plot_calibration(evaluation(3), "t", tmp_path / "calibration.svg")
    assert (tmp_path / "costs.svg").read_text().count('id="axes_') == 2
    assert (tmp_path / "calibration.svg").read_text().count('id="axes_') == 3


def test_methods_that_cost_nothing_can_be_drawn(tmp_path):
    names = np.full(4, "a", dtype=object)
    free = Result("free", names, names, *(np.zeros(4),) * 2, np.ones(4), np.zeros(4), 0.0)
    found = summarize([FoldResults("y", np.arange(4), (free,))])
    plot_costs(found, "t", tmp_path / "a.png")
    plot_calibration(found, "t", tmp_path / "b.png")


def test_a_picture_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="none/a.svg: cannot be written: "):
        plot_costs(evaluation(), "t", tmp_path / "none" / "a.svg")
