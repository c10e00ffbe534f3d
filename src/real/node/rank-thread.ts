/** One rank of the node whose program is in TypeScript, seen from the node's main thread: its worker, and how it ended. */

import { Worker } from "node:worker_threads";
import type { Ending } from "../../core/service/ending.ts";
import { threadOptions } from "../machine/thread-options.ts";
import { newUndisturbed } from "../machine/undisturbed.ts";
import type { FromRank, RankEnding, RankSetup, ThreadSetup, ToRank } from "../messages/rank-messages.ts";
import { createLineRing, LineReader } from "../output/line-ring.ts";
import { endingOfError } from "../rank/error-report.ts";
import { rankLoader } from "./rank-code.ts";
import { terminateThread } from "./terminate-thread.ts";

export interface RankThreadEvents {
  said(message: Exclude<FromRank, RankEnding>): void;
  ended(ending: Ending): void;
}

/** The node's end of a rank's thread. */
export interface RankInThread {
  readonly rank: number;
  /** The ring of its printed lines. */
  readonly lines: LineReader;
  post(message: ToRank): void;
  /** The ranks that its thread began with. */
  readonly together: readonly number[];
  /** Ends its thread, with all ranks in it. */
  terminate(): Promise<unknown>;
}

interface RankThreadOptions {
  readonly setup: Omit<RankSetup, "lines">;
  readonly heapMb: number;
}

export class RankThread implements RankInThread {
  readonly rank: number;
  readonly together: readonly number[];
  readonly lines: LineReader;
  readonly #worker: Worker;
  readonly #undisturbed = newUndisturbed();
  #ending: Ending | undefined;

  constructor({ setup, heapMb }: RankThreadOptions, events: RankThreadEvents) {
    this.rank = setup.rank;
    this.together = [setup.rank];
    const lines = createLineRing();
    this.lines = new LineReader(lines);
    const workerData: ThreadSetup = { ...setup, lines, undisturbed: this.#undisturbed };
    this.#worker = new Worker(rankLoader, {
      execArgv: threadOptions,
      eval: true,
      workerData,
      // Printed lines have a ring of their own; these streams would lose them while the thread blocks.
      stdout: true,
      stderr: true,
      ...(heapMb > 0 ? { resourceLimits: { maxOldGenerationSizeMb: heapMb } } : {}),
    });
    // Asked now: of a thread that has ended Node no longer knows them.
    const heapMbMax = Math.round(this.#worker.resourceLimits?.maxOldGenerationSizeMb ?? heapMb);
    this.#worker.on("message", (message: FromRank) => {
      // An error says more than the exit code it leads to, and may come before or after it.
      if (message.kind === "ending") this.#ending ??= message.ending;
      else events.said(message);
    });
    this.#worker.on("error", (error: unknown) => {
      this.#ending = isOutOfMemory(error) ? { kind: "out-of-memory", heapMb: heapMbMax } : endingOfError(error);
    });
    this.#worker.on("exit", (code) => events.ended(this.#ending ?? { kind: "vanished", code }));
  }

  post(message: ToRank): void {
    this.#worker.postMessage(message);
  }

  terminate(): Promise<unknown> {
    return terminateThread(this.#worker, this.#undisturbed);
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
