// Keys: 1 to 9 enter a result, n is "not available", u takes back; arrows move between the views.

import { VIEWS, state, write } from "./address.js";
import { $ } from "./dom.js";

export function wireKeyboard() {
  for (const name of VIEWS) {
    $("tab-" + name).onclick = () => write({ view: name });
    $("tab-" + name).onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = event.key === "Home" ? VIEWS[0] : event.key === "End" ? VIEWS.at(-1)
        : step && VIEWS[(VIEWS.indexOf(name) + step + VIEWS.length) % VIEWS.length];
      if (!next) return;
      event.preventDefault();
      $("tab-" + next).focus();
      write({ view: next });
    };
  }
  document.querySelector(".skip").onclick = (event) => { event.preventDefault(); $("main").focus(); };
  document.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
    if (state().view !== "consult") return;
    if (event.key === "u" && !$("undo").disabled) $("undo").click();
    const fields = $("advice-fields"), first = fields.querySelector("fieldset");
    if (!first || fields.inert) return;
    const results = [...first.querySelectorAll("button.result")];
    if (/^[1-9]$/.test(event.key)) results[Number(event.key) - 1]?.click();
    if (event.key === "n") first.querySelector("button.quiet").click();
  };
}
