/** The same program under the layer in simulated worlds of many kinds: eager limits, narrow channels, delays, and on one node with boards. */
import { deepEqual } from "node:assert/strict";
import { tries } from "../../../../test/long.ts";
import { type LayeredOutcome, type LayeredProgram, runLayered } from "../../../sim/fault-layer/layered-world.ts";
import { Random } from "../../../sim/random.ts";
import { randomWorld } from "../../../sim/random-world.ts";
import { backgroundWays } from "../background-way.ts";

/** Where one broadcast overtook another, and where the root of a communicator that a call made for itself never looked while it was there. */
const seedsKept = [61, 45];

/** Everybody comes to the end in each of them, and leaves nothing behind. */
export function inManyWorlds(
  ranks: number,
  program: LayeredProgram,
  check: (outcome: LayeredOutcome) => void = () => {},
): void {
  const seeds = Array.from({ length: tries(3, 128) }, (_, i) => i + 1);
  for (const seed of new Set([...seeds, ...seedsKept])) {
    const random = new Random(seed);
    const options = randomWorld(random, ranks);
    const fanOut = random.pick([1, 2, 3, 8]);
    const together = seed % 3 !== 1 ? { nodes: 1, boards: { count: 4, bytesMax: random.pick([4, 600]) } } : {};
    const background = backgroundWays[seed % 2]!;
    const outcome = runLayered({ ...options, ...together, fanOut, background }, program);
    const { stuck, left } = outcome;
    deepEqual({ stuck, left }, { stuck: [], left: [] }, `seed ${seed}`);
    check(outcome);
  }
}
