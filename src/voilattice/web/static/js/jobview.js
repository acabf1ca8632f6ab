// @ts-check
// A view that a job fills: working, cancel, the result, or why there is none.

import { button, element } from "./dom.js";
import { Cancelled, isStale, startJob } from "./server.js";
import { showWorking } from "./working.js";

/** @import { Jobs, RequestBody } from "./types.d.ts" */

/**
 * @template {keyof Jobs} Path
 * @param {HTMLElement} box
 * @param {string} text what is being done
 * @param {Path} path
 * @param {RequestBody} body
 * @param {AbortSignal} signal
 * @param {(found: Jobs[Path]) => void} show
 * @returns {Promise<void>}
 */
export async function fillByJob(box, text, path, body, signal, show) {
  const job = startJob(path, body, { signal, tell: (found) => shown.tell(found) });
  const shown = showWorking(box, text, job.cancel);
  try {
    const found = await job.result;
    box.replaceChildren();
    show(found);
  } catch (error) {
    if (signal.aborted || isStale(error)) return;
    box.replaceChildren(
      element(
        "p",
        { class: "notice" },
        error instanceof Cancelled ? "Cancelled. " : `${error.message} `,
        button("Try again", () => fillByJob(box, text, path, body, signal, show)),
      ),
    );
  }
}
