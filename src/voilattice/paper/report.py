"""Tables 1 to 3, Figures 1 to 8 and the paper's claims: one page, and the numbers as CSV.

The paper's numbers are beside or below ours. The files do not depend on when and where they were
made, or on how often the run was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from voilattice.drawing.lattice import lattice_svg
from voilattice.drawing.pages import page
from voilattice.drawing.policy import policy_svg
from voilattice.drawing.reports import STYLE as REPORT_STYLE
from voilattice.drawing.reports import csv_text, inline_svg, write_files
from voilattice.errors import InputError
from voilattice.files.problems import load_problem
from voilattice.lattice.independence import acquirable_core
from voilattice.lattice.lattice import Lattice
from voilattice.model.problem import Problem
from voilattice.model.stakes import scaled_costs
from voilattice.paper.claims import Claim, measure_claims
from voilattice.paper.experiment import Point
from voilattice.paper.figures import PANELS, savings_svg
from voilattice.paper.published import INTERVALS, PRIORS, TABLE_1, TABLE_2, TABLE_3
from voilattice.paper.summary import Curves, curves_of, regret, table_3
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import policy_from_rule
from voilattice.valuation.valuation import value

__all__ = ["REPORT", "check_folder", "write_report"]

REPORT = "report.html"
FIGURES = {"liver": 4, "diabetes": 5, "heart": 6, "hepatitis": 7, "thyroid": 8}
COMPARED = ("greedy", "greedy-la")  # the columns of Table 3
MAX_SHOWN_CASES = 8

STYLE = f"""{REPORT_STYLE}
th[scope=row], td.text, th.text {{ text-align: left; }}
th[colspan] {{ text-align: center; }}
th.text[colspan] {{ text-align: left; padding-top: .8rem; }}
.worse {{ color: #a8260b; }} .verdict {{ font-weight: 600; white-space: nowrap; }}
"""


def write_report(folder: Path, points: Sequence[Point]) -> tuple[list[Path], list[Claim]]:
    """Write the page, the figures and the CSV files; return their paths, and the claims.

    A file replaces an older one only when it is complete. Figures of data sets that are not in
    this run are deleted.
    """
    curves = curves_of(points)
    names = list(dict.fromkeys(panel.name for panel in curves))
    problems = {name: load_problem(f"builtin:{name}") for name in names}
    claims = measure_claims(problems, points)
    figures = {
        name: savings_svg([panel for panel in curves if panel.name == name]) for name in names
    }
    files = {
        "table-1.csv": csv_text(_table_1_rows(problems)),
        "table-2.csv": csv_text(_table_2_rows()),
        "table-3.csv": csv_text(_table_3_rows(curves)),
        "regret.csv": csv_text(_regret_rows(curves)),
        "points.csv": csv_text(_point_rows(points)),
        "claims.csv": csv_text(_claim_rows(claims)),
        "figure-1.csv": csv_text(_figure_1_rows()),
        "figure-2.svg": policy_svg(_figure_2()),
        "figure-3.svg": lattice_svg(Lattice(load_problem("builtin:figure3"))),
        **{f"figure-{FIGURES[name]}.svg": svg + "\n" for name, svg in figures.items()},
        REPORT: _page(problems, curves, claims, figures),
    }
    paths = write_files(folder, files)
    for name, number in FIGURES.items():
        if name not in names:
            (folder / f"figure-{number}.svg").unlink(missing_ok=True)
    return paths, claims


def check_folder(folder: Path, points: str) -> None:
    """Raise `InputError` if results would overwrite files that no earlier run wrote."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder; choose another name", str(folder))
    if not (folder / points).is_dir():
        for name in (REPORT, "points.csv", "claims.csv", "regret.csv"):
            if (folder / name).exists():
                raise InputError(
                    f"{name} is there already, and no earlier run of this command wrote it; choose "
                    f"another folder",
                    str(folder),
                )


def _table_1_rows(problems: Mapping[str, Problem]) -> Iterator[Sequence[object]]:
    yield (
        "data_set", "features", "subsets", "nodes", "nodes_paper", "reduction", "reduction_paper",
        "factor", "core",
    )  # fmt: skip
    for name, problem in problems.items():
        n, printed = len(Lattice(problem)), TABLE_1[name]
        subsets = 2 ** len(problem.features)
        yield (
            name, len(problem.features), subsets, n, printed.n_nodes,
            f"{1 - n / subsets:.1%}", f"{printed.reduction:.1%}",
            round(max(n / printed.n_nodes, printed.n_nodes / n), 2), len(acquirable_core(problem)),
        )  # fmt: skip


def _table_2_rows() -> Iterator[Sequence[object]]:
    yield "kind", "predicted", "actual", "cost", "cost_paper"
    for kind, printed in TABLE_2.items():
        costs = scaled_costs(kind, 1.0, list(PRIORS["diabetes"]))
        for i in range(2):
            for j in range(2):
                yield kind, f"y{i + 1}", f"y{j + 1}", round(float(costs[i][j]), 3), printed[i][j]


def _table_3_rows(curves: Sequence[Curves]) -> Iterator[Sequence[object]]:
    yield "data_set", "costs", "kind", "from", "to", "policy", "savings", "savings_paper"
    for panel in curves:
        bounds = INTERVALS[panel.costs]
        for policy in panel.total_cost:
            if policy in {"none", "markov-blanket"}:
                continue
            for k, found in enumerate(table_3(panel, policy)):
                printed: object = ""
                if policy in COMPARED:
                    row = TABLE_3[panel.costs, panel.kind][k]
                    printed = row[list(TABLE_1).index(panel.name)][COMPARED.index(policy)]
                yield (
                    panel.name, panel.costs, panel.kind, bounds[k], bounds[k + 1], policy,
                    round(found, 6), printed,
                )  # fmt: skip


def _regret_rows(curves: Sequence[Curves]) -> Iterator[Sequence[object]]:
    yield "data_set", "costs", "kind", "policy", "mean_regret", "largest_regret"
    for panel in curves:
        for policy in panel.total_cost:
            if policy != "optimal":
                mean, largest = regret(panel, policy)
                yield panel.name, panel.costs, panel.kind, policy, round(mean, 6), round(largest, 6)


def _point_rows(points: Sequence[Point]) -> Iterator[Sequence[object]]:
    yield "data_set", "costs", "seed", "kind", "expected", "policy", "expected_total_cost"
    for point in points:
        scenario = point.scenario
        seed = "" if scenario.seed is None else scenario.seed
        for policy, cost in point.total_cost.items():
            yield (
                scenario.name, scenario.costs, seed, scenario.kind, point.expected, policy, cost,
            )  # fmt: skip


def _claim_rows(claims: Sequence[Claim]) -> Iterator[Sequence[object]]:
    yield "claim", "place", "measure", "verdict", "case", "found", "holds"
    for claim in claims:
        for case in claim.cases:
            yield (
                claim.text, claim.place, claim.measure, claim.verdict, case.where, case.found,
                case.holds,
            )  # fmt: skip


def _page(
    problems: Mapping[str, Problem],
    curves: Sequence[Curves],
    claims: Sequence[Claim],
    figures: Mapping[str, str],
) -> str:
    points = {panel.costs: panel.expected for panel in curves}
    grids = ", ".join(
        f"{costs} feature costs at {len(x)} a-priori EMC from {x[0]:g} to {x[-1]:g}"
        for costs, x in points.items()
    )
    body = [
        "<p>The tables, figures and claims of Bilgic and Getoor, Value of Information Lattice "
        "(JAIR 41, 2011), computed again on the built-in problems. The paper's numbers are beside "
        f"ours or below in grey. Policies are compared with {grids}; synthetic costs are averaged "
        "over three seeds. The paper does not say how its networks were learned. Ours come from "
        "the same data, by one recipe for all, so the numbers can be near but not equal.</p>",
        "<h2>The paper's claims</h2>",
        _claims_table(claims),
        "<h2>Table 1: the lattices</h2>",
        _plain_table(_table_1_rows(problems)),
        "<h2>Table 2: misclassification costs of expectation 1</h2>",
        "<p>For the paper's P(Y) of diabetes. The paper prints its asymmetric entries the wrong "
        "way round. With our entries every constant decision costs 1, as its text says.</p>",
        _plain_table(_table_2_rows()),
        "<h2>Table 3: savings over the Markov blanket policy</h2>",
        "<p>Means over intervals of the a-priori EMC (the expected misclassification cost before "
        "any evidence); the paper's numbers are below. Red: worse than the Markov blanket "
        "policy.</p>",
        *(_table_3(curves, costs, kind) for costs, kind in PANELS),
        "<h2>Regret: what the optimum would save</h2>",
        "<p>How much more each policy costs than the optimal one, which is proved at every point: "
        "the mean share along the sweep, and below it the largest. The paper has no such table, "
        "because it calls the optimum intractable.</p>",
        _regret_table(curves),
        *_worked_examples(),
    ]
    for name, svg in figures.items():
        printed = ", ".join(f"{p:.4f}" for p in PRIORS[name])
        found = ", ".join(f"{p:.4f}" for p in problems[name].prior)
        body += [
            f"<h2>Figure {FIGURES[name]}: {escape(problems[name].title)}</h2>",
            f"<p>P(Y) = {found} (paper: {printed}).</p>",
            f'<figure role="img" aria-label="Savings of the policies on {name}">{svg}</figure>',
        ]
    return page("The paper's experiments, reproduced", STYLE, "\n".join(body))


def _claims_table(claims: Sequence[Claim]) -> str:
    rows = []
    for claim in claims:
        missed = [case for case in claim.cases if not case.holds]
        items = [f"<li>{escape(c.where)}: {escape(c.found)}</li>" for c in missed]
        if len(items) > MAX_SHOWN_CASES:
            more = len(items) - MAX_SHOWN_CASES
            items[MAX_SHOWN_CASES:] = [f"<li>and {more} more, in claims.csv</li>"]
        where = (
            f"<details><summary>where not</summary><ul>{''.join(items)}</ul></details>"
            if missed
            else ""
        )
        rows.append(
            f'<tr><td class="text">{escape(claim.text)}<small>{escape(claim.place)}; measured: '
            f'{escape(claim.measure)}</small>{where}</td><td class="text verdict">'
            f"{escape(claim.verdict)}</td></tr>"
        )
    return (
        '<div class="wide"><table><tr><th class="text">claim</th><th class="text">verdict</th></tr>'
        f"{''.join(rows)}</table></div>"
    )


def _plain_table(rows: Iterable[Sequence[object]]) -> str:
    header, *body = list(rows)
    cells = "".join(f"<th>{escape(str(cell)).replace('_', ' ')}</th>" for cell in header)
    lines = [
        f'<tr><th scope="row">{escape(str(first))}</th>'
        + "".join(f"<td>{escape(_cell(cell))}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in body
    ]
    return f'<div class="wide"><table><tr>{cells}</tr>{"".join(lines)}</table></div>'


def _cell(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _table_3(curves: Sequence[Curves], costs: str, kind: str) -> str:
    panels = {panel.name: panel for panel in curves if (panel.costs, panel.kind) == (costs, kind)}
    found = {
        name: [table_3(panel, policy) for policy in COMPARED] for name, panel in panels.items()
    }
    heads = "".join(f'<th colspan="2">{name}</th>' for name in found)
    policies = "".join(f"<th>{policy}</th>" for _ in found for policy in COMPARED)
    lines = []
    bounds = INTERVALS[costs]
    for k, row in enumerate(TABLE_3[costs, kind]):
        cells = ""
        for name, columns in found.items():
            printed = row[list(TABLE_1).index(name)]
            for mine, theirs in zip(columns, printed, strict=True):
                worse = ' class="worse"' if mine[k] < 0 else ""
                cells += f"<td{worse}>{mine[k]:.2f}<small>{theirs:.2f}</small></td>"
        close = "]" if k == len(bounds) - 2 else ")"
        lines.append(
            f'<tr><th scope="row">[{bounds[k]:.0f}-{bounds[k + 1]:.0f}{close}</th>{cells}</tr>'
        )
    return (
        f"<h3>{costs} feature costs, {kind} misclassification costs</h3>"
        f'<div class="wide"><table><tr><th></th>{heads}</tr><tr><th></th>{policies}</tr>'
        f"{''.join(lines)}</table></div>"
    )


def _figure_1_rows() -> Iterator[Sequence[object]]:
    problem = load_problem("builtin:figure1")
    yield "set", "EMC_after", "EVI", "cost", "benefit"
    for features in ({"X1"}, {"X2"}, {"X1", "X2"}):
        v = value(problem, features)
        amounts = (v.expected_emc, v.evi, v.cost, v.benefit)
        yield " ".join(sorted(features)), *(f"{amount:.2f}" for amount in amounts)


def _figure_2() -> Policy:
    return policy_from_rule(
        load_problem("builtin:figure1"),
        lambda e: {"X1"} if not e else {"X2"} if e == {"X1": "T"} else set(),
        name="Figure 2",
    )


def _worked_examples() -> Iterator[str]:
    """Return Figures 1 to 3: the paper's small examples, with their values."""
    yield "<h2>Figure 1: two features that are worth more together</h2>"
    yield (
        "<p>The paper prints the joint distribution and the costs, which are the built-in problem "
        "figure1. These values follow from them. Together the features are worth more than the "
        "sum of their single values, but no set pays.</p>"
    )
    yield _plain_table(_figure_1_rows())
    policy = _figure_2()
    yield "<h2>Figure 2: a conditional policy</h2>"
    yield (
        f"<p>X1 first, then X2 only if X1 is T, as drawn in the paper. Its expected total cost is "
        f"{policy.expected_total_cost:.1f}: {policy.expected_feature_cost:.1f} for features, "
        f"{policy.expected_misclassification_cost:.1f} for wrong decisions.</p>"
    )
    yield f'<figure role="img" aria-label="The policy">{inline_svg(policy_svg(policy))}</figure>'
    lattice = Lattice(load_problem("builtin:figure3"))
    yield "<h2>Figure 3: a network of four features and its lattice</h2>"
    yield (
        f"<p>{len(lattice)} of {lattice.n_subsets} sets are irreducible, the {len(lattice)} of the "
        f"paper's Figure 3(b).</p>"
    )
    yield f'<figure role="img" aria-label="The lattice">{inline_svg(lattice_svg(lattice))}</figure>'


def _regret_table(curves: Sequence[Curves]) -> str:
    names = list(dict.fromkeys(panel.name for panel in curves))
    policies = [policy for policy in curves[0].total_cost if policy != "optimal"]
    lines = []
    for costs, kind in PANELS:
        lines.append(
            f'<tr><th scope="row" colspan="{len(names) + 1}" class="text">{costs} feature costs, '
            f"{kind} misclassification costs</th></tr>"
        )
        found = {p.name: p for p in curves if (p.costs, p.kind) == (costs, kind)}
        for policy in policies:
            cells = ""
            for name in names:
                mean, largest = regret(found[name], policy)
                cells += f"<td>{mean:.1%}<small>{largest:.1%}</small></td>"
            lines.append(f'<tr><th scope="row">{policy}</th>{cells}</tr>')
    heads = "".join(f"<th>{name}</th>" for name in names)
    return f'<div class="wide"><table><tr><th></th>{heads}</tr>{"".join(lines)}</table></div>'
