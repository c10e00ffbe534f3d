/**
 * The traces of all ranks as one file in the Chrome trace format (also Perfetto's). While the job runs each rank writes
 * events of its own to a file of its own, one JSON object a line; here they are joined, with the names of nodes and ranks.
 */
import { closeSync, existsSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

export interface TraceMergeOptions {
  /** Where ranks left `<rank>.trace`. */
  readonly folder: string;
  readonly nodeOf: readonly number[];
}

/** Takes the file before the job starts, so that one that cannot be written costs nobody a long run. Throws what `open` throws. */
export class TraceFile {
  readonly path: string;
  readonly #file: number;
  #first = true;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, "w");
  }

  async merge({ folder, nodeOf }: TraceMergeOptions): Promise<void> {
    try {
      writeSync(this.#file, `{"displayTimeUnit":"ns","traceEvents":[\n`);
      for (const node of new Set(nodeOf))
        this.#event(name("process_name", { pid: node, tid: 0, label: `node ${node}` }));
      for (const [rank, node] of nodeOf.entries())
        this.#event(name("thread_name", { pid: node, tid: rank, label: `rank ${rank}` }));
      for (const rank of nodeOf.keys()) await this.#appendRank(join(folder, `${rank}.trace`));
      writeSync(this.#file, "\n]}\n");
    } finally {
      closeSync(this.#file);
    }
  }

  async #appendRank(path: string): Promise<void> {
    if (!existsSync(path)) return;
    const file = await open(path);
    for await (const line of file.readLines()) if (isWhole(line)) this.#event(line);
  }

  #event(json: string): void {
    writeSync(this.#file, this.#first ? json : `,\n${json}`);
    this.#first = false;
  }
}

/** A rank that was killed may have left half a line. */
function isWhole(line: string): boolean {
  return line.startsWith("{") && line.endsWith("}");
}

function name(
  what: "process_name" | "thread_name",
  { pid, tid, label }: { pid: number; tid: number; label: string },
): string {
  return JSON.stringify({ ph: "M", name: what, pid, tid, args: { name: label } });
}
