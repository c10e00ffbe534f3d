/** `banyan resume`: goes on with a job of which every process was killed. */
import { fstatSync } from "node:fs";
import { Command } from "commander";
import { resumableNames } from "../core/ft/protocol-named.ts";
import { resume } from "../real/job/launch.ts";
import type { CreateCommand } from "./create-command.ts";
import { duration } from "./duration.ts";
import { follow } from "./follow-job.ts";
import type { JobStreams } from "./job-screen.ts";
import { joinGiven } from "./join-given.ts";

interface Options {
  readonly timeout?: number;
  readonly quiet?: true;
  readonly listen?: string;
  readonly joinOnly?: true;
  readonly secretFile?: string;
}

export const resumeCommand: CreateCommand = (finished) =>
  new Command("resume")
    .description("Go on with a job of which every process was killed, or that was stopped.")
    .argument("<job>", "the folder that the job was given with --job-dir")
    .option("--timeout <time>", "end the job after this long (exit code 124)", duration("--timeout"))
    .option("--listen <address[:port]>", "let nodes join there, as in `banyan run`")
    .option("--join-only", "start no nodes: wait for nodes that join")
    .option("--secret-file <file>", "write the secret there by which nodes join (default: in a temporary folder)")
    .option("-q, --quiet", "no summary line")
    .helpOption("-h, --help", "print this help")
    .addHelpText(
      "after",
      `
The job must have run with --job-dir and --protocol ${resumableNames.join(" or ")}. Program, options and fault plan come from the folder.
Lines that were printed are not printed again: append to the same file, and it has every line once.
Standard input that is a file is read behind what the job has read; any other goes on where the job's ended.

Example:
  banyan run -n 4 --nodes 4 --protocol ${resumableNames[0]} --checkpoint-every 1s --job-dir job solver.c > out
  banyan resume job >> out`,
    )
    .action(async (job: string, { timeout, quiet, ...joining }: Options) => {
      const options = { timeoutMs: timeout, repeatsInput: isFile(0), ...joinGiven(joining) };
      const begin = (streams: JobStreams) => resume(job, { ...streams, ...options });
      finished(await follow(begin, quiet === undefined ? {} : { quiet }));
    });

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false;
  }
}
