"""Small pieces of HTML, for objects that a notebook shows (``_repr_html_``).

Every text is escaped, because names come from files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["Strong", "html_table", "paragraph"]


class Strong(str):
    """A text that a table shows in bold."""

    __slots__ = ()


def paragraph(text: str, *, strong: bool = False) -> str:
    """Return a text as a paragraph."""
    shown = escape(text)
    return f"<p><b>{shown}</b></p>" if strong else f"<p>{shown}</p>"


def html_table(heading: Sequence[str], rows: Iterable[Sequence[object]], *, n_text: int = 1) -> str:
    """Return a table; the first `n_text` columns are text, the others right-aligned numbers."""

    def cell(tag: str, place: int, content: object) -> str:
        side = "left" if place < n_text else "right"
        shown = escape(str(content))
        if isinstance(content, Strong):
            shown = f"<b>{shown}</b>"
        return f'<{tag} style="text-align: {side}">{shown}</{tag}>'

    head = "".join(cell("th", k, name) for k, name in enumerate(heading))
    body = "".join(
        "<tr>" + "".join(cell("td", k, content) for k, content in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
