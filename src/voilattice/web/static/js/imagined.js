// @ts-check
// If a result were so: posterior, decision and next step beside the present ones. Nothing is entered.

import { asked, write } from "./address.js";
import { $, button, element, singly, table } from "./dom.js";
import { batchOf, enter } from "./question.js";
import { withEntry } from "./rounds.js";
import { call, isPassing, isStale, startJob } from "./server.js";
import { answered, session } from "./session.js";
import { action, amount, decisionLabel, label, percent, stateLabel } from "./wording.js";

/** @import { Advice, Finding, Standing, State } from "./types.d.ts" */

/** @typedef {{ situation: Standing | null, advice: Advice | null }} Then */

let shown = ""; // the question that the card answers
let redraw = () => {};

// The present advice has come.
export const updateImagined = () => redraw();

// Another problem is asked about.
export function clearImagined() {
  shown = "";
  $("imagined").hidden = true;
  $("imagined").replaceChildren();
}

/** @type {(now: State, signal: AbortSignal) => Promise<void>} */
export async function showImagined(now, signal) {
  const card = $("imagined");
  const { imagined } = now;
  const isKnown = !imagined || imagined[1] === null || now.steps.some(([name]) => name === imagined[0]);
  card.hidden = isKnown || now.view !== "consult" || !session.situation;
  const question = JSON.stringify([asked(now), now.policy, imagined]);
  if (isKnown) {
    clearImagined();
    return;
  }
  if (!session.situation) return; // it comes with the answer
  if (shown === question && !card.classList.contains("stale")) return;
  shown = question;
  const [feature, found] = imagined;
  const body = asked({ ...now, ...withEntry(now, feature, found, batchOf(feature)) });
  /** @type {Then} */
  const then = { situation: null, advice: null };
  card.classList.remove("stale");
  const draw = () => {
    if (shown === question && !signal.aborted) card.replaceChildren(...contents(imagined, then));
  };
  redraw = draw;
  draw();
  try {
    then.situation = await call("POST", "posterior", body, signal);
    draw();
    then.advice = await startJob("jobs/advise", { ...body, policy: now.policy }, { signal }).result;
    draw();
  } catch (error) {
    if (signal.aborted || isStale(error)) {
      if (shown === question) shown = "";
      return;
    }
    card.replaceChildren(
      element("h2", {}, title(imagined)),
      element("p", {}, `There is no answer: ${error.message}`),
      element(
        "p",
        { class: "buttons" },
        isPassing(error)
          ? button("Try again", () => {
              shown = "";
              showImagined(now, signal);
            })
          : null,
        close(),
      ),
    );
  }
}

/** @type {(imagined: Finding) => string} */
const title = ([feature, found]) => `If ${label(feature)} were ${stateLabel(feature, found)} …`;

const close = () => button("Close", () => write({ imagined: null }));

/** @type {(imagined: Finding, then: Then) => HTMLElement[]} */
function contents(imagined, then) {
  const { situation } = answered;
  const { advice, isQuick } = session;
  const waiting = "working …";
  /** @type {(step: Advice | null, isSure: boolean) => string} */
  const next = (step, isSure) => (step ? action(step).replace(/\.$/, "") + (isSure ? "" : " (quick advice)") : waiting);
  const rows = [
    ...Object.keys(situation.posterior).map((name) => [
      decisionLabel(name),
      percent(situation.posterior[name]),
      then.situation ? percent(then.situation.posterior[name]) : waiting,
    ]),
    [
      "Best decision",
      decisionLabel(situation.decision),
      then.situation ? decisionLabel(then.situation.decision) : waiting,
    ],
    ["Its expected cost", amount(situation.emc), then.situation ? amount(then.situation.emc) : waiting],
    ["Next step", next(advice, !isQuick), next(then.advice, true)],
    ["Spent", amount(situation.spent), then.situation ? amount(then.situation.spent) : waiting],
  ];
  const [feature, found] = imagined;
  return [
    element("h2", {}, title(imagined)),
    element("div", { class: "scroll" }, table("Nothing is entered yet.", ["", "now", "then"], rows)),
    element(
      "p",
      { class: "buttons" },
      button(
        "Enter this result",
        singly(() => enter(feature, found, batchOf(feature))),
      ),
      close(),
    ),
  ];
}
