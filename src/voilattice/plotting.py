"""Plots like Figures 4 to 8 of the paper: what policies save along a sweep of stakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from voilattice.errors import InputError
from voilattice.evaluation import Comparison

__all__ = ["plot_savings"]

STYLES = {
    "markov-blanket": {"color": "#8b97a8", "linestyle": "--"},
    "greedy": {"color": "#4c78a8", "linestyle": "-."},
    "greedy-la": {"color": "#b5510a", "linestyle": "-"},
    "batch": {"color": "#54a24b", "linestyle": ":"},
}


def plot_savings(rows: Sequence[Comparison], title: str, path: str | Path) -> None:
    """Plot the savings over deciding at once, a panel for each kind of stakes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "voilattice"  # the same file from the same numbers
    kinds = list(dict.fromkeys(row.kind for row in rows))
    figure = Figure(figsize=(5.2 * len(kinds), 4.2), layout="constrained")
    panels = figure.subplots(1, len(kinds), squeeze=False)[0]
    for panel, kind in zip(panels, kinds, strict=True):
        here = [row for row in rows if row.kind == kind and row.policy != "none"]
        for name in dict.fromkeys(row.policy for row in here):
            points = [(row.expected, row.savings) for row in here if row.policy == name]
            panel.plot(*zip(*points, strict=True), label=name, **STYLES.get(name, {}))
        panel.axhline(0, color="#1b2430", linewidth=0.6)
        panel.set_title(f"{kind} misclassification costs", fontsize=10)
        panel.set_xlabel("a-priori expected misclassification cost")
        panel.set_ylabel("savings over no acquisition")
        panel.legend(frameon=False, fontsize=9)
        panel.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, fontsize=11)
    try:
        figure.savefig(
            path, dpi=150, metadata={"Date": None} if str(path).endswith("svg") else None
        )
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be written: {error}") from None
