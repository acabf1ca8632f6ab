"""Self-contained HTML pages, and the script that traces a lattice."""

from __future__ import annotations

__all__ = ["TRACE", "page"]

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
    """Return a self-contained page; `title` must be escaped already."""
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
