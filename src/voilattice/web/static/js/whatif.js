// What if: prices, costs of wrong decisions and results, changed in place. What that does to the cost
// and to the first step is shown at once, and taken back at once.

import { asGiven, asked, expectedOf, isChanged, replaceResult, state, write } from "./address.js";
import { changesOf, scaleText, withoutKey } from "./changes.js";
import { $, button, element, table } from "./dom.js";
import { isStale, startJob } from "./server.js";
import { session } from "./session.js";
import { clearThresholds, showThresholds } from "./thresholds.js";
import { action, amount, change, decisionLabel, label, money, stateLabel } from "./wording.js";

const TYPING = 250; // ms without a key: then the question is asked
const SLIDER = 100; // steps of the slider to either side: ten times more, or less

let given = null; // {question, advice}: the advice without any change; null: it is being worked out

export function clearWhatIf() {
  clearThresholds();
  $("effect-table").classList.add("stale");
}

export function fillWhatIf(now, signal) {
  showPrices(now);
  showStakes(now);
  showEvidence(now);
  showThresholds(now, signal);
  return showEffect(now, signal);
}

// -- what the changes do

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
  if (!isAsked) given = { question, advice: null };
  const base = given;
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

const toGo = (advice) => advice.emc - Math.max(advice.benefit, 0);

function effect(before, after) {
  const waiting = "working …";
  const both = before && after;
  const row = (name, value, shown = amount) => [
    name,
    before ? shown(value(before)) : waiting,
    after ? shown(value(after)) : waiting,
    both && shown === amount ? change(value(after) - value(before)) : "",
  ];
  const next = [...row("Next step", (advice) => action(advice).replace(/\.$/, ""), String)];
  next[3] = both ? (action(before) === action(after) ? "the same" : "another") : "";
  return element(
    "div",
    { class: "scroll" },
    table(
      "From here on, for what is known now",
      ["", "as given", "with your changes", "difference"],
      [
        next,
        row("Expected cost from here", toGo),
        row("Expected cost of deciding now", (advice) => advice.emc),
        row("Spent so far", (advice) => advice.spent),
      ],
    ),
  );
}

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
function amountField(name, value, take) {
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
function sync(field, value) {
  if (field !== document.activeElement) field.value = value;
}

function setPrice(feature, price) {
  const now = state();
  const own = session.problem.costs[feature];
  const prices =
    price === null || price === own ? withoutKey(now.prices, feature) : { ...now.prices, [feature]: price };
  if (JSON.stringify(prices) !== JSON.stringify(now.prices)) write({ prices });
}

export function priceField(feature) {
  const own = session.problem.costs?.[feature];
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

export function updatePrice(box, feature) {
  const field = box.querySelector(".price-field input");
  if (field) sync(field, state().prices[feature] ?? session.problem.costs[feature]);
}

function showPrices(now) {
  const { problem } = session;
  const box = $("prices");
  if (!problem.costs) {
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
        .filter((name) => name in problem.costs)
        .map((name) =>
          element(
            "li",
            { "data-feature": name },
            element("span", { class: "name" }, label(name)),
            amountField(`Price of ${label(name)}`, problem.costs[name], (price) => setPrice(name, price)),
            element("span", { class: "was" }),
            button("undo", () => setPrice(name, null), {
              class: "link",
              "aria-label": `Undo the price of ${label(name)}`,
            }),
          ),
        ),
    );
  }
  for (const row of box.children) {
    const name = row.dataset.feature;
    const isOwn = !(name in now.prices);
    sync(row.querySelector("input"), now.prices[name] ?? problem.costs[name]);
    row.querySelector(".was").textContent = isOwn ? "" : `as given ${money(problem.costs[name])}`;
    row.querySelector("button").hidden = isOwn;
    row.classList.toggle("changed", !isOwn);
  }
}

// -- what wrong decisions cost

function showStakes(now) {
  const box = $("stakes");
  const { problem } = session;
  if (box.dataset.problem !== problem.name) {
    box.dataset.problem = problem.name;
    box.replaceChildren(...stakesFields());
  }
  for (const choice of box.querySelectorAll("input[type=radio]")) choice.checked = choice.value === now.kind;
  box.querySelector("#own-costs").hidden = Boolean(now.kind);
  box.querySelector("#scaled-costs").hidden = !now.kind;
  sync(box.querySelector("#scale"), Math.round(SLIDER * Math.log10(Math.max(now.scale, 0.1))));
  box.querySelector("#scale-shown").textContent = now.scale === 1 ? "as given" : scaleText(now.scale);
  const top = Math.max(8 * Math.round(problem.emc), 100);
  box.querySelector("#expected").max = Math.max(top, expectedOf(now));
  box.querySelector("#expected").step = Math.max(top / 400, 0.01);
  sync(box.querySelector("#expected"), expectedOf(now));
  sync(box.querySelector("#expected-number"), expectedOf(now));
  for (const field of box.querySelectorAll("[data-decision]")) {
    const { decision, actual } = field.dataset;
    const changed = now.cells.find(([d, a]) => d === decision && a === actual);
    sync(field, changed ? changed[2] : rounded(problem.misclassification[decision][actual]));
    field.classList.toggle("changed", Boolean(changed));
    field.title = changed ? `as given: ${money(problem.misclassification[decision][actual])}` : "";
  }
  box.querySelector("#cells-undo").hidden = !now.cells.length;
  box.querySelector("#scale-undo").hidden = now.scale === 1;
}

function stakesFields() {
  const { problem } = session;
  const choice = (value, text) =>
    element(
      "label",
      { class: "choice" },
      element("input", { type: "radio", name: "kind", value, onchange: () => write({ kind: value, expected: null }) }),
      text,
    );
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

const rounded = (x) => Number(x.toFixed(2));

function numberBeside() {
  const field = amountField("At stake", "", (expected) => {
    if (expected !== null) write({ expected });
  });
  field.id = "expected-number";
  return field;
}

function slider(id, range, convert, take, tell) {
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

function setCell(decision, actual, cost) {
  const now = state();
  const own = session.problem.misclassification[decision][actual];
  const rest = now.cells.filter(([d, a]) => d !== decision || a !== actual);
  const cells = cost === null || cost === own ? rest : [...rest, [decision, actual, cost]];
  if (JSON.stringify(cells) !== JSON.stringify(now.cells)) write({ cells });
}

// -- what was found

function showEvidence(now) {
  const box = $("evidence");
  const rows = now.steps.filter(([, found]) => found !== null).filter(([name]) => session.problem.states[name]);
  box.replaceChildren(
    ...rows.map(([name, found]) => {
      const states = session.problem.states[name];
      const replace = (event) => write(replaceResult(state(), name, states[Number(event.target.value)]));
      return element(
        "li",
        {},
        element("span", { class: "name" }, label(name)),
        element(
          "select",
          { "aria-label": `Result of ${label(name)}`, onchange: replace },
          states.includes(found) ? null : element("option", { selected: true, value: "" }, stateLabel(name, found)),
          states.map((other, k) => element("option", { value: k, selected: other === found }, stateLabel(name, other))),
        ),
      );
    }),
  );
  if (!rows.length) box.replaceChildren(element("li", {}, "Nothing yet: results are entered in the consultation."));
}
