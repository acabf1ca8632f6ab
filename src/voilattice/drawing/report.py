"""A report on one page: a problem, a policy for it, and what the policy rests on.

HTML that stands by itself and prints on A4: the problem with its network, stakes and prices, what
to do first, where the cases go, the bill to expect, and the certificate.

The bill to expect has a row for each feature: how often the policy buys it, and that share times
its price. What is paid besides, or saved, is one row: overheads of groups, discounts, conditional
prices, rounds.
"""

from __future__ import annotations

import datetime
import math
from collections import defaultdict
from html import escape

from voilattice.drawing.flow import flow_svg
from voilattice.drawing.network import network_svg
from voilattice.drawing.pages import page
from voilattice.html import Strong, html_table, paragraph
from voilattice.model.costs import FeatureCosts
from voilattice.model.problem import Problem
from voilattice.policy.policy import Acquisition, Policy
from voilattice.policy.steps import FirstSteps
from voilattice.ties import tolerance
from voilattice.valuation.valuation import emc
from voilattice.wording import count_noun, format_amount, in_currency, join_names

__all__ = ["expected_bill", "report_html"]

MAX_STEPS = 6  # first steps that the report tells of

STYLE = """
@page { size: A4; margin: 9mm; }
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
figure svg { max-width: 100%; height: auto; }
.network svg { max-height: 24rem; }
ul { margin: .2rem 0; padding-left: 1.2rem; }
@media (min-width: 44rem), print {
  .two { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.6rem; align-items: start; } }
@media print {
  body { font-size: 7.4pt; line-height: 1.28; margin: 0; padding: 0; max-width: none; }
  h1 { font-size: 13pt; } h2 { font-size: 9.5pt; margin: .6rem 0 .1rem; }
  td, th { padding: .05rem .4rem; } figure { margin: .2rem 0; }
  .network svg { max-height: 52mm; } .flow svg { max-height: 60mm; }
  tr, .verdict { break-inside: avoid; } }
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
<div class="two"><section>
<h2>The problem</h2>
{_problem(problem)}
<figure class="network">{network_svg(problem)}</figure>
</section><section>
<h2>Stakes</h2>
{_stakes(problem)}
<h2>The bill to expect</h2>
<div class="wide">{_bill(policy)}</div>
</section></div>
<h2>Where the cases go</h2>
<figure class="flow">{flow_svg(policy)}</figure>
<div class="two">
{_first_steps(problem, steps)}
<section><h2>What this rests on</h2>
{_grounds(policy)}</section></div>"""
    return page(title, STYLE, body)


def expected_bill(policy: Policy) -> list[tuple[str, float, float | None, float]]:
    """Return, for each feature that is bought, its name, how often, its price and what that makes.

    The last row has no name: what is paid besides prices, or saved. Its price is None. With prices
    of one's own there are no prices of single features, and the last row is all of it.

    >>> import voilattice
    >>> policy = voilattice.build_policy(voilattice.load_problem("figure3"), "batch")
    >>> [(name, round(share, 3), price, round(part, 3))
    ...  for name, share, price, part in expected_bill(policy)]
    [('X3', 1.0, 4.0, 4.0), ('X4', 1.0, 1.0, 1.0), ('X2', 0.137, 2.0, 0.274), ('', 1.0, None, 0.0)]
    """
    shares: dict[str, float] = defaultdict(float)
    for node, reach in zip(policy.nodes, policy.reach_probabilities, strict=True):
        if isinstance(node, Acquisition):
            for feature in node.features:
                shares[feature] += reach
    costs, rows = policy.problem.costs, list[tuple[str, float, float | None, float]]()
    for feature, share in sorted(shares.items(), key=lambda item: (-item[1], item[0])):
        price = costs.prices[feature] if isinstance(costs, FeatureCosts) else None
        rows.append((feature, share, price, 0.0 if price is None else share * price))
    rest = policy.expected_feature_cost - math.fsum(part for *_, part in rows)
    small = tolerance(policy.expected_total_cost)
    rows.append(("", 1.0, None, 0.0 if abs(rest) <= small else rest))
    return rows


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
    return f"<section><h2>Why this first</h2>{table}<ul>{told}</ul></section>"


def _bill(policy: Policy) -> str:
    problem = policy.problem
    heading = ["feature", "bought", *(
        in_currency(name, problem.currency) for name in ("price", "on average")
    )]  # fmt: skip
    rows: list[list[object]] = []
    for feature, share, price, part in expected_bill(policy):
        if feature:
            shown = "" if price is None else format_amount(price)
            average = "" if price is None else f"{part:,.2f}"
            rows.append([problem.label(feature), f"{100 * share:.1f} %", shown, average])
        elif part:
            what = "overheads, discounts, conditional prices, rounds"
            is_priced = isinstance(problem.costs, FeatureCosts)
            rows.append([what if is_priced else "all of them", "", "", format_amount(part)])
    features, decisions = policy.expected_feature_cost, policy.expected_misclassification_cost
    rows.append(["features together", "", "", format_amount(features)])
    rows.append(["expected cost of the decision", "", "", format_amount(decisions)])
    total = Strong(format_amount(policy.expected_total_cost))
    rows.append([Strong("total"), "", "", total])
    return html_table(heading, rows)


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
