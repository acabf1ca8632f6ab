// @ts-check
// Cost curves: what each policy costs from low to high stakes, and by how much it misses the best one.

import { asked, expectedOf } from "./address.js";
import { bar } from "./bars.js";
import { $, element, fill, table } from "./dom.js";
import { fillByJob } from "./jobview.js";
import { lines } from "./lines.js";
import { answered } from "./session.js";
import { amount, change, money } from "./wording.js";

/** @import { Series } from "./lines.js" */
/** @import { ComparisonRow, State } from "./types.d.ts" */

/** @typedef {(policy: string, expected: number) => { policy: string, expected_total_cost: number }} CostAt */

const POINTS = 20;
const TIE = 0.005;

export function clearCurves() {
  $("curves").replaceChildren();
}

/** @type {Record<string, [name: string, about: string]>} */
const KINDS = {
  given: ["the problem's own", "The costs of decisions are the problem's own, all multiplied by the same factor."],
  symmetric: ["symmetric", "Not the problem's own costs of decisions: here every wrong decision costs the same."],
  asymmetric: [
    "asymmetric",
    "Not the problem's own costs of decisions: here a wrong decision costs more where what it really is is rare.",
  ],
};

/** @type {(now: State, signal: AbortSignal) => Promise<void>} */
export function fillCurves(now, signal) {
  const stake = stakeOf(now);
  const isKnown = now.steps.some(([, found]) => found !== null) || Object.keys(answered.problem.evidence).length > 0;
  const points = Array.from({ length: POINTS + 1 }, (_, k) => (k * (stake > 0 ? 4 * stake : 100)) / POINTS);
  const text = element("p", { id: "curves-text" });
  const shown = element("div", {});
  // With a scaled kind in the place of the problem's own costs, those are not swept.
  const kinds = Object.keys(KINDS).filter((kind) => kind !== "given" || !now.kind);
  let running = new AbortController();
  const choose = element(
    "select",
    { id: "curves-kind", onchange: () => load() },
    kinds.map((kind) => element("option", { value: kind, selected: kind === now.kind }, KINDS[kind][0])),
  );
  const load = () => {
    const kind = choose.value;
    const box = element("div", {});
    running.abort();
    running = new AbortController();
    text.textContent =
      `What each policy costs from here on, from low to high stakes. ${KINDS[kind][1]} ` +
      `Stakes are what deciding costs on average before anything is known: ${amount(stake)} now.` +
      (isKnown
        ? " In this case something is known, so deciding at once (“none”) costs more or less than the stakes."
        : "");
    shown.replaceChildren(box);
    return fillByJob(
      box,
      "Comparing the policies …",
      "compare",
      { ...asked(now), points, kinds: [kind] },
      AbortSignal.any([signal, running.signal]),
      (found) => fill(box, ...curvesOf(found.rows, stake)),
    );
  };
  $("curves").replaceChildren(text, element("p", {}, element("label", {}, "Costs of decisions ", choose)), shown);
  return load();
}

// What deciding costs on average before anything is known.
/** @type {(now: State) => number} */
function stakeOf(now) {
  if (now.kind) return expectedOf(now);
  const { prior, misclassification } = answered.problem;
  const changed = new Map(now.cells.map(([decision, actual, cost]) => [JSON.stringify([decision, actual]), cost]));
  /** @type {(decision: string, row: Record<string, number>) => number} */
  const risk = (decision, row) =>
    Object.entries(row).reduce(
      (sum, [actual, cost]) => sum + prior[actual] * (changed.get(JSON.stringify([decision, actual])) ?? cost),
      0,
    );
  return now.scale * Math.min(...Object.entries(misclassification).map(([decision, row]) => risk(decision, row)));
}

/** @type {(rows: ComparisonRow[], stake: number) => HTMLElement[]} */
function curvesOf(rows, stake) {
  const policies = [...new Set(rows.map((row) => row.policy))];
  const stakes = [...new Set(rows.map((row) => row.expected))].sort((a, b) => a - b);
  // Of an optimum that is not proved, the cost is the upper bound.
  const costs = new Map(rows.map((row) => [`${row.expected} ${row.policy}`, row.expected_total_cost ?? row.at_most]));
  /** @type {CostAt} */
  const at = (policy, expected) => ({ policy, expected_total_cost: costs.get(`${expected} ${policy}`) ?? 0 });
  return contents(policies, stakes, at, stake);
}

/** @type {(policies: string[], stakes: number[], at: CostAt, stake: number) => HTMLElement[]} */
function contents(policies, stakes, at, stake) {
  const nearest = stakes.reduce((best, x, k) => (Math.abs(x - stake) < Math.abs(stakes[best] - stake) ? k : best), 0);
  const beside = element("div", { id: "curves-point", "aria-live": "polite" });
  /** @type {(k: number) => void} */
  const show = (k) =>
    beside.replaceChildren(...pointTable(policies, stakes[k], at, k === nearest && Math.abs(stakes[k] - stake) < TIE));
  const slider = element("input", {
    type: "range",
    id: "curves-stake",
    min: 0,
    max: stakes.length - 1,
    value: nearest,
    "aria-label": "Stakes of the table",
    oninput: (event) => show(Number(event.target.value)),
  });
  show(nearest);
  /** @type {(x: number) => number} */
  const least = (x) => Math.min(...policies.map((policy) => at(policy, x).expected_total_cost));
  /** @type {(base: (x: number) => number) => Series[]} */
  const series = (base) =>
    policies.map((policy) => ({
      name: policy,
      points: stakes.map((x) => [x, Math.max(at(policy, x).expected_total_cost - base(x), 0)]),
    }));
  const picture = element("div", { id: "curves-picture" });
  /** @type {(isAbove: boolean) => void} */
  const drawLines = (isAbove) =>
    picture.replaceChildren(
      isAbove
        ? lines(series(least), { x: "stakes", y: "cost above the best" })
        : lines(
            series(() => 0),
            { x: "stakes", y: "expected total cost" },
          ),
    );
  const above = element("input", {
    type: "checkbox",
    id: "curves-above",
    onchange: (event) => drawLines(event.target.checked),
  });
  drawLines(false);
  return [
    element(
      "div",
      { class: "columns even" },
      element(
        "div",
        { class: "card" },
        element("label", { class: "choice" }, above, "Only what each costs above the best"),
        picture,
      ),
      element("div", { class: "card" }, element("label", { class: "slider" }, "Stakes of the table", slider), beside),
    ),
    element(
      "details",
      { class: "card" },
      element("summary", {}, "All stakes: what each policy costs above the best"),
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "group", "aria-label": "All stakes" },
        wholeTable(policies, stakes, at),
      ),
    ),
  ];
}

/** @type {(policies: string[], expected: number, at: CostAt, isNow: boolean) => HTMLElement[]} */
function pointTable(policies, expected, at, isNow) {
  const rows = policies
    .map((policy) => at(policy, expected))
    .sort((a, b) => a.expected_total_cost - b.expected_total_cost);
  const least = rows[0].expected_total_cost;
  const most = Math.max(rows[rows.length - 1].expected_total_cost, 1e-9);
  return [
    element("h3", {}, `At stakes of ${amount(expected)}${isNow ? ", as they are now" : ""}`),
    element(
      "ul",
      { class: "bars narrow" },
      rows.map((row) =>
        element(
          "li",
          {},
          bar(
            row.policy,
            row.expected_total_cost / most,
            `${money(row.expected_total_cost)} ${over(row.expected_total_cost - least)}`,
            { isChosen: row.expected_total_cost - least < TIE },
          ),
        ),
      ),
    ),
  ];
}

/** @type {(x: number) => string} */
const over = (x) => (x < TIE ? "least" : change(x));

/** @type {(policies: string[], stakes: number[], at: CostAt) => HTMLElement} */
function wholeTable(policies, stakes, at) {
  return table(
    "Best cost, and what each policy adds to it",
    ["stakes", "least", ...policies],
    stakes.map((expected) => {
      const costs = policies.map((policy) => at(policy, expected).expected_total_cost);
      const least = Math.min(...costs);
      return [
        money(expected),
        money(least),
        ...costs.map((cost) => (cost - least < TIE ? "·" : `+${money(cost - least)}`)),
      ];
    }),
  );
}
