// @ts-check
// Elements, made and found.

import { SEEING } from "./entry.js";

/** @import { Attributes, Child, Found, OnClick, WithId } from "./types.d.ts" */

/** @type {<Id extends string>(id: Id) => WithId<Id>} */
export const $ = (id) => /** @type {any} */ (document.getElementById(id));

// What a selector finds in a box: the first element, where it is certain that there is one, or all of them.
/** @type {<Selector extends string>(box: ParentNode, selector: Selector) => Found<Selector>} */
export const find = (box, selector) => /** @type {any} */ (box.querySelector(selector));

/** @type {<Selector extends string>(box: ParentNode, selector: Selector) => Found<Selector>[]} */
export const findAll = (box, selector) => /** @type {any} */ ([...box.querySelectorAll(selector)]);

/**
 * An attribute that begins with "on" is a listener; one that is false or undefined is left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes<HTMLElementTagNameMap[Tag]>} attributes
 * @param {...(Child | Child[])} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), /** @type {any} */ (value));
    else if (value !== false && value !== undefined && value !== null)
      made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Puts children in the place of what was there; what is not there is left out.
/** @type {(box: HTMLElement, ...children: (Child | Child[])[]) => void} */
export function fill(box, ...children) {
  box.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

/** @type {(text: string, onclick?: OnClick, attributes?: Attributes<HTMLButtonElement>) => HTMLButtonElement} */
export const button = (text, onclick, attributes = {}) =>
  element("button", { type: "button", onclick, ...attributes }, text);

// Hears a click, and not the second one of a double click: that was meant for what was here before. So
// was a click just after the page, and not a hand, has put something else under the pointer.
/** @type {(act: () => void) => OnClick} */
export const singly = (act) => (event) => {
  if (event.detail < 2 && isMeant(event)) act();
};

/** @type {{ moved: Node | null, over: Node | null, since: number }} */
const pointer = { moved: null, over: null, since: 0 }; // what a hand, and what anything, has brought under it

/** @type {(event: PointerEvent) => boolean} */
const isMeant = ({ detail, pointerType, currentTarget }) => {
  const hit = /** @type {Node} */ (currentTarget);
  return (
    detail === 0 ||
    pointerType !== "mouse" ||
    hit.contains(pointer.moved) ||
    (hit.contains(pointer.over) && performance.now() - pointer.since > SEEING)
  );
};

// A button that takes no click yet is seen all the same.
/** @type {(x: number, y: number) => Element | undefined} */
const seenAt = (x, y) =>
  [...document.querySelectorAll(":is([inert], .moved fieldset) [data-found]")].find((box) =>
    [...box.getClientRects()].some(
      ({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom,
    ),
  );

export function watchPointer() {
  addEventListener(
    "mousemove",
    ({ target, clientX, clientY }) => {
      pointer.moved = seenAt(clientX, clientY) ?? /** @type {Node} */ (target);
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
/** @type {(box: Element) => HTMLInputElement[]} */
export const typedIn = (box) => findAll(box, ENTRIES).filter((field) => field.value !== "" || field.validity.badInput);

// What is in use must not be taken away: it has the focus, or something is typed there.
/** @type {(box: Element) => boolean} */
export const isInUse = (box) => box.contains(document.activeElement) || typedIn(box).length > 0;

/** @type {number | undefined} */
let shielding; // a timer

// Changes the page without moving the fields, or the row of a list, that the pointer or the focus is on. Where
// that is not possible, because the page cannot scroll that far, a click is not taken until it can be seen.
/** @type {(change: () => void) => void} */
export function steadily(change) {
  const held =
    document.querySelector("fieldset:hover, #candidates > li:hover") ?? document.activeElement?.closest("fieldset");
  const place = () => held?.getBoundingClientRect().top ?? 0;
  const top = place();
  change();
  if (held?.isConnected) scrollBy(0, place() - top);
  const { classList } = document.body;
  if (!classList.contains("moved") && (!held || (held.isConnected && Math.abs(place() - top) < 1))) return;
  classList.add("moved");
  clearTimeout(shielding);
  shielding = setTimeout(() => classList.remove("moved"), SEEING);
}

/** @type {(rows: string[][]) => HTMLElement[]} */
export function pairs(rows) {
  return rows.flatMap(([name, shown]) => [element("dt", {}, name), element("dd", {}, shown)]);
}

/** @type {(caption: string, headings: string[], rows: Child[][]) => HTMLTableElement} */
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
/** @type {(box: HTMLElement, markup: string) => void} */
export function drawing(box, markup) {
  box.innerHTML = markup.replace(/^\s*<\?xml[^>]*\?>/, "");
}

// Says it of a picture that does not fit: what is beyond the edge is not missing.
/** @type {(box: HTMLElement) => void} */
export const markWide = (box) => box.classList.toggle("wide", box.scrollWidth > box.clientWidth);
