/**
 * Nodes that were silent for too long, where such nodes are kept: one lives on while another has its number. Nobody hears what it says,
 * its ranks run, and stand beside the next lives until the job is over.
 */
import type { Random } from "../random.ts";
import type { World } from "../world.ts";

interface SuspectsOptions {
  readonly world: World;
  readonly random: Random;
  /** Suspects that stand still go on after this time at the latest. */
  readonly suspectsWakeNsMax: number | null;
}

export class Suspects {
  /** Nodes that were taken for dead and left alive; and of those, nodes that went on before the job was over. */
  readonly counts = { all: 0, awake: 0 };
  readonly #options: SuspectsOptions;
  readonly #isOver: () => boolean;

  constructor(options: SuspectsOptions, isOver: () => boolean) {
    this.#options = options;
    this.#isOver = isOver;
  }

  /** The node counts as dead and lives. One that stands still goes on soon: then its successors live, or are about to. */
  add(node: number): void {
    const { world, random, suspectsWakeNsMax } = this.#options;
    this.counts.all++;
    const suspect = world.disown(node);
    world.plan(world.nowNs + random.below((suspectsWakeNsMax ?? 0) + 1), () => {
      if (!this.#isOver()) this.counts.awake++;
      world.continueNode(suspect);
    });
  }
}
