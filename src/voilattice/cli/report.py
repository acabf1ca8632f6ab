"""The command report: the plan, the problem and the bill to expect, to print on A4."""

from __future__ import annotations

from collections.abc import Mapping

import click

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.cli import console, terminal
from voilattice.cli.interrupts import finish_on_interrupt
from voilattice.cli.options import on_problem, output_option, time_limit_option, write
from voilattice.cli.policies import policy_option
from voilattice.cli.progress import progress_line
from voilattice.documents.policies import ReportedPolicy
from voilattice.errors import InputError
from voilattice.model.problem import Problem
from voilattice.policy.solvers import TIME_LIMIT, build_policy, describe_search

__all__ = ["report_command"]


@click.command(name="report")
@on_problem
@policy_option
@output_option("--out", ".html", ".htm", help="The page to write.")
@time_limit_option(TIME_LIMIT, "Stop then with what is found; the report says what is not proved.")
def report_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    name: str,
    out: str | None,
    time_limit: Deadline,
) -> None:
    """Write a report to print: the plan, the problem, the bill to expect.

    It is an HTML file that stands by itself and prints on two or three sheets of A4, more for a
    large problem. The plan comes first: each branch of it, or the most probable ones of more than
    40 paths. For the optimal policy it says what it would cost to begin with another feature.
    """
    from voilattice.consultation.advice import step_of_tree
    from voilattice.consultation.first_steps import find_first_steps
    from voilattice.drawing.report import report_html

    if out is None:
        raise InputError("is needed: the page to write, such as --out report.html", "--out")
    with (
        progress_line(describe_search, f"report, {name}") as progress,
        finish_on_interrupt(time_limit),
    ):
        share = time_limit.share(time_plan.REPORTED_POLICY)
        policy = build_policy(problem, name, given, time_limit=share, progress=progress)
        steps = None
        if name == "optimal":
            steps = find_first_steps(
                problem, given=given, advised=step_of_tree(policy), time_limit=time_limit
            )
    write(out, [report_html(policy, steps)])
    if as_json:
        console.print_json(ReportedPolicy.json_of(policy, file=out))
        return
    terminal.console().print(f"{out}: {policy.verdict or f'the policy {name}'}".rstrip())
