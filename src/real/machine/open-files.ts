/** How many files a process of this user may have open, by /proc/self/limits. */
import { readFileSync } from "node:fs";

/** Undefined: without bound, or the system does not say. */
export function openFilesMax(limits = limitsText()): number | undefined {
  const found = /^Max open files\s+(\d+)\s/m.exec(limits);
  return found === null ? undefined : Number(found[1]);
}

function limitsText(): string {
  try {
    return readFileSync("/proc/self/limits", "latin1");
  } catch {
    return "";
  }
}
