"""Short ways to ask for policies, costs and steps."""

from __future__ import annotations

import math
from contextlib import contextmanager

import pytest

from voilattice import engines
from voilattice.errors import TooLargeError
from voilattice.policy import rules, situation
from voilattice.policy.solvers import Limits, build_policy, policy_names, solver_of

POLICIES = policy_names()

RULES = {
    "none": rules.none,
    "markov-blanket": rules.markov_blanket,
    "greedy": rules.greedy,
    "greedy-la": rules.greedy_la,
    "batch": rules.batch,
}


def optimum(problem, evidence=None, **options):
    """The optimal policy."""
    return build_policy(problem, "optimal", evidence, **options)


def optimal_step(problem, evidence=None):
    """What the optimal policy does at some evidence."""
    return solver_of("optimal").next_step(problem, evidence, Limits())


def cost_of(problem, name, evidence=None, *, sweep=None, **limits):
    """What a policy costs, without building it where that is not needed."""
    return solver_of(name).cost(problem.with_evidence(evidence), Limits(**limits), sweep=sweep)


@contextmanager
def all_loops(engine):
    """Let every inner loop run with this engine."""
    with pytest.MonkeyPatch.context() as patch:
        for loop in engines.COMPILED_FROM:
            patch.setitem(engines.COMPILED_FROM, loop, 0 if engine == "compiled" else math.inf)
        yield patch


class Refuses:
    """A solver for which every problem is too large."""

    name, looks_ahead, why_acquire, why_decide = "refuses", False, "", "It is too much."

    def build(self, problem, limits, *, sweep=None, progress=None):
        raise TooLargeError("it would need a table of 9 GB")

    def cost(self, problem, limits, *, sweep=None):
        raise TooLargeError("it would need a table of 9 GB")

    def next_step(self, problem, evidence, limits):
        raise TooLargeError("it would need a table of 9 GB")


@contextmanager
def join_tree_only():
    """Let no situation have a table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(situation, "LAZY_CELLS", 0)
        patch.setattr(situation, "STEP_CELLS", 0)
        yield patch


def first_feature(situation):
    """A rule that other processes can import."""
    return 1 << situation.axes[0] if situation.axes else 0
