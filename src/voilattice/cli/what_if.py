"""What if: the command threshold, and the settings that change the numbers of a problem."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from voilattice.budgets import Deadline
from voilattice.cli import console, terminal
from voilattice.cli.completion import complete_feature
from voilattice.cli.interrupts import finish_on_interrupt
from voilattice.cli.options import on_problem, output_option, time_limit_option, with_options
from voilattice.cli.progress import progress_line
from voilattice.documents.policies import AdviceThresholds, Threshold
from voilattice.errors import InputError, within
from voilattice.model.problem import Problem
from voilattice.policy.interface import TIME_LIMIT

if TYPE_CHECKING:
    from voilattice.policy.comparison import Variant

__all__ = ["load_changed", "read_points", "read_settings", "threshold_command"]

MAX_POINTS = 10_000


@click.command(name="threshold")
@on_problem
@click.option(
    "--feature", required=True, metavar="X", shell_complete=complete_feature, help="Which feature."
)
@click.option(
    "--policy",
    type=click.Choice(["optimal"]),
    default="optimal",
    show_default=True,
    help="Which policy.",
)
@click.option(
    "--first-step",
    is_flag=True,
    help="Find where the first step of the optimum changes, along this price and along the stakes.",
)
@output_option(
    "--plot",
    ".svg",
    ".png",
    ".pdf",
    extra="plots",
    help="Plot the costs; the extension chooses the format.",
)
@time_limit_option(TIME_LIMIT, "Stop then, and say what is not proved.")
def threshold_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    feature: str,
    policy: str,
    first_step: bool,
    plot: str | None,
    time_limit: Deadline,
) -> None:
    """Find from which price, and from which stakes, a feature is used.

    That is by the optimal policy; the feature is worth buying below that price. All other prices
    stay as they are. Stakes are told as EMC, the expected misclassification cost with nothing
    known.
    """
    from voilattice.what_if.threshold import find_threshold

    if first_step:
        if plot is not None:
            raise InputError("cannot be used together with --first-step", "--plot")
        _tell_first_steps(problem, given, feature, time_limit, as_json=as_json)
        return
    with (
        progress_line(_describe_values, "threshold") as progress,
        finish_on_interrupt(time_limit),
        within("--feature"),
    ):
        found = find_threshold(problem, feature, given, time_limit=time_limit, progress=progress)
    if plot is not None:
        from voilattice.drawing.what_if import plot_threshold

        plot_threshold(found, problem.title, plot)
    if not as_json:
        console.print_threshold(found)
        console.print_start_of_limits(problem, given)
        return
    console.print_json(Threshold.json_of(found))


def _tell_first_steps(
    problem: Problem,
    given: Mapping[str, str],
    feature: str,
    time_limit: Deadline,
    *,
    as_json: bool,
) -> None:
    """Say where the first step changes, along the price of a feature and along the stakes."""
    from voilattice.what_if.advice_threshold import find_advice_threshold

    with (
        progress_line(_describe_values, "threshold") as progress,
        finish_on_interrupt(time_limit),
        within("--feature"),
    ):
        price, stakes = (
            find_advice_threshold(
                # Known from the start, as for the threshold of use: no round is used up.
                problem,
                given=given,
                feature=name,
                time_limit=time_limit.share(share),
                progress=progress,
            )
            for name, share in ((feature, 0.5), (None, 1.0))
        )
    if not as_json:
        for found in (price, stakes):
            terminal.console().print(found.text)
        console.print_start_of_limits(problem, given)
        return
    console.print_json(AdviceThresholds.json_of(None, price=price, stakes=stakes))


def _describe_values(done: int, what: str) -> str:
    return f"threshold: {done} costs, along {what}"


def read_settings(prices: Sequence[str], settings: Sequence[str]) -> dict[str, list[float]]:
    """Return the values of each place of the problem file in items X=5,10 and KEY=5,10."""
    found: dict[str, list[float]] = {}
    for option, prefix, items in (("--price", "costs.", prices), ("--set", "", settings)):
        for item in items:
            with within(f"{option} {item}"):
                # Names may hold the sign too, values do not.
                name, equals, text = item.rpartition("=")
                if not (name and equals):
                    raise InputError("must be NAME=VALUE, such as X=5 or X=5,10,20 or X=0:100:10")
                if prefix + name in found:
                    raise InputError("is given twice")
                found[prefix + name] = _read_values(text)
    return found


def load_changed(settings: Mapping[str, Sequence[float]]) -> list[Variant]:
    """Return the problem of the command line with other numbers, and with its other options."""
    from voilattice.files.variants import load_variants

    given = click.get_current_context().params
    options = [name for name in ("prices", "settings") if given[name]]
    with within(" and ".join({"prices": "--price", "settings": "--set"}[name] for name in options)):
        variants = load_variants(given["problem"], settings)
        found = []
        for variant in variants:
            problem, known = with_options(
                variant.problem, given["evidence"], given["expected"], given["kind"]
            )
            found.append(replace(variant, problem=problem.with_evidence(known)))
    return found


def _read_values(text: str) -> list[float]:
    if ":" in text:
        return read_points(text)
    try:
        return list(dict.fromkeys(_read_number(part) for part in text.split(",")))
    except ValueError:
        raise InputError(
            f"must be numbers, such as 5 or 5,10,20 or 0:100:10, got {text!r}"
        ) from None


def _read_number(text: str) -> float:
    """Return a number as a problem file has it: whole where it is written so."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def read_points(sweep: str) -> list[float]:
    """Return the points of FROM:TO:STEP, both ends included."""
    try:
        start, stop, step = map(_read_number, sweep.split(":"))
    except ValueError:
        raise InputError(f"must be FROM:TO:STEP, as in 0:2000:50, got {sweep!r}") from None
    if not (0 <= start <= stop < math.inf and 0 < step < math.inf):
        raise InputError(f"must go from FROM >= 0 up to TO in steps above 0, got {sweep!r}")
    n = int((stop - start) / step + 1e-9) + 1
    if n > MAX_POINTS:
        raise InputError(f"{n:,} points; there may be at most {MAX_POINTS:,}")
    return [start + k * step for k in range(n)]
