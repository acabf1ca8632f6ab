"""The commands about sets of features: value, lattice, best, explain."""

from __future__ import annotations

import math
from collections.abc import Mapping

import click

from voilattice.budgets import Deadline
from voilattice.cli import console
from voilattice.cli.interrupts import finish_on_interrupt
from voilattice.cli.options import (
    feature_list,
    features_option,
    on_problem,
    output_option,
    time_limit_option,
    write,
)
from voilattice.cli.progress import progress_line
from voilattice.documents.sets import BestSet, Explanation, PrintedLattice, SetValue
from voilattice.errors import within
from voilattice.lattice.explanations import explain
from voilattice.lattice.growth import MAX_NODES
from voilattice.lattice.lattice import Lattice
from voilattice.model.problem import Problem
from voilattice.valuation.best_set import best_set
from voilattice.valuation.lattice_values import value_lattice
from voilattice.valuation.valuation import value
from voilattice.wording import count_noun, format_amount

__all__ = ["best_command", "explain_command", "lattice_command", "value_command"]

TOP_SETS = 10
TIME_LIMIT = 30.0


@click.command(name="value")
@on_problem
@features_option
def value_command(
    problem: Problem, given: Mapping[str, str], as_json: bool, features: tuple[str, ...]
) -> None:
    """Print what acquiring a set of features is worth, and what it costs.

    \b
    EMC      the expected misclassification cost: what deciding costs on average
    EVI      the expected value of information: what the set takes off the EMC
    benefit  EVI less what the set costs

    Any set is valued; if constraints or limits do not allow acquiring it, that is said too.
    """  # noqa: D301 (click reads the character)
    with within("--features"):
        result = value(problem, feature_list(problem, features), given)
    if not as_json:
        console.print_value(problem, result)
        return
    console.print_json(SetValue.json_of(result))


@click.command(name="lattice")
@on_problem
@click.option(
    "--max-size", type=click.IntRange(min=0), metavar="K", help="Only sets of at most K features."
)
@click.option(
    "--max-nodes",
    type=click.IntRange(min=1),
    default=MAX_NODES,
    show_default=True,
    metavar="N",
    help="Give up beyond N sets.",
)
@click.option(
    "--values",
    is_flag=True,
    help=f"Value every set; show the {TOP_SETS} of highest benefit, and all in the drawings.",
)
@output_option("--svg", ".svg", help="Draw it as SVG.")
@output_option("--html", ".html", ".htm", help="Draw it as a page.")
@output_option("--graphml", ".graphml", ".xml", help="Write it as GraphML.")
def lattice_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    max_size: int | None,
    max_nodes: int,
    values: bool,
    svg: str | None,
    html: str | None,
    graphml: str | None,
) -> None:
    """Build the lattice of irreducible sets: statistics, and drawings.

    A set is irreducible if none of its features is useless once the others are known.
    """
    from voilattice.drawing import lattice as drawing

    def describe(size: int, found: int) -> str:
        return f"lattice: {found:,} sets, growing those of {count_noun(size, 'feature')}"

    with progress_line(describe) as progress:
        lattice = Lattice(problem, given, max_size=max_size, max_nodes=max_nodes, progress=progress)
    valued = None
    if values:
        with progress_line(lambda done, every: f"values: {done:,} of {every:,} sets") as progress:
            valued = value_lattice(problem, given, lattice=lattice, progress=progress)
    if len(lattice) > drawing.MAX_DRAWN and (svg or html):
        click.echo(
            f"drawn by level: more than {drawing.MAX_DRAWN} sets (--max-size makes them fewer)",
            err=True,
        )
    if svg is not None:
        write(svg, [drawing.lattice_svg(lattice, valued)])
    if html is not None:
        write(html, [drawing.lattice_html(lattice, valued)])
    if graphml is not None:
        write(graphml, drawing.lattice_graphml(lattice))
    top = [] if valued is None else valued.top(TOP_SETS)
    if not as_json:
        console.print_lattice(lattice, lattice.n_edges, top)
        return
    valued_sets = top if values else None
    console.print_json(PrintedLattice.json_of(lattice, values=valued_sets))


@click.command(name="best")
@on_problem
@time_limit_option(TIME_LIMIT, "Stop then with the best set found and a bound.")
def best_command(
    problem: Problem, given: Mapping[str, str], as_json: bool, time_limit: Deadline
) -> None:
    """Find the set of highest benefit: worth most beyond its price.

    The benefit of a set is its EVI, the expected value of information, less what the set costs.
    This is Equation 7 of the paper.
    """

    def describe(evaluated: int, gap: float) -> str:
        bound = f"gap {format_amount(gap)}" if math.isfinite(gap) else "no bound yet"
        return f"best: {evaluated:,} sets valued, {bound}"

    with progress_line(describe, "best") as progress, finish_on_interrupt(time_limit):
        found = best_set(problem, given, time_limit=time_limit, progress=progress)
    if not as_json:
        console.print_best(problem, found)
        return
    console.print_json(BestSet.json_of(found))


@click.command(name="explain")
@on_problem
@features_option
def explain_command(
    problem: Problem, given: Mapping[str, str], as_json: bool, features: tuple[str, ...]
) -> None:
    """Say in words why a set of features is, or is not, in the lattice.

    If the problem has constraints: also whether the set can be acquired as it is, why not, and what
    would make it so.
    """
    with within("--features"):
        chosen = problem.check_acquirable(
            feature_list(problem, features), problem.merge_evidence(given)
        )
    explanation = explain(problem, chosen, given)
    if not as_json:
        console.print_explanation(explanation)
        return
    console.print_json(Explanation.json_of(explanation))
