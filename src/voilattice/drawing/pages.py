"""Self-contained HTML pages, from templates (``*.j2``), and the script that traces a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from voilattice.html import html_table
from voilattice.wording import count_noun, format_amount

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["TRACE", "Table", "page", "render"]

Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # the heading, and the rows

# Highlights a set and all sets above and below it, along the edges.
TRACE = """
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


def page(title: str, style: str, body: str) -> str:
    """Return a self-contained page of a style and a body that are HTML already."""
    return render("drawing/page.html.j2", title=title, style=style, body=body)


def render(template: str, **values: object) -> str:
    """Return a page made from a template: every value is escaped, but for what is marked `safe`.

    A name that has no value is an error. `template` is a path inside the package.
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("voilattice", ""), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters["amount"] = format_amount
    made.globals["count"] = count_noun
    made.globals["table"] = html_table
    return made
