// @ts-check
// What if: prices, costs of wrong decisions and results, changed in place. What that does to the cost
// and to the first step is shown at once, and taken back at once.

import { asGiven, asked, expectedOf, isChanged, replaceResult, state, write } from "./address.js";
import { changesOf, scaleText, withoutKey } from "./changes.js";
import { $, button, element, find, findAll, table } from "./dom.js";
import { isStale, startJob } from "./server.js";
import { answered, session } from "./session.js";
import { clearThresholds, showThresholds } from "./thresholds.js";
import { action, amount, change, decisionLabel, label, money, stateLabel } from "./wording.js";

/** @import { Advice, Cell, State } from "./types.d.ts" */

const TYPING = 250; // ms without a key: then the question is asked
const SLIDER = 100; // steps of the slider to either side: ten times more, or less

/** @typedef {{ question: string, advice: Advice | null }} Given */

/** @type {Given | null} */
let given = null; // the advice without any change; an advice that is null is being worked out

export function clearWhatIf() {
  clearThresholds();
  $("effect-table").classList.add("stale");
}

/** @type {(now: State, signal: AbortSignal) => Promise<void>} */
export function fillWhatIf(now, signal) {
  showPrices(now);
  showStakes(now);
  showEvidence(now);
  showThresholds(now, signal);
  return showEffect(now, signal);
}

// -- what the changes do

/** @type {(now: State, signal: AbortSignal) => Promise<void>} */
async function showEffect(now, signal) {
  const box = $("effect-table");
  const question = JSON.stringify([asked(asGiven(now)), now.policy]);
  const present = () => (session.isQuick ? null : session.advice);
  const advice = present();
  box.classList.remove("stale");
  if (!isChanged(now)) {
    box.replaceChildren(
      element("p", {}, "Nothing is changed: this is the problem as given. Change a price, a cost or a result below."),
      advice
        ? element("p", {}, `${action(advice)} Expected cost from here: ${amount(toGo(advice))}.`)
        : element("p", {}, "Working …"),
    );
    if (advice) given = { question, advice };
    return;
  }
  const isAsked = given?.question === question;
  /** @type {Given} */
  const base = given?.question === question ? given : { question, advice: null };
  given = base;
  const draw = () => box.replaceChildren(effect(base.advice, present()), changeList(now));
  draw();
  if (isAsked) return;
  try {
    base.advice = await startJob("jobs/advise", { ...asked(asGiven(now)), policy: now.policy }, { signal }).result;
    draw();
  } catch (error) {
    if (given === base) given = null;
    if (!signal.aborted && !isStale(error))
      box.append(element("p", {}, `The problem as given has no answer: ${error.message}.`));
  }
}

/** @type {(advice: Advice) => number} */
const toGo = (advice) => advice.emc - Math.max(advice.benefit, 0);

/** @type {(before: Advice | null, after: Advice | null) => HTMLElement} */
function effect(before, after) {
  const waiting = "working …";
  /** @type {(name: string, value: (advice: Advice) => number) => string[]} */
  const row = (name, value) => [
    name,
    before ? amount(value(before)) : waiting,
    after ? amount(value(after)) : waiting,
    before && after ? change(value(after) - value(before)) : "",
  ];
  /** @type {(advice: Advice | null) => string} */
  const next = (advice) => (advice ? action(advice).replace(/\.$/, "") : waiting);
  const difference = before && after ? (action(before) === action(after) ? "the same" : "another") : "";
  return element(
    "div",
    { class: "scroll" },
    table(
      "From here on, for what is known now",
      ["", "as given", "with your changes", "difference"],
      [
        ["Next step", next(before), next(after), difference],
        row("Expected cost from here", toGo),
        row("Expected cost of deciding now", (advice) => advice.emc),
        row("Spent so far", (advice) => advice.spent),
      ],
    ),
  );
}

/** @type {(now: State) => HTMLElement} */
function changeList(now) {
  return element(
    "ul",
    { class: "changes" },
    changesOf(now).map(({ text, undo }) =>
      element("li", {}, text, " ", button("undo", undo, { class: "link", "aria-label": `Undo: ${text}` })),
    ),
  );
}

// -- prices

// A field for an amount. It asks after a pause in typing; an empty one means the amount as given.
/** @type {(name: string, value: number | string, take: (amount: number | null) => void) => HTMLInputElement} */
function amountField(name, value, take) {
  /** @type {number | undefined} */
  let timer;
  const field = element("input", {
    type: "number",
    min: 0,
    step: "any",
    inputmode: "decimal",
    "aria-label": name,
    value,
  });
  const ask = () => {
    clearTimeout(timer);
    if (!field.isConnected || !session.problem) return; // another problem has come meanwhile
    if (field.value === "") take(null);
    else if (field.checkValidity()) take(field.valueAsNumber);
  };
  field.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, TYPING);
  };
  field.onchange = ask;
  return field;
}

// Writes a value into a field, unless somebody is typing there.
/** @type {(field: HTMLInputElement, value: number) => void} */
function sync(field, value) {
  if (field !== document.activeElement) field.value = String(value);
}

/** @type {(feature: string, price: number | null) => void} */
function setPrice(feature, price) {
  const now = state();
  const own = answered.problem.costs?.[feature];
  const prices =
    price === null || price === own ? withoutKey(now.prices, feature) : { ...now.prices, [feature]: price };
  if (JSON.stringify(prices) !== JSON.stringify(now.prices)) write({ prices });
}

/** @type {(feature: string) => HTMLElement | null} */
export function priceField(feature) {
  const own = answered.problem.costs?.[feature];
  if (own === undefined) return null;
  return element(
    "p",
    { class: "price-field" },
    element(
      "label",
      {},
      "If its price were ",
      amountField(`Price of ${label(feature)}`, state().prices[feature] ?? own, (price) => setPrice(feature, price)),
    ),
    element("small", {}, ` as given: ${money(own)}`),
  );
}

/** @type {(box: Element, feature: string) => void} */
export function updatePrice(box, feature) {
  /** @type {HTMLInputElement | null} */
  const field = box.querySelector(".price-field input");
  const price = state().prices[feature] ?? answered.problem.costs?.[feature];
  if (field && price !== undefined) sync(field, price);
}

/** @type {(now: State) => void} */
function showPrices(now) {
  const { problem } = answered;
  const box = $("prices");
  const { costs } = problem;
  if (!costs) {
    $("prices-hint").textContent = "The prices of this problem are computed and cannot be changed here.";
    box.replaceChildren();
    return;
  }
  const currency = problem.currency ? ` Amounts are in ${problem.currency}.` : "";
  $("prices-hint").textContent =
    `The own price of each feature, without what groups, discounts and rounds add or take off.${currency}`;
  if (box.dataset.problem !== problem.name) {
    box.dataset.problem = problem.name;
    box.replaceChildren(
      ...problem.features
        .filter((name) => name in costs)
        .map((name) =>
          element(
            "li",
            { "data-feature": name },
            element("span", { class: "name" }, label(name)),
            amountField(`Price of ${label(name)}`, costs[name], (price) => setPrice(name, price)),
            element("span", { class: "was" }),
            button("undo", () => setPrice(name, null), {
              class: "link",
              "aria-label": `Undo the price of ${label(name)}`,
            }),
          ),
        ),
    );
  }
  for (const row of findAll(box, ":scope > li")) {
    const name = row.dataset.feature ?? "";
    const isOwn = !(name in now.prices);
    sync(find(row, "input"), now.prices[name] ?? costs[name]);
    find(row, ".was").textContent = isOwn ? "" : `as given ${money(costs[name])}`;
    find(row, "button").hidden = isOwn;
    row.classList.toggle("changed", !isOwn);
  }
}

// -- what wrong decisions cost

/** @type {(now: State) => void} */
function showStakes(now) {
  const box = $("stakes");
  const { problem } = answered;
  if (box.dataset.problem !== problem.name) {
    box.dataset.problem = problem.name;
    box.replaceChildren(...stakesFields());
  }
  for (const choice of findAll(box, "input[type=radio]")) choice.checked = choice.value === now.kind;
  find(box, "#own-costs").hidden = Boolean(now.kind);
  find(box, "#scaled-costs").hidden = !now.kind;
  sync(find(box, "#scale"), Math.round(SLIDER * Math.log10(Math.max(now.scale, 0.1))));
  find(box, "#scale-shown").textContent = now.scale === 1 ? "as given" : scaleText(now.scale);
  const top = Math.max(8 * Math.round(problem.emc), 100);
  find(box, "#expected").max = String(Math.max(top, expectedOf(now)));
  find(box, "#expected").step = String(Math.max(top / 400, 0.01));
  sync(find(box, "#expected"), expectedOf(now));
  sync(find(box, "#expected-number"), expectedOf(now));
  for (const field of findAll(box, "input[data-decision]")) {
    const { decision = "", actual = "" } = field.dataset;
    const changed = now.cells.find(([d, a]) => d === decision && a === actual);
    sync(field, changed ? changed[2] : rounded(problem.misclassification[decision][actual]));
    field.classList.toggle("changed", Boolean(changed));
    field.title = changed ? `as given: ${money(problem.misclassification[decision][actual])}` : "";
  }
  find(box, "#cells-undo").hidden = !now.cells.length;
  find(box, "#scale-undo").hidden = now.scale === 1;
}

function stakesFields() {
  const { problem } = answered;
  /** @type {(value: State["kind"], text: string) => HTMLElement} */
  const choice = (value, text) =>
    element(
      "label",
      { class: "choice" },
      element("input", { type: "radio", name: "kind", value, onchange: () => write({ kind: value, expected: null }) }),
      text,
    );
  /** @type {(decision: string, actual: string) => HTMLElement} */
  const cell = (decision, actual) => {
    const field = amountField(
      `Cost of deciding ${decisionLabel(decision)} if it is ${decisionLabel(actual)}`,
      rounded(problem.misclassification[decision][actual]),
      (cost) => setCell(decision, actual, cost),
    );
    Object.assign(field.dataset, { decision, actual });
    return field;
  };
  return [
    element(
      "fieldset",
      { class: "choices" },
      element("legend", {}, "Costs of decisions"),
      choice("", "the problem's own"),
      choice("symmetric", "symmetric, scaled"),
      choice("asymmetric", "asymmetric, scaled"),
    ),
    element(
      "div",
      { id: "own-costs" },
      element(
        "label",
        { class: "slider" },
        "All of them, multiplied: ",
        element("output", { id: "scale-shown" }),
        slider(
          "scale",
          { min: -SLIDER, max: SLIDER, step: 1 },
          (value) => Number((10 ** (value / SLIDER)).toPrecision(3)),
          (scale) => write({ scale }),
          (scale) => {
            $("scale-shown").textContent = scaleText(scale);
          },
        ),
      ),
      button("undo the factor", () => write({ scale: 1 }), { class: "link", id: "scale-undo" }),
      element("p", { class: "hint" }, "Each cost, before the factor. A row is a decision, a column what it really is."),
      element(
        "div",
        { class: "scroll" },
        table(
          "Costs of decisions",
          ["decision", ...problem.classes.map(decisionLabel)],
          problem.decisions.map((decision) => [
            decisionLabel(decision),
            ...problem.classes.map((actual) => cell(decision, actual)),
          ]),
        ),
      ),
      button("undo the cells", () => write({ cells: [] }), { class: "link", id: "cells-undo" }),
    ),
    element(
      "div",
      { id: "scaled-costs" },
      element("p", { class: "hint" }, "The problem's own costs are kept: choose them above to have them back."),
      element(
        "label",
        { class: "slider" },
        "At stake, as the expected cost of deciding with nothing known: ",
        slider(
          "expected",
          { min: 0, max: 4000, step: 10 },
          Number,
          (expected) => write({ expected }),
          (x) => sync($("expected-number"), x),
        ),
      ),
      numberBeside(),
    ),
  ];
}

/** @type {(x: number) => number} */
const rounded = (x) => Number(x.toFixed(2));

function numberBeside() {
  const field = amountField("At stake", "", (expected) => {
    if (expected !== null) write({ expected });
  });
  field.id = "expected-number";
  return field;
}

/**
 * @param {string} id
 * @param {{ min: number, max: number, step: number }} range
 * @param {(value: number) => number} convert
 * @param {(amount: number) => void} take after a pause
 * @param {(amount: number) => void} tell at once
 */
function slider(id, range, convert, take, tell) {
  /** @type {number | undefined} */
  let timer;
  return element("input", {
    type: "range",
    id,
    ...range,
    oninput: (event) => {
      const value = convert(Number(event.target.value));
      tell(value);
      clearTimeout(timer);
      timer = setTimeout(() => take(value), TYPING);
    },
  });
}

/** @type {(decision: string, actual: string, cost: number | null) => void} */
function setCell(decision, actual, cost) {
  const now = state();
  const own = answered.problem.misclassification[decision][actual];
  const rest = now.cells.filter(([d, a]) => d !== decision || a !== actual);
  /** @type {Cell[]} */
  const cells = cost === null || cost === own ? rest : [...rest, [decision, actual, cost]];
  if (JSON.stringify(cells) !== JSON.stringify(now.cells)) write({ cells });
}

// -- what was found

/** @type {(now: State) => void} */
function showEvidence(now) {
  const box = $("evidence");
  const rows = now.steps.filter(([, found]) => found !== null).filter(([name]) => answered.problem.states[name]);
  box.replaceChildren(
    ...rows.map(([name, found]) => {
      const states = answered.problem.states[name];
      /** @type {(event: { target: HTMLSelectElement }) => void} */
      const replace = ({ target }) => write(replaceResult(state(), name, states[Number(target.value)]));
      return element(
        "li",
        {},
        element("span", { class: "name" }, label(name)),
        element(
          "select",
          { "aria-label": `Result of ${label(name)}`, onchange: replace },
          states.some((other) => other === found)
            ? null
            : element("option", { selected: true, value: "" }, stateLabel(name, found)),
          states.map((other, k) => element("option", { value: k, selected: other === found }, stateLabel(name, other))),
        ),
      );
    }),
  );
  if (!rows.length) box.replaceChildren(element("li", {}, "Nothing yet: results are entered in the consultation."));
}
