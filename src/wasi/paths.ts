/**
 * From names that a program uses to the system's paths, without links. Names that lead out of the given folders are refused.
 */
import { hasOddBytes } from "../core/base/byte-text.ts";
import { Errno, WasiError } from "./errno.ts";
import type { Files } from "./ports.ts";

/** `name` is relative to the folder. With `follow` the result is the target of a link. */
export function pathBelow(files: Files, folder: string, name: string, follow: boolean): string {
  if (name.startsWith("/")) throw new WasiError(Errno.NOTCAPABLE);
  checkName(name);
  return files.resolve(`${folder === "/" ? "" : folder}/${name}`, follow);
}

/** Node's names are UTF-8: two others could mean the same file. */
export function checkName(name: string): void {
  if (hasOddBytes(name)) throw new WasiError(Errno.ILSEQ);
}

/** A folder under the program's name, and its path. */
export interface ProgramFolder {
  readonly name: string;
  readonly path: string;
}

/**
 * A name as C's functions take it, relative to the current folder or absolute: found in the folder with the longest common
 * part.
 */
export function pathOfName(files: Files, folders: readonly ProgramFolder[], name: string): string {
  const whole = name.startsWith("/");
  const fitting = folders.filter((folder) => {
    if (!whole) return folder.name === ".";
    return name === folder.name || name.startsWith(folder.name === "/" ? "/" : `${folder.name}/`);
  });
  const [nearest] = fitting.sort((a, b) => b.name.length - a.name.length);
  if (nearest === undefined) throw new WasiError(Errno.NOTCAPABLE);
  const rest = whole ? name.slice(nearest.name.length).replace(/^\/+/, "") : name;
  return pathBelow(files, nearest.path, rest, true);
}
