// @ts-check
// A question, from the address to the page. What belongs to the question before is greyed or emptied
// at once. Posterior, prices and bill come first; then, if the policy takes a while, a quick policy's
// advice, marked as such; then the advice of the policy.

import * as address from "./address.js";
import { clearAdvice, followRound, showAdvice, showNoAdvice, showRound } from "./advice.js";
import { clearCandidates, showCandidates, showNoCandidates } from "./candidates.js";
import { showChanged } from "./changes.js";
import { clearComparison, offerComparison } from "./comparison.js";
import { $, button, isInUse, steadily } from "./dom.js";
import { showHistory } from "./history.js";
import { clearImagined, showImagined, updateImagined } from "./imagined.js";
import { Cancelled, call, findProblem, isPassing, isStale, pause, startJob } from "./server.js";
import { session } from "./session.js";
import { showSettings } from "./settings.js";
import { fillSheet } from "./sheet.js";
import { clearSituation, showSituation } from "./situation.js";
import { clearViews, fillView, selectView } from "./views.js";
import { titleOf } from "./wording.js";
import { showWorking } from "./working.js";

/** @import { Advice, Failure, ProblemSummary, Question, State } from "./types.d.ts" */

const QUICK = "greedy";
const QUICK_AFTER = 250; // ms; an answer that comes sooner needs no quick one before it
const SOON = 2000; // ms; what was solved this fast is compared with other first steps unasked

/** @type {string | null} */
let question = null; // what the page shows answers to
let run = new AbortController(); // ends with its question
let offer = () => {}; // offers to compare the first steps

// `again` does once more what has failed; it is offered where that may help.
/** @type {(error: Failure | null, again?: () => void) => void} */
export function say(error, again) {
  $("error").hidden = !error;
  $("error").replaceChildren(
    ...(error ? [/[.!?]$/.test(error.message) ? error.message : `${error.message}.`] : []),
    ...(error && again && isPassing(error) ? [" ", button("Try again", again)] : []),
  );
}

// An address that was cut or mistyped: a finding that is missing must not go unnoticed.
/** @type {(now: State) => void} */
function sayUnread({ unread }) {
  $("unread").hidden = !unread.length;
  $("unread").textContent = `Part of the address cannot be read and is left out: ${unread.join(", ")}`;
}

export async function show() {
  const now = address.state();
  const asking = questionOf(now);
  selectView(now.view);
  sayUnread(now);
  if (asking === question) {
    if (followRound(now)) showBesideRound(now);
    await Promise.all([fillView(now, run.signal), showImagined(now, run.signal)]);
    return;
  }
  question = asking;
  run.abort();
  run = new AbortController();
  const { signal } = run;
  try {
    await answer(now, signal);
  } catch (error) {
    if (!isLeft(signal) && !isStale(error)) showError(error, showAgain);
  }
}

// An open round is paid for: what stands beside it changes with it.
/** @type {(now: State) => void} */
function showBesideRound(now) {
  session.steps = null;
  clearComparison();
  steadily(showCandidates);
  fillSheet(now);
  offer();
}

// There is no answer. What was found stays.
/** @type {(error: Failure, again: () => void) => void} */
export function showError(error, again) {
  say(error, again);
  showNoAdvice(address.state(), "There is no advice: see the error above.");
  showNoCandidates();
  clearSituation();
  clearViews();
  showHistory(address.state());
  fillSheet(address.state());
}

/** @type {(now: State) => string} */
const questionOf = (now) => JSON.stringify([address.asked(now), now.policy]);

// Whether the address asks something else; the event that says so may still be on its way.
/** @type {(signal: AbortSignal) => boolean} */
const isLeft = (signal) => signal.aborted || questionOf(address.state()) !== question;

/** @type {(now: State, signal: AbortSignal) => Promise<void>} */
async function answer(now, signal) {
  grey(now);
  say(null);
  if (!session.problem) {
    const problem = await known(now.problem);
    signal.throwIfAborted();
    session.problem = problem;
    // The stakes of a scaled kind are known only now.
    question = questionOf(now);
  }
  document.title = `${titleOf(session.problem)}: which test next?`;
  showSettings(now);
  showHistory(now);
  showChanged(now);
  showRound(now);
  const body = address.asked(now);
  const situation = await call("POST", "posterior", body, signal);
  if (isLeft(signal)) return;
  session.situation = situation;
  const latest = address.state(); // the round, the view and what is imagined may have changed meanwhile
  showSituation();
  showHistory(latest);
  steadily(showCandidates);
  fillSheet(latest);
  await Promise.all([
    advise(now, body, signal).then(() => fillView(address.state(), signal)),
    fillView(latest, signal),
    showImagined(latest, signal),
  ]);
}

// Nothing on the page answers the new question yet.
/** @type {(now: State) => void} */
function grey(now) {
  const isOther = session.problem?.name !== now.problem;
  if (isOther) session.problem = null;
  Object.assign(session, { situation: null, advice: null, isQuick: false, steps: null });
  offer = () => {};
  clearAdvice(now, isOther);
  clearViews();
  clearComparison();
  if (isOther) {
    clearSituation();
    clearCandidates();
    clearImagined();
  } else for (const id of ["situation", "candidates-card"]) $(id).classList.add("stale");
  $("candidates-card").inert = !isInUse($("candidates-card"));
  showSettings(now);
  showHistory(now);
}

/** @type {(now: State, body: Question, signal: AbortSignal) => Promise<void>} */
async function advise(now, body, signal) {
  const started = performance.now();
  const isPlain = now.policy === QUICK || now.policy === "none";
  const text = `Working out what the ${now.policy} policy does …`;
  const job = startJob("jobs/advise", { ...body, policy: now.policy }, { signal, tell: (found) => shown.tell(found) });
  const shown = showWorking($("working"), text, job.cancel);
  let isDone = false;
  const quick = isPlain
    ? Promise.resolve(null)
    : (async () => {
        await pause(QUICK_AFTER, signal);
        if (isDone || isLeft(signal)) return null;
        const found = await call("POST", "advise", { ...body, policy: QUICK }, signal);
        if (isDone || isLeft(signal)) return null;
        take(
          found,
          true,
          `Quick advice, from the ${QUICK} policy. The ${now.policy} policy is still being worked out.`,
        );
        return found;
      })().catch(() => null); // the advice that was asked for may still come
  try {
    const found = await job.result;
    isDone = true;
    if (isLeft(signal)) return;
    shown.end();
    take(found, false, "");
    const isSoon = performance.now() - started < SOON;
    offer = () => offerComparison(body, signal, isSoon);
    offer();
  } catch (error) {
    if (isLeft(signal)) return;
    shown.end();
    const found = await quick;
    isDone = true;
    if (isLeft(signal)) return;
    const why =
      error instanceof Cancelled
        ? `The ${now.policy} policy was cancelled.`
        : `The ${now.policy} policy has no answer: ${error.message}.`;
    if (!found && !(error instanceof Cancelled)) throw error;
    if (found) take(found, true, `${why} This is what the ${QUICK} policy does.`);
    else showNoAdvice(address.state(), why);
    offerAgain();
  }
}

// The round and the view of the address may have changed since the question was asked.
/** @type {(advice: Advice, isQuick: boolean, note: string) => void} */
function take(advice, isQuick, note) {
  const now = address.state();
  session.advice = advice;
  session.isQuick = isQuick;
  steadily(() => {
    showAdvice(now, note);
    showCandidates();
  });
  showHistory(now);
  updateImagined();
  fillSheet(now);
}

const offerAgain = () => $("working").replaceChildren(button("Work it out again", showAgain));

export function showAgain() {
  question = null;
  return show();
}

// The page is left: nobody waits for its jobs.
export const leave = () => run.abort();

/** @type {(name: string) => Promise<ProblemSummary>} */
async function known(name) {
  try {
    return await findProblem(name);
  } catch (error) {
    if (error.status === 404 && name.startsWith("upload-"))
      error.message =
        "The server no longer has the files of this problem. Open them again " +
        "(“Open your own files”, or drop them here): the consultation then goes on where it was.";
    throw error;
  }
}
