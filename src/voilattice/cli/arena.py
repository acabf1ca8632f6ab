"""The command that tries every method on the same new cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from voilattice.cli import console
from voilattice.cli.interrupts import deaf_workers
from voilattice.cli.options import json_option, workers_options
from voilattice.cli.progress import progress_bar
from voilattice.cli.tables import list_names
from voilattice.errors import InputError

__all__ = ["arena_command"]


def _list_methods(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
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
    from voilattice.arena import load_suite, read_standings, run_arena
    from voilattice.arena.report import write_report
    from voilattice.documents import arena_document
    from voilattice.parallel import Workers

    names = list_names(methods) or None
    suite = load_suite(data, target=target, n_splits=splits, only=list_names(only))
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
            done, n_all = len(found.results) + len(found.failures), found.n_wanted
            click.echo(
                f"Interrupted: {done:,} of {n_all:,} results are there. The same command goes on.",
                err=True,
            )
    try:
        report = write_report(found, out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}", "out") from None
    if as_json:
        console.print_json(arena_document(found))
    else:
        console.print_standings(found, report)
