/** Folders that a program in C is given. The current one is known as such; all of them by their whole names. */
import { resolve } from "node:path";
import type { Folder } from "../node/messages.ts";

export function foldersGiven(folders: readonly string[]): Folder[] {
  return folders.flatMap((folder) => {
    const path = resolve(folder);
    const whole = { name: path, path };
    return path === resolve(".") ? [{ name: ".", path }, whole] : [whole];
  });
}
