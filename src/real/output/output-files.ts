/** Files with the output of each rank, named as Open MPI names them: `<folder>/1/rank.0/stdout`. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { Lines } from "./line-merge.ts";

export class OutputFiles {
  readonly #folder: string;
  readonly #failed: (message: string) => void;
  readonly #files = new Map<string, number>();

  constructor(folder: string, failed: (message: string) => void) {
    this.#folder = folder;
    this.#failed = failed;
  }

  write({ printer, stream, bytes }: Lines): void {
    const name = printer.kind === "rank" ? `rank.${printer.rank}` : `node.${printer.node}`;
    const path = join(this.#folder, "1", name, stream);
    try {
      let file = this.#files.get(path);
      if (file === undefined) {
        mkdirSync(join(this.#folder, "1", name), { recursive: true });
        file = openSync(path, "w");
        this.#files.set(path, file);
      }
      writeSync(file, bytes);
    } catch (error) {
      this.#failed(`Cannot write what the ranks print to ${path}: ${describeSystemError(error)}`);
    }
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file);
    this.#files.clear();
  }
}
