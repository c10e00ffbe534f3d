/** Names of files outlive a power cut when their folder is on the disk too. */
import { closeSync, fsyncSync, openSync } from "node:fs";

export function syncFolder(folder: string): void {
  const file = openSync(folder, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
