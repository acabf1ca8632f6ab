"""The command that measures what methods cost on new cases."""

from __future__ import annotations

import csv
import io
import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from voilattice.cli import console, terminal
from voilattice.cli.interrupts import deaf_workers
from voilattice.cli.options import Seconds, json_option, output_option, workers_options, write
from voilattice.cli.parameters import given_options
from voilattice.cli.progress import progress_bar
from voilattice.cli.tables import list_names, name_options, on_table
from voilattice.documents.tables import Evaluation as EvaluationDocument
from voilattice.errors import InputError, VoilatticeError
from voilattice.learning.recipes import AUTO
from voilattice.wording import count_noun

if TYPE_CHECKING:
    from voilattice.learning.data_tables import DataTable
    from voilattice.learning.held_out_results import Evaluation, FoldResults, Result
    from voilattice.learning.preparation import Columns

__all__ = ["evaluate_command"]

POLICIES = "none,markov-blanket,greedy,greedy-la,batch,optimal"
NONE = "none"  # the policy that decides at once
OPTIMAL = "optimal"  # the policy for which learn chooses, unless it is told another one
SECONDS = 20.0
CSV_COLUMNS = (
    "row", "method", "truth", "decision", "probability", "feature_cost", "misclassification_cost",
    "total_cost",
)  # fmt: skip


@click.command(name="evaluate")
@on_table
@click.option("--target", required=True, metavar="Y", help="The column to predict.")
@click.option(
    "--costs",
    required=True,
    metavar="FILE",
    help="TOML with [costs], [[groups]], [[discounts]], [[conditional_costs]], [rounds], "
    "[misclassification], currency, [labels], [state_labels] as in a problem file.",
)
@click.option(
    "--folds", type=int, default=10, show_default=True, metavar="N",
    help="Parts of the table; each one is decided by what is learned from the others.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
    help="Of the folds, and of all that is drawn at random.",
)  # fmt: skip
@click.option(
    "--policies", multiple=True, default=[POLICIES], metavar="A,B",
    help=f"Which policies (default: {POLICIES}).",
)  # fmt: skip
@click.option(
    "--recipes", multiple=True, default=["auto"], show_default=True, metavar="A,B",
    help="How networks are learned; auto chooses inside each fold.",
)  # fmt: skip
@click.option(
    "--budget", "budgets", type=float, multiple=True, metavar="AMOUNT",
    help="What classifiers may spend on features; repeatable (default: a quarter and a half of "
    "the price of all).",
)  # fmt: skip
@click.option("--no-rivals", is_flag=True, help="Only the policies: no trees, no classifiers.")
@click.option(
    "--time-limit", type=Seconds(), default=SECONDS, show_default=True,
    metavar="SECONDS", help="To plan and follow one policy in one fold.",
)  # fmt: skip
@workers_options
@output_option("--csv", ".csv", name="csv_file", help="Write a row for each case and method.")
@output_option(
    "--plot",
    ".svg",
    ".png",
    ".pdf",
    extra="plots",
    help="Draw the costs, and spending against errors.",
)
@output_option(
    "--calibration",
    ".svg",
    ".png",
    ".pdf",
    extra="plots",
    help="Draw how often decisions are right, by how sure.",
)
@json_option
def evaluate_command(
    data: str,
    table: DataTable,
    columns: Columns,
    target: str,
    costs: str,
    folds: int,
    seed: int,
    policies: Sequence[str],
    recipes: Sequence[str],
    budgets: Sequence[float],
    no_rivals: bool,
    time_limit: float,
    jobs: int,
    dask: str | None,
    csv_file: str | None,
    plot: str | None,
    calibration: str | None,
    as_json: bool,
) -> None:
    """Measure what policies and their rivals cost on new cases.

    DATA is a table of past cases (CSV, TSV or Parquet). Every method learns from a part of the
    rows, and decides and pays for the others, until each row has had its turn. The rivals are what
    people use instead: deciding at once, a pruned decision tree, logistic regression and gradient
    boosting.
    """
    from voilattice.files.problems import read_costs
    from voilattice.learning.evaluation import evaluate_folds
    from voilattice.learning.held_out_results import summarize

    given = read_costs(costs)
    if given.stakes is None:
        raise InputError(
            "misclassification: is missing; without it nothing is a wrong decision", costs
        )
    done: list[FoldResults] = []
    with progress_bar("pieces of work") as progress, deaf_workers():
        try:
            for fold in evaluate_folds(
                table, target, costs=given.costs, misclassification=given.stakes,
                policies=list_names(policies), recipes=list_names(recipes),
                rivals=() if no_rivals else None, budgets=list(budgets) or None, n_folds=folds,
                seed=seed, time_limit=time_limit, n_jobs=jobs, dask=dask, progress=progress,
                **asdict(columns),
            ):  # fmt: skip
                done.append(fold)
        except VoilatticeError as error:
            raise name_options(error, data, costs) from None
        except KeyboardInterrupt:
            if not done:
                raise
            said = f"Interrupted: {len(done)} of {count_noun(folds, 'fold')} are done."
            click.echo(said, err=True)
    found = summarize(done)
    if csv_file is not None:
        write(csv_file, _csv(found))
    if plot is not None or calibration is not None:
        from voilattice.drawing.evaluations import plot_calibration, plot_costs

        title = Path(data).name
        if plot is not None:
            plot_costs(found, title, plot)
        if calibration is not None:
            plot_calibration(found, title, calibration)
    if as_json:
        console.print_json(EvaluationDocument.json_of(found))
    else:
        console.print_evaluation(found, given.currency)
        _print_next_step(found)


# The options that learn has too, and that change what it learns.
SHARED_OPTIONS = (
    "target", "costs", "ignore", "numeric", "categorical", "states", "missing", "separator",
    "decimal", "encoding",
)  # fmt: skip


def _print_next_step(found: Evaluation) -> None:
    """Print how to get the policy of the lowest cost."""
    ours = [result for result in found.results if result.policy is not None]
    if all(result.policy == NONE for result in ours):
        return
    best = ours[0]
    if best.policy == NONE:
        terminal.print_lines(
            ["Of the policies, deciding at once cost least: no feature was worth its price."]
        )
        return
    terminal.print_lines([f"To get {best.label}, the policy that cost least:"])
    # The command is one line, however long, so that it can be copied.
    click.echo(f"  {_learn_command(best)}")
    click.echo(f"  voilattice apply FOLDER NEW_CASES --policy {best.policy}")


def _learn_command(result: Result) -> str:
    """Return the command that learns from the whole table as the method learned in the folds."""
    from voilattice.learning.evaluation import choosing_policy

    context = click.get_current_context()
    names, own = list(SHARED_OPTIONS), ["--recipe", str(result.recipe)]
    if result.recipe == AUTO:
        names.append("seed")
        policy = choosing_policy(list_names(context.params["policies"]))
        own += ["--policy", policy] if policy != OPTIMAL else []
    words = ["voilattice", "learn", context.params["data"], *given_options(context, names)]
    return shlex.join([*words, *own, "-o", "FOLDER"])


def _csv(found: Evaluation) -> Iterator[str]:
    """Yield the lines of a table with a row for each case and method."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for result in found.results:
        # A decision that is no class has no probability: its cell is empty.
        probability = [None if math.isnan(p) else p for p in result.probability.tolist()]
        amounts = (result.feature_cost, result.misclassification_cost, result.total_cost)
        for row, *others in zip(
            found.rows.tolist(), result.truth.tolist(), result.decision.tolist(), probability,
            *(amount.tolist() for amount in amounts), strict=True,
        ):  # fmt: skip
            writer.writerow((row + 1, result.method, *others))
        yield text.getvalue()
        text.seek(0)
        text.truncate()
