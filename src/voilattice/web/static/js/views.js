// @ts-check
// The views: one is shown, and filled once for each question.

import { VIEWS } from "./address.js";
import { clearCurves, fillCurves } from "./curves.js";
import { $ } from "./dom.js";
import { clearLattice, fillLattice } from "./lattice.js";
import { clearNetwork, fillNetwork } from "./network.js";
import { clearPolicy, fillPolicy } from "./policy.js";
import { session } from "./session.js";
import { clearWhatIf, fillWhatIf } from "./whatif.js";

/** @import { State, View } from "./types.d.ts" */

/** @type {Record<View, string>} */
const panels = {
  consult: "consult",
  whatif: "whatif",
  lattice: "lattice",
  policy: "tree",
  curves: "curves",
  network: "network",
};
/** @type {Partial<Record<View, (now: State, signal: AbortSignal) => void | Promise<void>>>} */
const fillers = {
  whatif: fillWhatIf,
  lattice: fillLattice,
  policy: fillPolicy,
  curves: fillCurves,
  network: fillNetwork,
};
/** @type {Set<View>} */
const again = new Set(["whatif"]); // shows more as more is known

/** @type {Set<View>} */
let filled = new Set();

/** @type {(name: View) => void} */
export function selectView(name) {
  for (const view of VIEWS) {
    const tab = $(`tab-${view}`);
    tab.setAttribute("aria-selected", String(view === name));
    tab.tabIndex = view === name ? 0 : -1;
    $(panels[view]).hidden = view !== name;
  }
}

export function clearViews() {
  filled = new Set();
  for (const clear of [clearWhatIf, clearLattice, clearPolicy, clearCurves, clearNetwork]) clear();
}

/** @type {(now: State, signal: AbortSignal) => Promise<void>} */
export async function fillView(now, signal) {
  const fill = fillers[now.view];
  if (!session.situation || signal.aborted || !fill || (filled.has(now.view) && !again.has(now.view))) return;
  filled.add(now.view);
  await fill(now, signal);
}
