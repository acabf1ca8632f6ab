"""The report of an arena: one page, and the numbers as CSV.

`results.csv` and `summary.csv` depend on the results alone: the same results give the same bytes.
Seconds are in `times.csv` and on the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, fields
from html import escape
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
from voilattice.drawing.pages import page
from voilattice.drawing.reports import STYLE as REPORT_STYLE
from voilattice.drawing.reports import csv_text, write_files
from voilattice.html import Strong, html_table, paragraph
from voilattice.wording import count_noun, format_amount

__all__ = ["REPORT", "write_report"]

REPORT = "report.html"
TITLE = "The arena: every method on the same new cases"
MAX_PLACES = 6  # of failures that are listed in a row

STYLE = f"""{REPORT_STYLE}
body {{ max-width: 76rem; }} p {{ margin: .4rem 0; }}
table {{ font-size: .87rem; }}
th, td {{ padding: .2rem .5rem; }}
th {{ vertical-align: bottom; }} td {{ white-space: nowrap; }}
th:first-child, td:first-child {{ position: sticky; left: 0; background: #fff; }}
td b {{ color: #b5510a; }}
.side {{ display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }}
.side > * {{ max-width: 100%; }}
.reasons td:nth-child(n+2) {{ white-space: normal; min-width: 14rem; overflow-wrap: anywhere; }}
.reasons td:last-child {{ min-width: 0; }}
"""


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
        REPORT: page(TITLE, STYLE, "\n".join(_sections(standings, found, rows))),
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


def _sections(standings: Standings, found: Comparison, rows: Sequence[Summary]) -> Iterator[str]:
    weaknesses = find_weaknesses(found)
    yield from _contents(standings, found)
    yield "<h2>Verdict</h2>"
    for said in judge(found, weaknesses):
        yield paragraph(said)
    if found.cells and len(rows) > 1:
        yield from _ranks(found, rows)
        yield from _summary(found, rows)
        if OURS in found.methods:
            yield from _weak_cells(weaknesses)
        yield from _all_cells(found)
    yield from _failures(standings)
    yield from _measures()


def _contents(standings: Standings, found: Comparison) -> Iterator[str]:
    """Say what was compared, and what is missing."""
    suite = standings.suite
    n_cells = sum(len(data.levels) for data in suite.data_sets.values())
    yield "<h2>What was compared</h2>"
    yield paragraph(
        f"{count_noun(len(standings.methods), 'method')} on "
        f"{count_noun(len(suite.data_sets), 'data set')} ({', '.join(suite.data_sets)}) with "
        f"{count_noun(n_cells, 'cell')}: a cell is a data set at one level of costs. Each cell has "
        f"{count_noun(suite.n_splits, 'split')} into cases to learn from and new cases."
    )
    origin = f" Data: {suite.source}." if suite.source else ""
    yield paragraph(f"voilattice {__version__}.{origin}")
    n_there = len(standings.results) + len(standings.failures)
    if n_there < standings.n_wanted:
        yield paragraph(
            f"This arena is not finished: {n_there:,} of {standings.n_wanted:,} results are there. "
            f"All numbers below are preliminary.",
            strong=True,
        )
    n_splits = sum(len(next(iter(cell.values()))) for cell in found.results.values())
    if found.cells:
        yield paragraph(
            f"Ranked: {count_noun(len(found.methods), 'method')} on "
            f"{count_noun(len(found.cells), 'cell')} with {count_noun(n_splits, 'split')} in all. "
            f"A method is ranked if it has a result in each cell that it was tried on. A split "
            f"counts if all ranked methods have a result for it."
        )
    if standings.failures:
        yield paragraph(
            f"{count_noun(len(standings.failures), 'result')} failed; they are listed below."
        )
    for method, why in found.left_out.items():
        yield paragraph(f"Not ranked: {method} ({why}).")


def _ranks(found: Comparison, rows: Sequence[Summary]) -> Iterator[str]:
    ranks = [row.mean_rank for row in rows]
    difference = critical_difference(len(rows), len(found.cells))
    yield "<h2>Mean ranks</h2>"
    yield paragraph(
        f"Left is better. A blue bar joins methods whose mean ranks are closer than the critical "
        f"difference (Nemenyi's test at {ALPHA:.0%}): these cells do not tell them apart."
    )
    drawn = ranks_svg(
        found.methods, ranks, difference, joined_groups(ranks, difference), OUR_METHODS
    )
    by_cost = sorted(range(len(rows)), key=lambda k: rows[k].normalized)
    spent = (found.normalized * found.spending).mean(axis=0)
    wrong = found.normalized.mean(axis=0) - spent
    bars = costs_svg(
        [found.methods[k] for k in by_cost],
        [float(spent[k]) for k in by_cost],
        [float(wrong[k]) for k in by_cost],
        OUR_METHODS,
    )
    yield (
        f'<div class="side"><figure role="img" aria-label="Mean ranks with the critical '
        f'difference">{drawn}</figure><figure role="img" aria-label="Mean normalized costs">'
        f"{bars}</figure></div>"
    )


def _summary(found: Comparison, rows: Sequence[Summary]) -> Iterator[str]:
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
    yield "<h2>Summary</h2>"
    yield paragraph("Means over cells, the best mean rank first. Low is better in all columns "
                    "but the cells won.")  # fmt: skip
    yield _wide(html_table(heading, shown))
    yield (
        "<details><summary>What the columns mean</summary><ul>"
        "<li><b>normalized cost</b>: the mean total cost of a new case, over (the price of all "
        "features + the share of the classes that are not the most frequent one × the largest "
        "misclassification cost).</li>"
        "<li><b>default minus method</b>: the normalized cost of our default minus that of the "
        "method, with a 95 % interval by a paired bootstrap. Below 0, our default costs less.</li>"
        "<li><b>regret</b>: the normalized cost minus the lowest of all methods in the same cell, "
        "so against the best in hindsight.</li>"
        "<li><b>cells won</b>: cells in which no method costs less. A tie is won by all.</li>"
        "<li><b>spent</b>: the share of features in the total cost.</li>"
        "<li><b>errors</b>: the share of decisions that are not the true class.</li>"
        "<li><b>model regret</b>: what a quick policy costs more than the optimum on cases drawn "
        "from their network. It can be below 0 by chance.</li>"
        "<li><b>seconds</b>: to learn and to decide one split of a cell.</li></ul></details>"
    )


def _weak_cells(weaknesses: Sequence[Weakness]) -> Iterator[str]:
    yield "<h2>Where our default is not best, the worst first</h2>"
    if not weaknesses:
        yield paragraph("Nowhere: no method costs less in any cell.")
        return
    yield paragraph(
        f"Mean costs of a new case: {OURS} / the best other method. The difference, with its "
        f"standard error over splits, is the sum of what our default spends more on features and "
        f"what its decisions cost more."
    )
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
    yield _wide(html_table(heading, rows, n_text=3))


def _all_cells(found: Comparison) -> Iterator[str]:
    yield "<h2>All cells</h2>"
    yield paragraph(
        "The mean total cost of a new case, with its standard error over splits. The lowest cost "
        "of a cell is marked."
    )
    yield '<div class="side">'
    for data_set in dict.fromkeys(found.data_sets):
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
        yield f"<div><h3>{escape(data_set)}</h3>{_wide(html_table(heading, rows))}</div>"
    yield "</div>"


def _failures(standings: Standings) -> Iterator[str]:
    if not standings.failures:
        return
    places: dict[tuple[str, str], list[str]] = {}
    for key, failure in sorted(standings.failures.items(), key=lambda item: item[0]):
        place = f"{key.data_set} {key.level}, split {key.split}"
        places.setdefault((key.method, failure.failure), []).append(place)
    rows = []
    for (method, reason), where in sorted(places.items()):
        shown = "; ".join(where[:MAX_PLACES])
        if len(where) > MAX_PLACES:
            shown += f"; and {len(where) - MAX_PLACES} more"
        rows.append((method, reason, shown, len(where)))
    yield "<h2>Failures</h2>"
    table = html_table(["method", "reason", "where", "results"], rows, n_text=3)
    yield f'<div class="reasons">{_wide(table)}</div>'


def _measures() -> Iterator[str]:
    yield "<h2>How it was measured</h2>"
    yield paragraph(
        "Every method learned from the same cases and decided the same new cases, with the same "
        "prices, discounts and misclassification costs. A method pays for each feature that it "
        "looks at, and for wrong decisions. The total cost is the sum of both."
    )
    yield paragraph(
        "In each cell methods are ranked by their mean total cost over splits; ties share the mean "
        "rank. Friedman's and Nemenyi's tests take cells for independent. The bootstrap does not: "
        "it draws data sets, and cells within each of them."
    )
    yield paragraph(
        "results.csv has one row for each result, summary.csv the means over cells, times.csv "
        "the seconds. Only times depend on the machine."
    )


def _wide(table: str) -> str:
    return f'<div class="wide">{table}</div>'


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
