// @ts-check
// The lattice, level by level: what each set is worth and costs. The best set and the way to it are
// lit; large levels show their best sets, and more on demand; a filter keeps the sets with some features.

import { asked } from "./address.js";
import { $, button, drawing, element, find, findAll, markWide } from "./dom.js";
import { call, isPassing, isStale } from "./server.js";
import { answered } from "./session.js";
import { trace } from "./trace.js";
import { amount, count, label, labels, list, money } from "./wording.js";
import { showWorking } from "./working.js";

/** @import { Lattice, LatticeLevel, LatticeSet, State } from "./types.d.ts" */

const MORE = 20;
const TOP = matchMedia("(max-width: 48rem)").matches ? 2 : 4; // sets of each level, at first

/** @type {{ problem: string | null, containing: string[], top: number }} */
let filter = { problem: null, containing: [], top: TOP };

export function clearLattice() {
  $("lattice").replaceChildren();
}

/** @type {(now: State, signal: AbortSignal) => Promise<void>} */
export async function fillLattice(now, signal) {
  if (filter.problem !== now.problem) filter = { problem: now.problem, containing: [], top: TOP };
  const body = asked(now);
  const box = $("lattice");
  const levels = element("div", { id: "lattice-levels", "aria-live": "polite" });
  const text = element("p", { id: "lattice-text" });
  const picture = element("div", {
    class: "picture",
    id: "lattice-picture",
    tabindex: 0,
    role: "group",
    "aria-label": "The lattice",
    hidden: true,
  });
  const chips = element("p", { class: "buttons", id: "lattice-filter" });
  const load = async () => {
    const working = showWorking(levels, "Building the lattice …");
    try {
      const found = await call("POST", "lattice", { ...body, containing: filter.containing, top: filter.top }, signal);
      working.end();
      text.textContent = summary(found);
      levels.replaceChildren(
        ...found.rows.map((row) =>
          level(row, found, () => {
            filter.top += MORE;
            load();
          }),
        ),
      );
      search(levels, find(box, "#lattice-search").value);
      picture.hidden = !found.svg;
      if (found.svg && !picture.childElementCount) {
        drawing(picture, found.svg);
        markWide(picture);
        trace(picture.querySelector("svg"));
      }
    } catch (error) {
      if (signal.aborted || isStale(error)) return;
      levels.replaceChildren(
        element("p", { class: "notice" }, `${error.message} `, isPassing(error) ? button("Try again", load) : null),
      );
    }
  };
  /** @type {(containing: string[]) => void} */
  const setFilter = (containing) => {
    filter = { ...filter, containing, top: TOP };
    drawChips();
    load();
  };
  const drawChips = () =>
    chips.replaceChildren(
      ...filter.containing.map((name) =>
        button(`${label(name)} ×`, () => setFilter(filter.containing.filter((other) => other !== name)), {
          class: "chip",
          "aria-label": `No longer only sets with ${label(name)}`,
        }),
      ),
    );
  const known = new Set([...now.steps.map(([name]) => name), ...Object.keys(answered.problem.evidence)]);
  const hint = element(
    "p",
    { class: "hint" },
    "Blue bar: what a set is worth. Orange mark: its price. In green: the best set and the way to it.",
  );
  box.replaceChildren(
    text,
    hint,
    controls(levels, known, (name) => {
      if (name && !filter.containing.includes(name)) setFilter([...filter.containing, name]);
    }),
    chips,
    picture,
    levels,
  );
  drawChips();
  await load();
}

/** @type {(levels: HTMLElement, known: Set<string>, add: (name: string) => void) => HTMLElement} */
function controls(levels, known, add) {
  const features = answered.problem.features.filter((name) => !known.has(name));
  const choose = element(
    "select",
    {
      id: "lattice-with",
      onchange: (event) => {
        add(event.target.value);
        event.target.value = "";
      },
    },
    element("option", { value: "" }, "choose a feature …"),
    features.map((name) => element("option", { value: name }, label(name))),
  );
  return element(
    "form",
    { class: "controls", onsubmit: (event) => event.preventDefault() },
    element("label", {}, "Only sets with ", choose),
    element(
      "label",
      {},
      "Search in the sets shown ",
      element("input", {
        type: "search",
        id: "lattice-search",
        oninput: (event) => search(levels, event.target.value),
      }),
    ),
  );
}

// Keeps the sets whose features contain every word.
/** @type {(levels: HTMLElement, typed: string) => void} */
function search(levels, typed) {
  const words = typed
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  for (const item of findAll(levels, ".set")) item.hidden = !words.every((word) => item.dataset.text?.includes(word));
}

/** @type {(found: Lattice) => string} */
function summary(found) {
  return (
    `${count(found.nodes, "irreducible set")} of ${found.subsets.toLocaleString("en")}; ` +
    (found.feasible_nodes === undefined || found.feasible_nodes === null
      ? ""
      : `${found.feasible_nodes.toLocaleString("en")} of them can be acquired as they are; `) +
    `the acquirable core is ${list(labels(found.markov_blanket)) || "empty"}.`
  );
}

/** @type {(row: LatticeLevel, found: Lattice, more: () => void) => HTMLElement} */
function level(row, found, more) {
  const most = Math.max(
    ...found.rows.flatMap(({ sets }) => sets.map((set) => Math.max(set.evi ?? 0, set.cost ?? 0))),
    1e-9,
  );
  const left = row.count - row.sets.length;
  return element(
    "section",
    { class: "level" },
    element(
      "h3",
      {},
      row.size === 0 ? "Nothing" : `Sets of ${count(row.size, "feature")}`,
      element(
        "small",
        {},
        row.size === 0
          ? ""
          : ` ${row.count.toLocaleString("en")}${left > 0 ? `, the best ${row.sets.length} shown` : ""}`,
      ),
    ),
    element(
      "ul",
      { class: "sets" },
      row.sets.map((set) => card(set, most)),
    ),
    left > 0
      ? button("Show more", more, { class: "link", "aria-label": `Show more sets of ${count(row.size, "feature")}` })
      : null,
  );
}

/** @type {(set: LatticeSet, most: number) => HTMLElement} */
function card(set, most) {
  const names = labels(set.features);
  const fill = element("span", { class: "fill" });
  const price = element("span", { class: "price" });
  fill.style.setProperty("width", `${(100 * (set.evi ?? 0)) / most}%`);
  price.style.setProperty("left", `${Math.min((100 * (set.cost ?? 0)) / most, 100)}%`);
  return element(
    "li",
    {
      class: `set${set.best ? " best" : set.on_way ? " way" : ""}${set.feasible === false ? " barred" : ""}`,
      "data-text": `${names.join(" ")} ${set.features.join(" ")}`.toLowerCase(),
    },
    element("b", {}, list(names) || "nothing"),
    set.best ? element("span", { class: "badge" }, "best set") : null,
    set.feasible === false ? element("span", { class: "badge plain" }, "not feasible as it is") : null,
    set.evi === null || set.evi === undefined
      ? null
      : element("span", { class: "track", "aria-hidden": "true" }, fill, price),
    set.evi === null || set.evi === undefined
      ? null
      : element(
          "span",
          { class: "values" },
          `worth ${money(set.evi)}, costs ${money(set.cost ?? 0)}, benefit `,
          element("b", {}, amount(set.benefit ?? 0)),
        ),
  );
}
