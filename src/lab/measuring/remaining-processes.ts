/**
 * Finds and kills processes that a measured program left running. Every process inherits a mark in its environment, wherever it
 * moves in the tree of processes: mpirun puts ranks into groups of their own. Only where there is a /proc.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** The name of the variable; its value is the mark. */
export const markName = "BANYAN_BENCH_MARK";

export function killRemainingProcesses(mark: string): void {
  for (const pid of remainingProcesses(mark)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process ended by itself.
    }
  }
}

function remainingProcesses(mark: string): number[] {
  if (!existsSync("/proc/self/environ")) return [];
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && isMarked(entry, mark))
    .map(Number);
}

function isMarked(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`${markName}=${mark}`);
  } catch {
    // Another user's process, or one that has ended.
    return false;
  }
}
