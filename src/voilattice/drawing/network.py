"""A picture of the network: the target, the features, the hidden nodes, and their arcs.

Parents stand above their children: a node is one layer below its lowest parent. An arc that passes
layers has a *bend* in each of them, which takes a place as a node does, so that no arc runs behind
a box. Within a layer, nodes and bends are ordered by the middle of what they are joined to, above
and below in turn, so that few arcs cross; a layer that is too wide is broken into rows. Of a large
network only the nodes nearest to the target are drawn: first its Markov blanket, then the
neighbours of what is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

from voilattice.drawing.labels import short_names
from voilattice.drawing.svg import INK, MUTED, picture, text_width, write_text
from voilattice.model.problem import Problem
from voilattice.wording import count_noun

__all__ = ["MAX_DRAWN", "network_svg"]

MAX_DRAWN = 80  # more boxes than this cannot be read on a screen

MARGIN = 20
ROOM = 1080.0  # for the boxes of a row
BOX_HEIGHT = 28.0
BOX_GAP = 16.0
ROW_GAP = 22.0
LAYER_GAP = 50.0
BEND = 8.0  # the width of a bend
N_SWEEPS = 6
SIZE = 12

TARGET, FEATURE, HIDDEN, KNOWN = "target", "feature", "hidden", "known"

# The fill, the outline, its width and its dashes, and the ink of each kind of node.
LOOKS = {
    TARGET: ("#1f3a5f", "#1f3a5f", 1.5, "", "#fff"),
    FEATURE: ("#eef3fa", "#1f3a5f", 1.2, "", INK),
    HIDDEN: ("#fff", "#5b6675", 1.2, "5 3", MUTED),
    KNOWN: ("#ffe3b3", "#b5510a", 1.5, "", INK),
}
MEANINGS = {
    TARGET: "the target",
    FEATURE: "can be acquired",
    HIDDEN: "hidden: never seen",
    KNOWN: "known from the start",
}


def network_svg(problem: Problem, *, max_nodes: int = MAX_DRAWN) -> str:
    """Return the network of a problem as an SVG picture without style sheets."""
    drawn = _nearest(problem, max_nodes)
    names = problem.network.names
    readable = {problem.label(names[node]) for node in drawn}
    # Two nodes may have one label: then the name tells them apart.
    label = problem.label if len(readable) == len(drawn) else problem.name_and_label
    short = short_names([label(names[node]) for node in drawn])
    labels = {node: short[label(names[node])] for node in drawn}
    arcs = [(parent, node) for node in drawn for parent in _parents(problem, node, labels)]
    layers, ways = _layers(drawn, arcs)
    rows = [_broken(layer, labels) for layer in layers]
    boxes, width, bottom = _place(rows, labels)
    shapes = [
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 Z" fill="#5b6675"/></marker></defs>'
    ]
    shapes += [_arc([boxes[point] for point in way]) for way in ways]
    kinds = {node: _kind(problem, names[node]) for node in drawn}
    for node in drawn:
        title = f"{problem.name_and_label(names[node])}: {MEANINGS[kinds[node]]}"
        shapes.append(_box(boxes[node], labels[node], kinds[node], title))
    legend, bottom = _legend(sorted(set(kinds.values()), key=list(LOOKS).index), width, bottom + 24)
    shapes += legend
    if len(drawn) < len(names):
        bottom += 20
        note = f"{len(drawn)} of {count_noun(len(names), 'node')}: those nearest to the target"
        shapes.append(write_text(MARGIN, bottom, note, size=11.5, fill=MUTED))
    title = f"The network: {count_noun(len(names), 'node')}, {problem.network.n_arcs} arcs"
    return picture(shapes, width, bottom + MARGIN, title, "network")


def _nearest(problem: Problem, most: int) -> list[int]:
    """Return the nodes to draw, in the order of the network."""
    network = problem.network
    n = len(network)
    if n <= most:
        return list(range(n))
    children: list[list[int]] = [[] for _ in range(n)]
    for node, parents in enumerate(network.parents):
        for parent in parents:
            children[parent].append(node)
    target = network.index(problem.target)
    found = [target, *network.parents[target], *children[target]]
    found += [parent for child in children[target] for parent in network.parents[child]]
    found = list(dict.fromkeys(found))[:most]
    for node in found:  # grows while it is read: the neighbours of what is drawn
        for other in (*network.parents[node], *children[node]):
            if len(found) < most and other not in found:
                found.append(other)
    return sorted(found)


def _parents(problem: Problem, node: int, drawn: Mapping[int, object]) -> list[int]:
    return [parent for parent in problem.network.parents[node] if parent in drawn]


# A node, or a bend of an arc: the arc and the layer.
_Point = int | tuple[int, int, int]


def _layers(
    drawn: Sequence[int], arcs: Sequence[tuple[int, int]]
) -> tuple[list[list[_Point]], list[list[_Point]]]:
    """Return the layers from top to bottom, and the points that each arc passes."""
    above: dict[int, list[int]] = {node: [] for node in drawn}
    below: dict[int, list[int]] = {node: [] for node in drawn}
    for parent, node in arcs:
        above[node].append(parent)
        below[parent].append(node)
    depth: dict[int, int] = {}

    def deep(node: int) -> int:
        if node not in depth:
            depth[node] = 1 + max(map(deep, above[node]), default=-1)
        return depth[node]

    for node in drawn:
        deep(node)
    for node in drawn:  # a root stands just above the highest of its children
        if not above[node] and below[node]:
            depth[node] = min(depth[child] for child in below[node]) - 1
    layers: list[list[_Point]] = [[] for _ in range(1 + max(depth.values()))]
    for node in drawn:
        layers[depth[node]].append(node)
    ways = []
    joined: dict[_Point, list[_Point]] = {node: [] for node in drawn}
    for parent, node in arcs:
        bends: list[_Point] = []
        for k in range(depth[parent] + 1, depth[node]):
            bends.append((parent, node, k))
            layers[k].append(bends[-1])
        way: list[_Point] = [parent, *bends, node]
        for one, two in pairwise(way):
            joined.setdefault(one, []).append(two)
            joined.setdefault(two, []).append(one)
        ways.append(way)
    layers = [layer for layer in layers if layer]
    _order(layers, joined)
    return layers, ways


def _order(layers: Sequence[list[_Point]], joined: Mapping[_Point, Sequence[_Point]]) -> None:
    """Order each layer by the middle of its neighbours: those above, then those below, in turn."""
    place = {point: (k + 0.5) / len(layer) for layer in layers for k, point in enumerate(layer)}
    level = {point: k for k, layer in enumerate(layers) for point in layer}
    for sweep in range(N_SWEEPS):
        step = 1 if sweep % 2 == 0 else -1
        for layer in layers[::step]:
            middle = {}
            for point in layer:
                near = [place[p] for p in joined[point] if (level[p] < level[point]) == (step > 0)]
                middle[point] = sum(near) / len(near) if near else place[point]
            layer.sort(key=middle.__getitem__)
            for k, point in enumerate(layer):
                place[point] = (k + 0.5) / len(layer)


def _broken(nodes: Sequence[_Point], labels: Mapping[int, str]) -> list[list[_Point]]:
    """Break a layer into rows of about the same width."""
    total = sum(_width(node, labels) + BOX_GAP for node in nodes)
    n_rows = int(total // ROOM) + 1
    rows: list[list[_Point]] = [[]]
    width = 0.0
    for node in nodes:
        more = _width(node, labels) + BOX_GAP
        if rows[-1] and (width + more > ROOM or width + more / 2 > total / n_rows):
            rows.append([])
            width = 0.0
        rows[-1].append(node)
        width += more
    return rows


def _width(point: _Point, labels: Mapping[int, str]) -> float:
    return text_width(labels[point], SIZE) + 24 if isinstance(point, int) else BEND


_Box = tuple[float, float, float]  # the middle, the top, the width


def _place(
    layers: Sequence[Sequence[Sequence[_Point]]], labels: Mapping[int, str]
) -> tuple[dict[_Point, _Box], float, float]:
    """Return the boxes, the width of the drawing, and where the boxes end."""

    def wide(row: Sequence[_Point]) -> float:
        return sum(_width(point, labels) for point in row) + BOX_GAP * (len(row) - 1)

    widest = max(wide(row) for layer in layers for row in layer)
    width = max(widest + 2 * MARGIN, 480.0)
    boxes: dict[_Point, _Box] = {}
    y = float(MARGIN)
    for layer in layers:
        for row in layer:
            x = (width - wide(row)) / 2
            for point in row:
                boxes[point] = (x + _width(point, labels) / 2, y, _width(point, labels))
                x += _width(point, labels) + BOX_GAP
            y += BOX_HEIGHT + ROW_GAP
        y += LAYER_GAP - ROW_GAP
    return boxes, width, y - LAYER_GAP


def _arc(way: Sequence[_Box]) -> str:
    """Return an arc from its parent through its bends to its child."""
    (x, y, _), child = way[0], way[-1]
    y += BOX_HEIGHT
    path = f"M{x:.1f} {y:.1f}"
    for box in way[1:]:
        x2, y2 = box[0], box[1]
        if box is child:
            # Arcs into one box arrive side by side, from the side that they come from.
            reach = 0.3 * box[2]
            x2, y2 = x2 + max(min((x - x2) / 8, reach), -reach), y2 - 1
        bend = max((y2 - y) / 2, 10)
        path += f" C{x:.1f} {y + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"
        x, y = x2, y2 + BOX_HEIGHT
        path += f" L{x:.1f} {y:.1f}" if box is not child else ""
    return (
        f'<path class="arc" fill="none" stroke="#5b6675" stroke-opacity=".75" '
        f'marker-end="url(#arrow)" d="{path}"/>'
    )


def _box(box: _Box, label: str, kind: str, title: str) -> str:
    x, y, width = box
    fill, stroke, thick, dashes, ink = LOOKS[kind]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    text = write_text(x, y + 18.5, label, size=SIZE, fill=ink, anchor="middle")
    return (
        f'<g class="node {kind}"><title>{escape(title)}</title>'
        f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BOX_HEIGHT:g}" '
        f'rx="6" fill="{fill}" stroke="{stroke}" stroke-width="{thick:g}"{dashed}/>{text}</g>'
    )


def _kind(problem: Problem, name: str) -> str:
    if name == problem.target:
        return TARGET
    if name not in problem.features:
        return HIDDEN
    return KNOWN if name in problem.evidence else FEATURE


def _legend(kinds: Sequence[str], width: float, y: float) -> tuple[list[str], float]:
    """Return what the boxes mean, and the position of the last line."""
    shapes, x = [], float(MARGIN)
    for kind in kinds:
        fill, stroke, thick, dashes, _ = LOOKS[kind]
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        room = text_width(MEANINGS[kind], 11.5) + 44
        if x + room > width and x > MARGIN:
            x, y = float(MARGIN), y + 20
        shapes.append(
            f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="20" height="12" rx="3" fill="{fill}" '
            f'stroke="{stroke}" stroke-width="{thick:g}"{dashed}/>'
        )
        shapes.append(write_text(x + 26, y, MEANINGS[kind], size=11.5))
        x += room
    return shapes, y
