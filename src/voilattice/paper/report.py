"""Tables 1 to 3, Figures 1 to 8 and the paper's claims: one page, and the numbers as CSV.

The paper's numbers are beside or below ours. The files do not depend on when and where they were
made, or on how often the run was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from voilattice.drawing.lattice import lattice_svg
from voilattice.drawing.pages import render
from voilattice.drawing.policy import policy_svg
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
        "figure-3.svg": lattice_svg(_figure_3()),
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
    grids = [
        f"{costs} feature costs at {len(x)} a-priori EMC from {x[0]:g} to {x[-1]:g}"
        for costs, x in points.items()
    ]
    policy, lattice = _figure_2(), _figure_3()
    return render(
        "paper/report.html.j2",
        title="The paper's experiments, reproduced",
        problems=problems,
        grids=grids,
        claims=claims,
        max_cases=MAX_SHOWN_CASES,
        table_1=list(_table_1_rows(problems)),
        table_2=list(_table_2_rows()),
        compared=COMPARED,
        table_3={panel: _table_3(curves, *panel) for panel in PANELS},
        regrets={panel: _regrets(curves, *panel) for panel in PANELS},
        figure_1=list(_figure_1_rows()),
        figure_2=policy,
        figure_2_svg=inline_svg(policy_svg(policy)),
        figure_3=lattice,
        figure_3_svg=inline_svg(lattice_svg(lattice)),
        numbers=FIGURES,
        priors=PRIORS,
        figures=figures,
    )


def _table_3(
    curves: Sequence[Curves], costs: str, kind: str
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Yield intervals of a panel, each with our number and the paper's for each column."""
    panels = [panel for panel in curves if (panel.costs, panel.kind) == (costs, kind)]
    found = {panel.name: [table_3(panel, policy) for policy in COMPARED] for panel in panels}
    bounds = INTERVALS[costs]
    for k, row in enumerate(TABLE_3[costs, kind]):
        printed = dict(zip(TABLE_1, row, strict=True))
        close = "]" if k == len(bounds) - 2 else ")"
        yield (
            f"[{bounds[k]:.0f}-{bounds[k + 1]:.0f}{close}",
            [
                (mine[k], theirs)
                for name, columns in found.items()
                for mine, theirs in zip(columns, printed[name], strict=True)
            ],
        )


def _regrets(
    curves: Sequence[Curves], costs: str, kind: str
) -> dict[str, list[tuple[float, float]]]:
    """Return the mean and the largest regret of each policy, for each data set of a panel."""
    panels = [panel for panel in curves if (panel.costs, panel.kind) == (costs, kind)]
    return {
        policy: [regret(panel, policy) for panel in panels]
        for policy in panels[0].total_cost
        if policy != "optimal"
    }


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


def _figure_3() -> Lattice:
    return Lattice(load_problem("builtin:figure3"))
