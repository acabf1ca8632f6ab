// @ts-check
// What may happen to a question while somebody answers it, and what a key means. Nothing here touches the page.
//
// Advice can change while a result is being typed: quick advice comes first, the policy's own later. A field
// that has focus or text is never taken away. Keys act on the question alone that has been on the page for
// a while, and never while anything is being typed: digits belong to a number then. The same holds after a
// field has vanished in which somebody typed, and, for a shorter while, after a key has moved on to the next
// test of a round. A click on its way to the question before is not taken either.

export const SETTLING = 1000; // ms from a new question to the first key that answers it; if it came unasked, click too
export const MOVING = 500; // ms from one test of a round to the first key that answers the next
export const SEEING = 300; // ms from a question that was asked for, or from fields that moved, to the first click

/** @typedef {"keep" | "hold" | "replace"} Change */
/** @typedef {{ result: number } | "unavailable" | "undo" | null} Meaning */
/** @typedef {{ key: string, repeat?: boolean, ctrlKey?: boolean, metaKey?: boolean, altKey?: boolean }} KeyPressed */

// What new advice does to the question that is shown: both are features, none to decide.
//   keep     it asks the same: the fields stay as they are
//   hold     it asks something else, but somebody is answering: say so and wait
//   replace  nobody is
/** @type {(shown: string[], advised: string[], isEngaged: boolean) => Change} */
export function meet(shown, advised, isEngaged) {
  if (isSame(shown, advised)) return "keep";
  return isEngaged ? "hold" : "replace";
}

/** @type {(some: string[], others: string[]) => boolean} */
export const isSame = (some, others) => some.length === others.length && some.every((name) => others.includes(name));

// What a key asks for: { result: k }, "unavailable", "undo" or null.
/** @type {(key: KeyPressed, page: { isTyping: boolean, isSettling: boolean }) => Meaning} */
export function meaningOf({ key, repeat, ctrlKey, metaKey, altKey }, { isTyping, isSettling }) {
  if (repeat || ctrlKey || metaKey || altKey || isTyping || isSettling) return null;
  if (/^[1-9]$/.test(key)) return { result: Number(key) - 1 };
  return key === "n" ? "unavailable" : key === "u" ? "undo" : null;
}
