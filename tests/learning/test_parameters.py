"""Smoothed counts, and expectation maximization against its own definition."""

import itertools

import numpy as np
import pytest
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice.errors import InputError, TooLargeError
from voilattice.learning import parameters
from voilattice.learning.parameters import fit_tables


def one_round(sizes, parents, codes, smoothing, tables):
    """Both steps of expectation maximization, read word by word: case by case, cell by cell."""
    families = [(*above, node) for node, above in enumerate(parents)]
    counts = [np.zeros([sizes[node] for node in family]) for family in families]
    for case in np.stack(codes, axis=1):
        completions = list(
            itertools.product(
                *([c] if c >= 0 else range(n) for c, n in zip(case, sizes, strict=True))
            )
        )
        weights = [
            np.prod([t[tuple(x[k] for k in f)] for t, f in zip(tables, families, strict=True)])
            for x in completions
        ]
        for x, weight in zip(completions, np.array(weights) / sum(weights), strict=True):
            for n, family in zip(counts, families, strict=True):
                n[tuple(x[k] for k in family)] += weight
    counts = [n + smoothing for n in counts]
    return [n / n.sum(axis=-1, keepdims=True) for n in counts]


@examples(80)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_cases=st.integers(2, 12),
    smoothing=st.sampled_from([0.1, 1.0, 5.0, 100.0]),
    gaps=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_parameters_do_not_change_by_one_more_round(seed, n_cases, smoothing, gaps):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    sizes = rng.integers(1, 4, n).tolist()
    parents = [[p for p in range(k) if rng.random() < 0.6] for k in range(n)]
    codes = [np.where(rng.random(n_cases) < gaps, -1, rng.integers(0, s, n_cases)) for s in sizes]
    tables = fit_tables(sizes, parents, codes, smoothing)
    for found, again in zip(
        tables, one_round(sizes, parents, codes, smoothing, tables), strict=True
    ):
        np.testing.assert_allclose(found, again, atol=1e-9)


def test_one_missing_cell_of_a_small_table_has_converged():
    # Two cases of each class; one x of class b is missing. By symmetry nothing favours a class.
    y, x = np.array([0, 0, 1, 1]), np.array([0, 1, 0, -1])
    for smoothing in (1.0, 10.0, 1000.0):
        prior, given_y = fit_tables([2, 2], [[], [0]], [y, x], smoothing)
        assert prior == pytest.approx([0.5, 0.5], abs=1e-12)
        # p = (1 + p + a) / (2 + 2 a) for the state seen once of b.
        p = (1 + smoothing) / (1 + 2 * smoothing)
        assert given_y == pytest.approx(np.array([[0.5, 0.5], [p, 1 - p]]), abs=1e-8)


def test_a_missing_class_is_filled_from_what_is_there():
    y, x = np.array([0, 0, 1, 1]), np.array([0, 0, 1, -1])
    (prior, _) = fit_tables([2, 2], [[], [0]], [np.array([0, 0, 1, -1]), y], 1.0)
    (other, _) = fit_tables([2, 2], [[], [0]], [y, x], 1.0)
    assert other == pytest.approx([0.5, 0.5])
    assert prior[1] > 0.4  # the last case looks like the third


def test_without_smoothing_a_row_without_cases_is_refused():
    with pytest.raises(InputError, match="smoothing: with none, some row of a table has no case"):
        fit_tables([2, 2], [[], [0]], [np.array([0, 0]), np.array([0, 1])], 0.0)


def test_what_does_not_converge_says_so(monkeypatch):
    monkeypatch.setattr(parameters, "MAX_ROUNDS", 1)
    with pytest.warns(UserWarning, match="still move by .* after 1 rounds"):
        fit_tables([2, 2], [[], [0]], [np.array([0, 0, 1, -1]), np.array([0, 1, 1, 1])], 9.0)


def test_too_many_missing_cells_in_one_part_are_refused(monkeypatch):
    monkeypatch.setattr(parameters, "MAX_CELLS", 100)
    codes = [np.array([0, 1, -1]) for _ in range(8)]
    parents = [list(range(k)) for k in range(8)]
    with pytest.raises(TooLargeError, match="8 cells that depend on each other are missing"):
        fit_tables([2] * 8, parents, codes, 1.0)


def test_a_long_chain_of_missing_cells_is_summed_node_by_node():
    n = 70
    codes = [np.array([0, 1, 1, -1]) for _ in range(n)]
    parents = [[k - 1] if k else [] for k in range(n)]
    tables = fit_tables([2] * n, parents, codes, 1.0)
    # Nothing of the last case is there: it adds what the others say.
    assert tables[0] == pytest.approx([0.4, 0.6], abs=1e-9)


def test_a_missing_node_with_many_children():
    n = 80
    y = np.array([0] * 20 + [1] * 20 + [-1])
    codes = [y, *(np.array([0, 1] * 20 + [k % 2]) for k in range(n))]
    prior, *_ = fit_tables([2] + [2] * n, [[]] + [[0]] * n, codes, 1.0)
    assert prior == pytest.approx([0.5, 0.5], abs=1e-6)


def test_a_case_whose_probability_is_below_any_double():
    n = 40
    codes = [np.array([0] * 20 + [1] * 20 + [-1])]
    codes += [np.append(np.zeros(40, int), 1)] * n
    prior, *_ = fit_tables([2] + [2] * n, [[]] + [[0]] * n, codes, 1e-9)
    assert np.isfinite(prior).all()
    assert prior.sum() == pytest.approx(1.0)


def test_slow_convergence_is_waited_for():
    # 96 of 100 cells are missing: every round takes off 4 % of what is left to go.
    (prior,) = fit_tables([2], [[]], [np.array([0, 0, 0, 1] + [-1] * 96)], 0.0)
    assert prior == pytest.approx([0.75, 0.25], abs=1e-8)


def test_a_case_of_weight_two_counts_as_two_cases_also_with_gaps():
    rng = np.random.default_rng(3)
    sizes, parents = [2, 3, 2, 2], [[], [0], [0, 1], [2]]
    cases = np.stack([rng.integers(0, size, 60) for size in sizes])
    cases[rng.random(cases.shape) < 0.2] = -1
    weights = rng.integers(1, 4, 60)
    weighted = fit_tables(sizes, parents, list(cases), 1.0, weights.astype(float))
    repeated = fit_tables(sizes, parents, list(np.repeat(cases, weights, axis=1)), 1.0)
    for a, b in zip(weighted, repeated, strict=True):
        assert a == pytest.approx(b, abs=1e-9)


def test_cases_with_many_gaps_in_many_columns_are_merged():
    rng = np.random.default_rng(4)
    n = 3000
    cases = [rng.integers(0, 2, n)]
    for _ in range(19):
        cases.append(np.where(rng.random(n) < 0.8, cases[0], 1 - cases[0]))
    cases = np.stack(cases)
    cases[rng.random(cases.shape) < 0.1] = -1
    tables = fit_tables([2] * 20, [[], *[[0]] * 19], list(cases), 1.0)
    for table in tables[1:]:
        assert table == pytest.approx(np.array([[0.8, 0.2], [0.2, 0.8]]), abs=0.05)
