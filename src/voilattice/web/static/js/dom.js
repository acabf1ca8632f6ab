// Elements, made and found.

import { SEEING } from "./entry.js";

export const $ = (id) => document.getElementById(id);

// An attribute that begins with "on" is a listener; one that is false or undefined is left out.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined && value !== null)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Puts children in the place of what was there; what is not there is left out.
export function fill(box, ...children) {
  box.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

export const button = (text, onclick, attributes = {}) =>
  element("button", { type: "button", onclick, ...attributes }, text);

// Hears a click, and not the second one of a double click: that was meant for what was here before. So
// was a click just after the page, and not a hand, has put something else under the pointer.
export const singly = (act) => (event) => {
  if (event.detail < 2 && isMeant(event)) act(event);
};

const pointer = { moved: null, over: null, since: 0 }; // what a hand, and what anything, has brought under it

const isMeant = ({ detail, pointerType, currentTarget }) =>
  detail === 0 ||
  pointerType !== "mouse" ||
  currentTarget.contains(pointer.moved) ||
  (currentTarget.contains(pointer.over) && performance.now() - pointer.since > SEEING);

// A button that takes no click yet is seen all the same.
const seenAt = (x, y) =>
  [...document.querySelectorAll(":is([inert], .moved fieldset) [data-found]")].find((one) =>
    [...one.getClientRects()].some(
      ({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom,
    ),
  );

export function watchPointer() {
  addEventListener(
    "mousemove",
    ({ target, clientX, clientY }) => {
      pointer.moved = seenAt(clientX, clientY) ?? target;
    },
    { passive: true },
  );
  addEventListener("mouseover", ({ target }) => Object.assign(pointer, { over: target, since: performance.now() }), {
    passive: true,
  });
}

// Fields that a person fills in to enter a result.
const ENTRIES = ".number-form input, .free-form input";

// Whether something is typed that is not entered yet: a number, or the beginning of one.
export const typedIn = (box) =>
  [...box.querySelectorAll(ENTRIES)].filter((field) => field.value !== "" || field.validity.badInput);

// What is in use must not be taken away: it has the focus, or something is typed there.
export const isInUse = (box) => box.contains(document.activeElement) || typedIn(box).length > 0;

let shielding; // a timer

// Changes the page without moving the fields, or the row of a list, that the pointer or the focus is on. Where
// that is not possible, because the page cannot scroll that far, a click is not taken until it can be seen.
export function steadily(change) {
  const held =
    document.querySelector("fieldset:hover, #candidates > li:hover") ?? document.activeElement?.closest("fieldset");
  const place = () => held.getBoundingClientRect().top;
  const top = held ? place() : 0;
  change();
  if (held?.isConnected) scrollBy(0, place() - top);
  const { classList } = document.body;
  if (!classList.contains("moved") && (!held || (held.isConnected && Math.abs(place() - top) < 1))) return;
  classList.add("moved");
  clearTimeout(shielding);
  shielding = setTimeout(() => classList.remove("moved"), SEEING);
}

export function pairs(rows) {
  return rows.flatMap(([name, shown]) => [element("dt", {}, name), element("dd", {}, shown)]);
}

export function table(caption, headings, rows) {
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        headings.map((text) => element("th", { scope: "col" }, text)),
      ),
    ),
    element(
      "tbody",
      {},
      rows.map(([first, ...cells]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, first),
          cells.map((cell) => element("td", {}, cell)),
        ),
      ),
    ),
  );
}

// What the server draws carries no script and no style; names in it are escaped there.
export function drawing(box, markup) {
  box.innerHTML = markup.replace(/^\s*<\?xml[^>]*\?>/, "");
}

// Says it of a picture that does not fit: what is beyond the edge is not missing.
export const markWide = (box) => box.classList.toggle("wide", box.scrollWidth > box.clientWidth);
