// A referee in the page. It sees what a person does (trusted events alone) and what the person sees, knows
// what must then be in the address, and compares after each event. It knows nothing of the page's own state.
//
// It also delays every answer of the server at random, and lets the timers of the page run SPEED times as fast.

(() => {
  const { SPEED, SEED } = globalThis.soak;
  const NEW = 1000 / SPEED - 50; // ms after a change of the question in which no key may act; less a little, for late clocks
  const UNSEEN = 300 / SPEED - 25; // ms in which a person does not see that what is under the pointer has changed

  let x = SEED;
  const random = () => { x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0; return x / 2 ** 32; };

  const timeout = window.setTimeout.bind(window), fetchNow = window.fetch.bind(window);
  window.setTimeout = (work, ms = 0, ...rest) => timeout(work, ms / SPEED, ...rest);
  window.fetch = async (input, options = {}) => {
    const answer = await fetchNow(input, options);
    if (random() < 0.7) await new Promise((resolve) => timeout(resolve, random() * 2000 / SPEED));
    options.signal?.throwIfAborted();
    return answer;
  };

  const book = JSON.parse(sessionStorage.getItem("referee") ?? '{"findings":{},"faults":[],"log":[],"entered":0}');
  const keep = () => sessionStorage.setItem("referee", JSON.stringify(book));
  const note = (text) => { book.log.push(text); keep(); };
  const steps = () => new URLSearchParams(location.hash.slice(1)).getAll("step").map((text) => JSON.parse(text));

  function compare(where) {
    const found = Object.fromEntries(steps().map(([feature, result]) => [feature, result]));
    for (const name of new Set([...Object.keys(found), ...Object.keys(book.findings)]))
      if (found[name] !== book.findings[name] && !book.faults.length)
        book.faults.push(`${where}: ${name} is ${found[name]} in the address; entered was ${book.findings[name]}`);
    keep();
  }

  function enter(feature, result, how) {
    book.findings[feature] = result;
    book.entered += 1;
    note(`${how}: ${feature} = ${result}`);
  }

  function takeBack(feature, how) {
    delete book.findings[feature];
    note(`${how}: takes back ${feature}`);
  }

  // -- what a person sees

  let changedAt = -Infinity, aim = null, aimedAt = "", arrived = 0;
  const box = () => document.getElementById("advice-fields");
  const questionText = () => [...box().querySelectorAll("fieldset")].map((fields) => fields.dataset.feature).join();
  addEventListener("DOMContentLoaded", () => {
    let before = "";
    new MutationObserver(() => {
      const text = questionText();
      if (text === before) return;
      before = text;
      changedAt = performance.now();
      note(`asked: ${text || "nothing"}`);
    }).observe(box(), { childList: true });
  });

  const resultOf = (button) => {
    const text = [...button.childNodes].filter((node) => node.nodeName !== "KBD").map((node) => node.textContent).join("").trim();
    return text === "not available" ? null : text;
  };
  const BUTTONS = "fieldset .result, fieldset .quiet";
  const entryOf = (button) => (button ? [button.closest("fieldset").dataset.feature, resultOf(button)] : null);
  const isAt = (button, x, y) => [...button.getClientRects()].some(({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom);
  // What is seen at a place, whether it can be clicked or not.
  const entryAt = (x, y) => entryOf([...document.querySelectorAll(BUTTONS)].find((button) => isAt(button, x, y)));
  const hasText = (field) => field.getClientRects().length > 0 && (field.value !== "" || field.validity.badInput);
  const isTyping = (target) => /INPUT|SELECT|TEXTAREA/.test(target.tagName) ||
    [...document.querySelectorAll("#consult fieldset input, #free input")].some(hasText);

  // -- what a person does

  const listen = (kind, hear) => addEventListener(kind, (event) => {
    if (!event.isTrusted) return;
    hear(event);
    timeout(() => compare(kind), 0);
  }, { capture: true });

  listen("mousemove", (event) => { // what is under the pointer when it arrives is what a click is meant for
    const at = `${event.clientX},${event.clientY}`;
    if (at !== aimedAt) { aimedAt = at; arrived = performance.now(); aim = entryAt(event.clientX, event.clientY); }
  });

  listen("click", (event) => {
    const entry = entryOf(event.target.closest(BUTTONS)), button = event.target.closest("button");
    if (entry && event.detail < 2) {
      const isSeen = changedAt > arrived && performance.now() - changedAt > UNSEEN;
      if (event.detail === 1 && JSON.stringify(entry) !== JSON.stringify(aim) && !isSeen)
        book.faults.push(`a click meant for ${aim} enters ${entry}`);
      enter(...entry, "click");
    }
    if (button?.id === "undo" && !button.disabled) takeBack(steps().at(-1)?.[0], "undo");
    if (button?.id === "again") for (const name of Object.keys(book.findings)) takeBack(name, "again");
    const row = event.target.closest("#history li");
    if (row && button) takeBack(row.querySelector(".found").textContent.split(/ = |: /)[0], "history");
  });

  listen("submit", (event) => {
    const field = event.target.querySelector("fieldset .number-form input");
    if (field && Number.isFinite(field.valueAsNumber)) enter(field.closest("fieldset").dataset.feature, field.valueAsNumber, "number");
  });

  listen("keydown", (event) => {
    const { key, target } = event;
    if (!/^[1-9nu]$/.test(key)) return;
    const next = [...box().querySelectorAll("fieldset")].find((fields) => !(fields.dataset.feature in book.findings));
    const button = next && (key === "n" ? next.querySelector(".quiet") : key === "u" ? null : next.querySelectorAll(".result")[Number(key) - 1]);
    const mayNot = event.repeat || isTyping(target) || performance.now() - changedAt < NEW;
    note(`key ${key} ${mayNot ? "in vain" : ""}`);
    if (mayNot) return;
    const isLate = box().hasAttribute("data-settling"); // the clock of the page is late: it may not act yet
    const before = location.hash, last = steps().at(-1)?.[0];
    const isSure = !isLate && (key === "u" ? !document.getElementById("undo").disabled : button && !box().inert);
    if (isSure) { if (key === "u") takeBack(last, "u"); else enter(next.dataset.feature, resultOf(button), `key ${key}`); }
    else if (isLate) timeout(() => { // runs before the comparison
      if (location.hash === before) return;
      if (key === "u") takeBack(last, "u"); else enter(next.dataset.feature, resultOf(button), `late key ${key}`);
    }, 0);
  });

  addEventListener("hashchange", () => compare("address"));

  // -- for the driver

  const SELECTORS = {
    result: "#advice-fields .result", unavailable: "#advice-fields .quiet", number: "#advice-fields .number-form input",
    candidate: "#candidates > li > button", "candidate result": "#candidates .result", "candidate number": "#candidates .number-form input",
    notice: "#advice-changed button", undo: "#undo", history: "#history .link", nowhere: "#title",
  };
  globalThis.referee = {
    // Opens an address, as from a link; the page has heard of it when this ends.
    async begin(address) {
      const heard = new Promise((resolve) => { addEventListener("hashchange", () => timeout(resolve, 0), { once: true }); });
      Object.assign(book, { findings: {}, faults: [], log: [], entered: 0 });
      if (location.hash === address) return;
      location.hash = address;
      await heard;
    },
    // A place on one of the elements of a kind, scrolled into view; null: there is none.
    place(kind, share) {
      const found = [...document.querySelectorAll(SELECTORS[kind])].filter((one) => one.getClientRects().length && !one.disabled);
      if (!found.length) return null;
      const one = found[Math.floor(share * found.length)];
      one.scrollIntoView({ block: "nearest" });
      const { left, top, width, height } = one.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    },
    isAimed: () => aim !== null,
    isAsked: () => box().querySelector("fieldset") !== null,
    isQuiet: () => new Promise((resolve) => timeout(resolve, 30)).then(() => document.getElementById("advice").getAttribute("aria-busy") === "false" && !document.querySelector("#working progress")),
    // What went wrong; the page is quiet.
    report() {
      compare("end");
      const shown = [...document.querySelectorAll("#history .found")].map((one) => one.firstChild.textContent);
      if (shown.length !== Object.keys(book.findings).length) book.faults.push(`the page shows ${shown}; entered was ${JSON.stringify(book.findings)}`);
      if (box().querySelector("fieldset") && box().inert && !box().hasAttribute("data-settling")) book.faults.push("the question takes no answer");
      return { faults: book.faults, log: book.log, entered: book.entered };
    },
  };
})();
