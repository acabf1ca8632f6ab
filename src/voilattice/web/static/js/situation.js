// @ts-check
// What is known: the posterior, what deciding now would cost, what is spent and what is left.

import { bar } from "./bars.js";
import { $, element, pairs } from "./dom.js";
import { answered } from "./session.js";
import { amount, decisionLabel, label, money, percent } from "./wording.js";

/** @import { PathLimits } from "./types.d.ts" */

export function clearSituation() {
  for (const id of ["target", "posterior", "decisions", "money", "rules", "currency"]) $(id).replaceChildren();
  $("rules-card").hidden = true;
}

export function showSituation() {
  const { problem, situation } = answered;
  $("situation").classList.remove("stale");
  $("target").textContent = `What is ${label(problem.target)}?`;
  $("posterior").replaceChildren(
    ...Object.entries(situation.posterior).map(([name, p]) =>
      element("li", {}, bar(decisionLabel(name), p, percent(p))),
    ),
  );
  const dearest = Math.max(...Object.values(situation.decision_costs), 1e-9);
  $("decisions").replaceChildren(
    ...Object.entries(situation.decision_costs).map(([name, cost]) =>
      element(
        "li",
        {},
        bar(decisionLabel(name), cost / dearest, money(cost), { isChosen: name === situation.decision }),
      ),
    ),
  );
  $("money").replaceChildren(
    ...pairs([
      ["Expected cost of deciding now", amount(situation.emc)],
      ["Spent so far", amount(situation.spent)],
      ...left(situation.left),
    ]),
  );
  $("rules").replaceChildren(...problem.rules.map((rule) => element("li", {}, rule)));
  $("rules-card").hidden = !problem.rules.length;
  $("currency").textContent = problem.currency ? `Amounts are in ${problem.currency}.` : "";
}

// What is left of the limits, where there are some.
/** @type {(limits: PathLimits) => string[][]} */
function left({ spend, features, rounds }) {
  return [
    ...(spend === null ? [] : [["Left to spend", amount(spend)]]),
    ...(features === null ? [] : [["Features left", String(features)]]),
    ...(rounds === null ? [] : [["Rounds left", String(rounds)]]),
  ];
}
