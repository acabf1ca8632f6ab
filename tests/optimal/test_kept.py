"""The optima that are kept, when threads end in any order."""

import time
from types import SimpleNamespace

import pytest

from voilattice import load_problem
from voilattice.optimal import kept
from voilattice.optimal.kept import MAX_KEPT, MAX_KEPT_STATES, KeptOptima
from voilattice.optimal.solver import OptimalSolver
from voilattice.policy.interface import Limits

FIGURE = load_problem("figure1")
PROBLEMS = [FIGURE.with_expected("symmetric", 10.0 * (1 + k)) for k in range(MAX_KEPT + 3)]


def solution(n_states=1):
    return SimpleNamespace(space=SimpleNamespace(n_states=n_states))


def test_who_ran_out_of_time_does_not_take_the_optimum_of_another_thread():
    optima, optimum = KeptOptima(), solution()
    optima.keep(FIGURE, optimum, 5.0)
    optima.keep(FIGURE, None, 1.0)
    assert optima.find(FIGURE)[0] is optimum
    optima.keep(FIGURE, other := solution(), 1.0)
    assert optima.find(FIGURE) == (other, 1.0)


@pytest.mark.parametrize("seconds", [(1.0, 7.0), (7.0, 1.0)])
def test_of_two_that_ran_out_of_time_the_longer_try_counts(seconds):
    optima = KeptOptima()
    for tried in seconds:
        optima.keep(FIGURE, None, tried)
    assert optima.find(FIGURE) == (None, 7.0)


def test_threads_that_make_room_at_once_keep_no_more_than_the_limit():
    optima = KeptOptima()
    for _ in PROBLEMS:
        optima.make_room()
    for problem in PROBLEMS:  # each of them was solved meanwhile
        optima.keep(problem, solution(), 1.0)
    n_kept = [optima.find(problem)[0] is not None for problem in PROBLEMS]
    assert n_kept == [False] * 3 + [True] * MAX_KEPT


def test_the_states_of_all_but_the_last_optimum_are_limited():
    optima = KeptOptima()
    for problem in PROBLEMS[:4]:
        optima.keep(problem, solution(MAX_KEPT_STATES // 2), 1.0)
    assert [optima.find(problem)[0] is not None for problem in PROBLEMS[:4]] == [
        False, True, True, True,
    ]  # fmt: skip
    optima.make_room()
    assert optima.find(PROBLEMS[1])[0] is None


def test_an_optimum_that_was_asked_for_again_stays(monkeypatch):
    monkeypatch.setattr(kept, "MAX_KEPT", 2)
    optima = KeptOptima()
    for problem in PROBLEMS[:2]:
        optima.keep(problem, solution(), 1.0)
    optima.find(PROBLEMS[0])
    optima.keep(PROBLEMS[2], solution(), 1.0)
    assert [optima.find(problem)[0] is not None for problem in PROBLEMS[:3]] == [True, False, True]


@pytest.mark.parametrize(("used", "is_tried_again"), [(0.1, True), (7.0, False)])
def test_a_try_that_a_busy_machine_cut_short_is_repeated(monkeypatch, used, is_tried_again):
    """The clock may run while others have the processor: then nothing is known of the problem."""
    optimal, limits = OptimalSolver(), Limits(time_limit=10.0)
    seconds = iter((0.0, used, 0.0, 0.0))
    monkeypatch.setattr(time, "process_time", lambda: next(seconds))
    with monkeypatch.context() as busy:
        busy.setattr(OptimalSolver, "solve", lambda self, problem, deadline: deadline.stop())
        assert optimal.solution_at(FIGURE, {}, limits, share=0.75)[-1] is None
    found = optimal.solution_at(FIGURE, {}, limits, share=0.75)[-1]
    assert (found is not None) == is_tried_again
