/** The trace of a job: the ranks write theirs into a folder of the job, which become one file at its end. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { TraceFile } from "../trace/trace-merge.ts";

export class JobTrace {
  /** For the ranks' traces; empty when there is no trace. */
  readonly folder: string;
  readonly #file: TraceFile | undefined;

  /** Undefined: there is to be no trace. */
  constructor(file: TraceFile | undefined, jobFolder: string) {
    this.#file = file;
    this.folder = file === undefined ? "" : join(jobFolder, "trace");
    if (file !== undefined) mkdirSync(this.folder);
  }

  /** No rank is left. What went wrong; empty: nothing. */
  async write(ranks: number): Promise<string> {
    if (this.#file === undefined) return "";
    try {
      await this.#file.merge({ folder: this.folder, ranks });
      return "";
    } catch (error) {
      return `Cannot write the trace to ${this.#file.path}: ${describeSystemError(error)}; the trace is incomplete`;
    }
  }
}
