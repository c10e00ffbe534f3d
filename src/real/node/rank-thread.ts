/** One rank of the node, seen from the node's main thread: its worker, and how it ended. */
import { Worker } from "node:worker_threads";
import type { Ending } from "../../core/service/ending.ts";
import { endingOfError } from "./error-report.ts";
import { createLineRing, LineReader } from "./line-ring.ts";
import type { FromRank, Input, RankEnding, RankSetup } from "./messages.ts";
import { rankLoader } from "./rank-code.ts";

export interface RankThreadEvents {
  said(message: Exclude<FromRank, RankEnding>): void;
  ended(ending: Ending): void;
}

export interface RankThreadOptions {
  readonly setup: Omit<RankSetup, "lines">;
  readonly heapMb: number;
  /** 0 leaves it to Node. */
  readonly stackMb: number;
}

export class RankThread {
  readonly rank: number;
  readonly incarnation: number;
  readonly lines: LineReader;
  readonly #worker: Worker;
  #ending: Ending | undefined;

  constructor({ setup, heapMb, stackMb }: RankThreadOptions, events: RankThreadEvents) {
    this.rank = setup.rank;
    this.incarnation = setup.incarnation;
    const lines = createLineRing();
    this.lines = new LineReader(lines);
    const workerData: RankSetup = { ...setup, lines };
    this.#worker = new Worker(rankLoader, {
      eval: true,
      workerData,
      // What the rank prints has its own way; these would lose it while the thread blocks.
      stdout: true,
      stderr: true,
      resourceLimits: {
        ...(heapMb > 0 ? { maxOldGenerationSizeMb: heapMb } : {}),
        ...(stackMb > 0 ? { stackSizeMb: stackMb } : {}),
      },
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

  post(message: Input): void {
    this.#worker.postMessage(message);
  }

  terminate(): Promise<unknown> {
    return this.#worker.terminate();
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
