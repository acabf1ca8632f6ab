// The views: one is shown, and filled once for each question.

import { VIEWS } from "./address.js";
import { clearCurves, fillCurves } from "./curves.js";
import { $ } from "./dom.js";
import { clearLattice, fillLattice } from "./lattice.js";
import { clearNetwork, fillNetwork } from "./network.js";
import { clearPolicy, fillPolicy } from "./policy.js";
import { session } from "./session.js";
import { clearWhatIf, fillWhatIf } from "./whatif.js";

const panels = {
  consult: "consult",
  whatif: "whatif",
  lattice: "lattice",
  policy: "tree",
  curves: "curves",
  network: "network",
};
const fillers = {
  whatif: fillWhatIf,
  lattice: fillLattice,
  policy: fillPolicy,
  curves: fillCurves,
  network: fillNetwork,
};
const again = new Set(["whatif"]); // shows more as more is known

let filled = new Set();

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

export async function fillView(now, signal) {
  if (!session.situation || signal.aborted || !(now.view in fillers) || (filled.has(now.view) && !again.has(now.view)))
    return;
  filled.add(now.view);
  await fillers[now.view](now, signal);
}

export const panelOf = (view) => $(panels[view]);
