/** Trouble with the disk while something is compiled, as one line for people. */
import { describeSystemError } from "../core/base/system-error.ts";

/** Is it an error of the operating system: a full disk, a folder that may not be entered? */
export function isDiskTrouble(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** Names the file, and what to do where the file belongs to the cache. */
export function describeDiskTrouble(error: NodeJS.ErrnoException, cacheFolder: string): string {
  const { path } = error;
  const why = describeSystemError(error);
  if (path === undefined) return `Cannot compile: ${why}`;
  const isOfCache = path === cacheFolder || path.startsWith(`${cacheFolder}/`) || cacheFolder.startsWith(`${path}/`);
  return `Cannot compile: ${path}: ${why}${isOfCache ? "; BANYAN_CACHE may name another folder" : ""}`;
}
