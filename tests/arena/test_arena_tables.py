"""What is compared, the summary of each method, and the cells in which ours is weak."""

import math

import numpy as np
import pytest
from helpers.standings import result, standings

from voilattice.arena.methods import OURS
from voilattice.arena.tables import compare_methods, find_weaknesses, summarize

QUICK = "voilattice greedy"


def test_costs_are_means_over_splits():
    found = compare_methods(
        standings({("A", "x"): [10, 20, 60], ("B", "x"): [1, 2, 3]}, n_splits=3)
    )
    assert found.methods == ("B", "A")
    assert found.total_cost.tolist() == [[2.0, 30.0]]
    error = np.std([10, 20, 60], ddof=1) / math.sqrt(3)
    assert found.standard_error[0, 1] == pytest.approx(error)
    assert found.ranks.tolist() == [[1.0, 2.0]]


def test_one_split_has_no_standard_error():
    found = compare_methods(standings({("A", "x"): [10], ("B", "x"): [1]}))
    assert np.isnan(found.standard_error).all()


def test_only_splits_that_all_methods_finished_count():
    found = compare_methods(
        standings({("A", "x"): [10, 20, 60], ("B", "x"): [1, "broken", None]}, n_splits=3)
    )
    assert found.total_cost.tolist() == [[1.0, 10.0]]
    assert not found.left_out


def test_a_method_without_a_result_in_a_cell_is_not_ranked():
    table = {
        ("A", "x"): [10, 20], ("A", "y"): [10, 20],
        ("B", "x"): [1, 2], ("B", "y"): ["broken", "broken"],
        ("C", "x"): ["broken", "broken"], ("C", "y"): ["broken", None],
        ("D", "x"): [3, 4], ("D", "y"): [5, 6],
    }  # fmt: skip
    found = compare_methods(standings(table, n_splits=2, methods="ABCDE"))
    assert found.methods == ("D", "A")
    assert found.cells == (("x", "low"), ("y", "low"))
    assert found.left_out == {
        "B": "has no result for y, low",
        "C": "failed everywhere",
        "E": "has no result yet",
    }


def test_cells_that_were_not_finished_do_not_count():
    table = {("A", "x"): [10], ("B", "x"): [1], ("A", "y"): [10], ("B", "y"): [None]}
    found = compare_methods(standings(table))
    assert found.cells == (("x", "low"),)
    assert found.methods == ("B", "A")


@pytest.mark.parametrize("outcome", [None, "broken"])
def test_nothing_can_be_compared_yet(outcome):
    found = compare_methods(standings({("A", "x"): [outcome]}))
    assert (found.methods, found.cells, summarize(found)) == ((), (), [])
    assert find_weaknesses(found) == []


def test_the_summary_by_hand():
    table = {
        ("A", "x"): [result(10, 5, errors=0.2, seconds=2)],
        ("A", "y"): [result(30, 30, errors=0.4, scale=300, seconds=4)],
        ("B", "x"): [result(10, 0)],
        ("B", "y"): [result(60, 0, scale=300)],
    }
    a, b = summarize(compare_methods(standings(table)))
    assert (a.method, a.mean_rank, b.mean_rank) == ("A", 1.25, 1.75)
    assert (a.n_won, b.n_won) == (2, 1)  # a tie is won by both
    assert a.normalized == pytest.approx((0.1 + 0.1) / 2)
    assert b.normalized == pytest.approx((0.1 + 0.2) / 2)
    assert (a.regret, b.regret) == pytest.approx((0, 0.05))
    assert a.spending == pytest.approx((0.5 + 1.0) / 2)
    assert a.errors == pytest.approx(0.3)
    assert a.seconds == pytest.approx(3)
    assert a.model_regret is None


def test_the_best_in_hindsight_may_be_another_method_in_each_cell():
    table = {("A", "x"): [10], ("A", "y"): [30], ("B", "x"): [20], ("B", "y"): [10]}
    regrets = {row.method: row.regret for row in summarize(compare_methods(standings(table)))}
    assert regrets == pytest.approx({"A": 0.10, "B": 0.05})


def test_regret_in_the_model_is_relative_to_the_optimum():
    table = {
        (OURS, "x"): [result(10, model=10.0), result(10, model=30.0)],
        (QUICK, "x"): [result(9, model=12.0), result(9, model=30.0)],
        (OURS, "y"): [result(10, model=5.0), result(10)],
        (QUICK, "y"): [result(9, model=6.0), result(9)],
        ("A", "x"): [8, 8],
        ("A", "y"): [8, 8],
    }
    rows = {row.method: row for row in summarize(compare_methods(standings(table, n_splits=2)))}
    assert rows[QUICK].model_regret == pytest.approx((2 / 40 + 1 / 5) / 2)
    assert rows[OURS].model_regret is None
    assert rows["A"].model_regret is None


def test_a_free_optimum_has_no_relative_regret():
    table = {(OURS, "x"): [result(0, model=0.0)], (QUICK, "x"): [result(0, model=1.0)]}
    rows = summarize(compare_methods(standings(table)))
    assert [row.model_regret for row in rows] == [None, None]
    assert [row.spending for row in rows] == [0, 0]


def test_weak_cells_come_worst_first_with_the_reason():
    table = {
        (OURS, "x"): [result(12, 6, recipe="naive"), result(12, 6, recipe="smooth"),
                      result(12, 6, recipe="smooth")],
        ("A", "x"): [result(10, 1, errors=0.3), result(9, 1, errors=0.3),
                     result(11, 1, errors=0.3)],
        ("B", "x"): [11, 11, 11],
        (OURS, "y"): [20, 20, 20],
        ("A", "y"): [30, 30, 30],
        ("B", "y"): [10, 10, 10],
        (OURS, "z"): [5, 5, 5],
        ("A", "z"): [5, 5, 5],
        ("B", "z"): [10, 10, 10],
    }  # fmt: skip
    worst, second = find_weaknesses(compare_methods(standings(table, n_splits=3)))
    assert (worst.data_set, worst.best, worst.ratio) == ("y", "B", 2.0)
    assert (second.data_set, second.level, second.best) == ("x", "low", "A")
    assert second.ratio == pytest.approx(1.2)
    assert (second.recipe, second.n_with_recipe, second.n_splits) == ("smooth", 2, 3)
    assert second.feature_cost == (6, 1)
    assert second.errors == pytest.approx((0.1, 0.3))
    assert (second.extra_spending, second.extra_errors) == pytest.approx((5, -3))
    assert second.standard_error == pytest.approx(1 / math.sqrt(3))


def test_a_rival_that_costs_nothing_is_infinitely_better():
    (row,) = find_weaknesses(compare_methods(standings({(OURS, "x"): [1], ("A", "x"): [0]})))
    assert row.ratio == math.inf


def test_without_our_default_no_cell_is_weak():
    assert find_weaknesses(compare_methods(standings({("A", "x"): [1], ("B", "x"): [0]}))) == []
