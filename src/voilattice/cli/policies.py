"""The commands that build and follow policies."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping

import click
from click.core import ParameterSource

from voilattice.budgets import Deadline
from voilattice.cli import console, terminal
from voilattice.cli.completion import complete_evidence, complete_feature
from voilattice.cli.interrupts import deaf_workers, finish_on_interrupt
from voilattice.cli.options import (
    check_jobs,
    find_policy,
    on_problem,
    output_option,
    policy_or_file_option,
    read_observations,
    time_limit_option,
    write,
)
from voilattice.cli.progress import progress_line
from voilattice.documents import advice_document, comparison_document, policy_document
from voilattice.errors import InputError, within
from voilattice.model.problem import Problem
from voilattice.policy.situations import MAX_POLICY_STATES
from voilattice.policy.solvers import TIME_LIMIT, build_policy, describe_search, policy_names
from voilattice.valuation.valuation import emc as expected_cost

__all__ = ["advise_command", "compare_command", "policy_command"]

MAX_POINTS = 10_000

# The first six have been there from the start, in this order.
CSV_COLUMNS = (
    "kind", "expected", "policy", "expected_total_cost", "savings", "exact",
    "status", "lower_bound", "at_least", "at_most", "note",
)  # fmt: skip

_policy_option = click.option(
    "--policy", "name", type=click.Choice(policy_names()), required=True, help="Which policy."
)


_time_limit_option = time_limit_option(
    TIME_LIMIT, "Stop then with what is found, and say what is not done or not proved."
)


@click.command(name="advise")
@on_problem
@policy_or_file_option()
@click.option(
    "--unavailable",
    multiple=True,
    metavar="X",
    shell_complete=complete_feature,
    help="A feature that cannot be acquired; repeatable.",
)
@click.option(
    "--given",
    "free",
    multiple=True,
    metavar="X=v",
    shell_complete=complete_evidence,
    help="As --evidence, but known for free: not counted as spent; repeatable.",
)
@_time_limit_option
@click.option("--interactive", is_flag=True, help="Go on to the decision: ask for each result.")
def advise_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    name: str,
    unavailable: tuple[str, ...],
    free: tuple[str, ...],
    time_limit: Deadline,
    interactive: bool,
) -> None:
    """Say what to do now: what to acquire next, or what to decide.

    The reasons come with it. EVI is the expected value of information: what knowing a feature takes
    off the expected cost of deciding. A saved policy answers from its tree; where the evidence is
    not on the tree, the policy of its name is planned again.
    """
    from voilattice.policy.advice import advise

    known_free = read_observations(problem, free, "--given")
    if both := sorted(known_free.keys() & given.keys()):
        raise InputError(f"{both[0]!r} is given with --evidence too", "--given")
    policy = find_policy(name, problem)

    if interactive:
        from voilattice.cli.consultation import consult

        if as_json:
            raise InputError("cannot be used together with --interactive", "--json")
        consult(
            problem, policy, given, unavailable=unavailable, free=known_free,
            time_limit=time_limit.seconds,  # for each advice
        )  # fmt: skip
        return
    with (
        progress_line(describe_search, f"advise, {name}"),
        finish_on_interrupt(time_limit),
    ):
        advice = advise(
            problem, policy, given,
            unavailable=unavailable, given=known_free, time_limit=time_limit,
        )  # fmt: skip
    if not as_json:
        console.print_advice(problem, advice)
        return
    console.print_json(advice_document(advice))


@click.command(name="policy")
@on_problem
@_policy_option
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    default=MAX_POLICY_STATES,
    show_default=True,
    metavar="N",
    help="Work out at most N different states, the most probable ones first.",
)
@_time_limit_option
@click.option("--text", is_flag=True, help="Print the tree.")
@output_option("--dot", ".dot", ".gv", help="Draw it for Graphviz.")
@output_option("--svg", ".svg", help="Draw it as SVG.")
@output_option("--html", ".html", ".htm", help="Draw it as a page.")
@output_option("--save", ".json", help="Save it as JSON.")
def policy_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    name: str,
    max_states: int,
    time_limit: Deadline,
    text: bool,
    dot: str | None,
    svg: str | None,
    html: str | None,
    save: str | None,
) -> None:
    """Build a whole policy and evaluate it exactly.

    A policy that is too large for the time or the number of states is worked out for the most
    probable cases. For the others it decides. The cost is exact for the policy as it is.
    """
    from voilattice.drawing.policy import policy_dot, policy_html, policy_svg, policy_text
    from voilattice.files.policies import save_policy

    if text and as_json:
        raise InputError("cannot be used together with --json", "--text")
    with (
        progress_line(describe_search, f"policy, {name}") as progress,
        finish_on_interrupt(time_limit),
    ):
        policy = build_policy(
            problem, name, given, max_states=max_states, time_limit=time_limit, progress=progress
        )
    now = expected_cost(problem, given)
    if dot is not None:
        write(dot, (f"{line}\n" for line in policy_dot(policy)))
    if svg is not None:
        write(svg, [policy_svg(policy)])
    if html is not None:
        write(html, [policy_html(policy)])
    if save is not None:
        save_policy(policy, save)
    if not as_json:
        console.print_policy(policy, now)
        if text:
            terminal.print_lines(policy_text(policy))
        return
    console.print_json(policy_document(policy, now))


@click.command(name="compare")
@on_problem
@click.option(
    "--emc",
    metavar="FROM:TO:STEP",
    help="Sweep EMC, the expected misclassification cost with nothing known, over these points; "
    "with symmetric and asymmetric costs.",
)
@output_option("--csv", ".csv", name="csv_file", help="Write all figures as a table.")
@output_option(
    "--plot", ".svg", ".png", ".pdf", help="Plot the savings; the extension chooses the format."
)
@click.option(
    "--jobs", type=int, default=-1, metavar="N", help="Processes (default: one per core)."
)
@_time_limit_option
def compare_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    emc: str | None,
    csv_file: str | None,
    plot: str | None,
    jobs: int,
    time_limit: Deadline,
) -> None:
    """Compare all policies, at the problem's stakes or over a sweep.

    The time limit is for the whole comparison; without one, a sweep has a minute for each point.
    Every policy has a row; what is not finished or not proved in time says so.
    """
    from voilattice.drawing.plots import plot_savings
    from voilattice.policy.comparison import compare

    check_jobs(jobs)
    if emc is None:
        if plot is not None:
            raise InputError("needs a sweep too, as in --emc 0:2000:50", "--plot")
        with (
            progress_line(_describe_rows, "compare") as progress,
            finish_on_interrupt(time_limit),
        ):
            rows = compare(problem, evidence=given, time_limit=time_limit, progress=progress)
    else:
        if click.get_current_context().params["expected"] is not None:
            raise InputError(
                "cannot be used together with --emc, which sets the stakes too", "--expected"
            )
        with within("--emc"):
            points = _points(emc)
        with (
            progress_line(_describe_points, "compare") as progress,
            deaf_workers(),
        ):
            source = click.get_current_context().get_parameter_source("time_limit")
            is_given = source is not ParameterSource.DEFAULT
            rows = compare(
                problem, points, evidence=given, n_jobs=jobs,
                time_limit=time_limit if is_given else "by points", progress=progress,
            )  # fmt: skip
    documents = comparison_document(rows)
    if csv_file is not None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        writer.writerows([document[key] for key in CSV_COLUMNS] for document in documents)
        write(csv_file, [text.getvalue()])
    if plot is not None:
        plot_savings(rows, problem.title, plot, problem.currency)
    if not as_json:
        console.print_comparison(rows, problem.currency)
        return
    console.print_json(documents)


def _describe_rows(done: int, every: int) -> str:
    return f"compare: {done} of {every} policies"


def _describe_points(done: int, every: int) -> str:
    return f"compare: {done} of {every} points"


def _points(sweep: str) -> list[float]:
    """Return the points of FROM:TO:STEP, both ends included."""
    try:
        start, stop, step = map(float, sweep.split(":"))
    except ValueError:
        raise InputError(f"must be FROM:TO:STEP, as in 0:2000:50, got {sweep!r}") from None
    if not (0 <= start <= stop < math.inf and 0 < step < math.inf):
        raise InputError(f"must go from FROM >= 0 up to TO in steps above 0, got {sweep!r}")
    n = int((stop - start) / step + 1e-9) + 1
    if n > MAX_POINTS:
        raise InputError(f"{n:,} points; there may be at most {MAX_POINTS:,}")
    return [start + k * step for k in range(n)]
