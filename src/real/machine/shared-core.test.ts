/** A core is shared from the first yield that somebody else has used, until several in a row come back at once. */
import { equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { SharedCore } from "./shared-core.ts";

const atOnceMs = 0.001;
const switchedMs = 0.03;

function after(...yieldsMs: number[]): boolean {
  const core = new SharedCore();
  for (const ms of yieldsMs) core.yielded(ms);
  return core.isShared;
}

const times = (count: number, ms: number): number[] => new Array<number>(count).fill(ms);

describe("a core that another thread may want", () => {
  it("is free until a yield has been used", () => {
    equal(after(), false);
    equal(after(...times(100, atOnceMs)), false);
    equal(after(...times(100, atOnceMs), switchedMs), true);
  });

  it("is not free again because the other thread sleeps for a moment", () => {
    equal(after(switchedMs, ...times(7, atOnceMs)), true);
    equal(after(switchedMs, ...times(7, atOnceMs), switchedMs, ...times(7, atOnceMs)), true);
  });

  it("is free when nobody wants it any more", () => {
    equal(after(...times(100, switchedMs), ...times(8, atOnceMs)), false);
  });
});
