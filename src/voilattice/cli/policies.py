"""The commands that build and follow policies."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from voilattice.budgets import Deadline
from voilattice.cli import console, terminal
from voilattice.cli.advice import print_advice, print_count_of_rounds, print_first_steps
from voilattice.cli.completion import complete_evidence, complete_feature, complete_features
from voilattice.cli.interrupts import deaf_workers, finish_on_interrupt
from voilattice.cli.options import (
    feature_list,
    find_policy,
    on_problem,
    output_option,
    policy_or_file_option,
    read_observations,
    time_limit_option,
    workers_options,
    write,
)
from voilattice.cli.progress import progress_line
from voilattice.cli.what_if import load_changed, read_points, read_settings
from voilattice.documents.consultations import PrintedAdvice
from voilattice.documents.policies import Policy as PrintedPolicy
from voilattice.documents.policies import comparison_rows
from voilattice.errors import InputError, within
from voilattice.model.problem import Problem
from voilattice.model.stakes import KINDS
from voilattice.policy.interface import MAX_POLICY_STATES, Step
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import TIME_LIMIT, build_policy, describe_search, policy_names
from voilattice.valuation.valuation import emc as expected_cost

if TYPE_CHECKING:
    from voilattice.consultation.advice import Advice
    from voilattice.consultation.steps import FirstSteps

__all__ = ["advise_command", "compare_command", "policy_command", "policy_option"]

# The first six have been there from the start, in this order.
CSV_COLUMNS = (
    "kind", "expected", "policy", "expected_total_cost", "savings", "exact",
    "status", "lower_bound", "at_least", "at_most", "note",
)  # fmt: skip

policy_option = click.option(
    "--policy",
    "name",
    type=click.Choice(policy_names()),
    default="optimal",
    show_default=True,
    help="Which policy.",
)


_time_limit_option = time_limit_option(
    TIME_LIMIT, "Stop then with what is found, and say what is not done or not proved."
)


@click.command(name="advise")
@on_problem
@policy_or_file_option
@click.option(
    "--unavailable",
    multiple=True,
    metavar="X1,X2",
    shell_complete=complete_features,
    help="Features that cannot be acquired; repeatable.",
)
@click.option(
    "--given",
    "free",
    multiple=True,
    metavar="X=v",
    shell_complete=complete_evidence,
    help="As --evidence, but known for free: not counted as spent; repeatable.",
)
@click.option(
    "--together",
    multiple=True,
    metavar="X1,X2",
    shell_complete=complete_features,
    help="Features of --evidence that were acquired in one round; repeatable. Without it, each "
    "was a round of its own.",
)
@click.option(
    "--why",
    multiple=True,
    metavar="X1,X2",
    shell_complete=complete_features,
    help="Tell what it would cost to begin with these features in place of what is advised; "
    "repeatable.",
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
    together: tuple[str, ...],
    why: tuple[str, ...],
    time_limit: Deadline,
    interactive: bool,
) -> None:
    """Say what to do now: what to acquire next, or what to decide.

    The reasons come with it. EVI is the expected value of information: what knowing a feature takes
    off the expected cost of deciding. A saved policy answers from its tree; where the evidence is
    not on the tree, the policy of its name is planned again.
    """
    from voilattice.consultation.advice import advise

    known_free = read_observations(problem, free, "--given")
    if both := sorted(known_free.keys() & given.keys()):
        raise InputError(f"{both[0]!r} is given with --evidence too", "--given")
    policy = find_policy(name, problem)
    unavailable = tuple(feature_list(problem, unavailable))
    rounds = [feature_list(problem, (text,)) for text in together]

    if interactive:
        from voilattice.cli.consultation import consult

        if as_json:
            raise InputError("cannot be used together with --interactive", "--json")
        if why:
            raise InputError("cannot be used together with --interactive", "--why")
        consult(
            problem, policy, given, unavailable=unavailable, free=known_free, together=rounds,
            time_limit=time_limit.seconds,  # for each advice
        )  # fmt: skip
        return
    with (
        progress_line(describe_search, f"advise, {name}"),
        finish_on_interrupt(time_limit),
    ):
        advice = advise(
            problem, policy, given,
            unavailable=unavailable, given=known_free, together=rounds, time_limit=time_limit,
        )  # fmt: skip
        steps, barred = None, list[str]()
        if why:
            from voilattice.consultation.first_steps import find_first_steps

            steps, barred = _tell_why(
                partial(
                    find_first_steps, problem, given, unavailable=unavailable, given=known_free,
                    together=rounds, advised=_optimal_step(policy, advice), time_limit=time_limit,
                ),
                [feature_list(problem, (text,)) for text in why],
            )  # fmt: skip
    if not as_json:
        print_advice(problem, advice)
        if steps is not None:
            print_first_steps(problem, steps)
        for sentence in barred:
            terminal.console().print(f"\n{sentence}")
        if problem.counts_rounds and len(given) > 1 and not rounds:
            print_count_of_rounds(given)
        return
    console.print_json(
        PrintedAdvice.json_of(advice, first_steps=steps, barred_first_steps=barred or None)
    )


def _optimal_step(policy: str | Policy, advice: Advice) -> Step | None:
    """Return what the optimum begins with; None: the advice is that of another policy."""
    name = policy if isinstance(policy, str) else policy.name
    if name != "optimal" or advice.fallback is not None:
        return None
    return Step(advice.features, advice.emc - advice.benefit, advice.certificate)


def _tell_why(
    find: Callable[..., FirstSteps], asked: Sequence[Sequence[str]]
) -> tuple[FirstSteps | None, list[str]]:
    """Return the first steps that are asked for, and why others cannot be taken, in sentences.

    What cannot be acquired now is an answer here, because the question comes with the advice.
    """
    from voilattice.consultation.first_steps import BarredError

    with within("--why"):
        try:
            return find(features=asked), []
        except BarredError:
            allowed, barred = list[Sequence[str]](), list[str]()
        for features in asked:
            try:
                find(features=[features])
                allowed.append(features)
            except BarredError as error:
                barred.append(error.message)
        return (find(features=allowed) if allowed else None), barred


@click.command(name="policy")
@on_problem
@policy_option
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
@output_option("--flow", ".svg", help="Draw where the cases go: width is probability.")
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
    flow: str | None,
    save: str | None,
) -> None:
    """Build a whole policy and evaluate it exactly.

    \b
    none            decide at once
    markov-blanket  acquire all that can tell something, then decide
    greedy          the feature of highest benefit, while that is positive
    greedy-la       look ahead: a feature of the set of highest benefit
    batch           the whole set of highest benefit, again and again
    optimal         least expected total cost of all policies

    The benefit is the expected value of information (EVI) less the price. A policy that is too
    large for the time or the number of states is worked out for the most probable cases. For the
    others it decides. The cost is exact for the policy as it is.
    """  # noqa: D301 (click reads the character)
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
    if flow is not None:
        from voilattice.drawing.flow import flow_svg

        write(flow, [flow_svg(policy), "\n"])
    if save is not None:
        save_policy(policy, save)
    if not as_json:
        console.print_policy(policy, now)
        if text:
            terminal.print_lines(policy_text(policy))
        console.print_start_of_limits(problem, given)
        return
    console.print_json(PrintedPolicy.json_of(policy))


@click.command(name="compare")
@on_problem
@click.option(
    "--emc",
    metavar="FROM:TO:STEP",
    help="Sweep EMC, the expected misclassification cost with nothing known, over these points; "
    "with symmetric and asymmetric costs.",
)
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="X=5,10,20",
    shell_complete=complete_feature,
    help="Another price of a feature; several with commas or as FROM:TO:STEP; repeatable.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Another number at any place of the problem file, such as groups.blood.overhead; several "
    "as for --price; repeatable.",
)
@output_option("--csv", ".csv", name="csv_file", help="Write all figures as a table.")
@output_option(
    "--plot",
    ".svg",
    ".png",
    ".pdf",
    extra="plots",
    help="Plot the sweep; the extension chooses the format.",
)
@workers_options
@_time_limit_option
def compare_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    emc: str | None,
    prices: tuple[str, ...],
    settings: tuple[str, ...],
    csv_file: str | None,
    plot: str | None,
    jobs: int,
    dask: str | None,
    time_limit: Deadline,
) -> None:
    """Compare all policies, at the problem's numbers or over a sweep.

    --emc sweeps the stakes; --price and --set change other numbers, and sweep them if several are
    given.

    The time limit is for the whole comparison; without one, a sweep has a minute for each point.
    Every policy has a row; what is not finished or not proved in time says so.
    """
    from voilattice.drawing.plots import plot_savings
    from voilattice.drawing.what_if import plot_sweep
    from voilattice.policy.comparison import Variant, compare, compare_variants

    context = click.get_current_context()
    changed = read_settings(prices, settings)
    swept = [key for key, values in changed.items() if len(values) > 1]
    _check_sweep(emc, swept, plot, dask)
    variants = load_changed(changed) if changed else [Variant(problem.with_evidence(given))]
    if emc is None and not swept:
        with (
            progress_line(_describe_rows, "compare") as progress,
            finish_on_interrupt(time_limit),
        ):
            rows = compare_variants(variants, time_limit=time_limit, progress=progress)
    else:
        with within("--emc"):
            points = None if emc is None else read_points(emc)
        is_given = context.get_parameter_source("time_limit") is not ParameterSource.DEFAULT
        n_points = len(variants) if points is None else len(KINDS) * len(points)
        limit = time_limit if is_given else Deadline(TIME_LIMIT * n_points)
        with (
            progress_line(_describe_points, "compare") as progress,
            # Other processes have deadlines of their own, which cannot be ended from here.
            finish_on_interrupt(limit) if dask is None and jobs == 1 else deaf_workers(),
        ):
            if points is not None:
                rows = compare(
                    variants[0].problem, points, n_jobs=jobs, dask=dask, time_limit=limit,
                    progress=progress,
                )  # fmt: skip
            else:
                rows = compare_variants(
                    variants, feature=_priced_feature(problem, swept), n_jobs=jobs,
                    dask=dask, time_limit=limit, progress=progress,
                )  # fmt: skip
    printed = comparison_rows(rows)
    if csv_file is not None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*changed, *CSV_COLUMNS])
        for document in printed:
            values = [document["settings"].get(key) for key in changed]
            writer.writerow([*values, *(document[key] for key in CSV_COLUMNS)])
        write(csv_file, [text.getvalue()])
    if plot is not None and emc is not None:
        plot_savings(rows, problem.title, plot, problem.currency)
    elif plot is not None:
        plot_sweep(rows, swept[0], problem.title, plot)
    if not as_json:
        console.print_comparison(rows, problem.currency)
        return
    console.print_json(printed)


def _check_sweep(emc: str | None, swept: Sequence[str], plot: str | None, dask: str | None) -> None:
    """Raise `InputError` if options do not fit together."""
    if emc is not None and click.get_current_context().params["expected"] is not None:
        raise InputError(
            "cannot be used together with --emc, which sets the stakes too", "--expected"
        )
    if emc is not None and swept:
        raise InputError(f"cannot be used together with several values of {swept[0]}", "--emc")
    if plot is not None and (emc is None) == (len(swept) != 1):
        raise InputError("needs one sweep, as in --emc 0:2000:50 or --price X=0:50:5", "--plot")
    if dask is not None and emc is None and not swept:
        raise InputError("is for a sweep, as in --emc 0:2000:50 or --price X=0:50:5", "--dask")


def _priced_feature(problem: Problem, swept: Sequence[str]) -> str | None:
    """Return the feature whose price is swept, if one is, and can still be acquired."""
    features = [key.removeprefix("costs.") for key in swept if key.startswith("costs.")]
    return features[0] if len(features) == 1 and features[0] not in problem.evidence else None


def _describe_rows(done: int, every: int) -> str:
    return f"compare: {done} of {every} policies"


def _describe_points(done: int, every: int) -> str:
    return f"compare: {done} of {every} points"
