"""Mean ranks, Friedman's and Nemenyi's tests, and the paired bootstrap."""

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata

from voilattice.arena.ranks import (
    bootstrap_means,
    critical_difference,
    friedman_test,
    joined_groups,
    rank_costs,
)

# Demšar (JMLR 2006), Table 6: the AUC of C4.5 and three variants of it on 14 data sets. He prints
# 0.975 twice for the last but one, but ranks the two numbers 2 and 3, so they differ further on.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_demsars_example():
    ranks = rank_costs(1 - DEMSAR)
    assert ranks.mean(axis=0) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    # Demšar does not correct for ties: three pairs and one four, of 14 times four methods.
    corrected = 1 - (3 * (2**3 - 2) + (4**3 - 4)) / (14 * (4**3 - 4))
    chi_square = friedman_test(ranks).chi_square * corrected
    assert chi_square == pytest.approx(9.28, abs=0.005)
    assert 13 * chi_square / (14 * 3 - chi_square) == pytest.approx(3.69, abs=0.005)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_without_ties_the_statistics_are_demsars():
    ranks = rank_costs(np.random.default_rng(0).random((14, 4)))
    n, k = ranks.shape
    mean = ranks.mean(axis=0)
    chi_square = 12 * n / (k * (k + 1)) * ((mean**2).sum() - k * (k + 1) ** 2 / 4)
    found = friedman_test(ranks)
    assert found.chi_square == pytest.approx(chi_square)
    assert found.f == pytest.approx((n - 1) * chi_square / (n * (k - 1) - chi_square))


@pytest.mark.parametrize(
    ("n_methods", "q"),
    list(enumerate([1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164], start=2)),
)
def test_critical_values_are_those_of_demsars_table_5(n_methods, q):
    scale = math.sqrt(n_methods * (n_methods + 1) / 6)
    assert critical_difference(n_methods, 1) / scale == pytest.approx(q, abs=1.1e-3)


def test_critical_values_for_a_tenth():
    assert critical_difference(4, 14, 0.1) == pytest.approx(2.291 * math.sqrt(20 / 84), abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_and_friedmans_statistic_are_scipys_with_ties(seed):
    costs = np.random.default_rng(seed).integers(0, 4, (9, 5)).astype(float)
    ranks = rank_costs(costs)
    assert ranks.tolist() == rankdata(costs, axis=1).tolist()
    assert friedman_test(ranks).chi_square == pytest.approx(friedmanchisquare(*costs.T).statistic)


@pytest.mark.parametrize("seed", range(5))
def test_a_rank_counts_methods_that_cost_less_and_half_of_those_that_tie(seed):
    costs = np.random.default_rng(seed).integers(0, 4, (6, 5)).astype(float)
    for row, ranks in zip(costs, rank_costs(costs), strict=True):
        for cost, rank in zip(row, ranks, strict=True):
            assert rank == (row < cost).sum() + ((row == cost).sum() + 1) / 2


def test_costs_that_differ_by_rounding_tie():
    total = 0.1 + 0.2 + 0.3
    assert total != 0.3 + 0.2 + 0.1
    assert rank_costs(np.array([[total, 0.3 + 0.2 + 0.1, 0.7]])).tolist() == [[1.5, 1.5, 3]]
    assert rank_costs(np.zeros((1, 3))).tolist() == [[2, 2, 2]]


def test_methods_that_always_tie_do_not_differ():
    assert friedman_test(rank_costs(np.ones((5, 3)))).p_value == 1.0


def test_cells_that_all_agree_leave_no_doubt():
    found = friedman_test(np.tile([1.0, 2.0, 3.0], (6, 1)))
    assert (found.f, found.p_value) == (math.inf, 0.0)


def test_one_cell_says_nothing():
    assert friedman_test(np.array([[1.0, 2.0, 3.0]])).p_value == 1.0


@pytest.mark.parametrize("seed", range(10))
def test_groups_are_the_largest_runs_of_close_ranks(seed):
    ranks = np.sort(np.random.default_rng(seed).uniform(1, 8, 8))
    close = {(a, b) for a in range(8) for b in range(a + 1, 8) if ranks[b] - ranks[a] < 1.5}
    largest = {
        (a, b) for a, b in close if not {(a - 1, b), (a, b + 1)} & close
    }  # no wider run is close
    assert set(joined_groups(ranks.tolist(), 1.5)) == largest


def test_the_bootstrap_depends_on_its_seed_alone():
    differences = np.random.default_rng(0).normal(0.1, 1, (12, 3))
    names = ["a", "b", "c", "d"] * 3
    first, again = (bootstrap_means(differences, names, seed=1) for _ in range(2))
    other = bootstrap_means(differences, names, seed=2)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.allclose(first, other, atol=0.1)


def test_the_interval_is_that_of_a_mean_where_every_data_set_has_one_cell():
    differences = np.random.default_rng(0).normal(3, 2, (200, 1))
    lower, upper = bootstrap_means(differences, range(200))
    half = 1.96 * differences.std() / math.sqrt(200)
    assert lower[0] == pytest.approx(differences.mean() - half, abs=0.03)
    assert upper[0] == pytest.approx(differences.mean() + half, abs=0.03)


def test_related_cells_of_a_data_set_do_not_count_as_many():
    differences = np.random.default_rng(0).normal(0, 1, (10, 1))
    one = bootstrap_means(differences, range(10))
    copies = bootstrap_means(np.repeat(differences, 8, axis=0), np.repeat(range(10), 8).tolist())
    assert copies[1] - copies[0] == pytest.approx(one[1] - one[0], rel=0.05)


def test_a_difference_that_never_varies_is_certain():
    lower, upper = bootstrap_means(np.full((6, 1), -0.5), list("aabbbc"))
    assert (lower[0], upper[0]) == pytest.approx((-0.5, -0.5))
