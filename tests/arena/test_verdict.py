"""The verdict in words."""

import numpy as np
from helpers.standings import standings

from voilattice.arena.methods import OURS
from voilattice.arena.tables import compare_methods, find_weaknesses
from voilattice.arena.verdict import find_intervals, judge


def verdict(table, **options):
    found = compare_methods(standings(table, **options))
    return " ".join(judge(found, find_weaknesses(found)))


def arena(ours, n=12):
    """Return outcomes on n data sets: A is better than B, and ours costs what is given."""
    costs = {OURS: ours, "A": 20.0, "B": 40.0}
    return {
        (method, f"data {k}"): [cost + 0.01 * k] for k in range(n) for method, cost in costs.items()
    }


def test_the_best_method_is_named():
    said = verdict(arena(10))
    assert f"{OURS} has the best mean rank, 1.00 of 3 methods. A follows with 2.00." in said
    assert "The methods differ (Friedman's test, p < 0.001)" in said
    assert "our default ranks better than 2 methods and worse than none" in said
    assert "Our default costs least in 12 of 12 cells." in said
    assert "less than that of A, B" in said


def test_it_says_where_our_default_does_not_win_and_by_how_much():
    table = arena(30)
    table[OURS, "data 0"] = [60]
    said = verdict(table)
    assert (
        f"A has the best mean rank, 1.00 of 3 methods. Our default, {OURS}, is at place 2" in said
    )
    assert "Our default costs least in 0 of 12 cells. In 12 another method costs less" in said
    assert "200 % more at worst (data 0, low, where A is best)" in said
    assert "more than that of A" in said


def test_it_says_how_many_differences_may_be_chance():
    table = {
        (OURS, "x"): [10, 11, 12], ("A", "x"): [9, 9, 9],
        (OURS, "y"): [10, 11, 30], ("A", "y"): [9, 12, 9],
    }  # fmt: skip
    assert "In 1 of these the difference is more than twice" in verdict(table, n_splits=3)
    table = {key: outcomes[:1] for key, outcomes in table.items()}
    assert "standard error" not in verdict(table)


def test_our_quick_policies_are_also_left_aside():
    table = arena(30)
    table |= {("voilattice greedy", f"data {k}"): [10] for k in range(12)}
    said = verdict(table)
    assert "Our default, voilattice optimal, is at place 3 with 3.00." in said
    assert (
        "Without our quick policies, our default is at place 2 of 3, with a mean rank of 2.00"
        in said
    )


def test_equal_methods_do_not_differ():
    said = verdict({(method, f"{k}"): [5] for k in range(5) for method in (OURS, "A", "B")})
    assert "do not differ significantly (p = 1.00)" in said
    assert "in 5 of 5 cells, in 5 of them together with others" in said
    assert "too close to tell from that of A, B" in said


def test_an_arena_without_our_default_has_a_verdict():
    said = verdict({(method, f"{k}"): [cost] for k in range(5) for method, cost in
                    (("A", 1), ("B", 2))})  # fmt: skip
    assert "A has the best mean rank" in said
    assert "default" not in said


def test_nothing_is_said_of_one_method():
    assert verdict({("A", "x"): [1]}) == "There are not yet two methods that can be compared."


def test_intervals_are_those_of_our_default_minus_the_method():
    intervals = find_intervals(compare_methods(standings(arena(10))))
    assert set(intervals) == {"A", "B"}
    assert np.allclose(intervals["A"], -0.1)
    assert np.allclose(intervals["B"], -0.3)
