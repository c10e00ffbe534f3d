/** What kind of world: nodes, limits, costs, each from the seed; small limits make rare ways common. */
import { costModelDefault } from "./cost-model.ts";
import type { Random } from "./random.ts";
import type { WorldOptions } from "./world.ts";

export function randomWorld(random: Random, ranks: number): WorldOptions {
  return {
    ranks,
    nodes: random.between(1, ranks),
    seed: random.bits(),
    sharesInside: random.chance(0.5),
    unexpectedBytesMax: random.pick([0, 500, 20_000, 16 << 20]),
    ...(random.chance(0.6)
      ? { boards: { count: random.pick([1, 2, 8]), bytesMax: random.pick([0, 40, 600, 4_096]) } }
      : {}),
    cost: {
      eagerBytesMax: random.pick([0, 64, 1_000, costModelDefault.eagerBytesMax]),
      channelBytesMax: random.pick([200, 2_000, costModelDefault.channelBytesMax]),
      pieceBytesMax: random.pick([100, 4_000, costModelDefault.pieceBytesMax]),
      helpBytesMin: random.pick([1, 10_000, costModelDefault.helpBytesMin]),
      fullChance: random.pick([0, 0, 0.05, 0.3]),
      jitterNs: random.pick([0, 1_000, 100_000]),
      detectionNs: random.pick([0, 5_000, 1_000_000]),
    },
  };
}
