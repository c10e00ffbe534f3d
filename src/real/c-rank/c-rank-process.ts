/** A rank whose program is written in C: its process, and the imports of the program. */

import { Program } from "../../abi/program.ts";
import { CoroutineHost } from "../../abi/waiting/coroutine-host.ts";
import { callTellerOf } from "../../abi/waiting/waiting-call.ts";
import type { Process } from "../../core/process/process.ts";
import type { ProgramLayer } from "../part-hosts/rank-part.ts";
import { type OpenProcess, openProcess, type RankOptions } from "../process/open-process.ts";
import { ProgramMemory } from "../transport/program-memory.ts";

export interface CRankProcess extends OpenProcess {
  readonly process: Process;
  readonly program: Program;
  readonly memory: ProgramMemory;
  /** Of a rank that shares its thread; null: it is alone. */
  readonly coroutine: CoroutineHost | null;
}

interface CRankProcessOptions {
  /** Stands between the program and its process; null: nothing does. */
  readonly layer: ProgramLayer | null;
  /** Of every process of the node that it has heard of, by their places. */
  readonly memoryOf: (place: number) => WebAssembly.Memory;
  /** The rank shares its thread: see `CoroutineHost.mustGiveWay`. Null: it is alone, and its waits stop the thread. */
  readonly mustGiveWay: ((isOver: () => boolean) => boolean) | null;
}

export function createCRank(options: RankOptions, { layer, memoryOf, mustGiveWay }: CRankProcessOptions): CRankProcess {
  let memory: ProgramMemory | undefined;
  const open = openProcess(options, (node) => {
    memory = new ProgramMemory(node, memoryOf);
    return memory;
  });
  const { host } = open;
  const { process, processorName } = host;
  const { stop } = host;
  const coroutine =
    mustGiveWay === null
      ? null
      : new CoroutineHost({
          process,
          survivesDeaths: options.survivesDeaths,
          processorName,
          stop,
          spawner: options.spawner,
          whereabouts: host.whereabouts,
          mustGiveWay,
          giveWay: () => {
            program.suspension.givesWay = true;
          },
          abort: options.abort,
          now: () => host.now(),
          moveClockTo: (seconds) => host.moveClockTo(seconds),
        });
  const program = new Program(coroutine ?? host, layer?.(coroutine ?? host));
  host.whereabouts.teller = callTellerOf(program);
  return { ...open, process, program, memory: memory!, coroutine };
}
