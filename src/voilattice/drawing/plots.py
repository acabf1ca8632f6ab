"""Plots like Figures 4 to 8 of the paper: what policies save along a sweep of stakes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from voilattice.drawing.reports import inline_svg
from voilattice.drawing.svg import without_styles
from voilattice.errors import InputError
from voilattice.extras import need_extra
from voilattice.policy.comparison import AS_GIVEN, ComparisonRow
from voilattice.wording import in_currency

__all__ = ["draw_savings", "figure_svg", "new_figure", "plot_savings", "save_figure", "savings_svg"]

STYLES: dict[str, dict[str, Any]] = {
    "markov-blanket": {"color": "#8b97a8", "linestyle": "--"},
    "greedy": {"color": "#4c78a8", "linestyle": "-."},
    "greedy-la": {"color": "#b5510a", "linestyle": "-"},
    "batch": {"color": "#54a24b", "linestyle": ":"},
    "optimal": {"color": "#1b2430", "linestyle": "-", "linewidth": 1.1},
}


def plot_savings(
    rows: Iterable[ComparisonRow], title: str, path: str | Path, currency: str = ""
) -> None:
    """Plot the savings over deciding at once, a panel for each kind of stakes.

    The extension chooses one of matplotlib's formats; without an extension it is PNG.
    """
    save_figure(_savings_figure(rows, title, currency), path)


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a figure to a file whose extension chooses the format; without one it is PNG."""
    kind = Path(path).suffix.lower().removeprefix(".") or "png"
    try:
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(path, format=kind, dpi=150, metadata=metadata)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be written: {error}") from None


def savings_svg(rows: Iterable[ComparisonRow], title: str, currency: str = "") -> str:
    """Return the same plot as SVG for use inside a page."""
    return figure_svg(_savings_figure(rows, title, currency))


def figure_svg(figure: Any) -> str:
    """Return a figure as SVG for use inside a page, without style sheets."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return without_styles(inline_svg(text.getvalue()))


def _savings_figure(rows: Iterable[ComparisonRow], title: str, currency: str) -> Any:
    rows = list(rows)
    kinds = list(dict.fromkeys(row.kind for row in rows))
    figure = new_figure(5.2 * len(kinds), 4.2)
    panels = figure.subplots(1, len(kinds), squeeze=False)[0]
    for panel, kind in zip(panels, kinds, strict=True):
        lines: dict[str, tuple[list[float], list[float]]] = {}
        for row in rows:
            if row.kind == kind and row.policy != "none" and row.savings is not None:
                x, y = lines.setdefault(row.policy, ([], []))
                x.append(row.expected)
                y.append(row.savings)
        whose = "the problem's own" if kind == AS_GIVEN else kind
        draw_savings(panel, lines, f"{whose} misclassification costs", currency)
    # The title comes from a file: a dollar sign in it does not mean mathematics.
    figure.suptitle(title, fontsize=11, parse_math=False)
    return figure


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure; the same numbers always give the same SVG."""
    need_extra("plots", "a plot")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "voilattice"
    return Figure(figsize=(width, height), layout="constrained")


def draw_savings(
    panel: Any,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    title: str,
    currency: str = "",
) -> None:
    """Draw a line for each policy: its savings along the a-priori EMC."""
    for name, (x, y) in lines.items():
        panel.plot(x, y, label=name, **STYLES.get(name, {}))
    panel.axhline(0, color="#1b2430", linewidth=0.6)
    panel.set_title(title, fontsize=10)
    # A currency may be a dollar sign, which does not mean mathematics either.
    stakes = in_currency("a-priori expected misclassification cost", currency)
    panel.set_xlabel(stakes, parse_math=False)
    panel.set_ylabel(in_currency("savings over no acquisition", currency), parse_math=False)
    # Savings rise with the stakes, and matplotlib's own search for a place warns when it is slow.
    panel.legend(frameon=False, fontsize=9, loc="upper left")
    panel.spines[["top", "right"]].set_visible(False)
