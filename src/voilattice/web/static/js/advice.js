// The advice: what to do now, why, and where its result is entered.

import { $, element, pairs } from "./dom.js";
import { clearPending, resultFields } from "./results.js";
import { session } from "./session.js";
import { action, amount, count } from "./wording.js";

const OPEN_REASONS = 3;

export function clearAdvice(isOther) {
  const card = $("advice");
  card.setAttribute("aria-busy", "true");
  $("working").replaceChildren();
  $("advice-fields").inert = true;
  clearPending();
  card.classList.remove("quick");
  if (isOther) { card.classList.remove("decide"); $("advice-fields").replaceChildren(); }
  else card.classList.add("stale");
  if (isOther) $("advice-said").replaceChildren(element("p", { class: "say", id: "say" }, "Working …"));
}

// `note` says that the advice is not the one asked for; empty: it is.
export function showAdvice(note) {
  const { advice, isQuick } = session, isDecided = advice.action === "decide";
  const card = $("advice");
  card.classList.remove("stale");
  card.classList.toggle("decide", isDecided);
  card.classList.toggle("quick", isQuick);
  $("advice-said").replaceChildren(
    note ? element("p", { class: "badge", id: "quick" }, note) : "",
    element("p", { class: "say", id: "say" }, action(advice)),
    ...reasons(advice.reasons));
  $("advice-fields").inert = false;
  $("advice-fields").replaceChildren(...(isDecided ? [total()] : advice.features.map((feature, k) =>
    resultFields(feature, { hasKeys: k === 0, batch: advice.features }))));
  card.setAttribute("aria-busy", "false");
}

export function showNoAdvice(text) {
  const card = $("advice");
  card.classList.remove("stale", "decide", "quick");
  $("advice-said").replaceChildren(element("p", { class: "say", id: "say" }, text));
  $("advice-fields").replaceChildren();
  $("working").replaceChildren();
  card.setAttribute("aria-busy", "false");
}

// The first reasons say why. What is not possible now, and what is left, stands in other cards too.
function reasons(all) {
  const isElsewhere = (reason) => /^(Not now:|Left of the limits:)/.test(reason);
  const line = (reason) => element("p", {}, reason);
  const open = all.filter((reason) => !isElsewhere(reason)).slice(0, OPEN_REASONS);
  const rest = all.filter((reason) => !open.includes(reason));
  if (!rest.length) return open.map(line);
  return [...open.map(line), element("details", {}, element("summary", {}, count(rest.length, "more remark")), rest.map(line))];
}

function total() {
  const { advice } = session;
  return element("dl", { id: "bill" }, pairs([
    ["Spent on features", amount(advice.spent)],
    ["Expected cost of the decision", amount(advice.emc)],
    ["Total", amount(advice.spent + advice.emc)],
  ]));
}
