// @ts-check
// A visible "working": what is done, how far it is, and a way to end it.

import { button, element } from "./dom.js";

/** @import { JobStatus } from "./types.d.ts" */

/** @typedef {{ tell: (status: JobStatus) => void, end: () => void }} Working */

/** @type {(box: HTMLElement, text: string, cancel?: () => void) => Working} */
export function showWorking(box, text, cancel) {
  const said = element("p", {}, text);
  const bar = element("progress", { max: 1, "aria-label": text });
  box.replaceChildren(
    element("div", { class: "working" }, said, bar, cancel ? button("Cancel", cancel, { class: "cancel" }) : null),
  );
  return {
    tell({ state, progress, fraction }) {
      said.textContent = state === "queued" ? "Waiting for other work …" : progress ? `${text} ${progress}` : text;
      if (fraction === null || fraction === undefined) bar.removeAttribute("value");
      else bar.value = fraction;
    },
    end() {
      box.replaceChildren();
    },
  };
}
