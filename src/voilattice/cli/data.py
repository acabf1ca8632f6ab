"""The commands that start from data: learn a problem, reproduce the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voilattice.cli import console, terminal
from voilattice.cli.interrupts import deaf_workers
from voilattice.cli.options import check_jobs, json_option, workers_options
from voilattice.cli.progress import progress_bar
from voilattice.cli.tables import name_options, on_table
from voilattice.documents.tables import Learned, Reproduction
from voilattice.errors import InputError, VoilatticeError, within
from voilattice.extras import need_extra
from voilattice.learning.recipes import (
    AUTO,
    DISCRETIZATIONS,
    NAMED,
    SCORES,
    SEARCHES,
    Recipe,
    name_recipe,
)
from voilattice.policy.solvers import policy_names
from voilattice.wording import count_noun, format_amount

if TYPE_CHECKING:
    from voilattice.files.problems import CostFile
    from voilattice.learning.data_tables import DataTable
    from voilattice.learning.preparation import Columns
    from voilattice.learning.problems import LearnedProblem

__all__ = ["learn_command", "reproduce_command"]

# What a recipe says. A recipe may leave the number of bins open (`_check_bins`).
RECIPE_OPTIONS = (
    *("discretization", "max_bins", "score", "search", "max_parents", "target_first"),
    *("forbid", "require", "smoothing"),
)
_DEFAULTS = Recipe()
POINTS = "points"  # the folder of what is done


@click.command(name="learn")
@on_table
@click.option("--target", required=True, metavar="Y", help="The column to predict.")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Where the problem goes.")
@click.option(
    "--costs",
    metavar="FILE",
    help="TOML with [costs], [[groups]], [[discounts]], [[conditional_costs]], [rounds], "
    "[misclassification], currency, [labels], [state_labels] as in a problem file. Without it "
    "every feature costs 1.",
)
@click.option("--title", default="", help="What the problem is called.")
@click.option(
    "--discretization",
    type=click.Choice(DISCRETIZATIONS),
    default=_DEFAULTS.discretization,
    show_default=True,
    help="How numbers are cut into bins: where the target changes (mdl: minimum description "
    "length), into --bins with equally many cases (frequency), or the same with fewer bins if the "
    "optimum would need too many states (affordable).",
)
@click.option(
    "--bins", type=int, metavar="N",
    help=f"How many, unless for mdl (default: {_DEFAULTS.bins}). Also for --recipe smooth and "
    f"trained (default: {NAMED['smooth'].bins}).",
)  # fmt: skip
@click.option(
    "--max-bins", type=int, default=_DEFAULTS.max_bins, show_default=True, metavar="N",
    help="The most bins that mdl may make.",
)  # fmt: skip
@click.option(
    "--score", type=click.Choice(list(SCORES)), default=_DEFAULTS.score, show_default=True,
    help="What the search for arcs maximizes: how well a network fits the table.",
)  # fmt: skip
@click.option(
    "--search", type=click.Choice(list(SEARCHES)), default=_DEFAULTS.search, show_default=True,
    help="How arcs are searched for.",
)  # fmt: skip
@click.option(
    "--max-parents", type=int, default=_DEFAULTS.max_parents, show_default=True, metavar="N",
    help="The most parents that a node may have.",
)  # fmt: skip
@click.option("--target-first", is_flag=True, help="The target may have no parents.")
@click.option("--forbid", multiple=True, metavar="A:B", help="No arc from A to B; repeatable.")
@click.option("--require", multiple=True, metavar="A:B", help="An arc from A to B; repeatable.")
@click.option(
    "--smoothing", type=float, default=_DEFAULTS.smoothing, show_default=True, metavar="N",
    help="What is added to each count.",
)  # fmt: skip
@click.option(
    "--recipe",
    type=click.Choice([AUTO, *NAMED]),
    help="A recipe by its name, in place of the options of the recipe (--discretization to "
    "--smoothing; smooth and trained take --bins all the same). auto: the one whose policy is "
    "cheapest on rows that it has not seen, which takes longer. The default is auto, unless there "
    "are options of the recipe.",
)
@click.option(
    "--policy", type=click.Choice(policy_names()),
    help="For --recipe auto: the policy that you will follow; the recipe is chosen for it "
    "(default: optimal).",
)  # fmt: skip
@click.option("--seed", type=int, metavar="N", help="For --recipe auto: how rows are dealt.")
@click.option(
    "--jobs", type=int, metavar="N", help="For --recipe auto: processes (default: one per core)."
)
@click.option("--force", is_flag=True, help="Overwrite the files that learn writes.")
@json_option
def learn_command(
    data: str,
    table: DataTable,
    columns: Columns,
    target: str,
    output: str,
    costs: str | None,
    title: str,
    discretization: str,
    bins: int | None,
    max_bins: int,
    score: str,
    search: str,
    max_parents: int,
    target_first: bool,
    forbid: Sequence[str],
    require: Sequence[str],
    smoothing: float,
    recipe: str | None,
    policy: str | None,
    seed: int | None,
    jobs: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Learn a problem from a table (CSV, TSV or Parquet).

    The folder gets the network, a problem file that names it, and a description.
    """
    from voilattice.files.problems import read_costs
    from voilattice.learning.cells import MISSING
    from voilattice.learning.problems import PLACEHOLDER_STAKES, check_output, learn_problem
    from voilattice.learning.table_files import table_name

    if not output:
        raise InputError("must name a folder, got ''", "--output")
    with within("--output"):
        check_output(Path(output), force=force)  # said before the work, not after it
    recipe = _find_recipe_name(recipe, bins)
    _check_recipe_options(recipe, policy, seed, jobs)
    _check_bins(bins, recipe, discretization)
    given = None if costs is None else read_costs(costs)
    try:
        chosen = _named_recipe(recipe, bins) or Recipe(
            discretization, _DEFAULTS.bins if bins is None else bins, score, search, max_parents,
            target_first, _arcs("--forbid", forbid), _arcs("--require", require), smoothing,
            max_bins,
        )  # fmt: skip
        marks = MISSING.union(click.get_current_context().params["missing"])
        with progress_bar("trials") as progress, deaf_workers():
            found = learn_problem(
                table, target, recipe=chosen, policy=policy or "optimal",
                title=title or table_name(Path(data)), missing=marks, seed=seed or 0,
                n_jobs=jobs or -1, progress=progress, **asdict(columns), **_settings(given),
            )  # fmt: skip
    except VoilatticeError as error:
        raise name_options(error, data, costs) from None
    source = f"Learned by `voilattice learn` from `{Path(data).name}`."
    path = found.write(output, source=source, force=force)
    problem, learned, choice = found.problem, found.learned, found.choice
    if as_json:
        name = choice.name if choice else recipe and name_recipe(chosen)
        console.print_json(Learned.json_of(found, problem=str(path), recipe=name))
        return
    console.print_problem(problem, {})
    left_out = f" ({learned.n_left_out:,} more have no {target})" if learned.n_left_out else ""
    lines = ["", f"Learned from {count_noun(learned.n_rows, 'row')}{left_out}; written to {path}."]
    if choice is not None:
        lines.append(f"Recipe: {choice.name}, by its total cost on rows that it had not seen:")
        lines += [
            f"  {trial.name:<16}{format_amount(trial.mean_total_cost):>12} "
            f"+- {format_amount(trial.standard_error)}"
            for trial in choice.trials
        ]
    elif recipe is None:
        lines.append(
            f"Recipe: {name_recipe(learned.recipe)}. --recipe {AUTO} tries several and chooses by "
            f"their total cost on rows that they have not seen."
        )
    lines += _uncut_lines(found, columns)
    if costs is None:
        lines.append("Every feature costs 1 until you edit that file. Or learn with --costs.")
    if given is None or given.stakes is None:
        lines.append(
            f"The costs of wrong decisions are placeholders, scaled to an expected "
            f"{PLACEHOLDER_STAKES[1]:g}: edit [misclassification] in that file."
        )
    terminal.print_lines(lines)


@click.command(name="reproduce")
@click.option(
    "--out",
    required=True,
    metavar="FOLDER",
    help="Where results go; a stopped run goes on from there.",
)
@click.option("--quick", is_flag=True, help="A coarse sweep: 9 points for each curve.")
@click.option("--only", multiple=True, metavar="NAME", help="Some of the data sets; repeatable.")
@workers_options
@json_option
def reproduce_command(
    out: str, quick: bool, only: Sequence[str], jobs: int, dask: str | None, as_json: bool
) -> None:
    """Reproduce the paper's Tables 1 to 3, Figures 1 to 8, and its claims.

    It can be stopped at any moment. Started again, it goes on from there.
    """
    need_extra("arena", "reproduce")
    from voilattice.paper.experiment import FULL, NAMES, QUICK, run
    from voilattice.paper.report import REPORT, check_folder, write_report

    if not out:
        raise InputError("must name a folder, got ''", "--out")
    for name in only:
        if name not in NAMES:
            raise InputError(f"must be one of {', '.join(NAMES)}, got {name!r}", "--only")
    names = [name for name in NAMES if not only or name in only]
    folder = Path(out)
    check_folder(folder, POINTS)
    with progress_bar("points") as progress, deaf_workers():
        points = run(
            folder / POINTS, names=names, grid=QUICK if quick else FULL, n_jobs=jobs,
            dask=dask, progress=progress,
        )  # fmt: skip
    files, claims = write_report(folder, points)
    if as_json:
        console.print_json(Reproduction.json_of(None, files=map(str, files), claims=claims))
        return
    console.print_claims(claims)
    terminal.print_lines(
        [f"{count_noun(len(files), 'file')} in {out}; open {folder / REPORT} in a browser."]
    )


def _given_options() -> list[str]:
    """Return the options of a recipe that the command line has."""
    source = click.get_current_context().get_parameter_source
    return [x for x in RECIPE_OPTIONS if source(x) is click.core.ParameterSource.COMMANDLINE]


def _find_recipe_name(recipe: str | None, bins: int | None) -> str | None:
    """Return the recipe that is asked for; by default ``auto``. None: its options are given."""
    if recipe is None and bins is None and not _given_options():
        return AUTO
    return recipe


def _check_recipe_options(
    recipe: str | None, policy: str | None, seed: int | None, jobs: int | None
) -> None:
    """Raise `InputError` if an option has no meaning beside a recipe, or without one."""
    if recipe is not None and (given := _given_options()):
        option = f"--{given[0].replace('_', '-')}"
        raise InputError(f"is part of the recipe {recipe}; give one or the other", option)
    for option, value in (("--policy", policy), ("--seed", seed), ("--jobs", jobs)):
        if value is not None and recipe != AUTO:
            raise InputError(f"is for --recipe {AUTO}", option)
    if seed is not None and seed < 0:
        raise InputError(f"must be a whole number >= 0, got {seed}", "--seed")
    if jobs is not None:
        check_jobs(jobs)


def _check_bins(bins: int | None, recipe: str | None, discretization: str) -> None:
    """Raise `InputError` if the number of bins is given to what finds it by itself."""
    if bins is None:
        return
    with_bins = [name for name, own in NAMED.items() if own.discretization != "mdl"]
    if recipe is None and discretization == "mdl":
        raise InputError(
            f"mdl finds the number of bins by itself; add --discretization frequency or "
            f"affordable, or --recipe {' or '.join(with_bins)}",
            "--bins",
        )
    if recipe is not None and recipe not in with_bins:
        raise InputError(
            f"the recipe {recipe} finds the number of bins by itself; "
            f"--recipe {' and '.join(with_bins)} take --bins",
            "--bins",
        )


def _named_recipe(recipe: str | None, bins: int | None) -> Recipe | str | None:
    """Return a named recipe, with another number of bins if it is given."""
    if recipe is None or bins is None:
        return recipe
    return replace(NAMED[recipe], bins=bins)


def _uncut_lines(found: LearnedProblem, columns: Columns) -> Iterator[str]:
    """Yield a line about columns of numbers that became categories without being asked to.

    Two values are two states, whether they are cut or not, so they are not worth a line.
    """
    asked = {*columns.categorical, *columns.states}
    sizes = {name: len(found.problem.states(name)) for name in found.uncut_numbers}
    if uncut := [f"{x} ({n} values)" for x, n in sizes.items() if n > 2 and x not in asked]:
        yield (
            f"Numbers taken as categories, because they have few values: {', '.join(uncut)}. "
            f"--numeric cuts them into bins."
        )


def _settings(given: CostFile | None) -> dict[str, Any]:
    """Return what a file with costs gives to `learn_problem`."""
    if given is None:
        return {}
    return {
        "costs": given.costs, "misclassification": given.stakes, "labels": given.labels,
        "state_labels": given.state_labels, "currency": given.currency,
    }  # fmt: skip


def _arcs(option: str, given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    arcs = []
    for entry in given:
        start, colon, end = entry.partition(":")
        if not (start and colon and end):
            raise InputError(f"must be FROM:TO, two columns, got {entry!r}", option)
        arcs.append((start, end))
    return tuple(arcs)
