/** What ranks do beside ordinary messages, under seeds with deaths. */
import { equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import type { RecordId } from "../../core/base/brand.ts";
import { type LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts, Write } from "../../core/ft/protocol.ts";
import { R_CONTEXT } from "../../core/request/records.ts";
import { failureText } from "../failure-text.ts";
import { type LoggingOutcome, type LoggingSetup, runLogging } from "../logging/run-logging.ts";
import { type LoggingSeedOptions, setupOf } from "../logging/run-logging-seed.ts";
import { setsBy } from "./sets.ts";

/** Nothing is violated under any of these seeds. */
function survived(first: number, seeds: number, options: Emphasis, change: Change = same): (of: Counted) => number {
  const outcomes: LoggingOutcome[] = [];
  for (let seed = first; seed < first + tries(seeds / 3, seeds); seed++) {
    const run = { seed, sets: setsBy[seed % setsBy.length], events: 12, ...options };
    const outcome = runLogging(change(setupOf(run)));
    equal(outcome.violations.length, 0, failureText({ ...run, protocol: "logging" }, outcome));
    outcomes.push(outcome);
  }
  return (of) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
}

type Emphasis = Pick<LoggingSeedOptions, "often" | "sets" | "nodes" | "ranks">;
type Change = (setup: LoggingSetup) => LoggingSetup;
const same: Change = (setup) => setup;
type Counted = (outcome: LoggingOutcome) => number;

/** What the first seed says that fails under another protocol than the real one. */
function firstViolation(options: Pick<LoggingSeedOptions, "newProtocol" | "often" | "sets">, change = same): string {
  for (let seed = 1; seed <= 200; seed++) {
    const { violations } = runLogging(change(setupOf({ seed, events: 12, hasCheckpoints: false, ...options })));
    if (violations.length > 0) return violations.map(({ invariant, what }) => `${invariant}: ${what}`).join("\n");
  }
  return "";
}

/** Lets lines out at once. */
class BlabsLines extends LoggingProtocol {
  override writeMayLeave(write: Write): boolean {
    return write.kind === "line" || super.writeMayLeave(write);
  }
}

/** Lets changes of files out at once. */
class BlabsFiles extends LoggingProtocol {
  override writeMayLeave(write: Write): boolean {
    return write.kind === "file" || super.writeMayLeave(write);
  }
}

/** Keeps no message that was made of parts. */
class ForgetsParts extends LoggingProtocol {
  readonly #records: ProtocolPorts["records"];

  constructor(options: LoggingOptions, ports: ProtocolPorts) {
    super(options, ports);
    this.#records = ports.records;
  }

  override sendPosted(send: RecordId): boolean {
    return this.#records.get(send, R_CONTEXT) < 0x40000000 && super.sendPosted(send);
  }
}

const by = (Protocol: new (options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol) => ({
  newProtocol: (options: LoggingOptions, ports: ProtocolPorts) => new Protocol(options, ports),
});

describe("lines under seeds with deaths", () => {
  const often = ["lines"];

  it("rule 2: every line is there once, and says what its rank has seen", () => {
    const count = survived(1001, 60, { often });
    ok(count(({ output }) => output.heldBack) > 50, "lines wait until what they depend on is stable");
    ok(count(({ output }) => output.repeated) > 50, "lives print again what is there");
    ok(count(({ output }) => output.printed - output.offered) > 0, "lines are lost with their set");
    ok(count(({ moments }) => moments.fell.insideLine) > 5);
    ok(count(({ moments }) => moments.captured.insideLine) > 5);
  });

  it("rule 2: a protocol that lets lines leave at once is found out", () => {
    match(firstViolation({ ...by(BlabsLines), often }), /printed once: rank \d+: the output has .* has printed/);
  });
});

describe("files under seeds with deaths", () => {
  const often = ["files"];

  it("X2: files are what doing everything once makes of them, and so is what ranks were told", () => {
    const count = survived(4001, 60, { often });
    ok(count(({ files }) => files.done) > tries(150, 300));
    ok(count(({ files }) => files.heldBack) > 50, "changes wait until what they depend on is stable");
    ok(count(({ restarts }) => restarts) > tries(20, 50));
  });

  it("rule 2: a protocol that lets changes out at once is found out", () => {
    match(firstViolation({ ...by(BlabsFiles), often }), /files are right: /);
  });
});

describe("partitioned messages under seeds with deaths", () => {
  const often = ["partitioned messages"];

  it("L1 L2: they arrive once and whole, wherever their sender fell", () => {
    const count = survived(2001, 120, { often });
    const moments = (what: "fell" | "captured"): number => count((outcome) => outcome.moments[what].betweenParts);
    ok(moments("fell") > tries(1, 5), `${moments("fell")} fell between parts`);
    ok(moments("captured") > 0, "nobody was captured between parts");
  });

  it("L2: a protocol that keeps none of them is found out", () => {
    match(firstViolation({ ...by(ForgetsParts), often, sets: "rank" }), /nobody is stuck|received once|waits for ever/);
  });
});

describe("boards under seeds with deaths", () => {
  const often = ["blocking collectives", "communicators"];
  const withBoards: Change = ({ world, ...setup }) => ({
    ...setup,
    world: { ...world, boards: { count: 8, bytesMax: 4_096 } },
  });
  /** Against rule 12: also where ranks of a node fall without each other. */
  const onEveryNode: Change = ({ world, ...setup }) => ({
    ...setup,
    world: { ...world, boards: { count: 8, bytesMax: 4_096, mayUse: () => true } },
  });

  it("rule 12: meetings are right, whoever falls or is captured in the middle of one", () => {
    const count = survived(3001, 90, { often, sets: "node", nodes: 1, ranks: 4 }, withBoards);
    ok(count(({ boards }) => boards.meetings) > tries(50, 100));
    ok(count(({ boards }) => boards.withdrawn) > tries(2, 5), "arrivals are taken back for a capture");
    ok(count(({ moments }) => moments.fell.inMeeting) > 10);
    ok(count(({ moments }) => moments.captured.inMeeting) > 10);
  });

  it("rule 12: only the job's own communicator has a board, which every life has", () => {
    const count = survived(3101, 30, { often, sets: "node", nodes: 2, ranks: 6 }, withBoards);
    equal(
      count(({ boards }) => boards.meetings),
      0,
    );
  });

  it("rule 12: boards of ranks that fall without each other are found out", () => {
    match(firstViolation({ often, sets: "rank" }, onEveryNode), /waits for ever|nothing throws|byte \d+ of the result/);
  });
});
