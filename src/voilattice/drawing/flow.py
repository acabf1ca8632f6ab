"""A policy as a flow: cases enter on the left, and their paths end in decisions on the right.

The height of a band is the probability of the cases in it. A column is one acquisition. The colour
of a band is the decision that most of its cases end with; a leaf has the colour of its decision.
States that the policy treats alike are one node of it (`policy.policy`): bands that reach the same
node join again. Nodes of little probability are drawn as one band, "and 12 rarer paths".
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from voilattice.drawing.labels import NO_BREAK
from voilattice.drawing.svg import (
    INK,
    MUTED,
    picture,
    text_width,
    wrap_text,
    wrap_to_width,
    write_text,
)
from voilattice.policy.policy import Acquisition, Leaf, Policy
from voilattice.wording import count_noun, format_amount

__all__ = ["COLOURS", "PATTERN", "draw_flow", "flow_svg"]

# Colours that people with any colour vision tell apart (Okabe and Ito), pale enough for black text.
COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#0072b2", "#999999")
PATTERN = "#c3cad4"  # of bands whose cases end in several rare ways

MARGIN = 20
HEIGHT = 520.0  # of all cases
GAP = 14.0  # between the nodes of a column
NODE = 14.0  # the width of a node
SIDE = 6.0  # between a node and its text
MIN_BAND = 1.0
LEAST_COLUMN = 150.0
LEAST_WIDTH = 420.0  # for the heading
LEAST_SHARE = 0.012  # nodes of less probability are drawn together
MAX_COLUMNS = 6
MAX_LABEL = 20  # characters of a line of the label of a node
MAX_OUTCOME = 18  # and of a band
N_LINES = 2  # of a label
RARER, LONGER = "rarer", "longer"  # paths that are drawn as one
MAX_NAMED = 2  # outcomes in the label of a band; more of them are counted
HEAD, SMALL = 11.5, 10.5  # sizes of type
LINE_HEIGHT = 12.5


@dataclass(slots=True, kw_only=True)
class _Cases:
    """Some of the cases, and what they end with."""

    share: float = 0.0
    shares: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # by decision
    colour: str = PATTERN

    def add(self, share: float, decisions: Mapping[str, float]) -> None:
        """Add a share of all cases, which takes decisions as probable as this."""
        self.share += share
        for decision, part in decisions.items():
            self.shares[decision] += share * part


@dataclass(slots=True)
class _Place(_Cases):
    """A node of the picture: nodes of the policy at one depth, or what is left of them."""

    label: str
    detail: str = ""
    n_paths: int = 0  # from here on, all of them together
    y: float = 0.0


@dataclass(slots=True)
class _Band(_Cases):
    """All cases that go from one node of the picture to another."""

    outcomes: list[str] = field(default_factory=list)


_Key = tuple[int, object]  # the depth, and the node
_Bands = dict[tuple[_Key, _Key], _Band]
_End = tuple[float, _Band]  # the middle of a band where it reaches a node


@dataclass(frozen=True, slots=True)
class Flow:
    """A drawing, and how large it is."""

    svg: str
    width: float
    height: float


def flow_svg(policy: Policy) -> str:
    """Return the policy as a picture of where cases go: width is probability, colour is decision.

    A drawing without style sheets, which fits a page of any width when scaled.
    """
    return draw_flow(policy).svg


def draw_flow(policy: Policy) -> Flow:
    """Return the picture of `flow_svg` with its size."""
    colours = decision_colours(policy.problem.decisions)
    places, bands = _collect(policy, colours)
    x_of, width = _columns(places, bands)
    heading, top = _heading(policy, width)
    _arrange(places, bands, top)
    lowest = max(place.y + _height(place) for place in places.values())
    shapes, labels = _draw_bands(places, bands, x_of)
    boxes = [_draw_place(place, x_of[key[0]]) for key, place in places.items()]
    legend, bottom = _legend(policy, colours, width, lowest + 28)
    title = f"Where the cases of policy {policy.name} go: bands are as high as they are probable."
    drawn, height = heading + shapes + boxes + labels + legend, bottom + MARGIN
    return Flow(picture(drawn, width, height, title, "flow"), width, height)


def _columns(places: Mapping[_Key, _Place], bands: _Bands) -> tuple[list[float], float]:
    """Return where each column begins, and the width of the picture.

    Beside a node comes its text, then the labels of the bands to the next column.
    """
    n_columns = 1 + max(depth for depth, _ in places)
    texts, labels = [0.0] * n_columns, [0.0] * n_columns
    for (depth, _), place in places.items():
        texts[depth] = max(texts[depth], _text_width(place))
    for ((depth, _), _), band in bands.items():
        widest = max(text_width(line, SMALL) for line in _band_lines(band, N_LINES))
        labels[depth] = max(labels[depth], widest)
    x_of = [float(MARGIN)]
    for text, label in zip(texts[:-1], labels[:-1], strict=True):
        x_of.append(x_of[-1] + max(NODE + SIDE + text + 14 + label + 8, LEAST_COLUMN))
    return x_of, max(x_of[-1] + NODE + SIDE + texts[-1] + MARGIN, LEAST_WIDTH)


def decision_colours(decisions: Sequence[str]) -> dict[str, str]:
    """Return the colour of each decision; from the ninth on colours repeat."""
    return {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(decisions)}


def _collect(policy: Policy, colours: Mapping[str, str]) -> tuple[dict[_Key, _Place], _Bands]:
    """Return the nodes of the picture, and the bands between them."""
    shares, n_paths = _decision_shares(policy), policy.path_counts
    root = len(policy.nodes) - 1
    places: dict[_Key, _Place] = {(0, root): _place(policy, (0, root), root)}
    places[0, root].add(1.0, shares[root])
    bands: _Bands = defaultdict(_Band)
    front: dict[int, float] = {root: 1.0}
    for depth in range(MAX_COLUMNS):
        steps = _steps(policy, front)
        reached: dict[int, float] = defaultdict(float)
        for step in steps:
            reached[step.child] += step.share
        for step in steps:
            child, share = step.child, step.share
            target = (depth + 1, _ending(policy, child, reached[child], depth))
            if target not in places:
                places[target] = _place(policy, target, child)
            places[target].n_paths += n_paths[child]
            places[target].add(share, shares[child])
            band = bands[(depth, step.number), target]
            band.outcomes.append(step.outcome)
            band.add(share, shares[child])
        front = {
            child: share
            for child, share in reached.items()
            if share >= LEAST_SHARE and isinstance(policy.nodes[child], Acquisition)
        }
    for drawn in (*places.values(), *bands.values()):
        drawn.colour = _tone(drawn.shares, colours)
    _label_rest(places)
    return places, bands


@dataclass(frozen=True, slots=True)
class _Step:
    """Cases that go from one node of the policy to another, with one outcome."""

    number: int
    child: int
    share: float  # of all cases
    outcome: str


def _steps(policy: Policy, front: Mapping[int, float]) -> list[_Step]:
    """Return what happens at some nodes, each reached by a share of the cases."""
    found = []
    for number, share in front.items():
        node = policy.nodes[number]
        if not isinstance(node, Acquisition):
            continue
        for branch in node.branches:
            outcome = _outcome(policy, node.features, branch.states)
            found.append(_Step(number, branch.child, share * branch.probability, outcome))
    return found


def _ending(policy: Policy, child: int, reached: float, depth: int) -> object:
    """Return which node of the next column stands for a node: its own, or one of several."""
    if isinstance(leaf := policy.nodes[child], Leaf):
        return ("decide", leaf.decision)
    if depth == MAX_COLUMNS - 1:
        return LONGER
    return RARER if reached < LEAST_SHARE else child


def _outcome(policy: Policy, features: Sequence[str], states: Sequence[str]) -> str:
    label = policy.problem.state_label
    return ", ".join(label(f, state) for f, state in zip(features, states, strict=True))


def _place(policy: Policy, key: _Key, number: int) -> _Place:
    problem, node = policy.problem, policy.nodes[number]
    if key[1] in (RARER, LONGER):
        return _Place("")  # until it is known of how many paths (`_label_rest`)
    if isinstance(node, Leaf):
        return _Place(problem.state_label(problem.target, node.decision))
    names = ", ".join(map(problem.label, node.features))
    price = format_amount(node.price, problem.currency)
    return _Place(names, f"for {price}")


def _label_rest(places: Mapping[_Key, _Place]) -> None:
    for (_, what), place in places.items():
        if what in (RARER, LONGER):
            place.label = f"and {count_noun(place.n_paths, f'{what} path')}"


def _decision_shares(policy: Policy) -> list[dict[str, float]]:
    """Return, for each node, how probable each decision is from there on."""
    found: list[dict[str, float]] = []
    for node in policy.nodes:
        if isinstance(node, Leaf):
            found.append({node.decision: 1.0})
            continue
        mixed: dict[str, float] = defaultdict(float)
        for branch in node.branches:
            for decision, part in found[branch.child].items():
                mixed[decision] += branch.probability * part
        found.append(dict(mixed))
    return found


def _tone(shares: Mapping[str, float], colours: Mapping[str, str]) -> str:
    """Return the colour of the decision that most cases end with."""
    return colours[max(shares, key=shares.__getitem__)] if shares else PATTERN


def _arrange(places: Mapping[_Key, _Place], bands: _Bands, top: float) -> None:
    """Place the nodes of each column near the bands that reach them; what is rare comes last."""
    n_columns = 1 + max(depth for depth, _ in places)
    columns: list[list[_Key]] = [[] for _ in range(n_columns)]
    for key in places:
        columns[key[0]].append(key)
    middle: dict[_Key, float] = defaultdict(float)
    bottom = top
    for column in columns:
        wanted = {key: middle[key] / places[key].share for key in column}
        column.sort(key=lambda key: (key[1] in (RARER, LONGER), wanted[key]))
        y = top
        for key in column:
            place = places[key]
            place.y = max(y, wanted[key] - HEIGHT * place.share / 2)
            y = place.y + _height(place) + GAP
        # Back up from the lowest end so far, as far as the nodes above leave room.
        needed = top + sum(_height(places[key]) + GAP for key in column) - GAP
        lowest = bottom = max(bottom, needed)
        for key in reversed(column):
            place = places[key]
            place.y = min(place.y, lowest - _height(place))
            lowest = place.y - GAP
        for source in column:
            y = places[source].y
            # Bands leave in the order of the policy's outcomes; the later ones further below.
            for (start, target), band in bands.items():
                if start == source:
                    middle[target] += band.share * (y + HEIGHT * band.share / 2)
                    y += HEIGHT * band.share


def _height(place: _Place) -> float:
    # Room for the lines of text beside a thin node.
    return max(HEIGHT * place.share, 3.5 + LINE_HEIGHT * len(_place_lines(place)))


def _place_lines(place: _Place) -> list[str]:
    """Return the text of a node; its price, if it has one, is the last line."""
    share = _percent(place.share)
    names = [name.replace(" ", NO_BREAK) for name in place.label.split(", ")]
    # A line ends between names, not inside one.
    short = ", ".join(
        name if len(name) < MAX_LABEL else name.replace(NO_BREAK, " ") for name in names
    )
    lines = [line.replace(NO_BREAK, " ") for line in wrap_text(short, MAX_LABEL, N_LINES)]
    if place.detail:
        return [*lines, f"{place.detail}, {share}"]
    if len(lines[-1]) + len(share) < MAX_LABEL:
        return [*lines[:-1], f"{lines[-1]} {share}"]
    return [*lines, share]


def _text_width(place: _Place) -> float:
    *lines, last = _place_lines(place)
    weight = 600 if place.detail else 400
    widths = [text_width(line, HEAD, weight) for line in lines]
    return max([*widths, text_width(last, SMALL if place.detail else HEAD)])


def _band_lines(band: _Band, n_lines: int) -> list[str]:
    outcomes = list(dict.fromkeys(band.outcomes))
    lines = wrap_text(" or ".join(outcomes), MAX_OUTCOME, n_lines)
    is_cut = lines[-1].endswith("…")
    # The first of several outcomes would be taken for all of them.
    if len(outcomes) > MAX_NAMED or (len(outcomes) > 1 and is_cut):
        return [f"{len(outcomes)} outcomes"]
    return lines


def _draw_bands(
    places: Mapping[_Key, _Place], bands: _Bands, x_of: Sequence[float]
) -> tuple[list[str], list[str]]:
    """Return the bands, and their labels at the nodes that they reach."""
    out: dict[_Key, float] = {key: place.y for key, place in places.items()}
    into: dict[_Key, float] = {key: place.y for key, place in places.items()}
    reached: dict[_Key, list[_End]] = defaultdict(list)
    shapes = []
    order = sorted(bands, key=lambda pair: (pair[0][0], places[pair[0]].y, places[pair[1]].y))
    for source, target in order:
        band = bands[source, target]
        thick = max(HEIGHT * band.share, MIN_BAND)
        y1, y2 = out[source] + thick / 2, into[target] + thick / 2
        out[source] += HEIGHT * band.share
        into[target] += HEIGHT * band.share
        x1, x2 = x_of[source[0]] + NODE, x_of[target[0]]
        middle = (x1 + x2) / 2
        found = " or ".join(dict.fromkeys(band.outcomes))
        told = f"{found}: {_percent(band.share)}"
        shapes.append(
            f'<path class="band" fill="none" stroke="{band.colour}" stroke-opacity=".5" '
            f'stroke-width="{thick:.2f}" '
            f'd="M{x1:.1f} {y1:.1f} C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} '
            f'{x2:.1f} {y2:.1f}"><title>{escape(told)}</title></path>'
        )
        reached[target].append((y2, band))
    labels = []
    for target, ends in reached.items():
        labels += _label_bands(ends, places[target], x_of[target[0]] - 5)
    return shapes, labels


def _label_bands(ends: Sequence[_End], place: _Place, x: float) -> list[str]:
    """Return the labels of the bands that reach a node, as many as have room.

    Shorter labels come before fewer labels; then the thinnest bands go without.
    """
    top, lowest = place.y - 4, place.y + _height(place) + GAP - 2
    rows, bottom = _label_rows(ends, top, N_LINES)
    while bottom > lowest:
        rows, bottom = _label_rows(ends, top, 1)
        thinnest = min(ends, key=lambda end: end[1].share, default=None)
        ends = [end for end in ends if end is not thinnest]
    return [
        write_text(x, y, line, size=SMALL, anchor="end", kind="outcome", halo=True)
        for y, line in rows
    ]


def _label_rows(
    ends: Sequence[_End], top: float, n_lines: int
) -> tuple[list[tuple[float, str]], float]:
    """Return the lines of labels with their places, and where the last one ends.

    Each label is as near to its band as those above it allow.
    """
    rows, y = [], top
    for middle, band in ends:
        lines = _band_lines(band, n_lines)
        y = max(y, middle - LINE_HEIGHT * len(lines) / 2)
        rows += [(y + LINE_HEIGHT * (k + 0.8), line) for k, line in enumerate(lines)]
        y += LINE_HEIGHT * len(lines)
    return rows, y


def _draw_place(place: _Place, x: float) -> str:
    tall = max(HEIGHT * place.share, 2.0)
    outline = 'stroke="#1b2430" stroke-width="1"'
    told = f"{f'{place.label} {place.detail}'.strip()}: {_percent(place.share)}"
    texts = ""
    lines = _place_lines(place)
    for k, line in enumerate(lines):
        is_detail = bool(place.detail) and k == len(lines) - 1
        texts += write_text(
            x + NODE + SIDE, place.y + LINE_HEIGHT * (k + 0.9), line, kind="node", halo=True,
            size=SMALL if is_detail else HEAD,
            weight=600 if place.detail and not is_detail else 400,
        )  # fmt: skip
    return (
        f'<g class="place"><title>{escape(told)}</title>'
        f'<rect x="{x:.1f}" y="{place.y:.1f}" width="{NODE:g}" height="{tall:.1f}" rx="2" '
        f'fill="{place.colour}" {outline}/>{texts}</g>'
    )


def _heading(policy: Policy, width: float) -> tuple[list[str], float]:
    """Return the heading in lines that fit the width, and where the picture can begin."""
    cost = format_amount(policy.expected_total_cost, policy.problem.currency)
    title = f"{policy.problem.title or 'Policy'}: policy {policy.name}"
    said = f"Expected total cost {cost}. {policy.verdict}".strip()
    room, y = width - 2 * MARGIN, float(MARGIN)
    shapes = []
    for line in wrap_to_width(title, room, 2, 14, 600):
        shapes.append(write_text(MARGIN, y + 4, line, size=14, weight=600, kind="heading"))
        y += 18
    for line in wrap_to_width(said, room, 4, HEAD):
        shapes.append(write_text(MARGIN, y + 4, line, size=HEAD, fill=MUTED, kind="heading"))
        y += 16
    return shapes, y + 10


def _legend(
    policy: Policy,
    colours: Mapping[str, str],
    width: float,
    y: float,
) -> tuple[list[str], float]:
    """Return what the colours mean, and the position of the last line."""
    problem = policy.problem
    shares = _decision_shares(policy)[-1]
    shapes, x = [], float(MARGIN)
    for decision in sorted(shares, key=lambda d: -shares[d]):
        label = (
            f"decide {problem.state_label(problem.target, decision)} {_percent(shares[decision])}"
        )
        room = text_width(label, HEAD) + 34
        if x + room > width - MARGIN and x > MARGIN:
            x, y = float(MARGIN), y + 20
        shapes.append(
            f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="14" height="12" rx="2" '
            f'fill="{colours[decision]}" stroke="{INK}"/>'
        )
        shapes.append(write_text(x + 20, y, label, size=HEAD))
        x += room
    return shapes, y


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.3g} %" if percent >= 0.1 or math.isclose(percent, 0) else "< 0.1 %"
