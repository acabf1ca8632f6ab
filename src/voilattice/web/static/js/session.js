// @ts-check
// What is at hand: the document of the problem, and the answers to the question in the address.

/** @import { Answered, Session } from "./types.d.ts" */

/** @type {Session} */
export const session = {
  entries: [],
  policies: [],
  problem: null,
  situation: null,
  advice: null,
  isQuick: false,
  steps: null,
};

// The same, for what runs only when that which it reads has come.
export const answered = /** @type {Answered} */ (session);
