"""A report to print on A4: a policy, the problem that it is for, and what the policy rests on.

HTML that stands by itself. It begins with the plan, each branch of it, so that its first page can
be followed where the work is done. After it come the problem with its network, stakes and prices,
the bill to expect, what to do first and why, and where the cases go. A plan of more than `MAX_OPEN`
paths is shown where it is probable. A flow that A4 would make too small is left out on paper.
"""

from __future__ import annotations

import datetime

from voilattice.consultation.steps import FirstSteps
from voilattice.drawing.bill import BillRow, expected_bill
from voilattice.drawing.flow import Flow, draw_flow
from voilattice.drawing.network import network_svg
from voilattice.drawing.pages import Table, render
from voilattice.drawing.policy import MAX_OPEN, PAPER, drawn_share, policy_tree
from voilattice.html import Strong
from voilattice.model.problem import Problem
from voilattice.policy.policy import Acquisition, Policy
from voilattice.ties import tolerance
from voilattice.valuation.valuation import emc
from voilattice.wording import format_amount, in_currency, join_names

__all__ = ["report_html"]

MAX_STEPS = 6  # first steps that the report tells of
MAX_NODES = 70  # of a plan that is not shown whole
LEAST_SCALE = 0.75  # a picture that is made smaller cannot be read on paper


def report_html(
    policy: Policy, steps: FirstSteps | None = None, *, date: datetime.date | None = None
) -> str:
    """Return a report on a policy and its problem, as a page that prints on A4.

    Parameters
    ----------
    steps
        What it costs to begin with each feature (`find_first_steps`), if the report should tell.
    date
        By default today.
    """
    problem = policy.problem
    now, share = emc(problem), None
    if policy.n_paths <= MAX_OPEN:
        tree = policy_tree(policy, unfolded=True)
    else:
        tree = policy_tree(policy, max_nodes=MAX_NODES, unfolded=True)
        share = drawn_share(policy, MAX_NODES)
    flow = draw_flow(policy) if policy.depth else None
    return render(
        "drawing/report.html.j2",
        title=problem.title or "Report",
        date=(date or datetime.date.today()).isoformat(),
        policy=policy,
        problem=problem,
        currency=problem.currency,
        first=_first_step(policy),
        saved=_savings(problem, now, policy.expected_total_cost),
        now=now,
        share=share,
        tree=tree,
        bill=_bill(policy),
        stakes=_stakes(problem),
        known=[
            f"{problem.label(f)} = {problem.state_label(f, s)}" for f, s in problem.evidence.items()
        ],
        rules=problem.describe_rules(),
        network=network_svg(problem),
        steps=_first_steps(problem, steps) if steps and steps.steps else None,
        reasons=[step.text for step in steps.steps[1:3]] if steps else [],
        flow=flow,
        paper=_place_on_paper(flow) if flow else "",
    )


def _first_step(policy: Policy) -> str:
    problem, root = policy.problem, policy.root
    if isinstance(root, Acquisition):
        names = join_names([problem.label(f) for f in root.features], "and")
        return f"First, acquire {names} for {format_amount(root.price, problem.currency)}."
    return f"Decide at once: {problem.state_label(problem.target, root.decision)}."


def _savings(problem: Problem, now: float, total: float) -> str:
    if abs(total - now) <= tolerance(now):
        return "That is what deciding now costs"
    difference = format_amount(abs(total - now), problem.currency)
    return f"That is {difference} {'less' if total < now else 'more'} than deciding now"


def _place_on_paper(flow: Flow) -> str:
    """Return the class of a picture that can be read on paper, upright or lying; else nothing."""
    long, short = PAPER
    room = 40.0  # for the heading
    if min(short / flow.width, (long - room) / flow.height) >= LEAST_SCALE:
        return "whole"
    if min(long / flow.width, (short - room) / flow.height) >= LEAST_SCALE:
        return "lying"
    return ""


def _stakes(problem: Problem) -> Table:
    classes = [problem.state_label(problem.target, state) for state in problem.classes]
    heading = [in_currency("cost of deciding", problem.currency), *(f"if {y}" for y in classes)]
    rows = [["prior probability", *(f"{p:.4g}" for p in problem.prior)]]
    for decision, row in zip(problem.decisions, problem.misclassification, strict=True):
        said = problem.state_label(problem.target, decision)
        rows.append([said, *map(format_amount, row)])
    return heading, rows


def _first_steps(problem: Problem, steps: FirstSteps) -> Table:
    most = "" if steps.exact else " at most"
    heading = ["to begin with", *(
        in_currency(name, problem.currency) for name in ("price", f"in all{most}", "more")
    )]  # fmt: skip
    best = min([steps.decide, *(step.cost_to_go for step in steps.steps)])
    rows = []
    for step in steps.steps[:MAX_STEPS]:
        name = join_names([problem.label(f) for f in step.features], "and")
        shown = Strong(name) if step.features == steps.chosen else name
        rows.append([shown, *map(format_amount, (step.cost, step.cost_to_go, step.over))])
    if rest := steps.steps[MAX_STEPS:]:  # nothing is left out without a word
        least = min(rest, key=lambda step: step.cost_to_go)
        costs = [f"from {format_amount(cost)}" for cost in (least.cost_to_go, least.over)]
        rows.append([f"anything else ({len(rest)})", "", *costs])
    decide = [*map(format_amount, (steps.decide, steps.decide - best))]
    rows.append([Strong("deciding now") if not steps.chosen else "deciding now", "", *decide])
    return heading, rows


def _bill(policy: Policy) -> Table:
    problem = policy.problem
    price, average = (in_currency(name, problem.currency) for name in ("price", "on average"))
    rows = []
    for row in expected_bill(policy):
        shown = "" if row.price is None else format_amount(row.price)
        amount = _signed(row.amount) if row.times and (row.price or row.amount) else ""
        name = problem.pricing.row_name(problem, row.kind, row.name)
        rows.append([name, shown, _times(problem, row), amount])
    features, decisions = policy.expected_feature_cost, policy.expected_misclassification_cost
    rows.append(["features together", "", "", format_amount(features)])
    rows.append(["expected cost of the decision", "", "", format_amount(decisions)])
    total = Strong(format_amount(policy.expected_total_cost))
    rows.append([Strong("total"), "", "", total])
    return ["", price, "paid", average], rows


def _signed(amount: float) -> str:
    return f"−{format_amount(-amount)}" if amount < 0 else format_amount(amount)


def _times(problem: Problem, row: BillRow) -> str:
    if row.kind == "rest":
        return ""
    is_of_feature = row.kind in ("feature", "condition")  # others have names of their own
    if is_of_feature and row.name in problem.evidence:
        return "known"
    if not row.times:
        return "never"
    return f"{row.times:.2f} times" if row.kind == "round" else f"{100 * row.times:.1f} %"
