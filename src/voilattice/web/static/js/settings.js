// The settings above the views. On a phone they fold away behind a button.

import { write } from "./address.js";
import { $, element } from "./dom.js";
import { session } from "./session.js";
import { titleOf } from "./wording.js";

export function showSettings(now) {
  const { problem } = session;
  const select = $("problem");
  if (now.problem && ![...select.options].some((option) => option.value === now.problem))
    select.append(element("option", { value: now.problem }, now.problem));
  if (problem && now.problem.startsWith("upload-"))
    [...select.options].find((option) => option.value === now.problem).textContent = titleOf(problem);
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

export const begin = (problem, changes = {}) => write({ ...NEW, problem, ...changes });

export function wireSettings() {
  $("problem").onchange = (event) => begin(event.target.value);
  $("policy").onchange = (event) => write({ policy: event.target.value });
  $("settings").onsubmit = (event) => event.preventDefault();
  $("settings-toggle").onclick = () => {
    const isOpen = $("settings").classList.toggle("open");
    $("settings-toggle").setAttribute("aria-expanded", String(isOpen));
  };
}
