/**
 * Is a silent process at work, in the eyes of Linux? A stopped process, and one that waits for ever, uses no processor time and
 * asks for none; in a process that is starved, by its own ranks or by others, some thread does ask.
 */
import { readdirSync, readFileSync } from "node:fs";

/** Fields of /proc/<pid>/stat, counted behind the name: a thread's state; user and system time of all threads (10 ms each). */
const stateField = 0;
const userTimeField = 11;
const systemTimeField = 12;

export class ProcessWork {
  readonly #folder: string;
  #looks = 0;

  constructor(pid: number) {
    this.#folder = `/proc/${pid}`;
  }

  /**
   * A number that differs from the last one when there was work in between, or there is now. On systems other than Linux always
   * 0.
   */
  look(): number {
    try {
      const fields = fieldsOf(`${this.#folder}/stat`);
      // Never equal to the sample before.
      if (wantsToRun(fields) || this.#someThreadWantsToRun()) return -++this.#looks;
      return Number(fields[userTimeField]) + Number(fields[systemTimeField]);
    } catch {
      // The process is gone, or the system is not Linux.
      return 0;
    }
  }

  #someThreadWantsToRun(): boolean {
    return readdirSync(`${this.#folder}/task`).some((thread) => {
      try {
        return wantsToRun(fieldsOf(`${this.#folder}/task/${thread}/stat`));
      } catch {
        // Threads may end meanwhile.
        return false;
      }
    });
  }
}

/** The thread runs or waits for a processor (R), or waits for a disk (D). */
function wantsToRun(fields: readonly string[]): boolean {
  return fields[stateField] === "R" || fields[stateField] === "D";
}

function fieldsOf(path: string): readonly string[] {
  const text = readFileSync(path, "latin1");
  // The name is in parentheses, and may hold any character.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
