// @ts-check
// The advice: what to do now, where its result is entered, and why.
//
// While somebody answers a question, or a round is open, other advice does not replace it. It is
// announced beside it, with a button that goes there. The fields are above everything that changes by itself.

import { state, write } from "./address.js";
import { $, button, element, pairs } from "./dom.js";
import { isSame, meet } from "./entry.js";
import { ask, askNothing, go, isEngaged, questionShown, stop } from "./question.js";
import { isOpen, pendingOf } from "./rounds.js";
import { answered, session } from "./session.js";
import { action, amount, count, decisionLabel, labels, list } from "./wording.js";

/** @import { Change } from "./entry.js" */
/** @import { State } from "./types.d.ts" */

const OPEN_REASONS = 3;

let isRound = false; // an open round is shown
let note = ""; // see `showAdvice`

// The open round of an address, if it is one of this problem.
/** @type {(now: State) => string[] | null} */
const roundOf = ({ round, steps }) =>
  isOpen(round, steps) && round.every((name) => Object.hasOwn(session.problem?.states ?? {}, name)) ? round : null;

/** @type {(now: State, isOther: boolean) => void} */
export function clearAdvice(now, isOther) {
  const card = $("advice");
  card.setAttribute("aria-busy", "true");
  $("working").replaceChildren();
  card.classList.remove("quick");
  announce(null);
  if (isOther) {
    card.classList.remove("stale", "decide");
    say("Working …");
    $("advice-why").replaceChildren();
    askNothing();
  } else {
    $("advice-why").classList.add("stale");
    if (isEngaged(now)) go(now); // other results may be here
    if (roundOf(now) || isEngaged(now)) return;
    card.classList.add("stale");
    stop();
  }
}

// An open round is shown before any advice: it is in the address. While somebody answers another
// question it waits, as advice does. Returns what it does to the question, see `meet`.
/** @type {(now: State) => Change | null} */
export function showRound(now) {
  const round = roundOf(now);
  const change = round && meet(questionShown(), round, isEngaged(now));
  isRound = round !== null && change !== "hold";
  if (round && change === "hold") {
    announce(
      `Results of a round are to come: ${list(labels(pendingOf(round, now.steps)))}`,
      "Go to the round",
      leaveQuestion,
    );
    go(now);
  } else if (round) {
    $("advice").classList.remove("stale", "decide");
    say(action({ action: "acquire", features: round, decision: null }));
    if (change === "keep") go(now);
    else ask(round, now);
  }
  return change;
}

// `about` says that the advice is not the one asked for; empty: it is.
/** @type {(now: State, about: string) => void} */
export function showAdvice(now, about) {
  const { advice, isQuick } = answered;
  const isDecided = advice.action === "decide";
  const card = $("advice");
  const advised = isDecided ? [] : advice.features;
  note = about;
  const isRoundHeld = showRound(now) === "hold";
  const change = meet(questionShown(), advised, isEngaged(now));
  if (isRound) {
    const isGoingOn = isSame(advised, pendingOf(questionShown(), now.steps));
    announce(
      isGoingOn ? null : `If the rest of the round is left out, the advice is: ${action(advice)}`,
      "Plan again without the rest",
      leaveRound,
    );
    explain([]);
  } else if (isRoundHeld) {
    explain([]);
  } else if (change === "hold") {
    const next = isDecided ? `decide ${decisionLabel(advice.decision)}` : list(labels(advised));
    const text = `The advice has changed: ${list(labels(questionShown()))} -> ${next}`;
    announce(text, "Go to the new advice", leaveQuestion);
    explain([]);
    go(now);
  } else {
    card.classList.remove("stale");
    card.classList.toggle("decide", isDecided);
    announce(null);
    say(action(advice));
    if (isDecided) askNothing(total());
    else if (change === "keep") go(now);
    else ask(advised, now);
    explain(advice.reasons);
  }
  card.classList.toggle("quick", isQuick);
  card.setAttribute("aria-busy", "false");
}

// The address asks the same, but it may have an open round, or have left one. Returns whether it does.
/** @type {(now: State) => boolean} */
export function followRound(now) {
  const round = roundOf(now);
  const isOther = session.advice && (round ? !isSame(questionShown(), round) : isRound);
  if (isOther) showAdvice(now, note);
  return Boolean(isOther);
}

/** @type {(now: State, text: string) => void} */
export function showNoAdvice(now, text) {
  const card = $("advice");
  card.classList.remove("quick");
  announce(null);
  $("working").replaceChildren();
  const isKept = roundOf(now) || isEngaged(now);
  note = isKept ? text : "";
  explain([]);
  if (isKept) {
    go(now);
    showRound(now);
  } else {
    card.classList.remove("stale", "decide");
    say(text);
    askNothing();
  }
  card.setAttribute("aria-busy", "false");
}

/** @type {(text: string) => void} */
function say(text) {
  if ($("say").textContent !== text) $("say").textContent = text;
}

// What has changed beside the question that is shown, and the way there.
/** @type {(text: string | null, way?: string, leave?: () => void) => void} */
function announce(text, way = "", leave) {
  const box = $("advice-changed");
  box.hidden = text === null;
  box.replaceChildren(...(text === null ? [] : [element("p", {}, text), button(way, leave)]));
}

function leaveRound() {
  write({ round: null });
  leaveQuestion();
}

function leaveQuestion() {
  askNothing();
  if (session.advice) showAdvice(state(), note);
  else showRound(state());
  $("main").focus({ preventScroll: true });
}

/** @type {(all: string[]) => void} */
function explain(all) {
  $("advice-why").classList.remove("stale");
  $("advice-why").replaceChildren(note ? element("p", { class: "badge", id: "quick" }, note) : "", ...reasons(all));
}

// The first reasons say why. What is not possible now, and what is left, stands in other cards too.
/** @type {(all: string[]) => HTMLElement[]} */
function reasons(all) {
  /** @type {(reason: string) => boolean} */
  const isElsewhere = (reason) => /^(Not now:|Left of the limits:)/.test(reason);
  /** @type {(reason: string) => HTMLElement} */
  const line = (reason) => element("p", {}, reason);
  const open = all.filter((reason) => !isElsewhere(reason)).slice(0, OPEN_REASONS);
  const rest = all.filter((reason) => !open.includes(reason));
  if (!rest.length) return open.map(line);
  return [
    ...open.map(line),
    element("details", {}, element("summary", {}, count(rest.length, "more remark")), rest.map(line)),
  ];
}

function total() {
  const { advice } = answered;
  return element(
    "dl",
    { id: "bill" },
    pairs([
      ["Spent on features", amount(advice.spent)],
      ["Expected cost of the decision", amount(advice.emc)],
      ["Total", amount(advice.spent + advice.emc)],
    ]),
  );
}
