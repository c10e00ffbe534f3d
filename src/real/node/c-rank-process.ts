/** A rank whose program is written in C: its process, and the imports of the program. */
import { Program } from "../../abi/program.ts";
import type { Process } from "../../core/process/process.ts";
import { type OpenProcess, openProcess, type RankOptions } from "../process/open-process.ts";
import { ProgramMemory } from "../transport/program-memory.ts";

export interface CRankProcess extends OpenProcess {
  readonly process: Process;
  readonly program: Program;
  readonly memory: ProgramMemory;
}

/** `memories`: of every process of the node, in their order. */
export function createCRank(options: RankOptions, memories: readonly WebAssembly.Memory[]): CRankProcess {
  let memory: ProgramMemory | undefined;
  const open = openProcess(options, (node) => {
    memory = new ProgramMemory(node, memories);
    return memory;
  });
  return { ...open, process: open.host.process, program: new Program(open.host), memory: memory! };
}
