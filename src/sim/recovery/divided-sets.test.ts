/**
 * Ranks leave their sets while random programs run and ranks die (ADR 73): before the move is decided, in the middle of it, and after it. Nobody sees any of that, and what was inside a set
 * is between sets from then on.
 */
import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { failureText } from "../failure-text.ts";
import type { LoggingOutcome } from "../logging/run-logging.ts";
import { type LoggingSeedOptions, runLoggingSeed } from "../logging/run-logging-seed.ts";
import type { SetsBy } from "./sets.ts";

/** Sets of one rank cannot be divided; they are moved. */
const setsBy: readonly SetsBy[] = ["node", "node", "all", "random", "rank"];

const optionsOf = (seed: number): LoggingSeedOptions => ({
  seed,
  sets: setsBy[seed % setsBy.length],
  events: seed % 25 === 0 ? undefined : 12,
  moves: true,
});

describe("sets that are divided while ranks die", () => {
  it("L1 L2 L4 L5 L6: every invariant holds under every one of these seeds", () => {
    const outcomes: LoggingOutcome[] = [];
    const seeds = Array.from({ length: tries(40, 1000) }, (_, i) => i + 1);
    for (const seed of seeds) {
      const options = optionsOf(seed);
      const outcome = runLoggingSeed(options);
      outcomes.push(outcome);
      equal(outcome.violations.length, 0, failureText({ ...options, faults: undefined, protocol: "logging" }, outcome));
    }
    for (const mark of Object.keys(outcomes[0]!.moves) as (keyof LoggingOutcome["moves"])[]) {
      const times = outcomes.reduce((total, { moves }) => total + moves[mark], 0);
      ok(times > 0, `no world came by "${mark}"`);
    }
  });

  it("L1: a collective that waited at the board of a set goes on by messages when the set is divided, and those are logged", () => {
    const options: LoggingSeedOptions = { seed: 46, sets: "node", events: 12, moves: true };
    const outcome = runLoggingSeed(options);
    equal(outcome.violations.length, 0, failureText({ ...options, faults: undefined, protocol: "logging" }, outcome));
    ok(outcome.moves.divided > 0, "a set was divided");
  });

  it("rule 7: what a set that has fallen says late of its stream is not heard, whichever dispatcher asks after that", () => {
    const often = ["blocking collectives", "blocking collectives", "communicators"];
    const options: LoggingSeedOptions = { seed: 54, sets: "all", nodes: 2, ranks: 4, events: 40, moves: true, often };
    const outcome = runLoggingSeed(options);
    equal(outcome.violations.length, 0, failureText({ ...options, faults: undefined, protocol: "logging" }, outcome));
    equal(outcome.rare.choicesLost, 2, "it was refused, and was refused again to the next dispatcher");
  });
});
