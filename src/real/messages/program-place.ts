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

export interface ProgramPlace {
  /** The user's file, as the program shall see it in `process.argv[1]`. */
  readonly path: string;
  /** The bundle, in one of the two forms; it is there when `run` comes. */
  readonly bundle: Readonly<Record<ProgramForm, string>>;
  readonly args: readonly string[];
  /** C and C++ have threads of their own kind (`c-rank.ts`), and a memory for each rank. */
  readonly language: "typescript" | "c";
}
