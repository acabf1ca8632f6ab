"""A tree of boxes from left to right: aligned columns, short lines, as little paper as possible.

Each level has two columns, in which all texts begin at the same place: what was found on the way,
and the box with what is done then. The texts come in lines, so a tree of about ten leaves is
readable on A4, and one of thirty on A4 upright.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from voilattice.drawing.svg import INK, LINE, MUTED, text_width, write_text

__all__ = ["Box", "draw_tree"]

SIZE = 11.0
LINE_HEIGHT = 14.0
SIDE, PAD = 7.0, 4.0  # between a box and its text, beside the text and above it
ROW_GAP = 6.0
WAY = 26.0  # the length of the way to the next level
MAX_THICK = 8.0

FILLS = {  # of acquisitions and of decisions
    "buy": 'class="buy" fill="#eef3fa" stroke="#1f3a5f"',
    "say": 'class="say" fill="#fff6e5" stroke="#b5510a"',
}


@dataclass(slots=True)
class Box:
    """A box with its lines, and the lines beside the way that leads to it."""

    kind: str  # "buy" or "say"
    lines: Sequence[str]
    n_strong: int  # how many of the lines say what is done
    found: Sequence[str]
    told: str  # all of it, for those who point at the box
    probability: float
    children: list[Box] = field(default_factory=list)
    middle: float = 0.0

    @property
    def height(self) -> float:
        """What the box or the lines beside it need."""
        return LINE_HEIGHT * max(len(self.lines), len(self.found)) + 2 * PAD


def draw_tree(root: Box, left: float, top: float) -> tuple[list[str], float, float]:
    """Return the shapes of a tree, and where it ends on the right and at the bottom."""
    bottom = top + _place(root, top)
    found, boxes = _columns(root)
    starts = [left]
    for depth in range(1, len(boxes)):
        starts.append(starts[-1] + boxes[depth - 1] + WAY + found[depth])
    ways: list[str] = []
    shapes: list[str] = []
    for depth, box in _walk(root, 0):
        x = starts[depth]
        shapes.append(_draw(box, x, boxes[depth], found[depth]))
        for child in box.children:
            x1, x2 = x + boxes[depth], starts[depth + 1] - found[depth + 1] - 4
            middle = (x1 + x2) / 2
            ways.append(
                f'<path class="way" fill="none" stroke="{LINE}" '
                f'stroke-width="{1 + (MAX_THICK - 1) * child.probability:.2f}" '
                f'd="M{x1:.1f} {box.middle:.1f} C{middle:.1f} {box.middle:.1f} '
                f'{middle:.1f} {child.middle:.1f} {x2:.1f} {child.middle:.1f}"/>'
            )
    return ways + shapes, starts[-1] + boxes[-1], bottom


def _place(box: Box, top: float) -> float:
    """Place a box and all below it; return the height that they need."""
    below = 0.0
    for child in box.children:
        below += _place(child, top + below) + ROW_GAP
    below = max(below - ROW_GAP, 0.0)
    if box.children and below < box.height:
        for child in box.children:
            _move(child, (box.height - below) / 2)
    box.middle = top + max(below, box.height) / 2
    return max(below, box.height)


def _move(box: Box, down: float) -> None:
    box.middle += down
    for child in box.children:
        _move(child, down)


def _walk(box: Box, depth: int) -> Iterator[tuple[int, Box]]:
    yield depth, box
    for child in box.children:
        yield from _walk(child, depth + 1)


def _columns(root: Box) -> tuple[list[float], list[float]]:
    """Return how wide the texts beside the ways and the boxes of each level are."""
    found: list[float] = []
    boxes: list[float] = []
    for depth, box in _walk(root, 0):
        if depth == len(boxes):
            found.append(0.0)
            boxes.append(0.0)
        beside = [text_width(line, SIZE) + 10 for line in box.found]
        inside = [
            text_width(line, SIZE, 600 if k < box.n_strong else 400)
            for k, line in enumerate(box.lines)
        ]
        found[depth] = max(found[depth], *beside, 0.0)
        boxes[depth] = max(boxes[depth], max(inside, default=0.0) + 2 * SIDE)
    return found, boxes


def _draw(box: Box, x: float, width: float, found: float) -> str:
    """Draw a box at `x`, and what was found on the left of it."""
    height = LINE_HEIGHT * len(box.lines) + 2 * PAD
    shown = (
        f'<g><title>{escape(box.told)}</title><rect {FILLS[box.kind]} rx="5" x="{x:.1f}" '
        f'y="{box.middle - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    )
    for k, line in enumerate(box.lines):
        shown += write_text(
            x + SIDE, _baseline(box.middle, k, len(box.lines)), line, size=SIZE, kind="what",
            weight=600 if k < box.n_strong else 400, fill=INK if k < box.n_strong else MUTED,
        )  # fmt: skip
    for k, line in enumerate(box.found):
        # White below the text: a wide way ends there.
        shown += write_text(
            x - found, _baseline(box.middle, k, len(box.found)), line, size=SIZE, kind="found",
            halo=True,
        )  # fmt: skip
    return f"{shown}</g>"


def _baseline(middle: float, k: int, n_lines: int) -> float:
    return middle + LINE_HEIGHT * (k - (n_lines - 1) / 2) + 0.36 * SIZE
