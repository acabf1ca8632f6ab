"""Trees by hand, by enumeration and by Quinlan's book; the compiled twin by the readable one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from voilattice.baselines import tree_growth
from voilattice.baselines.tree_growth import (
    CS_ID3,
    EG2,
    IDX,
    expect_errors,
    find_deviations,
    find_gain,
    make_bias,
    score,
    sort_rows,
    try_biases,
)
from voilattice.compiled import trees
from voilattice.compiled.arrays import CodedCases, TreeStakes

# Quinlan's golf: outlook (sunny, overcast, rain), windy, play; 14 days.
OUTLOOK = [0, 0, 1, 2, 2, 2, 1, 0, 0, 2, 0, 1, 1, 2]
WINDY = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1]
HUMIDITY = [85, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 80]
PLAY = [0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0]
PRICES = np.array([5.0, 1.0, 2.0])


def code(columns, classes, is_number):
    codes = np.array(columns, dtype=np.int32)
    n = np.arange(len(classes) + 1.0)
    return CodedCases(
        codes,
        np.array(classes, dtype=np.int32),
        codes.max(axis=1).clip(0).astype(np.int64) + 1,
        np.array(is_number),
        n * np.log2(np.maximum(n, 1)),
        max(classes) + 1,
    )


def golf():
    ranks = np.unique(HUMIDITY, return_inverse=True)[1]
    return code([OUTLOOK, WINDY, ranks], PLAY, [False, False, True])


ALL = np.arange(14, dtype=np.int32)


def test_gains_are_those_of_quinlans_golf():
    """C4.5 (1993), chapter 2: outlook gains 0.246 bits, windy 0.048."""
    gains = [find_gain(golf(), ALL, f)[0] for f in (0, 1)]
    assert gains == pytest.approx([0.246, 0.048], abs=0.001)


def test_the_three_criteria_on_golf():
    """(2^ΔI - 1)/(C + 1), ΔI²/C and ΔI/C by hand, outlook at 5 and windy at 1."""
    cases, after = golf(), np.zeros((3, 3))
    outlook, windy = (find_gain(cases, ALL, f)[0] for f in (0, 1))
    found = {
        kind: [score(make_bias(kind, PRICES, after), g, c) for g, c in ((outlook, 5), (windy, 1))]
        for kind in (EG2, CS_ID3, IDX)
    }
    assert found[EG2] == pytest.approx([(2**0.24675 - 1) / 6, (2**0.04813 - 1) / 2], abs=1e-4)
    assert found[EG2] == pytest.approx([0.0311, 0.0170], abs=1e-4)
    assert found[CS_ID3] == pytest.approx([0.01218, 0.00232], abs=1e-4)
    assert found[IDX] == pytest.approx([0.0494, 0.0481], abs=1e-4)


def test_without_strength_eg2_ranks_as_the_gain_does():
    """Turney (1995), section 3.2: with ω = 0, the price does not matter."""
    bias = make_bias(EG2, PRICES, np.zeros((3, 3)), 0.0)
    assert score(bias, 0.3, 100.0) == score(bias, 0.3, 0.0) > score(bias, 0.2, 0.0)


@pytest.mark.parametrize(
    ("n_errors", "n", "share"), [(0, 6, 0.206), (0, 9, 0.143), (0, 1, 0.750), (1, 16, 0.157)]
)
def test_expected_errors_are_those_of_quinlans_book(n_errors, n, share):
    """C4.5 (1993), chapter 4: U_25%(0, 6) = 0.206 and so on, in the votes of congress."""
    bias = make_bias(EG2, PRICES, np.zeros((3, 3)))
    assert expect_errors(n_errors, n, bias) / n == pytest.approx(share, abs=5e-4)


def test_the_price_decides_what_is_tested_first():
    y = [0, 1] * 20
    cases = code([y, y], y, [False, False])
    order = sort_rows(cases, np.arange(40, dtype=np.int32))
    for prices, first in ((np.array([1.0, 9.0]), 0), (np.array([9.0, 1.0]), 1)):
        for kind in (EG2, CS_ID3, IDX):
            bias = make_bias(kind, prices, np.tile(prices[:, None], (1, 2)))
            assert tree_growth.grow(cases, order, bias).feature[0] == first


def draw(seed):
    """Return random coded cases with missing cells, categories and numbers, and prices."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 60)), int(rng.integers(1, 5))
    is_number = rng.random(m) < 0.5
    n_classes = int(rng.integers(2, 4))
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    columns = []
    for k in range(m):
        size = int(rng.integers(2, 12 if is_number[k] else 5))
        cells = np.where(rng.random(n) < 0.6, np.minimum(y, size - 1), rng.integers(0, size, n))
        columns.append(np.where(rng.random(n) < 0.15, -1, cells))
    cases = code(columns, y.tolist(), is_number.tolist())
    prices = rng.integers(0, 9, m).astype(float)
    after = np.minimum(prices[:, None], rng.integers(0, 9, (m, m)).astype(float))
    return rng, cases, prices, after


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_gains_are_those_of_the_definition(seed):
    """Every threshold in turn, with SciPy's entropy."""
    _, cases, _, _ = draw(seed)
    rows = np.arange(len(cases.classes), dtype=np.int32)
    y = cases.classes
    for f, codes in enumerate(cases.codes):
        there = codes >= 0

        def bits(part):
            return entropy(np.bincount(part), base=2) * len(part) if len(part) else 0.0

        def gain(ways, y=y, there=there):
            apart = sum(bits(y[ways == way]) for way in set(ways[there].tolist()))
            return (bits(y[there]) - apart) / len(y)

        if cases.is_number[f]:
            cuts = [
                np.where(there, codes > c, -1)
                for c in range(codes.max())
                if min((there & (codes <= c)).sum(), (codes > c).sum()) >= 2
            ]
            wanted = max(map(gain, cuts), default=0.0)
        else:
            large = (np.bincount(codes[there]) >= 2).sum() >= 2 if there.any() else False
            wanted = gain(codes) if large else 0.0
        assert find_gain(cases, rows, f)[0] == pytest.approx(max(wanted, 0.0), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_both_twins_grow_the_same_tree_and_pay_the_same(seed):
    rng, cases, prices, after = draw(seed)
    n = len(cases.classes)
    rows = np.sort(rng.choice(n, max(n // 2, 2), replace=False)).astype(np.int32)
    others = np.arange(n, dtype=np.int32)
    cost = rng.integers(0, 50, (int(rng.integers(1, 4)), cases.n_classes)).astype(float)
    shares = np.bincount(cases.classes, minlength=cases.n_classes) / n
    stakes = TreeStakes(prices, after, cost, shares)
    order = sort_rows(cases, rows)
    for kind in (EG2, CS_ID3, IDX):
        confidence = float(rng.choice([0.01, 0.25, 1.0]))
        bias = make_bias(
            kind, prices, after, rng.random(), confidence, is_corrected=rng.random() < 0.5
        )
        mine, theirs = tree_growth.grow(cases, order, bias), trees.grow(cases, order, bias)
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
        paid = tree_growth.pay(mine, cases, others, stakes)
        assert paid == pytest.approx(trees.pay(theirs, cases, others, stakes))
    strengths, confidences = rng.random(3), rng.uniform(0.01, 1, 3)
    bias = make_bias(EG2, prices, np.full(after.shape, math.inf), is_corrected=False)
    variants = (
        cases, order[None], others[None], bias, rng.uniform(0, 9, (3, len(prices))),
        strengths, confidences, find_deviations(confidences), stakes,
    )  # fmt: skip
    assert try_biases(*variants) == pytest.approx(trees.try_biases(*variants))


def test_a_missing_cell_costs_nothing_and_goes_where_most_cases_go():
    y = [0] * 12 + [1] * 8
    cells = y.copy()
    cells[0] = -1
    cases = code([cells], y, [False])
    stakes = TreeStakes(np.array([3.0]), np.zeros((1, 1)), 1.0 - np.eye(2), np.array([0.6, 0.4]))
    bias = make_bias(IDX, stakes.prices, stakes.after)
    tree = tree_growth.grow(cases, sort_rows(cases, np.arange(20, dtype=np.int32)), bias)
    assert tree_growth.walk(tree, np.array([-1])) == (tree.branches[0], [])
    assert tree_growth.pay(tree, cases, np.array([0, 1], dtype=np.int32), stakes) == 1.5


def test_a_number_that_is_tested_twice_is_paid_once():
    x = np.arange(60) // 2
    y = ((x > 9) & (x < 20)).astype(int)
    cases = code([x], y.tolist(), [True])
    bias = make_bias(EG2, np.array([3.0]), np.full((1, 1), 3.0))
    tree = tree_growth.grow(cases, sort_rows(cases, np.arange(60, dtype=np.int32)), bias)
    assert (tree.feature >= 0).sum() == 2
    stakes = TreeStakes(bias.prices, bias.after, 10 * (1.0 - np.eye(2)), np.array([0.7, 0.3]))
    assert tree_growth.pay(tree, cases, np.arange(60, dtype=np.int32), stakes) == 3.0
