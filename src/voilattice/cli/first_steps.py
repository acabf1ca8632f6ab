"""First steps in the terminal: what it costs to begin with a feature, outcome by outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voilattice.cli.terminal import console, print_table, table
from voilattice.model.problem import Problem
from voilattice.policy.steps import FirstStep, FirstSteps, Outcome
from voilattice.wording import format_amount, in_currency, join_names

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["print_first_steps"]


def print_first_steps(problem: Problem, found: FirstSteps) -> None:
    """Print what it costs to begin with each of some features, and where the difference is."""
    out, currency = console(), problem.currency
    most = "" if found.exact else " at most"
    amounts = (f">{in_currency(name, currency)}" for name in ("price", f"in all{most}", "more"))
    rows = table("to begin with", *amounts)
    best = min([found.decide, *(step.cost_to_go for step in found.steps)])
    rows.add_row(
        "deciding now", "", format_amount(found.decide), format_amount(found.decide - best)
    )
    for step in found.steps:
        shown = (step.cost, step.cost_to_go, step.over)
        style = "bold" if step.features == found.chosen else None
        rows.add_row(_names(problem, step.features), *map(format_amount, shown), style=style)
    out.print()
    print_table(rows)
    for step in found.steps:
        out.print()
        out.print(step.text)
        print_table(_outcomes(problem, step))


def _outcomes(problem: Problem, step: FirstStep) -> Table:
    heading = in_currency("still to pay", problem.currency)
    rows = table("outcome", ">probability", f">{heading}", "then")
    for outcome in step.outcomes:
        found = ", ".join(
            f"{problem.label(f)} = {problem.state_label(f, s)}" for f, s in outcome.result.items()
        )
        share = f"{100 * outcome.probability:.2f} %"
        rows.add_row(found, share, format_amount(outcome.cost_to_go), _then(problem, outcome))
    return rows


def _then(problem: Problem, outcome: Outcome) -> str:
    if outcome.decision is None:
        return f"acquire {_names(problem, outcome.then)}"
    return f"decide {problem.state_label(problem.target, outcome.decision)}"


def _names(problem: Problem, features: frozenset[str]) -> str:
    return join_names([problem.label(f) for f in features], "and")
