// What new advice does to a question, and what keys mean.

import assert from "node:assert/strict";
import { test } from "node:test";

import { meaningOf, meet } from "../js/entry.js";

test("the same question keeps its fields, whatever its order", () => {
  for (const isEngaged of [false, true]) {
    assert.equal(meet(["cp"], ["cp"], isEngaged), "keep");
    assert.equal(meet(["a", "b"], ["b", "a"], isEngaged), "keep");
  }
});

test("another question waits while somebody answers", () => {
  assert.equal(meet(["cp"], ["age"], true), "hold");
  assert.equal(meet(["cp"], [], true), "hold"); // to decide
  assert.equal(meet(["cp", "age"], ["age"], true), "hold");
  assert.equal(meet(["cp"], ["age"], false), "replace");
  assert.equal(meet([], ["age"], false), "replace");
});

const calm = { isTyping: false, isSettling: false };

test("keys 1 to 9, n and u have a meaning; others have none", () => {
  assert.deepEqual(meaningOf({ key: "1" }, calm), { result: 0 });
  assert.deepEqual(meaningOf({ key: "9" }, calm), { result: 8 });
  assert.equal(meaningOf({ key: "n" }, calm), "unavailable");
  assert.equal(meaningOf({ key: "u" }, calm), "undo");
  for (const key of ["0", "10", ".", "Enter", " ", "a", "N", "F1", "toString"])
    assert.equal(meaningOf({ key }, calm), null, key);
});

test("no key acts while something is typed, while a question is new, with a modifier, or held down", () => {
  for (const key of ["1", "9", "n", "u"]) {
    assert.equal(meaningOf({ key }, { ...calm, isTyping: true }), null);
    assert.equal(meaningOf({ key }, { ...calm, isSettling: true }), null);
    for (const held of ["repeat", "ctrlKey", "metaKey", "altKey"])
      assert.equal(meaningOf({ key, [held]: true }, calm), null);
  }
});
