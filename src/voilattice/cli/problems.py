"""The commands that show problems."""

from __future__ import annotations

from collections.abc import Mapping

import click

from voilattice.cli import console, terminal
from voilattice.cli.distributions import print_distributions
from voilattice.cli.options import json_option, on_problem
from voilattice.documents.problems import ProblemEntry, ShownProblem, node_tables
from voilattice.files.problems import BUILTIN, builtin_problems, load_problem
from voilattice.model.problem import Problem

__all__ = ["problems_command", "show_command"]


@click.command(name="problems")
@json_option
def problems_command(as_json: bool) -> None:
    """List the built-in problems."""
    loaded = {name: load_problem(f"{BUILTIN}{name}") for name in builtin_problems()}
    if as_json:
        entries = (ProblemEntry.json_of(problem, name=name) for name, problem in loaded.items())
        console.print_json(list(entries))
        return
    table = terminal.table("problem", "target", ">features", "title")
    for name, problem in loaded.items():
        table.add_row(
            name, problem.label(problem.target), str(len(problem.features)), problem.title
        )
    terminal.print_table(table)


@click.command(name="show")
@on_problem
@click.option(
    "--tables",
    is_flag=True,
    help="Show the probability tables too: a line for each combination of the parents' states.",
)
def show_command(problem: Problem, given: Mapping[str, str], as_json: bool, tables: bool) -> None:
    """Show what a problem holds: network, prices, stakes, evidence."""
    if not as_json:
        console.print_problem(problem, given)
        if tables:
            print_distributions(problem)
        return
    shown = node_tables(problem.network) if tables else None
    known = problem.with_evidence(given)
    console.print_json(ShownProblem.json_of(known, tables=shown))
