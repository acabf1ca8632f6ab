// @ts-check
// Where a result is entered: a button for each state, a field for a number, "not available"; and what
// would follow from a result, without entering it.

import { write } from "./address.js";
import { element, find, findAll, singly } from "./dom.js";
import { answered } from "./session.js";
import { label, stateLabel } from "./wording.js";

/** @import { Result, Step } from "./types.d.ts" */

// The keys are shown where they act. `take` gets the result; null is "not available".
/** @type {(feature: string, take: (found: Result) => void) => HTMLElement} */
export function resultFields(feature, take) {
  /** @type {(found: Result, kind: string, key: string, text: string) => HTMLElement} */
  const enterButton = (found, kind, key, text) =>
    element(
      "button",
      {
        type: "button",
        class: kind,
        "data-found": JSON.stringify(found),
        onclick: singly(() => take(found)),
      },
      key ? element("kbd", { "aria-hidden": "true" }, key) : null,
      text,
    );
  return element(
    "fieldset",
    { "data-feature": feature },
    element("legend", {}, `What did ${label(feature)} show?`, element("output", {})),
    element(
      "div",
      { class: "buttons" },
      isNumber(feature) ? numberForm(feature, take) : null,
      answered.problem.states[feature].map((found, k) =>
        enterButton(found, "result", k < 9 ? String(k + 1) : "", stateLabel(feature, found)),
      ),
      enterButton(null, "quiet", "n", "not available"),
      imagineField(feature),
    ),
  );
}

// Shows the result that is entered already, if there is one.
/** @type {(fields: HTMLElement, step: Step | undefined) => void} */
export function markResult(fields, step) {
  find(fields, "output").textContent = step
    ? ` ${step[1] === null ? "not available" : stateLabel(step[0], step[1])}`
    : "";
  for (const button of findAll(fields, "[data-found]"))
    button.setAttribute("aria-pressed", String(step !== undefined && button.dataset.found === JSON.stringify(step[1])));
}

/** @type {(feature: string) => boolean} */
export const isNumber = (feature) => Boolean(answered.problem.bins?.[feature]);

// The server finds the bin of a number.
/** @type {(feature: string, take: (found: Result) => void) => HTMLElement} */
function numberForm(feature, take) {
  return element(
    "form",
    {
      class: "number-form",
      onsubmit: (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const value = find(form, "input").valueAsNumber;
        if (!Number.isFinite(value)) return;
        form.reset(); // entered: nothing is typed any more
        take(value);
      },
    },
    element("input", {
      type: "number",
      step: "any",
      required: true,
      placeholder: " ",
      "aria-label": `${label(feature)} as a number`,
    }),
    element("button", {}, "enter"),
  );
}

/** @type {(feature: string) => HTMLElement} */
function imagineField(feature) {
  return element(
    "label",
    { class: "imagine" },
    "What if it were ",
    element(
      "select",
      {
        "aria-label": `What if ${label(feature)} were`,
        onchange: (event) => {
          if (event.target.value)
            write({ imagined: [feature, answered.problem.states[feature][Number(event.target.value) - 1]] });
        },
      },
      element("option", { value: "" }, "…"),
      answered.problem.states[feature].map((found, k) =>
        element("option", { value: k + 1 }, stateLabel(feature, found)),
      ),
    ),
  );
}
