// @ts-check
// A row of a list of bars: a name, a share, a number, and perhaps a price on the same scale.

import { element } from "./dom.js";

/** @typedef {{ isChosen?: boolean, price?: number }} Marks */

/** @type {(name: string, share: number, number: string, marks?: Marks) => HTMLElement} */
export function bar(name, share, number, { isChosen = false, price } = {}) {
  const fill = element("span", { class: "fill" });
  fill.style.setProperty("width", `${100 * clamp(share)}%`);
  const track = element("span", { class: "track", "aria-hidden": "true" }, fill);
  if (price !== undefined) {
    const mark = element("span", { class: "price" });
    mark.style.setProperty("left", `${100 * clamp(price)}%`);
    track.append(mark);
  }
  return element(
    "span",
    { class: `row${isChosen ? " chosen" : ""}` },
    element("span", { class: "name" }, name),
    track,
    element("span", { class: "number" }, number),
  );
}

/** @type {(share: number) => number} */
const clamp = (share) => (Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 0);
