import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { tries } from "../../../test/long.ts";
import { runLayerSeed } from "./run-layer-seed.ts";

test("U3 to U6: programs that repair themselves go on under the layer, whoever becomes dead and when", () => {
  let [deaths, shrinks, meetings, withdrawn] = [0, 0, 0, 0];
  const seeds = tries(8, 300);
  for (let seed = 1; seed <= seeds; seed++) {
    const outcome = runLayerSeed({ seed });
    deepEqual(outcome.violations, [], `seed ${seed}`);
    deaths += outcome.deaths;
    shrinks += outcome.shrinks;
    meetings += outcome.meetings;
    withdrawn += outcome.withdrawn;
  }
  ok(deaths > seeds / 2 && shrinks > seeds, `only ${deaths} deaths and ${shrinks} shrunken communicators`);
  ok(meetings > seeds && withdrawn > 0, `only ${meetings} meetings at boards, ${withdrawn} arrivals taken back`);
});

test("U6 §5.3.10: a revoked communicator does not end before reports have come that know nothing of it", () => {
  for (const seed of [2784, 2853]) deepEqual(runLayerSeed({ seed }).violations, [], `seed ${seed}`);
});
