"""Drawings of a lattice: SVG, a self-contained HTML page, GraphML.

Sets of one size share a band, the largest on top and the empty set below, as in the paper's
Figure 3. Within its band a set stands near the middle of its direct subsets, so edges cross little;
a band that is too wide for the page is broken into rows. A lattice of more than `MAX_DRAWN` sets is
summed up by a bar for each level.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from voilattice.errors import rough
from voilattice.lattice.lattice import Lattice
from voilattice.valuation.lattice_values import LatticeValues

__all__ = ["MAX_DRAWN", "lattice_graphml", "lattice_html", "lattice_svg", "page"]

MAX_DRAWN = 400

MAX_WIDTH = 1280
MIN_WIDTH = 520
MARGIN = 24
BAND_LABEL = 96  # room for "12 features" on the left
BOX_HEIGHT = 26
ROW_GAP = 14
BAND_GAP = 46
BOX_GAP = 14
CHARACTER = 7.2  # of the 12 px type face, on average
MAX_LABEL = 60
MAX_NAME = 28
ROOM = MAX_WIDTH - 2 * MARGIN - BAND_LABEL - 10  # for the boxes of a row

STYLE = """
.voilattice { font: 12px system-ui, 'DejaVu Sans', sans-serif; background: #fff; }
.voilattice .band { fill: #f4f6f9; }
.voilattice .size { fill: #5b6675; }
.voilattice .edge { stroke: #8b97a8; stroke-width: 1; opacity: .45; }
.voilattice .box { fill: #fff; stroke: #5b6675; }
.voilattice .root .box { stroke: #1f3a5f; stroke-width: 2; }
.voilattice .core .box { fill: #ffe3b3; }
.voilattice .way .box { stroke: #2e7d4f; stroke-width: 2; }
.voilattice .best .box { fill: #cfeedb; stroke-width: 3; }
.voilattice .edge.way { stroke: #2e7d4f; stroke-width: 2.4; opacity: .9; }
.voilattice .label { fill: #1b2430; text-anchor: middle; }
.voilattice .bar { fill: #4c78a8; }
.voilattice .all { fill: #dde4ee; }
.voilattice.picked .node { opacity: .22; }
.voilattice.picked .edge { opacity: .06; }
.voilattice.picked .node.lit { opacity: 1; }
.voilattice.picked .edge.lit { opacity: 1; stroke: #b5510a; stroke-width: 1.6; }
"""


@dataclass(frozen=True, slots=True)
class _Box:
    x: float  # of the middle
    y: float  # of the top
    width: float


def lattice_svg(lattice: Lattice, values: LatticeValues | None = None) -> str:
    """Return the lattice as an SVG picture.

    With `values`, a set says what it is worth, and the best set and a way to it are marked.
    """
    drawn = _summary(lattice) if len(lattice) > MAX_DRAWN else _diagram(lattice, values)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}\n'


def lattice_html(lattice: Lattice) -> str:
    """Return the lattice as a page without any outside part; a set under the pointer is traced."""
    title = escape(lattice.problem.title or "Lattice")
    n = len(lattice)
    known = (
        f"given {', '.join(sorted(lattice.evidence))}"
        if lattice.evidence
        else "with nothing known yet"
    )
    core = ", ".join(sorted(lattice.acquirable_core)) or "∅"
    drawn = _summary(lattice) if n > MAX_DRAWN else _diagram(lattice, None)
    hint = (
        "Too many sets to draw one by one: a bar for each number of features, dark the "
        "irreducible sets, light all of them."
        if n > MAX_DRAWN
        else "Point at a set, or move to it with the Tab key, to see its subsets and supersets."
    )
    body = f"""
<p>The value of information lattice {escape(known)}: {_counted(lattice)}. Acquirable core:
{escape(core)}.</p>
<p>{hint}</p>
<div class="picture">{drawn}</div>
<script>{_TRACE}</script>"""
    style = ".picture { overflow-x: auto; margin-top: 1rem; } .picture svg { display: block; }"
    return page(title, style, body)


def page(title: str, style: str, body: str) -> str:
    """Return a page without any outside part; `title` is escaped already."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 15px/1.55 system-ui, 'DejaVu Sans', sans-serif; color: #1b2430; margin: 1.5rem; }}
h1 {{ font-size: 1.4rem; margin: 0 0 .3rem; }}
h1, p, li {{ overflow-wrap: anywhere; }}
p {{ margin: .2rem 0; max-width: 70ch; }}
{style}
</style></head><body>
<h1>{title}</h1>{body}
</body></html>
"""


def lattice_graphml(lattice: Lattice) -> Iterator[str]:
    """Return the lattice as lines of GraphML, one after the other, so that memory does not grow.

    A node's label lists its features, its size counts them.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield '<key id="label" for="node" attr.name="label" attr.type="string"/>\n'
    yield '<key id="size" for="node" attr.name="size" attr.type="int"/>\n'
    yield '<graph edgedefault="directed">\n'
    for number, s in enumerate(lattice):
        label = f'<data key="label">{escape(_name(s))}</data>'
        yield f'<node id="n{number}">{label}<data key="size">{len(s)}</data></node>\n'
    for above, below in lattice.numbered_edges():
        yield f'<edge source="n{above}" target="n{below}"/>\n'
    yield "</graph>\n</graphml>\n"


def _limited(lattice: Lattice) -> str:
    limit = f" of at most {_features(lattice.max_size or 0)}" if lattice.is_cut else ""
    return f"{len(lattice):,} irreducible sets{limit}"


def _counted(lattice: Lattice) -> str:
    if lattice.is_cut:
        return _limited(lattice)
    fewer = 100 * (1 - len(lattice) / lattice.n_subsets)
    return f"{_limited(lattice)} among {lattice.n_subsets:,} ({fewer:.3g} % fewer)"


def _diagram(lattice: Lattice, values: LatticeValues | None) -> str:
    below: dict[frozenset[str], list[frozenset[str]]] = {s: [] for s in lattice}
    for larger, smaller in lattice.edges():
        below[larger].append(smaller)
    levels = [list(lattice.level(size)) for size in range(len(lattice.level_sizes))]
    rows = _rows(levels, below)
    widest = max(_row_width(row) for level in rows for row in level)
    width = max(widest + 2 * MARGIN + BAND_LABEL + 10, MIN_WIDTH)
    boxes: dict[frozenset[str], _Box] = {}
    shapes: list[str] = []
    y = float(MARGIN)
    for size in reversed(range(len(levels))):
        height = len(rows[size]) * (BOX_HEIGHT + ROW_GAP) - ROW_GAP
        shapes.append(
            f'<rect class="band" x="{MARGIN}" y="{y - 10:g}" width="{width - 2 * MARGIN:g}" '
            f'height="{height + 20:g}" rx="6"/>'
            f'<text class="size" x="{MARGIN + 10}" y="{y + 17:g}">{_features(size)}</text>'
        )
        for row in rows[size]:
            x = MARGIN + BAND_LABEL + (width - 2 * MARGIN - BAND_LABEL - _row_width(row)) / 2
            for s in row:
                boxes[s] = _Box(x + _box_width(s) / 2, y, _box_width(s))
                x += _box_width(s) + BOX_GAP
            y += BOX_HEIGHT + ROW_GAP
        y += BAND_GAP - ROW_GAP
    number = {s: k for k, s in enumerate(boxes)}
    worth = _worth(lattice, values)
    way = _way_to_the_best(worth, below)
    for larger, subsets in below.items():
        a = boxes[larger]
        for smaller in subsets:
            b = boxes[smaller]
            marked = " way" if larger in way and smaller in way else ""
            shapes.append(
                f'<line class="edge{marked}" data-from="{number[larger]}" '
                f'data-to="{number[smaller]}" '
                f'x1="{a.x:.1f}" y1="{a.y + BOX_HEIGHT:g}" x2="{b.x:.1f}" y2="{b.y:g}"/>'
            )
    roots, core = set(lattice.roots), lattice.acquirable_core
    for s, box in boxes.items():
        kinds = ["node", *(["root"] if s in roots else []), *(["core"] if s == core else [])]
        kinds += ["way"] if s in way else []
        kinds += ["best"] if way and s == way[0] else []
        shapes.append(
            f'<g class="{" ".join(kinds)}" data-node="{number[s]}" tabindex="0">'
            f"<title>{escape(_name(s) + worth.get(s, ('', 0.0))[0])}</title>"
            f'<rect class="box" x="{box.x - box.width / 2:.1f}" y="{box.y:g}" '
            f'width="{box.width:.1f}" height="{BOX_HEIGHT}" rx="5"/>'
            f'<text class="label" x="{box.x:.1f}" y="{box.y + 17:g}">{escape(_label(s))}</text></g>'
        )
    y += 4
    marks = ["thick border: no irreducible superset"] if roots else []
    marks += ["coloured: the acquirable core"] if core in boxes else []
    marks += ["green: the set of highest benefit, and a way to it"] if way else []
    legend = " · ".join(marks)
    shapes.append(f'<text class="size" x="{MARGIN + 10}" y="{y:g}">{legend}</text>')
    return _svg(shapes, width, y + MARGIN, f"The lattice: {_limited(lattice)}")


def _worth(
    lattice: Lattice, values: LatticeValues | None
) -> dict[frozenset[str], tuple[str, float]]:
    """Return what each set is worth, in words, and its benefit."""
    if values is None:
        return {}
    return {
        s: (f": EVI {evi:,.2f}, cost {cost:,.2f}, benefit {evi - cost:,.2f}", float(evi - cost))
        for s, evi, cost in zip(lattice, values.evi, values.cost, strict=True)
    }


def _way_to_the_best(
    worth: Mapping[frozenset[str], tuple[str, float]],
    below: Mapping[frozenset[str], list[frozenset[str]]],
) -> list[frozenset[str]]:
    """Return the set of highest benefit, and its best direct subsets down to the empty set."""
    if not worth:
        return []
    way = [max(worth, key=lambda s: (worth[s][1], -len(s)))]
    while below[way[-1]]:
        way.append(max(below[way[-1]], key=lambda s: worth[s][1]))
    return way


def _rows(
    levels: Sequence[Sequence[frozenset[str]]],
    below: dict[frozenset[str], list[frozenset[str]]],
) -> list[list[list[frozenset[str]]]]:
    """Order each level by where its direct subsets stand, and break it into rows that fit."""
    place: dict[frozenset[str], float] = {}
    rows = []
    for level in levels:
        middle = {
            s: sum(place[t] for t in below[s]) / len(below[s]) if below[s] else 0.0 for s in level
        }
        ordered = sorted(level, key=lambda s: (middle[s], sorted(s)))
        for k, s in enumerate(ordered):
            place[s] = (k + 0.5) / len(ordered)
        n_rows = math.ceil(_row_width(ordered) / ROOM)
        per_row = math.ceil(len(ordered) / n_rows)
        broken: list[list[frozenset[str]]] = [[]]
        for s in ordered:
            if broken[-1] and (len(broken[-1]) >= per_row or _row_width([*broken[-1], s]) > ROOM):
                broken.append([])
            broken[-1].append(s)
        rows.append(broken)
    return rows


def _summary(lattice: Lattice) -> str:
    sizes, n = lattice.level_sizes, len(lattice.acquirable)
    shapes: list[str] = []
    room = ROOM - 260
    most = max(math.comb(n, size) for size in range(len(sizes)))

    # Counts differ by powers of ten: a bar is as long as the logarithm of its count.
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
            f"{sizes[size]:,} of {rough(every)} ({100 * sizes[size] / every:.3g} %)</text>"
        )
        y += BOX_HEIGHT + 8
    y += 14
    legend = "dark: irreducible sets · light: all sets of that size · lengths are logarithmic"
    shapes.append(f'<text class="size" x="{MARGIN}" y="{y:g}">{legend}</text>')
    title = f"The lattice by level: {_limited(lattice)}"
    return _svg(shapes, MAX_WIDTH, y + MARGIN, title)


def _svg(shapes: Iterable[str], width: float, height: float, title: str) -> str:
    return (
        f'<svg class="voilattice" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f'<rect width="100%" height="100%" fill="#fff"/>' + "\n".join(shapes) + "</svg>"
    )


def _row_width(row: Sequence[frozenset[str]]) -> float:
    return sum(map(_box_width, row)) + BOX_GAP * (len(row) - 1)


def _box_width(s: frozenset[str]) -> float:
    return CHARACTER * len(_label(s)) + 16


def _features(size: int) -> str:
    return f"{size} feature{'s'[: size != 1]}"


def _name(s: frozenset[str]) -> str:
    return ", ".join(sorted(s)) or "∅"


def _label(s: frozenset[str]) -> str:
    """Return the names that fit, and how many more there are."""
    names = [name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…" for name in sorted(s)]
    fitting = len(names)
    while len(", ".join(names[:fitting])) > MAX_LABEL:
        fitting -= 1
    more = len(names) - fitting
    return ", ".join([*names[:fitting], *([f"+ {more} more"] if more else [])]) or "∅"


# Lights up a set with everything above and below it, along the edges.
_TRACE = """
for (const svg of document.querySelectorAll('svg.voilattice')) {
  const edges = [...svg.querySelectorAll('.edge')];
  const follow = (start, from, to, lit) => {
    const todo = [start];
    while (todo.length) {
      const node = todo.pop();
      for (const edge of edges) {
        if (edge.dataset[from] === node && !edge.classList.contains('lit')) {
          edge.classList.add('lit'); lit.add(edge.dataset[to]); todo.push(edge.dataset[to]);
        }
      }
    }
  };
  const clear = () => {
    svg.classList.remove('picked');
    svg.querySelectorAll('.lit').forEach(part => part.classList.remove('lit'));
  };
  for (const node of svg.querySelectorAll('.node')) {
    const pick = () => {
      clear();
      svg.classList.add('picked');
      const lit = new Set([node.dataset.node]);
      follow(node.dataset.node, 'from', 'to', lit);
      follow(node.dataset.node, 'to', 'from', lit);
      svg.querySelectorAll('.node').forEach(other =>
        other.classList.toggle('lit', lit.has(other.dataset.node)));
    };
    node.addEventListener('mouseenter', pick);
    node.addEventListener('focus', pick);
    node.addEventListener('mouseleave', clear);
    node.addEventListener('blur', clear);
  }
}
"""
