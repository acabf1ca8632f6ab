// Keys: 1 to 9 enter a result, n is "not available", u takes back; arrows move between the views. A field
// that is folded away does not count as being typed in.

import { state, VIEWS, write } from "./address.js";
import { $, typedIn } from "./dom.js";
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
  document.querySelector(".skip").onclick = (event) => {
    event.preventDefault();
    $("main").focus();
  };
  document.onkeydown = (event) => {
    if (state().view !== "consult") return;
    const isTyping =
      /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) ||
      typedIn($("consult")).some((field) => field.getClientRects().length);
    const meaning = meaningOf(event, { isTyping, isSettling: isSettling() });
    if (meaning === "undo") takeBackLast();
    else if (meaning === "unavailable") nextFields()?.querySelector("button.quiet").click();
    else if (meaning) nextFields()?.querySelectorAll("button.result")[meaning.result]?.click();
  };
}
