// A referee in the page. It sees what a person does (trusted events alone) and what the person sees, writes
// down what was entered (ledger.js), and compares that with the address after each event. It knows
// nothing of the page's own state.
//
// It also delays the answers of the server at random, lets some of them fail, and lets the timers of the page
// run SPEED times as fast.

(() => {
  const { ledgerOf, newLedger } = globalThis;
  const { SPEED, SEED } = globalThis.soak;
  const second = 1000 / SPEED;
  const LATE = 80; // ms; on a busy machine this referee sees a change later than the page makes it
  const NEW = second - LATE; // after a change of the question, or the loss of a field, no key may act
  const MOVED = second / 2 - LATE; // and none after the next test of a round has its turn
  const UNSEEN = 0.3 * second - LATE / 2; // a person does not see yet that what is under the pointer has changed

  const book = JSON.parse(sessionStorage.getItem("referee") ?? "null") ?? {
    ledger: newLedger(),
    faults: [],
    log: [],
    entered: 0,
    failing: 0,
    visited: [],
  };
  let ledger = ledgerOf(book.ledger);
  const keep = () => sessionStorage.setItem("referee", JSON.stringify(book));
  const note = (text) => {
    book.log.push(text);
    keep();
  };
  const fault = (text) => {
    if (!book.faults.length) {
      book.faults.push(text);
      note(text);
    }
  };

  // -- the server

  let x = SEED;
  const random = () => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x / 2 ** 32;
  };
  const timeout = window.setTimeout.bind(window);
  const fetchNow = window.fetch.bind(window);
  const later = (ms) => new Promise((resolve) => timeout(resolve, ms));
  window.setTimeout = (work, ms = 0, ...rest) => timeout(work, ms / SPEED, ...rest);
  window.fetch = async (input, options = {}) => {
    const fate = random() < book.failing ? random() : 1;
    const answer = fate < 1 ? null : await fetchNow(input, options);
    if (random() < 0.7) await later((random() * 2000) / SPEED);
    options.signal?.throwIfAborted();
    if (fate < 0.5) throw new TypeError("Failed to fetch");
    return answer ?? new Response('{"detail": "too many requests are waiting"}', { status: 503 });
  };

  // -- what a person sees

  const box = () => document.getElementById("advice-fields");
  const asked = () => [...box().querySelectorAll("fieldset")].map((fields) => fields.dataset.feature);
  const nextFields = () =>
    [...box().querySelectorAll("fieldset")].find((fields) => !ledger.lineOf(fields.dataset.feature));
  // Not grey.
  const isPlain = (one) => {
    for (let at = one; at; at = at.parentElement) if (Number(getComputedStyle(at).opacity) < 1) return false;
    return one.getClientRects().length > 0;
  };
  const textOf = (button) =>
    [...button.childNodes]
      .filter((child) => child.nodeName !== "KBD")
      .map((child) => child.textContent)
      .join("")
      .trim();
  const resultOf = (button) => (textOf(button) === "not available" ? null : textOf(button));
  const BUTTONS = "fieldset .result, fieldset .quiet";
  const entryOf = (button) => (button ? [button.closest("fieldset").dataset.feature, resultOf(button)] : null);
  const isAt = (button, left, top) =>
    [...button.getClientRects()].some(
      (place) => place.left <= left && left <= place.right && place.top <= top && top <= place.bottom,
    );
  const buttonAt = (left, top) => [...document.querySelectorAll(BUTTONS)].find((button) => isAt(button, left, top));
  const hasText = (field) => field.getClientRects().length > 0 && (field.value !== "" || field.validity.badInput);
  const isTyping = (target) =>
    /INPUT|SELECT|TEXTAREA/.test(target.tagName) ||
    [...document.querySelectorAll("#consult .number-form input, #free input")].some(hasText);

  let changedAt = -Infinity;
  let shiftedAt = -Infinity;
  let movedAt = -Infinity;
  let lostAt = -Infinity;
  let underAt = -Infinity;
  let before = "";
  let next = "";
  let under = "null";
  let pointer = [-1, -1];
  let topOfFields = 0;
  const used = new Set(); // fields in which the person was
  const look = () => {
    const now = performance.now();
    const text = asked().join();
    const target = nextFields()?.dataset.feature ?? "";
    if (text !== before) {
      changedAt = replacedAt;
      note(`asked: ${text || "nothing"}`);
    } else if (target && target !== next) movedAt = now;
    const place = box().getBoundingClientRect().top + scrollY;
    // What has just moved under the pointer takes no click, nor does what was put in its place.
    if (place !== topOfFields || document.body.classList.contains("moved")) {
      topOfFields = place;
      shiftedAt = now;
    }
    before = text;
    next = target || next;
    const at = JSON.stringify(entryOf(buttonAt(...pointer)));
    if (at !== under) {
      under = at;
      underAt = now;
    }
    for (const field of used)
      if (!field.isConnected) {
        used.delete(field);
        lostAt = now;
      }
  };
  // The page may go on for a while after it has replaced its fields, before anybody else hears of that.
  let replacedAt = -Infinity;
  addEventListener("DOMContentLoaded", () => {
    const fields = box();
    const replace = fields.replaceChildren.bind(fields);
    fields.replaceChildren = (...children) => {
      replacedAt = performance.now();
      replace(...children);
    };
  });
  addEventListener("DOMContentLoaded", () =>
    new MutationObserver(look).observe(document.getElementById("consult"), { childList: true, subtree: true }),
  );

  // -- what is written down

  let awaited = null; // the address of a step back that is on its way

  function compare(where) {
    if (awaited !== null && location.hash !== awaited) return;
    awaited = null;
    const steps = new URLSearchParams(location.hash.slice(1)).getAll("step").map((text) => JSON.parse(text));
    const found = new Map(steps.map(([feature, result]) => [feature, result]));
    const entered = new Map(book.ledger.lines.map(([feature, result]) => [feature, result]));
    for (const name of new Set([...found.keys(), ...entered.keys()]))
      if (found.get(name) !== entered.get(name))
        fault(`${where}: ${name} is ${found.get(name)} in the address; entered was ${entered.get(name)}`);
    look();
    const visit = book.visited.at(-1);
    if (visit?.hash === location.hash) visit.ledger = structuredClone(book.ledger);
    else book.visited.push({ hash: location.hash, ledger: structuredClone(book.ledger) });
    keep();
  }

  // What was asked for together with a feature that is entered at a place: all that has fields in the advice.
  const togetherWith = (feature, where) =>
    box().contains(where) || (where.closest("#imagined") && asked().includes(feature)) ? asked() : [feature];

  function enter(feature, result, together, how) {
    ledger.enter(feature, result, together);
    book.entered += 1;
    note(`${how}: ${feature} = ${result}`);
  }

  function enterNumber(field) {
    const { feature } = field.closest("fieldset").dataset;
    enter(feature, field.valueAsNumber, togetherWith(feature, field), "number");
  }

  function enterFree(form) {
    const [feature, result] = form.querySelectorAll("select");
    const number = form.querySelector("input")?.valueAsNumber;
    const text = result.selectedOptions[0].textContent;
    ledger.enterFree(feature.value, Number.isFinite(number) ? number : text === "cannot be had" ? null : text);
    book.entered += 1;
    note(`free: ${feature.value} = ${Number.isFinite(number) ? number : text}`);
  }

  function takeBack(feature, how) {
    if (feature === undefined) return;
    ledger.takeBack(feature);
    note(`${how}: takes back ${feature}`);
  }

  function undo(how) {
    const last = ledger.last();
    if (last === undefined) return;
    ledger.undo();
    note(`${how}: takes back ${last}`);
  }

  // -- what a person does

  // Heard before the page hears it, and compared as soon as the page has: later, something else may have changed.
  const listen = (kind, hear) => {
    addEventListener(
      kind,
      (event) => {
        if (!event.isTrusted) return;
        look();
        hear(event);
      },
      { capture: true },
    );
    addEventListener(kind, (event) => {
      if (!event.isTrusted) return;
      for (const [hash, act] of possible.splice(0)) if (location.hash !== hash) act();
      compare(kind);
    });
  };

  // What the page may do or not: what it did counts.
  const possible = [];
  const ifDone = (act) => {
    possible.push([location.hash, act]);
  };

  let aim = "null";
  let aimedAt = 0;
  let isSlip = false; // a slip: a key that is held, the second click of two
  listen("mousemove", ({ clientX, clientY }) => {
    // what is under the pointer when it arrives is what a click is meant for
    if (`${pointer}` === `${[clientX, clientY]}`) return;
    pointer = [clientX, clientY];
    look();
    aim = under;
    aimedAt = performance.now();
  });

  let pressed = null; // what is seen under the pointer when its button goes down, unless it is grey
  listen("mousedown", ({ clientX, clientY }) => {
    const seen = buttonAt(clientX, clientY);
    pressed = seen && isPlain(seen) ? seen : null;
  });

  listen("click", (event) => {
    const hit = event.target.closest(BUTTONS);
    const entry = entryOf(hit);
    const button = event.target.closest("button");
    const now = performance.now();
    if (event.detail) isSlip = event.detail > 1;
    if (entry && !isSlip) {
      const together = togetherWith(entry[0], hit);
      const act = () => enter(...entry, together, "click");
      // A question that is asked again after the hand has moved has new buttons, though they read the same.
      if (event.detail === 0 || (JSON.stringify(entry) === aim && changedAt <= aimedAt)) act();
      // The person may have seen that it has changed.
      else if (now - underAt > UNSEEN) ifDone(act);
      else note(`a click meant for ${aim} is on ${entry}`);
    }
    const seen = event.detail === 1 && buttonAt(event.clientX, event.clientY);
    if (seen && seen === pressed && !hit && isPlain(seen) && now - Math.max(changedAt, shiftedAt, lostAt) > 4 * second)
      fault(`a click on ${entryOf(seen)} is lost`);
    if (!button || button.disabled) return;
    if (button.id === "undo") undo("undo");
    if (button.id === "again") {
      ledger.clear();
      note("start again");
    }
    if (button.textContent === "Plan again without the rest") {
      ledger.leaveRound();
      note("plan again");
    }
    if (isSlip) return;
    const restored = button.textContent === "It can be had after all" && button.closest("li").dataset.feature;
    if (restored) ifDone(() => takeBack(restored, "after all"));
    if (button.textContent === "×") {
      const taken = button.getAttribute("aria-label").slice("Take back ".length);
      ifDone(() => (taken === ledger.last() ? undo("×") : takeBack(taken, "×")));
    }
    const imagined =
      button.textContent === "Enter this result" &&
      /^If (.*) were (.*) …$/.exec(document.querySelector("#imagined h2").textContent);
    if (imagined) {
      const together = togetherWith(imagined[1], button);
      ifDone(() => enter(imagined[1], imagined[2], together, "imagined"));
    }
  });

  listen("submit", ({ target }) => {
    const field = target.matches(".number-form") ? target.querySelector("input") : null;
    if (field && Number.isFinite(field.valueAsNumber)) enterNumber(field);
    if (target.matches(".free-form") && !isSlip) enterFree(target);
  });

  // Not compared: the page may move the focus while it hears a click.
  addEventListener(
    "focusin",
    ({ target }) => {
      if (target.matches("#consult input")) used.add(target);
    },
    { capture: true },
  );

  listen("keydown", (event) => {
    const { key, target } = event;
    const now = performance.now();
    isSlip = event.repeat;
    if (!/^[1-9nu]$/.test(key)) return;
    const fields = nextFields();
    const buttons = fields ? [...fields.querySelectorAll(".result")] : [];
    const button = key === "n" ? fields?.querySelector(".quiet") : buttons[Number(key) - 1];
    const why = event.repeat
      ? "held"
      : isTyping(target)
        ? "typing"
        : now - changedAt < NEW
          ? "a new question"
          : now - lostAt < NEW
            ? "a field is gone"
            : now - movedAt < MOVED
              ? "the next test"
              : "";
    note(`key ${key}${why && ` in vain: ${why}`}`);
    // Undo is not meant for a test: it may act or not while the next one has its turn.
    const isVain = why && !(key === "u" && why === "the next test");
    if (isVain || (key === "u" ? ledger.last() === undefined : !button)) return;
    const together = asked();
    const feature = fields?.dataset.feature;
    const result = button && resultOf(button);
    const act = () => {
      if (key === "u") undo("u");
      else enter(feature, result, together, `key ${key}`);
    };
    // A key that is shown, and is not grey, acts. The clock of the page may be late: a grey one may act or not.
    const shown = (button ?? fields)?.querySelector("kbd");
    if (!why && shown && isPlain(shown) && now - Math.max(changedAt, movedAt, lostAt) > second) act();
    else ifDone(act);
  });

  addEventListener("hashchange", () => compare("address"));

  // -- for the driver

  const SELECTORS = {
    result: "#advice-fields .result",
    unavailable: "#advice-fields .quiet",
    number: "#advice-fields .number-form input",
    candidate: "#candidates > li > button",
    "candidate result": "#candidates .result",
    "candidate number": "#candidates .number-form input",
    "candidate unavailable": "#candidates .quiet",
    notice: "#advice-changed button",
    undo: "#undo",
    again: "#again",
    history: "#history .link",
    nowhere: "#title",
    "after all": "#ignored .link",
    "enter imagined": "#imagined button",
    summary: "#free summary",
    add: "#free .free-form button",
    "free number": "#free input",
    ignored: "#ignored summary",
  };
  const seenOf = (selector) =>
    [...document.querySelectorAll(selector)].filter((one) => one.getClientRects().length && !one.disabled);
  const pick = (all, share) => all[Math.floor(share * all.length)];
  globalThis.referee = {
    // Opens an address, as from a link; the page has heard of it when this ends.
    async begin(address, failing) {
      const heard = new Promise((resolve) => {
        addEventListener("hashchange", () => timeout(resolve, 0), { once: true });
      });
      Object.assign(book, { ledger: newLedger(), faults: [], log: [], entered: 0, failing, visited: [] });
      ledger = ledgerOf(book.ledger);
      used.clear();
      if (location.hash !== address) {
        location.hash = address;
        await heard;
      }
      book.visited = [{ hash: location.hash, ledger: structuredClone(book.ledger) }];
      keep();
    },
    // A place on one of the elements of a kind, scrolled into view; null: there is none.
    place(kind, share) {
      const one = pick(seenOf(SELECTORS[kind]), share);
      if (!one) return null;
      one.scrollIntoView({ block: "nearest" });
      const { left, top, width, height } = one.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    },
    // Chooses something in one of the lists of a kind, as a person does.
    choose(selector, share, choice) {
      const list = pick(seenOf(selector), share);
      const option =
        list &&
        pick(
          [...list.options].filter((one) => one.value),
          choice,
        );
      if (!option) return;
      list.value = option.value;
      list.dispatchEvent(new Event("change", { bubbles: true }));
    },
    // Whether there is a way back in this consultation. Its ledger is the one of that time then.
    goBack() {
      if (book.visited.length < 2 || book.visited.at(-1).hash !== location.hash) return false;
      book.visited.pop();
      book.ledger = structuredClone(book.visited.at(-1).ledger);
      ledger = ledgerOf(book.ledger);
      awaited = book.visited.at(-1).hash;
      note(`back to ${book.visited.at(-1).hash}`);
      return true;
    },
    isAimed: () => aim !== "null",
    // A person waits for a question, an error, or advice that stands in for one that failed.
    isAsked: () => seenOf("#advice-fields fieldset, #error, #working > button").length > 0,
    // What the page says, for the report.
    tell: () =>
      [
        ...["error", "say", "working", "advice-why"].map((id) => document.getElementById(id).textContent),
        document.getElementById("advice").cloneNode(false).outerHTML,
        box().cloneNode(false).outerHTML,
        document.activeElement.outerHTML,
      ].join(" | "),
    isQuiet: () =>
      later(30).then(
        () =>
          document.getElementById("advice").getAttribute("aria-busy") === "false" &&
          !document.querySelector("#working progress"),
      ),
    // Whether the keys are shown as acting; true if there are none, in another view, or if something is being typed.
    isAnswerable: () =>
      !nextFields() ||
      !box().getClientRects().length ||
      isTyping(document.activeElement) ||
      isPlain(nextFields().querySelector("kbd")),
    isWhole: () => document.querySelector("#money dd") !== null && document.getElementById("error").hidden,
    calm() {
      book.failing = 0;
      keep();
    },
    fault,
    note,
    // What went wrong, what was entered, and what the page says was spent; the page is quiet.
    report() {
      if (awaited !== null && location.hash !== awaited) fault(`the step back to ${awaited} has not come`);
      compare("end");
      const shown = [...document.querySelectorAll("#history .found")].map((one) => one.firstChild.textContent);
      if (shown.length !== book.ledger.lines.length)
        fault(`the page shows ${shown}; entered was ${JSON.stringify(book.ledger.lines)}`);
      const spent = Number(document.querySelectorAll("#money dd")[1]?.textContent.replace(/[^\d.]/g, ""));
      const { problem } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
      return { faults: book.faults, log: book.log, entered: book.entered, lines: book.ledger.lines, spent, problem };
    },
  };
})();
