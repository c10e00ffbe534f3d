import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schedule } from "../engine/schedule.ts";
import { CollectiveWorld, run } from "../testing/collective-world.ts";
import { crossing, log2Ceiling, roundsOf } from "../testing/cost.ts";
import { memberNodesOf, ranksOf, sizes } from "../testing/data.ts";
import { barrierDissemination } from "./barrier-dissemination.ts";
import { barrierHierarchical } from "./barrier-hierarchical.ts";

/** No rank may leave before the last has entered: starts all ranks but `late`, and expects none to finish. */
function assertHoldsFor(late: number, schedules: readonly Schedule[]): void {
  const world = new CollectiveWorld(schedules.length, { seed: late });
  for (const [rank, schedule] of schedules.entries()) if (rank !== late) world.start(rank, 0, { schedule });
  world.settle();
  for (const [rank, finished] of world.finished.entries()) {
    assert.equal(finished.size, 0, `rank ${rank} of ${schedules.length} left before ${late} came`);
  }
  world.start(late, 0, { schedule: schedules[late]! });
  world.settle();
  world.checkClean();
}

test("M3 barrier dissemination: nobody leaves before the last has come", () => {
  for (const size of sizes) {
    const schedules = ranksOf(size).map((rank) => barrierDissemination({ rank, size }));
    for (const late of ranksOf(size)) assertHoldsFor(late, schedules);
  }
});

test("M3 barrier dissemination: ⌈log2 p⌉ rounds of one signal each", () => {
  for (const size of sizes) {
    const schedules = ranksOf(size).map((rank) => barrierDissemination({ rank, size }));
    for (const schedule of schedules) assert.equal(roundsOf(schedule), log2Ceiling(size));
    const messages = run(schedules.map((schedule) => ({ schedule })));
    assert.equal(messages.length, size * log2Ceiling(size));
    assert.ok(messages.every((message) => message.bytes === 0));
  }
});

test("M3 barrier hierarchical: nobody leaves before the last has come, m·⌈log2 m⌉ signals between m nodes", () => {
  for (const size of sizes) {
    for (const nodes of memberNodesOf(size)) {
      const schedules = ranksOf(size).map((rank) => barrierHierarchical({ rank, size, nodes }));
      for (const late of ranksOf(size).slice(0, 8)) assertHoldsFor(late, schedules);
      const count = new Set(nodes).size;
      const messages = run(schedules.map((schedule) => ({ schedule })));
      assert.equal(crossing(messages, nodes).length, count * log2Ceiling(count));
    }
  }
});
