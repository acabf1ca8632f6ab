"""Figures 4 to 8: what each policy saves over no acquisition, four panels for each data set.

The panels are (a) real and symmetric, (b) real and asymmetric, (c) synthetic and symmetric, (d)
synthetic and asymmetric costs: feature costs first, misclassification costs second.
"""

from __future__ import annotations

from collections.abc import Sequence

from voilattice.drawing.plots import draw_savings, figure_svg, new_figure
from voilattice.paper.summary import Curves

__all__ = ["PANELS", "savings_svg"]

PANELS = (
    ("real", "symmetric"),
    ("real", "asymmetric"),
    ("synthetic", "symmetric"),
    ("synthetic", "asymmetric"),
)


def savings_svg(panels: Sequence[Curves]) -> str:
    """Return the figure of one data set as SVG for a page."""
    figure = new_figure(10, 7.4)
    axes = figure.subplots(2, 2).flat
    found = {(panel.costs, panel.kind): panel for panel in panels}
    for letter, axis, key in zip("abcd", axes, PANELS, strict=True):
        panel = found[key]
        lines = {
            policy: (panel.expected.tolist(), panel.savings(policy).tolist())
            for policy in panel.total_cost
            if policy != "none"
        }
        draw_savings(axis, lines, f"({letter}) {key[0]} feature costs, {key[1]} misclassification")
    return figure_svg(figure)
