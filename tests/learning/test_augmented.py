import itertools
import math

import numpy as np
import pytest
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice.learning.augmented import (
    Augmented,
    count_pairs,
    gain_of_arc,
    information_gain,
    plain_forest,
    span_forest,
)


def is_forest(parents):
    for start in range(len(parents)):
        seen, node = set(), start
        while node >= 0:
            if node in seen:
                return False
            seen.add(node)
            node = parents[node]
    return True


@examples(60)
@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_no_forest_has_a_higher_gain(n, seed):
    rng = np.random.default_rng(seed)
    arcs = [(float(rng.normal()), i, j) for i in range(n) for j in range(i)]
    worth = {frozenset((i, j)): gain for gain, i, j in arcs}
    parents = span_forest(n, arcs)
    found = sum(worth[frozenset((i, p))] for i, p in enumerate(parents) if p >= 0)
    best = max(
        sum(worth[frozenset((i, p))] for i, p in enumerate(choice) if p >= 0)
        for choice in itertools.product(*[[-1, *(j for j in range(n) if j != i)] for i in range(n)])
        if is_forest(choice)
    )
    assert is_forest(parents)
    assert found == pytest.approx(best)


def test_information_gain_is_that_of_the_definition():
    rng = np.random.default_rng(1)
    y, a, b = rng.integers(0, 2, 90), rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    w = rng.random(90)
    counts = count_pairs(y, a, b, (2, 3, 2), w)
    n, told = w.sum(), 0.0
    for k, i, j in itertools.product(range(2), range(3), range(2)):
        p = w[(y == k) & (a == i) & (b == j)].sum() / n
        p_y = w[y == k].sum() / n
        p_a, p_b = w[(y == k) & (a == i)].sum() / n, w[(y == k) & (b == j)].sum() / n
        told += n * p * math.log(p * p_y / (p_a * p_b)) if p else 0.0
    assert information_gain(counts) == pytest.approx(told)


def test_missing_cells_are_not_counted():
    y, a, b = np.array([0, 0, 1]), np.array([0, -1, 1]), np.array([1, 1, -1])
    assert count_pairs(y, a, b, (2, 2, 2), np.ones(3)).sum() == 1


def test_an_arc_needs_cases_to_pay_for_it():
    one = np.array([0, 1] * 4)
    none = np.zeros(8, dtype=int)
    assert gain_of_arc(none, one, one, (1, 2, 2), np.ones(8)) > 0
    assert gain_of_arc(none, one, np.array([0, 1, 1, 0] * 2), (1, 2, 2), np.ones(8)) < 0


def test_the_forest_follows_the_dependences():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    a = rng.integers(0, 2, 500)
    b = np.where(rng.random(500) < 0.9, a, 1 - a)
    c = rng.integers(0, 2, 500)
    assert plain_forest([2, 2, 2], [a, b, c], y, 2, np.ones(500)) == (-1, 0, -1)


def test_a_feature_comes_after_its_parent():
    network = Augmented(np.ones(1), (2, 0, -1, 2), ())
    order = network.order
    assert sorted(order) == [0, 1, 2, 3]
    assert all(order.index(p) < order.index(i) for i, p in enumerate(network.parents) if p >= 0)
