"""Pictures of an evaluation: what methods cost on new cases, and how well their models know."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from voilattice.drawing.plots import new_figure, save_figure
from voilattice.learning.held_out_results import Evaluation, Result

__all__ = ["draw_cost_bars", "plot_calibration", "plot_costs"]

INK = "#1b2430"
SPENDING = "#4c78a8"
ERRORS = "#e08a3c"
FAINT = "#8b97a8"
RIVALS = "#54a24b"
CLOSE = (0.06, 0.04)  # of the width and the height of a panel: such points share a label
MAX_LABEL = 36  # letters in a line
MAX_PANELS = 12  # of calibrations
PANELS_IN_A_ROW = 4


def plot_costs(found: Evaluation, title: str, path: str | Path) -> None:
    """Draw the mean costs as bars, and beside them spending against errors.

    The extension of the file chooses one of matplotlib's formats; without one it is PNG.
    """
    n = len(found.results)
    figure = new_figure(11.0, max(3.6, 0.3 * n + 1.4))
    bars, scatter = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _draw_bars(bars, found.results)
    _draw_scatter(scatter, found.results)
    figure.suptitle(
        f"{title}: mean cost of a new case ({len(found.rows):,} rows, {found.n_folds} folds)",
        fontsize=11, parse_math=False,
    )  # fmt: skip
    save_figure(figure, path)


def plot_calibration(found: Evaluation, title: str, path: str | Path) -> None:
    """Draw how often the decided class is the true one, by how probable it was.

    The methods that cost least have a panel each; one of those that did exactly the same is enough.
    """
    results = _different(found.results, lambda r: r.probability.tobytes())[:MAX_PANELS]
    n_columns = min(PANELS_IN_A_ROW, len(results))
    n_rows = -(-len(results) // n_columns)
    figure = new_figure(2.6 * n_columns + 0.6, 2.6 * n_rows + 0.8)
    panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
    for panel, result in zip(panels, results, strict=False):
        _draw_calibration(panel, result)
    for panel in panels[len(results) :]:
        panel.set_visible(False)
    for panel in panels[max(len(results) - n_columns, 0) : len(results)]:
        panel.tick_params(labelbottom=True)  # the panel below it may be empty
    figure.supxlabel(
        "probability of the decided class, when the case was decided\n"
        "(a dot: the cases of a bin, larger for more; lines: ± 2 standard errors)",
        fontsize=9,
    )
    figure.supylabel("share of decisions on the true class", fontsize=9)
    figure.suptitle(f"{title}: calibration on new cases", fontsize=11, parse_math=False)
    save_figure(figure, path)


def _draw_bars(panel: Any, results: Sequence[Result]) -> None:
    draw_cost_bars(
        panel,
        [f"{k}  {_wrap(r.label)}" for k, r in enumerate(results, start=1)],
        [result.mean_feature_cost for result in results],
        [result.mean_misclassification_cost for result in results],
    )
    panel.errorbar(
        [result.mean_total_cost for result in results], range(len(results)),
        xerr=[math.nan if (error := r.standard_error) is None else error for r in results],
        fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.5, label="± standard error",
    )  # fmt: skip
    panel.get_yticklabels()[0].set_fontweight("bold")
    panel.set_xlabel("mean total cost")
    panel.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def draw_cost_bars(
    panel: Any, labels: Sequence[str], spent: Sequence[float], wrong: Sequence[float]
) -> None:
    """Draw a bar for each method, from the top: what it spends, and what its decisions cost."""
    places = range(len(labels))
    panel.barh(places, spent, color=SPENDING, height=0.68, label="spent on features")
    panel.barh(places, wrong, left=spent, color=ERRORS, height=0.68, label="decisions")
    panel.set_yticks(places, labels, fontsize=8)
    for tick in panel.get_yticklabels():
        tick.set_parse_math(False)  # a dollar sign does not mean mathematics
    panel.set_ylim(len(labels) - 0.4, -0.6)
    panel.set_xlim(left=0)
    panel.spines[["top", "right"]].set_visible(False)


def _draw_scatter(panel: Any, results: Sequence[Result]) -> None:
    """Draw spending against errors: points with the numbers of the bars.

    A line joins all points that cost as little as the lowest.
    """
    x = [result.mean_feature_cost for result in results]
    y = [result.mean_misclassification_cost for result in results]
    ours = [result.policy is not None for result in results]
    for is_ours, color, marker, label in (
        (True, INK, "o", "policies"),
        (False, RIVALS, "s", "rivals"),
    ):
        here = [k for k, flag in enumerate(ours) if flag is is_ours]
        if here:
            panel.scatter(
                [x[k] for k in here], [y[k] for k in here],
                color=color, marker=marker, s=26, alpha=0.8, linewidth=0, zorder=3, label=label,
            )  # fmt: skip
    least = results[0].mean_total_cost
    panel.axline(
        (0, least),
        slope=-1,
        color=FAINT,
        linewidth=0.9,
        linestyle="--",
        label="as cheap as the lowest",
    )
    right, top = _room(x), _room(y)
    for numbers in _clusters([(a / right, b / top) for a, b in zip(x, y, strict=True)]):
        edge = max(x[k] for k in numbers), max(y[k] for k in numbers)
        panel.annotate(
            _ranges([k + 1 for k in numbers]), edge, xytext=(5, 4), textcoords="offset points",
            fontsize=8, color=INK,
        )  # fmt: skip
    panel.set_xlim(-0.03 * right, right)
    panel.set_ylim(0, top)
    panel.set_xlabel("spent on features")
    panel.set_ylabel("cost of decisions")
    panel.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    panel.spines[["top", "right"]].set_visible(False)


def _draw_calibration(panel: Any, result: Result) -> None:
    bins = result.calibration
    n = sum(b.count for b in bins)
    panel.plot([0, 1], [0, 1], color=FAINT, linewidth=0.9, linestyle="--", zorder=1)
    # Two standard errors of a share, as if the model were right.
    errors = [2 * (b.predicted * (1 - b.predicted) / b.count) ** 0.5 for b in bins]
    panel.errorbar(
        [b.predicted for b in bins], [b.observed for b in bins], yerr=errors,
        fmt="none", ecolor=FAINT, elinewidth=0.8, zorder=2,
    )  # fmt: skip
    panel.scatter(
        [b.predicted for b in bins], [b.observed for b in bins],
        s=[8 + 150 * b.count / n for b in bins], color=SPENDING, alpha=0.85, zorder=3, linewidth=0,
        clip_on=False,
    )  # fmt: skip
    panel.set_title(_wrap(result.label), fontsize=8, parse_math=False)
    panel.set_xlim(0, 1.03)
    panel.set_ylim(0, 1.03)
    panel.set_aspect("equal")
    panel.tick_params(labelsize=7)
    panel.spines[["top", "right"]].set_visible(False)


def _different(results: Sequence[Result], key: Callable[[Result], object]) -> list[Result]:
    found: dict[object, Result] = {}
    for result in results:
        found.setdefault(key(result), result)
    return list(found.values())


def _clusters(points: Sequence[tuple[float, float]]) -> list[list[int]]:
    """Return the numbers of points that are close to the first of them."""
    found: list[list[int]] = []
    for k, (x, y) in enumerate(points):
        for cluster in found:
            a, b = points[cluster[0]]
            if abs(x - a) < CLOSE[0] and abs(y - b) < CLOSE[1]:
                cluster.append(k)
                break
        else:
            found.append([k])
    return found


def _ranges(numbers: Sequence[int]) -> str:
    """Return increasing numbers as text.

    >>> _ranges([1, 2, 3, 5, 8, 9])
    '1-3, 5, 8, 9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{r[0]}-{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in runs]
    return ", ".join(parts)


def _wrap(label: str) -> str:
    return textwrap.fill(label, MAX_LABEL, break_long_words=False)


def _room(values: Sequence[float]) -> float:
    return 1.08 * max(values, default=0.0) or 1.0
