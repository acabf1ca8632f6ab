"""Pictures of an arena."""

import pytest

from voilattice.drawing.arena import costs_svg, ranks_svg


@pytest.mark.parametrize("n", [2, 5, 24])
def test_any_number_of_methods_can_be_drawn(n):
    methods = [f"method {k} for $x^$" for k in range(n)]
    ranks = [1 + k for k in range(n)]
    drawn = ranks_svg(methods, ranks, 3.2, [(0, 1)], [methods[0]])
    assert drawn.startswith("<svg")
    assert costs_svg(methods, [0.1] * n, [0.2] * n, [methods[0]]).startswith("<svg")


def test_the_same_numbers_give_the_same_picture():
    first, again = (ranks_svg(["A", "B"], [1.2, 1.8], 0.5, []) for _ in range(2))
    assert first == again


def test_methods_that_always_tie_can_be_drawn():
    assert ranks_svg(["A", "B"], [1.5, 1.5], 0.5, [(0, 1)]).startswith("<svg")
    assert costs_svg(["A", "B"], [0.0, 0.0], [0.0, 0.0]).startswith("<svg")


def test_a_bar_is_drawn_for_each_group():
    def n_lines(groups):
        return ranks_svg(["A", "B", "C"], [1, 2, 3], 1.5, groups).count("<path")

    # Each joined group is one more path.
    assert n_lines([(0, 1), (1, 2)]) == n_lines([]) + 2
