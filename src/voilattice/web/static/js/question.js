// @ts-check
// The question on the page: the features that are asked for, and the fields for their results. Fields are
// made for other features only, so that what is being typed, and where, stays.

import { state, write } from "./address.js";
import { $, element, isInUse } from "./dom.js";
import { MOVING, SEEING, SETTLING } from "./entry.js";
import { markResult, resultFields } from "./results.js";
import { isOpen, pendingOf, withEntry } from "./rounds.js";
import { label } from "./wording.js";

/** @import { Result, State } from "./types.d.ts" */

/** @type {string[]} */
let shown = []; // the features
let isWaiting = false; // for the next question
/** @type {string | null} */
let target = null; // the feature that the keys answer
// Timers: until keys act after a change of the question, or of the target; until clicks do.
/** @type {number | undefined} */
let settling;
/** @type {number | undefined} */
let moving;
/** @type {number | undefined} */
let shielding;

export const questionShown = () => shown;

export const isSettling = () => settling !== undefined || moving !== undefined;

// Whether somebody is answering the question: a focus or a text in a field that still asks.
/** @type {(now: State) => boolean} */
export const isEngaged = (now) => pendingOf(shown, now.steps).length > 0 && isInUse($("advice-fields"));

// What is asked for together with a feature.
/** @type {(feature: string) => string[]} */
export const batchOf = (feature) => (shown.includes(feature) ? shown : [feature]);

/** @type {(features: string[], now: State) => void} */
export function ask(features, now) {
  change(
    features,
    features.map((feature) => resultFields(feature, (found) => enter(feature, found, features))),
  );
  go(now);
}

// Nothing is asked: `contents` are in the place of the fields.
/** @type {(...contents: HTMLElement[]) => void} */
export function askNothing(...contents) {
  change([], contents);
  $("progress").hidden = true;
  isWaiting = false;
  update();
}

/** @type {(features: string[], contents: HTMLElement[]) => void} */
function change(features, contents) {
  const isSudden = shown.length > 0 && !isWaiting; // nobody asked for the change
  const isOther = shown.length > 0 || features.length > 0;
  shown = features;
  target = null;
  $("advice-fields").replaceChildren(...contents);
  if (!isOther) return;
  // The shield first: when the keys look as if they acted, it is gone.
  clearTimeout(shielding);
  shielding = setTimeout(
    () => {
      shielding = undefined;
      update();
    },
    isSudden ? SETTLING : SEEING,
  );
  settle();
}

// No key acts for a second.
function settle() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    settling = undefined;
    update();
  }, SETTLING);
}

// Keys that were meant for a field are no answers if the field vanishes, whatever took it away.
export function watchFields() {
  /** @type {Set<Element>} */
  const used = new Set();
  $("consult").addEventListener("focusin", (event) => {
    const field = /** @type {Element} */ (event.target);
    if (field.matches("input, select")) used.add(field);
  });
  new MutationObserver(() => {
    const gone = [...used].filter((field) => !field.isConnected);
    if (!gone.length) return;
    for (const field of gone) used.delete(field);
    settle();
    update();
  }).observe($("consult"), { childList: true, subtree: true });
}

// The question waits for results again. Shows which are here, and where the keys act.
/** @type {(now: State) => void} */
export function go(now) {
  const pending = pendingOf(shown, now.steps);
  const isMany = shown.length > 1;
  const isMoved = target !== null && pending.length > 0 && (pending[0] !== target || isWaiting);
  isWaiting = false;
  target = pending[0] ?? target;
  if (isMoved) {
    clearTimeout(moving);
    moving = setTimeout(() => {
      moving = undefined;
      update();
    }, MOVING);
  }
  for (const fields of $("advice-fields").querySelectorAll("fieldset")) {
    const { feature } = fields.dataset;
    fields.classList.toggle("next", feature === pending[0]);
    if (isMany)
      markResult(
        fields,
        now.steps.find(([name]) => name === feature),
      );
  }
  $("progress").hidden = !isMany;
  $("progress").replaceChildren(
    `${shown.length - pending.length} of ${shown.length} results are in. `,
    isMany && pending.length ? element("span", {}, `Keys act on ${label(pending[0])}.`) : "",
  );
  update();
}

// Another question is on its way.
export function stop() {
  isWaiting = true;
  update();
}

function update() {
  $("advice-fields").inert = isWaiting || shielding !== undefined;
  $("advice-fields").toggleAttribute("data-settling", isSettling());
}

// Enters a result. `batch`: what was asked for together with it. Unless others of its round are to come, nobody
// answers the question any more when the page hears of it: the focus leaves the fields first.
/** @type {(feature: string, found: Result, batch?: string[]) => void} */
export function enter(feature, found, batch) {
  const entered = withEntry(state(), feature, found, batch);
  if (!isOpen(entered.round, entered.steps) || !entered.round.includes(feature))
    $("main").focus({ preventScroll: true });
  write({ ...entered, imagined: null });
}

// The fields where the keys act.
export const nextFields = () => ($("advice-fields").inert ? null : $("advice-fields").querySelector("fieldset.next"));
