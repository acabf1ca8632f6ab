"""The command that follows a policy for the cases of a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import click

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.cli import console
from voilattice.cli.interrupts import finish_on_interrupt
from voilattice.cli.options import (
    find_policy,
    on_problem,
    output_option,
    policy_or_file_option,
    time_limit_option,
    write,
)
from voilattice.cli.progress import progress_bar, progress_line
from voilattice.consultation.advice import FALLBACK
from voilattice.documents.tables import Applied as AppliedDocument
from voilattice.errors import within
from voilattice.model.problem import Problem
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import TIME_LIMIT, build_policy, describe_search
from voilattice.wording import count_noun, nearest, quote

if TYPE_CHECKING:
    from voilattice.cases.application import Applied
    from voilattice.learning.data_tables import DataTable

__all__ = ["apply_command"]

COLUMNS = (
    "decision", "bought", "feature_cost", "misclassification_cost", "total_cost", "row",
    "planned_without",
)  # fmt: skip
BETWEEN = ";"  # the features that were bought, or missing
DECIMALS = 10  # of amounts: enough for any price, too few for the errors of their sums
MAX_UNSEEN = 10  # values listed
NOT_DONE = "not worked out to the end"


@click.command(name="apply")
@on_problem
@click.argument("data", type=click.Path(), metavar="DATA")
@policy_or_file_option
@time_limit_option(TIME_LIMIT, "The time to plan, in all; then the greedy policy goes on.")
@output_option("--out", ".csv", help="Write a row for each case.")
def apply_command(
    problem: Problem,
    given: Mapping[str, str],
    as_json: bool,
    data: str,
    name: str,
    time_limit: Deadline,
    out: str | None,
) -> None:
    """Follow a policy for each row of a table: what it buys, decides and pays.

    DATA is a table of raw values or states, with a column for each feature. A missing cell cannot
    be had: the policy is planned again without it. With a column for the target, the costs of
    decisions are known too.
    """
    from voilattice.cases.application import apply_policy
    from voilattice.cases.tables import absent_features
    from voilattice.learning.data_tables import read_table

    here = problem.with_evidence(given)
    found = find_policy(name, here)
    with progress_line(lambda *_: "", f"apply, reading {data}"):
        table = read_table(data, has_odd_cells=True)
    with within(data):
        absent = absent_features(here, table.columns)
    if absent:
        _note(f"{data}: no column for {_suggest(here, table, absent)}: cannot be had in any row")
    used = [name for name in (*here.features, here.target) if name in table.columns]
    with within(data):
        columns = table.raw(used)
    with finish_on_interrupt(time_limit):
        if isinstance(found, str):
            with progress_line(describe_search, f"apply, {found}") as planned:
                found = build_policy(
                    here.without(absent), found,
                    time_limit=time_limit.share(time_plan.APPLIED_POLICY), progress=planned,
                )  # fmt: skip
            if _status(found) != "ok":
                _note(f"{data}: {found.name} is {NOT_DONE}. {found.verdict}")
        with progress_bar("rows") as progress, within(data):
            applied = apply_policy(
                found, columns, strict=False, time_limit=time_limit, progress=progress
            )
    for line in _doubts(applied):
        _note(f"{data}: {line}")
    if out is not None:
        write(out, _csv(applied))
    if as_json:
        status = "time" if applied.unfinished.any() else _status(found)
        console.print_json(AppliedDocument.json_of(applied, status=status))
    else:
        name = found.name if _status(found) == "ok" else f"{found.name} ({NOT_DONE})"
        console.print_applied(problem, applied, name, absent)


def _status(policy: Policy) -> str:
    """Return the limit that a policy lost something to, or ``"ok"``.

    The greedy policy loses nothing: its open leaves are planned when rows come to them, whatever
    the time.
    """
    return "ok" if policy.name == FALLBACK else policy.status


def _note(line: str) -> None:
    click.echo(line, err=True)


def _suggest(problem: Problem, table: DataTable, absent: Sequence[str]) -> str:
    """Return the features without a column, each with the unused column of the nearest name."""
    unused = [name for name in table.columns if name not in problem.network.names]
    return ", ".join(f"{name}{nearest(name, unused, or_list=False)}" for name in absent)


def _doubts(applied: Applied) -> Iterator[str]:
    """Yield what was not as it should be, a line each."""
    if applied.unseen:
        yield f"taken as missing, since the problem has no such state: {_list(applied.unseen)}"
    if n := int(applied.impossible.sum()):
        yield (
            f"{count_noun(n, 'row')} with results that are impossible in the network, taken as "
            f"missing (the first is row {int(applied.impossible.argmax()) + 1})"
        )
    if n := int(applied.unfinished.sum()):
        yield (
            f"in {count_noun(n, 'row')} the greedy policy went on, because the time to plan was "
            f"over; give more with --time-limit"
        )


def _list(unseen: Mapping[str, Mapping[str, int]]) -> str:
    """Return the cells that stand for no state, with their columns and numbers."""
    items = [
        f"{column} = {quote(value)} ({count_noun(n, 'row')})"
        for column, values in unseen.items()
        for value, n in values.items()
    ]
    more = f", and {len(items) - MAX_UNSEEN} more" if len(items) > MAX_UNSEEN else ""
    return ", ".join(islice(items, MAX_UNSEEN)) + more


def _csv(applied: Applied) -> Iterator[str]:
    """Yield the lines of a table with a row for each case."""
    n = len(applied.decision)
    bought = {path: BETWEEN.join(path) for path in set(applied.bought.tolist())}
    rows: Iterable[Collection[object]] = zip(
        applied.decision.tolist(),
        [bought[path] for path in applied.bought.tolist()],
        *(
            [""] * n if costs is None else [round(x, DECIMALS) for x in costs.tolist()]
            for costs in (applied.feature_cost, applied.misclassification_cost, applied.total_cost)
        ),
        range(1, n + 1),
        [BETWEEN.join(sorted(lacking)) for lacking in applied.lacking.tolist()],
        strict=True,
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    yield text.getvalue()
