// @ts-check
// The settings above the views. On a phone they fold away behind a button.

import { write } from "./address.js";
import { $, element } from "./dom.js";
import { session } from "./session.js";
import { titleOf } from "./wording.js";

/** @import { State } from "./types.d.ts" */

/** @type {(now: State) => void} */
export function showSettings(now) {
  const { problem } = session;
  const select = $("problem");
  let option = [...select.options].find(({ value }) => value === now.problem);
  if (!option && now.problem) {
    option = element("option", { value: now.problem }, now.problem);
    select.append(option);
  }
  if (option && problem && now.problem.startsWith("upload-")) option.textContent = titleOf(problem);
  select.value = now.problem;
  $("policy").value = now.policy;
  $("title").textContent = problem ? titleOf(problem) : "Which test next?";
}

export function fillSettings() {
  $("policy").replaceChildren(...session.policies.map((name) => element("option", { value: name }, name)));
  $("problem").replaceChildren(
    ...session.entries.map((entry) =>
      element("option", { value: entry.name }, entry.title ? `${entry.name}: ${entry.title}` : entry.name),
    ),
  );
}

/** @type {Partial<State>} */
const NEW = {
  steps: [],
  round: null,
  entered: [],
  replaced: [],
  imagined: null,
  prices: {},
  cells: [],
  scale: 1,
  kind: "",
  expected: null,
};

/** @type {(problem: string, changes?: Partial<State>) => void} */
export const begin = (problem, changes = {}) => write({ ...NEW, problem, ...changes });

export function wireSettings() {
  $("problem").onchange = () => begin($("problem").value);
  $("policy").onchange = () => write({ policy: $("policy").value });
  $("settings").onsubmit = (event) => event.preventDefault();
  $("settings-toggle").onclick = () => {
    const isOpen = $("settings").classList.toggle("open");
    $("settings-toggle").setAttribute("aria-expanded", String(isOpen));
  };
}
