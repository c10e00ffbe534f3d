import { deepEqual, equal, notDeepEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { layerDeaths } from "./layer-deaths.ts";
import { parsePlan } from "./parse.ts";
import type { FaultPlan } from "./plan.ts";
import { FaultSchedule } from "./schedule.ts";
import { jobLayout } from "./testing/plans.ts";

const { placement } = jobLayout;
const planOf = (text: string): FaultPlan => parsePlan(text) as FaultPlan;
const deathsOf = (text: string, seed = 1) => layerDeaths(planOf(text), { seed, placement });

describe("U7: deaths of a plan that only the program sees", () => {
  it("at a call and at a time", () => {
    deepEqual(deathsOf("layer-kill rank 3 at call 100; stop node 1 at 1s; layer-kill rank 0 at 5s"), [
      { rank: 3, call: 100, ms: null },
      { rank: 0, call: null, ms: 5000 },
    ]);
  });

  it("§5.5.2: a whole group dies at one time", () => {
    const [first, second, ...more] = deathsOf("layer-kill node 2 at random exponential mean 3s");
    deepEqual([first!.rank, second!.rank, more.length], [4, 5, 0]);
    equal(first!.ms, second!.ms);
    ok(first!.ms! > 0);
  });

  it("draws follow the seed, the plan's before the job's", () => {
    const plan = "layer-kill random rank at 5s ±4s; layer-kill random rank at 5s ±4s";
    deepEqual(deathsOf(plan, 1), deathsOf(plan, 1));
    notDeepEqual(deathsOf(plan, 1), deathsOf(plan, 2));
    deepEqual(deathsOf(`${plan}; seed 7`, 1), deathsOf(`${plan}; seed 7`, 2));
    notDeepEqual(deathsOf(plan)[0], deathsOf(plan)[1]);
  });

  it("the schedule of a job leaves them to the ranks", () => {
    const living = { isRankAlive: () => true, isNodeAlive: () => true };
    const schedule = new FaultSchedule(planOf("layer-kill rank 3 at call 2; layer-kill rank 1 at 1s"), {
      seed: 1,
      layout: jobLayout,
      living,
    });
    deepEqual([schedule.callsOf(3), schedule.nextTimeMs], [null, Number.POSITIVE_INFINITY]);
    deepEqual([...schedule.call(3, 2, 0), ...schedule.time(2000)], []);
  });
});
