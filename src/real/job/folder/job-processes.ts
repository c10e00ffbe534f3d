/**
 * The file `processes` of a job's folder: which processes the job has on this machine, for whoever wants to go on with it. Two dispatchers
 * of one job would write to the same files; and a rank that has lost its dispatcher runs for a moment before it notices.
 *
 * A process is known by its number and the time of its start, as Linux counts it: numbers come back. Elsewhere the number has to do.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const processesIn = (folder: string): string => join(folder, "processes");

interface KnownProcess {
  readonly pid: number;
  /** Empty: not known. */
  readonly start: string;
}

/** Keeps the file as it should be. */
export class JobProcesses {
  readonly #folder: string;
  #written = "";

  constructor(folder: string) {
    this.#folder = folder;
    this.look();
  }

  /** Called from time to time: processes come and go. Nothing depends on a file that cannot be written but the patience of a successor. */
  look(): void {
    const children = textOf(`/proc/self/task/${process.pid}/children`)
      .split(" ")
      .filter(Boolean)
      .map(Number)
      .filter(isOfJob);
    const known = [process.pid, ...children].map((pid) => ({ pid, start: startOf(pid) ?? "" }));
    const text = `${JSON.stringify(known)}\n`;
    if (text === this.#written) return;
    this.#written = text;
    const path = processesIn(this.#folder);
    try {
      writeFileSync(`${path}.new`, text, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    } catch {
      // As if nobody had looked.
    }
  }
}

/** The processes of the job that live: that of its dispatcher, or 0, and the others. */
export function livingProcesses(folder: string): { readonly dispatcher: number; readonly others: readonly number[] } {
  const [dispatcher, ...others] = known(folder).map((it) => (isAlive(it) ? it.pid : 0));
  return { dispatcher: dispatcher ?? 0, others: others.filter((pid) => pid !== 0) };
}

function known(folder: string): KnownProcess[] {
  try {
    const value: unknown = JSON.parse(textOf(processesIn(folder)));
    return Array.isArray(value) ? value.filter(isKnown) : [];
  } catch {
    return [];
  }
}

function isKnown(value: unknown): value is KnownProcess {
  const { pid, start } = (value ?? {}) as Partial<KnownProcess>;
  return Number.isSafeInteger(pid) && pid! > 0 && typeof start === "string";
}

function isAlive({ pid, start }: KnownProcess): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const now = startOf(pid);
  // Without /proc the number is all that there is.
  return start === "" || (now !== undefined && now === start);
}

/** A compile server, or whatever else `launch` was called beside, outlives the job. */
const isOfJob = (pid: number): boolean =>
  /^banyan[- ](node|memory|logger|checkpoint-server)\b|(agent|memory|logger|checkpoint-server)\.cjs/.test(
    textOf(`/proc/${pid}/cmdline`),
  );

/** When that process was started, in ticks since the machine was; undefined: there is none, or it has ended and nobody has noticed. */
function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name of the program, in parentheses, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return /^[ZX]$/.test(fields[0] ?? "") ? undefined : fields[19];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
