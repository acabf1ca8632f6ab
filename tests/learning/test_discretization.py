import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voilattice.learning.discretization import (
    bin_labels,
    bins_of,
    frequency_cuts,
    mdl_cuts,
    median_cut,
)

COLUMNS = st.lists(
    st.tuples(st.integers(-4, 12).map(lambda k: k / 2), st.integers(0, 2)), min_size=2, max_size=60
)


def entropy(classes):
    counts = [classes.count(c) for c in set(classes)]
    return -sum(n / len(classes) * math.log2(n / len(classes)) for n in counts)


def literal_cuts(cases, force=False):
    """Fayyad and Irani, word by word, on (value, class) pairs."""
    cases = sorted(cases)
    values = sorted({v for v, _ in cases})
    classes = [c for _, c in cases]
    best = None
    for low, high in pairwise(values):
        left = [c for v, c in cases if v <= low]
        right = [c for v, c in cases if v >= high]
        after = (len(left) * entropy(left) + len(right) * entropy(right)) / len(cases)
        if best is None or after < best[0] - 1e-12:
            best = after, (low + high) / 2, left, right
    if best is None:
        return []
    after, cut, left, right = best
    n, gain = len(cases), entropy(classes) - after
    k, k1, k2 = (len(set(part)) for part in (classes, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(classes) - k1 * entropy(left) - k2 * entropy(right))
    if not force and gain <= (math.log2(n - 1) + delta) / n:
        return []
    below = [(v, c) for v, c in cases if v < cut]
    above = [(v, c) for v, c in cases if v > cut]
    return [*literal_cuts(below), cut, *literal_cuts(above)]


@given(COLUMNS)
def test_mdl_cuts_are_those_of_a_literal_implementation(cases):
    values, classes = (np.array(part) for part in zip(*cases, strict=True))
    assert mdl_cuts(values.astype(float), classes) == pytest.approx(literal_cuts(cases))


@pytest.mark.parametrize("seed", range(40))
def test_mdl_cuts_are_pyagrums_except_that_its_first_cut_is_never_refused(seed):
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 200))
    values = np.round(rng.normal(size=n), 1)
    noise = rng.choice([0.2, 1.0, 5.0])
    classes = (np.sin(3 * values) + noise * rng.normal(size=n) > 0).astype(int)
    edges = DiscreteTypeProcessor(defaultDiscretizationMethod="MDLP")._discretizationMDLP(
        values.reshape(-1, 1), classes.reshape(-1, 1), np.unique(values), np.unique(classes)
    )
    theirs = edges[1:-1]
    cases = list(zip(values.tolist(), classes.tolist(), strict=True))
    assert theirs == pytest.approx(literal_cuts(cases, force=True))
    mine = mdl_cuts(values, classes)
    if mine:
        assert mine == pytest.approx(theirs)


@given(COLUMNS, st.integers(2, 5))
def test_cuts_lie_between_values_and_bins_hold_them_in_order(cases, n_bins):
    values = np.array([float(v) for v, _ in cases])
    cuts = frequency_cuts(values, n_bins)
    assert cuts == sorted(set(cuts))
    assert len(cuts) < n_bins
    assert not set(cuts) & set(values.tolist()) or len(set(values.tolist())) == 1
    if cuts:
        bins = bins_of(values, cuts)
        assert set(bins.tolist()) == set(range(len(cuts) + 1))  # no bin is empty
        assert len(bin_labels(cuts)) == len(cuts) + 1


def test_a_median_cut_halves_the_cases():
    assert median_cut(np.arange(10.0)) == [4.5]
    assert median_cut(np.ones(5)) == []


def test_a_cut_is_what_its_label_says():
    values = np.array([0.1, 0.2, 1 / 3, 2 / 3])
    (cut,) = median_cut(values)
    assert bin_labels([cut]) == ["<0.2666666667", ">=0.2666666667"]
    assert float("0.2666666667") == cut
    near = np.array([1.0, np.nextafter(1.0, 2)])
    assert bins_of(near, median_cut(near)).tolist() == [0, 1]


def test_a_cap_keeps_the_cuts_that_tell_most():
    rng = np.random.default_rng(0)
    values = rng.uniform(0, 8, 4000)
    # Eight steps; those at 2 and 6 are the highest.
    chances = np.array([0.02, 0.12, 0.5, 0.6, 0.4, 0.5, 0.88, 0.98])[values.astype(int)]
    classes = (rng.random(4000) < chances).astype(int)
    every = mdl_cuts(values, classes)
    assert len(every) > 2
    assert mdl_cuts(values, classes, max_bins=len(every) + 1) == every
    assert mdl_cuts(values, classes, max_bins=3) == pytest.approx([2, 6], abs=0.1)
    for n in range(2, len(every) + 1):
        capped = mdl_cuts(values, classes, max_bins=n)
        assert len(capped) == n - 1
        assert set(capped) <= set(every)


def test_a_case_of_weight_two_counts_as_two_cases():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=300).round(1), rng.integers(1, 4, 300)
    classes = (values + rng.normal(size=300) > 0).astype(int)
    often, classes_often = np.repeat(values, weights), np.repeat(classes, weights)
    weights = weights.astype(float)
    assert mdl_cuts(values, classes, weights) == mdl_cuts(often, classes_often)
    for n in (2, 3, 7):
        assert frequency_cuts(values, n, weights) == frequency_cuts(often, n)
    assert mdl_cuts(values, classes, weights * 1e-4) == []  # less than one case in all
