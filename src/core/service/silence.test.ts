import assert from "node:assert/strict";
import { test } from "node:test";
import { Silence } from "./silence.ts";

const patience = {
  patienceMs: 1000,
  starvedPatienceMs: 20_000,
  startPatienceMs: 30_000,
  starvedStartPatienceMs: 60_000,
};
const stepMs = 100;

/** How long it takes until it counts as dead. */
function silentFor(silence: Silence, work: (ms: number) => number): number {
  for (let ms = stepMs; ms <= 100_000; ms += stepMs) if (silence.lasts(stepMs, () => work(ms))) return ms;
  return Number.POSITIVE_INFINITY;
}

test("M8: a process that does nothing is dead when its patience is over", () => {
  const silence = new Silence(patience);
  silence.heard();
  assert.equal(
    silentFor(silence, () => 7),
    1100,
  );
});

test("M8: one that is seen at work, or waits for a processor, has longer; then it hangs", () => {
  const silence = new Silence(patience);
  silence.heard();
  assert.equal(
    silentFor(silence, (ms) => ms),
    20_100,
  );
});

test("M8: one that has never spoken may take as long as a start takes", () => {
  assert.equal(
    silentFor(new Silence(patience), () => 7),
    30_100,
  );
});

test("M8: a start that is at work has longer still; then it hangs", () => {
  assert.equal(
    silentFor(new Silence(patience), (ms) => Math.min(ms, 20_000)),
    50_100,
  );
  assert.equal(
    silentFor(new Silence(patience), (ms) => ms),
    60_100,
  );
});

test("M8: a sign of life ends a silence", () => {
  const silence = new Silence(patience);
  silence.heard();
  for (let i = 0; i < 100; i++) {
    assert(!silence.lasts(900, () => 7));
    silence.heard();
    assert.equal(silence.ms, 0);
  }
});
