"""Pictures of an arena: the critical differences of mean ranks, and what methods cost.

A critical-difference diagram (Demšar 2006) has an axis of mean ranks. A thin line leads from the
place of each method on it to the name. A thick bar joins methods that do not differ significantly.
All names are on one side, so that the picture fits into a narrow page.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from voilattice.drawing.evaluations import FAINT, INK, draw_cost_bars
from voilattice.drawing.plots import figure_svg, new_figure

__all__ = ["costs_svg", "ranks_svg"]

OURS = "#b5510a"
GROUPS = "#4c78a8"
# Inches
WIDTH = 4.6
NAMES = 1.75  # the column of names
ROW = 0.185
BAR = 0.085  # between the bars of two groups
MARGIN = 0.15
MAX_NAME = 26  # letters


def ranks_svg(
    methods: Sequence[str],
    mean_ranks: Sequence[float],
    critical_difference: float,
    groups: Sequence[tuple[int, int]],
    ours: Collection[str] = (),
) -> str:
    """Return the critical-difference diagram as SVG for use inside a page.

    Parameters
    ----------
    methods, mean_ranks
        By increasing mean rank.
    groups
        The first and the last place of methods that do not differ.
    ours
        Methods to emphasize.
    """
    axis = 0.75  # from the top
    first_row = axis + 0.12 + BAR * len(groups) + 0.14
    height = first_row + ROW * len(methods) + 0.05
    figure = new_figure(WIDTH, height)
    figure.set_layout_engine("none")  # all places are given in inches
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_xlim(0, WIDTH)
    panel.set_ylim(height, 0)  # downwards
    panel.set_axis_off()
    low = math.floor(mean_ranks[0])
    high = max(math.ceil(mean_ranks[-1]), math.ceil(low + critical_difference), low + 1)
    scale = (WIDTH - NAMES - 2 * MARGIN) / (high - low)

    def place(rank: float) -> float:
        return NAMES + MARGIN + (rank - low) * scale

    _draw_axis(panel, place, low, high, axis)
    end = place(low + critical_difference)
    panel.plot([place(low), end], [0.3, 0.3], color=INK, linewidth=1.4)
    for x in (place(low), end):
        panel.plot([x, x], [0.25, 0.35], color=INK, linewidth=1.4)
    panel.text(
        place(low), 0.19, f"critical difference {critical_difference:.2f}", fontsize=8, color=INK
    )
    for k, (first, last) in enumerate(groups):
        y = axis + 0.12 + BAR * k
        ends = [place(mean_ranks[first]) - 0.03, place(mean_ranks[last]) + 0.03]
        panel.plot([*ends], [y, y], color=GROUPS, linewidth=2.6, solid_capstyle="butt", zorder=3)
    for k, (method, rank) in enumerate(zip(methods, mean_ranks, strict=True)):
        y = first_row + ROW * k
        is_ours = method in ours
        color = OURS if is_ours else INK
        x = place(rank)
        panel.plot(
            [x, x, NAMES + 0.04], [axis, y, y], color=color if is_ours else FAINT,
            linewidth=1.2 if is_ours else 0.7, zorder=2,
        )  # fmt: skip
        panel.text(
            NAMES, y, f"{_shorten(method)}  {rank:.2f}", ha="right", va="center", fontsize=8,
            color=color, fontweight="bold" if is_ours else "normal", parse_math=False,
        )  # fmt: skip
    return figure_svg(figure)


def costs_svg(
    methods: Sequence[str],
    spent: Sequence[float],
    wrong: Sequence[float],
    ours: Collection[str] = (),
) -> str:
    """Return bars of the mean normalized cost, from the top, as SVG for use inside a page."""
    figure = new_figure(WIDTH, max(1.6, ROW * len(methods) + 0.9))
    panel = figure.subplots()
    draw_cost_bars(panel, [_shorten(method) for method in methods], spent, wrong)
    for method, tick in zip(methods, panel.get_yticklabels(), strict=True):
        if method in ours:
            tick.set(color=OURS, fontweight="bold")
    panel.set_xlabel("mean normalized cost", fontsize=8)
    panel.tick_params(axis="x", labelsize=8)
    panel.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure_svg(figure)


def _draw_axis(panel: Any, place: Any, low: int, high: int, y: float) -> None:
    panel.plot([place(low), place(high)], [y, y], color=INK, linewidth=1.0)
    step = max(1, math.ceil((high - low) / 12))
    for rank in range(low, high + 1):
        is_labelled = (rank - low) % step == 0
        panel.plot(
            [place(rank)] * 2, [y, y - (0.07 if is_labelled else 0.04)], color=INK, linewidth=0.8
        )
        if is_labelled:
            panel.text(place(rank), y - 0.1, str(rank), ha="center", fontsize=8, color=INK)
    panel.text(NAMES, y, "mean rank", ha="right", va="center", fontsize=8, color=INK)


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
