/**
 * A process that has stopped comes to rest, so that it can be captured together with all others: nothing is under way any more
 * between any two of them (quiescence.ts), and what it has on boards is taken back. Step by step: who has processes lets
 * messages, and nothing else of theirs, progress between the steps.
 */
import type { Process } from "./process.ts";
import { Quiescence } from "./quiescence.ts";

/** "over": everybody has come to the end of the program meanwhile; there is nothing to capture. */
export type Rest = "moving" | "quiet" | "over";

export class Settling {
  readonly #process: Process;
  readonly #quiescence: Quiescence;
  /** Only where everybody takes part can the last barrier of the job end meanwhile. */
  readonly #isForAll: boolean;
  #isQuiet = false;

  /** `members`: who is captured together; everybody unless given. `attempt`: see quiescence.ts. */
  constructor(process: Process, members: readonly number[] = process.world.group.worldRanks(), attempt = 0) {
    this.#process = process;
    this.#quiescence = new Quiescence(process, members, attempt);
    this.#isForAll = members.length === process.ranks;
  }

  /** Somebody does not come: everybody goes on. False: everybody has come, and what is left to do is this process's own. */
  giveUp(): boolean {
    if (this.#isQuiet) return false;
    this.#quiescence.giveUp();
    return true;
  }

  advance(): Rest {
    const { engine, collectives, finalBarrier } = this.#process;
    if (!this.#isQuiet) {
      if (this.#isForAll && finalBarrier >= 0) {
        // The last barrier is ours, not the program's: it goes on, and its signals are answered by signals.
        if (collectives.progress()) this.#quiescence.noticed();
        if (engine.isComplete(finalBarrier)) return "over";
      }
      if (!this.#quiescence.advance()) return "moving";
      this.#isQuiet = true;
    }
    return collectives.withdraw() ? "quiet" : "moving";
  }
}
