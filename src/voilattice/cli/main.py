"""The command line: thin, results on stdout, complaints on stderr in one line.

Bad input ends with exit status 2. With ``--json`` one JSON document goes to stdout and nothing
else. Heavy imports stand inside the functions that need them, so ``voilattice --help`` is quick.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence

import click
from click.shell_completion import get_completion_class

from voilattice import __version__
from voilattice.cli import console
from voilattice.cli import data as cli_data
from voilattice.cli import policies as cli_policies
from voilattice.cli import serve as cli_serve
from voilattice.cli.options import (
    check_writable,
    feature_list,
    features_option,
    json_option,
    on_problem,
    write,
)
from voilattice.documents import (
    best_document,
    explanation_document,
    lattice_document,
    problem_document,
    problem_entry,
    value_document,
)
from voilattice.errors import InputError, VoilatticeError, within
from voilattice.files.problems import builtin_problems, load_problem
from voilattice.lattice.explanations import explain
from voilattice.lattice.growth import MAX_NODES
from voilattice.lattice.lattice import Lattice
from voilattice.model.problem import Problem
from voilattice.valuation.best_set import best_set
from voilattice.valuation.lattice_values import value_lattice
from voilattice.valuation.valuation import Value, value

__all__ = ["main"]

MAX_LINE = 1000
TOP_SETS = 10
TIME_LIMIT = 30.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter gets its code
            stream.reconfigure(errors="backslashreplace")
    try:
        cli.main(arguments, prog_name="voilattice", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        _quit(f"{context.command_path if context else 'voilattice'}: {error.format_message()}")
    except VoilatticeError as error:
        _quit(str(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has gone; Python must not complain again when it flushes.
        sys.stdout = None
        sys.exit(1)
    except OSError as error:
        sys.stdout = None
        _quit(f"standard output: cannot be written: {error.strerror or error}")
    except MemoryError:
        _quit("out of memory: ask for fewer features, or give more evidence")


def _quit(message: str) -> None:
    line = " ".join(message.split())
    if len(line) > MAX_LINE:
        line = f"{line[:MAX_LINE]}..."
    # Names come from files: no control character of theirs reaches the terminal.
    click.echo("".join(c if c.isprintable() else repr(c)[1:-1] for c in line), err=True)
    sys.exit(2)


# -- the commands


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Which features to acquire, together or one by one, and when to stop and decide.

    PROBLEM is a problem file, a folder with a problem.toml, or the name of a built-in problem.
    """


@cli.command()
@json_option
def problems(as_json: bool) -> None:
    """List the built-in problems."""
    loaded = {name: load_problem(name) for name in builtin_problems()}
    if as_json:
        console.print_json([problem_entry(name, problem) for name, problem in loaded.items()])
        return
    table = console.table("problem", "target", ">features", "title")
    for name, problem in loaded.items():
        table.add_row(name, problem.target, str(len(problem.features)), problem.title)
    console.console().print(table)


@cli.command()
@on_problem
def show(problem: Problem, given: Mapping[str, str], as_json: bool) -> None:
    """Show what a problem holds: network, prices, stakes, evidence."""
    if not as_json:
        console.print_problem(problem, given)
        return
    console.print_json(problem_document(problem, given))


@cli.command(name="value")
@on_problem
@features_option
def value_command(
    problem: Problem, given: Mapping[str, str], as_json: bool, features: tuple[str, ...]
) -> None:
    """Print EMC, EVI, cost and benefit of acquiring a set of features together."""
    with within("--features"):
        result = value(problem, feature_list(problem, features), given)
    if not as_json:
        console.print_value(result)
        return
    console.print_json(value_document(result))


@cli.command(name="lattice")
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
    "--values", is_flag=True, help=f"Value every set; show the {TOP_SETS} of highest benefit."
)
@click.option("--svg", type=click.Path(dir_okay=False), metavar="FILE", help="Draw it as SVG.")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Draw it as a page.")
@click.option(
    "--graphml", type=click.Path(dir_okay=False), metavar="FILE", help="Write it as GraphML."
)
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
    """Build the lattice of irreducible sets: statistics, and the graph if asked."""
    from voilattice.drawing import lattice as drawing

    for file in filter(None, (svg, html, graphml)):
        check_writable(file)

    def describe(size: int, found: int) -> str:
        return f"lattice: {found:,} sets, growing those of {size} features"

    with console.progress_line(describe) as progress:
        lattice = Lattice(problem, given, max_size=max_size, max_nodes=max_nodes, progress=progress)
    drawers = (
        (svg, lambda: [drawing.lattice_svg(lattice)]),
        (html, lambda: [drawing.lattice_html(lattice)]),
        (graphml, lambda: drawing.lattice_graphml(lattice)),
    )
    if len(lattice) > drawing.MAX_DRAWN and (svg or html):
        click.echo(
            f"drawn by level: more than {drawing.MAX_DRAWN} sets (--max-size makes them fewer)",
            err=True,
        )
    for path, draw in drawers:
        if path is not None:
            write(path, draw())
    top: list[Value] = []
    if values:
        with console.progress_line(
            lambda done, every: f"values: {done:,} of {every:,} sets"
        ) as progress:
            top = value_lattice(problem, given, lattice=lattice, progress=progress).top(TOP_SETS)
    if not as_json:
        console.print_lattice(lattice, lattice.n_edges, top)
        return
    document = lattice_document(lattice, top if values else None)
    if max_size is not None:
        document["max_size"] = max_size
    console.print_json(document)


@cli.command()
@on_problem
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    default=TIME_LIMIT,
    show_default=True,
    metavar="SECONDS",
    help="Stop then with the best set found and a bound.",
)
def best(problem: Problem, given: Mapping[str, str], as_json: bool, time_limit: float) -> None:
    """Find the set of highest benefit (Equation 7)."""

    def describe(evaluated: int, gap: float) -> str:
        return f"best: {evaluated:,} sets valued, gap {gap:,.2f}"

    with console.progress_line(describe) as progress:
        if math.isnan(time_limit):
            raise InputError("must be a number of seconds >= 0, got nan", "--time-limit")
        found = best_set(problem, given, time_limit=time_limit, progress=progress)
    if not as_json:
        console.print_best(found)
        return
    console.print_json(best_document(found))


@cli.command(name="explain")
@on_problem
@features_option
def explain_command(
    problem: Problem, given: Mapping[str, str], as_json: bool, features: tuple[str, ...]
) -> None:
    """Say in words why a set of features is, or is not, in the lattice."""
    with within("--features"):
        chosen = problem.acquirable(feature_list(problem, features), problem.known(given))
    explanation = explain(problem, chosen, given)
    if not as_json:
        console.print_explanation(explanation)
        return
    console.print_json(explanation_document(explanation))


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def completion(shell: str) -> None:
    """Print the completion script of a shell: bash, zsh or fish.

    For bash: voilattice completion bash >> ~/.bashrc
    """
    found = get_completion_class(shell)
    assert found is not None  # click.Choice lists the shells that click knows
    click.echo(found(cli, {}, "voilattice", "_VOILATTICE_COMPLETE").source())
    if shell == "bash":
        # Otherwise bash breaks X=v at the sign and completes neither side of it.
        click.echo("COMP_WORDBREAKS=${COMP_WORDBREAKS//=}")


cli.add_command(cli_data.learn_command)
cli.add_command(cli_data.reproduce_command)
cli.add_command(cli_policies.advise_command)
cli.add_command(cli_policies.compare_command)
cli.add_command(cli_policies.policy_command)
cli.add_command(cli_serve.serve_command)
