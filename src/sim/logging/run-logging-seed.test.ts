import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { failureText } from "../failure-text.ts";
import { setsBy } from "../recovery/sets.ts";
import type { LoggingOutcome } from "./run-logging.ts";
import { runLoggingSeed } from "./run-logging-seed.ts";

/** As they were found; later changes of the generator make other programs of them. Scenarios of their own are beside the parts. */
const seedsThatFound: readonly (readonly [number, string])[] = [
  [
    312139,
    "a node told the event logger's successor between the fence of its set and the answer: too late, and excused",
  ],
  [101322, "a communicator had a board, and none in the life that was restored: its messages had other numbers there"],
  [71479, "a dispatcher that had taken over asked for a checkpoint of a set whose node had not answered it"],
  [72660, "a node whose replacement was written down, and not carried out, answered the successor"],
  [200355, "marks of a checkpoint took the only place in a channel from the pieces of a message, for ever"],
  [75, "a set that fell in the middle of an entry of its stream: half of it was replayed"],
  [33, "a kept message overtook what the protocol had to tell first"],
  [200, "a named receive could be cancelled in replay that had its message in the life before"],
  [3128, "a send was complete in the life before, and waited for its receiver in replay because memory was scarcer"],
  [13984, "a message of the set left while a neighbour's run of nothings, on which it depended, was not in the stream"],
  [78, "a sender forgot a large message of which a committed image had only the envelope"],
  [6, "receives that were posted at a capture were pinned again and again"],
  [4, "a choice that was open at a capture was not asked for again in the next life"],
  [1002237, "a finished rank that had stood still came to rest in the place of its next life"],
];

/** Worlds that together come by everything that is counted below; few of many do some of it. */
const seedsWithEverything = [8, 24, 29, 64, 71, 75, 76, 101, 134, 137, 177, 208, 228, 244, 442, 522, 824];

describe("random programs and random deaths under message logging", () => {
  it("L1 L2 L4 L5 L6: every invariant holds under every one of these seeds, and nobody sees that anybody died", () => {
    const drawn = Array.from({ length: tries(5, 200) }, (_, i) => i + 1);
    const seeds = new Set([...drawn, ...seedsWithEverything]);
    const outcomes: LoggingOutcome[] = [];
    for (const seed of seeds) {
      const sets = setsBy[seed % setsBy.length];
      // Short programs come to the same situations, and to more of them in the same time.
      const events = seed % 5 === 0 ? undefined : 12;
      const outcome = runLoggingSeed({ seed, sets, events });
      outcomes.push(outcome);
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "logging", sets, events }, outcome));
    }
    const sum = (of: (outcome: LoggingOutcome) => number): number =>
      outcomes.reduce((total, one) => total + of(one), 0);
    ok(sum(({ restarts }) => restarts) > seeds.size);
    ok(sum(({ marks }) => marks.sendWent) > 0);
    equal(
      sum(({ marks }) => marks.sendCancelled),
      0,
      "a send to another set is complete when it is logged",
    );
    for (const mark of Object.keys(outcomes[0]!.rare) as (keyof LoggingOutcome["rare"])[]) {
      ok(sum(({ rare }) => rare[mark]) > 0, `no world came by "${mark}"`);
    }
    ok(sum(({ dispatcherCrashes }) => dispatcherCrashes.all) > seeds.size / 5);
    ok(sum(({ dispatcherCrashes }) => dispatcherCrashes.torn) > seeds.size / 15);
    ok(
      sum(({ dispatcherCrashes }) => dispatcherCrashes.lateOrders) > 0,
      "no order arrived after its dispatcher's crash",
    );
    ok(
      sum(({ dispatcherCrashes }) => dispatcherCrashes.refusedOrders) > 0,
      "no node refused an order of an older term",
    );
    for (const mark of Object.keys(outcomes[0]!.checkpoints) as (keyof LoggingOutcome["checkpoints"])[]) {
      ok(sum(({ checkpoints }) => checkpoints[mark]) > 0, `no checkpoint came by "${mark}"`);
    }
    ok(
      sum(({ output }) => output.heldBack) > 0 && sum(({ output }) => output.repeated) > 0,
      "no line waited or came twice",
    );
    ok(sum(({ files }) => files.heldBack) > 0, "no change of a file waited");
    ok(sum(({ sharedFiles }) => sharedFiles.written) > 0, "no record was written to a file of several ranks");
    ok(sum(({ input }) => input.again) > 0, "no life has read input again");
    ok(sum(({ boards }) => boards.meetings) > 0, "nobody met on a board");
  });

  it("seeds that found something, and what it was", () => {
    for (const [seed, what] of seedsThatFound.slice(0, tries(2, seedsThatFound.length))) {
      const outcome = runLoggingSeed({ seed });
      equal(outcome.violations.length, 0, `${what}: ${failureText({ seed, protocol: "logging" }, outcome)}`);
    }
  });

  it("the same seed is the same run, deaths and all", () => {
    const traced = (seed: number): string[] => {
      const lines: string[] = [];
      runLoggingSeed({ seed, listener: (line) => lines.push(line) });
      return lines;
    };
    deepEqual(traced(7), traced(7));
  });
});
