// The server does not answer, refuses, or has lost the work: what is said, and whether to try again.

import assert from "node:assert/strict";
import { test } from "node:test";

const { call, isPassing, isStale, startJob } = await import("../js/server.js");

const failing = async (ask) => {
  try {
    await ask();
  } catch (error) {
    return error;
  }
  return assert.fail("an answer");
};
const answers = (...all) => {
  globalThis.fetch = async () => {
    const [status, document] = all.shift();
    return new Response(JSON.stringify(document), { status });
  };
};

test("a server that does not answer is called that, and may answer later", async () => {
  globalThis.fetch = async () => {
    throw new TypeError("Failed to fetch");
  };
  const error = await failing(() => call("GET", "policies"));
  assert.equal(error.message, "The server does not answer (Failed to fetch)");
  assert.ok(isPassing(error));
});

test("a question that was left is no failure", async () => {
  globalThis.fetch = async () => {
    throw new DOMException("left", "AbortError");
  };
  assert.ok(isStale(await failing(() => call("GET", "policies"))));
});

test("what is refused stays refused; what the server cannot do now it may do later", async () => {
  for (const [status, expected] of [
    [400, false],
    [404, false],
    [422, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ]) {
    answers([status, { detail: "why" }]);
    const error = await failing(() => call("GET", "policies"));
    assert.deepEqual([error.message, isPassing(error)], ["why", expected], `${status}`);
  }
  assert.ok(!isPassing(new Error("of the page")));
});

test("work that the server has lost can be asked for again, and what it refused cannot", async () => {
  const work = () => startJob("jobs/advise", {}, { signal: new AbortController().signal }).result;
  answers([202, { job: "a", state: "running" }], [404, { detail: "no job" }]);
  const lost = await failing(work);
  assert.deepEqual([lost.message, isPassing(lost)], ["The server no longer has this work", true]);
  answers([202, { job: "a", state: "failed", error: { status: 422, detail: "too large" } }]);
  const refused = await failing(work);
  assert.deepEqual([refused.message, isPassing(refused)], ["too large", false]);
});
