/** Nodes that stand still for a while: one world is behind another. */
import { Random } from "../random.ts";
import { mixed } from "../script/mixed-number.ts";
import type { World } from "../world.ts";

const stopsSalt = 77;

/** Of the seed itself: so the programs and deaths of a seed are those that it always had. */
export function planStops(world: World, seed: number): void {
  const random = new Random(mixed(seed, stopsSalt));
  if (random.chance(0.4)) return;
  const spanNs = random.pick([50_000, 200_000, 2_000_000]);
  for (let left = random.between(1, 6); left > 0; left--) {
    const node = random.below(world.nodes);
    const fromNs = random.below(spanNs);
    world.plan(fromNs, () => world.stopNode(node));
    world.plan(fromNs + random.pick([20_000, 200_000]), () => world.continueNode(node));
  }
}
