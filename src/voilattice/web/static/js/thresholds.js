// @ts-check
// From which price, and from which stakes on, the advice changes.

import { asked } from "./address.js";
import { $, button, element } from "./dom.js";
import { isStale, startJob } from "./server.js";
import { answered, session } from "./session.js";
import { label } from "./wording.js";
import { showWorking } from "./working.js";

/** @import { State } from "./types.d.ts" */

export function clearThresholds() {
  const box = $("thresholds");
  box.querySelector(".answer")?.replaceChildren();
}

/** @type {(now: State, signal: AbortSignal) => void} */
export function showThresholds(now, signal) {
  const box = $("thresholds");
  const { problem } = answered;
  const known = new Set([...now.steps.map(([name]) => name), ...Object.keys(problem.evidence)]);
  const features = problem.features.filter((name) => !known.has(name));
  const old = box.querySelector("select")?.value ?? "";
  const answer = element("div", { class: "answer", "aria-live": "polite" });
  const feature = element(
    "select",
    { id: "threshold-feature" },
    features.map((name) =>
      element(
        "option",
        { value: name, selected: name === (features.includes(old) ? old : session.advice?.features[0]) },
        label(name),
      ),
    ),
  );
  const ask = button("Find the thresholds", () => findThresholds(now, feature.value, answer, signal), {
    id: "threshold",
  });
  box.replaceChildren(
    element(
      "p",
      { class: "hint" },
      "From which price of a feature on, and from which stakes on, the best policy uses it, and where its first step " +
        "becomes another one. All else as it is above.",
    ),
    features.length
      ? element("div", { class: "buttons" }, element("label", {}, "Feature ", feature), ask)
      : element("p", {}, "Every feature is known."),
    answer,
  );
}

/** @type {(now: State, feature: string, answer: HTMLElement, signal: AbortSignal) => Promise<void>} */
async function findThresholds(now, feature, answer, signal) {
  answer.replaceChildren();
  const job = startJob("threshold", { ...asked(now), feature }, { signal, tell: (found) => shown.tell(found) });
  const shown = showWorking(answer, "Searching …", job.cancel);
  try {
    const found = await job.result;
    answer.replaceChildren(
      ...found.text
        .split("\n")
        .filter(Boolean)
        .map((line) => element("p", {}, line)),
    );
  } catch (error) {
    if (!signal.aborted && !isStale(error)) answer.replaceChildren(element("p", {}, error.message));
  }
}
