// @ts-check
// What differs from the problem as it was given, in words, each with its way back.

import { asGiven, expectedOf, isChanged, replaceResult, state, write } from "./address.js";
import { $ } from "./dom.js";
import { session } from "./session.js";
import { amount, decisionLabel, label, list, money, stateLabel } from "./wording.js";

/** @import { State } from "./types.d.ts" */

/** @type {(now: State) => { text: string, undo: () => void }[]} */
export function changesOf(now) {
  const { problem } = session;
  /** @type {(name: string) => string} */
  const own = (name) => (problem?.costs && name in problem.costs ? ` in place of ${money(problem.costs[name])}` : "");
  const found = Object.entries(now.prices).map(([name, price]) => ({
    text: `${label(name)} costs ${money(price)}${own(name)}`,
    undo: () => write({ prices: withoutKey(state().prices, name) }),
  }));
  for (const [name, was] of now.replaced) {
    const is = now.steps.find(([other]) => other === name)?.[1];
    found.push({
      text: `${label(name)} is ${stateLabel(name, is)} in place of ${stateLabel(name, was)}`,
      undo: () => write(replaceResult(state(), name, was)),
    });
  }
  if (now.kind) {
    found.push({
      text: `${now.kind} costs of decisions, ${amount(expectedOf(now))} at stake`,
      undo: () => write({ kind: "", expected: null }),
    });
  } else {
    for (const [decision, actual, cost] of now.cells)
      found.push({
        text: `deciding ${decisionLabel(decision)} if it is ${decisionLabel(actual)} costs ${money(cost)}`,
        undo: () => write({ cells: state().cells.filter(([d, a]) => d !== decision || a !== actual) }),
      });
    if (now.scale !== 1)
      found.push({ text: `wrong decisions cost ${scaleText(now.scale)} as much`, undo: () => write({ scale: 1 }) });
  }
  return found;
}

/** @type {(scale: number) => string} */
export const scaleText = (scale) => `${Number(scale.toPrecision(3))} times`;

/** @type {(table: Record<string, number>, name: string) => Record<string, number>} */
export function withoutKey(table, name) {
  return Object.fromEntries(Object.entries(table).filter(([key]) => key !== name));
}

export const undoAll = () => write(asGiven(state()));

/** @type {(now: State) => void} */
export function showChanged(now) {
  const isShown = isChanged(now);
  $("changed").hidden = !isShown;
  if (isShown)
    $("changed-text").textContent = `Not the problem as given: ${list(changesOf(now).map(({ text }) => text))}.`;
}
