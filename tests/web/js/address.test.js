// The address holds a consultation, half-entered rounds too.

import assert from "node:assert/strict";
import { test } from "node:test";

// As in a browser: what is written begins with "#".
globalThis.location = { text: "", get hash() { return this.text; }, set hash(text) { this.text = "#" + text.replace(/^#/, ""); } };
const { asked, state, write } = await import("../js/address.js");

const open = (hash) => { location.hash = hash; return state(); };

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
  write({ steps: [["a", 1], ["b", null, true]] });
  assert.ok(!location.hash.includes("round="));
  for (const wrong of ['["a"]', '["a","a"]', '["x","y"]', "nonsense", '"ab"'])
    assert.deepEqual(open(`#problem=ward&step=["a",1]&round=${wrong}`).unread, [`round=${wrong}`]);
});
