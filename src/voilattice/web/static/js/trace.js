// @ts-check
// Lights up a set of a drawn lattice, with everything above and below it along the edges.

/** @type {(svg: SVGElement | null) => void} */
export function trace(svg) {
  if (!svg) return;
  /** @type {(selector: string) => NodeListOf<SVGElement>} */
  const all = (selector) => svg.querySelectorAll(selector);
  const edges = [...all(".edge")];
  /** @type {(start: string | undefined, from: string, to: string, lit: Set<string | undefined>) => void} */
  const follow = (start, from, to, lit) => {
    const todo = [start];
    while (todo.length) {
      const node = todo.pop();
      for (const edge of edges)
        if (edge.dataset[from] === node && !edge.classList.contains("lit")) {
          edge.classList.add("lit");
          lit.add(edge.dataset[to]);
          todo.push(edge.dataset[to]);
        }
    }
  };
  const clear = () => {
    svg.classList.remove("picked");
    for (const part of all(".lit")) part.classList.remove("lit");
  };
  for (const node of all(".node")) {
    const pick = () => {
      clear();
      svg.classList.add("picked");
      const lit = new Set([node.dataset.node]);
      follow(node.dataset.node, "from", "to", lit);
      follow(node.dataset.node, "to", "from", lit);
      for (const other of all(".node")) other.classList.toggle("lit", lit.has(other.dataset.node));
    };
    node.addEventListener("mouseenter", pick);
    node.addEventListener("focus", pick);
    node.addEventListener("mouseleave", clear);
    node.addEventListener("blur", clear);
  }
}
