import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { SendMode } from "../../core/request/records.ts";
import type { LoggingOutcome } from "../logging/run-logging.ts";
import { at, type Scenario, ScenarioProgram, survive } from "../logging/testing/scenario.ts";

const largeBytes = 60_000;

/** A message of sixty pieces from rank 0, alone in its set, to rank 1; chance before it and an answer after it. */
function program(mode: SendMode = SendMode.STANDARD) {
  const made = new ScenarioProgram(3);
  made.gather([1, 2], 0).gather([0, 2], 1);
  made.send(0, 1, largeBytes, mode).send(1, 2).send(2, 0).send(1, 0, largeBytes, mode);
  return made.script;
}

const base: Omit<Scenario, "faults"> = { nodes: 3, program: program(), mayMiss: true };

function sweep(faults: (atMs: string) => string, scenario = base): LoggingOutcome[] {
  const outcomes: LoggingOutcome[] = [];
  for (let us = 10; us <= 85; us += 5) outcomes.push(survive({ ...scenario, faults: faults(`${us / 1000}ms`) }));
  return outcomes;
}

describe("L5 a receiver has half of a large message", () => {
  it("when the sender falls: the rest comes from the sender's next life", () => {
    const outcomes = sweep((atMs) => `kill node 0 at ${atMs}`);
    const broken = outcomes.filter(({ rare }) => rare.messagesBroken > 0);
    ok(broken.length >= 2, `${broken.length} of ${outcomes.length} broke a message`);
    ok(broken.every(({ restartsOf }) => restartsOf[1] === 0));
  });

  it("when it falls itself: the sender sends all of it again, from its log", () => {
    const outcomes = sweep((atMs) => `kill node 1 at ${atMs}`);
    const halves = outcomes.filter(({ rare }) => rare.fellWithHalf > 0);
    ok(halves.length >= 2, `${halves.length} of ${outcomes.length} fell with a part`);
    ok(halves.every(({ restartsOf }) => restartsOf[0] === 0));
  });

  it("when both fall", () => {
    const outcomes = sweep((atMs) => `kill node 0 at ${atMs}; kill node 1 at ${atMs}`);
    ok(outcomes.some(({ rare }) => rare.fellWithHalf > 0 && rare.severalSetsDown > 0));
  });

  it("when the sender falls, and again in its replay, and then the receiver", () => {
    const outcomes = sweep(
      (atMs) => `kill node 0 at ${atMs}; kill node 0 in recovery; kill node 1 in recovery of set 0 number 2`,
    );
    ok(outcomes.some(({ rare, restarts }) => rare.messagesBroken > 0 && restarts === 3));
  });

  it("of a synchronous send, which nobody may believe to be received", () => {
    const synchronous = { ...base, program: program(SendMode.SYNCHRONOUS) };
    ok(sweep((atMs) => `kill node 0 at ${atMs}`, synchronous).some(({ rare }) => rare.messagesBroken > 0));
    ok(sweep((atMs) => `kill node 1 at ${atMs}`, synchronous).some(({ rare }) => rare.fellWithHalf > 0));
  });

  it("§3.3.3 when it is captured: its image has only the number, and the rest is asked for again", () => {
    const outcomes: LoggingOutcome[] = [];
    for (let computeNs = 16_000; computeNs <= 48_000; computeNs += 2_000) {
      const made = new ScenarioProgram(4);
      made.gather([1, 2], 0).gather([0, 3], 2);
      // Rank 3 is of rank 2's set and has it captured while the message is on its way.
      made.compute(3, computeNs).send(0, 2, largeBytes).send(2, 3).send(3, 0).send(0, 2);
      const scenario = { nodes: 2, program: made.script, checkpoints: at(3, 2) };
      outcomes.push(survive({ ...scenario, faults: "kill node 1 at checkpoint 1 after" }));
      outcomes.push(
        survive({ ...scenario, faults: "kill node 0 at checkpoint 1 of set 1; kill node 1 at checkpoint 1" }),
      );
    }
    const halves = outcomes.filter(({ checkpoints }) => checkpoints.capturedWithHalf > 0);
    ok(halves.length >= 3, `${halves.length} images of ${outcomes.length} have half a message`);
    ok(outcomes.every(({ checkpoints }) => checkpoints.restored === 1));
  });

  it("over a link that is cut in the middle: nobody falls, and nothing is lost", () => {
    const outcomes = sweep((atMs) => `cut link 0-1 at ${atMs} for 0.05ms`);
    ok(outcomes.every(({ restarts }) => restarts === 0));
    ok(outcomes.some(({ fired }) => fired[0] === 1));
    equal(sweep((atMs) => `cut link 0-1 at ${atMs} for 1ms; kill node 0 at 0.1ms`).length, outcomes.length);
  });
});
