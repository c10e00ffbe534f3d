import { equal } from "node:assert/strict";
import { test } from "node:test";
import { HeldNotices } from "./held-notices.ts";

test("U1 a notice of a death waits for a moment while something is under way: 2 ms and 64 looks, and 50 ms at most", () => {
  const held = new HeldNotices();
  for (let look = 0; look < 64; look++) equal(held.holds(true, 100), true);
  equal(held.holds(true, 101.9), true);
  equal(held.holds(true, 102), false);
  // The next one waits anew; on a machine that gives it no turn not for ever.
  equal(held.holds(true, 200), true);
  equal(held.holds(true, 249), true);
  equal(held.holds(true, 250), false);
});

test("U1 a notice does not wait where nothing is under way, nor any longer when that has ended", () => {
  const held = new HeldNotices();
  equal(held.holds(false, 100), false);
  equal(held.holds(true, 200), true);
  equal(held.holds(false, 200.1), false);
});
