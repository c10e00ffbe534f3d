import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { bestIntervalMs, CheckpointPolicy } from "./checkpoint-policy.ts";

/** Expected time that a unit of work takes with checkpoints at that interval (Daly 2006, equation 9, no restart cost). */
const overhead = (interval: number, cost: number, mean: number): number =>
  (mean / interval) * (Math.exp((interval + cost) / mean) - 1);

describe("checkpoint policy", () => {
  it("the best interval costs least", () => {
    for (const [cost, mean] of [
      [0.1, 1000],
      [5, 1000],
      [100, 1000],
      [1000, 1500],
    ] as const) {
      const best = bestIntervalMs(cost, mean);
      for (const factor of [0.5, 0.8, 1.25, 2]) {
        ok(overhead(best, cost, mean) < overhead(best * factor, cost, mean), `${cost} ${mean} ${factor}`);
      }
    }
  });

  it("a checkpoint that takes longer than two failures apart: one for each failure", () => {
    equal(bestIntervalMs(5000, 1000), 1000);
  });

  it("fixed is fixed, never is never", () => {
    equal(new CheckpointPolicy({ kind: "fixed", everyMs: 300 }).nextMs(0, 0), 300);
    equal(new CheckpointPolicy({ kind: "never" }).nextMs(0, 0), Number.POSITIVE_INFINITY);
  });

  it("ranks work for at least as long as they are captured", () => {
    const policy = new CheckpointPolicy({ kind: "fixed", everyMs: 300 });
    policy.cost(0, 5_000);
    policy.cost(1, 20);
    equal(policy.nextMs(0, 0), 5_000);
    equal(policy.nextMs(1, 0), 300);
  });

  it("cheap checkpoints are taken more often, and so they are when more fails", () => {
    const policy = new CheckpointPolicy({ kind: "best", meanTimeBetweenFailuresMs: undefined });
    equal(policy.nextMs(0, 0), 1000);
    policy.cost(0, 100);
    policy.cost(1, 400);
    const [cheap, dear] = [policy.nextMs(0, 60_000), policy.nextMs(1, 60_000)];
    ok(cheap < dear && dear < 3 * cheap);
    for (let i = 0; i < 3; i++) policy.failed();
    ok(policy.nextMs(0, 60_000) < 0.6 * cheap);
  });

  it("a given rate is believed", () => {
    const policy = new CheckpointPolicy({ kind: "best", meanTimeBetweenFailuresMs: 10_000 });
    policy.cost(0, 50);
    policy.failed();
    equal(Math.round(policy.nextMs(0, 0)), Math.round(bestIntervalMs(50, 10_000)));
  });
});
