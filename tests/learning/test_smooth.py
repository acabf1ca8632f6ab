import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice.learning.smooth import Feature, fit_smooth


def numbers(values, n_bins=5):
    cuts = np.unique(np.nanquantile(values, np.arange(1, n_bins) / n_bins))
    codes = np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))
    return Feature(codes, len(cuts) + 1, values, tuple(cuts))


def draw(seed, n=300):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = rng.normal(size=n) + y
    z = x + rng.normal(size=n)
    names = np.clip(np.rint(x), 0, 2).astype(int)
    other = np.where(rng.random(n) < 0.8, names, rng.integers(0, 3, n))
    z[rng.random(n) < 0.1] = np.nan
    names[rng.random(n) < 0.1] = -1
    return y, [numbers(x), numbers(z), Feature(names, 3), Feature(other, 3)]


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 30.0, 1000.0]), st.booleans())
def test_every_table_is_a_distribution_without_zeros(seed, strength, forest):
    y, features = draw(seed, n=60)
    found = fit_smooth(features, y, 3, np.ones(60), strength, forest=forest)
    assert forest or found.parents == (-1,) * 4
    for table in (found.prior, *found.tables):
        assert (table > 0).all()
        np.testing.assert_allclose(table.sum(axis=-1), 1.0)


def test_many_cases_and_little_strength_give_the_counts():
    y, features = draw(0, n=5_000)
    found = fit_smooth(features, y, 3, np.ones(5_000), 1e-9, forest=False)
    for feature, table in zip(features, found.tables, strict=True):
        for k in range(3):
            cases = feature.codes[(y == k) & (feature.codes >= 0)]
            shares = np.bincount(cases, minlength=feature.n_states) / len(cases)
            np.testing.assert_allclose(table[k, 0], shares, atol=0.01)


def test_the_model_of_a_normal_column_is_near_its_true_bins():
    from scipy.special import ndtr

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20_000)
    x = rng.normal(size=40_000) + y
    column = numbers(x, 8)
    found = fit_smooth([column], y, 2, np.ones(40_000), 1e6, forest=False)
    cuts = np.array([-np.inf, *column.cuts, np.inf])
    for k in range(2):
        np.testing.assert_allclose(found.tables[0][k, 0], np.diff(ndtr(cuts - k)), atol=0.02)


def test_dependent_columns_are_joined_and_independent_ones_are_not():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    a = rng.normal(size=400)
    b, c = a + 0.5 * rng.normal(size=400), rng.normal(size=400)
    found = fit_smooth([numbers(a), numbers(b), numbers(c)], y, 2, np.ones(400), 1000.0)
    assert found.parents == (-1, 0, -1)
    # A large a makes a large b likely: the table has its mass on the diagonal.
    assert found.tables[1][0, 4, 4] > 0.5
    assert found.tables[1][0, 0, 4] < 0.05


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_number_and_a_name_are_joined_both_ways(order):
    rng = np.random.default_rng(4)
    y, name = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    column = numbers(rng.normal(size=600) + 2 * name)
    features = [Feature(name, 2), column]
    found = fit_smooth([features[k] for k in order], y, 2, np.ones(600), 1000.0)
    assert sorted(found.parents) == [-1, 0]
    table = found.tables[1][0]
    by_name = table if order == (0, 1) else table.T
    assert by_name[0, 0] > by_name[1, 0]
    assert by_name[1, -1] > by_name[0, -1]


def test_the_forest_does_not_change_what_one_feature_says():
    y, features = draw(7)
    weights = np.ones(300)
    alone = fit_smooth(features, y, 3, weights, 1e6, forest=False)
    joined = fit_smooth(features, y, 3, weights, 1e6)
    assert max(joined.parents) >= 0
    for i, p in enumerate(joined.parents):
        if p >= 0:
            margin = np.einsum("yu,yux->yx", alone.tables[p][:, 0], joined.tables[i])
            np.testing.assert_allclose(margin, alone.tables[i][:, 0], atol=0.01)


def test_a_case_of_weight_two_counts_twice():
    y, features = draw(5, n=80)
    w = np.random.default_rng(0).integers(1, 3, 80)
    again = np.repeat(np.arange(80), w)
    doubled = [
        Feature(f.codes[again], f.n_states, None if f.values is None else f.values[again], f.cuts)
        for f in features
    ]
    one = fit_smooth(features, y, 3, w.astype(float), 10.0)
    two = fit_smooth(doubled, y[again], 3, np.ones(len(again)), 10.0)
    assert one.parents == two.parents
    for mine, theirs in zip(one.tables, two.tables, strict=True):
        np.testing.assert_allclose(mine, theirs)


@pytest.mark.parametrize("weights", [np.full(80, 1 / 80), np.where(np.arange(80) == 3, 1e12, 1.0)])
def test_weights_may_be_tiny_or_uneven(weights):
    y, features = draw(5, n=80)
    found = fit_smooth(features, y, 3, weights, 1000.0)
    for table in found.tables:
        np.testing.assert_allclose(table.sum(axis=-1), 1.0)
        assert (table > 0).all()
