// @ts-check
// The whole policy: what it costs, a tree that folds, and a picture of where the cases flow.

import { asked } from "./address.js";
import { $, drawing, element, fill, findAll, markWide } from "./dom.js";
import { fillByJob } from "./jobview.js";
import { amount, count, countsRounds, money } from "./wording.js";

/** @import { Policy, State } from "./types.d.ts" */

export function clearPolicy() {
  $("tree").replaceChildren();
}

/** @type {(now: State, signal: AbortSignal) => Promise<void>} */
export function fillPolicy(now, signal) {
  const box = element("div", {});
  $("tree").replaceChildren(box);
  return fillByJob(
    box,
    `Building the ${now.policy} policy …`,
    "policy",
    { ...asked(now), policy: now.policy },
    signal,
    (found) => {
      const tree = element("div", { id: "tree-list", class: "card" });
      drawing(tree, found.tree);
      for (const item of findAll(tree, "[data-p]")) item.style.setProperty("--p", item.dataset.p ?? "");
      fill(
        box,
        element("p", { id: "tree-text" }, summary(found)),
        flow(found),
        element("h2", {}, "Step by step"),
        tree,
      );
      if (found.flow) markWide($("flow-picture"));
    },
  );
}

/** @type {(found: Policy) => string} */
function summary(found) {
  return (
    `${found.policy}: expected total cost ${amount(found.expected_total_cost)}, of which ` +
    `${amount(found.expected_feature_cost)} for features; ${count(found.paths, "path")}. ` +
    (countsRounds() ? `${money(found.expected_rounds)} rounds on average. ` : "") +
    found.verdict
  );
}

/** @type {(found: Policy) => HTMLElement | null} */
function flow(found) {
  if (!found.flow) return null;
  const picture = element("div", {
    class: "picture",
    id: "flow-picture",
    tabindex: 0,
    role: "group",
    "aria-label": "Where the cases flow",
  });
  drawing(picture, found.flow);
  return element(
    "div",
    {},
    element("h2", {}, "Where the cases flow"),
    element("p", { class: "hint" }, "The wider a band, the more cases take it. Colours are decisions."),
    picture,
  );
}
