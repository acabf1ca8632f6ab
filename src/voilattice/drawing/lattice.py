"""Drawings of a lattice: SVG, a self-contained HTML page, GraphML.

Sets of the same size share a band, with the largest sets on top and the empty set at the bottom, as
in the paper's Figure 3. Within a band, a set is near the middle of its direct subsets, so that few
edges cross. A band that is too wide for the page is broken into rows. With values, each set shows
its worth and its cost, and the set of highest benefit is marked. For a lattice of more than
`MAX_DRAWN` sets, one bar for each level is drawn instead.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from voilattice.drawing.labels import NO_BREAK, set_labels, set_name
from voilattice.drawing.pages import TRACE, page
from voilattice.lattice.lattice import Lattice
from voilattice.valuation.lattice_values import LatticeValues
from voilattice.wording import count_noun, format_amount, in_currency, round_count

__all__ = ["MAX_DRAWN", "lattice_body", "lattice_graphml", "lattice_html", "lattice_svg"]

MAX_DRAWN = 400

MAX_WIDTH = 1160  # the server's page shows this width completely in a window of 1280
MIN_WIDTH = 520
MARGIN = 24
BAND_LABEL = 96  # room for "12 features" on the left
BOX_HEIGHT = 26  # with one line
LINE_HEIGHT = 15
WORTH_HEIGHT = 14
LEGEND_HEIGHT = 18
ROW_GAP = 14
BAND_GAP = 46
BOX_GAP = 14
CHARACTER = 7.2  # of the 12 px type face, on average
WORTH_CHARACTER = 6.2  # of the 10.5 px type face: digits are wide
ROOM = MAX_WIDTH - 2 * MARGIN - BAND_LABEL - 10  # for the boxes of a row

STYLE = """
.voilattice { font: 12px system-ui, 'DejaVu Sans', sans-serif; background: #fff; }
.voilattice .band { fill: #f4f6f9; }
.voilattice .size { fill: #5b6675; }
.voilattice .edge { stroke: #8b97a8; stroke-width: 1; opacity: .45; }
.voilattice .box { fill: #fff; stroke: #5b6675; }
.voilattice .root .box { stroke: #1f3a5f; stroke-width: 2.5; }
.voilattice .core .box { fill: #ffe3b3; }
.voilattice .way .box { stroke: #2e7d4f; }
.voilattice .best .box { fill: #cfeedb; }
.voilattice .barred .box { stroke-dasharray: 5 3; }
.voilattice .barred .label { fill: #5b6675; }
.voilattice .edge.way { stroke: #2e7d4f; stroke-width: 2.4; opacity: .9; }
.voilattice .label { fill: #1b2430; text-anchor: middle; }
.voilattice .worth { fill: #5b6675; text-anchor: middle; font-size: 10.5px; }
.voilattice .best .worth { fill: #1b2430; font-weight: 600; }
.voilattice .bar { fill: #4c78a8; }
.voilattice .all { fill: #dde4ee; }
.voilattice.picked .node { opacity: .22; }
.voilattice.picked .edge { opacity: .06; }
.voilattice.picked .node.lit { opacity: 1; }
.voilattice.picked .edge.lit { opacity: 1; stroke: #b5510a; stroke-width: 1.6; }
"""


@dataclass(frozen=True, slots=True)
class _Text:
    """The text in the box of a set."""

    label: tuple[str, ...]
    worth: str  # empty: the sets are not valued

    @property
    def width(self) -> float:
        """The width of the box."""
        label = CHARACTER * max(map(len, self.label))
        return max(label, WORTH_CHARACTER * len(self.worth)) + 16

    @property
    def height(self) -> float:
        """The least height of the box."""
        return BOX_HEIGHT + LINE_HEIGHT * (len(self.label) - 1) + WORTH_HEIGHT * bool(self.worth)


@dataclass(frozen=True, slots=True)
class _Box:
    x: float  # of the middle
    y: float  # of the top
    width: float
    height: float


def lattice_svg(lattice: Lattice, values: LatticeValues | None = None) -> str:
    """Return the lattice as an SVG picture.

    With `values`, each set shows what it is worth, and the best set and a path to it are marked.
    """
    drawn = _drawn(lattice, values)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}\n'


def lattice_html(lattice: Lattice, values: LatticeValues | None = None) -> str:
    """Return the lattice as a self-contained page; pointing at a set highlights related sets.

    `values` are as in `lattice_svg`.
    """
    hint = (
        "There are too many sets to draw each of them. There is a bar for each number of "
        "features: dark for the irreducible sets, light for all sets."
        if len(lattice) > MAX_DRAWN
        else "Point at a set, or move to it with the Tab key, to see its subsets and supersets."
    )
    body = f"""
<p>{hint}</p>
{lattice_body(lattice, values)}
<script>{TRACE}</script>"""
    style = ".picture { overflow-x: auto; margin-top: 1rem; } .picture svg { display: block; }"
    return page(escape(lattice.problem.title or "Lattice"), style, body)


def lattice_body(lattice: Lattice, values: LatticeValues | None = None) -> str:
    """Return the lattice in a sentence and a picture, to stand inside a page."""
    known = (
        f"given {set_name(map(lattice.problem.label, lattice.evidence))}"
        if lattice.evidence
        else "with nothing known yet"
    )
    core = set_name(map(lattice.problem.label, lattice.acquirable_core))
    able = f" {_feasible_in_words(lattice)}." if _barred(lattice) else ""
    return f"""<p>The value of information lattice {escape(known)}: {_counted(lattice)}.
Acquirable core: {escape(core)}.{able}</p>
{_best_in_words(values)}<div class="picture">{_drawn(lattice, values)}</div>"""


def _best_in_words(values: LatticeValues | None) -> str:
    if values is None:
        return ""
    best, problem = values.top(1)[0], values.lattice.problem
    worth = _worth_in_words(best.evi, best.cost, problem.currency)
    name = set_name(map(problem.label, best.features))
    why = "".join(f" {line}" for line in best.obstacles)
    return f"<p>Highest benefit: <b>{escape(name)}</b>: {escape(worth)}.{escape(why)}</p>\n"


def lattice_graphml(lattice: Lattice) -> Iterator[str]:
    """Return the lattice as lines of GraphML, one by one, so that memory does not grow.

    The label of a node lists the names of its features; the size is their number. If the problem
    has constraints, each node says whether it can be acquired as it is.
    """
    feasible = lattice.feasible if lattice.problem.constraints else None
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield '<key id="label" for="node" attr.name="label" attr.type="string"/>\n'
    yield '<key id="size" for="node" attr.name="size" attr.type="int"/>\n'
    if feasible is not None:
        yield '<key id="feasible" for="node" attr.name="feasible" attr.type="boolean"/>\n'
    yield '<graph edgedefault="directed">\n'
    for number, s in enumerate(lattice):
        data = f'<data key="label">{escape(set_name(s))}</data><data key="size">{len(s)}</data>'
        if feasible is not None:
            data += f'<data key="feasible">{str(bool(feasible[number])).lower()}</data>'
        yield f'<node id="n{number}">{data}</node>\n'
    for above, below in lattice.numbered_edges():
        yield f'<edge source="n{above}" target="n{below}"/>\n'
    yield "</graph>\n</graphml>\n"


def _barred(lattice: Lattice) -> set[frozenset[str]]:
    """Return the sets that cannot be acquired as they are."""
    if lattice.feasible is None or lattice.feasible.all():
        return set()
    return {s for s, is_feasible in zip(lattice, lattice.feasible, strict=True) if not is_feasible}


def _feasible_in_words(lattice: Lattice) -> str:
    n_feasible = len(lattice) - len(_barred(lattice))
    return f"{n_feasible:,} of these sets can be acquired as they are"


def _limited(lattice: Lattice) -> str:
    limit = f" of at most {_features(lattice.max_size or 0)}" if lattice.is_cut else ""
    return count_noun(len(lattice), "irreducible set") + limit


def _counted(lattice: Lattice) -> str:
    if lattice.is_cut:
        return _limited(lattice)
    fewer = 100 * (1 - len(lattice) / lattice.n_subsets)
    return f"{_limited(lattice)} among {lattice.n_subsets:,} ({fewer:.3g} % fewer)"


def _drawn(lattice: Lattice, values: LatticeValues | None) -> str:
    if len(lattice) > MAX_DRAWN:
        return _summary(lattice, values)
    return _diagram(lattice, values)


def _diagram(lattice: Lattice, values: LatticeValues | None) -> str:
    problem = lattice.problem
    below: dict[frozenset[str], list[frozenset[str]]] = {s: [] for s in lattice}
    for larger, smaller in lattice.edges():
        below[larger].append(smaller)
    worth: dict[frozenset[str], tuple[float, float]] = {}
    if values is not None:
        found = zip(lattice, values.evi.tolist(), values.cost.tolist(), strict=True)
        worth = {s: (evi, cost) for s, evi, cost in found}
    texts = {
        s: _Text(label, _equation(*worth[s]) if worth else "")
        for s, label in set_labels(list(lattice), problem.label).items()
    }
    boxes, width, shapes, y = _layout(lattice, below, texts)
    number = {s: k for k, s in enumerate(boxes)}
    way = [] if values is None else _way_to_the_best(values, worth, below)
    for larger, subsets in below.items():
        a = boxes[larger]
        for smaller in subsets:
            b = boxes[smaller]
            marked = " way" if larger in way and smaller in way else ""
            shapes.append(
                f'<line class="edge{marked}" data-from="{number[larger]}" '
                f'data-to="{number[smaller]}" '
                f'x1="{a.x:.1f}" y1="{a.y + a.height:g}" x2="{b.x:.1f}" y2="{b.y:g}"/>'
            )
    roots, core, barred = set(lattice.roots), lattice.acquirable_core, _barred(lattice)
    for s, box in boxes.items():
        kinds = ["node", *(["root"] if s in roots else []), *(["core"] if s == core else [])]
        kinds += ["way"] if s in way else []
        kinds += ["best"] if way and s == way[0] else []
        kinds += ["barred"] if s in barred else []
        title = set_name(map(problem.label, s))
        title += f": {_worth_in_words(*worth[s], problem.currency)}" if worth else ""
        title += " (cannot be acquired as it is)" if s in barred else ""
        shapes.append(
            f'<g class="{" ".join(kinds)}" data-node="{number[s]}" tabindex="0">'
            f"<title>{escape(title)}</title>"
            f'<rect class="box" x="{box.x - box.width / 2:.1f}" y="{box.y:g}" '
            f'width="{box.width:.1f}" height="{box.height:g}" rx="5"/>'
            f"{_written(texts[s], box)}</g>"
        )
    y += 4
    marks = ["thick border: no irreducible superset"] if roots else []
    is_best = bool(way) and core == way[0]
    marks += ["orange: the acquirable core"] if core in boxes and not is_best else []
    best = "the acquirable core, of highest benefit" if is_best else "the set of highest benefit"
    marks += [f"green: {best}, and a way to it"] if way else []
    marks += ["dashed: cannot be acquired as it is"] if barred else []
    figures = in_currency("small figures: EVI − cost = benefit", problem.currency)
    marks += [figures] if worth else []
    # A line must end between two marks.
    legend = " · ".join(mark.replace(" ", NO_BREAK) for mark in marks)
    room = int((width - 2 * MARGIN - 20) / CHARACTER)
    lines, y = _paragraph(legend, room, MARGIN + 10, y)
    return _svg([*shapes, *lines], width, y + MARGIN, f"The lattice: {_limited(lattice)}")


def _layout(
    lattice: Lattice,
    below: Mapping[frozenset[str], list[frozenset[str]]],
    texts: Mapping[frozenset[str], _Text],
) -> tuple[dict[frozenset[str], _Box], float, list[str], float]:
    """Return the boxes, the width of the drawing, the bands behind the boxes, and their end."""
    levels = [list(lattice.level(size)) for size in range(len(lattice.level_sizes))]
    rows = _rows(levels, below, texts)
    widest = max(_row_width(row, texts) for level in rows for row in level)
    width = max(widest + 2 * MARGIN + BAND_LABEL + 10, MIN_WIDTH)
    boxes: dict[frozenset[str], _Box] = {}
    bands: list[str] = []
    y = float(MARGIN)
    for size in reversed(range(len(levels))):
        box_height = max(texts[s].height for s in levels[size])
        height = len(rows[size]) * (box_height + ROW_GAP) - ROW_GAP
        bands.append(
            f'<rect class="band" x="{MARGIN}" y="{y - 10:g}" width="{width - 2 * MARGIN:g}" '
            f'height="{height + 20:g}" rx="6"/>'
            f'<text class="size" x="{MARGIN + 10}" y="{y + 17:g}">{_features(size)}</text>'
        )
        for row in rows[size]:
            room = width - 2 * MARGIN - BAND_LABEL
            x = MARGIN + BAND_LABEL + (room - _row_width(row, texts)) / 2
            for s in row:
                boxes[s] = _Box(x + texts[s].width / 2, y, texts[s].width, box_height)
                x += texts[s].width + BOX_GAP
            y += box_height + ROW_GAP
        y += BAND_GAP - ROW_GAP
    return boxes, width, bands, y


def _written(text: _Text, box: _Box) -> str:
    """Return the lines in a box, vertically centered."""
    y = box.y + 17 + (box.height - text.height) / 2
    lines = []
    for line in text.label:
        lines.append(f'<text class="label" x="{box.x:.1f}" y="{y:g}">{escape(line)}</text>')
        y += LINE_HEIGHT
    if text.worth:
        lines.append(f'<text class="worth" x="{box.x:.1f}" y="{y - 1:g}">{text.worth}</text>')
    return "".join(lines)


def _equation(evi: float, cost: float) -> str:
    return f"{_amount(evi)} − {_amount(cost)} = {_amount(evi - cost)}"


def _worth_in_words(evi: float, cost: float, currency: str) -> str:
    worth, price, left = (_amount(amount, currency) for amount in (evi, cost, evi - cost))
    return f"EVI {worth}, cost {price}, benefit {left}"


def _amount(amount: float, currency: str = "") -> str:
    rounded = round(amount, 2) + 0.0  # 0 has no sign
    return f"{'−' if rounded < 0 else ''}{format_amount(abs(rounded), currency)}"


def _way_to_the_best(
    values: LatticeValues,
    worth: Mapping[frozenset[str], tuple[float, float]],
    below: Mapping[frozenset[str], list[frozenset[str]]],
) -> list[frozenset[str]]:
    """Return the set of highest benefit, and its best direct subsets down to the empty set."""
    way = [values.top(1)[0].features]
    while below[way[-1]]:
        way.append(max(below[way[-1]], key=lambda s: worth[s][0] - worth[s][1]))
    return way


def _rows(
    levels: Sequence[Sequence[frozenset[str]]],
    below: Mapping[frozenset[str], list[frozenset[str]]],
    texts: Mapping[frozenset[str], _Text],
) -> list[list[list[frozenset[str]]]]:
    """Order each level by the positions of direct subsets, and break it into rows that fit."""
    place: dict[frozenset[str], float] = {}
    rows = []
    for level in levels:
        middle = {
            s: sum(place[t] for t in below[s]) / len(below[s]) if below[s] else 0.0 for s in level
        }
        ordered = sorted(level, key=lambda s: (middle[s], sorted(s)))
        for k, s in enumerate(ordered):
            place[s] = (k + 0.5) / len(ordered)
        n_rows = math.ceil(_row_width(ordered, texts) / ROOM)
        per_row = math.ceil(len(ordered) / n_rows)
        broken: list[list[frozenset[str]]] = [[]]
        for s in ordered:
            is_wide = _row_width([*broken[-1], s], texts) > ROOM
            if broken[-1] and (len(broken[-1]) >= per_row or is_wide):
                broken.append([])
            broken[-1].append(s)
        rows.append(broken)
    return rows


def _summary(lattice: Lattice, values: LatticeValues | None) -> str:
    sizes, n = lattice.level_sizes, len(lattice.acquirable)
    shapes: list[str] = []
    room = ROOM - 260
    most = max(math.comb(n, size) for size in range(len(sizes)))

    # Counts differ by powers of ten, so the length of a bar is the logarithm of its count.
    def length(count: int) -> float:
        return max(room * math.log(count + 1) / math.log(most + 1), 2)

    y = float(MARGIN)
    for size in reversed(range(len(sizes))):
        every = math.comb(n, size)
        x = MARGIN + BAND_LABEL
        shapes.append(
            f'<text class="size" x="{MARGIN}" y="{y + 17:g}">{_features(size)}</text>'
            f'<rect class="all" x="{x}" y="{y:g}" width="{length(every):.1f}" '
            f'height="{BOX_HEIGHT}" rx="3"/>'
            f'<rect class="bar" x="{x}" y="{y:g}" width="{length(sizes[size]):.1f}" '
            f'height="{BOX_HEIGHT}" rx="3"/>'
            f'<text class="size" x="{x + length(every) + 10:.1f}" y="{y + 17:g}">'
            f"{sizes[size]:,} of {round_count(every)} ({100 * sizes[size] / every:.3g} %)</text>"
        )
        y += BOX_HEIGHT + 8
    y += 14
    legend = "dark: irreducible sets · light: all sets of that size · lengths are logarithmic"
    if values is not None:
        best = values.top(1)[0]
        worth = _worth_in_words(best.evi, best.cost, lattice.problem.currency)
        name = set_name(map(lattice.problem.label, best.features))
        legend += f" · highest benefit: {name}: {worth}"
    if _barred(lattice):
        legend += f" · {_feasible_in_words(lattice)}"
    lines, y = _paragraph(legend, int((MAX_WIDTH - 2 * MARGIN) / CHARACTER), MARGIN, y)
    title = f"The lattice by level: {_limited(lattice)}"
    return _svg([*shapes, *lines], MAX_WIDTH, y + MARGIN, title)


def _paragraph(text: str, room: int, x: float, y: float) -> tuple[list[str], float]:
    """Return the lines of a text, `room` characters wide, and the position of the last line."""
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    shapes = [
        f'<text class="size" x="{x:g}" y="{y + k * LEGEND_HEIGHT:g}">'
        f"{escape(line.removesuffix(' ·'))}</text>"
        for k, line in enumerate(lines)
    ]
    return shapes, y + max(len(lines) - 1, 0) * LEGEND_HEIGHT


def _svg(shapes: Iterable[str], width: float, height: float, title: str) -> str:
    return (
        f'<svg class="voilattice" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f'<rect width="100%" height="100%" fill="#fff"/>' + "\n".join(shapes) + "</svg>"
    )


def _row_width(row: Sequence[frozenset[str]], texts: Mapping[frozenset[str], _Text]) -> float:
    return sum(texts[s].width for s in row) + BOX_GAP * (len(row) - 1)


def _features(size: int) -> str:
    return count_noun(size, "feature")
