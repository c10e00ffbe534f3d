import assert from "node:assert/strict";
import * as nodeCrypto from "node:crypto";
import { test } from "node:test";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { ChoiceKind } from "../../core/ft/choices.ts";
import { TestChoices } from "../../core/ft/testing/choices.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import { replaceGlobals } from "./rank-globals.ts";

/** What a program sees in a life with these choices and this seed. */
function life<T>(choices: TestChoices, seed: number, program: () => T): T {
  const putBack = replaceGlobals(choices, new SeededRandom(seed));
  try {
    return program();
  } finally {
    putBack();
  }
}

const clocks = () => [
  Date.now(),
  new Date(),
  Date(),
  performance.now(),
  performance.timeOrigin,
  performance.timeOrigin,
  process.hrtime(),
  process.hrtime.bigint(),
];

test("L1 replay in TypeScript: every reading of a clock is a choice, and shows the same time in a second life", () => {
  const first = new TestChoices();
  const seen = life(first, 1, clocks);
  assert.equal(first.all.length, 7, "the origin stays what it was");
  assert(first.all.every(({ kind }) => kind === ChoiceKind.CLOCK));
  const second = new TestChoices(first.all);
  const later = steadyMs() + 5;
  while (steadyMs() < later);
  assert.deepEqual(life(second, 1, clocks), seen);
  assert.equal(second.taken, 7);
});

test("L1 replay in TypeScript: a date is a date", () => {
  const given = life(new TestChoices(), 1, () => {
    const now = new Date();
    assert(now instanceof Date);
    assert.equal(now.constructor, Date);
    class Day extends Date {}
    assert(new Day() instanceof Day);
    assert(Math.abs(new Day().getTime() - now.getTime()) < 60_000);
    return [new Date(2000, 1, 3).getMonth(), new Date(0).toISOString(), Date.UTC(1970, 0, 1, 0, 0, 1)];
  });
  assert.deepEqual(given, [1, "1970-01-01T00:00:00.000Z", 1000]);
});

test("L1 replay in TypeScript: the steady clock does not go back when the replay is over", () => {
  const far = new TestChoices();
  far.made(ChoiceKind.CLOCK, [0, 0x41d00000]); // 2^30 ms
  const choices = new TestChoices(far.all);
  life(choices, 1, () => {
    assert.equal(performance.now(), 2 ** 30);
    const next = performance.now();
    assert(next >= 2 ** 30 && next < 2 ** 30 + 60_000);
  });
});

const drawn = () => [
  Math.random(),
  crypto.randomUUID(),
  [...crypto.getRandomValues(new Uint8Array(5))],
  nodeCrypto.randomUUID(),
  [...nodeCrypto.randomBytes(5)],
  nodeCrypto.randomInt(10, 1000),
  nodeCrypto.randomInt(1000),
  [...nodeCrypto.randomFillSync(new Uint16Array(4), 1, 2)],
  [...nodeCrypto.getRandomValues(new Uint8Array(5))],
];

test("L1 replay in TypeScript: randomness comes from the seed, and is no choice", () => {
  const choices = new TestChoices();
  const [first, again, other] = [1, 1, 2].map((seed) => life(choices, seed, drawn));
  assert.deepEqual(first, again);
  for (const [i, value] of first!.entries()) assert.notDeepEqual(value, other![i], `value ${i}`);
  assert.deepEqual(choices.all, []);
  assert.match(first![1] as string, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const [left, a, b, right] = first![7] as number[];
  assert.deepEqual([left, right], [0, 0]);
  assert(a !== 0 && b !== 0);
});

test("L1 replay in TypeScript: random functions with callbacks", async () => {
  const draw = () =>
    Promise.all([
      new Promise((resolve) => nodeCrypto.randomBytes(4, (_, bytes) => resolve([...bytes]))),
      new Promise((resolve) => nodeCrypto.randomInt(5, 500, (_, value) => resolve(value))),
      new Promise((resolve) => nodeCrypto.randomFill(new Uint8Array(4), (_, bytes) => resolve([...bytes]))),
    ]);
  const first = await life(new TestChoices(), 1, draw);
  assert.deepEqual(await life(new TestChoices(), 1, draw), first);
});

test("L1 replay in TypeScript: everything is put back", () => {
  const present = () => [
    Date,
    Date.now,
    performance.now,
    Math.random,
    process.hrtime,
    crypto.randomUUID,
    nodeCrypto.randomBytes,
  ];
  const before = present();
  life(new TestChoices(), 1, () => assert.notEqual(Date, before[0]));
  assert.deepEqual(present(), before);
  assert.notDeepEqual(drawn(), drawn());
});
