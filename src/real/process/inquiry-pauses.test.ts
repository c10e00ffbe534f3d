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
