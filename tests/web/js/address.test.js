// The address holds a consultation, half-entered rounds too.

import assert from "node:assert/strict";
import { test } from "node:test";

// As in a browser: what is written begins with "#".
globalThis.location = {
  text: "",
  get hash() {
    return this.text;
  },
  set hash(text) {
    this.text = `#${text.replace(/^#/, "")}`;
  },
};
const { asked, state, write } = await import("../js/address.js");
const { withEntry, withoutLast } = await import("../js/rounds.js");

const open = (hash) => {
  location.hash = hash;
  return state();
};

test("a half-entered round is written and read again", () => {
  open("#problem=ward");
  write({ steps: [["xray", "shadow"]], round: ["xray", "consent", "blood"] });
  assert.deepEqual(state().round, ["xray", "consent", "blood"]);
  assert.deepEqual(state().steps, [["xray", "shadow"]]);
  assert.deepEqual(state().unread, []);
});

test("the server is told the results so far as one round, and what is not available", () => {
  open('#problem=ward&step=["a",1]&step=["b","x",true]&step=["c",null,true]&step=["d","y","free"]');
  const { evidence, given, unavailable, together } = asked(state());
  assert.deepEqual([evidence, given, unavailable, together], [{ a: 1, b: "x" }, { d: "y" }, ["c"], [["a", "b"]]]);
});

test("a round that is over is not written, and one that cannot be is said", () => {
  open('#problem=ward&step=["a",1]&round=["a","b"]');
  write({
    steps: [
      ["a", 1],
      ["b", 2, true],
    ],
  });
  assert.ok(!location.hash.includes("round="));
  for (const wrong of ['["a"]', '["a","a"]', '["x","y"]', "nonsense", '"ab"'])
    assert.deepEqual(open(`#problem=ward&step=["a",1]&round=${wrong}`).unread, [`round=${wrong}`]);
});

test("a round without a test that is not available is kept until something else is entered", () => {
  const names = ["a", "b", "c"];
  open('#problem=ward&step=["a",1]&round=["a","b","c"]');
  write(withEntry(state(), "b", null));
  assert.deepEqual([state().round, state().unread], [names, []]);
  const over = location.hash;
  write(withoutLast(state()));
  assert.deepEqual([state().steps, state().round], [[["a", 1]], names]);
  open(over);
  write({ steps: [...state().steps, ["x", 1, "free"]] });
  assert.equal(state().round, null);
  write(withoutLast(state()));
  assert.equal(state().round, null);
  assert.ok(!location.hash.includes("round="));
});

test("the order of entry is kept where it differs from the order of purchase", () => {
  open("#problem=ward");
  write(withEntry(state(), "a", 1, ["a", "b", "c"]));
  write(withEntry(state(), "x", 1));
  assert.ok(!location.hash.includes("entered="));
  write(withEntry(state(), "b", 1));
  assert.deepEqual(state().entered, ["a", "x", "b"]);
  assert.deepEqual(state().unread, []);
  write(withoutLast(state()));
  assert.deepEqual(state().steps, [
    ["a", 1],
    ["x", 1],
  ]);
  for (const wrong of ['["a","y"]', '["a","a"]', "nonsense"])
    assert.deepEqual(open(`#problem=ward&step=["a",1]&step=["x",1]&entered=${wrong}`).unread, [`entered=${wrong}`]);
});
