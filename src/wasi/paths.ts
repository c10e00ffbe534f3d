/** From names that a program uses to the system's paths, without links. What leads out of the folders given is refused. */
import { Errno, WasiError } from "./errno.ts";
import type { Files } from "./ports.ts";

/** `name` is relative to the folder. With `follow` it is what a link leads to. */
export function pathBelow(files: Files, folder: string, name: string, follow: boolean): string {
  if (name.startsWith("/")) throw new WasiError(Errno.NOTCAPABLE);
  return files.resolve(`${folder === "/" ? "" : folder}/${name}`, follow);
}

/** A folder as the program knows it, and where it is. */
export interface GivenFolder {
  readonly name: string;
  readonly path: string;
}

/** A name as C's functions take it, relative to the current folder or whole: found in the folder that has most of it. */
export function pathOfName(files: Files, folders: readonly GivenFolder[], name: string): string {
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
