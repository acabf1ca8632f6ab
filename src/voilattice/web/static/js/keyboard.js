// @ts-check
// Keys: 1 to 9 enter a result, n is "not available", u takes back; arrows move between the views. A field
// that is folded away does not count as being typed in.

import { state, VIEWS, write } from "./address.js";
import { $, find, findAll, typedIn } from "./dom.js";
import { meaningOf } from "./entry.js";
import { takeBackLast } from "./history.js";
import { isSettling, nextFields, watchFields } from "./question.js";

export function wireKeyboard() {
  for (const name of VIEWS) {
    $(`tab-${name}`).onclick = () => write({ view: name });
    $(`tab-${name}`).onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next =
        event.key === "Home"
          ? VIEWS[0]
          : event.key === "End"
            ? VIEWS.at(-1)
            : step && VIEWS[(VIEWS.indexOf(name) + step + VIEWS.length) % VIEWS.length];
      if (!next) return;
      event.preventDefault();
      $(`tab-${next}`).focus();
      write({ view: next });
    };
  }
  watchFields();
  find(document, ".skip").onclick = (event) => {
    event.preventDefault();
    $("main").focus();
  };
  document.onkeydown = (event) => {
    if (state().view !== "consult") return;
    const { tagName } = /** @type {Element} */ (event.target);
    const isTyping =
      /INPUT|SELECT|TEXTAREA/.test(tagName) || typedIn($("consult")).some((field) => field.getClientRects().length > 0);
    const meaning = meaningOf(event, { isTyping, isSettling: isSettling() });
    if (meaning === "undo") {
      takeBackLast();
      return;
    }
    const fields = nextFields();
    if (!meaning || !fields) return;
    if (meaning === "unavailable") find(fields, "button.quiet").click();
    else findAll(fields, "button.result")[meaning.result]?.click();
  };
}
