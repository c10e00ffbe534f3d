import { deepEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { type ReturnPart, runReturnSeed } from "./run-return-seed.ts";

const seeds = Array.from({ length: 25 }, (_, i) => i + 1);

describe("R8 a world of replicas is captured, everything is lost, and its images go on alone", () => {
  it("every seed comes to the right answer", () => {
    let [captured, wentBack] = [0, 0];
    for (const seed of seeds) {
      const outcome = runReturnSeed({ seed });
      const [first] = outcome.violations;
      deepEqual(outcome.violations, [], `seed ${seed}: ${first?.invariant}: ${first?.what}`);
      if (outcome.captured) captured++;
      if (outcome.wentBack) wentBack++;
    }
    ok(captured > seeds.length / 2, `${captured} captured`);
    ok(wentBack > seeds.length / 3, `${wentBack} went back`);
  });

  const parts: readonly (readonly [ReturnPart, readonly number[]])[] = [
    ["the rest", seeds],
    ["the deaths", seeds],
    // A message waits for room, or for another world, until its process stands still.
    ["the wait of what is sent", [158]],
  ];
  for (const [leavesOut, some] of parts) {
    it(`without ${leavesOut} it goes wrong, and that is found`, () => {
      ok(some.some((seed) => runReturnSeed({ seed, leavesOut }).violations.length > 0));
    });
  }

  it("seed 158 with all of them", () => {
    deepEqual(runReturnSeed({ seed: 158 }).violations, []);
  });
});
