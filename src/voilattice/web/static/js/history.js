// @ts-check
// What was found so far and what it cost; and what is known for free, or cannot be had.

import { state, write } from "./address.js";
import { $, button, element, find, singly } from "./dom.js";
import { isNumber } from "./results.js";
import { freeStep, isFree, rounds, withoutLast, withoutResult } from "./rounds.js";
import { answered, session } from "./session.js";
import { countsRounds, label, money, stateLabel } from "./wording.js";

/** @import { Purchase, State, Step } from "./types.d.ts" */

const CANNOT = "cannot"; // be had

/** @type {(now: State) => void} */
export function showHistory(now) {
  const { problem, situation } = session;
  const paid = new Map((situation?.bill ?? []).map((round) => [round.features[0], round]));
  const same = problem && countsRounds() ? rounds(now.steps).flatMap((round) => round.slice(1)) : [];
  $("history").replaceChildren(
    ...now.steps.map((step) => {
      const [feature, found] = step;
      const round = paid.get(feature);
      const text =
        found === null ? `${label(feature)}: not available` : `${label(feature)} = ${stateLabel(feature, found)}`;
      const note = isFree(step) ? " (known for free)" : same.includes(feature) ? " (same round)" : null;
      return element(
        "li",
        {},
        element("span", { class: "found" }, text, note ? element("small", {}, note) : null),
        round ? element("span", { class: "paid", title: describe(round) }, money(round.cost)) : null,
        button(
          "×",
          singly(() => write(withoutResult(state(), feature))),
          { class: "link", "aria-label": `Take back ${label(feature)}` },
        ),
      );
    }),
  );
  $("undo").disabled = $("again").disabled = !now.steps.length;
  showFree(now);
}

export const takeBackLast = () => {
  if (state().steps.length) write(withoutLast(state()));
};

/** @type {(round: Purchase) => string} */
const describe = (round) => (round.items ?? []).map(({ what, amount }) => `${what} ${money(amount)}`).join(", ");

// The form is made once for a problem, and then offers what is left: a person may be filling it in.
/** @type {(now: State) => void} */
function showFree(now) {
  const { problem } = session;
  const box = $("free");
  const left = problem
    ? problem.features.filter((name) => !(name in problem.evidence) && !now.steps.some(([taken]) => taken === name))
    : [];
  if (!problem || !left.length) {
    box.replaceChildren();
    return;
  }
  if (box.dataset.problem !== problem.name || !box.childElementCount) {
    box.dataset.problem = problem.name;
    box.replaceChildren(freeForm());
  }
  const feature = find(box, "select");
  const chosen = feature.value;
  if (
    [...feature.options]
      .slice(1)
      .map((option) => option.value)
      .join() === left.join()
  )
    return;
  feature.replaceChildren(
    element("option", { value: "" }, "which …"),
    ...left.map((name) => element("option", { value: name, selected: name === chosen }, label(name))),
  );
  if (feature.value !== chosen) offerValues(feature, find(box, ".value"));
}

/** @type {(feature: HTMLSelectElement, box: HTMLElement) => void} */
const offerValues = (feature, box) => box.replaceChildren(...(feature.value ? valueFields(feature.value) : []));

// Nothing is chosen beforehand, and nothing after each result: one that is added was chosen. A key that
// is held down, or the second click of a double one, adds nothing.
function freeForm() {
  const value = element("span", { class: "value" });
  const feature = element("select", { "aria-label": "Feature", required: true });
  feature.onchange = () => offerValues(feature, value);
  /** @type {(event: Event) => void} */
  const submit = (event) => {
    event.preventDefault();
    const name = feature.value;
    const typed = value.querySelector("input")?.valueAsNumber;
    const chosen = find(value, "select").value;
    /** @type {Step} */
    const step =
      typed !== undefined && Number.isFinite(typed)
        ? freeStep(name, typed)
        : chosen === CANNOT
          ? [name, null]
          : freeStep(name, answered.problem.states[name][Number(chosen)]);
    feature.value = "";
    offerValues(feature, value);
    write({ steps: [...state().steps, step] });
  };
  /** @type {<Press extends Event>(isAgain: (event: Press) => boolean) => (event: Press) => void} */
  const refuse = (isAgain) => (event) => {
    if (isAgain(event)) event.preventDefault();
  };
  return element(
    "details",
    { class: "no-print" },
    element("summary", {}, "Already known, or not to be had"),
    element(
      "p",
      { class: "hint" },
      "What is already known costs nothing. A test that cannot be had is left out of the advice.",
    ),
    element(
      "form",
      { class: "free-form", onsubmit: submit, onkeydown: refuse((event) => event.repeat && event.key === "Enter") },
      feature,
      value,
      element("button", { onclick: refuse((event) => event.detail > 1) }, "Add"),
    ),
  );
}

// A state, or, where there are ranges, a number in its place: what is given last counts.
/** @type {(feature: string) => HTMLElement[]} */
function valueFields(feature) {
  const { states } = answered.problem;
  const result = element(
    "select",
    { "aria-label": "Result", required: true },
    element("option", { value: "" }, isNumber(feature) ? "or a range …" : "what …"),
    states[feature].map((found, k) => element("option", { value: k }, stateLabel(feature, found))),
    element("option", { value: CANNOT }, "cannot be had"),
  );
  if (!isNumber(feature)) return [result];
  const number = element("input", {
    type: "number",
    step: "any",
    "aria-label": `${label(feature)} as a number`,
    placeholder: "number",
  });
  number.oninput = () => {
    result.value = "";
    result.required = number.value === "";
  };
  result.onchange = () => {
    number.value = "";
    result.required = true;
  };
  return [number, result];
}
