"""What the commands of the command line share: options, loading, writing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voilattice.budgets import MEMORY_BYTES, Deadline, memory_limit
from voilattice.cli.completion import (
    complete_evidence,
    complete_features,
    complete_policy,
    complete_problem,
)
from voilattice.engines import ENGINES, use_engine
from voilattice.errors import InputError, UnknownNameError, within
from voilattice.extras import need_extra
from voilattice.files.problems import find_problem
from voilattice.model.problem import Problem
from voilattice.model.stakes import KINDS
from voilattice.parallel import Workers
from voilattice.wording import nearest, quote

if TYPE_CHECKING:
    from voilattice.policy.policy import Policy

__all__ = [
    "Seconds",
    "check_jobs",
    "feature_list",
    "features_option",
    "find_policy",
    "json_option",
    "load",
    "on_problem",
    "output_option",
    "policy_or_file_option",
    "read_observations",
    "time_limit_option",
    "with_options",
    "workers_options",
    "write",
]

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
features_option = click.option(
    "--features",
    required=True,
    multiple=True,
    metavar="X1,X3",
    shell_complete=complete_features,
    help="The set of features: names with commas between; repeatable.",
)


policy_or_file_option = click.option(
    "--policy",
    "name",
    default="optimal",
    show_default=True,
    metavar="NAME|FILE",
    shell_complete=complete_policy,
    help="Which policy: a name, or a file from policy --save.",
)


class Seconds(click.FloatRange):
    """A number of seconds, which may be infinite."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not seconds >= 0:  # NaN is not either
            place = param.opts[0] if param else ""
            raise InputError(f"must be a number of seconds >= 0, got {quote(value)}", place)
        return seconds


def time_limit_option(default: float, help: str) -> Decorator:
    """Give a command ``--time-limit``, in seconds, as a deadline: the time to load counts too."""
    return click.option(
        "--time-limit",
        type=Seconds(),
        callback=lambda context, parameter, seconds: Deadline(seconds),
        default=default,
        show_default=True,
        metavar="SECONDS",
        help=help,
    )


def output_option(
    option: str, *extensions: str, help: str, name: str | None = None, extra: str | None = None
) -> Decorator:
    """Give a command an option for a file to write, with one of these extensions or none.

    A file that cannot be written is refused now, and not after the work. So is one whose `extra`
    is not installed.
    """

    def check(context: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
        if path is None:
            return None
        if path in ("", "-"):  # no file is called so: "-" would be taken for standard output
            raise InputError(f"must name a file, got {path!r}", option)
        if Path(path).suffix and Path(path).suffix.lower() not in extensions:
            *others, last = extensions
            wanted = f"{', '.join(others)} or {last}" if others else last
            raise InputError(f"must end in {wanted}", f"{option}: {path}")
        with within(path):
            if Path(path).exists() and not Path(path).is_file():
                raise InputError("cannot be written: this is not a file")
            if not Path(path).parent.is_dir():
                raise InputError("cannot be written: No such file or directory")
        if extra is not None:
            need_extra(extra, place=option)
        return path

    names = (option,) if name is None else (option, name)
    return click.option(
        *names, type=click.Path(dir_okay=False), callback=check, metavar="FILE", help=help
    )


def check_jobs(jobs: int) -> None:
    """Raise `InputError` unless that is a number of processes."""
    if jobs < 1 and jobs != -1:
        raise InputError(
            f"must be a number of processes, or -1 for one per core, got {jobs}", "--jobs"
        )


def workers_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--jobs`` and ``--dask``: where its tasks run (`voilattice.parallel`)."""

    @functools.wraps(command)
    def run(*arguments: Any, jobs: int, dask: str | None, **options: Any) -> None:
        source = click.get_current_context().get_parameter_source("jobs")
        if dask is not None and source is not click.core.ParameterSource.DEFAULT:
            raise InputError("cannot be used together with --dask; leave one out", "--jobs")
        check_jobs(jobs)
        Workers.of(jobs, dask)  # said before the work, not after it
        if dask is not None:
            need_extra("dask", place="--dask")
        command(*arguments, jobs=jobs, dask=dask, **options)

    return click.option(
        "--jobs", type=int, default=-1, metavar="N", help="Processes (default: one per core)."
    )(
        click.option(
            "--dask",
            metavar="tcp://…|local:N",
            help="Work on a Dask cluster: the address of its scheduler, or N processes here.",
        )(run)
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
        engine: str,
        **options: Any,
    ) -> None:
        if kind is not None and options.get("emc") is not None:
            raise InputError("a sweep (--emc) has both kinds; leave --kind out", "--kind")
        with memory_limit(memory << 20), use_engine(engine):
            loaded, given = _load(problem, evidence, expected, kind)
            command(loaded, given, **options)

    decorators = (
        click.argument("problem", metavar="PROBLEM", shell_complete=complete_problem),
        click.option(
            "--evidence",
            multiple=True,
            metavar="X=v",
            shell_complete=complete_evidence,
            help="A known feature and its state, or a number for a feature with bins; repeatable.",
        ),
        click.option(
            "--expected",
            type=float,
            metavar="EMC",
            help="Replace the costs of decisions: EMC, the expected misclassification cost "
            "with nothing known, becomes this.",
        ),
        click.option(
            "--kind",
            type=click.Choice(KINDS),
            help="How --expected scales the costs of decisions (default: symmetric).",
        ),
        click.option(
            "--memory",
            type=click.IntRange(min=1),
            default=MEMORY_BYTES >> 20,
            show_default=True,
            metavar="MIB",
            help="The memory for tables; the sets of a lattice need more.",
        ),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default="auto",
            show_default=True,
            help="What computes: NumPy, compiled code, or an NVIDIA GPU for the optimum.",
        ),
        json_option,
    )
    decorated: Callable[..., None] = run
    for decorator in reversed(decorators):
        decorated = decorator(decorated)
    return decorated


def load(path_or_name: str) -> Problem:
    """Return a problem; say on standard error which one, where the name has two meanings."""
    source = find_problem(path_or_name)
    if source.note:
        click.echo(source.note, err=True)
    return source.load()


def _load(
    path_or_name: str, evidence: Sequence[str], expected: float | None, kind: str | None
) -> tuple[Problem, dict[str, str]]:
    return with_options(load(path_or_name), evidence, expected, kind)


def with_options(
    problem: Problem, evidence: Sequence[str], expected: float | None, kind: str | None
) -> tuple[Problem, dict[str, str]]:
    """Return the problem, its misclassification costs replaced if asked, and the evidence given."""
    if expected is not None:
        problem = problem.with_expected(kind or KINDS[0], expected)
    elif kind is not None:
        raise InputError(f"needs --expected too, as in --expected 500 --kind {kind}", "--kind")
    given = read_observations(problem, evidence, "--evidence")
    with within("--evidence"):
        problem.check_possible(problem.merge_evidence(given))
    return problem, given


def read_observations(problem: Problem, items: Sequence[str], option: str) -> dict[str, str]:
    """Return the states in items X=v, where v is a state or a raw value that stands for one."""
    found: dict[str, str] = {}
    for item in items:
        with within(f"{option} {item}"):
            feature, value = _observation(problem, item)
            problem.merge_evidence({feature: value})
            if feature in found:
                raise InputError(f"{feature!r} is given twice")
            found[feature] = problem.state_of(feature, value)
    return found


def find_policy(name: str, problem: Problem) -> str | Policy:
    """Return the name of a policy as it is, and the policy in a file for this problem.

    A name wins over a file of the same name; ``./NAME`` and ``NAME.json`` are always files.
    """
    from voilattice.files.policies import load_with_evidence
    from voilattice.policy.solvers import policy_names

    is_path = Path(name).name != name or Path(name).suffix.lower() == ".json"
    if not is_path and name in policy_names():
        return name
    if not Path(name).is_file():
        raise UnknownNameError(
            f"{quote(name)} is neither a policy{nearest(name, policy_names())} nor the file of a "
            f"saved one",
            "--policy",
        )
    return load_with_evidence(name, problem)


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


def write(path: str, text: Iterable[str]) -> None:
    """Write text to a file, or say why not."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
