"""A large lattice on one page: the best sets of each level, and the way to the best set.

Each set has its worth, its price and its benefit. The largest sets are on top, as in the drawing of
a whole lattice (`drawing.lattice`).
"""

from __future__ import annotations

from html import escape
from itertools import pairwise

from voilattice.drawing.labels import set_labels, set_name
from voilattice.drawing.svg import INK, MUTED, picture, write_text
from voilattice.valuation.lattice_levels import Level, top_by_level, way_to_the_best
from voilattice.valuation.lattice_values import LatticeValues
from voilattice.valuation.valuation import Value
from voilattice.wording import count_noun, format_amount, in_currency

__all__ = ["describe_worth", "equation", "levels_svg"]

TOP = 4  # sets of a level
MARGIN = 24
LEVEL_LABEL = 104
BOX_WIDTH = 238
BOX_GAP = 12
MORE = 88  # room for "and 120 more"
LINE_HEIGHT = 15
LEVEL_GAP = 30
WAY = "#2e7d4f"


def levels_svg(values: LatticeValues, title: str) -> str:
    """Return the best sets of each level as a picture."""
    problem, way = values.lattice.problem, way_to_the_best(values)
    levels = [_shown(level, set(way)) for level in top_by_level(values, TOP, with_way=True)]
    labels = set_labels([v.features for level in levels for v in level.sets], problem.label)
    width = 2 * MARGIN + LEVEL_LABEL + TOP * (BOX_WIDTH + BOX_GAP) + MORE
    shapes, boxes, middles, y = [], [], {}, float(MARGIN)
    for level in reversed(levels):
        height = 24 + LINE_HEIGHT * max(len(labels[v.features]) for v in level.sets) + LINE_HEIGHT
        shapes.append(
            f'<rect class="band" fill="#f4f6f9" x="{MARGIN}" y="{y:g}" '
            f'width="{width - 2 * MARGIN:g}" height="{height + 16:g}" rx="6"/>'
            + write_text(MARGIN + 10, y + 24, count_noun(level.size, "feature"), weight=600)
            + write_text(MARGIN + 10, y + 41, count_noun(level.count, "set"), fill=MUTED)
        )
        x = float(MARGIN + LEVEL_LABEL)
        for value in level.sets:
            lines = labels[value.features]
            kind = "best" if value.features == way[0] else "way" if value.features in way else ""
            boxes.append(_box(value, lines, x, y + 8, height, kind))
            middles[value.features] = (x + BOX_WIDTH / 2, y + 8, y + 8 + height)
            x += BOX_WIDTH + BOX_GAP
        if (more := level.count - len(level.sets)) > 0:
            boxes.append(write_text(x + 2, y + 8 + height / 2, f"and {more:,} more", fill=MUTED))
        y += height + 16 + LEVEL_GAP
    for larger, smaller in pairwise(way):
        (x1, _, y1), (x2, y2, _) = middles[larger], middles[smaller]
        shapes.append(
            f'<path class="edge way" fill="none" stroke="{WAY}" stroke-width="2.4" '
            f'd="M{x1:.1f} {y1:.1f} C{x1:.1f} {(y1 + y2) / 2:.1f} {x2:.1f} {(y1 + y2) / 2:.1f} '
            f'{x2:.1f} {y2:.1f}"/>'
        )
    figures = in_currency("small figures: EVI − cost = benefit", problem.currency)
    legend = [
        "green: the set of highest benefit, and a way to it",
        "of each level the sets of highest benefit, the best one first",
        figures,
    ]
    if problem.constraints:
        legend.append("dashed: cannot be acquired as it is")
    for line in (" · ".join(legend[:2]), " · ".join(legend[2:])):
        shapes.append(write_text(MARGIN + 10, y, line, fill=MUTED))
        y += 18
    return picture([*shapes, *boxes], width, y + MARGIN - 10, title, "voilattice levels")


def _shown(level: Level, way: set[frozenset[str]]) -> Level:
    """Return the level with as many sets as fit: those on the way stay."""
    n_others = TOP - sum(v.features in way for v in level.sets)
    others = [v for v in level.sets if v.features not in way][:n_others]
    kept = tuple(v for v in level.sets if v.features in way or v in others)
    return Level(level.size, level.count, kept)


def _box(value: Value, lines: tuple[str, ...], x: float, y: float, height: float, kind: str) -> str:
    fill = "#cfeedb" if kind == "best" else "#fff"
    stroke, thick = (WAY, 2) if kind else (MUTED, 1)
    dashes = "" if value.feasible else ' stroke-dasharray="5 3"'
    middle = x + BOX_WIDTH / 2
    top = y + (height - LINE_HEIGHT * (len(lines) + 1)) / 2 + 11
    texts = [
        write_text(middle, top + LINE_HEIGHT * k, line, anchor="middle", kind="label")
        for k, line in enumerate(lines)
    ]
    worth = equation(value.evi, value.cost)
    texts.append(
        write_text(
            middle, top + LINE_HEIGHT * len(lines), worth, size=10.5, anchor="middle",
            fill=INK if kind == "best" else MUTED, weight=600 if kind == "best" else 400,
            kind="worth",
        )
    )  # fmt: skip
    problem = value.problem
    label, currency = (problem.label, problem.currency) if problem else (str, "")
    title = f"{set_name(map(label, value.features))}: "
    title += describe_worth(value.evi, value.cost, currency)
    title += " " + " ".join(value.obstacles) if value.obstacles else ""
    return (
        f'<g class="node {kind}"><title>{escape(title)}</title>'
        f'<rect class="box" fill="{fill}" stroke="{stroke}" stroke-width="{thick}"{dashes} '
        f'x="{x:.1f}" y="{y:.1f}" width="{BOX_WIDTH}" height="{height:g}" rx="5"/>'
        f"{''.join(texts)}</g>"
    )


def equation(evi: float, cost: float) -> str:
    """Return worth less price as an equation."""
    return f"{_amount(evi)} − {_amount(cost)} = {_amount(evi - cost)}"


def describe_worth(evi: float, cost: float, currency: str) -> str:
    """Return worth, price and benefit in words."""
    worth, price, left = (_amount(amount, currency) for amount in (evi, cost, evi - cost))
    return f"EVI {worth}, cost {price}, benefit {left}"


def _amount(amount: float, currency: str = "") -> str:
    rounded = round(amount, 2) + 0.0  # 0 has no sign
    return f"{'−' if rounded < 0 else ''}{format_amount(abs(rounded), currency)}"
