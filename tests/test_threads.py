"""What threads share gives each of them the answer that it would get alone.

Each scenario is a list of questions about shared objects. They are answered one by one first. Then
some threads ask them in random order, and each of them lets the others go on at random lines of the
package. So a missing lock of the join tree, the kept optima or the lattices is noticed in a few
rounds, whatever Python does on its own. What is too short to be hit by chance has tests of its own
(`policy/test_turns_of_threads.py`). The suite asks each thread a few times. With
VOILATTICE_STRESS_SECONDS=60, each scenario runs for a minute. The file needs nothing but the
package, so ``make dist`` runs it as a script on other Pythons, a few seconds a scenario.
"""

import os
import random
import sys
import threading
import time
from dataclasses import replace
from itertools import product

import numpy as np

import voilattice
from voilattice import Lattice, Network, Problem, advise, best_set, build_policy, load_problem
from voilattice.cases.application import apply_policy
from voilattice.cases.focus import FocusedSolver
from voilattice.lattice.growth import _Cache
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.optimal.exact.swept import SweptStates
from voilattice.optimal.solver import OptimalSolver
from voilattice.policy.interface import Limits
from voilattice.policy.sweep import Sweep
from voilattice.valuation.pairs import inference_of

N_THREADS = 4
N_ROUNDS = 2
SECONDS = float(os.environ.get("VOILATTICE_STRESS_SECONDS", "0"))
LINES_AT_ONCE = 10  # of the package, on average; then another thread goes on
PACKAGE = os.path.dirname(voilattice.__file__)


def chain(n):
    """n features of three states, each of which depends on the target and on the one before."""
    rng, names = np.random.default_rng(0), [f"X{i}" for i in range(n)]
    states = {"Y": ["no", "yes"], **{name: ["a", "b", "c"] for name in names}}
    parents = {names[0]: ["Y"], **{names[i]: ["Y", names[i - 1]] for i in range(1, n)}}
    tables = {"Y": np.array([0.4, 0.6]), names[0]: rng.dirichlet([1, 1, 1], 2)}
    tables |= {name: rng.dirichlet([1, 1, 1], (2, 3)) for name in names[1:]}
    prices = dict.fromkeys(names, 2.0)
    return Problem.create(
        Network.from_tables(states, parents, tables), "Y", prices, ("symmetric", 100.0)
    )


def of_one_join_tree():
    problem, rng = chain(40), random.Random(0)
    tree = inference_of(problem)
    for _ in range(6):
        known = {name: rng.choice("abc") for name in rng.sample(problem.features, 3)}
        yield lambda known=known: tree.at(known).pairs.tobytes()


def of_greedy_policies():
    problem = chain(40)
    for known in ({"X3": "a", "X9": "b"}, {"X0": "c", "X39": "a"}, {"X20": "b", "X21": "b"}):
        yield (
            lambda known=known: (
                build_policy(problem, "greedy", known, max_states=5, time_limit=None).nodes
            )
        )


def of_kept_optima():
    solver, figure = OptimalSolver(), load_problem("figure1")
    for k in range(12):  # more than are kept
        problem = figure.with_expected("symmetric", 10.0 + 10 * k)
        yield lambda problem=problem: solver.next_step(problem, None, Limits()).cost_to_go


def of_one_optimum(limits=NO_LIMITS):
    """A solution solves further blocks of states when they are asked for."""
    problem = replace(load_problem("asia"), limits=limits)
    solution = solve_exactly(find_states(problem), problem)
    names = problem.features[:3]
    for states in product(*(problem.states(name) for name in names)):
        known = dict(zip(names, states, strict=True))
        yield lambda known=known: (
            solution.cost_to_go(known, limits),
            solution.choose(known, limits),
        )


def of_one_optimum_of_rounds():
    """Evidence that the states do not have is solved apart (`BatchSolution`)."""
    return of_one_optimum(PathLimits(features=2))


def of_one_space():
    """Solutions borrow the memory of their values, one after another."""
    problem = load_problem("figure3")
    space = find_states(problem)
    for k in range(6):
        at = problem.with_expected("symmetric", 20.0 * (1 + k))
        yield lambda at=at: solve_exactly(space, at).expected_total_cost


def of_one_sweep():
    """Its points are of two problems, whose states it finds in turn."""
    problem = load_problem("figure1")
    sweep, name = Sweep(problem), problem.features[0]
    for at in (problem, problem.with_evidence({name: problem.states(name)[0]})):
        yield lambda at=at: sweep.shared(SweptStates).solve(at).expected_total_cost


def of_one_focus():
    problem = load_problem("figure3")
    solver = FocusedSolver(problem, max_states=10)
    for k in range(4):
        at = problem.with_expected("symmetric", 20.0 * (1 + k))
        yield lambda at=at: repr(solver.focus(at).misclassification)


def of_focused_steps():
    problem = load_problem("figure3")
    solver, name = FocusedSolver(problem, max_states=10), problem.features[0]
    for known in ({}, *({name: state} for state in problem.states(name))):
        for other in (problem, problem.without(problem.features[-1:])):
            yield lambda known=known, other=other: solver.next_step(
                other, known, Limits(time_limit=None)
            )


def of_one_applied_policy():
    problem = load_problem("asia")
    policy = build_policy(problem, "optimal", max_states=4)
    columns = {name: list(problem.states(name)) * 3 for name in problem.features}
    for name in problem.features[:3]:
        cases = {**columns, name: [None] * len(columns[name])}
        yield lambda cases=cases: apply_policy(
            policy, cases, strict=False, time_limit=None
        ).feature_cost.tolist()


def of_one_problem():
    problem = load_problem("figure3")
    yield lambda: best_set(problem).features
    yield lambda: advise(problem, "optimal").reasons
    yield lambda: advise(problem, "greedy-la").reasons
    yield lambda: len(Lattice(problem))


def of_one_cache():
    cache = _Cache(1000)
    for k in range(20):
        level = np.full(20, k, dtype=np.uint64)
        yield lambda k=k, level=level: (
            cache.put(k, (level,))[0][0],
            k if (found := cache.get(k)) is None else found[0][0],
        )


SCENARIOS = [
    of_one_join_tree, of_greedy_policies, of_kept_optima, of_one_optimum, of_one_optimum_of_rounds,
    of_one_space, of_one_sweep, of_one_focus, of_focused_steps, of_one_applied_policy,
    of_one_problem, of_one_cache,
]  # fmt: skip


def give_way(rng):
    """Return a trace function that lets other threads go on at random lines of the package."""

    def trace(frame, event, argument):
        if event == "call" and not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line" and rng.random() * LINES_AT_ONCE < 1:
            time.sleep(0)  # gives the turn away
        return trace

    return trace


def check(scenario, seconds=SECONDS):
    """Raise if a thread gets another answer than it would get alone."""
    expected = [question() for question in scenario()]
    questions = list(scenario())  # new shared objects, which the threads begin together
    wrong, begin, end = [], threading.Barrier(N_THREADS), time.monotonic() + seconds

    def ask(seed):
        order, rng, n_rounds = list(range(len(questions))), random.Random(seed), 0
        begin.wait()
        sys.settrace(give_way(rng))
        while not wrong and (n_rounds < N_ROUNDS or time.monotonic() < end):
            rng.shuffle(order)
            n_rounds += 1
            for k in order:
                try:
                    answer = questions[k]()
                except Exception as error:
                    answer = error
                if answer != expected[k]:
                    wrong.append((k, answer))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, f"{scenario.__name__}: {wrong[0]}"


def pytest_generate_tests(metafunc):
    metafunc.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)


def test_threads_get_the_answers_that_each_would_get_alone(scenario):
    check(scenario)


if __name__ == "__main__":
    for one in SCENARIOS:
        check(one, *map(float, sys.argv[1:]))
    print(f"{len(SCENARIOS)} scenarios of {N_THREADS} threads: fine")
