/**
 * Makes a folder and those above it, as `mkdir -p`. Node's own recursive `mkdir` never returns where the system answers that
 * the folder does not exist in which it is to be made, though it does: so answers /proc.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Throws the system's error. A folder that is there stays as it is. */
export function makeFolder(folder: string, mode: number): void {
  const missing: string[] = [];
  let at = resolve(folder);
  while (statSync(at, { throwIfNoEntry: false }) === undefined) {
    missing.push(at);
    at = dirname(at);
  }
  // What is there may be a file: then the system says so.
  if (missing.length === 0 && !statSync(at).isDirectory()) mkdirSync(at);
  for (const path of missing.reverse()) makeOne(path, mode);
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !statSync(path).isDirectory()) throw error;
  }
}
