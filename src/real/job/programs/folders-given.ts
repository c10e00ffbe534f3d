/** Folders that a program in C is given. The current one is known as such; all of them by their whole names. */
import { realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describeSystemError } from "../../../core/base/system-error.ts";
import { isFileError } from "../../disk/file-error.ts";
import { GivenFolders } from "../../disk/given-folders.ts";
import { isKernelsFolder } from "../../disk/kernel-files.ts";
import type { Folder } from "../../messages/program-place.ts";

/**
 * As the user names them; a text: why one of them cannot be given. Links in their names are the user's and are followed here, once:
 * what they lead to is given, whatever the program does to them later.
 */
export function foldersGiven(folders: readonly string[]): Folder[] | string {
  const given: Folder[] = [];
  for (const folder of folders) {
    const name = resolve(folder);
    let path: string;
    try {
      path = realpathSync(name);
      const state = statSync(path).isDirectory()
        ? isKernelsFolder(path)
          ? "it is the kernel's"
          : ""
        : "it is no folder";
      if (state !== "") return cannotGive(folder, state);
    } catch (error) {
      return cannotGive(folder, stateOf(error));
    }
    if (name === resolve(".")) given.push({ name: ".", path });
    given.push({ name, path });
  }
  return given;
}

const cannotGive = (folder: string, state: string): string =>
  `Cannot give the program the folder ${folder}: ${state}; name another with --dir`;

function stateOf(error: unknown): string {
  if (isFileError(error, "ENOENT")) return "there is no such folder";
  return isFileError(error, "ENOTDIR") ? "it is no folder" : describeSystemError(error);
}

/** The same for a program whose current folder shall be another one, which must lie in them. A text: it does not. */
export function foldersFrom(current: string, given: readonly Folder[]): readonly Folder[] | string {
  if (current === "") return given;
  const folders = new GivenFolders(given);
  try {
    const path = folders.resolve(resolve(current), true);
    folders.list(path);
    return [{ name: ".", path }, ...given.filter(({ name }) => name !== ".")];
  } catch (error) {
    if (isFileError(error, "ENOTCAPABLE")) {
      return `${current} is in none of the folders that the program is given; give it with --dir`;
    }
    return `${current} cannot be the current folder: ${stateOf(error)}`;
  } finally {
    folders.close();
  }
}

/**
 * Of a job that was frozen: a folder that it was given and whose path has a link in it now, which its program may have made; it is
 * not followed. Undefined: there is none. One that is not there is missed when the program uses it.
 */
export function folderLedAway(given: readonly Folder[]): string | undefined {
  const folders = new GivenFolders(given);
  try {
    return given.find(({ path }) => {
      try {
        folders.at(path, () => {});
        return false;
      } catch (error) {
        return isFileError(error, "ENOTCAPABLE");
      }
    })?.path;
  } finally {
    folders.close();
  }
}

/**
 * The folder of the job's own program, before it runs; none: it is not there. Of a job that was frozen links in its path are not
 * followed: the program may have made them.
 */
export function folderOfProgram(program: string, wasFrozen: boolean): readonly Folder[] {
  const path = dirname(program);
  if (wasFrozen) return [{ name: path, path }];
  const folders = foldersGiven([path]);
  return typeof folders === "string" ? [] : folders.filter(({ name }) => name !== ".");
}
