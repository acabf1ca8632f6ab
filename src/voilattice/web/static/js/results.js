// Where results are entered: a button for each state, a field for a number, "not available"; and
// what would follow from a result, without entering it.

import { state, write } from "./address.js";
import { $, element } from "./dom.js";
import { session } from "./session.js";
import { label, stateLabel } from "./wording.js";

let pending = {}; // results of a batch, of which some are still to come

export const clearPending = () => { pending = {}; };

export function resultFields(feature, { hasKeys = false, batch = [feature] } = {}) {
  const enterButton = (found, kind, key, text) => element("button", {
    type: "button", class: kind, "aria-pressed": batch.length > 1 ? "false" : undefined,
    onclick: (event) => enter(feature, found, batch, event.currentTarget),
  }, hasKeys && key ? element("kbd", { "aria-hidden": "true" }, key) : null, text);
  return element("fieldset", { "data-feature": feature },
    element("legend", {}, `What did ${label(feature)} show?`),
    element("div", { class: "buttons" },
      isNumber(feature) ? numberForm(feature, (value, form) => enter(feature, value, batch, form)) : null,
      session.problem.states[feature].map((found, k) => enterButton(found, "result", k < 9 ? String(k + 1) : "", stateLabel(feature, found))),
      enterButton(null, "quiet", "n", "not available"),
      imagineField(feature)));
}

export const isNumber = (feature) => Boolean(session.problem.bins?.[feature]);

// The server finds the bin of a number.
export function numberForm(feature, take, text = "enter") {
  return element("form", {
    class: "number-form",
    onsubmit: (event) => {
      event.preventDefault();
      const value = event.currentTarget.elements[0].valueAsNumber;
      if (Number.isFinite(value)) take(value, event.currentTarget);
    },
  }, element("input", { type: "number", step: "any", required: true, "aria-label": `${label(feature)} as a number` }),
  element("button", {}, text));
}

function imagineField(feature) {
  return element("label", { class: "imagine" }, "What if it were ", element("select", {
    "aria-label": `What if ${label(feature)} were`,
    onchange: (event) => { if (event.target.value) write({ imagined: [feature, session.problem.states[feature][Number(event.target.value) - 1]] }); },
  }, element("option", { value: "" }, "…"),
  session.problem.states[feature].map((found, k) => element("option", { value: k + 1 }, stateLabel(feature, found)))));
}

// What is acquired together is entered together: the next advice waits for the last result.
function enter(feature, found, batch, pressed) {
  if ($("advice").getAttribute("aria-busy") === "true" && !session.situation) return; // the click before is being answered
  pending[feature] = found;
  for (const other of pressed.parentElement.children)
    if (other.hasAttribute("aria-pressed")) other.setAttribute("aria-pressed", String(other === pressed));
  if (!batch.every((name) => name in pending)) return;
  const entered = Object.entries(pending).filter(([name]) => batch.includes(name)).map((step, k) => (k ? [...step, true] : step));
  pending = {};
  session.situation = null;
  write({ steps: [...state().steps.filter(([name]) => !batch.includes(name)), ...entered], imagined: null });
  $("main").focus({ preventScroll: true });
}

