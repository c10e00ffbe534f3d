/** What ranks do beside ordinary messages, under seeds with deaths. */
import { equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import type { RecordId } from "../../core/base/brand.ts";
import { type LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { R_CONTEXT } from "../../core/request/records.ts";
import { failureText } from "../failure-text.ts";
import type { LoggingOutcome } from "./run-logging.ts";
import { type LoggingSeedOptions, runLoggingSeed } from "./run-logging-seed.ts";
import { setsBy } from "./sets.ts";

/** Nothing is violated under any of these seeds. */
function survived(first: number, count: number, often: readonly string[]): (of: Counted) => number {
  const outcomes: LoggingOutcome[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const run = { seed, sets: setsBy[seed % setsBy.length], events: 12, often };
    const outcome = runLoggingSeed(run);
    equal(outcome.violations.length, 0, failureText({ ...run, protocol: "logging" }, outcome));
    outcomes.push(outcome);
  }
  return (of) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
}

type Counted = (outcome: LoggingOutcome) => number;

/** What the first seed says that fails under another protocol than the real one. */
function firstViolation(options: Pick<LoggingSeedOptions, "newProtocol" | "often" | "sets">): string {
  for (let seed = 1; seed <= 200; seed++) {
    const { violations } = runLoggingSeed({ seed, events: 12, hasCheckpoints: false, ...options });
    if (violations.length > 0) return violations.map(({ invariant, what }) => `${invariant}: ${what}`).join("\n");
  }
  return "";
}

/** Lets everything out at once. */
class Blabbing extends LoggingProtocol {
  override writeMayLeave(): boolean {
    return true;
  }
}

/** Keeps no message that was made of parts. */
class ForgetsParts extends LoggingProtocol {
  #records: ProtocolPorts["records"] | null = null;

  override attach(ports: ProtocolPorts): void {
    this.#records = ports.records;
    super.attach(ports);
  }

  override sendPosted(send: RecordId): boolean {
    return this.#records!.get(send, R_CONTEXT) < 0x40000000 && super.sendPosted(send);
  }
}

const by = (Protocol: new (options: LoggingOptions) => LoggingProtocol) => ({
  newProtocol: (options: LoggingOptions) => new Protocol(options),
});

describe("lines under seeds with deaths", () => {
  const often = ["lines"];

  it("rule 2: every line is there once, and says what its rank has seen", () => {
    const count = survived(1001, 100, often);
    ok(count(({ output }) => output.heldBack) > 50, "lines wait until what they depend on is stable");
    ok(count(({ output }) => output.repeated) > 50, "lives print again what is there");
    ok(count(({ output }) => output.printed - output.offered) > 0, "lines are lost with their set");
    ok(count(({ moments }) => moments.fell.insideLine) > 5);
    ok(count(({ moments }) => moments.captured.insideLine) > 5);
  });

  it("rule 2: a protocol that lets lines leave at once is found out", () => {
    match(firstViolation({ ...by(Blabbing), often }), /printed once: rank \d+: the output has .* has printed/);
  });
});

describe("partitioned messages under seeds with deaths", () => {
  const often = ["partitioned messages"];

  it("L1 L2: they arrive once and whole, wherever their sender fell", () => {
    const count = survived(2001, 100, often);
    ok(count(({ moments }) => moments.fell.betweenParts) > 5);
    ok(count(({ moments }) => moments.captured.betweenParts) > 0);
  });

  it("L2: a protocol that keeps none of them is found out", () => {
    match(firstViolation({ ...by(ForgetsParts), often, sets: "rank" }), /nobody is stuck|received once|waits for ever/);
  });
});
