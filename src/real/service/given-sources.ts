/** The disk as the compiler sees it when a program has another one compiled: given folders only (src/cc/source-disk.ts). */
import { closeSync, constants, type Dirent, fstatSync, readFileSync } from "node:fs";
import type { GivenFolders } from "../disk/given-folders.ts";

/** No source is larger: the dispatcher holds them all in its memory. */
const sourceBytesMax = 64 << 20;

export function sourcesIn(folders: GivenFolders) {
  function read(path: string, bytesMax = sourceBytesMax) {
    return ifThere(() => {
      const descriptor = folders.open(folders.resolve(path, true), constants.O_RDONLY);
      try {
        const status = fstatSync(descriptor);
        if (!status.isFile() || status.size > Math.min(bytesMax, sourceBytesMax)) return undefined;
        return { bytes: readFileSync(descriptor), identity: `${status.dev}:${status.ino}` };
      } finally {
        closeSync(descriptor);
      }
    });
  }
  return {
    read,
    isFile: (path: string): boolean => read(path) !== undefined,
    list: (path: string): readonly Dirent[] => ifThere(() => folders.list(folders.resolve(path, true))) ?? [],
  };
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
