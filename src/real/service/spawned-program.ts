/** Where the program is that a command of MPI_Comm_spawn names. */
import { existsSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { checkProgram } from "./check-options.ts";
import { languageOf, sourceExtensions } from "./program-compile.ts";

export type Found =
  | { readonly kind: "found"; readonly program: string }
  | { readonly kind: "missing"; readonly why: string };

export interface Surroundings {
  /** The job's own program: others may lie beside it. */
  readonly program: string;
  /** Folders that the program itself names, with colons between them. */
  readonly path: string;
}

/** What may stand behind a name without an extension. */
const endings = ["", ".wasm", ...sourceExtensions];

/** Relative names are meant from the current folder, then from the folders given, then from the job's own program. */
export function findProgram(command: string, { program, path }: Surroundings): Found {
  if (command === program) return { kind: "found", program };
  const folders = [".", ...path.split(":").filter((folder) => folder !== ""), dirname(program)];
  const files = folders.flatMap((folder) => endings.map((ending) => resolve(folder, command + ending)));
  const there = files.filter((file) => existsSync(file));
  const usable = there.find((file) => obstacleOf(file) === undefined);
  if (usable !== undefined) return { kind: "found", program: usable };
  const obstacle = there.length > 0 ? obstacleOf(there[0]!) : undefined;
  const wanted = extname(command) === "" ? `${command}, ${command}.wasm or ${command}.c` : command;
  return { kind: "missing", why: obstacle ?? `there is no ${wanted} here or beside the program` };
}

function obstacleOf(file: string): string | undefined {
  if (languageOf(file) === "typescript") return `${file} is not a program in C or C++`;
  return checkProgram(file);
}
