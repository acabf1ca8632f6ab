// @ts-check
// What could be acquired, what it is worth and costs; what cannot be acquired now, with the rule; and
// what is not worth considering, with the reason. No feature is missing without a word.

import { state, write } from "./address.js";
import { bar } from "./bars.js";
import { comparisonWith, overOf } from "./comparison.js";
import { $, button, element, find, findAll, isInUse, singly } from "./dom.js";
import { enter } from "./question.js";
import { resultFields } from "./results.js";
import { pendingRound, without } from "./rounds.js";
import { answered, session } from "./session.js";
import { priceField, updatePrice } from "./whatif.js";
import { count, label, labels, list, money } from "./wording.js";

/** @import { Ignored, SetEntry } from "./types.d.ts" */

/** @typedef {Pick<SetEntry, "features" | "cost" | "obstacles"> & { evi?: number }} Offer */

const MANY = 6; // reasons that are folded

const LONG = 12; // candidates; the rest of them is folded

/** @type {Set<string>} */
const open = new Set(); // the features whose rows are unfolded
let isUnfolded = false;

export function clearCandidates() {
  open.clear();
  isUnfolded = false;
  $("candidates").replaceChildren();
  $("candidates-hint").hidden = true;
  $("ignored").replaceChildren();
  $("candidates-card").classList.remove("stale");
}

const rowsShown = () => findAll($("candidates"), ":scope > li");

// There is nothing to offer for want of an answer. A row that is in use stays, and takes a result.
export function showNoCandidates() {
  for (const item of rowsShown())
    if (!isInUse(item)) {
      open.delete(item.dataset.features ?? "");
      item.remove();
    }
  $("candidates-hint").hidden = !$("candidates").childElementCount;
  $("ignored").replaceChildren();
  $("candidates-card").classList.remove("stale");
}

// The rows of features that are offered already are changed in place: somebody may be typing there.
export function showCandidates() {
  const coming = pendingRound(state());
  /** @type {(offer: Offer) => boolean} */
  const isComing = ({ features }) => features.every((name) => coming.includes(name));
  const offers = (session.advice ? [...session.advice.candidates, ...session.advice.barred] : unvalued()).filter(
    (offer) => !isComing(offer),
  );
  const most = Math.max(...offers.map((offer) => Math.max(offer.evi ?? 0, offer.cost)), 1e-9);
  const sharing = sharedPrices();
  const { steps } = state();
  const card = $("candidates-card");
  const old = new Map(rowsShown().map((item) => [item.dataset.features, item]));
  card.classList.remove("stale");
  card.inert = false;
  const rows = offers.map((offer) => row(offer, most, sharing, old.get(offer.features.join())));
  /** @type {(item: HTMLElement) => boolean} */
  const isAsked = (item) =>
    !rows.includes(item) && isInUse(item) && !steps.some(([name]) => name === item.dataset.features);
  const others = [...old.values()].filter(isAsked);
  arrange($("candidates"), [...rows, ...others]);
  fold(rows, offers);
  $("candidates-hint").hidden = !offers.length && !others.length;
  const ignored = (session.advice?.ignored ?? []).filter(({ feature }) => !coming.includes(feature));
  // What the advice prices is a new round; the open one is paid for.
  if (coming.length)
    $("candidates").prepend(
      element(
        "li",
        { class: "hint" },
        `The open round brings ${list(labels(coming))}. Anything else would be another round.`,
      ),
    );
  else if (!offers.length) $("candidates").append(element("li", {}, nothingText(ignored)));
  showIgnored(ignored);
}

// Why nothing is offered.
/** @type {(ignored: Ignored[]) => string} */
export function nothingText(ignored) {
  const dear = ignored.filter(({ reason }) => reason === "price").length;
  if (dear)
    return `Nothing that is left is worth its price: ${count(dear, "feature")} ${dear === 1 ? "is" : "are"} too dear.`;
  if (ignored.some(({ reason }) => reason === "separated"))
    return `Nothing that is left says anything more about ${label(answered.problem.target)}.`;
  return "Nothing is left to acquire.";
}

// A row with the focus is not moved: it would lose the focus.
/** @type {(box: HTMLElement, rows: Element[]) => void} */
function arrange(box, rows) {
  const still = rows.find((item) => item.contains(document.activeElement));
  if (!still) {
    box.replaceChildren(...rows);
    return;
  }
  for (const item of [...box.children]) if (!rows.includes(item)) item.remove();
  const at = rows.indexOf(still);
  still.before(...rows.slice(0, at));
  still.after(...rows.slice(at + 1));
}

// A long list begins with what matters most, and what is advised.
/** @type {(rows: HTMLElement[], offers: Offer[]) => void} */
function fold(rows, offers) {
  /** @type {(k: number) => boolean} */
  const isShown = (k) =>
    k < LONG || open.has(offers[k].features[0]) || offers[k].features.join() === session.advice?.features.join();
  const hidden = isUnfolded ? [] : rows.filter((_, k) => !isShown(k));
  if (hidden.length < 3) return;
  for (const item of hidden) item.hidden = true;
  const show = () => {
    isUnfolded = true;
    for (const item of hidden) item.hidden = false;
    hidden[0].querySelector("button")?.focus();
    more.remove();
  };
  const more = element("li", {}, button(`Show ${hidden.length} more`, show, { class: "link" }));
  $("candidates").append(more);
}

// Prices are known before worths.
/** @type {() => Offer[]} */
function unvalued() {
  const { problem, situation } = answered;
  return problem.features
    .filter((name) => name in situation.costs)
    .map((name) => ({
      features: [name],
      cost: situation.costs[name] ?? problem.costs?.[name] ?? 0,
      obstacles: situation.obstacles[name] ?? [],
    }))
    .sort((a, b) => a.obstacles.length - b.obstacles.length);
}

/** @type {() => Record<string, string>} */
function sharedPrices() {
  /** @type {Record<string, string>} */
  const found = {};
  for (const group of answered.problem.groups ?? [])
    for (const name of group.features) found[name] = `group ${group.name}`;
  for (const discount of answered.problem.discounts ?? [])
    for (const name of Object.keys(discount.off)) found[name] = `discount ${discount.name}`;
  return found;
}

/** @type {(offer: Offer, most: number, sharing: Record<string, string>, item?: HTMLElement) => HTMLElement} */
function row(offer, most, sharing, item = element("li", { "data-features": offer.features.join() })) {
  const { advice } = session;
  const { features } = offer;
  const isChosen = advice?.action === "acquire" && features.join() === advice.features.join();
  const over = overOf(features);
  const text =
    offer.evi === undefined ? `costs ${money(offer.cost)}` : `worth ${money(offer.evi)}, costs ${money(offer.cost)}`;
  const made = bar(list(labels(features)), (offer.evi ?? 0) / most, text, { isChosen, price: offer.cost / most });
  const shared = [...new Set(features.map((name) => sharing[name]).filter(Boolean))];
  if (shared.length) find(made, ".name").append(element("small", {}, list(shared)));
  if (isChosen)
    find(made, ".name").append(element("small", { class: "advised" }, session.isQuick ? "quick advice" : "advised"));
  if (over !== null) find(made, ".number").append(element("small", { class: "over" }, over));
  if (offer.obstacles?.length) {
    made.classList.add("barred");
    made.append(element("small", { class: "why" }, `Not now. ${offer.obstacles.join(" ")}`));
  }
  item.hidden = false;
  if (features.length > 1) {
    item.replaceChildren(made);
    return item;
  }
  const [feature] = features;
  const unfolded = item.querySelector(".details");
  const old = /** @type {HTMLElement | null} */ (item.firstElementChild);
  const toggle = old ?? element("button", { type: "button", onclick: () => unfold(item, feature) });
  toggle.className = made.className;
  toggle.setAttribute("aria-expanded", String(open.has(feature)));
  toggle.replaceChildren(...made.childNodes);
  if (!old) item.append(toggle);
  if (unfolded) {
    unfolded.firstElementChild?.replaceChildren(comparisonWith(feature) ?? "");
    updatePrice(unfolded, feature);
  } else if (open.has(feature)) item.append(details(feature));
  return item;
}

/** @type {(item: HTMLElement, feature: string) => void} */
function unfold(item, feature) {
  const isOpen = open.has(feature);
  if (isOpen) {
    open.delete(feature);
    item.lastChild?.remove();
  } else {
    open.add(feature);
    item.append(details(feature));
  }
  item.firstElementChild?.setAttribute("aria-expanded", String(!isOpen));
}

/** @type {(feature: string) => HTMLElement} */
function details(feature) {
  return element(
    "div",
    { class: "details" },
    element("div", {}, comparisonWith(feature)),
    resultFields(feature, (found) => enter(feature, found)),
    priceField(feature),
  );
}

/** @type {(ignored: Ignored[]) => void} */
function showIgnored(ignored) {
  const shown = new Set([...(session.advice?.barred ?? []).flatMap((offer) => offer.features)]);
  const rest = ignored.filter((entry) => !shown.has(entry.feature));
  if (!rest.length) {
    $("ignored").replaceChildren();
    return;
  }
  $("ignored").replaceChildren(
    element(
      "details",
      { open: rest.length <= MANY },
      element("summary", {}, `Not considered: ${count(rest.length, "feature")}`),
      element(
        "ul",
        { class: "reasons" },
        rest.map(({ feature, why }) =>
          element(
            "li",
            { "data-feature": feature },
            why.includes(label(feature)) ? why : `${label(feature)}: ${why}`,
            " ",
            isUnavailable(feature) ? again(feature) : null,
          ),
        ),
      ),
    ),
  );
}

/** @type {(feature: string) => boolean} */
const isUnavailable = (feature) => state().steps.some(([name, found]) => name === feature && found === null);

/** @type {(feature: string) => HTMLElement} */
const again = (feature) =>
  button(
    "It can be had after all",
    singly(() => write({ steps: without(state().steps, feature) })),
    { class: "link" },
  );
