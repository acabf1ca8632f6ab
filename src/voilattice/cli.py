"""The command line: thin, results on stdout, complaints on stderr in one line.

Bad input ends with exit status 2. With ``--json`` one JSON document goes to stdout and nothing
else. Heavy imports stand inside the commands, so ``voilattice --help`` is quick.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from voilattice import __version__
from voilattice.costs import KINDS, FeatureCosts
from voilattice.errors import InputError, VoilatticeError, located
from voilattice.problem import Problem
from voilattice.problem_files import builtin_problems, load_problem
from voilattice.valuation import Value, emc, value

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["main"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    try:
        cli.main(arguments, prog_name="voilattice", standalone_mode=False)
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
    except MemoryError:
        _quit("out of memory: ask for fewer features, or give more evidence")


def _quit(message: str) -> None:
    line = " ".join(message.split("\n"))
    # Names come from files: no control character of theirs reaches the terminal.
    click.echo("".join(c if c.isprintable() else repr(c)[1:-1] for c in line), err=True)
    sys.exit(2)


# -- completion and options that the commands share


def _complete_problem(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    names = [CompletionItem(name) for name in builtin_problems() if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


def _complete_features(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    chosen, comma, start = incomplete.rpartition(",")
    taken = chosen.split(",")
    return [
        f"{chosen}{comma}{feature}"
        for feature in _features_for_completion(context)
        if feature.startswith(start) and feature not in taken
    ]


def _complete_evidence(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    observations = (
        f"{feature}={state}"
        for feature, states in _features_for_completion(context).items()
        for state in states
    )
    return [observation for observation in observations if observation.startswith(incomplete)]


def _features_for_completion(context: click.Context) -> dict[str, tuple[str, ...]]:
    # An option that still waits for its value stops click's parser before it sorts the arguments.
    given = [context.params.get("problem"), *context.args]
    try:
        problem = load_problem(next(word for word in given if word))
    except (StopIteration, VoilatticeError):
        return {}
    return {feature: problem.states(feature) for feature in problem.features}


_problem_argument = click.argument("problem", metavar="PROBLEM", shell_complete=_complete_problem)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def _problem_options(command: _Command) -> _Command:
    """Add the argument and options of every command that works on a problem."""
    decorators = (
        _problem_argument,
        click.option(
            "--evidence",
            multiple=True,
            metavar="X=v",
            shell_complete=_complete_evidence,
            help="A known feature and its state; repeat for more.",
        ),
        click.option(
            "--expected",
            type=float,
            metavar="EMC",
            help="Replace the misclassification costs: their a-priori expectation ...",
        ),
        click.option(
            "--kind",
            type=click.Choice(KINDS),
            help="... and how they are scaled (default: symmetric).",
        ),
        _json_option,
    )
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def _load(
    path_or_name: str, evidence: Sequence[str], expected: float | None, kind: str | None
) -> tuple[Problem, dict[str, str]]:
    """Return the problem, its misclassification costs replaced if asked, and the evidence given."""
    problem = load_problem(path_or_name)
    if expected is not None:
        try:
            problem = problem.with_expected(kind or KINDS[0], expected)
        except InputError as error:
            # Its places are `kind` and `expected`: the names of the two options.
            raise InputError(f"--{error}") from None
    elif kind is not None:
        raise InputError(f"--kind: needs --expected too, as in --expected 500 --kind {kind}")
    given: dict[str, str] = {}
    for item in evidence:
        with located(f"--evidence {item}"):
            feature, equals, state = item.partition("=")
            if not equals:
                raise InputError("must be FEATURE=STATE")
            if feature in given:
                raise InputError(f"{feature!r} is given twice")
            given |= {feature: state}
            problem.known(given)
    with located("--evidence"):
        problem.check_possible(problem.known(given))
    return problem, given


def _feature_list(problem: Problem, items: Iterable[str]) -> list[str]:
    """Split at commas, except where the whole is the name of a feature."""
    return [
        name
        for item in items
        for name in ([item] if item in problem.features else item.split(","))
        if item
    ]


# -- the commands


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Which features to acquire, together or one by one, and when to stop and decide.

    PROBLEM is a problem file, a folder with a problem.toml, or the name of a built-in problem.
    """


@cli.command()
@_json_option
def problems(as_json: bool) -> None:
    """List the built-in problems."""
    loaded = {name: load_problem(name) for name in builtin_problems()}
    if as_json:
        _print_json(
            [
                {
                    "name": name,
                    "title": problem.title,
                    "target": problem.target,
                    "features": sorted(problem.features),
                }
                for name, problem in loaded.items()
            ]
        )
        return
    table = _rich_table("problem", "target", "features", "title")
    for name, problem in loaded.items():
        table.add_row(name, problem.target, str(len(problem.features)), problem.title)
    _console().print(table)


@cli.command()
@_problem_options
def show(
    problem: str, evidence: tuple[str, ...], expected: float | None, kind: str | None, as_json: bool
) -> None:
    """Show what a problem holds: network, prices, stakes, evidence."""
    loaded, given = _load(problem, evidence, expected, kind)
    if as_json:
        _print_json(_problem_document(loaded, given))
    else:
        _print_problem(loaded, given)


@cli.command(name="value")
@_problem_options
@click.option(
    "--features",
    required=True,
    multiple=True,
    metavar="X1,X3",
    shell_complete=_complete_features,
    help="The set to value: names with commas between; repeatable.",
)
def value_command(
    problem: str,
    evidence: tuple[str, ...],
    expected: float | None,
    kind: str | None,
    as_json: bool,
    features: tuple[str, ...],
) -> None:
    """Print EMC, EVI, cost and benefit of acquiring a set of features together."""
    loaded, given = _load(problem, evidence, expected, kind)
    with located("--features"):
        result = value(loaded, _feature_list(loaded, features), given)
    if as_json:
        _print_json(
            {
                "features": sorted(result.features),
                "emc": result.emc,
                "expected_emc": result.expected_emc,
                "evi": result.evi,
                "cost": result.cost,
                "benefit": result.benefit,
            }
        )
    else:
        _print_value(result)


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    For bash: voilattice completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None  # click.Choice lists the shells that click knows
    click.echo(found(cli, {}, "voilattice", "_VOILATTICE_COMPLETE").source())


# -- how results look


def _print_json(document: object) -> None:
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def _problem_document(problem: Problem, given: Mapping[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "title": problem.title,
        "target": problem.target,
        "classes": list(problem.classes),
        "prior": dict(zip(problem.classes, problem.prior.tolist(), strict=True)),
        "features": sorted(problem.features),
        "states": {name: list(problem.states(name)) for name in problem.features},
        "hidden": sorted(problem.hidden),
        "misclassification": {
            predicted: dict(zip(problem.classes, row, strict=True))
            for predicted, row in zip(
                problem.classes, problem.misclassification.tolist(), strict=True
            )
        },
        "evidence": problem.known(given),
        "emc": emc(problem, given),
    }
    if isinstance(problem.costs, FeatureCosts):
        document["costs"] = dict(problem.costs.prices)
        document["groups"] = [
            {"name": g.name, "overhead": g.overhead, "features": sorted(g.features)}
            for g in problem.costs.groups
        ]
        document["conditional_costs"] = [
            {"feature": c.feature, "when": dict(c.when), "cost": c.cost}
            for c in problem.costs.conditional
        ]
    return document


def _print_problem(problem: Problem, given: Mapping[str, str]) -> None:
    console = _console()
    network = problem.network
    console.print(problem.title or "Untitled problem", style="bold")
    console.print(
        f"A network of {len(network)} nodes and {network.n_arcs} arcs: "
        f"the target, {len(problem.features)} features, {len(problem.hidden)} hidden"
        + (f" ({', '.join(problem.hidden)})." if problem.hidden else ".")
    )
    if known := problem.known(given):
        console.print("Known: " + ", ".join(f"{name} = {state}" for name, state in known.items()))
    console.print(f"Deciding now costs {_money(emc(problem, given))} on average (EMC).\n")

    table = _rich_table("feature", "states", ">price", "group")
    costs = problem.costs
    assert isinstance(costs, FeatureCosts)  # problems come from files here
    group_of = {feature: group.name for group in costs.groups for feature in group.features}
    for name in problem.features:
        states = ", ".join(problem.states(name))
        table.add_row(name, states, _money(costs.prices[name]), group_of.get(name, ""))
    console.print(table)
    for group in costs.groups:
        console.print(
            f"Group {group.name}: its first feature also pays {_money(group.overhead)}, once."
        )
    for entry in costs.conditional:
        when = " and ".join(f"{name} = {state}" for name, state in entry.when)
        console.print(f"{entry.feature} costs {_money(entry.cost)} once {when} is known.")
    console.print()

    table = _rich_table(problem.target, *(f">if {actual}" for actual in problem.classes))
    table.add_row("prior probability", *(f"{probability:.4g}" for probability in problem.prior))
    for predicted, row in zip(problem.classes, problem.misclassification, strict=True):
        table.add_row(f"cost of saying {predicted}", *map(_money, row))
    console.print(table)


def _print_value(result: Value) -> None:
    console = _console()
    names = ", ".join(sorted(result.features)) or "nothing"
    table = _rich_table(f"acquire {names}", ">")
    table.add_row("EMC now", _money(result.emc))
    table.add_row("expected EMC after", _money(result.expected_emc))
    table.add_row("EVI", _money(result.evi))
    table.add_row("cost", _money(result.cost))
    table.add_row("benefit", _money(result.benefit), style="bold")
    console.print(table)
    console.print(
        f"Knowing {names} takes {_money(result.evi)} off the expected cost of deciding and costs "
        f"{_money(result.cost)}: " + ("it pays." if result.benefit > 0 else "it does not pay.")
    )


def _console() -> Console:
    from rich.console import Console

    # Names come from files: none of them is markup or an emoji code.
    return Console(markup=False, emoji=False, highlight=False, soft_wrap=False)


def _rich_table(*columns: str) -> Table:
    """Return an empty table; the columns that begin with ``>`` are aligned right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        table.add_column(
            column.removeprefix(">"), justify="right" if right else "left", overflow="fold"
        )
    return table


def _money(amount: float) -> str:
    """Return an amount with two decimals, or with three digits when those would show nothing."""
    if 1e-9 < abs(amount) < 0.01:
        return f"{amount:.3g}"
    return f"{amount:,.2f}"
