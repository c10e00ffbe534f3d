/**
 * Whether a process that says nothing is at work, as Linux sees it. A stopped process, and one that waits for ever, uses no
 * processor time; one that is starved by its own ranks does, and its main thread waits for a processor meanwhile.
 */
import { readFileSync } from "node:fs";

/** Of /proc/<pid>/stat, counted behind the name: state of the main thread, user and system time of all threads (10 ms each). */
const stateField = 0;
const userTimeField = 11;
const systemTimeField = 12;

export class ProcessWork {
  readonly #pid: number;
  #looks = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** A number that differs from the last one when there was work in between, or there is now. Elsewhere than on Linux always 0. */
  look(): number {
    const fields = this.#fields();
    const state = fields[stateField];
    // It waits for a processor, or for a disk: no look is like the one before.
    if (state === "R" || state === "D") return -++this.#looks;
    return Number(fields[userTimeField] ?? 0) + Number(fields[systemTimeField] ?? 0);
  }

  #fields(): readonly string[] {
    try {
      const text = readFileSync(`/proc/${this.#pid}/stat`, "latin1");
      // The name is in parentheses, and may hold any character.
      return text.slice(text.lastIndexOf(")") + 2).split(" ");
    } catch {
      return [];
    }
  }
}
