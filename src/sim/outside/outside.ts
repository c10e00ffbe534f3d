/**
 * What a simulated job has beside its processes and their messages: its output, its input and its files. They outlive processes. What is
 * printed takes a while and may be lost with the process that printed it.
 */
import { Random } from "../random.ts";
import { JobInput } from "./job-input.ts";
import type { PrintedOutput } from "./printed-output.ts";
import type { RankFiles } from "./rank-files.ts";
import { SharedFiles } from "./shared-files.ts";

export interface Outside {
  readonly output: PrintedOutput;
  readonly files: RankFiles;
  /** In the same file system. */
  readonly sharedFiles: SharedFiles;
  readonly input: JobInput;
  /** Something goes from the process of that rank to the dispatcher. Nothing overtakes anything else of the same process. */
  travel(rank: number, act: () => void): void;
}

/** Everything arrives at once: where no rank comes back, nothing is said twice. */
export const atOnce = (output: PrintedOutput, files: RankFiles): Outside => ({
  output,
  files,
  sharedFiles: new SharedFiles(files.system),
  input: new JobInput({ random: new Random(1), keeps: false, later: (act) => act() }),
  travel: (_, act) => act(),
});
