import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import type { LoggingOutcome } from "../logging/run-logging.ts";
import { at, rounds, type Scenario, survive } from "../logging/testing/scenario.ts";
import { Random } from "../random.ts";

const base: Omit<Scenario, "faults"> = { nodes: 2, program: rounds(6) };
const kill = "kill service dispatcher";

/** The program takes longer than that. */
function sweep(faults: (atMs: string) => string, scenario: Omit<Scenario, "faults"> = base): LoggingOutcome[] {
  const outcomes: LoggingOutcome[] = [];
  for (let us = 5; us <= 95; us += 3) {
    // Whether it crashes at once or in the middle of a record is drawn.
    const services = { ...scenario.services, random: new Random(us) };
    outcomes.push(survive({ ...scenario, services, faults: faults(`${us / 1000}ms`) }));
  }
  return outcomes;
}

/** It may crash in the middle of its next record, which may never be written. */
const crashes = (outcomes: readonly LoggingOutcome[], kind: keyof LoggingOutcome["dispatcherCrashes"]): number =>
  outcomes.reduce((sum, { dispatcherCrashes }) => sum + dispatcherCrashes[kind], 0);

describe("V1 the dispatcher crashes, and another takes over with its journal", () => {
  it("while nothing else fails: nobody notices", () => {
    const outcomes = sweep((atMs) => `${kill} at ${atMs}`);
    ok(crashes(outcomes, "all") > 15);
    ok(crashes(outcomes, "torn") > 5, "in the middle of the record that a rank is done");
    ok(outcomes.every(({ restarts }) => restarts === 0));
  });

  it("and a node is lost at the same time, before, or a moment later", () => {
    for (const lateMs of [-0.004, 0, 0.004]) {
      const outcomes = sweep((atMs) => `${kill} at ${atMs}; kill node 1 at ${Number.parseFloat(atMs) + lateMs}ms`);
      ok(crashes(outcomes, "all") > 25);
      ok(crashes(outcomes, "torn") > 5);
      ok(outcomes.every(({ restarts }) => restarts >= 1));
    }
  });

  it("when a set has been restarted, or is about to be", () => {
    const slow = { ...base, services: { delayNsMax: 10_000, restartNs: 500_000, detectionNs: 1_000 } };
    const outcomes = sweep((atMs) => `kill node 1 at 0.01ms; ${kill} at ${atMs}`, slow);
    ok(outcomes.every(({ restarts }) => restarts >= 1));
    ok(
      outcomes.some(({ rare }) => rare.restartsLost > 0),
      "a life that was ordered never was",
    );
    ok(crashes(outcomes, "all") > 15);
    ok(crashes(outcomes, "lateOrders") > 0, "an order arrives when its dispatcher has crashed, and is carried out");
  });

  it("rule 7: nodes that have heard from the successor refuse the orders of its predecessor, which arrive late", () => {
    const slow = { ...base, services: { delayNsMax: 100_000, restartNs: 1_000, detectionNs: 1_000 } };
    // The dispatcher hears of the loss behind all that the node has said before.
    const later = (atMs: string): string => `${Number.parseFloat(atMs) + 0.1}ms`;
    const outcomes = sweep((atMs) => `kill node 1 at 0.01ms; ${kill} at ${later(atMs)}`, slow);
    ok(crashes(outcomes, "refusedOrders") > 0);
  });

  it("again and again", () => {
    const faults = Array.from({ length: 12 }, (_, i) => `${kill} at ${(i + 1) / 100}ms`).join("; ");
    const outcome = survive({
      ...base,
      mayMiss: true,
      faults: `kill node 0 at 0.02ms; kill node 1 at 0.05ms; ${faults}`,
    });
    ok(outcome.dispatcherCrashes.all > 3);
  });

  it("at every step of a checkpoint: it is given up, and those that count count", () => {
    const checkpoints = [...at(0, 5, 12), ...at(2, 6)];
    for (const step of ["before", "while", "after"]) {
      const faults = `${kill} at checkpoint 1 of set 0 ${step}; kill node 0 at 0.06ms`;
      const outcome = survive({ ...base, mayMiss: true, checkpoints, faults });
      ok(outcome.dispatcherCrashes.all > 0, step);
      ok(outcome.restarts > 0, step);
    }
  });

  it("with a set that is divided over nodes", () => {
    const divided = { ...base, nodes: 4, setOf: [0, 1, 1, 0] };
    const outcomes = sweep((atMs) => `kill node 1 at ${atMs}; ${kill} at ${atMs}`, divided);
    ok(crashes(outcomes, "all") > 15);
    ok(outcomes.every(({ restarts }) => restarts >= 1));
  });

  it("when everybody is done, and nobody has heard it", () => {
    const late = { ...base, services: { delayNsMax: 60_000, restartNs: 100_000 } };
    const outcomes = sweep((atMs) => `${kill} at ${atMs}`, late);
    equal(
      outcomes.filter(({ job }) => job?.reason.kind === "finished").length,
      outcomes.length,
      "the job ends all the same",
    );
  });
});
