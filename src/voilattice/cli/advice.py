"""How advice looks for people: what to do, why, the bill, and what else could come first."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from voilattice.cli.console import MAX_LISTED, feature_names, findings, table_of_values
from voilattice.cli.terminal import console, print_table, table
from voilattice.consultation.advice import Advice
from voilattice.consultation.standing import Purchase
from voilattice.consultation.steps import FirstStep, FirstSteps, Outcome
from voilattice.model.problem import Problem
from voilattice.wording import count_noun, format_amount, in_currency, join_names

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["print_advice", "print_bill", "print_count_of_rounds", "print_first_steps"]


def print_advice(problem: Problem, advice: Advice) -> None:
    """Print what to do now, and why."""
    out, currency, target = console(), problem.currency, problem.target
    if advice.decision is None:
        together = " in one round" if problem.counts_rounds and len(advice.features) > 1 else ""
        out.print(f"Acquire {feature_names(problem, advice.features)}{together}.", style="bold")
    else:
        out.print(f"Decide: {problem.state_label(target, advice.decision)}.", style="bold")
    for reason in advice.reasons:
        out.print(reason)
    out.print()
    rows = table("now", ">")
    for state, probability in advice.posterior.items():
        shown = problem.state_label(target, state)
        rows.add_row(f"probability of {shown}", f"{100 * probability:.2f} %")
    rows.add_row(in_currency("expected cost of deciding", currency), format_amount(advice.emc))
    rows.add_row(in_currency("spent so far", currency), format_amount(advice.spent))
    print_table(rows)
    if advice.bill:
        out.print()
        print_bill(problem, advice.bill)
    if list(advice.decision_costs) != list(advice.posterior):
        out.print()
        heading = f">{in_currency('expected cost', currency)}"
        decisions = table("could be decided now", heading)
        for name, amount in advice.decision_costs.items():
            style = "bold" if name == advice.decision else None
            decisions.add_row(problem.state_label(target, name), format_amount(amount), style=style)
        print_table(decisions)
    for heading, values in (
        ("could be acquired", advice.candidates),
        ("cannot be acquired now", advice.barred),
    ):
        if values:
            out.print()
            print_table(table_of_values(problem, heading, values[:MAX_LISTED]))
    _print_obstacles(problem, advice)
    _print_ignored(problem, advice)


def print_bill(problem: Problem, bill: Iterable[Purchase], risk: float | None = None) -> None:
    """Print what was paid, round by round, and what the decision costs if it is made."""
    rows = table("the bill", f">{in_currency('', problem.currency)}")
    spent = 0.0
    for purchase in bill:
        spent += purchase.cost
        parts = [f"{what} {format_amount(amount)}" for what, amount in purchase.items]
        made_of = f" ({', '.join(parts)})" if len(parts) > 1 else ""
        found = findings(problem, purchase.results.items(), ", ")
        rows.add_row(f"{found}{made_of}", format_amount(purchase.cost))
    rows.add_row("spent on features", format_amount(spent))
    if risk is not None:
        rows.add_row("expected cost of the decision", format_amount(risk))
        rows.add_row("total", format_amount(spent + risk), style="bold")
    print_table(rows)


def print_count_of_rounds(features: Collection[str]) -> None:
    """Print how evidence was counted, if nothing says which features came in one round."""
    console().print(
        f"\nThe evidence is counted as {count_noun(len(features), 'round')}; "
        f"--together {','.join(features)} makes them one."
    )


def _print_obstacles(problem: Problem, advice: Advice) -> None:
    """Print why features cannot be acquired now, where the reasons do not say so already."""
    barred: dict[str, list[str]] = {}
    for candidate in advice.barred[:MAX_LISTED]:
        name, why = feature_names(problem, candidate.features), " ".join(candidate.obstacles)
        if why and not any(reason.startswith(f"Not now: {name} (") for reason in advice.reasons):
            barred.setdefault(why, []).append(name)
    for why, names in barred.items():
        console().print(f"Not now: {join_names(names, 'and')}. {why}")


def _print_ignored(problem: Problem, advice: Advice) -> None:
    """Print which features are not considered and why, where nothing has said it yet."""
    separated = [i.feature for i in advice.ignored if i.reason == "separated"]
    others = [i for i in advice.ignored if i.reason in ("price", "unavailable")]
    others = [i for i in others if i.why not in advice.reasons]
    if others:
        rows = table("not considered now", "why")
        for entry in others:
            rows.add_row(problem.label(entry.feature), entry.why)
        console().print()
        print_table(rows)
    if separated:
        names, target = feature_names(problem, separated), problem.label(problem.target)
        console().print(f"\nNothing to learn now about {target} from: {names}.")


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
        rows.add_row(_join(problem, step.features), *map(format_amount, shown), style=style)
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
        found = findings(problem, outcome.result.items(), ", ")
        share = f"{100 * outcome.probability:.2f} %"
        rows.add_row(found, share, format_amount(outcome.cost_to_go), _then(problem, outcome))
    return rows


def _then(problem: Problem, outcome: Outcome) -> str:
    if outcome.decision is None:
        return f"acquire {_join(problem, outcome.then)}"
    return f"decide {problem.state_label(problem.target, outcome.decision)}"


def _join(problem: Problem, features: frozenset[str]) -> str:
    return join_names([problem.label(f) for f in features], "and")
