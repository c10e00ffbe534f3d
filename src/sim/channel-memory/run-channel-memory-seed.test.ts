import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { type ChannelMemoryOutcome, runChannelMemorySeed } from "./run-channel-memory-seed.ts";

/** As they were found; later changes of the generator make other programs of them. */
const seedsThatFound: readonly (readonly [number, string])[] = [
  [116, "a message without its bytes was announced again to a life, twice because its home memory was lost meanwhile"],
];

describe("random programs and random deaths under channel memories", () => {
  it("V2 V3 V5 V6 V7: every invariant holds under every one of these seeds, and nobody sees that anybody died", () => {
    const drawn = Array.from({ length: tries(3, 1000) }, (_, i) => i + 1);
    const seeds = new Set(drawn);
    const outcomes: ChannelMemoryOutcome[] = [];
    for (const seed of seeds) {
      const outcome = runChannelMemorySeed({ seed, events: seed % 5 === 0 ? undefined : 12 });
      outcomes.push(outcome);
      equal(outcome.violations.length, 0, `seed ${seed}: ${JSON.stringify(outcome.violations, null, 2)}`);
    }
    const sum = (of: (outcome: ChannelMemoryOutcome) => number): number =>
      outcomes.reduce((total, one) => total + of(one), 0);
    ok(sum(({ restarts }) => restarts) > seeds.size);
    for (const mark of Object.keys(outcomes[0]!.rare) as (keyof ChannelMemoryOutcome["rare"])[]) {
      console.log(
        mark,
        sum(({ rare }) => rare[mark]),
      );
    }
  });

  it("seeds that found something, and what it was", () => {
    for (const [seed, what] of seedsThatFound) {
      const { violations } = runChannelMemorySeed({ seed, events: 12 });
      equal(violations.length, 0, `${what}: seed ${seed}: ${JSON.stringify(violations, null, 2)}`);
    }
  });
});
