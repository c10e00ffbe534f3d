/** The disk from which the sources of a compile are read: everything that the user can read, unless the caller gives less. */
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";

interface SourceContents {
  readonly bytes: Uint8Array;
  /** Equal for two names of one file. */
  readonly identity: string;
}

/** A file that is missing, or hidden from this compile, is undefined: nothing here throws. */
export interface SourceDisk {
  /** Only files, and none that is larger than the bound, if one is given. */
  read(path: string, bytesMax?: number): SourceContents | undefined;
  isFile(path: string): boolean;
  list(folder: string): readonly Dirent[];
}

export const wholeDisk: SourceDisk = {
  read: (path, bytesMax = Number.POSITIVE_INFINITY) =>
    ifThere(() => {
      const status = statSync(path);
      if (!status.isFile() || status.size > bytesMax) return undefined;
      return { bytes: readFileSync(path), identity: `${status.dev}:${status.ino}` };
    }),
  isFile: (path) => ifThere(() => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? false,
  list: (folder) => ifThere(() => readdirSync(folder, { withFileTypes: true })) ?? [],
};

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
