"""The recursion of the optimal policy: array by array it is what it is state by state."""

import itertools

import numpy as np
import pytest
from helpers.problems import chain, noisy_bayes, random_problem, twins, varied

from voilattice import FeatureCosts, Network, Problem, load_problem
from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits
from voilattice.optimal.exact import bellman
from voilattice.optimal.exact.solution import solve
from voilattice.optimal.exact.space import StateSpace
from voilattice.ties import TOLERANCE


def forgetful():
    """A chain whose nearer features make the farther ones forgotten."""
    costs = FeatureCosts({"A": 1.0, "B": 0.25, "C": 0.125, "D": 2.0})
    parents = {"A": ["Y"], "B": ["A"], "C": ["B"], "D": ["Y"]}
    return random_problem(parents, {"Y": 2, "A": 2, "B": 3, "C": 2, "D": 2}, costs, seed=3)


def late_twins():
    """S says a little; A and B tell Y outright at one price, so they tie in every state of S."""
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YSAB"},
        {name: ["Y"] for name in "SAB"},
        {
            "Y": [0.5, 0.5],
            "S": [[0.8, 0.2], [0.3, 0.7]],
            **{name: [[1.0, 0.0], [0.0, 1.0]] for name in "AB"},
        },
    )
    return Problem.create(network, "Y", {"S": 0.1, "A": 1.0, "B": 1.0}, [[0, 40], [40, 0]])


PROBLEMS = {
    "late twins": late_twins(),
    "varied": varied(),
    "chain": forgetful(),
    "noisy Bayes": noisy_bayes(3),
    "twins": twins(1.0, 1.0, 1.0),
    "free twins": twins(0.0, 0.0),
    "cheaper twin": twins(2.0, 1.0, 1.0),
    "asia": load_problem("asia"),
}


def state_by_state(space, problem, tolerance=TOLERANCE):
    """Return V and the choice of every state, from the recursion as it stands, without arrays."""
    layout, tables, prices = space.layout, space.tables, space.prices(problem)
    values, choices = [0.0] * space.n_states, [None] * space.n_states

    def place(mask, at):
        cell = 0
        for a in bits(int(mask)):
            cell = cell * int(layout.sizes[a]) + at[a]
        return cell

    for b in reversed(range(len(space.blocks))):
        axes = list(bits(int(layout.kept[b])))
        for cell, values_here in enumerate(
            itertools.product(*(range(layout.sizes[a]) for a in axes))
        ):
            at = dict(zip(axes, values_here, strict=True))
            mass = float(tables.mass[tables.at[b] + cell])
            now = prices.scale * float(tables.risk[tables.at[b] + cell])
            offers = []
            for t in range(layout.first[b], layout.first[b + 1]):
                own = prices.of[t]
                price = prices.surcharge[t]
                price += prices.own[prices.starts[own] + place(prices.masks[own], at)]
                axis, child = int(layout.axis[t]), int(layout.child[t])
                total = price * mass
                for x in range(layout.sizes[axis]):
                    after, factor = {**at, axis: x}, 1.0
                    if (f := int(tables.factor_of[t])) >= 0:
                        here = tables.factor_starts[f] + place(tables.factor_masks[f], after)
                        factor = tables.factors[here]
                    below = layout.start[child] + place(layout.kept[child], after)
                    total += factor * values[below]
                offers.append((total, price))
            least = min([now, *(total for total, _ in offers)])
            slack = tolerance * max(mass, now)
            choice, cheapest = -1, np.inf
            if now > least + slack:
                for step, (total, price) in enumerate(offers):
                    is_cheaper = choice < 0 or price * mass < cheapest * mass - slack
                    if total <= least + slack and is_cheaper:
                        choice, cheapest = step, price
            values[layout.start[b] + cell] = least
            choices[layout.start[b] + cell] = choice
    return values, choices


def solved(space, problem, **options):
    """Return V and the choice of every state."""
    values, choices = np.full(space.n_states, np.nan), np.full(space.n_states, -9, np.int8)
    bellman.cost_to_go(
        space.blocks, np.arange(len(space.blocks)), space.layout, space.tables,
        space.prices(problem), values, engine="python", choice=choices, **options,
    )  # fmt: skip
    return values, choices


@pytest.mark.parametrize("name", PROBLEMS)
def test_arrays_are_solved_as_states_are_one_by_one(name):
    problem = PROBLEMS[name]
    space = StateSpace(problem, engine="python")
    values, choices = solved(space, problem)
    want_values, want_choices = state_by_state(space, problem)
    assert values == pytest.approx(want_values, rel=1e-12, abs=1e-12)
    assert choices.tolist() == want_choices


def test_stakes_and_prices_of_a_sweep_are_solved_too():
    problem = varied()
    space = StateSpace(problem, problem.misclassification / 10, engine="python")
    values, choices = solved(space, problem)
    want_values, want_choices = state_by_state(space, problem)
    assert values == pytest.approx(want_values, rel=1e-12, abs=1e-12)
    assert choices.tolist() == want_choices


def first_step(problem):
    return problem.feature_names(solve(StateSpace(problem, engine="python")).choose({}))


def test_a_tie_goes_to_the_cheaper_feature_and_then_to_the_first():
    assert first_step(twins(1.0, 1.0, 1.0)) == {"A"}
    assert first_step(twins(2.0, 1.0, 1.0)) == {"B"}
    assert first_step(twins(0.0, 0.0)) == {"A"}


def test_a_tie_with_deciding_goes_to_deciding():
    assert first_step(twins(20.0)) == frozenset()
    assert first_step(twins(20.0 - 1e-6)) == {"A"}
    assert first_step(twins(20.0 - 1e-9)) == frozenset()


def test_a_difference_below_the_tolerance_is_a_tie():
    assert first_step(twins(1.0 + 1e-10, 1.0)) == {"A"}
    assert first_step(twins(1.0 + 1e-6, 1.0)) == {"B"}


def test_without_choices_only_values_are_written():
    problem = varied()
    space = StateSpace(problem, engine="python")
    values = np.empty(space.n_states)
    bellman.cost_to_go(
        space.blocks, np.arange(len(space.blocks)), space.layout, space.tables,
        space.prices(problem), values, engine="python",
    )  # fmt: skip
    assert values.tolist() == solved(space, problem)[0].tolist()


@pytest.mark.parametrize("n_cpus", [None, 1, 2, 4])
@pytest.mark.parametrize("per_thread", [1, 5, 30])
def test_threads_change_nothing(monkeypatch, n_cpus, per_thread):
    problem = varied()
    space = StateSpace(problem, engine="python")
    values, choices = solved(space, problem)
    monkeypatch.setattr(bellman, "STATES_PER_THREAD", per_thread)
    monkeypatch.setattr("os.cpu_count", lambda: n_cpus)
    again, also = solved(space, problem)
    assert again.tolist() == values.tolist()
    assert also.tolist() == choices.tolist()


@pytest.mark.parametrize("per_thread", [1, 3, 10, "all", 1000])
def test_every_block_is_solved_once_whatever_the_threads(monkeypatch, per_thread):
    space = StateSpace(varied(), engine="python")
    per_thread = space.n_states if per_thread == "all" else per_thread
    monkeypatch.setattr(bellman, "STATES_PER_THREAD", per_thread)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    parts = []
    every = np.arange(len(space.blocks))
    bellman._in_threads(every, space.layout, parts.append, Deadline())
    assert sorted(itertools.chain(*(part.tolist() for part in parts))) == every.tolist()
    assert all(len(part) for part in parts)
    assert (len(parts) > 1) == (space.n_states >= per_thread)


@pytest.mark.parametrize("n_threads", [1, 4])
def test_blocks_are_not_solved_when_the_time_is_up(monkeypatch, n_threads):
    space = StateSpace(varied(), engine="python")
    monkeypatch.setattr(bellman, "STATES_PER_THREAD", 1)
    monkeypatch.setattr("os.cpu_count", lambda: n_threads)
    deadline, parts = Deadline(1000.0), []

    def solve(part):
        parts.append(part)
        deadline.stop()

    every = np.arange(len(space.blocks))
    with pytest.raises(TooLargeError, match="not solved in time"):
        bellman._in_threads(every, space.layout, solve, deadline)
    assert 1 <= len(parts) <= bellman.MAX_THREADS


def test_levels_that_wait_for_each_other_are_not_shared_among_threads(monkeypatch):
    space = StateSpace(varied(), engine="python")
    monkeypatch.setattr(bellman, "STATES_PER_THREAD", 1)
    solved_at = []
    monkeypatch.setattr(
        bellman, "_in_threads", lambda blocks, *rest: solved_at.append(blocks.tolist())
    )
    bellman.cost_to_go(
        space.blocks, np.arange(len(space.blocks)), space.layout, space.tables,
        space.prices(space.problem), np.empty(space.n_states), engine="python",
    )  # fmt: skip
    n_left = np.bitwise_count(space.blocks.relevant)
    levels = [{int(n_left[b]) for b in blocks} for blocks in solved_at]
    assert levels == [{n} for n in sorted(set(n_left.tolist()))]
    assert sorted(itertools.chain(*solved_at)) == list(range(len(space.blocks)))


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_gain_is_the_most_that_free_information_takes_off(name):
    problem = PROBLEMS[name]
    space = StateSpace(problem, engine="python")
    layout, tables = space.layout, space.tables
    free = np.random.default_rng(0).random(space.n_states) * 0.1
    out = np.full(len(space.blocks), np.nan)
    bellman.measure_gains(layout, tables, free, out)
    for b in range(len(space.blocks)):
        gains = [0.0]
        for cell in range(layout.cells[b]):
            mass = tables.mass[tables.at[b] + cell]
            if mass > 0:
                after = free[layout.start[b] + cell]
                gains.append((tables.risk[tables.at[b] + cell] - after) / mass)
        assert out[b] == pytest.approx(max(gains), rel=1e-12)


def test_blocks_behind_steps_that_cannot_pay_are_not_marked():
    problem = twins(1.0, 1.0, 30.0)  # C costs more than anyone can lose
    space = StateSpace(problem, engine="python")
    prices = space.prices(problem)
    wanted = np.zeros(len(space.blocks), np.uint8)
    wanted[0] = 1
    bellman.mark(wanted, space.layout, prices)
    reached, todo = set(), [0]
    while todo:
        b = todo.pop()
        if b not in reached:
            reached.add(b)
            for t in range(space.layout.first[b], space.layout.first[b + 1]):
                if prices.least[t] < prices.scale * prices.gain[b]:
                    todo.append(int(space.layout.child[t]))
    assert wanted.tolist() == [int(b in reached) for b in range(len(wanted))]


def test_each_engine_has_its_twin():
    from voilattice.compiled import bellman as compiled

    assert bellman.twin_of("python") is bellman
    assert bellman.twin_of("compiled") is compiled


def test_what_says_nothing_is_not_acquired():
    solution = solve(StateSpace(chain(1), engine="python"))
    assert solution.expected_total_cost == pytest.approx(0.5)
    assert solution.choose({}) == 0
