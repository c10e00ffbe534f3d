/** `banyan thaw`: continues a job that was frozen. */
import { Command } from "commander";
import { thaw } from "../real/job/launch.ts";
import type { CreateCommand } from "./create-command.ts";
import { duration } from "./duration.ts";
import { follow } from "./follow-job.ts";
import type { JobStreams } from "./job-screen.ts";
import { wholeNumber } from "./whole-number.ts";

interface Options {
  readonly nodes?: number;
  readonly ranksPerThread?: number;
  readonly label?: true;
  readonly timeout?: number;
  readonly freezeAt?: number;
  readonly jobDir?: string;
  readonly quiet?: true;
}

export const thawCommand: CreateCommand = (finished) =>
  new Command("thaw")
    .description("Go on with a job that `banyan run --freeze-at` has frozen.")
    .argument("<job>", "the folder it was frozen to; it stays as it is")
    .option("--nodes <number>", "on so many; as many as before unless given", wholeNumber("--nodes"))
    .option("--ranks-per-thread <number>", "as for `banyan run`", wholeNumber("--ranks-per-thread"))
    .option("-l, --label", "put the rank in front of each line")
    .option("--timeout <time>", "end the job after this long (exit code 124)", duration("--timeout"))
    .option("--freeze-at <time>", "freeze it again", duration("--freeze-at"))
    .option("--job-dir <folder>", "as for `banyan run`: another folder")
    .option("-q, --quiet", "no summary line")
    .helpOption("-h, --help", "print this help")
    .action(async (job: string, options: Options) =>
      finished(await follow((streams) => start(job, options, streams), options)),
    );

function start(job: string, options: Options, streams: JobStreams) {
  const { nodes, ranksPerThread, label, timeout, freezeAt, jobDir } = options;
  return thaw(job, {
    nodes,
    ranksPerThread,
    label,
    timeoutMs: timeout,
    freezeAtMs: freezeAt,
    jobFolder: jobDir,
    ...streams,
  });
}
