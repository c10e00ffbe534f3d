import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { dispatcherQuietMsOf, patiencesOf } from "./patiences.ts";

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

test("V1 a dispatcher gives up a silent node before the node gives up the dispatcher", () => {
  for (const patienceMs of [1, 200, 750, 60_000]) {
    ok(dispatcherQuietMsOf(patienceMs) > 1.5 * patiencesOf(patienceMs).starvedPatienceMs);
  }
  equal(dispatcherQuietMsOf(100), 15_000);
  equal(dispatcherQuietMsOf(750), 30_000);
  equal(dispatcherQuietMsOf(1e9), 0x7fffffff, "a timer takes no more");
});
