/** A rank whose program is written in C: its process, and the imports of the program. */
import { Program } from "../../abi/program.ts";
import { openProcess, type RankOptions } from "../process/open-process.ts";
import { ProgramMemory } from "../transport/program-memory.ts";

export interface CRankProcess {
  readonly program: Program;
  readonly memory: ProgramMemory;
  /** The rank is ending in order: waits for everybody, and returns how many requests are unfinished. */
  leave(): number;
  /** What is open is closed, and nobody waited for. */
  close(): void;
}

/** `memories`: of every process of the node, in their order. */
export function createCRank(options: RankOptions, memories: readonly WebAssembly.Memory[]): CRankProcess {
  let memory: ProgramMemory | undefined;
  const { host, leave, close } = openProcess(options, (node) => {
    memory = new ProgramMemory(node, memories);
    return memory;
  });
  return { program: new Program(host), memory: memory!, leave, close };
}
