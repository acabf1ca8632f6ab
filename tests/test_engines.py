"""Every engine has a readable and a compiled twin that say the same: one suite for all pairs."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.forests import random_forest
from helpers.strategies import possible_evidence, problems
from helpers.worlds import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from voilattice import Lattice, best_set, engines, load_problem
from voilattice.baselines.tree_growth import EG2, find_twin, make_bias, sort_rows
from voilattice.compiled.arrays import CodedCases, TreeStakes
from voilattice.errors import UnknownNameError
from voilattice.lattice import growth
from voilattice.learning.training import train
from voilattice.model.acquisition import PathLimits
from voilattice.model.join_tree import JoinTree
from voilattice.optimal.exact.batch_solution import BatchSpace, SharedCosts
from voilattice.optimal.exact.batches import solve_batches
from voilattice.optimal.exact.blocks import find_blocks
from voilattice.optimal.exact.bundles import bundles_of
from voilattice.optimal.exact.plain import solve_plain
from voilattice.optimal.exact.plain_solution import PlainSpace
from voilattice.optimal.exact.solution import solve
from voilattice.optimal.exact.space import StateSpace
from voilattice.optimal.search.bounds.pools import Shape
from voilattice.optimal.search.bounds.repeat_values import twin_of
from voilattice.optimal.search.bounds.repeats import repeat_bound
from voilattice.valuation.tables import expected_emcs


def grown(problem, engine):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "_cache", growth._Cache(growth.CACHE_BYTES))
        return list(Lattice(problem, engine=engine).levels)


def valued(problem, engine):
    rows = Lattice(problem).rows
    return [expected_emcs(problem, problem.evidence, rows, engine=engine)]


def best(problem, engine):
    found = best_set(problem, engine=engine)
    names = [k for k, f in enumerate(problem.features) if f in found.features]
    return [np.array(names), np.array([found.benefit, found.cost, found.exact])]


def blocks(problem, engine):
    found = find_blocks(problem, 10**6, engine=engine)
    return [
        np.array(found.features), found.sizes, found.relevant, found.kept, found.paid, found.first,
        found.axis, found.child, found.dropped, found.screen,
    ]  # fmt: skip


def solution(problem, engine):
    space = StateSpace(problem, engine=engine)
    found = solve(space)
    for block in range(len(space.blocks)):
        found._solve_from(block)
    tables = space.tables
    return [space.gain, tables.mass, tables.risk, tables.factors, found._values, found._choice]


def repeated(problem, engine):
    """W of the bound, with one feature once, and the bound after each first result."""
    found = repeat_bound(problem, engine=engine, shape=Shape(1, 0), max_hub_states=64)
    if found is None:
        return []
    twin, tables = twin_of(engine), found.tables
    q, at = np.empty(tables.prior.shape), np.empty(len(tables.prior), np.int64)
    twin.belief_at(tables, np.full(len(problem.features), -1), q, at)
    lowers = [twin.lower_at(tables, q, at)]
    for i, name in enumerate(problem.features):
        lowers += [twin.lower_after(tables, q, at, i, x) for x in range(len(problem.states(name)))]
    return [tables.values, tables.stride, np.array(lowers)]


def plain_table(problem, engine):
    space = PlainSpace(problem, engine=engine)
    mass = np.empty(space.n_states)
    joint = space.joint.reshape(len(space.joint), -1)
    value = solve_plain(
        joint, space.sizes, problem.misclassification, space.prices(problem), mass=mass,
        engine=engine,
    )  # fmt: skip
    return [value, mass]


def batch_table(problem, engine):
    """V with up to two rounds that cost something."""
    costs = replace(problem.costs, round_cost=1.5)
    limited = replace(problem, costs=costs, limits=PathLimits(rounds=2))
    space = BatchSpace(limited, engine=engine)
    shared = SharedCosts(space, limited)
    value = solve_batches(
        space.table, space.prices(limited), shared, n_rounds=shared.n_rounds, engine=engine
    )
    return [value, space.table.mass, space.table.risk]


def passes(problem, engine):
    network = problem.network
    nodes = [network.index(name) for name in problem.features]
    e = problem.node_states(problem.evidence)
    tree = JoinTree(network, network.index(problem.target), nodes, e, engine=engine)
    rng = np.random.default_rng(1)
    rows = np.array([[rng.integers(-2, network.n_states[n]) for n in nodes] for _ in range(20)])
    rows = rows.clip(-1)
    one_by_one = [np.array(part) for part in zip(*map(tree.posteriors, rows), strict=True)]
    return [*one_by_one, *tree.posteriors_of(rows)]


def trained(problem, engine):
    """The loss and its slope, for questions about features that depend on the target alone."""
    n = len(problem.features)
    start, codes, classes = random_forest(n, len(problem.classes), seed=n)
    found = train(start, codes, classes, np.ones(len(classes)), 2.0, engine=engine)
    return [found.prior, *found.tables]


def cost_tree(problem, engine):
    """A tree over random codes, some missing, and what it costs on all of them."""
    rng = np.random.default_rng(len(problem.features))
    sizes = [len(problem.states(name)) for name in problem.features]
    n, n_classes = 60, len(problem.classes)
    codes = np.stack([rng.integers(-1, size, n) for size in sizes]).astype(np.int32)
    classes = np.where(codes[0] < 0, rng.integers(0, n_classes, n), codes[0] % n_classes)
    counted = np.arange(n + 1.0)
    cases = CodedCases(
        codes, classes.astype(np.int32), np.array(sizes), np.arange(len(sizes)) % 2 == 1,
        counted * np.log2(np.maximum(counted, 1)), n_classes,
    )  # fmt: skip
    prices = np.arange(1.0, len(sizes) + 1)
    after = np.tile(prices[:, None], (1, len(sizes)))
    twin, rows = find_twin(engine, 0), np.arange(n, dtype=np.int32)
    tree = twin.grow(cases, sort_rows(cases, rows), make_bias(EG2, prices, after))
    shares = np.full(n_classes, 1 / n_classes)
    stakes = TreeStakes(prices, after, np.ascontiguousarray(problem.misclassification), shares)
    return [*tree, np.array([twin.pay(tree, cases, rows, stakes)])]


PAIRS = {
    "trees": cost_tree,
    "training": trained,
    "growth": grown, "tables": valued, "best_set": best, "blocks": blocks, "bellman": solution,
    "repeats": repeated,
    "plain": plain_table,
    "batches": batch_table,
    "join_tree": passes,
}  # fmt: skip


def test_no_pair_is_left_out():
    assert set(PAIRS) == set(engines.COMPILED_FROM) == set(engines.COMPILING_FACTORS)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
@examples(60)
@given(problem=problems(max_features=5, max_states=3), seed=st.integers(0, 2**32 - 1))
def test_both_twins_say_the_same(pair, problem, seed):
    assume(pair not in {"blocks", "bellman", "plain"} or not bundles_of(problem))
    here = problem.with_evidence(possible_evidence(problem, seed, share=0.2))
    readable, compiled = (PAIRS[pair](here, engine) for engine in ("python", "compiled"))
    assert len(readable) == len(compiled)
    for mine, theirs in zip(readable, compiled, strict=True):
        assert mine.shape == theirs.shape
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["asia", "diabetes", "heart"])
def test_both_twins_say_the_same_on_larger_problems(name):
    problem = load_problem(name)
    for pair in PAIRS.values():
        for mine, theirs in zip(pair(problem, "python"), pair(problem, "compiled"), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loop", engines.COMPILED_FROM)
@pytest.mark.parametrize("is_ready", [True, False])
def test_the_engine_follows_the_work(loop, is_ready, monkeypatch):
    monkeypatch.setattr(engines, "are_ready", lambda loop: is_ready)
    limit = engines.COMPILED_FROM[loop] * (1 if is_ready else engines.COMPILING_FACTORS[loop])
    assert engines.choose_engine("auto", loop, limit - 1) == "python"
    assert engines.choose_engine("auto", loop, limit) == "compiled"
    assert engines.choose_engine("python", loop, 10 * limit) == "python"
    assert engines.choose_engine("compiled", loop, 0) == "compiled"


def test_an_unknown_engine_is_refused():
    with pytest.raises(UnknownNameError, match="engine must be one of auto, python, compiled"):
        engines.choose_engine("fortran", "growth", 1)


@pytest.mark.parametrize(("given", "n"), [("1", 1), ("3", 3), ("0", 1), ("", 8), ("2,1", 8)])
def test_a_process_uses_the_threads_that_it_was_given(given, n, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert engines.count_threads() == n
