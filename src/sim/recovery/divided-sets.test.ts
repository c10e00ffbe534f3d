/**
 * Ranks leave their sets while random programs run and ranks die (ADR 73): before the move is decided, in the middle of it, and after it. Nobody sees any of that, and what was inside a set
 * is between sets from then on.
 */
import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { type KnownChoices, type LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { Beginning, ProtocolPorts } from "../../core/ft/protocol.ts";
import type { SentInSet } from "../../core/ft/set-split.ts";
import { failureText } from "../failure-text.ts";
import type { LoggingOutcome } from "../logging/run-logging.ts";
import { type LoggingSeedOptions, runLoggingSeed } from "../logging/run-logging-seed.ts";
import type { SetsBy } from "./sets.ts";

/** Sets of one rank cannot be divided; they are moved. */
const setsBy: readonly SetsBy[] = ["node", "node", "all", "random", "rank"];

type NewLogging = (options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol;

const optionsOf = (seed: number): LoggingSeedOptions => ({
  seed,
  sets: setsBy[seed % setsBy.length],
  events: seed % 25 === 0 ? undefined : 12,
  moves: true,
});

/** A protocol whose lives believe something else of what members of a divided set had sent each other. */
function believing(change: (sent: SentInSet, rank: number) => SentInSet): NewLogging {
  class Believing extends LoggingProtocol {
    readonly #rank: number;

    constructor(options: LoggingOptions, ports: ProtocolPorts) {
      super(options, ports);
      this.#rank = options.rank;
    }

    override begin(beginning: Beginning): void {
      const data = beginning.data as KnownChoices;
      const parted = beginning.incarnation === 0 ? [] : data.parted.map((sent) => change(sent, this.#rank));
      super.begin({ ...beginning, data: { ...data, parted } });
    }
  }
  return (options, ports) => new Believing(options, ports);
}

/** Under which it matters. */
const seedsOf = { unsent: [1], waiting: [1], counted: [1] };

/** Does it go wrong under one of these seeds? */
const goesWrong = (newProtocol: NewLogging, seeds: readonly number[]): boolean =>
  seeds.some((seed) => runLoggingSeed({ ...optionsOf(seed), newProtocol }).violations.length > 0);

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

  for (const [what, change, seeds] of [
    ["that numbers had not been sent yet", (sent: SentInSet) => ({ ...sent, unsent: [] }), seedsOf.unsent],
    ["that messages waited for a receive", (sent: SentInSet) => ({ ...sent, waiting: [] }), seedsOf.waiting],
    [
      "how many messages the other has of its own",
      (sent: SentInSet, rank: number) =>
        sent.from === rank ? { ...sent, next: sent.unsent.length + sent.waiting.length } : sent,
      seedsOf.counted,
    ],
  ] as const) {
    it(`a protocol that does not know ${what} goes wrong`, () => ok(goesWrong(believing(change), seeds)));
  }
});
