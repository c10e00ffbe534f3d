/** Folders that a program in C is given. The current one is known as such; all of them by their whole names. */
import { relative, resolve, sep } from "node:path";
import type { Folder } from "../node/messages.ts";

export function foldersGiven(folders: readonly string[]): Folder[] {
  return folders.flatMap((folder) => {
    const path = resolve(folder);
    const whole = { name: path, path };
    return path === resolve(".") ? [{ name: ".", path }, whole] : [whole];
  });
}

/** The same for a program whose current folder shall be another one, which must lie in them. A text: it does not. */
export function foldersFrom(current: string, given: readonly Folder[]): readonly Folder[] | string {
  if (current === "") return given;
  const path = resolve(current);
  if (given.some((folder) => isInside(path, folder.path))) {
    return [{ name: ".", path }, ...given.filter(({ name }) => name !== ".")];
  }
  return `${current} is in none of the folders that the program is given; give it with --dir`;
}

function isInside(path: string, folder: string): boolean {
  const [first] = relative(folder, path).split(sep);
  return first !== "..";
}
