import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { failureText } from "../failure-text.ts";
import type { LoggingOutcome } from "../logging/run-logging.ts";
import { runLoggingSeed } from "../logging/run-logging-seed.ts";
import { at, rounds, type Scenario, survive } from "../logging/testing/scenario.ts";
import { setsBy } from "./sets.ts";

const base: Omit<Scenario, "faults"> = { nodes: 2, program: rounds(6) };

/** The node stands still at these moments of the program, is taken for dead, and goes on: at once, or when its successor has begun. */
function sweep(scenario: Omit<Scenario, "faults">): LoggingOutcome[] {
  const outcomes: LoggingOutcome[] = [];
  for (const suspectsWakeNsMax of [0, 8_000, 60_000]) {
    for (let us = 5; us <= 95; us += 15) {
      const services = { ...scenario.services, suspectsWakeNsMax };
      outcomes.push(survive({ ...scenario, services, faults: `stop node 1 at ${us / 1000}ms for 2s` }));
    }
  }
  return outcomes;
}

describe("V1 V8 a node that is taken for dead lives on beside the one that has its place", () => {
  it("and changes nothing, wherever it stood still and whenever it goes on", () => {
    const outcomes = sweep(base);
    ok(outcomes.every(({ restarts, suspects }) => restarts === 1 && suspects.all === 1));
    ok(outcomes.filter(({ suspects }) => suspects.awake === 1).length > 15);
  });

  it("while the others hear of its death late: what it chooses now is not acknowledged, and nobody learns of it", () => {
    // The order in which a rank takes messages is another one in the next life.
    const cost = { jitterNs: 20_000 };
    const services = { noticeNsMax: 300_000, restartNs: 50_000, suspectsWakeNsMax: 8_000 };
    const outcomes = Array.from({ length: 24 }, (_, i) => {
      const faults = `stop node 1 at ${(5 + (i % 12) * 8) / 1000}ms for 2s`;
      return survive({ ...base, cost, services, faults, seed: i + 1 });
    });
    ok(outcomes.every(({ suspects }) => suspects.all === 1));
    ok(outcomes.some(({ rare }) => rare.determinantsLost > 0));
  });

  it("where its successor begins with an image, and the suspect was about to be captured, or had been", () => {
    const checkpoints = [...at(0, 5, 12), ...at(2, 4, 9)];
    for (const moment of ["checkpoint 2 of set 1 before", "checkpoint 2 of set 1 while", "commit 2 of set 1"]) {
      const services = { suspectsWakeNsMax: 30_000, restartNs: 50_000 };
      const outcome = survive({ ...base, checkpoints, services, faults: `stop node 1 at ${moment} for 2s` });
      equal(outcome.suspects.awake, 1, moment);
      equal(outcome.checkpoints.restored, 1, moment);
    }
  });

  it("under these seeds, also where it ran all the time and could not be heard", () => {
    const suspects = { all: 0, awake: 0 };
    for (let seed = 1; seed <= tries(6, 80); seed++) {
      const sets = setsBy[seed % setsBy.length];
      const outcome = runLoggingSeed({ seed, sets, events: 12, keepSuspects: true });
      equal(
        outcome.violations.length,
        0,
        failureText({ seed, protocol: "logging", sets, events: 12, keepSuspects: true }, outcome),
      );
      suspects.all += outcome.suspects.all;
      suspects.awake += outcome.suspects.awake;
    }
    ok(suspects.all > 1 && suspects.awake > 1, JSON.stringify(suspects));
  });
});
