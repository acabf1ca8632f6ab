"""The report of an arena: one page, and the numbers as CSV.

`results.csv` and `summary.csv` depend on the results alone: the same results give the same bytes.
Seconds are in `times.csv` and on the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, fields
from pathlib import Path

from voilattice import __version__
from voilattice.arena.methods import OUR_METHODS, OURS
from voilattice.arena.ranks import ALPHA, critical_difference, joined_groups
from voilattice.arena.results import Key, Result
from voilattice.arena.tables import (
    Comparison,
    Summary,
    Weakness,
    compare_methods,
    find_weaknesses,
    summarize,
)
from voilattice.arena.tournament import Standings
from voilattice.arena.verdict import find_intervals, format_share, judge
from voilattice.drawing.arena import costs_svg, ranks_svg
from voilattice.drawing.pages import Table, render
from voilattice.drawing.reports import csv_text, write_files
from voilattice.html import Strong
from voilattice.wording import format_amount

__all__ = ["REPORT", "write_report"]

REPORT = "report.html"
TITLE = "The arena: every method on the same new cases"
MAX_PLACES = 6  # of failures that are listed in a row


def write_report(standings: Standings, folder: Path) -> list[Path]:
    """Write the page and the CSV files, and return their paths.

    An arena that is not finished has a report of what is there.
    """
    found = compare_methods(standings)
    rows = summarize(found)
    files = {
        "results.csv": csv_text(_result_rows(standings.results)),
        "times.csv": csv_text(_time_rows(standings.results)),
        "summary.csv": csv_text(_summary_rows(rows)),
        REPORT: _page(standings, found, rows),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return write_files(folder, files)


def _result_rows(results: Mapping[Key, Result]) -> Iterator[Sequence[object]]:
    names = [field.name for field in fields(Result) if field.name != "seconds"]
    yield *(field.name for field in fields(Key)), *names
    for key in sorted(results):
        values = asdict(results[key])
        yield *astuple(key), *(values[name] for name in names)


def _time_rows(results: Mapping[Key, Result]) -> Iterator[Sequence[object]]:
    yield *(field.name for field in fields(Key)), "seconds"
    for key in sorted(results):
        yield *astuple(key), results[key].seconds


def _summary_rows(rows: Sequence[Summary]) -> Iterator[Sequence[object]]:
    names = [field.name for field in fields(Summary) if field.name != "seconds"]
    yield names
    for row in rows:
        values = asdict(row)
        yield [values[name] for name in names]


def _page(standings: Standings, found: Comparison, rows: Sequence[Summary]) -> str:
    suite, weaknesses = standings.suite, find_weaknesses(found)
    is_comparison = bool(found.cells) and len(rows) > 1
    compared: dict[str, object] = {}
    if is_comparison:
        compared = {
            "ranks": _draw_ranks(found, rows),
            "costs": _draw_costs(found, rows),
            "summary": _summary(found, rows),
            "all_cells": {name: _cells(found, name) for name in dict.fromkeys(found.data_sets)},
        }
    return render(
        "arena/report.html.j2",
        title=TITLE,
        version=__version__,
        alpha=f"{ALPHA:.0%}",
        ours=OURS,
        standings=standings,
        suite=suite,
        found=found,
        n_cells=sum(len(data.levels) for data in suite.data_sets.values()),
        n_there=len(standings.results) + len(standings.failures),
        n_splits=sum(len(next(iter(cell.values()))) for cell in found.results.values()),
        verdict=judge(found, weaknesses),
        is_comparison=is_comparison,
        **compared,
        weaknesses=_weak_cells(weaknesses),
        failures=_failures(standings),
    )


def _draw_ranks(found: Comparison, rows: Sequence[Summary]) -> str:
    ranks = [row.mean_rank for row in rows]
    difference = critical_difference(len(rows), len(found.cells))
    groups = joined_groups(ranks, difference)
    return ranks_svg(found.methods, ranks, difference, groups, OUR_METHODS)


def _draw_costs(found: Comparison, rows: Sequence[Summary]) -> str:
    by_cost = sorted(range(len(rows)), key=lambda k: rows[k].normalized)
    spent = (found.normalized * found.spending).mean(axis=0)
    wrong = found.normalized.mean(axis=0) - spent
    return costs_svg(
        [found.methods[k] for k in by_cost],
        [float(spent[k]) for k in by_cost],
        [float(wrong[k]) for k in by_cost],
        OUR_METHODS,
    )


def _summary(found: Comparison, rows: Sequence[Summary]) -> Table:
    intervals = find_intervals(found)
    heading = [
        "method", "mean rank", "normalized cost", "regret", "cells won", "spent", "errors",
        "model regret", "seconds",
    ]  # fmt: skip
    if intervals:
        heading.insert(3, "default minus method (95 %)")
    lowest = {
        name: min(getattr(row, name) for row in rows)
        for name in ("mean_rank", "normalized", "regret")
    }
    shown = []
    for row in rows:
        cells = [
            _mark(row.method, row.method == OURS),
            _mark(f"{row.mean_rank:.2f}", row.mean_rank == lowest["mean_rank"]),
            _mark(f"{row.normalized:.3f}", row.normalized == lowest["normalized"]),
            _mark(f"{row.regret:.3f}", row.regret == lowest["regret"]),
            f"{row.n_won}",
            f"{row.spending:.0%}",
            f"{row.errors:.1%}",
            "" if row.model_regret is None else format_share(row.model_regret),
            f"{row.seconds:.1f}",
        ]
        if intervals:
            cells.insert(3, _interval(intervals.get(row.method)))
        shown.append(cells)
    return heading, shown


def _weak_cells(weaknesses: Sequence[Weakness]) -> Table:
    heading = [
        "data set", "level", "best method", "ratio", "total cost", "difference",
        "by features", "by decisions", "spent", "errors",
        "recipe of ours",
    ]  # fmt: skip
    rows = [
        [
            row.data_set,
            row.level,
            row.best,
            "∞" if math.isinf(row.ratio) else f"{row.ratio:.3f}",
            _pair(row.total_cost),
            _with_error(row.total_cost[0] - row.total_cost[1], row.standard_error),
            _signed(row.extra_spending),
            _signed(row.extra_errors),
            _pair(row.feature_cost),
            f"{row.errors[0]:.1%} / {row.errors[1]:.1%}",
            f"{row.recipe} ({row.n_with_recipe} of {row.n_splits})",
        ]
        for row in weaknesses
    ]
    return heading, rows


def _cells(found: Comparison, data_set: str) -> Table:
    places = [k for k, name in enumerate(found.data_sets) if name == data_set]
    heading = ["method", *(found.cells[place][1] for place in places)]
    rows = [
        [
            _mark(method, method == OURS),
            *(
                _mark(
                    _with_error(found.total_cost[place, k], found.standard_error[place, k]),
                    bool(found.is_won[place, k]),
                )
                for place in places
            ),
        ]
        for k, method in enumerate(found.methods)
    ]
    return heading, rows


def _failures(standings: Standings) -> Table:
    places: dict[tuple[str, str], list[str]] = {}
    for key, failure in sorted(standings.failures.items(), key=lambda item: item[0]):
        place = f"{key.data_set} {key.level}, split {key.split}"
        places.setdefault((key.method, failure.failure), []).append(place)
    rows = []
    for (method, reason), where in sorted(places.items()):
        shown = "; ".join(where[:MAX_PLACES])
        if len(where) > MAX_PLACES:
            shown += f"; and {len(where) - MAX_PLACES} more"
        rows.append((method, reason, shown, str(len(where))))
    return ["method", "reason", "where", "results"], rows


def _mark(text: str, is_best: bool) -> str:
    return Strong(text) if is_best else text


def _interval(found: tuple[float, float, float] | None) -> str:
    if found is None:
        return "–"
    mean, lower, upper = (_signed(value, ".3f") for value in found)
    return f"{mean} [{lower}, {upper}]"


def _signed(amount: float, digits: str = ",.2f") -> str:
    text = f"{amount:{digits}}"
    is_zero = not text.strip("-0.,")
    return text.lstrip("-") if is_zero else f"{amount:+{digits}}".replace("-", "−")


def _with_error(amount: float, standard_error: float) -> str:
    text = format_amount(amount)
    return text if math.isnan(standard_error) else f"{text} ± {format_amount(standard_error)}"


def _pair(amounts: tuple[float, float]) -> str:
    return " / ".join(format_amount(amount) for amount in amounts)
