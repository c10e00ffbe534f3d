/**
 * Where the program is that a command of MPI_Comm_spawn names. A program that is given folders cannot have others read for it either:
 * what it spawns, and all that this includes, lies in them or beside the job's own program.
 */
import { closeSync, constants, fstatSync, statSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { describeSystemError } from "../../../core/base/system-error.ts";
import { isFileError } from "../../disk/file-error.ts";
import { GivenFolders } from "../../disk/given-folders.ts";
import type { Folder } from "../../messages/program-place.ts";
import { beginsAsModule, languageOf, sourceExtensions, typescriptExtensions } from "./program-compile.ts";

export type Found =
  | {
      readonly kind: "found";
      /** Without links. */
      readonly program: string;
      /** It is read from there, with all that it includes. */
      readonly folders: readonly Folder[];
    }
  | { readonly kind: "missing"; readonly why: string };

export interface Surroundings {
  /** The job's own program: others may lie beside it. */
  readonly program: string;
  /** Folders that the program itself names, with colons between them. */
  readonly path: string;
  /** Folders that the job's programs are given. */
  readonly given: readonly Folder[];
  /** The folder of the job's own program, if it is there. */
  readonly beside: readonly Folder[];
}

/** Extensions that are tried behind a name without one. */
const endings = ["", ".wasm", ...sourceExtensions];

/**
 * The same for a program in TypeScript, which may read whatever its user may. Relative names are meant from the current folder, then from
 * the job's own program.
 */
export function findScript(command: string, program: string): Found {
  if (command === program) return { kind: "found", program, folders: [] };
  const names = ["", ...typescriptExtensions].map((ending) => command + ending);
  const files = [".", dirname(program)].flatMap((place) => names.map((name) => resolve(place, name)));
  const file = files.find((each) => statSync(each, { throwIfNoEntry: false })?.isFile() === true);
  if (file === undefined) return { kind: "missing", why: `there is no ${command} here or beside the program` };
  if (languageOf(file) === "typescript") return { kind: "found", program: file, folders: [] };
  return {
    kind: "missing",
    why: `${file} is not a program in TypeScript or JavaScript; all processes of a job are of one language`,
  };
}

/** The result of the search for a program's file. */
type Look = Found | { readonly kind: "outside" } | { readonly kind: "absent" };

/** Relative names are meant from the current folder, then from the folders given, then from the job's own program. */
export function findProgram(command: string, { program, path, given, beside }: Surroundings): Found {
  if (command === program) return { kind: "found", program, folders: given };
  const places = [".", ...path.split(":").filter((folder) => folder !== ""), dirname(program)];
  const files = places.flatMap((place) => endings.map((ending) => resolve(place, command + ending)));
  const looks = files.map((file): Look => {
    const look = lookFor(file, given);
    return look.kind === "outside" ? lookFor(file, [...beside, ...given]) : look;
  });
  const usable = looks.find((look) => look.kind === "found") ?? looks.find((look) => look.kind === "missing");
  if (usable !== undefined) return usable;
  if (looks.every((look) => look.kind === "outside")) {
    return {
      kind: "missing",
      why: `${command} is in none of the folders that the program is given; give it with --dir`,
    };
  }
  const wanted = extname(command) === "" ? `${command}, ${command}.wasm or ${command}.c` : command;
  return { kind: "missing", why: `there is no ${wanted} here or beside the program` };
}

function lookFor(file: string, folders: readonly Folder[]): Look {
  const disk = new GivenFolders(folders);
  try {
    const program = disk.resolve(file, true);
    const descriptor = disk.open(program, constants.O_RDONLY);
    try {
      const obstacle = obstacleOf(program, descriptor);
      return obstacle === undefined ? { kind: "found", program, folders } : { kind: "missing", why: obstacle };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (isFileError(error, "ENOTCAPABLE")) return { kind: "outside" };
    if (isFileError(error, "ENOENT", "ENOTDIR")) return { kind: "absent" };
    return { kind: "missing", why: `Cannot run ${file}: ${describeSystemError(error)}` };
  } finally {
    disk.close();
  }
}

function obstacleOf(file: string, descriptor: number): string | undefined {
  if (languageOf(file) === "typescript")
    return `${file} is not a program in C or C++; all processes of a job are of one language`;
  if (!fstatSync(descriptor).isFile()) return `Cannot run ${file}: it is not a file`;
  if (sourceExtensions.includes(extname(file)) || beginsAsModule(descriptor)) return undefined;
  return `Cannot run ${file}: programs end in ${sourceExtensions.join(", ")}, or are WebAssembly modules`;
}
