"""The command that tries every method on the same new cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from voilattice.cli.console import print_json
from voilattice.cli.interrupts import deaf_workers
from voilattice.cli.options import json_option, workers_options
from voilattice.cli.progress import progress_bar
from voilattice.cli.tables import list_names
from voilattice.cli.terminal import console, print_table, table
from voilattice.errors import InputError
from voilattice.extras import need_extra
from voilattice.wording import count_noun

if TYPE_CHECKING:
    from voilattice.arena.tables import Comparison, Summary
    from voilattice.arena.tournament import Standings

__all__ = ["arena_command"]

MAX_REASONS = 5  # of failures that are printed; the report has all


def _list_methods(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        need_extra("arena", "the arena")
        from voilattice.arena.methods import method_names

        click.echo("\n".join(method_names()))
        context.exit()


@click.command(name="arena")
@click.option(
    "--data", required=True, metavar="FOLDER|turney",
    help="Data sets: Turney's five, or a folder of tables with cost files.",
)  # fmt: skip
@click.option(
    "--out", required=True, metavar="FOLDER", type=click.Path(path_type=Path),
    help="Where results are kept and the report is written. A run that was stopped goes on there.",
)  # fmt: skip
@click.option(
    "--methods", multiple=True, metavar="A,B", help="Which methods (default: all; see --list)."
)
@click.option("--only", multiple=True, metavar="A,B", help="Which data sets (default: all).")
@click.option(
    "--splits", type=click.IntRange(min=1), default=5, show_default=True, metavar="N",
    help="How often each data set is split into rows to learn from and new rows.",
)  # fmt: skip
@click.option(
    "--target", default="class", show_default=True, metavar="Y",
    help="The column to predict, in tables of a folder.",
)  # fmt: skip
@click.option("--retry", is_flag=True, help="Try again what failed.")
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_methods,
    help="List the methods and end.",
)  # fmt: skip
@workers_options
@json_option
def arena_command(
    data: str,
    out: Path,
    methods: Sequence[str],
    only: Sequence[str],
    splits: int,
    target: str,
    retry: bool,
    jobs: int,
    dask: str | None,
    as_json: bool,
) -> None:
    """Try every method on the same new cases, and write a report.

    Each data set is split; every method learns from one part, and decides and pays for the other,
    at every level of costs. Results are kept one by one: a run that was stopped or killed goes on
    where it was. The report is OUT/report.html, with tables beside it as CSV.
    """
    need_extra("arena", "the arena")
    from voilattice.arena import load_suite, read_standings, run_arena
    from voilattice.arena.report import write_report
    from voilattice.arena.tables import compare_methods, summarize
    from voilattice.documents.tables import Arena
    from voilattice.parallel import Workers

    names = list_names(methods) or None
    suite = load_suite(data, target=target, n_splits=splits, only=list_names(only))
    is_interrupted = False
    with progress_bar("results") as progress, deaf_workers():
        try:
            found = run_arena(
                suite, out, methods=names, workers=Workers.of(jobs, dask), retry=retry,
                progress=progress,
            )  # fmt: skip
        except KeyboardInterrupt:
            found = read_standings(suite, out, names)
            if not found.results:
                raise
            said = f"{len(found.results):,} of {found.n_wanted:,} results are there"
            click.echo(f"Interrupted: {said}. The same command goes on.", err=True)
            is_interrupted = True
        except OSError as error:
            raise _unusable(out, error) from None
    try:
        write_report(found, out)
    except OSError as error:
        raise _unusable(out, error) from None
    compared = compare_methods(found)
    summaries = summarize(compared)
    if as_json:
        print_json(Arena.json_of(found, methods=summaries))
    else:
        _print_standings(found, compared, summaries, out)
    if is_interrupted:
        raise click.exceptions.Exit(130)
    if not found.results:
        raise InputError("every method failed", "--methods")


def _unusable(out: Path, error: OSError) -> InputError:
    return InputError(f"{out}: cannot be used: {error.strerror or error}", "--out")


def _print_standings(
    found: Standings, compared: Comparison, summaries: Sequence[Summary], out: Path
) -> None:
    rows = table("method", ">rank", ">cost", ">won", ">spent", ">errors", ">seconds")
    for summary in summaries:
        rows.add_row(
            summary.method,
            f"{summary.mean_rank:.2f}",
            f"{summary.normalized:.4f}",
            f"{summary.n_won}",
            f"{summary.spending:.0%}",
            f"{summary.errors:.1%}",
            f"{summary.seconds:.2f}",
            style="bold" if summary is summaries[0] else None,
        )
    print_table(rows)
    said = (
        f"Means over {count_noun(len(compared.cells), 'cell')} (a data set at a level of costs) "
        f"with up to {count_noun(found.suite.n_splits, 'split')} each, on cases that were not "
        f"learned from. "
        f"Cost: total cost, normalized as in docs/arena.md. Won: cells in which nobody costs less. "
        f"Spent: the share of features in the total cost."
    )
    console().print(f"\n{said}\n")
    reasons = Counter((key.method, f.failure) for key, f in found.failures.items())
    for (method, failure), n in reasons.most_common(MAX_REASONS):
        console().print(f"{method} failed {n} times (--retry tries again): {failure}")
    console().print(f"Report: {out / 'report.html'}")
