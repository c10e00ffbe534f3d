/** `banyan ps`: the jobs of this user, and where the ranks of one are. */
import { Command } from "commander";
import { secondsText } from "../core/base/amounts.ts";
import { CommandError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { askJob, type JobAnswer, knownJobs } from "./job-door.ts";

const headings = ["job", "ranks", "nodes", "protocol", "since", "command"];

export const psCommand: CreateCommand = (finished) =>
  new Command("ps")
    .description("List the running jobs of this user, or say where the ranks of one are.")
    .argument("[job]", "process of its `banyan run`, as the list shows it")
    .helpOption("-h, --help", "print this help")
    .action(async (job: string | undefined) => {
      const lines = job === undefined ? await list() : await whereabouts(job);
      await new Promise<void>((resolve) =>
        process.stdout.write(lines.map((line) => `${line}\n`).join(""), () => resolve()),
      );
      finished(0);
    });

async function list(): Promise<string[]> {
  const answers = await Promise.all(knownJobs().map(async (pid) => ({ pid, answer: await askJob(pid, "job") })));
  const rows = answers.flatMap(({ pid, answer }) => (answer === undefined ? [] : [rowOf(pid, answer)]));
  if (rows.length === 0) return ["no job is running"];
  const widths = headings.map((_, i) => Math.max(...[headings, ...rows].map((row) => row[i]!.length)));
  return [headings, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd(),
  );
}

function rowOf(pid: number, { ranks, nodes, protocol, sinceMs, command }: JobAnswer): string[] {
  return [`${pid}`, `${ranks}`, `${nodes}`, protocol, secondsText(Date.now() - sinceMs), command];
}

async function whereabouts(job: string): Promise<readonly string[]> {
  const pid = /^\d+$/.test(job) ? Number(job) : Number.NaN;
  const answer = Number.isNaN(pid) ? undefined : await askJob(pid, "ranks");
  if (answer === undefined)
    throw new CommandError(`Cannot find job ${job}: banyan ps lists the jobs that are running`, 1);
  return answer.table ?? [];
}
