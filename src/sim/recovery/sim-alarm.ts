/** Calls a core at the time at which it wants to be called, as hosts of real jobs do with one timer. */
import type { World } from "../world.ts";

const nsPerMs = 1e6;

interface Timed {
  /** Infinity: there is no need to call it. */
  nextTimeMs(): number;
  time(nowMs: number): void;
}

export class SimAlarm {
  readonly #world: World;
  readonly #timed: Timed;
  #plannedNs = Number.POSITIVE_INFINITY;

  constructor(world: World, timed: Timed) {
    this.#world = world;
    this.#timed = timed;
  }

  /** The core may want another time than before. One that is too early does no harm. */
  set(): void {
    const world = this.#world;
    const timeMs = this.#timed.nextTimeMs();
    const timeNs = Math.max(world.nowNs, Math.ceil(timeMs * nsPerMs));
    if (timeNs >= this.#plannedNs || !Number.isFinite(timeNs)) return;
    this.#plannedNs = timeNs;
    world.plan(timeNs, () => {
      if (this.#plannedNs !== timeNs) return;
      this.#plannedNs = Number.POSITIVE_INFINITY;
      // As a fraction it may be a little less.
      this.#timed.time(Math.max(world.nowNs / nsPerMs, timeMs));
      this.set();
    });
  }
}
