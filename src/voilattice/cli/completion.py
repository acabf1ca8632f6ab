"""The completion of names in a shell, and the command that prints a shell's script for it."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

from voilattice.errors import VoilatticeError

__all__ = [
    "complete_evidence",
    "complete_feature",
    "complete_features",
    "complete_policy",
    "complete_problem",
    "completion_command",
]


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def completion_command(shell: str) -> None:
    """Print the completion script of a shell: bash, zsh or fish.

    For bash: voilattice completion bash >> ~/.bashrc
    """
    found = get_completion_class(shell)
    assert found is not None  # click.Choice lists the shells that click knows
    group = click.get_current_context().find_root().command
    click.echo(found(group, {}, "voilattice", "_VOILATTICE_COMPLETE").source())
    if shell == "bash":
        # Otherwise bash breaks X=v and builtin:NAME at the sign and completes neither side of it.
        click.echo("COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]}")


def complete_problem(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the built-in problems that begin so; the shell adds files."""
    from voilattice.files.problems import BUILTIN, builtin_problems

    prefix = BUILTIN if incomplete.startswith(BUILTIN) else ""
    names = (f"{prefix}{name}" for name in builtin_problems())
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return found if prefix else [*found, CompletionItem(incomplete, type="file")]


def complete_policy(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the policies that begin so; the shell adds files."""
    from voilattice.policy.solvers import policy_names

    found = [CompletionItem(name) for name in policy_names() if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


def complete_feature(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the features that begin so."""
    return [feature for feature in _features(context) if feature.startswith(incomplete)]


def complete_features(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the list of features so far with each feature that it could go on with."""
    chosen, comma, start = incomplete.rpartition(",")
    taken = chosen.split(",")
    return [
        f"{chosen}{comma}{feature}"
        for feature in _features(context)
        if feature.startswith(start) and feature not in taken
    ]


def complete_evidence(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the observations X=v that begin so."""
    observations = (
        f"{feature}={state}" for feature, states in _features(context).items() for state in states
    )
    return [observation for observation in observations if observation.startswith(incomplete)]


def _features(context: click.Context) -> dict[str, tuple[str, ...]]:
    from voilattice.files.problems import load_problem

    # An option that still waits for its value stops click's parser before it sorts the arguments.
    given = [context.params.get("problem"), *context.args]
    try:
        problem = load_problem(next(word for word in given if word))
    except (StopIteration, VoilatticeError):
        return {}
    return {feature: problem.states(feature) for feature in problem.features}
