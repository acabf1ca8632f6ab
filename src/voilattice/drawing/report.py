"""A report to print on A4: a policy, the problem that it is for, and what the policy rests on.

HTML that stands by itself. It begins with the plan, each branch of it, so that its first page can
be followed where the work is done. After it come the problem with its network, stakes and prices,
the bill to expect, what to do first and why, and where the cases go. A plan of more than `MAX_OPEN`
paths is shown where it is probable. A flow that A4 would make too small is left out on paper.
"""

from __future__ import annotations

import datetime
from html import escape

from voilattice.consultation.steps import FirstSteps
from voilattice.drawing.bill import BillRow, expected_bill
from voilattice.drawing.flow import draw_flow
from voilattice.drawing.network import network_svg
from voilattice.drawing.pages import page
from voilattice.drawing.policy import MAX_OPEN, PAPER, drawn_share, policy_tree
from voilattice.html import Strong, html_table, paragraph
from voilattice.model.problem import Problem
from voilattice.policy.policy import Acquisition, Policy
from voilattice.ties import tolerance
from voilattice.valuation.valuation import emc
from voilattice.wording import count_noun, format_amount, in_currency, join_names

__all__ = ["report_html"]

MAX_STEPS = 6  # first steps that the report tells of
MAX_NODES = 70  # of a plan that is not shown whole
LEAST_SCALE = 0.75  # a picture that is made smaller cannot be read on paper

STYLE = """
@page { size: A4; margin: 10mm; }
@page lying { size: A4 landscape; margin: 10mm; }
body { max-width: 64rem; margin: 1.2rem auto; padding: 0 1rem; }
h2 { font-size: 1.05rem; margin: .9rem 0 .2rem; break-after: avoid; }
p { max-width: none; }
.when { color: #5b6675; }
.verdict { border-left: 4px solid #1f3a5f; background: #eef3fa; padding: .4rem .8rem; }
table { border-collapse: collapse; margin: .3rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .12rem .5rem; border-bottom: 1px solid #dfe4ea; vertical-align: top; }
td:not(:first-child) { white-space: nowrap; }
.wide { overflow-x: auto; }
figure { margin: .4rem 0; break-inside: avoid; overflow-x: auto; }
.network svg { max-width: 100%; max-height: 24rem; height: auto; }
ul { margin: .2rem 0; padding-left: 1.2rem; }
.plan ul { list-style: none; margin: 0; padding-left: 1.1rem; } .plan > ul { padding-left: 0; }
.plan li { border-left: 2px solid #9db4cf; padding-left: .5rem; margin: .12rem 0; }
.plan i { font-style: normal; background: #eef3fa; padding: 0 .3rem; border-radius: 4px; }
.plan i::after { content: ':'; }
.plan small { color: #5b6675; } .plan summary { cursor: pointer; } .rest { display: none; }
.paper { display: none; }
@media (min-width: 44rem), print {
  .two { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.6rem; align-items: start; } }
@media print {
  body { font-size: 8.2pt; line-height: 1.32; margin: 0; padding: 0; max-width: none; }
  h1 { font-size: 13pt; } h2 { font-size: 10pt; margin: .7rem 0 .1rem; }
  td, th { padding: .06rem .4rem; } figure { margin: .2rem 0; }
  .network svg { max-height: 60mm; } .flow svg { max-width: 100%; height: auto; }
  .plan li { margin: .06rem 0; } .plan i { padding: 0; } .plan small { white-space: nowrap; }
  .plan summary { list-style: none; break-inside: avoid; break-after: avoid; }
  .plan li:not(:has(li)), tr, .verdict, .whole { break-inside: avoid; }
  details::details-content { content-visibility: visible; }
  .lying { page: lying; } .screen { display: none; } .paper { display: block; } }
"""


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
    when = (date or datetime.date.today()).isoformat()
    title = escape(problem.title or "Report")
    body = f"""
<p class="when">{escape(when)}, policy {escape(policy.name)}</p>
{_summary(policy)}
<section class="plan"><h2>The plan</h2>
{_plan(policy)}</section>
<div class="two whole"><section>
<h2>Prices, and the bill to expect</h2>
<div class="wide">{_bill(policy)}</div>
</section><section>
<h2>Stakes</h2>
{_stakes(problem)}
<h2>What this rests on</h2>
{_grounds(policy)}</section></div>
<div class="two"><section class="whole">
<h2>The problem</h2>
{_problem(problem)}
<figure class="network">{network_svg(problem)}</figure>
</section>
{_first_steps(problem, steps)}</div>
{_flow(policy)}"""
    return page(title, STYLE, body)


def _summary(policy: Policy) -> str:
    problem, total = policy.problem, policy.expected_total_cost
    now, root = emc(problem), policy.root
    if isinstance(root, Acquisition):
        names = join_names([problem.label(f) for f in root.features], "and")
        first = f"First, acquire {names} for {_amount(problem, root.price)}."
    else:
        first = f"Decide at once: {problem.state_label(problem.target, root.decision)}."
    saved = f"That is {_amount(problem, now - total)} less than deciding now"
    if total > now + tolerance(now):
        saved = f"That is {_amount(problem, total - now)} more than deciding now"
    elif abs(total - now) <= tolerance(now):
        saved = "That is what deciding now costs"
    lines = [
        f"{first} The policy costs {_amount(problem, total)} on average: "
        f"{_amount(problem, policy.expected_feature_cost)} for features and "
        f"{_amount(problem, policy.expected_misclassification_cost)} for decisions. "
        f"{saved} ({_amount(problem, now)}).",
        policy.verdict,
    ]
    return f'<div class="verdict">{"".join(paragraph(line) for line in lines if line)}</div>'


def _plan(policy: Policy) -> str:
    """Return the tree, all of it if it is small; else the likely part, and what is left out."""
    if policy.n_paths <= MAX_OPEN:
        return policy_tree(policy, unfolded=True)
    share = drawn_share(policy, MAX_NODES)
    said = (
        f"The policy has {count_noun(policy.n_paths, 'path')}. This is the most probable part of "
        f"it: {100 * share:.1f} % of the cases find their decision here. For the others it says "
        f"how many paths are not drawn. voilattice advise goes through all of them, step by step."
    )
    return paragraph(said) + policy_tree(policy, max_nodes=MAX_NODES, unfolded=True)


def _flow(policy: Policy) -> str:
    """Return where the cases go; on paper only if it can be read there, upright or lying."""
    if not policy.depth:
        return ""
    flow, heading = draw_flow(policy), "<h2>Where the cases go</h2>"
    long, short = PAPER
    room = 40.0  # for the heading
    if min(short / flow.width, (long - room) / flow.height) >= LEAST_SCALE:
        return f'<section class="whole">{heading}<figure class="flow">{flow.svg}</figure></section>'
    if min(long / flow.width, (short - room) / flow.height) >= LEAST_SCALE:
        return f'<section class="lying">{heading}<figure class="flow">{flow.svg}</figure></section>'
    left_out = (
        "The picture of where the cases go is too large for A4 and is left out here. It is on the "
        "screen, and voilattice policy with --flow draws it alone."
    )
    return (
        f'<section>{heading}<p class="paper">{escape(left_out)}</p>'
        f'<figure class="flow screen">{flow.svg}</figure></section>'
    )


def _problem(problem: Problem) -> str:
    said = [
        f"Which of {count_noun(len(problem.decisions), 'decision')} to take on "
        f"{problem.label(problem.target)}, and which of "
        f"{count_noun(len(problem.features), 'feature')} to acquire first."
    ]
    if problem.evidence:
        known = ", ".join(
            f"{problem.label(f)} = {problem.state_label(f, s)}" for f, s in problem.evidence.items()
        )
        counting = " The limits count from here." if problem.limits else ""
        said.append(f"Known from the start: {known}.{counting}")
    rules = problem.describe_rules()
    listed = "".join(f"<li>{escape(rule)}</li>" for rule in rules)
    return "".join(map(paragraph, said)) + (f"<ul>{listed}</ul>" if rules else "")


def _stakes(problem: Problem) -> str:
    classes = [problem.state_label(problem.target, state) for state in problem.classes]
    heading = [in_currency("cost of deciding", problem.currency), *(f"if {y}" for y in classes)]
    rows: list[list[object]] = [["prior probability", *(f"{p:.4g}" for p in problem.prior)]]
    for decision, row in zip(problem.decisions, problem.misclassification, strict=True):
        said = problem.state_label(problem.target, decision)
        rows.append([said, *map(format_amount, row)])
    return f'<div class="wide">{html_table(heading, rows)}</div>'


def _first_steps(problem: Problem, steps: FirstSteps | None) -> str:
    if steps is None or not steps.steps:
        return ""
    most = "" if steps.exact else " at most"
    heading = ["to begin with", *(
        in_currency(name, problem.currency) for name in ("price", f"in all{most}", "more")
    )]  # fmt: skip
    best = min([steps.decide, *(step.cost_to_go for step in steps.steps)])
    rows: list[list[object]] = []
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
    table = f'<div class="wide">{html_table(heading, rows)}</div>'
    told = "".join(f"<li>{escape(step.text)}</li>" for step in steps.steps[1:3])
    why = f"<h2>Why this first</h2>{table}<ul>{told}</ul>"
    return f'<section class="whole">{why}</section>'


def _bill(policy: Policy) -> str:
    problem = policy.problem
    price, average = (in_currency(name, problem.currency) for name in ("price", "on average"))
    rows: list[list[object]] = []
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
    return html_table(["", price, "paid", average], rows)


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


def _grounds(policy: Policy) -> str:
    problem, network = policy.problem, policy.problem.network
    hidden = ""
    if problem.hidden:
        hidden = f", of which {count_noun(len(problem.hidden), 'node')} can never be seen"
    said = [
        f"A Bayesian network of {count_noun(len(network), 'node')} and "
        f"{count_noun(network.n_arcs, 'arc')}{hidden}. All probabilities here follow from it: they "
        f"are as good as the network is.",
        f"The prices and the costs of decisions are those of the problem file"
        f"{f', in {problem.currency}' if problem.currency else ''}.",
        f"The policy has {count_noun(policy.n_paths, 'path')}; each acquires at most "
        f"{count_noun(policy.depth, 'time')}, {policy.expected_features:.2f} features on average.",
        policy.verdict or f"The policy {policy.name} is a rule: it is not proved to cost least.",
    ]
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in said) + "</ul>"


def _amount(problem: Problem, amount: float) -> str:
    return format_amount(amount, problem.currency)
