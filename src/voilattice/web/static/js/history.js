// What was found so far and what it cost; and what is known for free, or cannot be had.

import { state, write } from "./address.js";
import { $, button, element } from "./dom.js";
import { isNumber } from "./results.js";
import { freeStep, isFree, rounds, without } from "./rounds.js";
import { session } from "./session.js";
import { countsRounds, label, money, stateLabel } from "./wording.js";

const CANNOT = "cannot"; // be had

export function showHistory(now) {
  const { problem, situation } = session;
  const paid = new Map((situation?.bill ?? []).map((round) => [round.features[0], round]));
  const same = problem && countsRounds() ? rounds(now.steps).flatMap((round) => round.slice(1)) : [];
  $("history").replaceChildren(...now.steps.map((step) => {
    const [feature, found] = step, round = paid.get(feature);
    const text = found === null ? `${label(feature)}: not available` : `${label(feature)} = ${stateLabel(feature, found)}`;
    const note = isFree(step) ? " (known for free)" : same.includes(feature) ? " (same round)" : null;
    return element("li", {}, element("span", { class: "found" }, text, note ? element("small", {}, note) : null),
      round ? element("span", { class: "paid", title: describe(round) }, money(round.cost)) : null,
      button("×", () => write({ steps: without(state().steps, feature) }), { class: "link", "aria-label": `Take back ${label(feature)}` }));
  }));
  $("undo").disabled = $("again").disabled = !now.steps.length;
  showFree(now);
}

const describe = (round) => (round.items ?? []).map(({ what, amount }) => `${what} ${money(amount)}`).join(", ");

// The form is made once for a problem, and then offers what is left: a person may be filling it in.
function showFree(now) {
  const { problem } = session, box = $("free");
  const left = problem ? problem.features.filter((name) => !(name in problem.evidence) && !now.steps.some(([taken]) => taken === name)) : [];
  if (!left.length) { box.replaceChildren(); return; }
  if (box.dataset.problem !== problem.name || !box.childElementCount) { box.dataset.problem = problem.name; box.replaceChildren(freeForm()); }
  const feature = box.querySelector("select"), chosen = feature.value;
  if ([...feature.options].map((option) => option.value).join() === left.join()) return;
  feature.replaceChildren(...left.map((name) => element("option", { value: name, selected: name === chosen }, label(name))));
  if (feature.value !== chosen) feature.onchange();
}

function freeForm() {
  const value = element("span", { class: "value" });
  const feature = element("select", { "aria-label": "Feature" });
  feature.onchange = () => value.replaceChildren(...valueFields(feature.value));
  const submit = (event) => {
    event.preventDefault();
    const name = feature.value, typed = value.querySelector("input")?.valueAsNumber, chosen = value.querySelector("select").value;
    const found = Number.isFinite(typed) ? typed : session.problem.states[name][Number(chosen)];
    if (chosen === CANNOT && !Number.isFinite(typed)) write({ steps: [...state().steps, [name, null]] });
    else if (found !== undefined) write({ steps: [...state().steps, freeStep(name, found)] });
  };
  return element("details", { class: "no-print" }, element("summary", {}, "Already known, or not to be had"),
    element("p", { class: "hint" }, "What is already known costs nothing. A test that cannot be had is left out of the advice."),
    element("form", { class: "free-form", onsubmit: submit }, feature, value, element("button", {}, "Add")));
}

function valueFields(feature) {
  return [
    isNumber(feature) ? element("input", { type: "number", step: "any", "aria-label": `${label(feature)} as a number`, placeholder: "number" }) : null,
    element("select", { "aria-label": "Result" },
      isNumber(feature) ? element("option", { value: "" }, "or a range …") : null,
      session.problem.states[feature].map((found, k) => element("option", { value: k }, stateLabel(feature, found))),
      element("option", { value: CANNOT }, "cannot be had")),
  ].filter(Boolean);
}
