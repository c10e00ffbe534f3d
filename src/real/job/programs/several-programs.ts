/**
 * Several programs in TypeScript as one: each rank imports the program that is its own. They are bundled together; a rank runs nothing of
 * the others.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

interface ProgramOfRanks {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** How many ranks run it. */
  readonly ranks: number;
}

/** Writes a program that runs them, by rank, and gives its path. */
export function joinPrograms(folder: string, programs: readonly ProgramOfRanks[]): string {
  let end = 0;
  const choices = programs.map(({ program, args, ranks }) => {
    end += ranks;
    const argv = JSON.stringify([program, ...args]);
    return `if (rank < ${end}) {\n  process.argv.splice(1, Infinity, ...${argv});\n  await import(${JSON.stringify(program)});\n}`;
  });
  const path = join(folder, "programs.mjs");
  writeFileSync(path, `const { rank } = globalThis[Symbol.for("banyan.mpi")].world;\n${choices.join(" else ")}\n`);
  return path;
}
