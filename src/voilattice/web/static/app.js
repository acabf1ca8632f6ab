// A consultation lives in the address: the problem, the policy, the stakes, and what was found so far.
// The server is asked anew at every step and keeps nothing of it.

const $ = (id) => document.getElementById(id);
const money = (x) => (Math.abs(x) < 0.005 ? 0 : x).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const amount = (x) => (problem?.currency ? `${money(x)} ${problem.currency}` : money(x));
const percent = (p) => (100 * p).toLocaleString("en", { maximumFractionDigits: 1 }) + " %";

const panels = { consult: "consult", lattice: "lattice", policy: "tree", curves: "curves" };
let policies = ["optimal"]; // the server names them all
let first = "heart"; // the problem to begin with: the first one that the server names
let problem = null; // the document of the problem at hand
let advice = null;
let asking = 0; // only the latest question may answer
let jobs = {}; // running, by view
let pending = {}; // results of a batch, of which some are still to come

// -- the address

function state() {
  const given = new URLSearchParams(location.hash.slice(1));
  const expected = given.get("expected");
  return {
    problem: given.get("problem") || first,
    policy: policies.includes(given.get("policy")) ? given.get("policy") : "optimal",
    kind: ["symmetric", "asymmetric"].includes(given.get("kind")) ? given.get("kind") : "",
    expected: expected !== null && Number.isFinite(Number(expected)) ? Math.max(Number(expected), 0) : 500,
    // "feature", "state" pairs in order; a state of null: the feature is not available.
    // A third part, true: acquired in the same round as the step before.
    steps: once(given.getAll("step").map(step).filter(Boolean)),
    view: given.get("view") in panels ? given.get("view") : "consult",
  };
}

function write(changes) {
  const now = { ...state(), ...changes };
  const address = new URLSearchParams({ problem: now.problem, policy: now.policy });
  if (now.kind) { address.set("kind", now.kind); address.set("expected", now.expected); }
  for (const step of now.steps) address.append("step", JSON.stringify(step));
  if (now.view !== "consult") address.set("view", now.view);
  location.hash = address.toString();
}

// A feature is found once: what an address says of it again does not count.
function once(steps) {
  return steps.filter(([feature], k) => steps.findIndex((s) => s[0] === feature) === k);
}

function step(text) {
  try {
    const [feature, found, isSameRound] = JSON.parse(text);
    if (typeof feature !== "string" || !(found === null || typeof found === "string")) return null;
    return isSameRound === true ? [feature, found, true] : [feature, found];
  } catch { return null; }
}

// The features of each round that brought several.
function rounds(steps) {
  const found = [];
  for (const [feature, result, isSameRound] of steps) {
    if (!isSameRound || !found.length) found.push([]);
    if (result !== null) found.at(-1).push(feature);
  }
  return found.filter((features) => features.length > 1);
}

// -- the server

async function call(method, path, body) {
  const answer = await fetch(path, body === undefined ? { method } : body instanceof FormData
    ? { method, body }
    : { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const document = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(document.detail || answer.statusText), { status: answer.status });
  return document;
}

function asked(now, more) {
  return {
    problem: now.problem,
    evidence: Object.fromEntries(now.steps.filter((s) => s[1] !== null)),
    unavailable: now.steps.filter((s) => s[1] === null).map((s) => s[0]),
    stakes: now.kind ? { kind: now.kind, expected: now.expected } : null,
    ...more,
  };
}

// An uploaded problem is known to the server until it is started anew; then it is sent again.
const uploads = {
  save(name, files) { try { sessionStorage.setItem("upload:" + name, JSON.stringify(files)); } catch { /* too large to keep */ } },
  async again(name) {
    const kept = sessionStorage.getItem("upload:" + name);
    if (!kept) return false;
    const form = new FormData();
    for (const [file, text] of Object.entries(JSON.parse(kept))) form.append("files", new Blob([text]), file);
    await call("POST", "api/v1/problems", form);
    return true;
  },
};

async function known(name) {
  try { return await call("GET", "api/v1/problems/" + encodeURIComponent(name)); }
  catch (error) {
    if (error.status === 404 && await uploads.again(name)) return call("GET", "api/v1/problems/" + encodeURIComponent(name));
    throw error;
  }
}

// -- what is seen

function say(error) {
  $("error").hidden = !error;
  $("error").textContent = error ? error.message : "";
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((c) => c !== null && c !== undefined));
  return made;
}

// What people read for a feature, or the target, and for its states. The server is told names.
const own = (table, name) => (table && Object.hasOwn(table, name) ? table[name] : undefined);
const label = (name) => own(problem?.labels, name) ?? name;
const stateLabel = (name, state) => own(own(problem?.state_labels, name), state) ?? state;
const labels = (names) => names.map(label).sort();

// Whether it matters how many features come in one round.
const countsRounds = () => Boolean(problem.rounds?.cost) || problem.limits.rounds !== null;

function list(names) {
  return names.length < 2 ? names.join("") : names.slice(0, -1).join(", ") + " and " + names[names.length - 1];
}

async function show() {
  const now = state();
  const mine = ++asking;
  settings(now);
  view(now.view);
  $("advice").setAttribute("aria-busy", "true");
  try {
    if (!problem || problem.name !== now.problem) problem = await known(now.problem);
    if (mine !== asking) return;
    settings(now);
    const found = await call("POST", "api/v1/advise", asked(now, { policy: now.policy, together: rounds(now.steps) }));
    if (mine !== asking) return;
    advice = found;
    pending = {};
    say(null);
    consult(now);
    await other(now, mine);
  } catch (error) {
    if (mine !== asking) return;
    say(error);
    advice = null;
    $("advice").replaceChildren(element("p", { id: "say", class: "say" }, "There is no advice: see the error above."));
    for (const id of ["candidates", "posterior", "money"]) $(id).replaceChildren();
    history(now);
  } finally {
    if (mine === asking) $("advice").setAttribute("aria-busy", "false");
  }
}

function settings(now) {
  if (![...$("problem").options].some((o) => o.value === now.problem))
    $("problem").append(element("option", { value: now.problem }, problem && problem.name === now.problem ? problem.title || now.problem : now.problem));
  if (problem && problem.name === now.problem && problem.title && now.problem.startsWith("upload-"))
    [...$("problem").options].find((o) => o.value === now.problem).textContent = problem.title;
  $("problem").value = now.problem;
  $("policy").value = now.policy;
  $("kind").value = now.kind;
  $("expected").value = now.expected;
  $("expected").disabled = !now.kind;
  $("expected-shown").textContent = now.kind ? amount(now.expected) : "as given";
  document.title = problem ? (problem.title || problem.name) + ": which test next?" : "Which test next?";
}

function consult(now) {
  const decided = advice.action === "decide";
  const card = $("advice");
  card.classList.toggle("decide", decided);
  card.replaceChildren(
    element("p", { class: "say", id: "say" }, decided ? `Decide: ${stateLabel(problem.target, advice.decision)}.` : `Acquire ${list(labels(advice.features))}${advice.features.length > 1 && countsRounds() ? " in one round" : ""}.`),
    ...advice.reasons.map((reason) => element("p", {}, reason)),
    ...(decided ? [bill()] : advice.features.map((feature, k) => results(feature, k === 0, advice.features))),
  );
  $("target").textContent = `What is ${label(problem.target)}?`;
  $("posterior").replaceChildren(...Object.entries(advice.posterior).map(([name, p]) =>
    element("li", {}, bar(stateLabel(problem.target, name), p, percent(p)))));
  const dearest = Math.max(...Object.values(advice.decision_costs), 1e-9);
  $("decisions").replaceChildren(...Object.entries(advice.decision_costs).map(([name, cost]) =>
    element("li", {}, bar(stateLabel(problem.target, name), cost / dearest, money(cost),
      { chosen: name === advice.decision }))));
  $("money").replaceChildren(...pairs([
    ["Expected cost of deciding now", amount(advice.emc)],
    ["Spent so far", amount(advice.spent)],
    ["Expected saving if you go on", amount(Math.max(advice.benefit, 0))],
    ...left(),
  ]));
  $("rules").replaceChildren(...problem.rules.map((rule) => element("li", {}, rule)));
  $("rules-card").hidden = !problem.rules.length;
  $("currency").textContent = problem.currency ? `Amounts are in ${problem.currency}.` : "";
  history(now);
  candidates();
}

// What is left of the limits, where there are some.
function left() {
  const { spend, features, rounds } = advice.left;
  return [["Left to spend", spend, amount], ["Features left", features, String], ["Rounds left", rounds, String]]
    .filter(([, most]) => most !== null).map(([name, most, shown]) => [name, shown(most)]);
}

function history(now) {
  const same = problem && countsRounds() ? rounds(now.steps).flatMap((round) => round.slice(1)) : [];
  $("history").replaceChildren(...now.steps.map(([feature, found]) =>
    element("li", {}, found === null ? `${label(feature)}: not available` : `${label(feature)} = ${stateLabel(feature, found)}`,
      same.includes(feature) ? element("small", {}, " (same round)") : null)));
  $("undo").disabled = $("again").disabled = !now.steps.length;
}

function bill() {
  return element("dl", { id: "bill" }, ...pairs([
    ["Spent on features", amount(advice.spent)],
    ["Expected cost of the decision", amount(advice.emc)],
    ["Total", amount(advice.spent + advice.emc)],
  ]));
}

function pairs(rows) {
  return rows.flatMap(([name, amount]) => [element("dt", {}, name), element("dd", {}, amount)]);
}

function results(feature, isFirst, batch = [feature]) {
  const button = (found, kind, key, text) => element("button", {
    type: "button", class: kind, "aria-pressed": batch.length > 1 ? "false" : undefined,
    onclick: (event) => enter(feature, found, batch, event.currentTarget),
  }, isFirst && key ? element("kbd", { "aria-hidden": "true" }, key) : null, text);
  // A feature with bins takes a number too; the server finds the bin.
  const number = () => element("form", {
    class: "number",
    onsubmit: (event) => {
      event.preventDefault();
      enter(feature, event.currentTarget.elements[0].value, batch, event.currentTarget);
    },
  }, element("input", { type: "number", step: "any", required: true, "aria-label": `${label(feature)} as a number` }),
  element("button", { class: "quiet" }, "enter"));
  return element("fieldset", { "data-feature": feature },
    element("legend", {}, `What did ${label(feature)} show?`),
    element("div", { class: "buttons" },
      ...problem.states[feature].map((found, k) => button(found, "result", k < 9 ? String(k + 1) : "", stateLabel(feature, found))),
      problem.bins[feature] ? number() : null,
      button(null, "quiet", "n ", "not available")));
}

function bar(name, share, number, { chosen = false, price } = {}) {
  const fill = element("span", { class: "fill" });
  fill.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
  const track = element("span", { class: "track", "aria-hidden": "true" }, fill);
  if (price !== undefined) {
    const mark = element("span", { class: "price" });
    mark.style.left = `${100 * Math.min(price, 1)}%`;
    track.append(mark);
  }
  return element("span", { class: "row" + (chosen ? " chosen" : "") }, element("span", {}, name), track, element("span", { class: "number" }, number));
}

function candidates() {
  const sharing = {};
  for (const g of problem.groups || []) for (const f of g.features) sharing[f] = `group ${g.name}`;
  for (const d of problem.discounts || []) for (const f of Object.keys(d.off)) sharing[f] = `discount ${d.name}`;
  const offers = [...advice.candidates, ...advice.barred];
  const most = Math.max(...offers.map((c) => Math.max(c.evi, c.cost)), 1e-9);
  $("candidates").replaceChildren(...offers.map((c) => {
    const chosen = c.features.join() === advice.features.join() && advice.action === "acquire";
    const row = bar(list(labels(c.features)), c.evi / most, `worth ${money(c.evi)}, costs ${money(c.cost)}`, { chosen, price: c.cost / most });
    const shared = [...new Set(c.features.map((f) => sharing[f]).filter(Boolean))];
    if (shared.length) row.firstChild.append(element("small", {}, list(shared)));
    if (c.obstacles.length) {
      row.classList.add("barred");
      row.append(element("small", { class: "why" }, `Not now. ${c.obstacles.join(" ")}`));
    }
    const item = element("li", {});
    if (c.features.length === 1) {
      const button = element("button", {
        type: "button", class: row.className, "aria-expanded": "false",
        onclick: () => {
          const open = button.getAttribute("aria-expanded") === "true";
          button.setAttribute("aria-expanded", String(!open));
          if (open) item.lastChild.remove(); else item.append(results(c.features[0], false));
        },
      }, ...row.childNodes);
      item.append(button);
    } else item.append(row);
    return item;
  }));
}

// What is acquired together is entered together: the next advice waits for the last result.
function enter(feature, found, batch, pressed) {
  if ($("advice").getAttribute("aria-busy") === "true") return; // the click before is being answered
  pending[feature] = found;
  for (const other of pressed.parentElement.children)
    if (other.hasAttribute("aria-pressed")) other.setAttribute("aria-pressed", String(other === pressed));
  if (!batch.every((name) => name in pending)) return;
  $("advice").setAttribute("aria-busy", "true");
  const entered = Object.entries(pending).map((step, k) => (k ? [...step, true] : step));
  write({ steps: [...state().steps, ...entered] });
  $("main").focus({ preventScroll: true });
}

// -- the other views

function view(name) {
  for (const [key, panel] of Object.entries(panels)) {
    const tab = $("tab-" + key);
    tab.setAttribute("aria-selected", String(key === name));
    tab.tabIndex = key === name ? 0 : -1;
    $(panel).hidden = key !== name;
  }
}

async function other(now, mine) {
  for (const id of ["lattice-text", "lattice-picture", "lattice-top", "tree-text", "tree-list", "curves-text", "curves-picture"])
    $(id).replaceChildren();
  if (now.view === "lattice") {
    $("lattice-text").textContent = "Building the lattice …";
    const found = await call("POST", "api/v1/lattice", asked(now));
    if (mine !== asking) return;
    $("lattice-text").textContent = `${found.nodes.toLocaleString("en")} irreducible sets of ${found.subsets.toLocaleString("en")}; ` +
      (found.feasible_nodes === undefined ? "" : `${found.feasible_nodes.toLocaleString("en")} of them can be acquired as they are; `) +
      `the acquirable core is ${list(labels(found.markov_blanket)) || "empty"}.`;
    $("lattice-picture").innerHTML = found.svg.replace(/^<\?xml[^>]*\?>/, "");
    trace($("lattice-picture").querySelector("svg"));
    $("lattice-top").replaceChildren(...(found.values ? [table(found.values)] : []));
  }
  if (now.view === "policy") await job(now, mine, "tree", "api/v1/policy", { policy: now.policy }, (found) => {
    $("tree-text").textContent = `${found.policy}: expected total cost ${amount(found.expected_total_cost)}, of which ` +
      `${amount(found.expected_feature_cost)} for features; ${found.paths.toLocaleString("en")} paths. ` +
      (countsRounds() ? `${money(found.expected_rounds)} rounds on average. ` : "") + found.verdict;
    $("tree-list").innerHTML = found.tree;
  });
  if (now.view === "curves") {
    const top = Math.max(4 * Math.round(now.kind ? now.expected : advice.emc), 100);
    const points = Array.from({ length: 21 }, (_, k) => k * top / 20);
    await job(now, mine, "curves", "api/v1/compare", { points }, (found) => {
      $("curves-text").textContent = "What each policy saves over deciding at once, from low to high stakes.";
      $("curves-picture").innerHTML = found.svg;
    });
  }
}

async function job(now, mine, panel, path, options, done) {
  const text = $(panel + "-text"), cancel = $(panel + "-cancel");
  if (jobs[panel]) call("DELETE", "api/v1/jobs/" + jobs[panel]).catch(() => {});
  let found = await call("POST", path, asked(now, options));
  jobs[panel] = found.job;
  cancel.hidden = false;
  cancel.onclick = () => call("DELETE", "api/v1/jobs/" + found.job).catch(say);
  while (["queued", "running"].includes(found.state) && mine === asking) {
    text.textContent = found.state === "queued" ? "Waiting for other jobs …" : `Working … ${found.progress}`;
    await new Promise((resolve) => setTimeout(resolve, 300));
    found = await call("GET", "api/v1/jobs/" + found.job);
  }
  if (mine !== asking) { call("DELETE", "api/v1/jobs/" + found.job).catch(() => {}); return; }
  delete jobs[panel];
  cancel.hidden = true;
  if (found.state === "done") done(found.result);
  else text.textContent = found.state === "cancelled" ? "Cancelled." : found.error.detail;
}

function table(values) {
  return element("table", {}, element("caption", {}, "The sets of highest benefit: EVI, the expected value of information, less cost" + (problem.currency ? ` (${problem.currency})` : "")),
    element("tr", {}, ...["set", "EVI", "cost", "benefit"].map((h) => element("th", { scope: "col" }, h))),
    ...values.map((v) => element("tr", {}, element("td", {}, list(labels(v.features)) || "nothing",
      v.obstacles.length ? element("small", {}, ` (${v.feasible ? "beyond the limits" : "not feasible"})`) : null),
      ...[v.evi, v.cost, v.benefit].map((x) => element("td", {}, money(x))))));
}

// Lights up a set with everything above and below it, along the edges.
function trace(svg) {
  if (!svg) return;
  const edges = [...svg.querySelectorAll(".edge")];
  const follow = (start, from, to, lit) => {
    const todo = [start];
    while (todo.length) {
      const node = todo.pop();
      for (const edge of edges)
        if (edge.dataset[from] === node && !edge.classList.contains("lit")) {
          edge.classList.add("lit"); lit.add(edge.dataset[to]); todo.push(edge.dataset[to]);
        }
    }
  };
  const clear = () => {
    svg.classList.remove("picked");
    svg.querySelectorAll(".lit").forEach((part) => part.classList.remove("lit"));
  };
  for (const node of svg.querySelectorAll(".node")) {
    const pick = () => {
      clear();
      svg.classList.add("picked");
      const lit = new Set([node.dataset.node]);
      follow(node.dataset.node, "from", "to", lit);
      follow(node.dataset.node, "to", "from", lit);
      svg.querySelectorAll(".node").forEach((o) => o.classList.toggle("lit", lit.has(o.dataset.node)));
    };
    node.addEventListener("mouseenter", pick);
    node.addEventListener("focus", pick);
    node.addEventListener("mouseleave", clear);
    node.addEventListener("blur", clear);
  }
}

// -- what the person does

// Files, or a folder with them.
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const folder = entries.find((entry) => entry.isDirectory);
  if (!folder) return [...transfer.files];
  const inside = await new Promise((resolve, reject) => folder.createReader().readEntries(resolve, reject));
  const files = inside.filter((entry) => entry.isFile && !entry.name.startsWith(".") && !/\.(md|txt)$/i.test(entry.name));
  return Promise.all(files.map((entry) => new Promise((resolve, reject) => entry.file(resolve, reject))));
}

async function upload(files) {
  if (!files.length) return;
  const form = new FormData(), texts = {};
  for (const file of files) { form.append("files", file, file.name); texts[file.name] = await file.text(); }
  try {
    const found = await call("POST", "api/v1/problems", form);
    uploads.save(found.name, texts);
    problem = found;
    say(null);
    write({ problem: found.name, steps: [] });
  } catch (error) { say(error); }
}

function wire() {
  $("problem").onchange = (event) => write({ problem: event.target.value, steps: [] });
  $("policy").onchange = (event) => write({ policy: event.target.value });
  $("kind").onchange = (event) => write({ kind: event.target.value });
  $("expected").oninput = (event) => { $("expected-shown").textContent = amount(Number(event.target.value)); };
  $("expected").onchange = (event) => write({ expected: Number(event.target.value) });
  document.querySelector(".skip").onclick = (event) => { event.preventDefault(); $("main").focus(); };
  $("settings").onsubmit = (event) => event.preventDefault();
  $("files").onchange = (event) => { upload([...event.target.files]).finally(() => { event.target.value = ""; }); };
  $("undo").onclick = () => write({ steps: state().steps.slice(0, -1) });
  $("again").onclick = () => write({ steps: [] });
  $("print").onclick = () => print();
  $("save").onclick = () => {
    const now = state();
    const record = { problem: now.problem, title: problem.title, policy: now.policy, stakes: now.kind ? { kind: now.kind, expected: now.expected } : null,
      found: now.steps.map(([feature, result]) => ({ feature, result })), together: rounds(now.steps), advice };
    const link = element("a", { download: `consultation-${now.problem}.json`, href: "data:application/json;charset=utf-8," + encodeURIComponent(JSON.stringify(record, null, 2)) });
    link.click();
  };
  const tabs = Object.keys(panels);
  for (const name of tabs) {
    $("tab-" + name).onclick = () => write({ view: name });
    $("tab-" + name).onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(tabs.indexOf(name) + step + tabs.length) % tabs.length];
      $("tab-" + next).focus();
      write({ view: next });
    };
  }
  document.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
    const first = $("advice").querySelector("fieldset");
    if (event.key === "u" && !$("undo").disabled) $("undo").click();
    if (state().view !== "consult" || !first || $("advice").getAttribute("aria-busy") === "true") return;
    const buttons = [...first.querySelectorAll("button")];
    if (/^[1-9]$/.test(event.key)) buttons.filter((b) => b.classList.contains("result"))[Number(event.key) - 1]?.click();
    if (event.key === "n") buttons.at(-1).click();
  };
  document.ondragover = (event) => { event.preventDefault(); document.body.classList.add("dropping"); };
  document.ondragleave = () => document.body.classList.remove("dropping");
  document.ondrop = (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    dropped(event.dataTransfer).then(upload, say);
  };
  addEventListener("hashchange", show);
}

async function begin() {
  wire();
  try {
    policies = (await call("GET", "api/v1/policies")).reverse(); // the best one first
    $("policy").replaceChildren(...policies.map((name) => element("option", { value: name }, name)));
    const entries = await call("GET", "api/v1/problems");
    first = entries[0]?.name ?? first;
    $("problem").replaceChildren(...entries.map((entry) =>
      element("option", { value: entry.name }, entry.title ? `${entry.name}: ${entry.title}` : entry.name)));
  } catch (error) { say(error); }
  await show();
}

begin();
