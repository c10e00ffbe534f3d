import assert from "node:assert/strict";
import { test } from "node:test";
import { InquiryPauses } from "./inquiry-pauses.ts";

test("M4 a process that waits asks after a second, then less and less often, and from the beginning in the next wait", () => {
  const pauses = new InquiryPauses();
  const askedAt = (from: number, to: number): number[] => {
    const times: number[] = [];
    for (let ms = from; ms <= to; ms += 100) if (pauses.isTime(ms)) times.push(ms - from);
    return times;
  };
  assert.deepEqual(askedAt(5_000, 70_000), [1_000, 3_000, 7_000, 15_000, 31_000, 47_000, 63_000]);
  pauses.end();
  assert.deepEqual(askedAt(100_000, 104_000), [1_000, 3_000]);
});

test("M4 ranks of one thread: one that moves shortens the pauses of those that wait, and never keeps them from asking", () => {
  const askedAt = (seconds: number, hasMoved: (second: number) => boolean): number[] => {
    const pauses = new InquiryPauses();
    const asked: number[] = [];
    for (let second = 0; second <= seconds; second++) {
      if (hasMoved(second)) pauses.shorten(1000 * second);
      if (pauses.isTime(1000 * second)) asked.push(second);
    }
    return asked;
  };
  assert.deepEqual(
    askedAt(40, (second) => second === 20),
    [1, 3, 7, 15, 21, 23, 27, 35],
  );
  assert.deepEqual(
    askedAt(5, () => true),
    [1, 3, 5],
  );
});
