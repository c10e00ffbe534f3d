/** Makes a folder that may be there already. One level: Node's recursive form never returns where a file system refuses (/proc). */
import { mkdirSync, statSync } from "node:fs";

/** Throws the system's error when it cannot be made. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
