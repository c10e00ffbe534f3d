/** Rule 2: what leaves a job without being a message, under seeds with deaths. */
import { equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { type LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import { failureText } from "../failure-text.ts";
import type { LoggingOutcome } from "./run-logging.ts";
import { runLoggingSeed } from "./run-logging-seed.ts";
import { setsBy } from "./sets.ts";

const sumOf = (outcomes: readonly LoggingOutcome[], of: (outcome: LoggingOutcome) => number): number =>
  outcomes.reduce((total, outcome) => total + of(outcome), 0);

function outcomesOf(seeds: readonly [first: number, last: number]): LoggingOutcome[] {
  const outcomes: LoggingOutcome[] = [];
  for (let seed = seeds[0]; seed <= seeds[1]; seed++) {
    const run = { seed, sets: setsBy[seed % setsBy.length], events: 15 };
    const outcome = runLoggingSeed(run);
    equal(outcome.violations.length, 0, failureText({ ...run, protocol: "logging" }, outcome));
    outcomes.push(outcome);
  }
  return outcomes;
}

/** What the first seed says that fails under another protocol than the real one. */
function firstViolation(newProtocol: (options: LoggingOptions) => LoggingProtocol, invariant: string): string {
  for (let seed = 1; seed <= 400; seed++) {
    const { violations } = runLoggingSeed({ seed, events: 25, newProtocol });
    const found = violations.find((violation) => violation.invariant === invariant);
    if (found !== undefined) return found.what;
  }
  return "";
}

/** Lets everything out at once. */
class Blabbing extends LoggingProtocol {
  override writeMayLeave(): boolean {
    return true;
  }
}

describe("what leaves a job whose ranks die and come back", () => {
  it("rule 2: every line is there once, and says what its rank has seen", () => {
    const outcomes = outcomesOf([1001, 1120]);
    const counts = (name: keyof LoggingOutcome["output"]): number => sumOf(outcomes, ({ output }) => output[name]);
    ok(counts("heldBack") > 50, "lines wait until what they depend on is stable");
    ok(counts("repeated") > 50, "lives print again what is there");
    ok(counts("printed") > counts("offered"), "lines are lost with their set");
  });

  it("rule 2: a protocol that lets lines leave at once is found out", () => {
    match(
      firstViolation((options) => new Blabbing(options), "printed once"),
      /has printed/,
    );
  });
});
