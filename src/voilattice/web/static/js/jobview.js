// A view that a job fills: working, cancel, the result, or why there is none.

import { button, element } from "./dom.js";
import { Cancelled, isStale, startJob } from "./server.js";
import { showWorking } from "./working.js";

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
