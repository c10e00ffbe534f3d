/** The disk as the compiler sees it when a program has another one compiled: given folders only (src/cc/source-disk.ts). */
import { closeSync, constants, type Dirent, fstatSync, readFileSync, type Stats } from "node:fs";
import type { GivenFolders } from "../../disk/given-folders.ts";

/** No source is larger: the dispatcher holds them all in its memory. */
const sourceBytesMax = 64 << 20;

export function sourcesIn(folders: GivenFolders) {
  /** What `act` makes of a file that is open; undefined: there is none, or it is none. */
  function withFile<T>(path: string, act: (descriptor: number, status: Stats) => T): T | undefined {
    return ifThere(() => {
      const descriptor = folders.open(folders.resolve(path, true), constants.O_RDONLY);
      try {
        const status = fstatSync(descriptor);
        return status.isFile() ? act(descriptor, status) : undefined;
      } finally {
        closeSync(descriptor);
      }
    });
  }
  return {
    read: (path: string, bytesMax = sourceBytesMax) =>
      withFile(path, (descriptor, { size, dev, ino }) => {
        if (size > Math.min(bytesMax, sourceBytesMax)) return undefined;
        return { bytes: readFileSync(descriptor), identity: `${dev}:${ino}` };
      }),
    isFile: (path: string): boolean => withFile(path, () => true) ?? false,
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
