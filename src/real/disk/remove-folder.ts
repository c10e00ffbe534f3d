/** Folders that processes which are just ending may still write to. */
import { rmSync } from "node:fs";

const tries = 20;
const pauseMs = 25;

/** With all that is in it. A file that appears meanwhile is removed as well; throws what the system says if there is no end of them. */
export function removeFolder(
  folder: string,
  remove = (path: string) => rmSync(path, { recursive: true, force: true }),
): void {
  for (let left = tries; ; left--) {
    try {
      remove(folder);
      return;
    } catch (error) {
      if (left === 1 || !isNotEmpty(error)) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
}

const isNotEmpty = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST");
