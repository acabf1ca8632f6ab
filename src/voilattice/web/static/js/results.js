// Where a result is entered: a button for each state, a field for a number, "not available"; and what
// would follow from a result, without entering it.

import { write } from "./address.js";
import { element, singly } from "./dom.js";
import { session } from "./session.js";
import { label, stateLabel } from "./wording.js";

// The keys are shown where they act. `take` gets the result; null is "not available".
export function resultFields(feature, take) {
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
      session.problem.states[feature].map((found, k) =>
        enterButton(found, "result", k < 9 ? String(k + 1) : "", stateLabel(feature, found)),
      ),
      enterButton(null, "quiet", "n", "not available"),
      imagineField(feature),
    ),
  );
}

// Shows the result that is entered already, if there is one.
export function markResult(fields, step) {
  fields.querySelector("output").textContent = step
    ? ` ${step[1] === null ? "not available" : stateLabel(step[0], step[1])}`
    : "";
  for (const button of fields.querySelectorAll("[data-found]"))
    button.setAttribute("aria-pressed", String(step !== undefined && button.dataset.found === JSON.stringify(step[1])));
}

export const isNumber = (feature) => Boolean(session.problem.bins?.[feature]);

// The server finds the bin of a number.
function numberForm(feature, take) {
  return element(
    "form",
    {
      class: "number-form",
      onsubmit: (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const value = form.elements[0].valueAsNumber;
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
            write({ imagined: [feature, session.problem.states[feature][Number(event.target.value) - 1]] });
        },
      },
      element("option", { value: "" }, "…"),
      session.problem.states[feature].map((found, k) =>
        element("option", { value: k + 1 }, stateLabel(feature, found)),
      ),
    ),
  );
}
