// Rounds, against a ledger that knows nothing of steps: a list of purchases, each with its results.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  freeStep,
  isOpen,
  isRound,
  isStep,
  isSuspended,
  orderOf,
  pendingOf,
  rounds,
  withEntry,
  without,
  withoutLast,
  withoutResult,
} from "../js/rounds.js";

const nothing = { steps: [], round: null, entered: [] };

test("results of a round are taken one by one and are one round", () => {
  const first = withEntry(nothing, "b", "yes", ["a", "b", "c"]);
  assert.deepEqual(first, { steps: [["b", "yes"]], round: ["a", "b", "c"], entered: ["b"] });
  assert.deepEqual(pendingOf(first.round, first.steps), ["a", "c"]);
  const second = withEntry(first, "a", 3.5, ["a", "b", "c"]);
  assert.deepEqual(second, {
    steps: [
      ["b", "yes"],
      ["a", 3.5, true],
    ],
    round: ["a", "b", "c"],
    entered: ["b", "a"],
  });
  const third = withEntry(second, "c", "no", ["a", "b", "c"]);
  assert.deepEqual(third, {
    steps: [
      ["b", "yes"],
      ["a", 3.5, true],
      ["c", "no", true],
    ],
    round: null,
    entered: ["b", "a", "c"],
  });
  assert.deepEqual(rounds(third.steps), [["b", "a", "c"]]);
});

test("a round is over at once when one of its tests is not available", () => {
  const half = withEntry(nothing, "a", "yes", ["a", "b", "c"]);
  const over = withEntry(half, "b", null, ["a", "b", "c"]);
  assert.deepEqual(over, {
    steps: [
      ["a", "yes"],
      ["b", null, true],
    ],
    round: ["a", "b", "c"],
    entered: ["a", "b"],
  });
  assert.equal(isOpen(over.round, over.steps), false);
  assert.deepEqual(rounds(over.steps), []);
  assert.deepEqual(withEntry(nothing, "b", null, ["a", "b", "c"]), {
    steps: [["b", null]],
    round: null,
    entered: ["b"],
  });
});

test("what is planned after the end of a round is a new round", () => {
  let now = withEntry(withEntry(nothing, "a", "yes", ["a", "b", "c"]), "b", null, ["a", "b", "c"]);
  now = withEntry(now, "c", "no", ["c", "d"]);
  now = withEntry(now, "d", "no", ["c", "d"]);
  assert.deepEqual(rounds(now.steps), [["c", "d"]]);
});

test("a round goes on if its missing test can be had after all, and nothing was entered in between", () => {
  const names = ["a", "b", "c"];
  const over = withEntry(withEntry(nothing, "a", 1, names), "b", null, names);
  assert.ok(isSuspended(over.round, over.steps, over.entered));
  const back = { ...over, ...withoutLast(over) };
  assert.ok(isOpen(back.round, back.steps));
  assert.deepEqual(pendingOf(back.round, back.steps), ["b", "c"]);
  const whole = withEntry(withEntry(back, "c", 1, ["b", "c"]), "b", 1, ["b", "c"]); // whatever is asked for meanwhile
  assert.deepEqual(rounds(whole.steps), [["a", "c", "b"]]);
  assert.deepEqual(rounds(withEntry(over, "b", 1).steps), [["a", "b"]]); // in the place of "not available"
  for (const next of [withEntry(over, "c", 1, ["c", "d"]), withEntry(over, "x", 1), withEntry(over, "c", null)]) {
    assert.notDeepEqual(next.round, names);
    assert.ok(!isSuspended(names, next.steps, next.entered));
  }
  assert.ok(!isSuspended(names, [...over.steps, freeStep("x", 1)], over.entered)); // added since
  assert.ok(!isSuspended(names, without(over.steps, "a"), over.entered)); // nothing of it is bought any more
});

test("a round is open again without the result that completed it", () => {
  const half = withEntry(nothing, "a", 1, ["a", "b"]);
  const whole = withEntry(half, "b", 1, ["a", "b"]);
  assert.deepEqual(withoutLast(whole), { steps: [["a", 1]], round: ["a", "b"] });
  const corrected = withEntry({ ...whole, ...withoutLast(whole) }, "b", 2);
  assert.deepEqual(rounds(corrected.steps), [["a", "b"]]);
  assert.deepEqual(withoutResult(whole, "b"), withoutLast(whole));
  assert.deepEqual(withoutResult(whole, "a"), { steps: [["b", 1]] });
  const later = withEntry(whole, "x", 1);
  assert.deepEqual(withoutLast(later), { steps: whole.steps, round: null }); // x came alone
});

test("another result of an open round takes the place of the first", () => {
  const half = withEntry(nothing, "a", "yes", ["a", "b"]);
  assert.deepEqual(withEntry(half, "a", "no", ["a", "b"]), { steps: [["a", "no"]], round: ["a", "b"], entered: ["a"] });
});

test("a candidate that is entered while a round is open is a purchase of its own", () => {
  const half = withEntry(withEntry(nothing, "a", "yes", ["a", "b"]), "x", "yes");
  assert.deepEqual(half, {
    steps: [
      ["a", "yes"],
      ["x", "yes"],
    ],
    round: ["a", "b"],
    entered: ["a", "x"],
  });
  const whole = withEntry(half, "b", "no"); // entered among the candidates: it was ordered in the round all the same
  assert.deepEqual(whole, {
    steps: [
      ["a", "yes"],
      ["b", "no", true],
      ["x", "yes"],
    ],
    round: null,
    entered: ["a", "x", "b"],
  });
});

test("what is taken back is what was entered last, wherever it stands", () => {
  const beside = withEntry(withEntry(withEntry(nothing, "a", 1, ["a", "b", "c"]), "x", 1), "b", 1);
  // Without b.
  assert.deepEqual(withoutLast(beside).steps, [
    ["a", 1],
    ["x", 1],
  ]);
  const corrected = withEntry(withEntry(withEntry(nothing, "a", 1, ["a", "b", "c"]), "b", 1), "a", 2);
  assert.deepEqual(withoutLast(corrected).steps, [["b", 1]]);
  const added = { ...beside, steps: [...beside.steps, freeStep("y", 1)] }; // since
  assert.deepEqual(withoutLast(added).steps, beside.steps);
  assert.deepEqual(withoutLast(nothing).steps, []);
  assert.deepEqual(
    orderOf(
      ["b", "gone", "a"],
      [
        ["a", 1],
        ["b", 1],
        ["c", 1],
      ],
    ),
    ["b", "a", "c"],
  );
});

test("a test that began a round and can be had after all leaves the round to the others", () => {
  let now = withEntry(nothing, "x", 1);
  for (const [name, found] of [
    ["a", 1],
    ["b", 1],
    ["a", null],
  ])
    now = withEntry(now, name, found, ["a", "b", "c"]);
  assert.deepEqual(rounds(without(now.steps, "a")), []);
  assert.deepEqual(rounds(withEntry({ ...now, steps: without(now.steps, "a") }, "c", 1, ["b", "c"]).steps), [
    ["b", "c"],
  ]);
});

test('a result in the place of "not available" is a result of its round', () => {
  const half = withEntry(nothing, "a", 1, ["a", "b"]);
  const over = { ...half, steps: [...half.steps, ["b", null]] }; // said elsewhere that it cannot be had
  assert.deepEqual(rounds(withEntry(over, "b", 1, ["a", "b"]).steps), [["a", "b"]]);
});

test("a round is open between its first and its last result", () => {
  assert.equal(isOpen(null, []), false);
  assert.equal(isOpen(["a", "b"], []), false);
  assert.equal(isOpen(["a", "b"], [["a", 1]]), true);
  assert.equal(
    isOpen(
      ["a", "b"],
      [
        ["a", 1],
        ["b", null, true],
      ],
    ),
    false,
  );
  assert.equal(
    isOpen(
      ["a", "b"],
      [
        ["a", 1],
        ["b", 2, true],
      ],
    ),
    false,
  );
  assert.equal(isOpen(["a", "b"], [freeStep("a", 1)]), false); // nothing was bought yet
  assert.equal(isOpen(["a", "b", "c"], [["a", 1], freeStep("b", 1)]), true);
});

test("steps and rounds of an address are checked", () => {
  for (const step of [
    ["a", "x"],
    ["a", 1.5],
    ["a", null],
    ["a", "x", true],
    ["a", "x", "free"],
  ])
    assert.ok(isStep(step));
  for (const step of [["", "x"], ["a"], ["a", NaN], ["a", "x", false], [1, "x"], ["a", {}]]) assert.ok(!isStep(step));
  assert.ok(isRound(["a", "b"]));
  for (const round of [[], ["a"], ["a", "a"], ["a", ""], ["a", 1]]) assert.ok(!isRound(round));
});

// -- random consultations against the ledger

function randomFrom(seed) {
  let x = seed >>> 0 || 1;
  return (n) => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x % n;
  };
}

const FEATURES = [..."abcdefgh"];

test("500 random consultations have the rounds and the results of a ledger", () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const random = randomFrom(seed);
    let now = nothing;
    let ledger = [];
    let order = []; // of entry
    let ordered = null; // the round that is open
    let closed = null; // until something is entered: the round that a test ended which is not available, and that test
    const gone = new Set();
    const known = () => new Set([...ledger.flatMap((bought) => [...bought.keys()]), ...gone]);
    const remove = (name) => {
      gone.delete(name);
      order = order.filter((other) => other !== name);
      for (const bought of ledger) bought.delete(name);
      ledger = ledger.filter((bought) => bought.size || bought === ordered?.bought);
      if (closed?.by === name) [ordered, closed] = [closed.ordered, null];
      now = { ...now, steps: without(now.steps, name) };
    };
    for (let k = 0; k < 16; k += 1) {
      const left = FEATURES.filter((name) => !known().has(name));
      const what = random(10);
      if (what === 0 && order.length) {
        const last = order.at(-1);
        const { steps } = withoutLast(now);
        remove(last);
        assert.deepEqual(steps, now.steps, `seed ${seed}`);
      } else if (what === 1 && gone.size) {
        // it can be had after all
        remove([...gone][random(gone.size)]);
      } else if (what === 2 && ordered && ordered.bought.size) {
        // another result in the place of one
        const name = [...ordered.bought.keys()][random(ordered.bought.size)];
        const found = random(5);
        now = withEntry(now, name, found, ordered.names);
        ordered.bought.set(name, found);
        order = [...order.filter((other) => other !== name), name];
      } else if (left.length) {
        const feature = left[random(left.length)];
        order.push(feature);
        closed = null;
        if (ordered) {
          const isMember = ordered.names.includes(feature);
          const found = isMember && what === 3 ? null : random(5);
          now = withEntry(now, feature, found, isMember && what !== 4 ? ordered.names : [feature]);
          if (found === null) gone.add(feature);
          else if (isMember) ordered.bought.set(feature, found);
          else ledger.push(new Map([[feature, found]]));
        } else {
          const batch = left.filter((name) => name === feature || random(2));
          const bought = new Map([[feature, random(5)]]);
          now = withEntry(now, feature, bought.get(feature), batch);
          ledger.push(bought);
          if (batch.length > 1) ordered = { names: batch, bought };
        }
      }
      if (
        ordered &&
        (!ordered.bought.size ||
          ordered.names.some((name) => gone.has(name)) ||
          ordered.names.every((name) => known().has(name)))
      ) {
        if (!ordered.bought.size) ledger = ledger.filter((bought) => bought !== ordered.bought);
        else if (gone.has(order.at(-1))) closed = { ordered, by: order.at(-1) };
        ordered = null;
      }
      const isLeft = isOpen(now.round, now.steps) || isSuspended(now.round, now.steps, now.entered);
      now = { ...now, round: isLeft ? now.round : null }; // as the address has it
      const results = now.steps.filter(([, found]) => found !== null).map(([name, found]) => [name, found]);
      assert.deepEqual(
        Object.fromEntries(results),
        Object.fromEntries(ledger.flatMap((bought) => [...bought])),
        `seed ${seed}`,
      );
      assert.equal(now.steps.length, new Set(now.steps.map(([name]) => name)).size, `seed ${seed}`);
      assert.deepEqual(isOpen(now.round, now.steps) ? now.round : null, ordered?.names ?? null, `seed ${seed}`);
      const many = (sets) =>
        sets
          .map((names) => [...names].sort().join())
          .filter((names) => names.includes(","))
          .sort();
      assert.deepEqual(many(rounds(now.steps)), many(ledger.map((bought) => bought.keys())), `seed ${seed}`);
    }
  }
});
