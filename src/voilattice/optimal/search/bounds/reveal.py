r"""A lower bound on the optimum: give some nodes away for nothing.

Let A be a set of nodes, features or hidden ones, and let every policy know their values x_A from
the start, at no price. Every policy of the true problem is still possible and pays no more. So the
optimum of what is left is a lower bound, at every evidence e:

    L(e) = Σ over x_A of  P(x_A | e) v*(e, x_A; the features outside A)   <=   v*(e).

If A holds features only, then buying A at once and continuing in the best way is a policy too, so
v*(e) <= C(A | e) + L(e): the gap is never more than the price of A. ``docs/optimal.md`` has the
proofs.

The other features are T and D. Those of D are *dropped*: given A, they are independent of Y and of
T (`screens`), so nobody buys them. D falls into parts that are independent of each other given A.
For each x_A, a plain table over the features of T has V(e_T, x_A) of all states (`plain`). With
V(e) = P(e) v(e), the bound is a sum of table entries, over the values of A that agree with e:

    P(e) L(e) = Σ over x_A of  V(e_T, x_A) prod over the parts d of D of P(e_d | x_A).

The values of A are the fastest places of the table, so the entries of a sum lie close together. If
A holds features only and e knows all of them, then L(e) is exact. Prices that depend on features
outside T are replaced by lower bounds: surcharges by 0, and a price by the least price of its
feature. Then L(e) is a lower bound but not exact.

The readable engine solves the tables one by one with NumPy (`plain`). The compiled one solves small
tables side by side (`compiled.reveal`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import DigitPrices, Floats, Ints, RevealTable
from voilattice.engines import count_threads
from voilattice.errors import TooLargeError
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.problem import Problem
from voilattice.optimal.exact.plain import MAX_THREADS, count_states, digit_prices, solve_plain
from voilattice.optimal.search.bounds.screens import Plan, own_prices

__all__ = ["no_reveal_table", "reveal_table"]

# Small tables are solved for many values of A at once, side by side: as many as make P(y, e) of all
# their states so large. Larger tables are solved one by one, a cache line of them in a task.
ONE_BY_ONE = 10_000  # states
PART_BYTES = 16 << 20
LINE = 8


def reveal_table(
    problem: Problem,
    features: Sequence[int],
    prices: DigitPrices,
    plan: Plan,
    *,
    engine: str = "compiled",
    deadline: Deadline | None = None,
) -> RevealTable:
    """Return V of all states in which the revealed nodes are known.

    Parameters
    ----------
    features
        The features that matter, by their numbers in the problem.
    prices
        Their prices.
    engine
        ``"python"`` (NumPy) or ``"compiled"``, as the search that reads the table is.
    deadline
        Raise `TooLargeError` if the table is not finished before this.
    """
    network, own = problem.network, problem.node_states(problem.evidence)
    nodes = [network.index(problem.features[k]) for k in features]
    sizes = [network.n_states[node] for node in nodes]
    kept, is_exact = _restrict_prices(prices, plan.tabled)
    tabled = [nodes[i] for i in plan.tabled]
    joint = scaled_joint_table(
        network, [network.index(problem.target), *plan.revealed, *tabled], own
    ).table
    inside = np.array([sizes[i] for i in plan.tabled], dtype=np.int64)
    value = _solve_all(
        joint, inside, kept, problem.misclassification, engine, deadline or Deadline()
    )
    n_values = value.shape[1]
    digit_step, value_step = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
    for place, i in enumerate(plan.tabled):
        digit_step[i] = n_values * count_states(inside[place + 1 :].tolist())
    hidden = []
    for place, node in enumerate(plan.revealed):
        step = math.prod(network.n_states[other] for other in plan.revealed[place + 1 :])
        if node in nodes:
            value_step[nodes.index(node)] = step
        else:
            hidden.append((step, network.n_states[node]))
    part_of, part_step = np.full(len(sizes), -1), np.zeros(len(sizes), np.int64)
    starts, likelihoods = [], [np.zeros(0)]
    for number, (part, screen) in enumerate(plan.screens.items()):
        starts.append(sum(map(len, likelihoods)))
        likelihoods.append(_likelihoods(problem, [nodes[i] for i in part], screen, plan.revealed))
        for place, i in enumerate(part):
            part_of[i] = number
            part_step[i] = n_values * count_states([sizes[j] for j in part[place + 1 :]])
    return RevealTable(
        value.reshape(-1),
        digit_step,
        value_step,
        np.array(hidden, dtype=np.int64).reshape(-1, 2),
        part_of,
        part_step,
        np.array(starts, dtype=np.int64),
        np.concatenate(likelihoods),
        int(is_exact and not hidden),
    )


def no_reveal_table(n_features: int) -> RevealTable:
    """Return an empty table."""
    none, nowhere = np.zeros(n_features, np.int64), np.full(n_features, -1)
    hidden, starts = np.zeros((0, 2), np.int64), np.zeros(0, np.int64)
    return RevealTable(np.empty(0), none, none, hidden, nowhere, none, starts, np.empty(0), 0)


def _likelihoods(
    problem: Problem, part: Sequence[int], screen: Sequence[int], revealed: Sequence[int]
) -> Floats:
    """Return P(e_d | x_A) of a dropped part, for each of its states and each x_A."""
    network, n = problem.network, len(part)
    table = scaled_joint_table(
        network, [*part, *screen], problem.node_states(problem.evidence)
    ).table
    mass = table.sum(axis=tuple(range(n)), keepdims=True)
    table = np.divide(table, mass, out=np.zeros_like(table), where=mass > 0)
    for axis in range(n):  # the last state of each axis is "unknown"
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    sizes = [network.n_states[other] for other in revealed]
    inside = [size if other in screen else 1 for other, size in zip(revealed, sizes, strict=True)]
    n_states = math.prod(table.shape[:n])
    spread = np.broadcast_to(table.reshape(n_states, *inside), (n_states, *sizes))
    return spread.reshape(-1)


def _solve_all(
    joint: Floats, inside: Ints, prices: DigitPrices, cost: Floats, engine: str, deadline: Deadline
) -> Floats:
    """Return V(e_T, x_A), [state, value], from P(Y, A, T)."""
    n_cells, n_states = math.prod(inside.tolist()), count_states(inside.tolist())
    table = np.ascontiguousarray(joint).reshape(len(joint), -1, n_cells)
    table /= table.sum()
    n_values = table.shape[1]
    value = np.empty((n_states, n_values))
    side_by_side = engine == "compiled" and n_states < ONE_BY_ONE
    width = max(PART_BYTES // (8 * len(joint) * n_states), 1) if side_by_side else LINE
    width = min(width, n_values)

    def solve(first: int) -> None:
        if deadline.is_over:
            return
        if side_by_side:
            from voilattice.compiled.reveal import solve_values

            parts = np.empty((n_states, len(joint), width))
            solve_values(table, first, inside, prices, cost, parts, value)
            return
        last = min(first + width, n_values)
        found = np.empty((last - first, n_states))
        for x in range(first, last):
            solve_plain(
                table[:, x], inside.tolist(), cost, prices, value=found[x - first],
                engine=engine, deadline=deadline,
            )  # fmt: skip
        value[:, first:last] = found.T

    starts = range(0, n_values, width)
    pool = ThreadPoolExecutor(min(MAX_THREADS, count_threads()))
    try:
        for _ in pool.map(solve, starts):
            if deadline.is_over:
                raise TooLargeError("the table of revealed features was not solved in time")
    finally:  # after Ctrl-C, no further task starts
        pool.shutdown(cancel_futures=True)
    return value


def _restrict_prices(prices: DigitPrices, others: Sequence[int]) -> tuple[DigitPrices, bool]:
    """Return lower bounds on the prices of some features, and whether they are exact."""
    inside, is_exact = set(others), True
    own: list[Floats] = []
    named: list[list[int]] = []
    for i in others:
        table, axes = own_prices(prices, i), np.flatnonzero(prices.steps[i]).tolist()
        if not set(axes) <= inside:
            table, axes, is_exact = np.array(table.min()), [], False
        axes.sort(key=lambda d: -int(prices.steps[i, d]))
        steps = [int(prices.steps[i, d]) for d in axes]
        lengths = [a // b for a, b in zip([table.size, *steps], steps, strict=False)]
        own.append(table.reshape(lengths))
        named.append([others.index(d) for d in axes])
    surcharge = prices.surcharge.copy()
    for g in set(prices.group_of[prices.group_of >= 0].tolist()):
        members = set(np.flatnonzero(prices.group_of == g).tolist())
        if not members <= inside:
            is_exact &= not surcharge[list(members & inside)].any()
            surcharge[list(members)] = 0.0
    groups = prices.group_of[list(others)].tolist()
    return digit_prices(own, named, groups, surcharge[list(others)]), is_exact
