/** A rank whose program is written in C: its process, and the imports of the program. */

import { Program } from "../../abi/program.ts";
import { CoroutineHost } from "../../abi/waiting/coroutine-host.ts";
import type { StopWord } from "../../abi/waiting/suspension.ts";
import type { Process } from "../../core/process/process.ts";
import { type OpenProcess, openProcess, type RankOptions } from "../process/open-process.ts";
import { ProgramMemory } from "../transport/program-memory.ts";

export interface CRankProcess extends OpenProcess {
  readonly process: Process;
  readonly program: Program;
  readonly memory: ProgramMemory;
  /** Makes the program stop inside its next MPI call. */
  readonly stop: StopWord;
}

interface CRankProcessOptions {
  /** Of every process of the node that it has heard of, by their places. */
  readonly memoryOf: (place: number) => WebAssembly.Memory;
  /** Its waits stop the program instead of the thread. */
  readonly takesTurns: boolean;
}

export function createCRank(options: RankOptions, { memoryOf, takesTurns }: CRankProcessOptions): CRankProcess {
  let memory: ProgramMemory | undefined;
  const open = openProcess(options, (node) => {
    memory = new ProgramMemory(node, memoryOf);
    return memory;
  });
  const { host } = open;
  const { process, processorName } = host;
  // A rank that takes turns is stopped by c-rank-turns.ts, which hears the node's wishes.
  const stop = takesTurns ? { words: new Int32Array(1), at: 0 } : host.stop;
  const ownHost = takesTurns
    ? new CoroutineHost({
        process,
        processorName,
        stop,
        abort: options.abort,
        now: () => host.now(),
        moveClockTo: (seconds) => host.moveClockTo(seconds),
        spawnsNobody: "ranks that share a thread cannot wait for new ones; run without --ranks-per-thread",
      })
    : host;
  return { ...open, process, program: new Program(ownHost), memory: memory!, stop };
}
