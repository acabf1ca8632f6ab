// @ts-check
// A picture of lines that fits the page it is on: text keeps its size, on a phone too.

const NS = "http://www.w3.org/2000/svg";
const WIDTH = 520;
const HEIGHT = 330;
const LEFT = 64;
const RIGHT = 26;
const TOP = 34;
const BOTTOM = 44;
const DASHES = ["3 3", "8 4", "2 2", "12 3 3 3", "5 2", ""];

/** @type {(tag: string, attributes: Record<string, string | number>, text?: string) => SVGElement} */
function shape(tag, attributes, text) {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

// Round numbers from 0 to at least `most`.
/** @type {(most: number) => number[]} */
function ticks(most) {
  const raw = Math.max(most, 1e-9) / 4;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * size).find((k) => k >= raw - 1e-12) ?? 10 * size;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, k) => k * step);
}

/** @type {(x: number) => string} */
const short = (x) => x.toLocaleString("en", { maximumFractionDigits: 2 });

/** @typedef {{ name: string, points: [x: number, y: number][] }} Series */

// Lines differ in colour and in dashes.
/** @type {(series: Series[], titles: { x: string, y: string }) => HTMLElement} */
export function lines(series, titles) {
  const xs = ticks(Math.max(...series.flatMap(({ points }) => points.map(([a]) => a))));
  const ys = ticks(Math.max(...series.flatMap(({ points }) => points.map(([, b]) => b))));
  /** @type {(value: number) => number} */
  const x = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * value) / (xs.at(-1) || 1);
  /** @type {(value: number) => number} */
  const y = (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / (ys.at(-1) || 1);
  const svg = shape("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    class: "lines",
    "aria-label": `${titles.y} of ${series.map(({ name }) => name).join(", ")} by ${titles.x}`,
  });
  for (const value of ys)
    svg.append(
      shape("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      shape("text", { x: LEFT - 6, y: y(value) + 5, "text-anchor": "end" }, short(value)),
    );
  for (const value of xs)
    svg.append(shape("text", { x: x(value), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, short(value)));
  svg.append(
    shape("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end", class: "axis" }, titles.x),
    shape("text", { x: 4, y: 18, class: "axis" }, titles.y),
  );
  series.forEach(({ points }, k) => {
    svg.append(
      shape("polyline", {
        class: `line line-${k % DASHES.length}`,
        "stroke-dasharray": DASHES[k % DASHES.length],
        points: points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" "),
      }),
    );
  });
  const legend = document.createElement("ul");
  legend.className = "legend";
  series.forEach(({ name }, k) => {
    const sample = shape("svg", { viewBox: "0 0 34 10", class: "sample", "aria-hidden": "true" });
    sample.append(
      shape("line", {
        class: `line line-${k % DASHES.length}`,
        "stroke-dasharray": DASHES[k % DASHES.length],
        x1: 1,
        x2: 33,
        y1: 5,
        y2: 5,
      }),
    );
    const item = document.createElement("li");
    item.append(sample, name);
    legend.append(item);
  });
  const figure = document.createElement("figure");
  figure.append(svg, legend);
  return figure;
}
