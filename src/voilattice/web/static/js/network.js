// @ts-check
// The network that all of it rests on, and the report on it.

import { $, button, element, markWide } from "./dom.js";
import { openReport } from "./report.js";
import { networkAddress } from "./server.js";
import { answered } from "./session.js";
import { label, titleOf } from "./wording.js";

export function clearNetwork() {
  $("network").replaceChildren();
}

export function fillNetwork() {
  const { problem } = answered;
  const picture = element("img", {
    src: networkAddress(problem.name),
    alt: `The network of ${titleOf(problem)}: what depends on what.`,
  });
  picture.onerror = () => picture.replaceWith(element("p", {}, "The picture of the network could not be loaded."));
  const box = element(
    "div",
    { class: "picture", id: "network-picture", tabindex: 0, role: "group", "aria-label": "The network" },
    picture,
  );
  picture.onload = () => markWide(box);
  $("network").replaceChildren(
    element(
      "p",
      {},
      `${label(problem.target)} is to be decided. An arrow goes from what influences to what is influenced.`,
    ),
    box,
    element("p", { class: "buttons no-print" }, button("Report to print", openReport, { id: "report-network" })),
  );
}
