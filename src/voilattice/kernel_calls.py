"""A small call of every kernel: numba compiles it then, for the types that all calls have.

numba compiles a kernel for the types of its arguments. A call from the code that uses the kernel is
the one way to have the right ones, so each loop is run once, on a small problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import CodedCases, TreeStakes
from voilattice.files.problems import load_problem
from voilattice.lattice.lattice import Lattice
from voilattice.model.acquisition import PathLimits
from voilattice.model.join_tree import JoinTree
from voilattice.model.problem import Problem
from voilattice.optimal.exact.batch_solution import BatchSpace, SharedCosts
from voilattice.optimal.exact.batches import solve_batches
from voilattice.optimal.exact.blocks import find_blocks
from voilattice.optimal.exact.plain import solve_plain
from voilattice.optimal.exact.plain_solution import PlainSpace
from voilattice.optimal.exact.solution import solve
from voilattice.optimal.exact.space import StateSpace
from voilattice.optimal.search.bounds.pools import Shape
from voilattice.optimal.search.bounds.repeats import repeat_bound
from voilattice.optimal.search.packing import state_rows
from voilattice.optimal.search.trials import Search
from voilattice.policy.solvers import build_policy
from voilattice.valuation.best_set import best_set
from voilattice.valuation.tables import expected_emcs

__all__ = ["CALLS", "NEEDS", "call_kernels"]

ENGINE = "compiled"
MAX_STATES = 10_000  # of a problem as small as ours


def call_kernels(loop: str) -> None:
    """Call the kernels of a loop."""
    CALLS[loop](load_problem("builtin:asia"))


def _grow_lattice(problem: Problem) -> None:
    list(Lattice(problem, engine=ENGINE).levels)


def _value_sets(problem: Problem) -> None:
    expected_emcs(problem, problem.evidence, Lattice(problem).rows, engine=ENGINE)


def _find_best_set(problem: Problem) -> None:
    best_set(problem, engine=ENGINE)


def _find_blocks(problem: Problem) -> None:
    find_blocks(problem, MAX_STATES, engine=ENGINE)


def _solve_blocks(problem: Problem) -> None:
    solve(StateSpace(problem, engine=ENGINE))


def _solve_table(problem: Problem) -> None:
    space = PlainSpace(problem, engine=ENGINE)
    joint = space.joint.reshape(len(space.joint), -1)
    prices = space.prices(problem)
    mass = np.empty(space.n_states)
    solve_plain(
        joint, space.sizes, problem.misclassification, prices, mass=mass, engine=ENGINE
    )  # fmt: skip


def _solve_rounds(problem: Problem) -> None:
    costs = replace(problem.costs, round_cost=1.0)  # type: ignore[type-var]
    limited = replace(problem, costs=costs, limits=PathLimits(rounds=2))
    space = BatchSpace(limited, engine=ENGINE)
    shared = SharedCosts(space, limited)
    prices = space.prices(limited)
    solve_batches(space.table, prices, shared, n_rounds=shared.n_rounds, engine=ENGINE)


def _pass_messages(problem: Problem) -> None:
    network = problem.network
    nodes = [network.index(name) for name in problem.features]
    tree = JoinTree(network, network.index(problem.target), nodes, engine=ENGINE)
    nothing = np.full(len(nodes), -1)
    tree.posteriors(nothing)
    tree.posteriors_of(nothing[None])


def _bound_by_repeats(problem: Problem) -> None:
    bound = repeat_bound(problem, deadline=Deadline(), engine=ENGINE, shape=Shape(1, 0))
    assert bound is not None
    bound.lower()


def _search(problem: Problem) -> None:
    from voilattice.compiled.search import move_rows

    search = Search(problem)
    search.reveal(Deadline())
    search.repeat(Deadline())
    search.run(Deadline())  # before it starts from a policy: that leaves nothing to search here
    search.start_from(build_policy(problem, "greedy"))
    search.policy("optimal", Deadline(), MAX_STATES)
    move_rows(state_rows(2, 1), state_rows(4, 1))


def _train(problem: Problem) -> None:
    from voilattice.learning.augmented import Augmented
    from voilattice.learning.training import train

    half = np.full((2, 1, 2), 0.5)
    answers = np.array([0, 1])
    train(
        Augmented(np.array([0.5, 0.5]), (-1,), (half,)), [answers], answers, np.ones(2), 1.0,
        engine=ENGINE,
    )  # fmt: skip


def _grow_trees(problem: Problem) -> None:
    from voilattice.baselines.tree_growth import EG2, find_twin, make_bias, sort_rows

    n = 4
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.int32)
    rows, counted, prices = np.arange(n, dtype=np.int32), np.arange(n + 1.0), np.ones(2)
    cases = CodedCases(
        codes, codes[0].copy(), np.array([2, 2]), np.array([False, True]),
        counted * np.log2(np.maximum(counted, 1)), 2,
    )  # fmt: skip
    after = np.ones((2, 2))
    bias, order = make_bias(EG2, prices, after), sort_rows(cases, rows)
    stakes = TreeStakes(prices, after, 1.0 - np.eye(2), np.full(2, 0.5))
    twin = find_twin(ENGINE, 0)
    twin.pay(twin.grow(cases, order, bias), cases, rows, stakes)
    one = np.ones(1)
    twin.try_biases(cases, order[None], rows[None], bias, prices[None], one, one, one, stakes)


# By loop, as in `kernel_cache.KERNELS`. What takes long to compile comes first.
CALLS: Mapping[str, Callable[[Problem], None]] = {
    "join_tree": _pass_messages,
    "trees": _grow_trees,
    "repeats": _bound_by_repeats,
    "plain": _solve_table,
    "tables": _value_sets,
    "blocks": _find_blocks,
    "bellman": _solve_blocks,
    "search": _search,
    "training": _train,
    "best_set": _find_best_set,
    "growth": _grow_lattice,
    "batches": _solve_rounds,
}

# The loops whose kernels a loop calls too: if those are compiled first, nothing is compiled twice.
NEEDS = {
    "bellman": {"tables", "blocks"},
    "batches": {"tables"},
    "search": {"join_tree", "repeats", "plain", "bellman"},
}
