/**
 * Makes a folder that may exist already. One level: Node's recursive form never returns where a file system refuses (/proc).
 */
import { mkdirSync, statSync } from "node:fs";

/** Throws the system's error when the folder cannot be made. */
export function makeResultFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
