// Cost curves: what each policy costs from low to high stakes, and by how much it misses the best one.

import { asked, expectedOf } from "./address.js";
import { bar } from "./bars.js";
import { $, element, fill, table } from "./dom.js";
import { fillByJob } from "./jobview.js";
import { lines } from "./lines.js";
import { session } from "./session.js";
import { amount, change, money } from "./wording.js";

const POINTS = 20;
const TIE = 0.005;

export function clearCurves() { $("curves").replaceChildren(); }

export function fillCurves(now, signal) {
  const stake = now.kind ? expectedOf(now) : session.problem.emc * now.scale;
  const top = Math.max(4 * Math.round(stake), 100);
  const points = Array.from({ length: POINTS + 1 }, (_, k) => k * top / POINTS);
  const box = element("div", {});
  $("curves").replaceChildren(box);
  return fillByJob(box, "Comparing the policies …", "compare", { ...asked(now), points }, signal, (found) => {
    const kinds = [...new Set(found.rows.map((row) => row.kind))];
    const shown = element("div", {});
    const show = (kind) => shown.replaceChildren(...curvesOf(found.rows.filter((row) => row.kind === kind), stake));
    const choose = element("select", { id: "curves-kind", onchange: (event) => show(event.target.value) },
      kinds.map((kind) => element("option", { value: kind, selected: kind === now.kind }, kind)));
    fill(box, element("p", { id: "curves-text" }, "What each policy costs in all, from low to high stakes. Stakes are the expected cost of deciding with nothing known."),
      kinds.length > 1 ? element("p", {}, element("label", {}, "Costs of decisions ", choose)) : null, shown);
    show(kinds.includes(now.kind) ? now.kind : kinds[0]);
  });
}

function curvesOf(rows, stake) {
  const policies = [...new Set(rows.map((row) => row.policy))];
  const stakes = [...new Set(rows.map((row) => row.expected))].sort((a, b) => a - b);
  // Of an optimum that is not proved, the cost is the upper bound.
  const costs = new Map(rows.map((row) => [`${row.expected} ${row.policy}`, row.expected_total_cost ?? row.at_most]));
  const at = (policy, expected) => ({ policy, expected_total_cost: costs.get(`${expected} ${policy}`) ?? 0 });
  return contents(policies, stakes, at, stake);
}

function contents(policies, stakes, at, stake) {
  const nearest = stakes.reduce((best, x, k) => (Math.abs(x - stake) < Math.abs(stakes[best] - stake) ? k : best), 0);
  const beside = element("div", { id: "curves-point", "aria-live": "polite" });
  const show = (k) => beside.replaceChildren(...pointTable(policies, stakes[k], at));
  const slider = element("input", { type: "range", id: "curves-stake", min: 0, max: stakes.length - 1, value: nearest,
    "aria-label": "Stakes of the table", oninput: (event) => show(Number(event.target.value)) });
  show(nearest);
  const least = (x) => Math.min(...policies.map((policy) => at(policy, x).expected_total_cost));
  const series = (base) => policies.map((policy) => ({ name: policy, points: stakes.map((x) => [x, Math.max(at(policy, x).expected_total_cost - base(x), 0)]) }));
  const picture = element("div", { id: "curves-picture" });
  const drawLines = (isAbove) => picture.replaceChildren(isAbove ? lines(series(least), { x: "stakes", y: "cost above the best" })
    : lines(series(() => 0), { x: "stakes", y: "expected total cost" }));
  const above = element("input", { type: "checkbox", id: "curves-above", onchange: (event) => drawLines(event.target.checked) });
  drawLines(false);
  return [
    element("div", { class: "columns even" },
      element("div", { class: "card" }, element("label", { class: "choice" }, above, "Only what each costs above the best"), picture),
      element("div", { class: "card" }, element("label", { class: "slider" }, "Stakes of the table", slider), beside)),
    element("details", { class: "card" }, element("summary", {}, "All stakes: what each policy costs above the best"),
      element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "All stakes" }, wholeTable(policies, stakes, at))),
  ];
}

function pointTable(policies, expected, at) {
  const rows = policies.map((policy) => at(policy, expected)).sort((a, b) => a.expected_total_cost - b.expected_total_cost);
  const least = rows[0].expected_total_cost, most = Math.max(rows.at(-1).expected_total_cost, 1e-9);
  return [
    element("h3", {}, `At stakes of ${amount(expected)}`),
    element("ul", { class: "bars narrow" }, rows.map((row) => element("li", {},
      bar(row.policy, row.expected_total_cost / most, `${money(row.expected_total_cost)} ${over(row.expected_total_cost - least)}`, { isChosen: row.expected_total_cost - least < TIE })))),
  ];
}

const over = (x) => (x < TIE ? "least" : change(x));

function wholeTable(policies, stakes, at) {
  return table("Best cost, and what each policy adds to it", ["stakes", "least", ...policies], stakes.map((expected) => {
    const costs = policies.map((policy) => at(policy, expected).expected_total_cost), least = Math.min(...costs);
    return [money(expected), money(least), ...costs.map((cost) => (cost - least < TIE ? "·" : `+${money(cost - least)}`))];
  }));
}
