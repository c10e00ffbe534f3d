/**
 * What a simulated job has beside its processes and their messages: its output and its files. They outlive processes. What is
 * printed takes a while and may be lost with the process that printed it.
 */
import type { JobFiles } from "./job-files.ts";
import type { Output } from "./output.ts";

export interface Outside {
  readonly output: Output;
  readonly files: JobFiles;
  /** Something goes from the process of that rank to the dispatcher. Nothing overtakes anything else of the same process. */
  travel(rank: number, act: () => void): void;
}

/** Everything arrives at once: where no rank comes back, nothing is said twice. */
export const atOnce = (output: Output, files: JobFiles): Outside => ({ output, files, travel: (_, act) => act() });
