import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { patiencesOf } from "./patiences.ts";

test("M8 whoever has more patience with silent nodes has more with starting ones", () => {
  equal(patiencesOf(750).startPatienceMs, 30_000);
  equal(patiencesOf(100).startPatienceMs, 30_000);
  equal(patiencesOf(5000).startPatienceMs, 200_000);
});

test("M8 a node at work is never waited for shorter than one that is not", () => {
  for (const patienceMs of [1, 200, 750, 60_000]) {
    const { starvedPatienceMs, startPatienceMs, starvedStartPatienceMs } = patiencesOf(patienceMs);
    ok(starvedPatienceMs >= patienceMs && starvedStartPatienceMs >= startPatienceMs && startPatienceMs >= patienceMs);
  }
});
