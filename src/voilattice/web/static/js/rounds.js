// @ts-check
// The steps of a consultation and the rounds that they form. Nothing here touches the page.
//
// A step is [feature, result, how]. The result is a state, a number, or null for "not available". `how` is
// nothing, true for "in the same round as the step before", or "free" for what is known for free.
//
// A round is a list of features that were asked for together. It is open while some of its results are
// here and others are to come. As soon as one of them cannot be had it is over: what is still to be
// acquired is planned anew, with what the round has brought. A plan that was made with its results is a new round.
// Until something else is entered the round is only suspended: it goes on if that test can be had after all.
//
// Steps stand in the order of purchase, round by round. `entered` are their features in the order in which
// the results were entered: that of a round may come after that of a later purchase.

/** @import { Entries, Result, Step } from "./types.d.ts" */

const FREE = "free";

/** @type {(step: Step) => boolean} */
export const isFree = (step) => step[2] === FREE;
/** @type {(feature: string, found: Result) => Step} */
export const freeStep = (feature, found) => [feature, found, FREE];
/** @type {(step: Step, found: Result) => Step} */
export const withResult = ([feature, , ...how], found) => [feature, found, ...how];

/** @type {(found: any[]) => boolean} */
export const isStep = ([feature, found, how]) =>
  isName(feature) &&
  (found === null || typeof found === "string" || Number.isFinite(found)) &&
  [undefined, true, FREE].includes(how);

/** @type {(names: any[]) => boolean} */
export const isRound = (names) => names.length > 1 && names.every(isName) && new Set(names).size === names.length;

/** @type {(name: unknown) => boolean} */
const isName = (name) => typeof name === "string" && name !== "";

/** @type {(steps: Step[], feature: string | undefined) => Step | undefined} */
const stepOf = (steps, feature) => steps.find(([name]) => name === feature);

/** @type {(step: Step | undefined) => boolean} */
const isBought = (step) => step !== undefined && step[1] !== null && !isFree(step);

/** @type {(round: string[] | null, steps: Step[]) => round is string[]} */
export function isOpen(round, steps) {
  if (!round) return false;
  const found = round.map((name) => stepOf(steps, name));
  return found.some(isBought) && found.includes(undefined) && !found.some((step) => step?.[1] === null);
}

// Whether a round would be open without what was entered last, "not available" of one of its tests.
/** @type {(round: string[] | null, steps: Step[], entered: string[]) => boolean} */
export function isSuspended(round, steps, entered) {
  const last = orderOf(entered, steps).at(-1);
  if (last === undefined || !round?.includes(last)) return false;
  return stepOf(steps, last)?.[1] === null && isOpen(round, without(steps, last));
}

// What has no result yet, first what is to be entered next.
/** @type {(features: string[], steps: Step[]) => string[]} */
export const pendingOf = (features, steps) => features.filter((name) => !stepOf(steps, name));

// The tests of the open round whose results are to come. Their round is paid for.
/** @type {(now: Pick<Entries, "round" | "steps">) => string[]} */
export const pendingRound = ({ round, steps }) => (isOpen(round, steps) ? pendingOf(round, steps) : []);

// The features of the steps in the order of entry; a step that it does not name was entered after the others.
/** @type {(entered: string[], steps: Step[]) => string[]} */
export function orderOf(entered, steps) {
  const names = steps.map(([name]) => name);
  return [...entered.filter((name) => names.includes(name)), ...names.filter((name) => !entered.includes(name))];
}

// The steps, the open or suspended round and the order of entry once a result is entered. `asked` are the features
// that were asked for together with it.
/** @type {(now: Entries, feature: string, found: Result, asked?: string[]) => Entries} */
export function withEntry({ steps, round, entered }, feature, found, asked = [feature]) {
  const after = stepOf(steps, feature)?.[1] === null ? without(steps, feature) : [...steps]; // it can be had after all
  const batch = isOpen(round, after) && round.includes(feature) ? round : asked;
  const at = after.findIndex(([name]) => name === feature);
  const before = after.findLastIndex((step) => step[0] !== feature && batch.includes(step[0]) && isBought(step));
  if (at >= 0)
    after[at] = withResult(after[at], found); // another result in its place
  else
    after.splice(before >= 0 ? before + 1 : after.length, 0, before >= 0 ? [feature, found, true] : [feature, found]);
  const order = [...orderOf(entered, steps).filter((name) => name !== feature), feature];
  const known = [batch, round];
  const next = known.find((names) => isOpen(names, after)) ?? known.find((names) => isSuspended(names, after, order));
  return { steps: after, round: next ?? null, entered: order };
}

// Without a step. The round it began is begun by the next one of that round.
/** @type {(steps: Step[], feature: string | undefined) => Step[]} */
export function without(steps, feature) {
  const at = steps.findIndex(([name]) => name === feature);
  return steps
    .filter((_, k) => k !== at)
    .map((step, k) => (k === at && step[2] === true && steps[at][2] !== true ? [step[0], step[1]] : step));
}

// Without the result that was entered last. The round that it completed is open again.
/** @type {(now: Entries) => Pick<Entries, "steps" | "round">} */
export function withoutLast({ steps, round, entered }) {
  const last = orderOf(entered, steps).at(-1);
  const after = without(steps, last);
  const completed = rounds(steps).find((names) => last !== undefined && names.includes(last)) ?? null;
  return { steps: after, round: !isOpen(round, after) && isOpen(completed, after) ? completed : round };
}

// Without a result: if it was entered last, as if it had not been.
/** @type {(now: Entries, feature: string) => Partial<Entries>} */
export const withoutResult = (now, feature) =>
  feature === orderOf(now.entered, now.steps).at(-1) ? withoutLast(now) : { steps: without(now.steps, feature) };

// The features of each round that brought several.
/** @type {(steps: Step[]) => string[][]} */
export function rounds(steps) {
  /** @type {string[][]} */
  const found = [];
  for (const [feature, result, how] of steps) {
    if (how === FREE) continue;
    if (how !== true || !found.length) found.push([]);
    if (result !== null) found.at(-1)?.push(feature);
  }
  return found.filter((features) => features.length > 1);
}
