"""Plots of what changes with a number: costs along a sweep, and thresholds of use."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from voilattice.drawing.plots import STYLES, new_figure, save_figure
from voilattice.policy.comparison import ComparisonRow
from voilattice.what_if.feature_use import Curve, Threshold
from voilattice.wording import format_amount, in_currency

__all__ = ["plot_sweep", "plot_threshold"]

INK, ACCENT, MUTED, SHADE = "#1b2430", "#b5510a", "#8b97a8", "#f6e9df"


def plot_sweep(rows: Iterable[ComparisonRow], key: str, title: str, path: str | Path) -> None:
    """Plot what each policy costs along the values of one number of the problem file."""
    figure = new_figure(6.4, 4.4)
    panel = figure.subplots()
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for row in rows:
        if row.expected_total_cost is not None:
            x, y = lines.setdefault(row.policy, ([], []))
            x.append(dict(row.settings)[key])
            y.append(row.expected_total_cost)
    for name, (x, y) in lines.items():
        panel.plot(x, y, label=name, **STYLES.get(name, {"color": MUTED}))
    panel.set_xlabel(key, parse_math=False)
    panel.set_ylabel("expected total cost")
    panel.legend(frameon=False, fontsize=9)
    panel.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, fontsize=11, parse_math=False)
    save_figure(figure, path)


def plot_threshold(found: Threshold, title: str, path: str | Path) -> None:
    """Plot the cost of the optimal policy along prices and along stakes, with and without."""
    figure = new_figure(10.4, 4.4)
    prices, stakes = figure.subplots(1, 2)
    curve, at = found.prices.curve, found.prices.threshold
    without = found.prices.without
    if curve and without is not None:
        flat = ((curve[0][0], without), (curve[-1][0], without))
        _draw(prices, curve, flat, found.label)
    if at is not None:
        prices.axvspan(found.prices.least, at, color=SHADE, zorder=0)
        _mark(prices, at, f"threshold {format_amount(at)}", ACCENT)
    _mark(prices, found.price, f"now {format_amount(found.price)}", INK)
    price = in_currency(f"price of {found.label}", found.currency)
    _finish(prices, price, found.describe_prices())
    most = _drawn_stakes(found)
    _draw(stakes, _upto(found.stakes.curve, most), _upto(found.stakes.without, most), found.label)
    for start, end in found.stakes.ranges:
        if start < most:
            stakes.axvspan(start, min(end, most), color=SHADE, zorder=0)
            _mark(stakes, start, f"from {format_amount(start)}", ACCENT)
        if end < most:
            _mark(stakes, end, f"to {format_amount(end)}", ACCENT)
    _mark(stakes, found.stake, f"now {format_amount(found.stake)}", INK)
    emc = in_currency("stakes: EMC with nothing known", found.currency)
    _finish(stakes, emc, found.describe_stakes())
    figure.suptitle(title, fontsize=11, parse_math=False)
    save_figure(figure, path)


def _drawn_stakes(found: Threshold) -> float:
    """Return the highest stakes to draw: some way beyond all that is marked."""
    marks = [found.stake, *(x for r in found.stakes.ranges for x in r)]
    return 1.5 * max(x for x in marks if x < found.stakes.limit or x == found.stake)


def _upto(curve: Curve, most: float) -> Curve:
    """Return the part of a curve up to some x, with the point of the curve there."""
    inside = [point for point in curve if point[0] <= most]
    beyond = [point for point in curve if point[0] > most]
    if inside and beyond:
        (x0, y0), (x1, y1) = inside[-1], beyond[0]
        inside.append((most, y0 + (y1 - y0) * (most - x0) / (x1 - x0)))
    return tuple(inside)


def _draw(panel: Any, curve: Curve, without: Curve, feature: str) -> None:
    for line, label, color, style in (
        (without, f"without {feature}", MUTED, "--"),
        (curve, "optimal policy", INK, "-"),
    ):
        if line:
            panel.plot(*zip(*line, strict=True), label=label, color=color, linestyle=style)


def _mark(panel: Any, x: float, label: str, color: str) -> None:
    panel.axvline(x, color=color, linewidth=1, linestyle=":", label=label)


def _finish(panel: Any, label: str, title: str) -> None:
    panel.set_title(title, fontsize=9, parse_math=False, wrap=True)
    panel.set_xlabel(label, parse_math=False)
    panel.set_ylabel("expected total cost")
    panel.legend(fontsize=8, loc="lower right", framealpha=0.8, edgecolor="none")
    panel.spines[["top", "right"]].set_visible(False)
