/** The probe's evaluation of time stamps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { resumption } from "./logging-probe.ts";

test("L7: a recovery ends where the longest wait after the loss does, whatever was still on its way", () => {
  // Two steps were still possible after the loss, at 1000; a longer wait before it does not count.
  const stamps = [100, 900, 950, 990, 1005, 1010, 1450, 1460, 1475];
  assert.equal(resumption(stamps, 1000), 450);
});

test("L7: who got no further has not recovered", () => {
  assert.equal(resumption([100, 200], 1000), undefined);
  assert.equal(resumption([], 1000), undefined);
});
