"""What the commands of the command line share: options, loading, completion, writing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from voilattice.budgets import MEMORY_BYTES, memory_limit
from voilattice.errors import InputError, VoilatticeError, within
from voilattice.files.problems import builtin_problems, load_problem
from voilattice.model.costs import KINDS
from voilattice.model.problem import Problem

__all__ = [
    "check_jobs",
    "check_writable",
    "feature_list",
    "features_option",
    "json_option",
    "on_problem",
    "write",
]


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


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
features_option = click.option(
    "--features",
    required=True,
    multiple=True,
    metavar="X1,X3",
    shell_complete=_complete_features,
    help="The set of features: names with commas between; repeatable.",
)


def check_jobs(jobs: int) -> None:
    """Raise `InputError` unless that is a number of processes."""
    if jobs < 1 and jobs != -1:
        raise InputError(
            f"must be a number of processes, or -1 for one a core, got {jobs}", "--jobs"
        )


def on_problem(command: Callable[..., None]) -> Callable[..., None]:
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
            help="The budget for tables; the sets of a lattice come on top.",
        ),
        json_option,
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


def feature_list(problem: Problem, items: Iterable[str]) -> list[str]:
    """Split at commas, except where the whole is the name of a feature."""
    return [
        name if name in problem.features else name.strip()
        for item in items
        for name in ([item] if item in problem.features else item.split(","))
        if item
    ]


def check_writable(path: str) -> None:
    """Say now, and not after the work, that a file cannot be written."""
    with within(path):
        if Path(path).exists() and not Path(path).is_file():
            raise InputError("cannot be written: this is not a file")
        if not Path(path).parent.is_dir():
            raise InputError("cannot be written: No such file or directory")


def write(path: str, text: Iterable[str]) -> None:
    """Write text to a file, or say why not."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
