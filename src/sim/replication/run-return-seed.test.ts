import { deepEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { type ReturnPart, runReturnSeed } from "./run-return-seed.ts";

const seeds = Array.from({ length: 25 }, (_, i) => i + 1);

describe("D1 all worlds are captured together where messages are compared, and go on together", () => {
  it("every seed comes to the right answer, also when two replicas have differed", () => {
    const totals = { captured: 0, wentBack: 0, helped: 0 };
    for (const seed of Array.from({ length: tries(8, 150) }, (_, i) => i + 1)) {
      const outcome = runReturnSeed({ seed, comparing: seed % 2 === 0 ? "whole" : "hash" });
      const [first] = outcome.violations;
      deepEqual(outcome.violations, [], `seed ${seed}: ${first?.invariant}: ${first?.what}`);
      const { captured, wentBack, disputed } = outcome;
      if (captured) totals.captured++;
      if (wentBack) totals.wentBack++;
      if (wentBack && disputed[0] && !disputed[1]) totals.helped++;
      ok(outcome.flipped || !(disputed[0] || disputed[1]), `seed ${seed}: no bit has flipped`);
    }
    ok(totals.captured > 3 && totals.wentBack > 3, JSON.stringify(totals));
  });

  it("without the rest of other worlds it goes wrong, and that is found", () => {
    // A vote was on its way, and is in no image.
    const outcome = runReturnSeed({ seed: 36, comparing: "whole", leavesOut: "the rest of other worlds" });
    ok(outcome.wentBack && outcome.violations.length > 0);
    deepEqual(runReturnSeed({ seed: 36, comparing: "whole" }).violations, []);
  });
});

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
