/** The program of a rank: its files, and the folders that it is given. */

export interface Folder {
  readonly name: string;
  readonly path: string;
}

/**
 * How the program was bundled. A script (CommonJS) spares every rank the loader for modules, some 4 ms; a module is needed
 * for `await` outside functions and for packages.
 */
export type ProgramForm = "script" | "module" | "wasm";

/** Of a job of several programs: one that is not the first, and the first of its ranks, which are those up to the next one's. */
export interface OtherProgram {
  readonly firstRank: number;
  readonly program: ProgramPlace;
}

export interface ProgramPlace {
  /** The user's file, as the program shall see it in `process.argv[1]`. */
  readonly path: string;
  /** The bundle, in one of the two forms; it is there when `run` comes. */
  readonly bundle: Readonly<Record<ProgramForm, string>>;
  readonly args: readonly string[];
  /** C and C++ have threads of their own kind (`c-rank.ts`), and a memory for each rank. */
  readonly language: "typescript" | "c";
}

/** The program of one of the job's own ranks. */
export function programOf(
  { program, others }: { readonly program: ProgramPlace; readonly others: readonly OtherProgram[] },
  rank: number,
): ProgramPlace {
  return others.findLast(({ firstRank }) => rank >= firstRank)?.program ?? program;
}
