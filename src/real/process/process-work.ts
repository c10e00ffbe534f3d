/**
 * Whether a process that says nothing is at work, as Linux sees it. A stopped process, and one that waits for ever, uses no
 * processor time and wants none; of one that is starved, by its own ranks or by others, some thread does.
 */
import { readdirSync, readFileSync } from "node:fs";

/** Of /proc/<pid>/stat, counted behind the name: a thread's state; user and system time of all threads (10 ms each). */
const stateField = 0;
const userTimeField = 11;
const systemTimeField = 12;

export class ProcessWork {
  readonly #folder: string;
  #looks = 0;

  constructor(pid: number) {
    this.#folder = `/proc/${pid}`;
  }

  /** A number that differs from the last one when there was work in between, or there is now. Elsewhere than on Linux always 0. */
  look(): number {
    try {
      const fields = fieldsOf(`${this.#folder}/stat`);
      // No look is like the one before.
      if (wantsToRun(fields) || this.#someThreadWantsToRun()) return -++this.#looks;
      return Number(fields[userTimeField]) + Number(fields[systemTimeField]);
    } catch {
      // It is gone, or this is not Linux.
      return 0;
    }
  }

  #someThreadWantsToRun(): boolean {
    return readdirSync(`${this.#folder}/task`).some((thread) => {
      try {
        return wantsToRun(fieldsOf(`${this.#folder}/task/${thread}/stat`));
      } catch {
        // Threads end.
        return false;
      }
    });
  }
}

/** It runs or waits for a processor (R), or waits for a disk (D). */
function wantsToRun(fields: readonly string[]): boolean {
  return fields[stateField] === "R" || fields[stateField] === "D";
}

function fieldsOf(path: string): readonly string[] {
  const text = readFileSync(path, "latin1");
  // The name is in parentheses, and may hold any character.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
