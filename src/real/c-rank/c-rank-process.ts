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
  /** Of a rank that shares its thread; null: it is alone. */
  readonly coroutine: CoroutineHost | null;
}

interface CRankProcessOptions {
  /** Of every process of the node that it has heard of, by their places. */
  readonly memoryOf: (place: number) => WebAssembly.Memory;
  /** The rank shares its thread: see `CoroutineHost.mustGiveWay`. Null: it is alone, and its waits stop the thread. */
  readonly mustGiveWay: (() => boolean) | null;
}

export function createCRank(options: RankOptions, { memoryOf, mustGiveWay }: CRankProcessOptions): CRankProcess {
  let memory: ProgramMemory | undefined;
  const open = openProcess(options, (node) => {
    memory = new ProgramMemory(node, memoryOf);
    return memory;
  });
  const { host } = open;
  const { process, processorName } = host;
  // A rank that takes turns is stopped by c-rank-turns.ts, which hears the node's wishes.
  const stop = mustGiveWay === null ? host.stop : { words: new Int32Array(1), at: 0 };
  const coroutine =
    mustGiveWay === null
      ? null
      : new CoroutineHost({
          process,
          processorName,
          stop,
          spawner: options.spawner,
          mustGiveWay,
          abort: options.abort,
          now: () => host.now(),
          moveClockTo: (seconds) => host.moveClockTo(seconds),
        });
  return { ...open, process, program: new Program(coroutine ?? host), memory: memory!, stop, coroutine };
}
