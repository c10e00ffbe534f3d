/**
 * The traces of all ranks as one file in the Chrome trace format (also Perfetto's). During the job each rank writes its events
 * to a file of its own, one JSON object a line (`rank-tracer.ts`); here they are joined.
 */
import { closeSync, existsSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

interface TraceMergeOptions {
  /** The folder in which ranks left `<rank>.trace`. */
  readonly folder: string;
  readonly ranks: number;
}

/** Bytes of one write call; a single event is too little for a system call. */
const pieceCharacters = 1 << 16;

/** Opened before the job starts, so that an unwritable file is found before a long run. Throws the error of `open`. */
export class TraceFile {
  readonly path: string;
  readonly #file: number;
  #first = true;
  #text = `{"displayTimeUnit":"ns","traceEvents":[\n`;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, "w");
  }

  async merge({ folder, ranks }: TraceMergeOptions): Promise<void> {
    try {
      for (let rank = 0; rank < ranks; rank++) await this.#appendRank(join(folder, `${rank}.trace`));
      this.#text += "\n]}\n";
      this.#flush();
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
    this.#text += this.#first ? json : `,\n${json}`;
    this.#first = false;
    if (this.#text.length >= pieceCharacters) this.#flush();
  }

  #flush(): void {
    writeSync(this.#file, this.#text);
    this.#text = "";
  }
}

/** A rank that was killed may have left half a line. */
function isWhole(line: string): boolean {
  return line.startsWith("{") && line.endsWith("}");
}
