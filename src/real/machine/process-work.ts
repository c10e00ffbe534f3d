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
  readonly #pid: number;
  readonly #withChildren: boolean;
  #looks = 0;

  /** With children: work of all processes that this one has started as well, for a command which runs another one. */
  constructor(pid: number, { withChildren = false } = {}) {
    this.#pid = pid;
    this.#withChildren = withChildren;
  }

  /**
   * A number that differs from the last one when there was work in between, or there is now. On systems other than Linux always
   * 0.
   */
  look(): number {
    let ticks = 0;
    const pids = [this.#pid];
    for (const pid of pids) {
      try {
        const fields = fieldsOf(`/proc/${pid}/stat`);
        const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
        // Never equal to the sample before.
        if (wantsToRun(fields) || threads.some(threadWantsToRun)) return -++this.#looks;
        ticks += Number(fields[userTimeField]) + Number(fields[systemTimeField]);
        if (this.#withChildren) pids.push(...threads.flatMap(childrenOf));
      } catch {
        // The process is gone, or the system is not Linux.
      }
    }
    return ticks;
  }
}

function threadWantsToRun(thread: string): boolean {
  try {
    return wantsToRun(fieldsOf(`${thread}/stat`));
  } catch {
    // Threads may end meanwhile.
    return false;
  }
}

/** Processes that the thread has started. */
function childrenOf(thread: string): number[] {
  try {
    return readFileSync(`${thread}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  } catch {
    // The thread has ended, or the kernel was built without these lists.
    return [];
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
