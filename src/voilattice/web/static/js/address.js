// @ts-check
// A consultation lives in the address: the problem, the policy, what was found so far, and what is
// changed to see what would happen. The server is asked anew at every step and keeps nothing of it.

import { isFree, isOpen, isRound, isStep, isSuspended, orderOf, rounds, withResult } from "./rounds.js";
import { session } from "./session.js";

/** @import { Cell, Question, Result, State, Step, View } from "./types.d.ts" */

/** @type {View[]} */
export const VIEWS = ["consult", "whatif", "lattice", "policy", "curves", "network"];
/** @type {State["kind"][]} */
const KINDS = ["symmetric", "asymmetric"];
const KEYS = [
  "problem",
  "policy",
  "view",
  "step",
  "round",
  "entered",
  "was",
  "if",
  "kind",
  "expected",
  "scale",
  "price",
  "cell",
];
const AMOUNT = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** @type {() => State} */
export function state() {
  const given = new URLSearchParams(location.hash.slice(1));
  /** @type {string[]} */
  const unread = []; // what was left out, because it cannot be read or contradicts what stands before it
  /** @type {(isGood: boolean, key: string, text: string) => boolean} */
  const keep = (isGood, key, text) => {
    if (!isGood) unread.push(`${key}=${text}`);
    return isGood;
  };
  for (const [key, text] of given) keep(KEYS.includes(key), key, text);
  /** @type {(key: string) => string | null} */
  const single = (key) =>
    given.getAll(key).reduce((first, text) => {
      keep(text === first, key, text);
      return first;
    }, given.get(key));
  /** @type {<Choice extends string>(key: string, choices: Choice[], otherwise?: Choice) => Choice} */
  const choice = (key, choices, otherwise = choices[0]) => {
    const text = single(key);
    const chosen = choices.find((name) => name === text);
    if (text !== null) keep(chosen !== undefined, key, text);
    return chosen ?? otherwise;
  };
  /** @type {<Otherwise>(key: string, otherwise: Otherwise) => number | Otherwise} */
  const number = (key, otherwise) => {
    const text = single(key);
    return text !== null && keep(AMOUNT.test(text) && isAmount(Number(text)), key, text) ? Number(text) : otherwise;
  };
  /** @type {(key: string, form: (found: any[]) => boolean, n?: number) => any[]} */
  const parts = (key, form, n = 1) => {
    const seen = new Map(); // a feature is found once
    for (const text of given.getAll(key)) {
      const found = parse(text);
      if (!keep(Array.isArray(found) && form(found), key, text)) continue;
      const what = JSON.stringify(found.slice(0, n));
      if (keep(JSON.stringify(seen.get(what) ?? found) === JSON.stringify(found), key, text)) seen.set(what, found);
    }
    return [...seen.values()];
  };
  /** @type {Step[]} */
  const steps = parts("step", isStep);
  /** @type {(name: string) => boolean} */
  const isTaken = (name) => steps.some(([taken]) => taken === name);
  const named = parts("entered", (names) => isRound(names) && names.every(isTaken)).at(0) ?? [];
  const entered = orderOf(named, steps);
  return {
    problem: single("problem") || session.entries[0]?.name || "",
    policy: session.policies.length ? choice("policy", session.policies) : (single("policy") ?? ""),
    view: choice("view", VIEWS),
    steps,
    // The features of the steps in the order in which their results were entered.
    entered,
    // The features of the round of which some results are to come, or would be but for one that is not available.
    round: parts("round", (names) => isRound(names) && isLeft(names, steps, entered)).at(0) ?? null,
    // [feature, result]: what was found, where another result stands in the steps to see what if.
    replaced: parts("was", isStep).map(([feature, found]) => [feature, found]),
    imagined: parts("if", isStep).at(0)?.slice(0, 2) ?? null,
    kind: choice("kind", KINDS, ""),
    expected: number("expected", null),
    scale: number("scale", 1),
    prices: Object.fromEntries(parts("price", ([name, price]) => typeof name === "string" && isAmount(price))),
    cells: parts(
      "cell",
      ([decision, found, cost]) => typeof decision === "string" && typeof found === "string" && isAmount(cost),
      2,
    ),
    unread,
  };
}

/** @type {(changes: Partial<State>) => void} */
export function write(changes) {
  const now = { ...state(), ...changes };
  // The address may be at another problem already than the page, and what was clicked is of the page's.
  if (!("problem" in changes) && session.problem && session.problem.name !== now.problem) return;
  const address = new URLSearchParams({ problem: now.problem });
  if (now.policy) address.set("policy", now.policy);
  if (now.kind) address.set("kind", now.kind);
  if (now.kind && now.expected !== null) address.set("expected", String(now.expected));
  if (now.scale !== 1) address.set("scale", String(now.scale));
  for (const price of Object.entries(now.prices)) address.append("price", JSON.stringify(price));
  for (const cell of now.cells) address.append("cell", JSON.stringify(cell));
  for (const step of now.steps) address.append("step", JSON.stringify(step));
  if (isLeft(now.round, now.steps, now.entered)) address.set("round", JSON.stringify(now.round));
  const entered = orderOf(now.entered, now.steps);
  if (entered.some((name, k) => name !== now.steps[k][0])) address.set("entered", JSON.stringify(entered));
  for (const [feature, found] of now.replaced)
    if (now.steps.some(([name, other]) => name === feature && other !== found))
      address.append("was", JSON.stringify([feature, found]));
  if (now.imagined) address.set("if", JSON.stringify(now.imagined));
  if (now.view !== VIEWS[0]) address.set("view", now.view);
  location.hash = address.toString();
  hear();
}

let hear = () => {};

// Calls `act` at each change of the address. What the page wrote itself is heard at once: the browser tells of it
// a moment later, and a key or a click may come between.
/** @type {(act: () => void) => void} */
export function watchAddress(act) {
  let heard = location.hash;
  hear = () => {
    if (location.hash === heard) return;
    heard = location.hash;
    act();
  };
  addEventListener("hashchange", () => hear());
}

/** @type {(round: string[] | null, steps: Step[], entered: string[]) => boolean} */
const isLeft = (round, steps, entered) => isOpen(round, steps) || isSuspended(round, steps, entered);

// The state without anything that was changed to see what if.
/** @type {(now: State) => State} */
export function asGiven(now) {
  const found = new Map(now.replaced);
  return {
    ...now,
    kind: "",
    expected: null,
    scale: 1,
    prices: {},
    cells: [],
    replaced: [],
    steps: now.steps.map((step) => (found.has(step[0]) ? withResult(step, found.get(step[0]) ?? null) : step)),
  };
}

/** @type {(now: State) => boolean} */
export const isChanged = (now) =>
  Boolean(now.kind || now.scale !== 1 || now.cells.length || now.replaced.length || Object.keys(now.prices).length);

// The changes that put another result in the place of one.
/** @type {(now: State, feature: string, found: Result) => Pick<State, "steps" | "replaced">} */
export function replaceResult(now, feature, found) {
  const old = now.steps.find(([name]) => name === feature)?.[1] ?? null;
  const first = now.replaced.find(([name]) => name === feature)?.[1] ?? old;
  const others = now.replaced.filter(([name]) => name !== feature);
  return {
    steps: now.steps.map((step) => (step[0] === feature ? withResult(step, found) : step)),
    replaced: first === found ? others : [...others, [feature, first]],
  };
}

// The question of a state: what every request says.
/** @type {(now: State) => Question} */
export function asked(now) {
  const known = now.steps.filter(([, found]) => found !== null);
  /** @type {(steps: Step[]) => Record<string, Result>} */
  const pick = (steps) => Object.fromEntries(steps.map(([feature, found]) => [feature, found]));
  return {
    problem: now.problem,
    evidence: pick(known.filter((step) => !isFree(step))),
    given: pick(known.filter(isFree)),
    unavailable: now.steps.filter(([, found]) => found === null).map(([feature]) => feature),
    together: rounds(now.steps),
    stakes: now.kind ? { kind: now.kind, expected: expectedOf(now) } : now.scale !== 1 ? { scale: now.scale } : null,
    prices: now.prices,
    misclassification: now.kind ? {} : cellsOf(now.cells),
  };
}

// The stakes of a scaled kind begin where the problem's own are.
/** @type {(now: State) => number} */
export const expectedOf = (now) => now.expected ?? Math.max(Math.round(session.problem?.emc ?? 0), 1);

/** @type {(cells: Cell[]) => Question["misclassification"]} */
function cellsOf(cells) {
  /** @type {Question["misclassification"]} */
  const found = {};
  for (const [decision, actual, cost] of cells) {
    found[decision] ??= {};
    found[decision][actual] = cost;
  }
  return found;
}

/** @type {(x: unknown) => boolean} */
const isAmount = (x) => typeof x === "number" && Number.isFinite(x) && x >= 0;

/** @type {(text: string) => any} */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
