// @ts-check
// What people read: amounts, shares, and the labels of the problem. The server is told names.

import { answered, session } from "./session.js";

/** @import { NextStep, ProblemSummary, Result } from "./types.d.ts" */

/** @type {(x: number) => string} */
export const money = (x) =>
  (Math.abs(x) < 0.005 ? 0 : x).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** @type {(x: number) => string} */
export const amount = (x) => (session.problem?.currency ? `${money(x)} ${session.problem.currency}` : money(x));

/** @type {(x: number) => string} */
export const change = (x) => (Math.abs(x) < 0.005 ? "no change" : (x > 0 ? "+" : "−") + amount(Math.abs(x)));

/** @type {(p: number) => string} */
export const percent = (p) =>
  p > 0 && p < 0.0005 ? "< 0.1 %" : `${(100 * p).toLocaleString("en", { maximumFractionDigits: 1 })} %`;

/** @type {(n: number, noun: string) => string} */
export const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** @type {<Value>(lookup: Record<string, Value> | undefined, name: string) => Value | undefined} */
const own = (lookup, name) => (lookup && Object.hasOwn(lookup, name) ? lookup[name] : undefined);

/** @type {(name: string) => string} */
export const label = (name) => own(session.problem?.labels, name) ?? name;

/** @type {(name: string, state: Result | undefined) => string} */
export const stateLabel = (name, state) =>
  own(own(session.problem?.state_labels, name), String(state)) ?? String(state);

/** @type {(decision: string | null) => string} */
export const decisionLabel = (decision) => stateLabel(answered.problem.target, decision);

/** @type {(names: string[]) => string[]} */
export const labels = (names) => names.map(label).sort();

/** @type {(names: string[]) => string} */
export function list(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

// Whether it matters how many features come in one round.
export const countsRounds = () =>
  Boolean(session.problem?.rounds?.cost) || (session.problem?.limits?.rounds ?? null) !== null;

/** @type {(step: NextStep) => string} */
export function action({ action: what, features, decision }) {
  if (what === "decide") return `Decide: ${decisionLabel(decision)}.`;
  return `Acquire ${list(labels(features))}${features.length > 1 && countsRounds() ? " in one round" : ""}.`;
}

/** @type {(problem: ProblemSummary | null) => string} */
export const titleOf = (problem) => problem?.title || problem?.name || "";

/** @type {(text: string) => string} */
export const slug = (text) =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60) || "problem";

// The day, here and now, as 2026-05-31.
/** @type {() => string} */
export function day() {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}
