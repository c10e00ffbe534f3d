/** A kind of world from the seed: nodes, limits, costs. Small limits make rare ways of messages common. */
import { type CostModel, costModelDefault } from "./cost-model.ts";
import type { Random } from "./random.ts";
import { mixed } from "./script/mixed-number.ts";
import type { WorldOptions } from "./world.ts";

export function randomWorld(random: Random, ranks: number): WorldOptions {
  const drawn = {
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
  return { ...drawn, eagerLimit: eagerLimit(drawn.seed, drawn.cost) };
}

/**
 * In two worlds of five the eager limit differs from peer to peer and from life to life, as in jobs whose next lives are reached over
 * other transports: a message that was eager once may be announced when it is sent again. The limits follow from the seed
 * without a draw, so that they move nothing else.
 */
function eagerLimit(seed: number, { eagerBytesMax }: Pick<CostModel, "eagerBytesMax">): WorldOptions["eagerLimit"] {
  if (mixed(seed) % 5 > 1) return undefined;
  const limits = [0, eagerBytesMax >> 3, eagerBytesMax];
  return ({ rank, incarnation }, to) => limits[mixed(seed, rank, incarnation, to) % limits.length]!;
}
