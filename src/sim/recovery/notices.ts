/** Notices of the dispatcher to all processes: each hears them after delays of its own, and all hear them in one order (rule 7). */
import type { Random } from "../random.ts";
import type { SimProcess } from "../sim-process.ts";
import type { World } from "../world.ts";
import type { Order } from "./dispatcher-crashes.ts";

export class Notices {
  readonly #world: World;
  readonly #random: Random;
  readonly #delayNsMax: number;
  /** When each rank hears what it was told last. */
  readonly #lastNs: Float64Array;

  constructor(world: World, random: Random, delayNsMax: number) {
    this.#world = world;
    this.#random = random;
    this.#delayNsMax = delayNsMax;
    this.#lastNs = new Float64Array(world.processes.length);
  }

  /** The dispatcher has crashed: notices of its successor travel on links of their own, and may overtake those on their way. */
  dispatcherCrashed(): void {
    this.#lastNs.fill(0);
  }

  /** For the processes that are meant, of those alive now. */
  tell(order: Order, isMeant: (rank: number) => boolean, notice: (process: SimProcess) => void): void {
    const world = this.#world;
    for (const process of world.processes) {
      const { rank } = process;
      if (process.state === "dead" || !isMeant(rank)) continue;
      const timeNs = Math.max(this.#lastNs[rank]!, world.nowNs + this.#random.below(this.#delayNsMax));
      this.#lastNs[rank] = timeNs;
      world.plan(timeNs, () => {
        if (process.state === "dead" || order.isLost() || !order.isTakenBy(process.node)) return;
        notice(process);
        world.wake(rank);
      });
    }
  }
}
