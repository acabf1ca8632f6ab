// @ts-check
// Why this and not that: what going on in the best way costs with each feature first, and which
// outcome makes the difference.

import { asked, state } from "./address.js";
import { showCandidates } from "./candidates.js";
import { $, button, element, steadily, table } from "./dom.js";
import { pendingRound } from "./rounds.js";
import { call, isStale } from "./server.js";
import { answered, session } from "./session.js";
import { action, amount, label, labels, list, money, percent, stateLabel } from "./wording.js";

/** @import { FirstStep, FirstSteps, Question } from "./types.d.ts" */

const TIE = 0.005; // what two decimals do not show
const FEW = 2; // ties that are named

export function clearComparison() {
  $("compare").hidden = true;
  $("compare-text").textContent = "";
}

// `isSoon`: the question is small enough to answer it unasked.
/** @type {(body: Question, signal: AbortSignal, isSoon: boolean) => void} */
export function offerComparison(body, signal, isSoon) {
  // In an open round, what the first steps cost would be said of a new one.
  if (!answered.advice.candidates.length || pendingRound(state()).length) return;
  if (isSoon) compare(body, signal);
  else offer(body, signal);
}

/** @type {(body: Question, signal: AbortSignal) => void} */
function offer(body, signal) {
  $("compare").hidden = false;
  $("compare").onclick = () => compare(body, signal);
}

/** @type {(body: Question, signal: AbortSignal) => Promise<void>} */
async function compare(body, signal) {
  $("compare").hidden = true;
  $("compare-text").textContent = "Comparing first steps …";
  try {
    const found = await call("POST", "first-steps", { ...body, policy: "optimal" }, signal);
    session.steps = found;
    $("compare-text").textContent = summary(found);
    steadily(showCandidates);
  } catch (error) {
    if (signal.aborted || isStale(error)) return;
    $("compare-text").textContent = `First steps could not be compared: ${error.message}.`;
    offer(body, signal);
  }
}

/** @type {(found: FirstSteps) => string} */
function summary({ decide, steps, exact }) {
  const best = steps.find((step) => step.over <= TIE);
  if (!exact)
    return "Time or memory did not suffice for the exact cost of each first step: what is said of them are bounds.";
  if (!best || best.cost_to_go > decide) return `Deciding now costs ${amount(decide)}, and no first step lowers that.`;
  const costs = `Going on in the best way costs ${amount(best.cost_to_go)} from here; deciding now, ${amount(decide)}.`;
  return `${costs} “+” is what another first step adds.`;
}

// The step of some features; in rounds, the step of one feature may be a set with others.
/** @type {(features: string[], steps?: FirstStep[]) => FirstStep | undefined} */
function stepOf(features, steps = session.steps?.steps ?? []) {
  return (
    steps.find((step) => step.features.join() === features.join()) ??
    (features.length === 1 ? steps.find((step) => step.features.includes(features[0])) : undefined)
  );
}

// What taking some features first adds to the cost of going on in the best way.
/** @type {(features: string[]) => string | null} */
export function overOf(features) {
  const step = stepOf(features);
  if (!step) return null;
  const others = step.features.filter((name) => !features.includes(name));
  const what = others.length ? `first, with ${list(labels(others))}` : "first";
  if (!isExact(step)) return `${what}: ${money(step.lower_bound)} to ${money(step.cost_to_go)}`;
  return `${what}: ${money(step.cost_to_go)}, ${step.over <= TIE ? `the least${tieOf(step)}` : `+${money(step.over)}`}`;
}

// Other first steps that cost as little.
/** @type {(step: FirstStep) => string} */
function tieOf(step) {
  const ties = answered.steps.steps.filter((other) => other !== step && other.over <= TIE && isExact(other));
  if (ties.length > FEW) return `, as for ${ties.length} others`;
  return ties.length ? `, as for ${ties.map(({ features }) => list(labels(features))).join(" or ")}` : "";
}

/** @type {(step: FirstStep) => boolean} */
const isExact = (step) => step.cost_to_go - step.lower_bound <= TIE;

/** @type {(feature: string) => HTMLElement | null} */
export function comparisonWith(feature) {
  const step = stepOf([feature]);
  if (!step) {
    const isAsked = session.advice && !session.isQuick && !session.steps && !$("compare").hidden;
    if (!isAsked) return null;
    const compareHere = () => compareOne(feature, box);
    const box = element("p", { class: "hint" }, button(`What if ${label(feature)} came first?`, compareHere));
    return box;
  }
  return comparison(step);
}

/** @type {(feature: string, box: HTMLElement) => Promise<void>} */
async function compareOne(feature, box) {
  box.textContent = "Comparing …";
  const features = [...new Set([feature, ...answered.advice.features])];
  try {
    const found = await call("POST", "first-steps", { ...asked(state()), policy: "optimal", features });
    const step = /** @type {FirstStep} */ (stepOf([feature], found.steps));
    box.replaceWith(comparison(step, stepOf(session.advice?.features ?? [], found.steps)));
  } catch (error) {
    box.textContent = `This could not be compared: ${error.message}.`;
  }
}

/** @type {(step: FirstStep, reference?: FirstStep) => HTMLElement} */
function comparison(step, reference = bestStep()) {
  const isBest = reference && step.features.join() === reference.features.join();
  const name = list(labels(step.features));
  return element(
    "div",
    { class: "comparison" },
    element("p", {}, step.text),
    element(
      "details",
      {},
      element(
        "summary",
        {},
        isBest || !reference
          ? `What follows from ${name} first`
          : `What follows: ${name} or ${list(labels(reference.features))} first`,
      ),
      element("div", { class: "beside" }, outcomes(step), isBest || !reference ? null : outcomes(reference)),
    ),
  );
}

const bestStep = () => stepOf(session.steps?.chosen ?? []) ?? session.steps?.steps.find((step) => step.over <= TIE);

/** @type {(step: FirstStep) => HTMLElement} */
function outcomes(step) {
  const name = list(labels(step.features));
  return table(
    `${name} first: ${amount(step.cost_to_go)} in all, ${money(step.cost)} of it for ${name}`,
    ["result", "chance", "then", "still to pay"],
    step.outcomes.map((outcome) => [
      Object.entries(outcome.result)
        .map(([feature, found]) => stateLabel(feature, found))
        .join(", "),
      percent(outcome.probability),
      action(outcome.then).replace(/\.$/, ""),
      money(outcome.cost_to_go),
    ]),
  );
}
