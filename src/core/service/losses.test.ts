import assert from "node:assert/strict";
import { test } from "node:test";
import { Losses } from "./losses.ts";

const setOf = [0, 0, 1, 1];

test("L5: a loss is made good when the last rank has come as far as it was; times count from the loss", () => {
  const losses = new Losses(setOf);
  losses.fell([0, 1], 100);
  assert.equal(losses.hasBegun(0), false);
  assert.equal(losses.hasBegun(1), true, "the other set did not fall");
  assert.equal(losses.began(0, 130), false);
  assert.equal(losses.began(1, 150), true, "the last of its set");
  assert.equal(losses.hasBegun(0), true);
  assert.equal(losses.caughtUp(1, 180), undefined);
  assert.deepEqual(losses.caughtUp(0, 200), { ranks: [0, 1], runningMs: 50, caughtUpMs: 100 });
  assert.equal(losses.caughtUp(0, 210), undefined, "once");
});

test("L5: a rank that begins its first life, or catches up with nothing, is no loss", () => {
  const losses = new Losses(setOf);
  assert.equal(losses.began(0, 10), false);
  assert.equal(losses.caughtUp(0, 20), undefined);
});

test("L5: a set that falls again on the way is behind since the first time", () => {
  const losses = new Losses(setOf);
  losses.fell([0, 1], 100);
  losses.began(0, 110);
  losses.began(1, 110);
  losses.fell([0, 1], 200);
  assert.equal(losses.hasBegun(0), false);
  losses.began(0, 300);
  losses.began(1, 300);
  losses.caughtUp(0, 400);
  assert.deepEqual(losses.caughtUp(1, 400), { ranks: [0, 1], runningMs: 200, caughtUpMs: 300 });
});

test("L5: two sets are lost together and one falls again alone: both are waited for, and for nothing else", () => {
  const losses = new Losses(setOf);
  losses.fell([0, 1, 2, 3], 100);
  for (const rank of [0, 1, 2, 3]) losses.began(rank, 110);
  losses.caughtUp(2, 120);
  losses.fell([2, 3], 150);
  assert.equal(losses.caughtUp(0, 160), undefined);
  assert.equal(losses.caughtUp(1, 160), undefined);
  losses.began(2, 170);
  losses.began(3, 180);
  assert.equal(losses.caughtUp(2, 190), undefined);
  assert.deepEqual(losses.caughtUp(3, 200), { ranks: [0, 1, 2, 3], runningMs: 80, caughtUpMs: 100 });
});
