"""Drawings of a lattice: SVG, a self-contained HTML page, GraphML.

Sets of the same size share a band, with the largest sets on top and the empty set at the bottom, as
in the paper's Figure 3. Within a band, a set is near the middle of its direct subsets, so that few
edges cross. A band that is too wide for the page is broken into rows. With values, each set shows
its worth and its cost, and the set of highest benefit is marked. Of a lattice of more than
`MAX_DRAWN` sets, the best sets of each level are drawn (`lattice_levels`), or, without values, one
bar for each level.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from voilattice.drawing.labels import NO_BREAK, set_labels, set_name
from voilattice.drawing.lattice_levels import describe_worth, equation, levels_svg
from voilattice.drawing.pages import TRACE, page
from voilattice.drawing.svg import INK, MUTED, picture, write_text
from voilattice.lattice.lattice import Lattice
from voilattice.valuation.lattice_levels import way_to_the_best
from voilattice.valuation.lattice_values import LatticeValues
from voilattice.wording import count_noun, in_currency, round_count

__all__ = ["MAX_DRAWN", "lattice_body", "lattice_graphml", "lattice_html", "lattice_svg"]

MAX_DRAWN = 150

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

BAND = "#f4f6f9"
EDGE = 'stroke="#8b97a8" stroke-width="1" opacity=".45"'
WAY = "#2e7d4f"
WAY_EDGE = f'stroke="{WAY}" stroke-width="2.4" opacity=".9"'
BAR, EVERY = "#4c78a8", "#dde4ee"

# What happens when a set is pointed at, in a page of its own.
TRACED = """
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
    hint = "Point at a set, or move to it with the Tab key, to see its subsets and supersets."
    if len(lattice) > MAX_DRAWN:
        hint = "There are too many sets to draw each of them. " + (
            "There is a bar for each number of features: dark for the irreducible sets, light for "
            "all sets."
            if values is None
            else "Of each number of features, those of highest benefit are drawn."
        )
    body = f"""
<p>{hint}</p>
{lattice_body(lattice, values)}
<script>{TRACE}</script>"""
    style = f".picture {{ overflow-x: auto; margin-top: 1rem; }} svg {{ display: block; }}{TRACED}"
    return page(lattice.problem.title or "Lattice", style, body)


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
    worth = describe_worth(best.evi, best.cost, problem.currency)
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
    if len(lattice) > MAX_DRAWN and values is not None:
        return levels_svg(values, f"The lattice by level: {_limited(lattice)}")
    if len(lattice) > MAX_DRAWN:
        return _summary(lattice)
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
        s: _Text(label, equation(*worth[s]) if worth else "")
        for s, label in set_labels(list(lattice), problem.label).items()
    }
    boxes, width, shapes, y = _layout(lattice, below, texts)
    number = {s: k for k, s in enumerate(boxes)}
    way = [] if values is None else way_to_the_best(values)
    for larger, subsets in below.items():
        a = boxes[larger]
        for smaller in subsets:
            b = boxes[smaller]
            is_marked = larger in way and smaller in way
            marked, look = (" way", WAY_EDGE) if is_marked else ("", EDGE)
            shapes.append(
                f'<line class="edge{marked}" {look} data-from="{number[larger]}" '
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
        title += f": {describe_worth(*worth[s], problem.currency)}" if worth else ""
        title += " (cannot be acquired as it is)" if s in barred else ""
        shapes.append(
            f'<g class="{" ".join(kinds)}" data-node="{number[s]}" tabindex="0">'
            f"<title>{escape(title)}</title>"
            f'<rect {_look(kinds)} x="{box.x - box.width / 2:.1f}" y="{box.y:g}" '
            f'width="{box.width:.1f}" height="{box.height:g}" rx="5"/>'
            f"{_written(texts[s], box, kinds)}</g>"
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
    title = f"The lattice: {_limited(lattice)}"
    return picture([*shapes, *lines], width, y + MARGIN, title, "voilattice")


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
            f'<rect class="band" fill="{BAND}" x="{MARGIN}" y="{y - 10:g}" '
            f'width="{width - 2 * MARGIN:g}" height="{height + 20:g}" rx="6"/>'
            + write_text(MARGIN + 10, y + 17, _features(size), fill=MUTED, kind="size")
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


def _look(kinds: Sequence[str]) -> str:
    """Return how the box of a set looks: a root, the core, on the way, the best, or barred."""
    fill = "#cfeedb" if "best" in kinds else "#ffe3b3" if "core" in kinds else "#fff"
    stroke = WAY if "way" in kinds else "#1f3a5f" if "root" in kinds else MUTED
    width = 2.5 if "root" in kinds else 1
    dashes = ' stroke-dasharray="5 3"' if "barred" in kinds else ""
    return f'class="box" fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"{dashes}'


def _written(text: _Text, box: _Box, kinds: Sequence[str]) -> str:
    """Return the lines in a box, vertically centered."""
    y = box.y + 17 + (box.height - text.height) / 2
    lines, ink = [], MUTED if "barred" in kinds else INK
    for line in text.label:
        lines.append(write_text(box.x, y, line, fill=ink, anchor="middle", kind="label"))
        y += LINE_HEIGHT
    if text.worth:
        ink, weight = (INK, 600) if "best" in kinds else (MUTED, 400)
        worth = write_text(
            box.x, y - 1, text.worth,
            size=10.5, fill=ink, anchor="middle", weight=weight, kind="worth",
        )  # fmt: skip
        lines.append(worth)
    return "".join(lines)


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


def _summary(lattice: Lattice) -> str:
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
        share = f"{sizes[size]:,} of {round_count(every)} ({100 * sizes[size] / every:.3g} %)"
        shapes.append(
            write_text(MARGIN, y + 17, _features(size), fill=MUTED, kind="size")
            + f'<rect class="all" fill="{EVERY}" x="{x}" y="{y:g}" width="{length(every):.1f}" '
            f'height="{BOX_HEIGHT}" rx="3"/>'
            f'<rect class="bar" fill="{BAR}" x="{x}" y="{y:g}" width="{length(sizes[size]):.1f}" '
            f'height="{BOX_HEIGHT}" rx="3"/>'
            + write_text(x + length(every) + 10, y + 17, share, fill=MUTED, kind="size")
        )
        y += BOX_HEIGHT + 8
    y += 14
    legend = "dark: irreducible sets · light: all sets of that size · lengths are logarithmic"
    if _barred(lattice):
        legend += f" · {_feasible_in_words(lattice)}"
    lines, y = _paragraph(legend, int((MAX_WIDTH - 2 * MARGIN) / CHARACTER), MARGIN, y)
    title = f"The lattice by level: {_limited(lattice)}"
    return picture([*shapes, *lines], MAX_WIDTH, y + MARGIN, title, "voilattice")


def _paragraph(text: str, room: int, x: float, y: float) -> tuple[list[str], float]:
    """Return the lines of a text, `room` characters wide, and the position of the last line."""
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    shapes = [
        write_text(x, y + k * LEGEND_HEIGHT, line.removesuffix(" ·"), fill=MUTED, kind="size")
        for k, line in enumerate(lines)
    ]
    return shapes, y + max(len(lines) - 1, 0) * LEGEND_HEIGHT


def _row_width(row: Sequence[frozenset[str]], texts: Mapping[frozenset[str], _Text]) -> float:
    return sum(texts[s].width for s in row) + BOX_GAP * (len(row) - 1)


def _features(size: int) -> str:
    return count_noun(size, "feature")
