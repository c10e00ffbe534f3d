import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { long, tries } from "../../../test/long.ts";
import { parsePlan } from "../../core/fault/parse.ts";
import { recoveringSeeds } from "../protocol-worlds/recovering-seeds.ts";
import { type ChannelMemoryOutcome, runChannelMemorySeed } from "./run-channel-memory-seed.ts";

/** As they were found; later changes of the generator make other programs of them. */
const seedsThatFound: readonly (readonly [number, number | undefined, string])[] = [
  [70_047, 12, "a connection broke that had been asked for an acknowledgement, and nobody asked on the next one"],
  [70_047, undefined, "a memory was not told on a new connection what had come over the one before"],
  [65, undefined, "words that were appended after a rank's last look did not leave"],
  [
    310,
    12,
    "a rank stood still for a checkpoint in the middle of a large message, and nobody moved its channel afterwards",
  ],
];

/** Worlds that together come by everything that is counted below. */
const seedsWithEverything = [4, 9, 13, 19, 24, 32, 49];

describe("random programs and random deaths under channel memories", () => {
  it("V2 V3 V5 V6 V7: every invariant holds under every one of these seeds, and nobody sees that anybody died", () => {
    const drawn = Array.from({ length: tries(0, 100) }, (_, i) => i + 1);
    const seeds = new Set([...seedsWithEverything, ...drawn]);
    const outcomes: ChannelMemoryOutcome[] = [];
    for (const seed of seeds) {
      const outcome = runChannelMemorySeed({ seed, events: seed % 5 === 0 ? undefined : 12 });
      outcomes.push(outcome);
      equal(outcome.violations.length, 0, `seed ${seed}: ${JSON.stringify(outcome.violations, null, 2)}`);
    }
    const sum = (of: (outcome: ChannelMemoryOutcome) => number): number =>
      outcomes.reduce((total, one) => total + of(one), 0);
    ok(sum(({ restarts }) => restarts) > seeds.size);
    const marks = {
      "a memory crashed": sum(({ rare }) => rare.memoryCrashed),
      "a memory crashed in the middle of a write": sum(({ rare }) => rare.writeTorn),
      "a memory read again what it had no room for": sum(({ rare }) => rare.readAgain),
      "a life was told a message or an event that was not in memory": sum(({ rare }) => rare.foundAgain),
      "a rank fell in its replay": sum(({ rare }) => rare.fellInReplay),
      "a rank began again with an image": sum(({ checkpoints }) => checkpoints.restored),
      "a node was taken for dead and lived (V8)": sum(({ suspects }) => suspects.all),
      "every process of the job was killed at once": sum(({ switchedOff }) => switchedOff),
    };
    for (const [mark, times] of Object.entries(marks)) ok(times > 0, `never: ${mark}`);
  });

  it("V7: a power cut loses nothing that was relied upon, and would if memories did not sync", () => {
    const violations = (powerCuts: "synced" | "unsynced"): number =>
      [32, 49].reduce((sum, seed) => sum + runChannelMemorySeed({ seed, events: 12, powerCuts }).violations.length, 0);
    equal(violations("synced"), 0);
    ok(violations("unsynced") > 0);
  });

  it("seeds that found something, and what it was", long, () => {
    for (const [seed, events, what] of seedsThatFound) {
      const { violations } = runChannelMemorySeed({ seed, events });
      equal(violations.length, 0, `${what}: seed ${seed}: ${JSON.stringify(violations, null, 2)}`);
    }
  });
});

describe("worlds of a seed under channel memories, as `banyan sim` makes them", () => {
  it("V7: follow a plan of faults", () => {
    const plan = parsePlan(
      "kill node 0 at call 3 of rank 1; kill node 1 at call 3 of rank 1; kill service memory at call 4 of rank 0",
    );
    ok(typeof plan !== "string");
    const world = recoveringSeeds["channel-memory"]!({ seed: 2, ranks: 4, nodes: 2, events: 20, faults: plan });
    deepEqual(world.size, { ranks: 4, nodes: 2, sets: 4 });
    const { violations, deaths } = world.run();
    deepEqual(violations, []);
    // Two nodes and a memory.
    equal(deaths, 3);
  });
});
