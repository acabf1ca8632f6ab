"""A solver that worker processes can import: those of a test's own module, they cannot."""

from voilattice.budgets import memory_budget
from voilattice.policy.policy import Certificate
from voilattice.policy.solvers import Cost


class BudgetSolver:
    """A solver whose policies cost the bytes of the memory budget."""

    name = "budget"
    looks_ahead = False
    why_acquire = why_decide = ""

    def build(self, problem, limits, *, sweep=None, progress=None):
        raise NotImplementedError

    def cost(self, problem, limits, *, sweep=None):
        return Cost(float(memory_budget()), Certificate())

    def next_step(self, problem, evidence, limits):
        raise NotImplementedError
