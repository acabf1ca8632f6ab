import numpy as np
import pytest
from helpers.problems import naive_bayes, noisy_bayes, rare_findings
from helpers.strategies import problems
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Lattice, Network, Problem
from voilattice.budgets import memory_limit
from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.feature_sets import to_mask, to_words
from voilattice.valuation import tables
from voilattice.valuation.tables import expected_emcs, expected_emcs_in, root_table
from voilattice.valuation.valuation import value

ENGINES = ["python", "compiled"]


def reference(problem, rows):
    names = [problem.feature_names(to_mask(row)) for row in rows]
    return [value(problem, s).expected_emc for s in names]


@pytest.mark.parametrize("engine", ENGINES)
@given(problem=problems(max_features=5, max_states=5))
def test_every_set_of_the_lattice_equals_the_reference(engine, problem):
    rows = Lattice(problem).rows
    found = expected_emcs(problem, problem.evidence, rows, engine=engine)
    np.testing.assert_allclose(found, reference(problem, rows), atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@examples(50)
@given(problem=problems(max_features=6), seed=st.integers(0, 2**32 - 1))
def test_any_sets_in_any_order_are_valued(engine, problem, seed):
    free = [k for k, f in enumerate(problem.features) if f not in problem.evidence]
    rng = np.random.default_rng(seed)
    sets = [sum(1 << k for k in free if rng.random() < 0.5) for _ in range(7)]
    rows = to_words(sets, 1)
    found = expected_emcs(problem, problem.evidence, rows, engine=engine)
    np.testing.assert_allclose(found, reference(problem, rows), atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@examples(40)
@given(problem=problems(max_features=6, max_states=4), n_cells=st.integers(1, 40))
def test_parts_give_the_same_values(engine, problem, n_cells):
    rows = Lattice(problem).rows
    whole = expected_emcs(problem, problem.evidence, rows, engine=engine)
    with pytest.MonkeyPatch.context() as patch:
        # Tables pay only while they are hardly larger than the sets in them.
        patch.setattr(tables, "CELLS_PER_ELIMINATION", n_cells)
        parts = expected_emcs(problem, problem.evidence, rows, engine=engine)
    np.testing.assert_allclose(parts, whole, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_small_budget_splits_the_work_and_a_smaller_one_refuses_it(engine, monkeypatch):
    problem = noisy_bayes(10)
    rows = Lattice(problem, max_size=3).rows
    largest = []
    original = tables.root_table
    monkeypatch.setattr(
        tables,
        "root_table",
        lambda *arguments: largest.append(len((r := original(*arguments)).table)) or r,
    )
    with memory_limit(2 * 2**6 * 8 * tables.TABLES_AT_ONCE):
        found = expected_emcs(problem, {}, rows, engine=engine)
    assert len(largest) > 1
    assert max(largest) <= 2 * 2**6
    np.testing.assert_allclose(found, reference(problem, rows), atol=1e-9)
    with memory_limit(100), pytest.raises(TooLargeError, match=r"\(memory_limit\)"):
        expected_emcs(problem, {}, rows, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_values_are_the_same_from_run_to_run_and_for_any_number_of_threads(engine, monkeypatch):
    problem = noisy_bayes(9)
    rows = Lattice(problem).rows
    monkeypatch.setattr(tables, "CELLS_PER_THREAD", 1)
    first = expected_emcs(problem, {}, rows, engine=engine)
    assert len(np.unique(first.round(9))) > 100
    for n in (1, 2, 4):
        monkeypatch.setattr("os.cpu_count", lambda n=n: n)
        assert (expected_emcs(problem, {}, rows, engine=engine) == first).all()


def test_more_than_64_features_are_valued_in_parts():
    problem = noisy_bayes(70)
    rows = Lattice(problem, max_size=1).rows
    assert rows.shape == (71, 2)
    found = expected_emcs(problem, {}, rows)
    np.testing.assert_allclose(found, reference(problem, rows), atol=1e-9)


def test_large_work_is_given_to_the_compiled_engine(monkeypatch):
    used = []
    monkeypatch.setitem(tables._TWINS, "compiled", lambda *_, **__: used.append(1))
    expected_emcs(naive_bayes(13), {}, Lattice(naive_bayes(13)).rows)
    assert used
    used.clear()
    expected_emcs(naive_bayes(5), {}, Lattice(naive_bayes(5)).rows)
    assert not used


@pytest.mark.parametrize("engine", ENGINES)
def test_progress_counts_sets(engine, monkeypatch):
    problem = noisy_bayes(8)
    monkeypatch.setattr(tables, "WORK_PER_TASK", 0.01)  # as many tasks as large work has
    seen = []
    rows = Lattice(problem).rows
    expected_emcs(problem, {}, rows, engine=engine, progress=lambda *n: seen.append(n))
    assert seen[-1] == (256, 256)
    assert len(seen) > 30


def test_an_unknown_engine_is_refused():
    problem = naive_bayes(2)
    with pytest.raises(UnknownNameError, match="engine must be one of"):
        expected_emcs(problem, {}, Lattice(problem).rows, engine="fortran")


def test_impossible_evidence_is_refused():
    network = Network.from_tables(
        {"Y": ["T", "F"], "A": ["T", "F"], "B": ["T", "F"]},
        {},
        {"Y": [0.5, 0.5], "A": [1, 0], "B": [0.5, 0.5]},
    )
    sure = Problem.create(network, "Y", {"A": 1, "B": 1}, [[0, 1], [1, 0]])
    with pytest.raises(InputError, match="A=F is impossible"):
        expected_emcs(sure, {"A": "F"}, to_words([0], 1))


def test_the_largest_entry_of_a_root_table_is_near_one():
    for q in (1e-3, 1e-100, 1e-300):
        problem = rare_findings(q, chain=True)
        for known in ({}, {"X0": "a"}, {"X0": "a", "X1": "a"}):
            root = root_table(problem, known, (3, 4))
            assert 0.5 <= root.table.max() <= 1.0
            assert root.probability == pytest.approx(root.table.sum())


@pytest.mark.parametrize("engine", ENGINES)
@examples(40)
@given(problem=problems(max_features=5, max_states=4))
def test_sets_valued_in_a_table_at_hand_equal_the_reference(engine, problem):
    free = [k for k, f in enumerate(problem.features) if f not in problem.evidence]
    rows = Lattice(problem).rows
    root = tables.root_table(problem, problem.evidence, free)
    found = expected_emcs_in(root, free, problem.misclassification, rows, engine=engine)
    np.testing.assert_allclose(found, reference(problem, rows), atol=1e-9)


@pytest.mark.parametrize(
    ("engine", "sets", "n_cells"),
    [
        # The table over Y, A and B has 8 cells. A is summed out of it for {} and {B}, then B for
        # {}; B is summed out of the first table for {A}.
        ("python", [0b00, 0b01, 0b10, 0b11], 8 + 4 + 8),
        ("compiled", [0b00, 0b01, 0b10, 0b11], 8 + 4 + 8),
        # The compiled engine sums both features out at once.
        ("python", [0b00], 8 + 4),
        ("compiled", [0b00], 8),
        ("python", [0b11], 0),
        ("compiled", [0b11], 0),
    ],
)
def test_the_cells_that_an_engine_sums_are_counted(engine, sets, n_cells):
    problem, counted = noisy_bayes(2), []
    root = tables.root_table(problem, {}, [0, 1])
    rows, cost = to_words(sets, 1), problem.misclassification
    expected_emcs_in(root, [0, 1], cost, rows, engine=engine, count_cells=counted.append)
    assert sum(counted) == n_cells
