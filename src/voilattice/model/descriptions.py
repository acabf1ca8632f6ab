"""A problem in words: as text, as HTML for notebooks, and its rules as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voilattice.html import html_table, paragraph
from voilattice.wording import format_amount, in_currency

if TYPE_CHECKING:
    from voilattice.model.problem import Problem

__all__ = ["describe_problem", "describe_rules", "problem_html"]


def describe_problem(problem: Problem) -> str:
    """Return what a problem holds, a line for each part. Names are those to type."""
    prior = zip(problem.classes, problem.prior, strict=True)
    lines = [
        problem.title or "Untitled problem",
        f"  target    {problem.target}: {', '.join(f'{y} {p:.4g}' for y, p in prior)}",
        f"  features  {', '.join(problem.features) or 'none'}",
    ]
    if problem.hidden:
        lines.append(f"  hidden    {', '.join(problem.hidden)}")
    if problem.evidence:
        known = ", ".join(f"{name}={state}" for name, state in problem.evidence.items())
        lines.append(f"  evidence  {known}")
    lines.append(f"  costs     {problem.costs!r}, {problem.cost_check}")
    for k, rule in enumerate(describe_rules(problem)):
        lines.append(f"  {'' if k else 'rules':8}  {rule}")
    return "\n".join(lines)


def describe_rules(problem: Problem) -> list[str]:
    """Return the constraints, the limits and the cost of a round, in sentences."""
    said = problem.feasibility.describe()
    if problem.limits:
        said.append(f"Limits of each path: {problem.limits.describe(problem.currency)}.")
    if problem.round_cost:
        cost = format_amount(problem.round_cost, problem.currency)
        said.append(f"Each round costs {cost} more, however many features it brings.")
    return said


def problem_html(problem: Problem) -> str:
    """Return the features with their prices, and what decisions cost, as tables."""
    pricing = problem.pricing
    target, currency = problem.target, problem.currency
    features = [
        (
            problem.name_and_label(name),
            ", ".join(problem.state_and_label(name, state) for state in problem.states(name)),
            problem.state_label(name, problem.evidence[name]) if name in problem.evidence else "",
            pricing.describe_sharing(name),
            format_amount(pricing.prices[name]) if pricing.is_sum else "own",
        )
        for name in problem.features
    ]
    classes = [problem.state_and_label(target, state) for state in problem.classes]
    stakes = [
        (
            in_currency(f"deciding {problem.state_label(target, decision)}", currency),
            *map(format_amount, row),
        )
        for decision, row in zip(problem.decisions, problem.misclassification, strict=True)
    ]
    price = in_currency("price", currency)
    prior = ("prior probability", *(f"{p:.4g}" for p in problem.prior))
    return (
        paragraph(problem.title or "Untitled problem", strong=True)
        + html_table(("feature", "states", "known", "group", price), features, n_text=4)
        + html_table((problem.name_and_label(target), *classes), [prior, *stakes])
        + "".join(map(paragraph, describe_rules(problem)))
    )
