import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { World } from "../../sim/world.ts";
import { machineMs } from "../machine/machine-clock.ts";
import { createPlaceWords, readPlace } from "../messages/whereabouts.ts";
import { RankWhereabouts } from "./rank-whereabouts.ts";

/** So long that a wait is written down (ADR 72), with whatever fraction of a millisecond a clock leaves out. */
const lastingMs = 8;

test("M8, ADR 72: a short wait is not written down, however often it sleeps; a longer one is, until it is over", () => {
  const [{ core: process }] = new World({ ranks: 1 }).processes as [World["processes"][number]];
  const words = createPlaceWords();
  const turn = { words: new Int32Array(1), at: 0 };
  const whereabouts = new RankWhereabouts({ words, turn, process, isDelivered: () => true });
  const place = () => readPlace(words, { rank: 0, nowMs: machineMs() });
  whereabouts.begin();
  const startMs = machineMs();
  for (let sleeps = 0; sleeps < 3; sleeps++) whereabouts.slept();
  // A machine that took its time over that says nothing of it.
  const [wait, state] = machineMs() - startMs < 4 ? [0, "computing"] : [place().wait, place().state];
  deepEqual([place().wait, place().state], [wait, state]);
  while (machineMs() < startMs + lastingMs);
  whereabouts.slept();
  equal(place().state, "waiting");
  equal(place().wait, 1);
  whereabouts.end();
  equal(place().state, "computing");
  whereabouts.slept();
  equal(place().state, "computing", "the next wait is new");
});
