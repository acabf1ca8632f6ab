"""Means, standard errors, paired differences and calibration, by hand."""

import numpy as np
import pytest
from scipy import stats

from voilattice.learning.held_out_results import FoldResults, Result, compare_rows, summarize


def result(method="m", spent=(1.0, 2.0, 3.0), wrong=(0.0, 0.0, 9.0), **others):
    n = len(spent)
    right = np.array(wrong) == 0
    settings = {
        "truth": np.full(n, "a", dtype=object),
        "decision": np.where(right, "a", "b").astype(object),
        "probability": np.linspace(0.55, 0.95, n),
        "risk": np.full(n, 0.5),
        "seconds": 1.0,
    } | others
    return Result(
        method, feature_cost=np.array(spent), misclassification_cost=np.array(wrong), **settings
    )


def test_means_and_errors():
    found = result()
    assert found.mean_feature_cost == 2
    assert found.mean_misclassification_cost == 3
    assert found.mean_total_cost == 5
    assert found.standard_error == pytest.approx(stats.sem([1.0, 2.0, 12.0]))
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.mean_expected_cost == 2.5
    assert repr(found) == "<Result m: 5.00 ± 3.51>"


def test_one_row_has_no_standard_error():
    found = result(spent=(1.0,), wrong=(9.0,))
    assert found.standard_error is None
    assert repr(found) == "<Result m: 10.00>"
    above = compare_rows(np.array([3.0]), np.array([1.0]))
    assert (above.mean, above.standard_error, above.p_value) == (2.0, None, None)
    one = summarize([FoldResults("y", np.arange(1), (found,))])
    assert "±" not in one._repr_html_()


def test_no_share_is_right_where_no_decision_is_a_class():
    found = result(decides_on_classes=False, decision=np.full(3, "refer", dtype=object))
    assert found.accuracy is None
    assert "–" in summarize([FoldResults("y", np.arange(3), (found,))])._repr_html_()


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        result().feature_cost[0] = 0


def test_the_paired_test_is_that_of_scipy():
    rng = np.random.default_rng(0)
    one, other = rng.normal(5, 1, 40), rng.normal(5.3, 1, 40)
    found = compare_rows(one, other)
    assert found.mean == pytest.approx((one - other).mean())
    assert found.standard_error == pytest.approx(stats.sem(one - other))
    assert found.p_value == pytest.approx(stats.ttest_rel(one, other).pvalue)


@pytest.mark.parametrize(("more", "p"), [(0.0, 1.0), (2.0, 0.0)])
def test_equal_differences_leave_no_doubt(more, p):
    costs = np.array([1.0, 2.0, 3.0])
    assert compare_rows(costs + more, costs).p_value == p


def test_calibration_counts_every_case_once():
    p = np.array([0.5, 0.55, 0.99, 1.0, 0.31])
    found = result(spent=(0.0,) * 5, wrong=(0.0, 9.0, 0.0, 0.0, 9.0), probability=p)
    bins = found.calibration
    assert [b.count for b in bins] == [1, 2, 2]
    assert [b.predicted for b in bins] == pytest.approx([0.31, 0.525, 0.995])
    assert [b.observed for b in bins] == [0.0, 0.5, 1.0]


def evaluation():
    one = FoldResults(
        "y", np.array([3, 0, 2]), (result("dear", chosen=("x",)), result("cheap", (0, 0, 1)))
    )
    two = FoldResults(
        "y", np.array([1, 4, 5]), (result("dear", chosen=("z",)), result("cheap", (0, 0, 4)))
    )
    return summarize([one, two])


def test_folds_are_put_together_in_the_order_of_the_rows():
    found = evaluation()
    assert found.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert [r.method for r in found.results] == ["cheap", "dear"]
    assert found["dear"].feature_cost.tolist() == [2.0, 1.0, 3.0, 1.0, 2.0, 3.0]
    assert found["dear"].chosen == ("x", "z")
    assert found["dear"].seconds == 2
    assert found.difference(found["cheap"]).mean == 0
    assert repr(found).startswith("<Evaluation: 2 methods on 6 rows, lowest: <Result cheap: 3.83")


def test_a_notebook_shows_a_table():
    html = evaluation()._repr_html_()
    assert html.index("cheap") < html.index("dear")
    assert "lowest" in html
    assert "measured on rows that were not learned from (2 folds)" in html
    assert "<b>" not in summarize([FoldResults("y", np.arange(3), (result("<b>x"),))])._repr_html_()
