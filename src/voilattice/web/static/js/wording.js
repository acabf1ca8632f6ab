// What people read: amounts, shares, and the labels of the problem. The server is told names.

import { session } from "./session.js";

export const money = (x) =>
  (Math.abs(x) < 0.005 ? 0 : x).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

export const amount = (x) => (session.problem?.currency ? `${money(x)} ${session.problem.currency}` : money(x));

export const change = (x) => (Math.abs(x) < 0.005 ? "no change" : (x > 0 ? "+" : "−") + amount(Math.abs(x)));

export const percent = (p) =>
  p > 0 && p < 0.0005 ? "< 0.1 %" : `${(100 * p).toLocaleString("en", { maximumFractionDigits: 1 })} %`;

export const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

const own = (lookup, name) => (lookup && Object.hasOwn(lookup, name) ? lookup[name] : undefined);

export const label = (name) => own(session.problem?.labels, name) ?? name;

export const stateLabel = (name, state) => own(own(session.problem?.state_labels, name), state) ?? String(state);

export const decisionLabel = (decision) => stateLabel(session.problem.target, decision);

export const labels = (names) => names.map(label).sort();

export function list(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

// Whether it matters how many features come in one round.
export const countsRounds = () =>
  Boolean(session.problem?.rounds?.cost) || (session.problem?.limits?.rounds ?? null) !== null;

export function action({ action: what, features, decision }) {
  if (what === "decide") return `Decide: ${decisionLabel(decision)}.`;
  return `Acquire ${list(labels(features))}${features.length > 1 && countsRounds() ? " in one round" : ""}.`;
}

export const titleOf = (problem) => problem?.title || problem?.name || "";

export const slug = (text) =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60) || "problem";

// The day, here and now, as 2026-05-31.
export function day() {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}
