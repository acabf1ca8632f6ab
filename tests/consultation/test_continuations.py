from dataclasses import replace

import numpy as np
import pytest
from helpers.ward import ward

from voilattice import load_problem
from voilattice.budgets import Deadline
from voilattice.consultation.continuations import ExactContinuation, SearchedContinuation
from voilattice.errors import TooLargeError
from voilattice.model.acquisition import NO_LIMITS
from voilattice.optimal.solver import OptimalSolver
from voilattice.policy.interface import Step
from voilattice.policy.policy import Certificate, Leaf

SMOKER = {"smoke": "yes"}


def searched(problem, n_outcomes=1, deadline=None):
    return SearchedContinuation(problem, n_outcomes, deadline or Deadline())


def leaf_at(problem, known):
    joint = problem.joint(known)
    return Leaf.at(problem, joint / joint.sum())


def known_class(problem, leaf):
    """What deciding with the class known costs."""
    return float(np.array(leaf.posterior) @ problem.misclassification.min(axis=0))


def test_both_ways_to_go_on_are_those_of_the_optimum():
    problem = load_problem("asia")
    leaf = leaf_at(problem, SMOKER)
    solution = OptimalSolver.solve(problem, Deadline())
    everything = (1 << len(problem.features)) - 1
    exact = ExactContinuation(problem, solution, everything, searched(problem))
    one, two = (way.at(SMOKER, NO_LIMITS, leaf) for way in (exact, searched(problem)))
    assert one.features == two.features
    assert one.cost_to_go == pytest.approx(two.cost_to_go)
    for step in (one, two):
        assert step.certificate.exact
        assert step.certificate.lower_bound == step.cost_to_go


def test_after_a_feature_that_cannot_matter_the_limits_count_again():
    problem = ward()
    solution = OptimalSolver.solve(problem, Deadline())
    known, left = {"age": "young"}, problem.limits.after(1.0, 1)
    leaf = leaf_at(problem, known)
    beyond = searched(problem)
    assert ExactContinuation(problem, solution, 0, beyond).at(known, left, leaf) == beyond.at(
        known, left, leaf
    )


def test_a_question_is_solved_once(monkeypatch):
    asked = []
    next_step = OptimalSolver.next_step

    def counted(self, problem, *rest):
        asked.append(problem.evidence)
        return next_step(self, problem, *rest)

    monkeypatch.setattr(OptimalSolver, "next_step", counted)
    problem = load_problem("asia")
    way, leaf = searched(problem), leaf_at(problem, SMOKER)
    assert way.at(SMOKER, NO_LIMITS, leaf) == way.at(SMOKER, NO_LIMITS, leaf)
    assert asked == [SMOKER]


@pytest.mark.parametrize("status", ["time", "memory"])
def test_without_time_or_memory_deciding_and_the_known_class_enclose_the_cost(status, monkeypatch):
    def refuse(*_):
        raise TooLargeError("too large")

    monkeypatch.setattr(OptimalSolver, "next_step", refuse)
    problem, deadline = load_problem("asia"), Deadline()
    if status == "time":
        deadline.stop()
    leaf = leaf_at(problem, SMOKER)
    step = searched(problem, 1, deadline).at(SMOKER, NO_LIMITS, leaf)
    least = known_class(problem, leaf)
    assert step == Step(frozenset(), leaf.emc, Certificate(least, exact=False, status=status))


def test_a_bound_is_never_below_that_of_the_known_class(monkeypatch):
    weak = Step(frozenset(), 50.0, Certificate(0.0, exact=False, status="time"))
    monkeypatch.setattr(OptimalSolver, "next_step", lambda *_: weak)
    problem = load_problem("asia")
    problem = replace(problem, misclassification=np.array([[5.0, 100.0], [100.0, 5.0]]))
    leaf = leaf_at(problem, SMOKER)
    step = searched(problem).at(SMOKER, NO_LIMITS, leaf)
    assert step.certificate.lower_bound == pytest.approx(known_class(problem, leaf)) == 5.0


def test_a_search_that_did_not_try_every_set_says_so(monkeypatch):
    partial = Step(frozenset(), 50.0, Certificate(9.0, exact=False, note="The bound is another."))
    monkeypatch.setattr(OptimalSolver, "next_step", lambda *_: partial)
    problem = load_problem("asia")
    step = searched(problem).at(SMOKER, NO_LIMITS, leaf_at(problem, SMOKER))
    assert step.certificate.note == (
        "With rounds or limits and so many features, not every set is tried."
    )


def test_outcomes_share_the_time(monkeypatch):
    parts = []

    def timed(self, problem, evidence, limits):
        parts.append(limits.deadline.seconds)
        return Step(frozenset(), 1.0, Certificate(1.0))

    monkeypatch.setattr(OptimalSolver, "next_step", timed)
    problem = load_problem("asia")
    way = searched(problem, 10, Deadline(1000.0))
    for smoke, xray in (("yes", "yes"), ("yes", "no"), ("no", "yes")):
        known = {"smoke": smoke, "xray": xray}
        way.at(known, NO_LIMITS, leaf_at(problem, known))
    assert parts == pytest.approx([1000 / 10, 1000 / 9, 1000 / 8], rel=0.05)
    way = searched(problem, 1, Deadline(1000.0))
    way.at(SMOKER, NO_LIMITS, leaf_at(problem, SMOKER))
    assert parts[-1] == pytest.approx(200, rel=0.05)
