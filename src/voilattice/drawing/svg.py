"""Pieces of SVG that need no style sheet.

A page that allows no inline styles shows only presentation attributes (``fill="#fff"``). So
drawings have these alone, and a class for those who want to style or to find the parts.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from html import escape

__all__ = [
    "FONT",
    "INK",
    "LINE",
    "MUTED",
    "picture",
    "text_width",
    "without_styles",
    "wrap_text",
    "wrap_to_width",
    "write_text",
]

FONT = "system-ui, 'DejaVu Sans', sans-serif"
INK, MUTED, LINE = "#1b2430", "#5b6675", "#8b97a8"

# The width of a character in parts of the size of the type face: those of DejaVu Sans, a wide one.
WIDTHS = dict.fromkeys(" .,:;'|!()[]/-iljftrI", 0.38) | dict.fromkeys("mwMWQ@%=<>+…", 0.92)
CHARACTER, WIDE = 0.64, 1.0  # of other characters up to Latin, and of those after it
BOLD = 1.12  # how much wider a bold text is
HALO = 'stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke" '


def picture(shapes: Iterable[str], width: float, height: float, title: str, kind: str) -> str:
    """Return shapes as a picture on white; `kind` is its class, `title` what it shows."""
    return (
        f'<svg class="{kind}" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'font-family="{FONT}" font-size="12">'
        f"<title>{escape(title)}</title>"
        f'<rect width="100%" height="100%" fill="#fff"/>' + "\n".join(shapes) + "</svg>"
    )


def write_text(
    x: float,
    y: float,
    text: str,
    *,
    size: float = 12,
    fill: str = INK,
    anchor: str = "start",
    weight: int = 400,
    kind: str = "",
    halo: bool = False,
) -> str:
    """Return one line of text; `kind` is its class; a halo sets it off from what is below it."""
    return (
        f"<text{_class(kind)} {HALO if halo else ''}"
        f'x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-size="{size:g}" '
        f'text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>'
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def text_width(text: str, size: float = 12, weight: int = 400) -> float:
    """Return about how wide a text is; wide enough for most type faces."""
    width = sum(WIDTHS.get(c, CHARACTER if c < "\u0250" else WIDE) for c in text)
    return size * width * (BOLD if weight >= 600 else 1.0)


def wrap_text(text: str, most: int, n_lines: int) -> list[str]:
    """Return a text in lines of at most `most` characters; what does not fit is cut.

    >>> wrap_text("stethoscope, water sample, vibration", 14, 2)
    ['stethoscope,', 'water sample…']
    """
    lines = textwrap.wrap(text, max(most, 2), break_on_hyphens=False) or [""]
    if len(lines) <= n_lines:
        return lines
    *whole, last = lines[:n_lines]
    return [*whole, f"{last[: most - 1].rstrip(' ,')}…"]


def wrap_to_width(
    text: str, width: float, n_lines: int, size: float = 12, weight: int = 400
) -> list[str]:
    """Return a text in lines that are at most about `width` wide."""
    most = int(width * max(len(text), 1) / max(text_width(text, size, weight), 1.0))
    return wrap_text(text, most, n_lines)


def without_styles(svg: str) -> str:
    """Return a drawing of matplotlib without style elements and attributes.

    >>> without_styles('<svg><style>* {a: b}</style><path style="fill: none; stroke: #000"/></svg>')
    '<svg stroke-linejoin="round" stroke-linecap="butt"><path fill="none" stroke="#000"/></svg>'
    """
    # The only rule of its style sheet is the one that this puts on the root.
    plain = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    plain = plain.replace("<svg", '<svg stroke-linejoin="round" stroke-linecap="butt"', 1)
    return re.sub(r'\sstyle="([^"]*)"', lambda found: _attributes(found[1]), plain)


def _attributes(style: str) -> str:
    pairs = (entry.split(":", 1) for entry in style.split(";") if ":" in entry)
    return "".join(f' {key.strip()}="{value.strip()}"' for key, value in pairs)
