"""The command line: thin, results on stdout, complaints on stderr in one line.

Bad input ends with exit status 2. With ``--json`` one JSON document goes to stdout and nothing
else. Heavy imports stand inside the functions that need them, so ``voilattice --help`` is quick.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from voilattice import __version__, console
from voilattice.best import best_set
from voilattice.costs import KINDS, FeatureCosts
from voilattice.errors import InputError, VoilatticeError, within
from voilattice.explanations import explain
from voilattice.growth import MAX_NODES
from voilattice.inference import MEMORY_BYTES, memory_limit
from voilattice.lattice import Lattice
from voilattice.lattice_values import value_lattice
from voilattice.policies import MAX_STATES, POLICIES, build_policy
from voilattice.problem import Problem
from voilattice.problem_files import builtin_problems, load_problem
from voilattice.valuation import Value, emc, value

__all__ = ["main"]

# `sets` is left out of the JSON of a lattice with more nodes.
MAX_SETS_IN_JSON = 200_000
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


_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_features_option = click.option(
    "--features",
    required=True,
    multiple=True,
    metavar="X1,X3",
    shell_complete=_complete_features,
    help="The set of features: names with commas between; repeatable.",
)


def _on_problem(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of every problem, and the problem and evidence they name."""

    @functools.wraps(command)
    def run(
        problem: str,
        evidence: tuple[str, ...],
        expected: float | None,
        kind: str | None,
        memory: int,
        **options: Any,
    ) -> None:
        with memory_limit(memory << 20):
            loaded, given = _load(problem, evidence, expected, kind)
            command(loaded, given, **options)

    decorators = (
        click.argument("problem", metavar="PROBLEM", shell_complete=_complete_problem),
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
        click.option(
            "--memory",
            type=click.IntRange(min=1),
            default=MEMORY_BYTES >> 20,
            show_default=True,
            metavar="MIB",
            help="The budget for tables.",
        ),
        _json_option,
    )
    decorated: Callable[..., None] = run
    for decorator in reversed(decorators):
        decorated = decorator(decorated)
    return decorated


def _load(
    path_or_name: str, evidence: Sequence[str], expected: float | None, kind: str | None
) -> tuple[Problem, dict[str, str]]:
    """Return the problem, its misclassification costs replaced if asked, and the evidence given."""
    problem = load_problem(path_or_name)
    if expected is not None:
        try:
            problem = problem.with_expected(kind or KINDS[0], expected)
        except InputError as error:
            # The places of scaled costs are called as the options: kind and expected.
            raise InputError(error.message, f"--{error.place}") from None
    elif kind is not None:
        raise InputError(f"needs --expected too, as in --expected 500 --kind {kind}", "--kind")
    given: dict[str, str] = {}
    for item in evidence:
        with within(f"--evidence {item}"):
            feature, state = _observation(problem, item)
            problem.known({feature: state})
            if feature in given:
                raise InputError(f"{feature!r} is given twice")
            given[feature] = state
    with within("--evidence"):
        problem.check_possible(problem.known(given))
    return problem, given


def _observation(problem: Problem, item: str) -> tuple[str, str]:
    """Split X=v at the sign that ends the name of a feature: names and states may hold it too."""
    parts = item.split("=")
    if len(parts) < 2:
        raise InputError("must be FEATURE=STATE")
    splits = [("=".join(parts[:k]), "=".join(parts[k:])) for k in range(1, len(parts))]
    return next((split for split in splits if split[0] in problem.features), splits[0])


def _feature_list(problem: Problem, items: Iterable[str]) -> list[str]:
    """Split at commas, except where the whole is the name of a feature."""
    return [
        name if name in problem.features else name.strip()
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
        console.print_json(
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
    table = console.table("problem", "target", ">features", "title")
    for name, problem in loaded.items():
        table.add_row(name, problem.target, str(len(problem.features)), problem.title)
    console.console().print(table)


@cli.command()
@_on_problem
def show(problem: Problem, given: Mapping[str, str], as_json: bool) -> None:
    """Show what a problem holds: network, prices, stakes, evidence."""
    if not as_json:
        console.print_problem(problem, given)
        return
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
    console.print_json(document)


@cli.command(name="value")
@_on_problem
@_features_option
def value_command(
    problem: Problem, given: Mapping[str, str], as_json: bool, features: tuple[str, ...]
) -> None:
    """Print EMC, EVI, cost and benefit of acquiring a set of features together."""
    with within("--features"):
        result = value(problem, _feature_list(problem, features), given)
    if not as_json:
        console.print_value(result)
        return
    console.print_json(
        _value_document(result) | {"emc": result.emc, "expected_emc": result.expected_emc}
    )


@cli.command(name="lattice")
@_on_problem
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
    from voilattice import drawing

    for file in filter(None, (svg, html, graphml)):
        _check_writable(file)

    def describe(size: int, found: int) -> str:
        return f"lattice: {found:,} sets, growing those of {size} features"

    with console.progress_line(describe) as progress:
        lattice = Lattice(problem, given, max_size=max_size, max_nodes=max_nodes, progress=progress)
    drawers = (
        (svg, lambda: [drawing.lattice_svg(lattice)]),
        (html, lambda: [drawing.lattice_html(lattice)]),
        (graphml, lambda: drawing.lattice_graphml(lattice)),
    )
    for path, draw in drawers:
        if path is not None:
            _write(path, draw())
    top: list[Value] = []
    if values:
        with console.progress_line(
            lambda done, every: f"values: {done:,} of {every:,} sets"
        ) as progress:
            top = value_lattice(problem, given, lattice=lattice, progress=progress).top(TOP_SETS)
    if not as_json:
        console.print_lattice(lattice, lattice.n_edges, top)
        return
    document: dict[str, Any] = {"nodes": len(lattice), "subsets": lattice.n_subsets}
    if len(lattice) <= MAX_SETS_IN_JSON:
        document["sets"] = [sorted(s) for s in lattice]
    document |= {
        "edges": lattice.n_edges,
        "roots": [sorted(s) for s in lattice.roots],
        "largest": len(lattice.level_sizes) - 1,
        "markov_blanket": sorted(lattice.markov_blanket),
        "levels": list(lattice.level_sizes),
    }
    if max_size is not None:
        document["max_size"] = max_size
    if values:
        document["values"] = [_value_document(entry) for entry in top]
    console.print_json(document)


@cli.command()
@_on_problem
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
        found = best_set(problem, given, time_limit=time_limit, progress=progress)
    if not as_json:
        console.print_best(found)
        return
    console.print_json(
        {
            "features": sorted(found.features),
            "evi": found.evi,
            "cost": found.cost,
            "benefit": found.benefit,
            "optimal": found.optimal,
            "bound": found.bound,
            "evaluated": found.n_evaluated,
            "sets": found.n_sets,
        }
    )


@cli.command(name="explain")
@_on_problem
@_features_option
def explain_command(
    problem: Problem, given: Mapping[str, str], as_json: bool, features: tuple[str, ...]
) -> None:
    """Say in words why a set of features is, or is not, in the lattice."""
    with within("--features"):
        chosen = problem.acquirable(_feature_list(problem, features), problem.known(given))
    explanation = explain(problem, chosen, given)
    if not as_json:
        console.print_explanation(explanation)
        return
    console.print_json(
        {
            "features": sorted(explanation.features),
            "irreducible": explanation.irreducible,
            "core": sorted(explanation.core),
            "members": [
                {
                    "feature": member.feature,
                    "depends": member.depends,
                    "constraint": None if member.constraint is None else str(member.constraint),
                    "reason": explanation.reason(member),
                }
                for member in explanation.members
            ],
            "completions": [sorted(added) for added in explanation.completions],
        }
    )


_policy_option = click.option(
    "--policy", "name", type=click.Choice(POLICIES), required=True, help="Which policy."
)


@cli.command(name="advise")
@_on_problem
@_policy_option
@click.option("--interactive", is_flag=True, help="Ask for results, to the decision.")
def advise_command(
    problem: Problem, given: Mapping[str, str], as_json: bool, name: str, interactive: bool
) -> None:
    """Say what to do now: what to acquire next, or the decision, with reasons."""
    from voilattice.advice import advise

    if interactive:
        from voilattice.consultation import consult

        if as_json:
            raise InputError("is for programs, and --interactive for people: choose one", "--json")
        consult(problem, name, given)
        return
    advice = advise(problem, name, given)
    if not as_json:
        console.print_advice(advice)
        return
    ahead = advice.target_set
    console.print_json(
        {
            "action": advice.action,
            "features": sorted(advice.features),
            "target_set": None if ahead is None else sorted(ahead),
            "decision": advice.decision,
            "posterior": advice.posterior,
            "emc": advice.emc,
            "spent": advice.spent,
            "benefit": advice.benefit,
            "candidates": [_value_document(candidate) for candidate in advice.candidates],
            "reasons": list(advice.reasons),
        }
    )


@cli.command(name="policy")
@_on_problem
@_policy_option
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    default=MAX_STATES,
    show_default=True,
    metavar="N",
    help="Give up beyond N different states.",
)
@click.option("--text", is_flag=True, help="Print the tree.")
@click.option(
    "--dot", type=click.Path(dir_okay=False), metavar="FILE", help="Draw it for Graphviz."
)
@click.option("--save", type=click.Path(dir_okay=False), metavar="FILE", help="Save it as JSON.")
def policy_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    name: str,
    max_states: int,
    text: bool,
    dot: str | None,
    save: str | None,
) -> None:
    """Build a whole policy and evaluate it exactly."""
    from voilattice.policy_drawing import policy_dot, policy_text
    from voilattice.policy_files import save_policy

    for file in filter(None, (dot, save)):
        _check_writable(file)
    policy = build_policy(problem, name, given, max_states=max_states)
    now = emc(problem, given)
    if dot is not None:
        _write(dot, (f"{line}\n" for line in policy_dot(policy)))
    if save is not None:
        save_policy(policy, save)
    if not as_json:
        console.print_policy(policy, now)
        if text:
            console.print_lines(policy_text(policy))
        return
    console.print_json(
        {
            "policy": name,
            "expected_total_cost": policy.expected_total_cost,
            "expected_feature_cost": policy.expected_feature_cost,
            "expected_misclassification_cost": policy.expected_misclassification_cost,
            "expected_features": policy.expected_features,
            "nodes": policy.n_acquisitions,
            "paths": policy.n_paths,
            "depth": policy.depth,
            "states": len(policy.nodes),
            "no_acquisition_cost": now,
            "savings": now - policy.expected_total_cost,
        }
    )


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


def _value_document(result: Value) -> dict[str, Any]:
    return {
        "features": sorted(result.features),
        "evi": result.evi,
        "cost": result.cost,
        "benefit": result.benefit,
    }


def _check_writable(path: str) -> None:
    """Say now, and not after the work, that a file cannot be written."""
    with within(path):
        if Path(path).exists() and not Path(path).is_file():
            raise InputError("cannot be written: this is not a file")
        if not Path(path).parent.is_dir():
            raise InputError("cannot be written: No such file or directory")


def _write(path: str, text: Iterable[str]) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
