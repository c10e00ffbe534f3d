/** What everybody is told: each process hears it after a delay of its own, and everybody hears everything in one order (rule 7). */
import type { Random } from "../random.ts";
import type { SimProcess } from "../sim-process.ts";
import type { World } from "../world.ts";

export class Notices {
  readonly #world: World;
  readonly #random: Random;
  readonly #delayNsMax: number;
  /** When each rank hears what it was told last. */
  readonly #lastNs: Float64Array;
  /** How often all that was on its way was lost. */
  #losses = 0;

  constructor(world: World, random: Random, delayNsMax: number) {
    this.#world = world;
    this.#random = random;
    this.#delayNsMax = delayNsMax;
    this.#lastNs = new Float64Array(world.processes.length);
  }

  /** All that nobody has heard yet is lost. */
  lose(): void {
    this.#losses++;
  }

  /** Those who live now, and are meant. */
  tell(isMeant: (rank: number) => boolean, notice: (process: SimProcess) => void): void {
    const world = this.#world;
    const losses = this.#losses;
    for (const process of world.processes) {
      const { rank } = process;
      if (process.state === "dead" || !isMeant(rank)) continue;
      const timeNs = Math.max(this.#lastNs[rank]!, world.nowNs + this.#random.below(this.#delayNsMax));
      this.#lastNs[rank] = timeNs;
      world.plan(timeNs, () => {
        if (process.state === "dead" || losses !== this.#losses) return;
        notice(process);
        world.wake(rank);
      });
    }
  }
}
