/**
 * The sleep of a thread in which several processes take turns: all of them sleep on the bell of the first. As in waiting.ts it takes two
 * calls: `announce`, then everything is looked at once more, then `sleep`.
 */
import { Bell, Line, lineOf } from "../transport/layout.ts";
import type { NodeMemory } from "../transport/node-memory.ts";

/** The bell of a process, in its node's memory. */
export interface ProcessBell {
  readonly words: Int32Array;
  readonly address: number;
  set(value: number): void;
}

export function processBellOf({ words, layout, process, calls }: NodeMemory): ProcessBell {
  const address = lineOf(layout, process) + Line.BELL;
  return { words, address, set: (value) => calls.store(address, value) };
}

export class JointSleep {
  readonly watchesSockets = false;
  readonly #bells: readonly ProcessBell[];
  #isAnnounced = false;

  constructor(bells: readonly ProcessBell[]) {
    this.#bells = bells;
  }

  get isAnnounced(): boolean {
    return this.#isAnnounced;
  }

  announce(): void {
    this.#isAnnounced = true;
    const { address } = this.#bells[0]!;
    this.#bells.forEach((bell, i) => {
      bell.set(i === 0 ? Bell.PARKED : address);
    });
  }

  /** Until a bell rings, so long at most. No descriptor ends it. */
  sleep(ms: number, _alsoFds: readonly number[] = []): void {
    const { words, address } = this.#bells[0]!;
    Atomics.wait(words, address >> 2, Bell.PARKED, ms);
    this.awake();
  }

  awake(): void {
    if (!this.#isAnnounced) return;
    this.#isAnnounced = false;
    for (const bell of this.#bells) bell.set(Bell.AWAKE);
  }

  /** A process has ended. Its bell may still be the one that they sleep on: it stays. */
  leave(): void {}
}
