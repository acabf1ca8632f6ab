"""The policy of a rule, behind the interface of a solver.

The policy is built situation by situation (`policy.situation`). A rule that acquires only at the
start needs no policy to know its cost: with S what it acquires,

    ETC = C(S | e) + sum_s P(s | e) EMC(e, s),

the price of S and the expected misclassification cost after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from voilattice.budgets import Deadline
from voilattice.model.costs import price_set
from voilattice.model.problem import Problem
from voilattice.policy.builder import PolicyBuilder
from voilattice.policy.interface import Cost, Limits, Progress, Step
from voilattice.policy.policy import Certificate, Policy
from voilattice.policy.rules import Rule
from voilattice.policy.situation import SEARCHED_CELLS, situation_at
from voilattice.policy.sweep import Sweep
from voilattice.valuation.streaming import bracket_expected_emc
from voilattice.wording import format_amount

__all__ = ["RuleSolver"]


@dataclass(frozen=True, slots=True)
class RuleSolver:
    """The policy of a rule.

    Parameters
    ----------
    rule
        What to acquire in a situation, as a mask of features; 0: decide.
    why_decide
        Why it acquires nothing more, in a sentence.
    why_acquire
        Why it acquires a set, with ``{names}`` in it; empty: what the set is worth.
    looks_ahead
        Whether it acquires features of the set of highest benefit.
    forgets
        Whether the rule uses only what still matters. A user-defined rule may use all evidence.
    at_once
        For a rule that acquires only at the start: what it acquires. One valuation then gives the
        cost, and no policy is built.
    """

    name: str
    rule: Rule
    why_decide: str = "The rule of this policy acquires nothing more."
    why_acquire: str = ""
    looks_ahead: bool = False
    forgets: bool = True
    at_once: Callable[[Problem], Iterable[str]] | None = None
    is_quick: ClassVar[bool] = True

    def build(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        progress: Progress | None = None,
    ) -> Policy:
        """Return the policy, situation by situation, the most probable ones first."""
        only_decides = self.only_decides(problem)
        builder = PolicyBuilder(
            problem, max_states=limits.max_states, sweep=sweep, forgets=self.forgets,
            deadline=limits.deadline, max_cells=SEARCHED_CELLS if self.looks_ahead else None,
            sure_states=1 if only_decides else 0,
        )  # fmt: skip
        tell = None if progress is None else partial(_tell, progress)
        return builder.build(self.name, self.rule, needs_table=not only_decides, progress=tell)

    def only_decides(self, problem: Problem) -> bool:
        """Return whether the rule is known to acquire nothing, so that it needs no time."""
        return self.at_once is not None and not set(self.at_once(problem))

    def cost(self, problem: Problem, limits: Limits, *, sweep: Sweep | None = None) -> Cost:
        """Return what the policy costs: by one valuation, or by building it."""
        if self.at_once is not None and not (problem.constraints or problem.limits):
            return _cost_at_once(problem, frozenset(self.at_once(problem)), limits.deadline)
        policy = self.build(problem, limits, sweep=sweep)
        # A rule that looks ahead may have gone another way where a best set is not proved.
        at_least = None if policy.exact or self.looks_ahead else policy.least_cost
        return Cost(policy.expected_total_cost, policy.certificate, at_least)

    def next_step(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> Step:
        """Return what the rule says."""
        situation = situation_at(problem, evidence, deadline=limits.deadline)
        chosen = self.rule(situation)
        shortfalls = situation.builder.shortfalls
        certificate = Certificate()
        if shortfalls:
            status = "time" if "time" in shortfalls else "memory"
            certificate = Certificate(None, False, status)
        ahead = situation.best() if self.looks_ahead and chosen else 0
        return Step(
            problem.feature_names(chosen),
            None,
            certificate,
            problem.feature_names(ahead) if ahead else None,
        )


def _tell(progress: Progress, n_states: int) -> None:
    progress(n_states, None)


def _cost_at_once(problem: Problem, features: frozenset[str], deadline: Deadline) -> Cost:
    """Return what it costs to acquire some features at once and then to decide."""
    price = price_set(problem.costs, features, problem.evidence)
    found = bracket_expected_emc(problem, features, deadline=deadline)
    if found.exact:
        return Cost(price + found.upper, Certificate())
    lower, upper = format_amount(price + found.lower), price + found.upper
    note = (
        f"Too much to compute: the cost is between {lower} and "
        f"{format_amount(upper, problem.currency)}."
    )
    certificate = Certificate(None, False, "time", note)
    return Cost(None, certificate, price + found.lower, price + found.upper)
