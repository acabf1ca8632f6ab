// What is said of candidates: why there are none, and which first steps tie.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.location = { hash: "" };
globalThis.matchMedia = () => ({ matches: false });
const { nothingText } = await import("../js/candidates.js");
const { overOf } = await import("../js/comparison.js");
const { session } = await import("../js/session.js");

test("what is only too dear is not said to be gone", () => {
  session.problem = { target: "class", labels: {} };
  const ignored = (...reasons) => reasons.map((reason, k) => ({ feature: `x${k}`, reason }));
  assert.equal(
    nothingText(ignored("price", "unavailable", "price", "separated")),
    "Nothing that is left is worth its price: 2 features are too dear.",
  );
  assert.equal(nothingText(ignored("price")), "Nothing that is left is worth its price: 1 feature is too dear.");
  assert.equal(
    nothingText(ignored("unavailable", "separated")),
    "Nothing that is left says anything more about class.",
  );
  assert.equal(nothingText(ignored("unavailable")), "Nothing is left to acquire.");
  assert.equal(nothingText([]), "Nothing is left to acquire.");
});

test("first steps that cost the same are said to tie", () => {
  const step = (over, ...features) => ({ features, over, cost_to_go: 253.1 + over, lower_bound: 253.1 + over });
  const steps = (...all) => {
    session.steps = { steps: all };
  };
  session.problem = { labels: { cp: "chest pain" } };
  steps(step(0, "cp"), step(0.004, "age"), step(0.44, "sex"));
  assert.deepEqual(
    ["cp", "age", "sex"].map((name) => overOf([name])),
    ["first: 253.10, the least, as for age", "first: 253.10, the least, as for chest pain", "first: 253.54, +0.44"],
  );
  steps(step(0, "cp"), step(1, "age"));
  assert.equal(overOf(["cp"]), "first: 253.10, the least");
  steps(step(0, "cp", "age"), step(1, "sex")); // one step, of two features
  assert.equal(overOf(["cp"]), "first, with age: 253.10, the least");
  steps(...[..."abcd"].map((name) => step(0, name)));
  assert.equal(overOf(["a"]), "first: 253.10, the least, as for 3 others");
  steps(step(0, "a"), { ...step(0, "b"), lower_bound: 200 }); // it may cost less
  assert.equal(overOf(["a"]), "first: 253.10, the least");
});
