// @ts-check
// The sheet that is printed: title, date, policy, certificate, advice, what was found, the itemised bill.

import { state } from "./address.js";
import { changesOf } from "./changes.js";
import { $, element, table } from "./dom.js";
import { isFree, pendingRound } from "./rounds.js";
import { session } from "./session.js";
import { action, amount, decisionLabel, label, labels, list, money, percent, stateLabel, titleOf } from "./wording.js";

/** @import { Advice, Standing, State } from "./types.d.ts" */

export function printSheet() {
  fillSheet(state()); // the date may be another one
  print();
}

/** @type {(now: State) => void} */
export function fillSheet(now) {
  const { problem, situation, advice, isQuick } = session;
  if (!problem || !situation) {
    $("sheet").replaceChildren();
    return;
  }
  const date = new Date().toLocaleString("en", { dateStyle: "long", timeStyle: "short" });
  const changes = changesOf(now);
  const unavailable = now.steps.filter(([, found]) => found === null);
  const free = now.steps.filter((step) => isFree(step) && step[1] !== null);
  $("sheet").replaceChildren(
    element("h1", {}, titleOf(problem)),
    element("p", {}, `${date}. Policy: ${isQuick ? "greedy (quick advice)" : now.policy}.`),
    changes.length ? element("p", {}, `Not the problem as given: ${list(changes.map(({ text }) => text))}.`) : "",
    element("h2", {}, advice ? action(advice) : "No advice yet."),
    pendingRound(now).length
      ? element("p", {}, `Results of the last round are to come: ${list(labels(pendingRound(now)))}.`)
      : "",
    ...(advice?.reasons ?? []).map((reason) => element("p", {}, reason)),
    certificate(advice, isQuick),
    bill(situation),
    free.length
      ? element(
          "p",
          {},
          `Known for free: ${list(free.map(([name, found]) => `${label(name)} = ${stateLabel(name, found)}`))}.`,
        )
      : "",
    unavailable.length ? element("p", {}, `Not available: ${list(unavailable.map(([name]) => label(name)))}.`) : "",
    element(
      "div",
      { class: "pair" },
      table(
        `What is ${label(problem.target)}?`,
        ["", "probability"],
        Object.entries(situation.posterior).map(([name, p]) => [decisionLabel(name), percent(p)]),
      ),
      table(
        "What deciding now would cost",
        ["", "expected cost"],
        Object.entries(situation.decision_costs).map(([name, cost]) => [decisionLabel(name), amount(cost)]),
      ),
    ),
    problem.rules.length
      ? element(
          "div",
          {},
          element("h2", {}, "Rules"),
          element(
            "ul",
            {},
            problem.rules.map((rule) => element("li", {}, rule)),
          ),
        )
      : "",
    element(
      "p",
      { class: "small" },
      `The advice is only as good as the network. Go on with this consultation at ${location.href}`,
    ),
  );
}

/** @type {(advice: Advice | null, isQuick: boolean) => HTMLElement | string} */
function certificate(advice, isQuick) {
  if (!advice) return "";
  const bound = `no policy costs less than ${amount(advice.lower_bound ?? 0)}`;
  const text =
    isQuick || advice.fallback
      ? "Quick advice: nothing is claimed about its cost."
      : state().policy !== "optimal"
        ? "Nothing is claimed about the cost of this policy."
        : advice.exact
          ? "Certificate: proved optimal. No policy costs less on average from here."
          : `Certificate: not proved optimal; ${bound} on average from here.`;
  return element("p", { class: "certificate" }, text, advice.note ? ` ${advice.note}` : "");
}

/** @type {(situation: Standing) => HTMLElement} */
function bill(situation) {
  const rows = situation.bill.flatMap((round) => {
    const found = Object.entries(round.results)
      .map(([name, result]) => `${label(name)} = ${stateLabel(name, result)}`)
      .join(", ");
    const items =
      (round.items ?? []).length > 1
        ? round.items.map(({ what, amount: part }) => `${what} ${money(part)}`).join(", ")
        : "";
    return [[found, items, amount(round.cost)]];
  });
  const made = table(
    "The bill",
    ["found", "made of", "cost"],
    [
      ...rows,
      ["Spent on features", "", amount(situation.spent)],
      ["Expected cost of deciding now", "", amount(situation.emc)],
      ["Total", "", amount(situation.spent + situation.emc)],
    ],
  );
  made.classList.add("bill");
  return made;
}
