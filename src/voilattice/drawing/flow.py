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

from voilattice.drawing.svg import INK, MUTED, picture, text_width, write_text
from voilattice.policy.policy import Acquisition, Leaf, Policy
from voilattice.wording import count_noun, format_amount

__all__ = ["COLOURS", "PATTERN", "flow_svg"]

# Colours that people with any colour vision tell apart (Okabe and Ito), pale enough for black text.
COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#0072b2", "#999999")
PATTERN = "#c3cad4"  # of bands whose cases end in several rare ways

MARGIN = 20
TOP = 64  # for the heading and the names of the columns
HEIGHT = 520.0  # of all cases
GAP = 14.0  # between the nodes of a column
NODE = 14.0  # the width of a node
MIN_BAND = 1.0
COLUMN = 184.0
LEAST_SHARE = 0.012  # nodes of less probability are drawn together
MAX_COLUMNS = 6
MAX_LABEL = 22
MAX_OUTCOME = 14
RARER, LONGER = "rarer", "longer"  # paths that are drawn as one
MAX_NAMED = 2  # outcomes in the label of a band; more of them are counted
LABELLED = 13.0  # bands that are as high as this name their outcome


@dataclass(slots=True)
class _Place:
    """A node of the picture: nodes of the policy at one depth, or what is left of them."""

    label: str
    detail: str
    colour: str
    share: float = 0.0
    shares: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # by decision
    n_paths: int = 0
    is_leaf: bool = False
    y: float = 0.0


@dataclass(slots=True)
class _Band:
    """All cases that go from one node of the picture to another."""

    share: float = 0.0
    shares: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # by decision
    outcomes: list[str] = field(default_factory=list)
    colour: str = PATTERN


_Key = tuple[int, object]  # the depth, and the node
_Bands = dict[tuple[_Key, _Key], _Band]


def flow_svg(policy: Policy) -> str:
    """Return the policy as a picture of where cases go: width is probability, colour is decision.

    A drawing without style sheets, which fits a page of any width when scaled.
    """
    colours = decision_colours(policy.problem.decisions)
    places, bands = _collect(policy, colours)
    columns = _arrange(places, bands)
    n_columns = len(columns)
    widest = max(
        (text_width(p.label, 11.5) + 60 for key, p in places.items() if key[0] == n_columns - 1),
        default=0.0,
    )
    width = 2 * MARGIN + (n_columns - 1) * COLUMN + NODE + max(widest + 14, 150)
    height = max(
        TOP + sum(_height(places[key]) for key in column) + GAP * (len(column) - 1)
        for column in columns
    )
    shapes = _heading(policy)
    x_of = [MARGIN + depth * COLUMN for depth in range(n_columns)]
    shapes += _draw_bands(places, bands, x_of)
    for key, place in places.items():
        shapes.append(_draw_place(place, x_of[key[0]]))
    legend, bottom = _legend(policy, colours, width, height + 28)
    shapes += legend
    title = f"Where the cases of policy {policy.name} go: bands are as high as they are probable."
    return picture(shapes, width, bottom + MARGIN, title, "flow")


def decision_colours(decisions: Sequence[str]) -> dict[str, str]:
    """Return the colour of each decision; from the ninth on colours repeat."""
    return {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(decisions)}


def _collect(policy: Policy, colours: Mapping[str, str]) -> tuple[dict[_Key, _Place], _Bands]:
    """Return the nodes of the picture, and the bands between them."""
    shares = _decision_shares(policy)
    places: dict[_Key, _Place] = {}
    bands: _Bands = defaultdict(_Band)
    n_paths = policy.path_counts

    def enter(key: _Key, number: int, share: float) -> None:
        if key not in places:
            places[key] = _place(policy, key, number)
        place = places[key]
        place.share += share
        place.n_paths += n_paths[number]
        for decision, part in shares[number].items():
            place.shares[decision] += share * part

    root = len(policy.nodes) - 1
    enter((0, root), root, 1.0)
    front: dict[int, float] = {root: 1.0}
    for depth in range(MAX_COLUMNS):
        reached: dict[int, float] = defaultdict(float)
        steps = []
        for number, share in front.items():
            node = policy.nodes[number]
            if isinstance(node, Acquisition):
                for branch in node.branches:
                    outcome = _outcome(policy, node.features, branch.states)
                    part = share * branch.probability
                    steps.append((number, branch.child, part, outcome))
                    reached[branch.child] += share * branch.probability
        for number, child, share, outcome in steps:
            ending: object = child
            if isinstance(leaf := policy.nodes[child], Leaf):
                ending = ("decide", leaf.decision)
            elif depth == MAX_COLUMNS - 1:
                ending = LONGER
            elif reached[child] < LEAST_SHARE:
                ending = RARER
            target: _Key = (depth + 1, ending)
            enter(target, child, share)
            band = bands[(depth, number), target]
            band.share += share
            band.outcomes.append(outcome)
            for decision, part in shares[child].items():
                band.shares[decision] += share * part
        front = {
            child: share
            for child, share in reached.items()
            if share >= LEAST_SHARE and isinstance(policy.nodes[child], Acquisition)
        }
    for place in places.values():
        place.colour = _tone(place.shares, colours)
    for band in bands.values():
        band.colour = _tone(band.shares, colours)
    _label_rest(places)
    return places, bands


def _outcome(policy: Policy, features: Sequence[str], states: Sequence[str]) -> str:
    label = policy.problem.state_label
    return ", ".join(label(f, state) for f, state in zip(features, states, strict=True))


def _place(policy: Policy, key: _Key, number: int) -> _Place:
    problem, node = policy.problem, policy.nodes[number]
    if key[1] in (RARER, LONGER):
        return _Place("", "", PATTERN)
    if isinstance(node, Leaf):
        label = problem.state_label(problem.target, node.decision)
        return _Place(label, "", "", is_leaf=True)
    names = ", ".join(map(problem.label, node.features))
    price = format_amount(node.price, problem.currency)
    return _Place(names, f"for {price}", "")


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


def _arrange(places: Mapping[_Key, _Place], bands: _Bands) -> list[list[_Key]]:
    """Place the nodes of each column near the bands that reach them; what is rare comes last."""
    n_columns = 1 + max(depth for depth, _ in places)
    columns: list[list[_Key]] = [[] for _ in range(n_columns)]
    for key in places:
        columns[key[0]].append(key)
    middle: dict[_Key, float] = defaultdict(float)
    for column in columns:
        column.sort(key=lambda key: (key[1] in (RARER, LONGER), middle[key] / places[key].share))
        y = float(TOP)
        for key in column:
            places[key].y = y
            y += _height(places[key]) + GAP
        for source in column:
            y = places[source].y
            # Bands leave in the order of the policy's outcomes; the later ones further below.
            for (start, target), band in bands.items():
                if start == source:
                    middle[target] += band.share * (y + HEIGHT * band.share / 2)
                    y += HEIGHT * band.share
    return columns


def _height(place: _Place) -> float:
    # Room for two lines of text beside a thin node.
    return max(HEIGHT * place.share, 30.0 if place.detail else 16.0)


def _draw_bands(places: Mapping[_Key, _Place], bands: _Bands, x_of: Sequence[float]) -> list[str]:
    out: dict[_Key, float] = {key: place.y for key, place in places.items()}
    into: dict[_Key, float] = {key: place.y for key, place in places.items()}
    shapes, labels = [], []
    order = sorted(bands, key=lambda pair: (pair[0][0], places[pair[0]].y, places[pair[1]].y))
    for source, target in order:
        band = bands[source, target]
        thick = max(HEIGHT * band.share, MIN_BAND)
        y1, y2 = out[source] + thick / 2, into[target] + thick / 2
        out[source] += HEIGHT * band.share
        into[target] += HEIGHT * band.share
        x1, x2 = x_of[source[0]] + NODE, x_of[target[0]]
        middle = (x1 + x2) / 2
        outcomes = list(dict.fromkeys(band.outcomes))
        found = " or ".join(outcomes)
        told = f"{found}: {_percent(band.share)}"
        shapes.append(
            f'<path class="band" fill="none" stroke="{band.colour}" stroke-opacity=".5" '
            f'stroke-width="{thick:.2f}" '
            f'd="M{x1:.1f} {y1:.1f} C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} '
            f'{x2:.1f} {y2:.1f}"><title>{escape(told)}</title></path>'
        )
        if thick >= LABELLED:
            many = f"{len(outcomes)} outcomes"
            # The first of many outcomes would be taken for all of them.
            short = many if len(outcomes) > MAX_NAMED else _shorten(found, MAX_OUTCOME)
            labels.append(write_text(x2 - 5, y2 + 4, short, size=10.5, anchor="end"))
    return shapes + labels


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _draw_place(place: _Place, x: float) -> str:
    tall = max(HEIGHT * place.share, 2.0)
    outline = 'stroke="#1b2430" stroke-width="1"'
    label, share = _shorten(place.label, MAX_LABEL), _percent(place.share)
    head = f"{label} {share}" if place.is_leaf or not place.detail else label
    weight = 600 if place.detail else 400
    told = f"{f'{place.label} {place.detail}'.strip()}: {share}"
    lines = write_text(x + NODE + 6, place.y + 12, head, size=11.5, weight=weight)
    if place.detail:
        under = f"{place.detail}, {share}"
        lines += write_text(x + NODE + 6, place.y + 25, under, size=10.5, fill=MUTED)
    return (
        f'<g class="place"><title>{escape(told)}</title>'
        f'<rect x="{x:.1f}" y="{place.y:.1f}" width="{NODE:g}" height="{tall:.1f}" rx="2" '
        f'fill="{place.colour}" {outline}/>{lines}</g>'
    )


def _heading(policy: Policy) -> list[str]:
    cost = format_amount(policy.expected_total_cost, policy.problem.currency)
    title = policy.problem.title or "Policy"
    return [
        write_text(MARGIN, MARGIN + 4, f"{title}: policy {policy.name}", size=14, weight=600),
        write_text(
            MARGIN,
            MARGIN + 22,
            f"Expected total cost {cost}. {policy.verdict}".strip(),
            size=11.5,
            fill=MUTED,
        ),
    ]


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
        room = text_width(label, 11.5) + 34
        if x + room > width - MARGIN and x > MARGIN:
            x, y = float(MARGIN), y + 20
        shapes.append(
            f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="14" height="12" rx="2" '
            f'fill="{colours[decision]}" stroke="{INK}"/>'
        )
        shapes.append(write_text(x + 20, y, label, size=11.5))
        x += room
    return shapes, y


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.3g} %" if percent >= 0.1 or math.isclose(percent, 0) else "< 0.1 %"
