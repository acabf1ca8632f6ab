"""Corners of concave, piecewise linear functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voilattice.what_if.concave_lines import corners, least_gap


def test_all_corners_are_found_however_far_apart_they_are():
    def f(x):
        return min(3 * x, x + 1, 0.5 * x + 3, 700)

    for top in (2e3, 1e6):
        found = corners(f, 0.0, top)
        assert (found[0], found[-1]) == (0.0, top)
        for corner in (0.5, 4.0, 1394.0):
            assert min(abs(x - corner) for x in found) < 1e-6
    assert corners(f, 5.0, 5.0) == [5.0]


def test_a_corner_at_the_end_of_a_chord_is_found():
    for x in (0.1, 999.9):
        found = corners(lambda at, x=x: min(at, 0.5 * at + 0.5 * x), 0.0, 1000.0)
        assert min(abs(corner - x) for corner in found) < 1e-6


def test_a_line_has_no_corners():
    assert corners(lambda x: 2 * x + 1, 0.0, 10.0) == [0.0, 10.0]


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 7.0]), st.floats(0, 50)),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from([1.0, 30.0, 1000.0]),
)
def test_between_corners_the_function_is_a_line(lines, top):
    calls = []

    def f(x):
        calls.append(x)
        return min(slope * x + start for slope, start in lines)

    found = corners(f, 0.0, top)
    assert found == sorted(found)
    assert len(calls) <= 20 * (len(lines) + 1)
    at = np.linspace(0, top, 301)
    between = np.interp(at, found, [f(x) for x in found])
    assert between == pytest.approx([f(x) for x in at], rel=1e-7, abs=1e-7)


@given(
    *[
        st.lists(
            st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]), st.floats(0, 50)),
            min_size=1,
            max_size=6,
        )
        for _ in range(2)
    ],
    st.sampled_from([1.0, 30.0]),
)
def test_a_gap_is_never_smaller_than_its_bound(below, above, top):
    def f(x):
        return min(slope * x + start for slope, start in below)

    def g(x):
        return min(slope * x + start for slope, start in above)

    bound = least_gap(f, g, 0.0, top)
    assert all(g(x) - f(x) >= bound - 1e-6 for x in np.linspace(0.0, top, 50))


def test_the_bound_of_a_gap_between_lines_is_the_gap():
    assert least_gap(lambda x: min(x, 1.0), lambda x: 2.0 + x, 0.0, 3.0) == pytest.approx(
        2.0, abs=1e-3
    )
